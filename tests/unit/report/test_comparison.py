"""Two simulations side by side: as text at 80 columns, and as JSON of the documented form."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from referencing import Registry, Resource

from tests.unit.report.builders import HOSTNAME, arithmetic, placements, simulation, spread, waiting, workload
from topospread.config.difference import Difference
from topospread.errors import UsageError
from topospread.report.comparison import comparison_text
from topospread.report.comparison_json import comparison_json
from topospread.report.layout import Layout
from topospread.report.paragraphs import shown_length
from topospread.report.style import Style
from topospread.simulation import Eviction
from topospread.simulation.comparison import Comparison, compare
from topospread.text import for_terminal

REFERENCE = Path(__file__).parent.parent.parent.parent / "docs/reference"
SETTING = Difference("default-scheduler", "score TaintToleration", "weight 3", "weight 7")


def everything() -> Comparison:
    """A comparison in which no list is empty."""
    zones = [arithmetic({"zone-a": 2, "zone-b": 1}), arithmetic({"zone-a": 1, "zone-b": 1}, max_skew=2)]
    before = simulation(
        [workload("web", spread(zones[0]), spread(arithmetic({"n1": 1}, key=HOSTNAME, hard=False)), placed=3)],
        placements=placements({"web-0": "n1", "web-1": "n2", "web-2": "n3"}),
        warnings=("only here",),
    )
    after = simulation(
        [workload("web", spread(zones[1]), placed=2, pending=1)],
        [waiting(3, "0/9 nodes are available.", (zones[1], {}))],
        placements=placements({"web-0": "n1", "web-1": "n4", "web-2": None}),
        evictions=(Eviction("shop", "old", "n4", "", "shop/web-1", ""),),
    )
    return compare(before, after, ("now", "then"), [SETTING])


def test_text() -> None:
    assert comparison_text(everything(), Layout()) == (
        "now → then\n"
        "\n"
        "Configuration\n"
        "  score TaintToleration  weight 3 → weight 7\n"
        "\n"
        "shop/web  Deployment · 3 placed → 2, 1 of 3 pods on other nodes\n"
        "  n2 −1, n3 −1, n4 +1\n"
        "  topology.kubernetes.io/zone  hard  maxSkew 1  skew 1 → hard  maxSkew 2  skew 0\n"
        "    zone-a  2 → 1\n"
        "  kubernetes.io/hostname  soft  maxSkew 1  skew 0 → none\n"
        "\n"
        "Pending\n"
        "  shop/web (3)  0/9 nodes are available.\n"
        "\n"
        "Newly evicted\n"
        "  shop/old from n4 for shop/web-1\n"
        "\n"
        "warning (now): only here\n"
        "\n"
        "3 pods: 1 on other nodes, 1 newly evicted and gone, 1 newly pending\n"
    )


def test_wide_lists_every_pod() -> None:
    text = comparison_text(everything(), Layout(wide=True))
    assert "    web-1  n2 (600) → n4 (600)\n    web-2  n3 (600) → pending\n" in text


def test_nothing_differs() -> None:
    same = compare(everything().before, everything().before, ("a", "b"))
    assert comparison_text(same, Layout()) == "a → b\n\nnothing differs: the same nodes, scores and skews\n"


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("colour", [False, True])
def test_lines_fit(width: int, colour: bool) -> None:
    text = comparison_text(everything(), Layout(width, style=Style(colour)))
    assert max(map(shown_length, text.splitlines())) <= width


def test_colour_tells_nothing_alone() -> None:
    text = for_terminal(comparison_text(everything(), Layout(style=Style(True))))
    plain = text.replace("\x1b[1m", "").replace("\x1b[1;31m", "").replace("\x1b[0m", "")
    assert plain == comparison_text(everything(), Layout())


def test_namespace_restricts_what_is_shown() -> None:
    assert "shop/web" in comparison_text(everything(), Layout(), "shop")
    with pytest.raises(UsageError):
        comparison_text(everything(), Layout(), "elsewhere")


def test_json_has_the_documented_form() -> None:
    schemas = [json.loads((REFERENCE / f"{name}.schema.json").read_text()) for name in ("comparison", "simulation")]
    registry: Registry = Registry().with_resource("simulation.schema.json", Resource.from_contents(schemas[1]))
    data = json.loads(json.dumps(comparison_json(everything())))
    jsonschema.Draft202012Validator(schemas[0], registry=registry).validate(data)
    assert all(data[field] for field in ("configuration", "placements", "spread", "newlyPending", "simulations"))
    page = (REFERENCE / "comparison.md").read_text()
    assert [field for field in schemas[0]["properties"] if f"`{field}" not in page] == []


def test_pods_with_an_identity_are_told_one_by_one() -> None:
    before, after = (
        simulation(
            [workload("db", kind="StatefulSet", placed=2)],
            placements=placements({"db-0": first, "db-1": second}, "StatefulSet/db"),
        )
        for first, second in (("n1", "n2"), ("n2", "n1"))
    )
    text = comparison_text(compare(before, after, ("a", "b")), Layout())
    assert "StatefulSet · 2 of 2 pods on other nodes\n  db-0  n1 → n2\n  db-1  n2 → n1\n" in text
