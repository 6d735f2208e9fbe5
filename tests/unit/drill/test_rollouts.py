"""Rollouts of Deployments, step by step: how they end, and where they get stuck."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from topospread.api.inventory import Inventory
from topospread.api.rollout import Strategy, strategy_of
from topospread.api.workload import Deployment
from topospread.drill.drill_run import DrillRun
from topospread.drill.each import drill_each
from topospread.drill.result import Drill, DrillRollout, SkewRange
from topospread.drill.steps import AddNodes, Apply, Drain, Fail, Rollout, Scale
from topospread.errors import UsageError
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import prepare
from topospread.why.repeated_simulation import RepeatedSimulation
from topospread.why.rolling_update import RollingUpdate

from .builders import ZONE, Json, at, budget, inventory, node, nodes, rolling, spread, told, workload

SPREAD = {"topologySpreadConstraints": [spread()]}
BY_REVISION = {"topologySpreadConstraints": [spread(matchLabelKeys=["pod-template-hash"])]}


def web(replicas: int, surge: int | str = "25%", unavailable: int | str = "25%", spec: Json | None = None) -> Json:
    return workload("Deployment", "web", replicas, spec, strategy=rolling(surge, unavailable))


def rollout(found: Drill, step: int = 1) -> DrillRollout:
    (only,) = found.steps[step].rollouts
    return only


def test_old_pods_count_so_that_a_rollout_ends_skewed() -> None:
    found = told([*nodes("a", "a", "b", "b", "c", "c"), web(6, spec=SPREAD)], Rollout("deploy/web"))
    assert rollout(found).over
    assert found.runs == 8
    assert found.ranges[1].skews[0].most >= 2
    assert found.ranges[1].stuck == 0


def test_by_revision_it_ends_even() -> None:
    found = told([*nodes("a", "a", "b", "b", "c", "c"), web(6, spec=BY_REVISION)], Rollout("deploy/web"))
    assert rollout(found).over
    assert found.ranges[1].skews == (SkewRange("Deployment shop/web", ZONE, 0, 0),)


def test_without_room_it_gets_stuck_and_goes_on_when_there_is_some() -> None:
    full = [node(f"{zone}1", zone, cpu="1") for zone in "abc"]
    found = told([*full, web(3, 1, 0)], Rollout("deploy/web"), AddNodes(1, "a1", "b"))
    assert (rollout(found).updated, rollout(found).old, rollout(found).over) == (0, 3, False)
    assert [len(each.pods) for each in found.steps[1].pending] == [1]
    assert rollout(found, 2).over
    assert found.verdict == "yes"
    assert told([*full, web(3, 1, 0)], Rollout("deploy/web")).verdict != "yes"


def test_one_by_one_where_one_may_be_unavailable() -> None:
    full = [node(f"{zone}1", zone, cpu="1") for zone in "abc"]
    found = told([*full, web(3, 0, 1)], Rollout("deploy/web"))
    assert rollout(found).over
    assert [len(each.pods) for each in found.steps[1].events if each.kind == "evicted"] == [1, 1, 1]
    assert found.steps[1].changed[0].fewest == 2


def test_recreate_takes_all_at_once() -> None:
    item = workload("Deployment", replicas=4, strategy={"type": "Recreate"})
    found = told([*nodes("a", "b"), item], Rollout("deploy/web")).steps[1]
    assert [(each.kind, len(each.pods)) for each in found.events[1:]] == [("evicted", 4), ("placed", 4)]
    assert found.changed[0].fewest == 0


def test_recreate_waits_for_pods_of_dead_nodes() -> None:
    item = workload("Deployment", replicas=4, strategy={"type": "Recreate"})
    found = told([*nodes("a", "b"), item], Fail(at("node=a1")), Rollout("deploy/web"))
    assert (rollout(found, 2).updated, rollout(found, 2).old) == (0, 0)
    assert found.stuck


def test_manifests_that_change_a_template_roll_it_out(tmp_path: Path) -> None:
    changed = web(6, spec=SPREAD)
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = "j"
    path = tmp_path / "web.yaml"
    path.write_text(yaml.safe_dump(changed))
    objects = [*nodes("a", "b", "c"), web(6, spec=SPREAD)]
    for step in (Apply(str(path)), Rollout("deploy/web", str(path))):
        found = told(objects, step)
        assert rollout(found).over
        assert sum(len(each.pods) for each in found.steps[1].events if each.kind == "evicted") == 6
    with pytest.raises(UsageError, match="does not change the template"):
        told([*nodes("a"), changed], Rollout("deploy/web", str(path)))


def test_only_what_has_a_template_of_replicas_is_rolled_out() -> None:
    with pytest.raises(UsageError, match="StatefulSets and DaemonSets are rolled out, not a Job"):
        told([*nodes("a"), workload("Job", "import")], Rollout("job/import"))
    with pytest.raises(UsageError, match="did you mean shop/deployment/web"):
        told([*nodes("a"), workload("Deployment")], Rollout("deploy/wep"))


def test_a_scale_in_the_midst_of_a_stuck_rollout_goes_on() -> None:
    full = [node(f"{zone}1", zone, cpu="1") for zone in "abc"]
    found = told([*full, web(3, 1, 0)], Rollout("deploy/web"), Scale("deploy/web", 2))
    assert sum(len(each.pods) for each in found.pending) == 0
    assert next(each for each in found.workloads if each.name == "web").ready == 2


@drawn(15)
@given(
    rooms=st.lists(st.integers(1, 3), min_size=2, max_size=5),
    replicas=st.integers(1, 6),
    by=st.sampled_from([(1, 0), (0, 1), (1, 1), (2, 1), ("25%", "25%"), ("100%", 0)]),
    skewed=st.integers(1, 2),
)
def test_it_gets_stuck_where_explain_says_so(
    rooms: list[int], replicas: int, by: tuple[int | str, int | str], skewed: int
) -> None:
    there = [node(f"n{i}", "abc"[i % 3], cpu=str(room)) for i, room in enumerate(rooms)]
    item = web(replicas, *by, spec={"topologySpreadConstraints": [spread(skewed)]})
    settled = told([*there, item])
    if settled.pending:
        return
    found = told([*there, item], Rollout("deploy/web"), runs=1)
    play = prepare(_placed(there, item), SimulationOptions(), with_spreads=False)
    (workload_,) = play.plan.workloads
    assert workload_.template is not None
    strategy = _strategy(by, replicas)
    stuck = RollingUpdate(RepeatedSimulation(play), workload_, strategy, workload_.template).play()
    assert (None if not found.stuck else found.stuck[0].updated) == stuck


def _placed(there: list[Json], item: Json) -> Inventory:
    play = DrillRun(inventory(*there, item), SimulationOptions(), {})
    play.play([])
    return play.state.inventory()


def _strategy(by: tuple[int | str, int | str], replicas: int) -> Strategy:
    found = strategy_of(msgspec.convert(web(replicas, *by), Deployment))
    assert found is not None
    return found


def test_ephemeral_volumes_come_with_every_new_pod() -> None:
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "resources": {"requests": {"storage": "1Gi"}},
    }
    volume = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}
    fast = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": "example.com/fast",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    objects = [*nodes("a", "b"), fast, web(4, spec={"volumes": [volume]})]
    found = told(objects, Drain(at("node=a1")), Rollout("deploy/web"), runs=1)
    assert found.steps[1].pending == ()
    assert rollout(found, 2).over
    assert found.verdict == "yes"


def test_a_new_pods_claim_that_binds_at_once_is_bound_before_it_is_tried() -> None:
    """Its volume decides on its node then, where one that waits is chosen by the node."""
    hand_made = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "by-hand"},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "Immediate",
    }
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "by-hand",
        "resources": {"requests": {"storage": "1Gi"}},
    }
    volume = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}
    objects = [
        *nodes("a", "b"),
        hand_made,
        *(_volume_in(zone, name, size) for name, zone, size in [("one", "a", 1), ("other", "a", 1), ("big", "b", 2)]),
        web(1, spec={"volumes": [volume]}),
    ]
    found = told(objects, Drain(at("node=a1")), runs=1)
    assert sum(len(each.pods) for each in found.steps[1].pending) == 1


def _volume_in(zone: str, name: str, size: int) -> Json:
    reach = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "by-hand",
        "capacity": {"storage": f"{size}Gi"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [reach]}},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def test_a_budget_that_a_rollout_goes_below_is_no_harm() -> None:
    objects = [*nodes("a", "b", "c"), web(3, surge=1, unavailable=1), budget(minAvailable=3)]
    found = told(objects, Rollout("deploy/web"))
    assert [(each.healthy, each.needed, each.by_rollout) for each in found.steps[1].breaches] == [(2, 3, True)]
    assert (found.verdict, found.breaches) == ("yes", ())
    answer = found.answer()
    assert answer.says == "the rollout of shop/web is complete, 3 pods are ready, and no pod is pending"
    text = answer.text()
    assert "the PodDisruptionBudget shop/web needs 3 and would block an eviction" in " ".join(text.split())
    assert "TIME" not in text
    assert "0:00" not in text
    assert drill_each(inventory(*objects), "deploy", SimulationOptions(), 1).verdict == "yes"
    lost = told(objects, Rollout("deploy/web"), Fail(at("zone=a")))
    assert [each.by_rollout for each in lost.breaches] == [False]
    assert lost.verdict == "no"
