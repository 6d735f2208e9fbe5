"""Steps after which controllers plan again."""

from __future__ import annotations

import pytest

from topospread.answers.drill import drill_answer
from topospread.drill.result import StepOutcome, WorkloadState
from topospread.drill.steps import AddNodes, Fail, Recover, Scale
from topospread.errors import UsageError

from .builders import at, node, nodes, told, workload


def state(outcome: StepOutcome, name: str = "web") -> WorkloadState:
    return next(each for each in outcome.changed if each.name == name)


def test_a_scale_down_takes_pods_that_wait_first() -> None:
    objects = [*nodes("a", "b"), workload("Deployment", replicas=25)]
    found = told(objects, Scale("deploy/web", 18), Scale("deploy/web", 2))
    first = next(each for each in found.steps[1].events if each.kind == "evicted")
    assert [pod.node for pod in first.pods[:5]] == [""] * 5
    assert state(found.steps[2]).ready == 2
    assert found.verdict == "yes"


def test_scaling_down_to_no_fewer_is_an_error() -> None:
    objects = [*nodes("a", "b"), workload("Deployment", replicas=5)]
    found = told(objects, Scale("deploy/web", 4, down=True), Scale("deploy/web", 2, down=True))
    assert state(found.steps[2]).ready == 2
    with pytest.raises(UsageError, match="scale-down deploy/web=5: it already has 5; use --scale to add replicas"):
        told(objects, Scale("deploy/web", 5, down=True))


def test_a_stateful_set_loses_its_highest_ordinals() -> None:
    objects = [*nodes("a", "b"), workload("StatefulSet", "db", 4)]
    found = told(objects, Scale("sts/db", 2))
    assert [pod.name for each in found.steps[1].events for pod in each.pods] == ["db-3", "db-2"]


def test_a_terminating_pod_stays_where_controllers_are_asked_anew() -> None:
    objects = [*nodes("a", "b", "c"), workload("StatefulSet", "db", 3), workload("Deployment")]
    found = told(objects, Fail(at("node=a1")), Scale("deploy/web", 6), Recover(at("node=a1")))
    assert "db" not in {each.name for each in found.steps[2].changed}
    assert state(found.steps[3], "db").ready == 3


def test_new_nodes_get_daemon_pods_and_what_waited() -> None:
    objects = [
        node("a1", "a", cpu="2"),
        workload("Deployment", replicas=5),
        workload("DaemonSet", "log", spec={"containers": [{"name": "c", "image": "i"}]}),
    ]
    found = told(objects, AddNodes(2, "a1", "b"))
    placed = {pod.workload: pod.node for each in found.steps[1].events for pod in each.pods}
    assert found.steps[1].events[0].nodes == ("a1-new-1", "a1-new-2")
    assert set(placed) == {"Deployment/web", "DaemonSet/log"}
    waited = [len(each.pods) for each in found.steps[0].pending]
    assert drill_answer(found).says.endswith(f"; {sum(waited)} of {sum(waited)} pods that were pending now have a node")
