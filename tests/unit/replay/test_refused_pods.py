"""Rejected pods of a log, with the sums at that time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.parted import parted
from tests.unit.drill.builders import inventory, node, spread
from tests.unit.replay.test_replay import BEFORE, REAL, Json, record
from topospread.answers.why_history import history_answer
from topospread.replay.replay import replay
from topospread.replay.result import Incident
from topospread.sources.load import load

SAID = "0/2 nodes are available: 1 node(s) were unschedulable, 1 node(s) didn't match pod topology spread constraints."


def pod(name: str, where: str = "", cpu: str = "1") -> Json:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    spec: Json = {"containers": [container], "topologySpreadConstraints": [spread()]}
    spec |= {"nodeName": where} if where else {}
    metadata = {"name": name, "namespace": "shop", "labels": {"app": "web"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def refused(at: int, name: str, said: str = SAID) -> Json:
    about = {"namespace": "shop", "name": name}
    event = {"kind": "Event", "metadata": {"name": "e", "namespace": "shop"}, "reason": "FailedScheduling"}
    return record(at, "create", event | {"regarding": about, "note": said})


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
