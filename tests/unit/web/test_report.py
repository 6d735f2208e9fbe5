"""What a report holds; that it opens in a browser is tested there."""

from __future__ import annotations

import base64
import gzip
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import topospread
from topospread.cli.main import main
from topospread.simulation.options import SimulationOptions
from topospread.text import escape_commands
from topospread.web.report import ReportView, report
from topospread.web.served import InputWords, ServedCluster
from topospread.web.trials import read_trial

ROOT = Path(__file__).parent.parent.parent.parent
DEMO = [str(ROOT / "examples" / "demo" / name) for name in ("cluster.yaml", "shop.yaml")]
GIVEN = ["--on", DEMO[0], "-f", DEMO[1]]


def made(*steps: str, **shown: str) -> str:
    options = SimulationOptions()
    served = ServedCluster.begin(topospread.load(*DEMO), options, InputWords("demo"))
    return report(served, ReportView(read_trial(steps), shown))


def answers(text: str) -> dict[str, Any]:
    (packed,) = re.findall(r'id="recorded"[^>]*>([^<]*)<', text)
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed)))
    return {key: json.loads(body) for key, (status, body) in found.items() if status == 200 and body.startswith("{")}


def test_every_workload_and_node_is_answered_for() -> None:
    found = [json.loads(key) for key in answers(made())]

    assert sum(key[0] == "/api/node" for key in found) == 12
    assert {tuple(map(tuple, key[2:])) for key in found if key[0] == "/api/workload"} >= {
        (("kind", "Deployment"), ("name", "checkout"), ("namespace", "shop"))
    }
    assert sum(key[0] == "/api/why" for key in found) == 36


def test_a_what_if_is_in_it_with_every_moment() -> None:
    text = made("fail zone=eu-west-1a", workload="Deployment/shop/checkout")
    found = answers(text)

    assert 'data-query="?step=fail+zone%3Deu-west-1a&amp;workload=Deployment%2Fshop%2Fcheckout"' in text
    moments = [key for key in map(json.loads, found) if key[0] == "/api/picture"]
    assert [dict(key[1:]).get("at") for key in moments] == [None, "0", "1", "2"]


def test_nobody_is_asked_and_nothing_leads_to_a_server() -> None:
    page = re.sub(r"<(script|style)\b.*?</\1>", "", made(), flags=re.DOTALL)

    assert not re.search(r'(href|src)="(?!data:|#)', page)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["status", *GIVEN, "--anonymous"], "--anonymous requires a file: -o html=FILE"),
        (["why", "deploy/x", *GIVEN, "-o", "html=x", "-o", "svg=x.svg", "--anonymous"], "the picture shows names"),
        (["serve", *GIVEN, "--anonymous"], "--anonymous requires --export"),
        (["serve", *GIVEN, "--export", "x", "--baseline", "y"], "--baseline cannot be combined with --export"),
        (
            ["status", *GIVEN, "-o", "html=/nowhere/report.html"],
            "cannot be written: No such file or directory",
        ),
        (["drill", *GIVEN, "--fail", "zone=eu-west-1a", "-o", "html=x", "--anonymous"], "steps of a drill show"),
        (["serve", *GIVEN, "--token", "short", "--port", "0"], "at least 16 characters"),
    ],
)
def test_what_cannot_be_written_is_said(
    words: list[str], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["topospread", *words])

    with pytest.raises(SystemExit) as ended:
        main()

    assert ended.value.code == 2
    assert told in capsys.readouterr().err


def test_no_line_of_the_page_itself_is_escaped_as_a_command_which_would_break_the_hashes_of_its_policy() -> None:
    text = made()
    assert escape_commands(text) == text
