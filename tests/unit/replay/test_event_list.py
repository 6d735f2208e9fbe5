"""Replays of events: what the real controllers wrote, and what each reason is taken for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.parted import parted
from tests.unit.drill.builders import inventory, node, spread
from topospread.answers.why_history import history_answer
from topospread.cli.main import topospread as command
from topospread.errors import InputError, UsageError
from topospread.replay.replay import replay
from topospread.replay.result import Incident
from topospread.sources.load import load

Json = dict[str, Any]
ROOT = Path(__file__).parents[3]
BEFORE = str(ROOT / "docs/how-to/replay/before-events.json")
REAL = str(ROOT / "docs/how-to/replay/events.json")
SAID = "0/2 nodes are available"


def event(at: int, reason: str, about: str, message: str = "", **more: Any) -> Json:
    """As events.k8s.io/v1 has it; ``about``: ``Kind/name``."""
    kind, name = about.split("/")
    regarding = {"kind": kind, "name": name} | ({} if kind == "Node" else {"namespace": "shop"})
    time = {"eventTime": f"2026-01-01T00:00:{at:02}.500000Z"}
    return {"kind": "Event", "metadata": {}, "reason": reason, "regarding": regarding, "note": message} | time | more


def web(replicas: int = 1) -> Json:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    spec = {"containers": [container], "topologySpreadConstraints": [spread()]}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "shop", "uid": "u"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }


def pod(name: str, where: str) -> Json:
    template = web()["spec"]["template"]
    metadata = {"name": name, "namespace": "shop", "labels": {"app": "web"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"] | {"nodeName": where}}


def replayed(path: Path, *events: Json, **options: Any) -> Incident:
    path.write_text(json.dumps({"kind": "EventList", "items": events}))
    given = inventory(node("a1", "a"), node("b1", "b"), pod("web-0", "a1"), web())
    return replay(given, events=path, **parted(options))


def made_and_refused(at: int, name: str = "web-1") -> list[Json]:
    made = event(at, "SuccessfulCreate", "ReplicaSet/web", f"Created pod: {name}")
    return [made, event(at + 1, "FailedScheduling", f"Pod/{name}", SAID)]


def test_real_events_say_who_was_refused_by_which_sums_and_what_began_it() -> None:
    found = replay(load([BEFORE]), events=REAL)
    (each,) = found.refusals
    assert each.agrees
    assert each.cause is not None
    assert (each.cause.what, each.cause.node, each.placed_on) == ("cordoned", "c1", "c1")
    (told,) = history_answer(found).refusals
    assert [(one.domain, one.exceeds) for one in told.sums] == [("a", True), ("b", True), ("c", False)]


@pytest.mark.parametrize(
    ("reason", "what", "words"),
    [
        ("NodeNotSchedulable", "cordoned", "unschedulable"),
        ("NodeNotReady", "taints", "had untolerated taint(s)"),
        ("RemovingNode", "deleted", ""),
    ],
)
def test_what_is_told_of_a_node_began_it(tmp_path: Path, reason: str, what: str, words: str) -> None:
    told = [event(1, reason, "Node/b1"), *made_and_refused(2)]
    if reason == "RemovingNode":
        told[1:1] = [event(1, "NodeNotSchedulable", "Node/a1")]
    (each,) = replayed(tmp_path / "events", *told).refusals
    assert each.cause is not None
    assert each.cause.what == ("cordoned" if reason == "RemovingNode" else what)
    assert words in each.computed


def test_a_node_is_as_it_was_again(tmp_path: Path) -> None:
    pairs = [
        ("NodeNotSchedulable", "NodeSchedulable"),
        ("NodeNotReady", "NodeReady"),
        ("RemovingNode", "RegisteredNode"),
    ]
    for number, (worse, better) in enumerate(pairs):
        told = [event(1, worse, "Node/b1"), event(2, better, "Node/b1"), *made_and_refused(3)]
        found = replayed(tmp_path / str(number), *told)
        assert len(found.alterations) == 2
        assert found.refusals[0].computed == ""


def test_pods_come_go_and_are_placed_as_told(tmp_path: Path) -> None:
    cordoned = event(1, "NodeNotSchedulable", "Node/b1")
    bound = event(5, "Scheduled", "Pod/web-1", "Successfully assigned shop/web-1 to b1", series={
        "count": 2, "lastObservedTime": "2026-01-01T00:00:06.000000Z"
    })  # fmt: skip
    (each,) = replayed(tmp_path / "one", cordoned, *made_and_refused(2), bound).refusals
    assert (each.placed_on, each.placed_at[-10:]) == ("b1", "05.500000Z")
    goes = [
        event(1, "SuccessfulDelete", "ReplicaSet/web", "Deleted pod: web-0"),
        event(1, "SuccessfulDelete", "StatefulSet/web", "delete Pod web-0 in StatefulSet web successful"),
        event(1, "Preempted", "Pod/web-0", "Preempted by pod u on node a1"),
        event(1, "TaintManagerEviction", "Pod/web-0", "Marking for deletion Pod shop/web-0"),
    ]
    stays = event(1, "TaintManagerEviction", "Pod/web-0", "Cancelling deletion of Pod shop/web-0")
    for number, gone in enumerate([*goes, stays]):
        found = replayed(tmp_path / str(number), gone, cordoned, *made_and_refused(2))
        assert (found.refusals[0].computed == "") == (gone is not stays)


def test_repeated_refusals_have_a_first_and_a_last_time_also_in_old_events(tmp_path: Path) -> None:
    old = {"involvedObject": {"kind": "Pod", "namespace": "shop", "name": "web-1"}, "reason": "FailedScheduling"}
    times = {"firstTimestamp": "2026-01-01T00:00:03Z", "lastTimestamp": "2026-01-01T00:00:09Z", "eventTime": None}
    cordoned, made = event(1, "NodeNotSchedulable", "Node/b1"), made_and_refused(2)[0]
    (each,) = replayed(tmp_path / "events", cordoned, made, old | times | {"message": SAID}).refusals
    assert (each.first[-10:], each.last[-10:]) == ("03.000000Z", "09.000000Z")


def test_words_of_events_begin_no_line_and_times_are_times(tmp_path: Path) -> None:
    forged = event(1, "FailedScheduling", "Pod/web\nyes", "x\nyes: all is well")
    (each,) = replayed(tmp_path / "a", forged).refusals
    assert (each.pod, each.said) == ("shop/web\\nyes", "x\\nyes: all is well")
    with pytest.raises(InputError, match="has no time"):
        replayed(tmp_path / "b", forged | {"eventTime": "yes: all is well"})


def test_what_nobody_knows_is_counted_and_said(tmp_path: Path) -> None:
    unknown = [
        event(1, "SuccessfulCreate", "ReplicaSet/other", "Created pod: other-1"),
        event(1, "RegisteredNode", "Node/new"),
        event(1, "Scheduled", "Pod/else", "Successfully assigned shop/else to a1"),
        event(1, "Pulled", "Pod/web-0", "Container image is there"),
    ]
    found = replayed(tmp_path / "events", *unknown)
    assert found.records == 4
    assert found.warnings[0].startswith("3 events are not replayed: the snapshot has neither their pods and nodes")


def test_what_is_no_list_of_events_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "events"
    for text, words in (
        ("{", "the file is not JSON"),
        ("[]", "not a list of events"),
        ('{"items": [1]}', r"not an event"),
        ('{"items": [{"reason": "Scheduled"}]}', "the event has no time"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=words):
            replay(load([BEFORE]), events=path)
    with pytest.raises(InputError, match="No such file"):
        replay(load([BEFORE]), events=tmp_path / "none")


def test_one_log_is_named() -> None:
    with pytest.raises(UsageError, match="give either an audit log or a list of events"):
        replay(load([BEFORE]))
    done = CliRunner().invoke(command, ["why", "-f", BEFORE, "--events", REAL, "--audit", REAL])
    assert isinstance(done.exception, UsageError)
    assert "--audit FILE or --events FILE" in str(done.exception)
