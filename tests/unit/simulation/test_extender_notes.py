"""What is said of the extender beside a simulation and an explanation, which stay kube-scheduler's."""

from __future__ import annotations

from pathlib import Path

import pytest

from topospread.simulation.simulate import simulate
from topospread.sources.load import load
from topospread.why.explain import explain

MANIFEST = Path(__file__).parents[3] / "docs/how-to/extender/web.yaml"
CLUSTER = "zones=3,nodes=6,cpu=4"


def manifest(folder: Path, *, text: str | None) -> str:
    """The how-to's, with another text in place of its annotations; without any for None."""
    lines = [line for line in MANIFEST.read_text().splitlines() if "topospread.dev/" not in line]
    at = lines.index("      annotations:")
    lines[at : at + 1] = [] if text is None else [lines[at], f"        {text}"]
    path = folder / "web.yaml"
    path.write_text("\n".join(lines))
    return str(path)


def said(notes: tuple[str, ...]) -> list[str]:
    return [each for each in notes if "extender" in each]


def test_pods_that_the_extender_would_keep_off_are_told_and_placed_all_the_same(tmp_path: Path) -> None:
    asking = simulate(load([str(MANIFEST)], cluster=CLUSTER))
    plain = simulate(load([manifest(tmp_path, text=None)], cluster=CLUSTER))
    assert [each.node for each in asking.placements] == [each.node for each in plain.placements]
    (note,) = said(asking.notes)
    assert note.startswith("Deployment web: topospread run extender would reject the nodes of 2 of 10 pods")
    assert said(plain.notes) == []


def test_pods_that_stand_as_they_ask_are_not_told(tmp_path: Path) -> None:
    path = manifest(tmp_path, text='topospread.dev/max-per-domain: "kubernetes.io/hostname: 2"')
    assert said(simulate(load([path], cluster=CLUSTER)).notes) == []


def test_an_explanation_says_what_the_extender_would_filter(tmp_path: Path) -> None:
    explained = explain(load([str(MANIFEST)], cluster=CLUSTER), "deploy/web")
    assert said(explained.notes)[0].startswith("topospread run extender would filter 4 of 6 nodes: 2 topology")
    plain = explain(load([manifest(tmp_path, text=None)], cluster=CLUSTER), "deploy/web")
    assert said(plain.notes) == []


@pytest.mark.parametrize("text", ['topospread.dev/shares: "zone: a=1"'])
def test_what_cannot_be_read_keeps_all_pods_off(tmp_path: Path, text: str) -> None:
    (note,) = said(simulate(load([manifest(tmp_path, text=text)], cluster=CLUSTER)).notes)
    assert "would reject the nodes of 10 of 10 pods" in note
    assert "the shares are 1 % in all" in note
