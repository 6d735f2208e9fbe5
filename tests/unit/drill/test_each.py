"""The same drill for everything of a kind, in processes of their own."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.rebalance.builders import standing
from topospread.cluster.device_use import DeviceUse
from topospread.drill.each import EachDrill, EachKind, drill_each
from topospread.drill.forked import answers
from topospread.drill.result import grown_over
from topospread.drill.steps import Fail, Rollout
from topospread.errors import UsageError
from topospread.simulation.options import SimulationOptions

from .builders import Json, at, budget, inventory, node, nodes, rolling, spread, told, workload
from .test_unaffected import as_stateful_set, pending_on_devices

SPREAD = {"topologySpreadConstraints": [spread()]}


def each(kind: EachKind, *objects: Json, workers: int = 2) -> EachDrill:
    return drill_each(inventory(*objects), kind, SimulationOptions(), workers)


def test_the_worst_comes_first_and_is_what_one_drill_says() -> None:
    there = [node("a1", "a"), node("b1", "b"), node("b2", "b"), node("c1", "c", cpu="2")]
    objects = [*there, workload("Deployment", replicas=6), workload("StatefulSet", "db", 1), budget(maxUnavailable=1)]
    found = each("zone", *objects)
    for outcome in found.outcomes:
        one = told(objects, Fail(at(f"zone={outcome.target}")))
        assert outcome.pending == sum(len(group.pods) for group in one.pending)
        assert outcome.broken == tuple(breach.budget for breach in one.breaches)
    assert [bool(outcome.broken) for outcome in found.outcomes] == sorted(
        (bool(outcome.broken) for outcome in found.outcomes), reverse=True
    )


def test_any_number_of_processes_gives_the_same_answer() -> None:
    objects = [*nodes("a", "a", "b", "b", "c", "c"), workload("Deployment", replicas=6, spec=SPREAD)]
    assert each("node", *objects, workers=1).to_json() == each("node", *objects, workers=3).to_json()


def test_rollouts_that_get_stuck_are_named() -> None:
    full = [node(f"{zone}1", zone, cpu="1") for zone in "abc"]
    found = each("deploy", *full, workload("Deployment", replicas=3, strategy=rolling(1, 0)))
    assert [(outcome.target, outcome.stuck, outcome.pending) for outcome in found.outcomes] == [("shop/web", True, 1)]
    assert found.verdict != "yes"
    assert "its rollout is stuck" in " ".join(found.answer().text().split())


@pytest.mark.parametrize("forks", [True, False])
def test_skew_that_a_rollout_leaves_is_named_as_by_a_drill_of_that_rollout(
    forks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("topospread.drill.each.can_fork", lambda: forks)
    objects = [*nodes(*"abc"), workload("Deployment", replicas=6, spec=SPREAD)]
    answer, found = told(objects, Rollout("shop/deploy/web"), runs=8).answer(), each("deploy", *objects)
    (skew,) = found.outcomes[0].exceeds
    assert answer.says.endswith(f"; shop/web ends with zone skew up to {skew.skew}, over maxSkew 1")
    assert found.verdict == answer.verdict == "yes"
    text = " ".join(found.answer().text().split())
    assert text.startswith("yes: none of 1 rollout does harm; a rollout leaves skew over maxSkew: shop/web ")
    assert f"zone skew up to {skew.skew}, over maxSkew 1" in text


def test_skew_that_was_as_large_before_a_rollout_is_not_left_by_it() -> None:
    drill = told([*nodes(*"abc"), workload("Deployment", replicas=6, spec=SPREAD)], Rollout("shop/deploy/web"), runs=8)
    worst = max((run for run in (drill, *drill.others)), key=lambda run: run.workloads[0].spread[0].skew)
    after = [one.arithmetic for one in worst.workloads[0].spread]
    first = worst.steps[0]
    before = replace(worst, steps=(replace(first, changed=worst.workloads), *worst.steps[1:]), others=())
    assert list(grown_over(after, after)) == []
    assert list(grown_over((), after)) == after
    assert (before.left_skews, len(worst.left_skews)) == ({}, 1)


def test_workloads_of_which_nothing_is_left_are_named() -> None:
    found = each("node", node("a1", "a"), workload("Deployment", "api", 2), node("b1", "b", unschedulable=True))
    assert found.outcomes[0].gone == ("shop/api",)


def test_of_a_kind_of_which_there_is_none_nothing_is_said() -> None:
    with pytest.raises(UsageError, match="--each zone: there is none"):
        each("zone", node("n1"))


def test_a_process_that_dies_is_begun_again(tmp_path: Path) -> None:
    mark = tmp_path / "died"

    def ask(number: int) -> int:
        if number == 2 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number * number

    told_of: list[tuple[int, int]] = []
    assert answers(ask, range(4), 2, lambda done, total: told_of.append((done, total))) == [0, 1, 4, 9]
    assert told_of == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_what_a_process_raises_is_raised_here() -> None:
    def ask(number: int) -> int:
        raise UsageError(f"no {number}")

    with pytest.raises(UsageError, match="no 1"):
        answers(ask, [1], 1)


def test_pods_of_stateful_sets_that_are_not_replaced_are_named() -> None:
    found = each("zone", node("a1", "a"), node("b1", "b"), node("b2", "b"), workload("StatefulSet", "db", 1))
    lost = {outcome.target: outcome.not_replaced for outcome in found.outcomes}
    assert lost in ({"a": ("shop/db-0",), "b": ()}, {"a": (), "b": ("shop/db-0",)})
    said = " ".join(found.answer().text().split())
    assert "too few left: shop/db has 0 of 1; no pod left of shop/db; not replaced: shop/db-0" in said
    assert said.startswith("no: 1 of 2 zone failures does harm: most pods of up to 1 StatefulSet lost")
    assert "not replaced: a StatefulSet replaces a pod only after the old one is deleted" in said


def test_drills_share_the_steps_of_searches_for_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[int] = []
    spend = DeviceUse.spend

    def counted(self: DeviceUse, steps: int) -> None:
        before = self.steps
        spend(self, steps)
        spent.append(before - self.steps)

    monkeypatch.setattr(DeviceUse, "spend", counted)
    monkeypatch.setattr("topospread.drill.each.can_fork", lambda: False)
    requests = [{"name": f"r{n}", "exactly": {"deviceClassName": "gpu"}} for n in range(8)]
    constraints = [{"matchAttribute": "gpu.example.com/numa"}]
    wanted = {"spec": {"devices": {"requests": requests, "constraints": constraints}}}
    devices = [{"name": f"d{n}", "attributes": {"numa": {"int": n // 7}}} for n in range(28)]
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    of_all = {"driver": "gpu.example.com", "pool": pool, "allNodes": True, "devices": devices}
    kinds = {"DeviceClass": {}, "ResourceClaimTemplate": wanted, "ResourceSlice": of_all}
    objects = [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": "gpu", "namespace": "shop"},
            "spec": spec,
        }
        for kind, spec in kinds.items()
    ]
    claims = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]}
    found = each("node", *nodes(*"abcabcabc"), workload("Deployment", replicas=3, spec=claims), *objects)
    assert [outcome.verdict for outcome in found.outcomes] == ["unknown"] * 9
    assert sum(spent) < 1_000_000


def test_a_selector_that_counts_no_pod_is_a_warning() -> None:
    missing = {"topologySpreadConstraints": [spread(labelSelector={"matchLabels": {"app": "wbe"}})]}
    objects = [*nodes("a", "b"), workload("Deployment", spec=missing)]
    says = "shop/web: the constraint over zones counts none of these pods (selector app=wbe): no spreading"
    assert each("zone", *objects).answer().warnings == (says,)
    answer = told(objects, Fail(at("zone=a"))).answer()
    assert answer.warnings == (says,)
    assert f"warning: {says}" in " ".join(answer.text().split())


def test_only_one_namespace_is_judged_and_rows_name_its_pending_workloads() -> None:
    other = workload("Deployment", "api", 3, SPREAD)
    other["metadata"]["namespace"] = "ml"
    objects = [*nodes("a", "b"), other, workload("Deployment", replicas=2, spec=SPREAD)]
    objects[2]["spec"]["template"]["spec"]["topologySpreadConstraints"] = []
    shop = drill_each(inventory(*objects), "zone", SimulationOptions(), 1, namespace="shop")
    assert [each.pending_of for each in shop.outcomes] == [("shop/web",)] * 2
    text = " ".join(shop.answer().text().split())
    assert "no: 2 of 2 zone failures do harm in namespace shop: 1 pod newly pending" in text
    assert "pending: shop/web" in text
    ml = drill_each(inventory(*objects), "zone", SimulationOptions(), 1, namespace="ml")
    assert (ml.verdict, [each.lost for each in ml.outcomes]) == ("yes", [2, 1])
    assert ml.answer().says == "none of 2 zone failures does harm in namespace ml"
    deployments = drill_each(inventory(*objects), "deploy", SimulationOptions(), 1, namespace="ml").outcomes
    assert [each.target for each in deployments] == ["ml/api"]
    with pytest.raises(UsageError, match='found in namespace "web"'):
        drill_each(inventory(*objects), "zone", SimulationOptions(), 1, namespace="web")


def test_a_node_that_is_lost_already_is_not_failed_and_its_pods_are_no_harm_of_others() -> None:
    lost = node("a1", "a")
    lost["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    lost["spec"] = {"taints": [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]}
    on = {"a1": 1, "b1": 1, "c1": 1}
    objects = [lost, *nodes("b", "c"), *as_stateful_set(standing(on, name="db"), "Parallel")]
    found = each("node", *objects)
    assert [(outcome.target, outcome.not_replaced) for outcome in found.outcomes] == [
        ("b1", ("shop/db-1",)),
        ("c1", ("shop/db-2",)),
    ]
    assert "warning: nodes that are already NotReady: 1; no drill fails them" in found.answer().text()
    assert {outcome.target for outcome in each("zone", *objects).outcomes} == {"b", "c"}


def test_pods_that_are_not_judged_and_cannot_change_a_failure_leave_its_verdict() -> None:
    web = standing({"a1": 1, "b1": 1, "c1": 1}, spread())
    found = each("node", *nodes("a", "a", "b", "b", "c", "c"), *web, *pending_on_devices(2, 1))
    assert {outcome.verdict for outcome in found.outcomes} == {"yes"}
    text = " ".join(found.answer().text().split())
    words = "not judged: shop/infer-0, shop/infer-1; the verdict is the same whether they find nodes or not (-o wide)"
    assert text.startswith(f"yes: none of 6 node failures does harm {words} NODE LOST")
    assert "2 not judged" not in text
    assert "to judge it: kubectl get resourceslices" in found.answer().text(wide=True)
