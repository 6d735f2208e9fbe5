"""Replays: the log of a real API server, and small logs that show one thing each."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from inline_snapshot import snapshot

from tests.answer_schema import schema_of
from tests.parted import parted
from tests.unit.drill.builders import inventory, node, spread
from topospread.answers.why_history import history_answer
from topospread.cli.main import topospread as command
from topospread.errors import InputError
from topospread.replay.audit_log import read_audit_log
from topospread.replay.event_list import read_events
from topospread.replay.replay import replay
from topospread.replay.result import Incident
from topospread.sources.load import load

Json = dict[str, Any]
ROOT = Path(__file__).parents[3]
BEFORE = str(ROOT / "docs/how-to/replay/before.json")
REAL = str(ROOT / "docs/how-to/replay/audit.jsonl")
SAID = "0/2 nodes are available: 1 node(s) were unschedulable, 1 node(s) didn't match pod topology spread constraints."


def pod(name: str, where: str = "", cpu: str = "1") -> Json:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    spec: Json = {"containers": [container], "topologySpreadConstraints": [spread()]}
    spec |= {"nodeName": where} if where else {}
    metadata = {"name": name, "namespace": "shop", "labels": {"app": "web"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def record(at: int, verb: str, obj: Json, resource: str = "", below: str = "", **more: Any) -> Json:
    metadata = obj["metadata"]
    reference = {"resource": resource or f"{obj['kind'].lower()}s", "name": metadata["name"]}
    reference |= {"namespace": metadata["namespace"]} if "namespace" in metadata else {}
    reference |= {"subresource": below} if below else {}
    return {
        "kind": "Event",
        "auditID": str(at),
        "stage": "ResponseComplete",
        "verb": verb,
        "objectRef": reference,
        "responseStatus": {"code": 200},
        "responseObject": obj,
        "stageTimestamp": f"2026-01-01T00:00:{at:02}Z",
    } | more


def refused(at: int, name: str, said: str = SAID) -> Json:
    about = {"namespace": "shop", "name": name}
    event = {"kind": "Event", "metadata": {"name": "e", "namespace": "shop"}, "reason": "FailedScheduling"}
    return record(at, "create", event | {"regarding": about, "note": said})


def bound(at: int, name: str, to: str) -> Json:
    answer = {"kind": "Status", "metadata": {"name": name, "namespace": "shop"}}
    return record(at, "create", answer, "pods", "binding", requestObject={"target": {"name": to}})


def replayed(path: Path, *records: Json, **options: Any) -> Incident:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    return replay(inventory(node("a1", "a"), node("b1", "b"), pod("web-0", "a1")), path, **parted(options))


def test_a_real_log_says_who_was_refused_by_which_sums_and_what_began_it() -> None:
    found = replay(load([BEFORE]), REAL)
    (each,) = found.refusals
    assert (each.pod, each.agrees, each.placed_on) == ("default/web-2", True, "c1")
    assert each.cause is not None
    assert (each.cause.what, each.cause.node) == ("cordoned", "c1")
    (told,) = history_answer(found).refusals
    assert [(one.domain, one.exceeds) for one in told.sums] == [("a", True), ("b", True), ("c", False)]
    assert [one[1:] for one in found.placed] == [
        ("default/web-0", "a1"),
        ("default/web-1", "b1"),
        ("default/web-2", "c1"),
    ]


def test_the_first_of_two_changes_of_a_node_began_it(tmp_path: Path) -> None:
    cordoned = node("b1", "b", unschedulable=True)
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    tainted = node("b1", "b", unschedulable=True, taints=[taint])
    found = replayed(
        tmp_path / "log",
        record(1, "patch", cordoned),
        record(2, "patch", tainted),
        record(3, "create", pod("web-1")),
        refused(4, "web-1"),
        refused(6, "web-1"),
    )
    (each,) = found.refusals
    assert each.cause is not None
    assert (each.cause.what, each.cause.at[-3:]) == ("cordoned", "01Z")
    assert (each.first[-3:], each.last[-3:], each.placed_on) == ("04Z", "06Z", "")
    assert [one.what for one in found.alterations] == ["cordoned", "taints"]


def test_a_node_that_was_deleted_began_it(tmp_path: Path) -> None:
    log = [record(1, "delete", node("b1", "b")), record(2, "create", pod("web-1"))]
    busy = {"key": "busy", "effect": "NoSchedule"}
    log += [record(3, "patch", node("a1", "a", taints=[busy])), refused(4, "web-1", "0/1 nodes are available")]
    (each,) = replayed(tmp_path / "log", *log).refusals
    assert each.cause is not None
    assert (each.cause.what, each.cause.node) == ("taints", "a1")
    (each,) = replayed(tmp_path / "log", *log[:2], refused(4, "web-1", "0/1 nodes are available")).refusals
    assert (each.computed, each.cause) == ("", None)


def test_a_pod_that_is_gone_makes_room_and_one_that_ends_slowly_does_not(tmp_path: Path) -> None:
    slow = pod("web-0", "a1")
    slow["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:31Z", "deletionGracePeriodSeconds": 30}
    rest = [record(2, "create", pod("web-1", cpu="10")), record(3, "patch", node("b1", "b", unschedulable=True))]
    gone = replayed(tmp_path / "log", record(1, "delete", pod("web-0", "a1")), *rest, refused(4, "web-1"))
    assert gone.refusals[0].computed == ""
    ended = replayed(tmp_path / "log", record(1, "delete", slow), *rest, refused(4, "web-1"))
    assert "Insufficient cpu" in ended.refusals[0].computed


def test_what_is_logged_without_what_changed_is_counted_and_said(tmp_path: Path) -> None:
    bare = record(1, "patch", node("b1", "b", unschedulable=True))
    del bare["responseObject"]
    found = replayed(tmp_path / "log", bare, bound(2, "unknown", "a1"))
    assert found.alterations == ()
    assert found.warnings[0].startswith("2 changes of nodes and pods are not replayed: the log lacks the objects")


def test_what_was_before_the_snapshot_is_left_out(tmp_path: Path) -> None:
    log = [record(at, "patch", node(f"{zone}1", zone, unschedulable=True)) for at, zone in ((1, "b"), (5, "a"))]
    found = replayed(tmp_path / "log", *log, since="2026-01-01T00:00:03Z")
    assert [each.node for each in found.alterations] == ["a1"]


def test_requests_that_failed_changed_nothing(tmp_path: Path) -> None:
    failed = record(1, "patch", node("b1", "b", unschedulable=True), responseStatus={"code": 409})
    assert replayed(tmp_path / "log", failed).alterations == ()


@pytest.mark.parametrize("line", ["{", "[]", '{"kind": "Pod"}'])
def test_a_line_that_is_no_record_is_refused_with_its_place(tmp_path: Path, line: str) -> None:
    path = tmp_path / "log"
    path.write_text(f"\n{line}\n")
    with pytest.raises(InputError) as raised:
        replay(inventory(node("a1", "a")), path)
    assert raised.value.place.line == 2


def test_a_log_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        replay(inventory(node("a1", "a")), tmp_path / "none")


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


def test_a_log_without_refusals_is_yes_and_unknown_if_changes_are_missing(tmp_path: Path) -> None:
    quiet = history_answer(replayed(tmp_path / "log"))
    assert (quiet.verdict, quiet.says) == ("yes", "no pod was rejected")
    bare = record(1, "patch", node("b1", "b", unschedulable=True))
    del bare["responseObject"]
    missing = history_answer(replayed(tmp_path / "log", bare))
    assert (missing.verdict, [each.what for each in missing.unjudged]) == ("unknown", ["log"])


def test_a_pod_that_waits_to_the_end_is_said(tmp_path: Path) -> None:
    cordoned = node("b1", "b", unschedulable=True)
    log = [record(1, "patch", cordoned), record(3, "create", pod("web-1")), refused(4, "web-1")]
    answer = history_answer(replayed(tmp_path / "log", *log))
    assert answer.says.startswith("1 pod was pending: shop/web-1 from ")
    assert answer.says.endswith("; it had no node at the end of the log")
    assert [each.code for each in answer.causes] == ["node-changed"]


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


def test_a_binding_over_max_skew_is_explained_by_pods_that_were_decided_before_it(tmp_path: Path) -> None:
    created = [record(1, "create", pod(f"web-{number}")) for number in (1, 2, 3)]
    # web-1 and web-3 go to b, web-2 to a: decided as 1, 2, 3, bound as 1, 3, 2.
    sent = [bound(2, "web-1", "b1"), bound(3, "web-3", "b1"), bound(4, "web-2", "a1")]
    found = replayed(tmp_path / "log", *created, *sent)
    assert [(each.pod, each.domain, each.skew, each.explained) for each in found.over_skew] == []
    sent = [bound(2, "web-1", "a1"), bound(3, "web-2", "b1"), bound(4, "web-3", "b1")]
    found = replayed(tmp_path / "log", *created, *sent)
    assert [(each.pod, each.domain, each.skew, each.explained) for each in found.over_skew] == [
        ("shop/web-1", "a", 2, True)
    ]
    answer = history_answer(found)
    assert (answer.verdict, len(answer.over_skew)) == ("yes", 1)


def test_a_pod_that_did_not_exist_yet_explains_no_binding(tmp_path: Path) -> None:
    early, late = record(1, "create", pod("web-1")), record(3, "create", pod("web-2"))
    found = replayed(tmp_path / "log", early, bound(2, "web-1", "a1"), late, bound(4, "web-2", "b1"))
    assert [(each.pod, each.explained) for each in found.over_skew] == [("shop/web-1", False)]


def test_the_page_counts_bindings_over_max_skew(tmp_path: Path) -> None:
    log, cluster = tmp_path / "log", tmp_path / "cluster.json"
    created = [record(1, "create", pod(f"web-{number}")) for number in (1, 2)]
    records = [*created, bound(2, "web-1", "a1"), bound(3, "web-2", "b1")]
    log.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    there = {"apiVersion": "v1", "kind": "List", "items": [node("a1", "a"), node("b1", "b"), pod("web-0", "a1")]}
    cluster.write_text(json.dumps(there))
    done = CliRunner().invoke(command, ["why", "--on", str(cluster), "--audit", str(log)])
    assert "1 of 2 bindings exceeded maxSkew on arrival" in " ".join(done.output.split())
    assert "none does in that" in " ".join(done.output.split())
