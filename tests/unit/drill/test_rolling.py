"""Rollouts of StatefulSets and DaemonSets: which pods go, in which order, how many at once, where they get stuck."""

from __future__ import annotations

from pathlib import Path

import yaml

from topospread.drill.result import Drill, DrillRollout
from topospread.drill.steps import AddNodes, Apply, Fail, Rollout, Scale

from .builders import Json, at, node, nodes, told, workload


def db(replicas: int = 4, policy: str = "OrderedReady", cpu: str = "1", **update: int | str) -> Json:
    strategy = {"type": "RollingUpdate", "rollingUpdate": update}
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}
    return workload("StatefulSet", "db", replicas, spec, podManagementPolicy=policy, updateStrategy=strategy)


def log(surge: int | str = 0, unavailable: int | str = 1, cpu: str = "1") -> Json:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}
    return workload("DaemonSet", "log", 0, spec, updateStrategy=strategy)


def gone(found: Drill, step: int = 1) -> list[list[str]]:
    """Names of the pods that went, together those that went at once."""
    return [sorted(pod.name for pod in each.pods) for each in found.steps[step].events if each.kind == "evicted"]


def rollout(found: Drill, step: int = 1) -> DrillRollout:
    (only,) = found.steps[step].rollouts
    return only


def test_ordinals_go_from_the_last_one_after_the_other() -> None:
    found = told([*nodes("a", "b"), db()], Rollout("sts/db"))
    assert gone(found) == [["db-3"], ["db-2"], ["db-1"], ["db-0"]]
    assert rollout(found) == DrillRollout("StatefulSet", "shop", "db", 4, 4, 0, over=True)
    assert found.steps[1].changed[0].fewest == 3


def test_a_partition_keeps_the_first_ordinals() -> None:
    found = told([*nodes("a", "b"), db(partition=2)], Rollout("sts/db"))
    assert gone(found) == [["db-3"], ["db-2"]]
    assert rollout(found) == DrillRollout("StatefulSet", "shop", "db", 2, 2, 0, over=True)
    assert found.verdict == "yes"


def test_as_many_at_once_as_may_be_unavailable_and_one_until_1_37() -> None:
    objects = [*nodes("a", "b"), db(5, maxUnavailable="40%")]
    assert gone(told(objects, Rollout("sts/db"))) == [["db-3", "db-4"], ["db-1", "db-2"], ["db-0"]]
    assert [len(each) for each in gone(told(objects, Rollout("sts/db"), kube_version="1.36"))] == [1] * 5


def test_in_order_it_gets_stuck_behind_a_pod_that_waits() -> None:
    stuck = told([node("n1", "a", cpu="2"), db(3)], Rollout("sts/db"), AddNodes(1, "n1"))
    assert (rollout(stuck).updated, rollout(stuck).old, gone(stuck)) == (0, 3, [])
    assert rollout(stuck, 2).over


def test_in_parallel_pods_that_wait_are_made_anew_first() -> None:
    found = told([node("n1", "a", cpu="2"), db(3, "Parallel")], Rollout("sts/db"))
    assert gone(found)[0] == ["db-2"]
    assert sum(len(each.pods) for each in found.pending) == 1


def test_pods_of_a_partition_come_back_as_they_were() -> None:
    changed = db(3, partition=1)
    changed["spec"]["template"]["metadata"]["labels"]["version"] = "2"
    found = told([*nodes("a", "b"), db(3, partition=1), changed], Scale("sts/db", 3))
    assert found.verdict == "yes"


def test_with_manifests_the_new_pods_are_of_the_new_template(tmp_path: Path) -> None:
    changed = db(2, cpu="4")
    path = tmp_path / "db.yaml"
    path.write_text(yaml.safe_dump(changed))
    full = [node("n1", "a", cpu="3"), node("n2", "b", cpu="3")]
    for step in (Apply(str(path)), Rollout("sts/db", str(path))):
        found = told([*full, db(2)], step)
        assert gone(found) == [["db-1"]]
        assert (rollout(found).updated, rollout(found).old) == (0, 1)
        assert [each.pods for each in found.pending] == [("db-1",)]


def test_on_delete_nothing_goes_and_nothing_is_stuck() -> None:
    item = db() | {"spec": db()["spec"] | {"updateStrategy": {"type": "OnDelete"}}}
    found = told([*nodes("a"), item], Rollout("sts/db"))
    assert gone(found) == []
    assert "OnDelete" in found.steps[1].events[0].detail
    assert found.verdict == "yes"


def test_daemon_pods_go_node_by_node() -> None:
    found = told([*nodes("a", "b", "c"), log()], Rollout("ds/log"))
    assert [len(each) for each in gone(found)] == [1, 1, 1]
    assert rollout(found) == DrillRollout("DaemonSet", "shop", "log", 3, 3, 0, over=True)
    assert found.steps[1].changed[0].fewest == 2
    assert [len(each) for each in gone(told([*nodes("a", "b", "c"), log(0, "50%")], Rollout("ds/log")))] == [2, 1]


def test_surging_daemon_pods_are_there_before_the_old_ones_go() -> None:
    found = told([*nodes("a", "b", "c"), log(1, 0)], Rollout("ds/log"))
    assert [each.kind for each in found.steps[1].events] == ["rollout", *["placed", "evicted"] * 3]
    assert found.steps[1].changed[0].fewest == 3
    assert found.verdict == "yes"


def test_a_surge_without_room_gets_stuck() -> None:
    found = told([node("n1", cpu="1"), node("n2", cpu="1"), log(1, 0)], Rollout("ds/log"))
    assert (rollout(found).updated, rollout(found).old, rollout(found).over) == (0, 2, False)


def test_a_dead_node_takes_up_what_may_be_unavailable() -> None:
    found = told([*nodes("a", "b", "c"), log()], Fail(at("node=a1")), Rollout("ds/log"))
    assert (rollout(found, 2).updated, rollout(found, 2).old) == (0, 2)
    assert (
        told([*nodes("a", "b", "c"), log(0, 2)], Fail(at("node=a1")), Rollout("ds/log")).steps[2].rollouts[0].old == 0
    )


def test_a_scale_in_the_midst_of_a_rollout_leaves_revisions_as_they_are() -> None:
    found = told(
        [node("n1", "a", cpu="4"), db(3, cpu="1"), workload("Deployment", "web", 1)],
        Rollout("sts/db"),
        Scale("sts/db", 2),
    )
    assert rollout(found).over
    assert gone(found, 2) == [["db-2"]]
    assert found.verdict == "yes"


def test_a_recreated_ordinal_of_a_replaced_template_is_new() -> None:
    found = told([*nodes("a", "b"), db(2)], Rollout("sts/db"), Rollout("sts/db"))
    assert gone(found, 2) == [["db-1"], ["db-0"]]
