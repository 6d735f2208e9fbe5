"""What the queue hears of the pods that a watch delivers."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.version_rules import rules_for
from topospread.live.kinds import ReadPod
from topospread.live.pods import Pods
from topospread.plugins.cluster_event import ASSIGNED_POD_DELETE, ClusterEvent
from topospread.scheduling.queue import SchedulingQueue
from topospread.scheduling.requeueing import RequeueingRules


class Listening(SchedulingQueue):
    """A queue that remembers what it was told."""

    def __init__(self) -> None:
        super().__init__(lambda: 0, lambda pod: None)
        self.told: list[ClusterEvent] = []

    def move_all(self, event: ClusterEvent, *about: Any, **more: Any) -> None:
        self.told.append(event)


def waiting(version: int, node: str | None) -> ReadPod:
    metadata = {"name": "p", "namespace": "d", "uid": "p", "resourceVersion": str(version)}
    status = {"nominatedNodeName": node}
    return msgspec.convert({"metadata": metadata, "spec": {"containers": []}, "status": status}, ReadPod)


@pytest.mark.parametrize(("version", "told"), [("1.32", []), ("1.33", [ASSIGNED_POD_DELETE])])
def test_a_promise_that_ends_is_heard_of_since_1_33(version: str, told: list[ClusterEvent]) -> None:
    queue = Listening()
    pods = Pods(Cluster(), queue, lambda pod: True)
    pods.tells_of_promises = rules_for(RequeueingRules, gates_for(version)).hears_of_promises
    pods.put(waiting(1, "n1"))
    pods.put(waiting(2, None))
    assert queue.told == told
