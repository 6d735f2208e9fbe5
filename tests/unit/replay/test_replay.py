"""Replays: the log of a real API server, and small logs that show one thing each."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from inline_snapshot import snapshot

from tests.answer_schema import schema_of
from tests.unit.replay.builders import BEFORE, REAL, Json, record
from topospread.answers.why_history import history_answer
from topospread.cli.main import topospread as command
from topospread.errors import InputError
from topospread.replay.audit_log import read_audit_log
from topospread.replay.event_list import read_events
from topospread.replay.replay import replay
from topospread.sources.load import load


@pytest.mark.parametrize("read", [read_audit_log, read_events])
def test_a_record_of_what_happened_is_no_link_out_of_its_repository(
    tmp_path: Path, read: Callable[[Path], object]
) -> None:
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    (tmp_path / "elsewhere").write_text("{}")
    (tmp_path / "repository" / "log").symlink_to("../elsewhere")
    with pytest.raises(InputError, match="leaves"):
        read(tmp_path / "repository" / "log")


def test_json_has_the_documented_form_and_a_pod_that_waited_gives_1(tmp_path: Path) -> None:
    lines = Path(REAL).read_text().splitlines()
    cut = tmp_path / "cut.jsonl"
    last = next(number for number, line in enumerate(lines) if "Unschedulable" in line)
    cut.write_text("\n".join(lines[: last + 1]) + "\n")
    schema = schema_of("WhyHistory")
    for log in (REAL, str(cut)):
        done = CliRunner().invoke(command, ["why", "-f", BEFORE, "--audit", log, "-o", "json"], standalone_mode=False)
        assert done.return_value == 1
        jsonschema.validate(json.loads(done.stdout), schema)


def test_the_screen_says_what_began_and_ended_it() -> None:
    answer = history_answer(replay(load([BEFORE]), REAL))
    assert answer.verdict == "no"
    assert [each.seconds for each in answer.refusals] == [0.288]
    assert answer.text() == snapshot("""\
no: 1 pod was pending: default/web-2, for 0.29 s from
  2026-11-22T16:42:14.086048Z
why: node c1 was cordoned at 2026-11-22T16:42:13.972155Z; otherwise the pod
     would have found a node
rejected: maxSkew 1 over zones admits only c, where c1 is cordoned
ended: node c1 was uncordoned at 2026-11-22T16:42:14.371049Z

POD            PENDING SINCE                PLACED ON  PENDING FOR
default/web-2  2026-11-22T16:42:14.086048Z  c1         0.288 s
timeline and kube-scheduler's messages: -o wide
""")
    assert "pod default/web-2 on node c1" in answer.text(wide=True)


def test_a_refusal_without_a_time_is_told_without_one(tmp_path: Path) -> None:
    records = [json.loads(line) for line in Path(REAL).read_text().splitlines()]
    for each in records:
        if (each.get("responseObject") or {}).get("reason") == "FailedScheduling":
            del each["stageTimestamp"]
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(map(json.dumps, records)))
    answer = history_answer(replay(load([BEFORE]), str(log)))
    assert [each.seconds for each in answer.refusals] == [None]
    assert answer.says == "1 pod was pending: default/web-2"


def test_the_timeline_is_a_picture_and_a_page_that_fetches_nothing(tmp_path: Path) -> None:
    picture, page = tmp_path / "one.svg", tmp_path / "one.html"
    words = ["why", "-f", BEFORE, "--audit", REAL, "-o", f"svg={picture}", "-o", f"html={page}"]
    assert CliRunner().invoke(command, words, standalone_mode=False).return_value == 1
    ET.fromstring(picture.read_text())
    assert "default/web-2" in picture.read_text()
    assert "node c1 was cordoned" in page.read_text()
    assert "src=" not in page.read_text()


@pytest.mark.parametrize(
    "changed",
    [
        {"stageTimestamp": "yes: all is well"},
        {"objectRef": {"resource": "nodes", "name": "a\nyes: all is well"}},
        {"responseObject": {"metadata": {"name": "a", "labels": {"a\nyes: all": ""}}, "spec": {}}},
    ],
)
def test_an_audit_log_begins_no_line(tmp_path: Path, changed: Json) -> None:
    created = record(1, "create", {"kind": "Node", "metadata": {"name": "a"}})
    (tmp_path / "audit.jsonl").write_text(json.dumps(created | changed))
    with pytest.raises(InputError, match=r"no time|line break"):
        read_audit_log(tmp_path / "audit.jsonl")
