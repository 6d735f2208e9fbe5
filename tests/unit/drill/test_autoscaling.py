"""Autoscalers that go from their fewest replicas to their most: where they start to break, and what is refused."""

from __future__ import annotations

import pytest

from topospread.drill.result import Drill, DrillAutoscaler
from topospread.drill.steps import Autoscale, Cordon, read_autoscale
from topospread.errors import UsageError

from .builders import Json, at, node, nodes, spread, told, workload


def hpa(least: int, most: int, name: str = "web", kind: str = "Deployment", namespace: str = "shop") -> Json:
    target = {"apiVersion": "apps/v1", "kind": kind, "name": "web"}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"scaleTargetRef": target, "minReplicas": least, "maxReplicas": most},
    }


def reached(found: Drill) -> DrillAutoscaler:
    state = found.steps[-1].autoscaled
    assert state is not None
    return state


def test_with_room_for_all_it_holds() -> None:
    found = told([*nodes("a", "b"), workload("Deployment"), hpa(2, 6)], Autoscale("hpa/web"))
    assert reached(found) == DrillAutoscaler("shop", "web", "Deployment/web", 2, 6, 6, "")
    assert found.workloads[0].ready == 6
    assert found.verdict == "yes"


def test_it_breaks_where_the_first_pod_waits_and_goes_on_to_the_most() -> None:
    spec = {"topologySpreadConstraints": [spread()]}
    full = [node("a1", "a", cpu="2"), node("b1", "b", cpu="9")]
    found = told([*full, workload("Deployment", spec=spec), hpa(1, 8)], Autoscale("hpa/web"))
    assert (reached(found).fits, found.workloads[0].replicas) == (5, 8)
    assert "1 Insufficient cpu" in reached(found).why
    assert sum(len(each.pods) for each in found.pending) == 3
    assert found.verdict != "yes"


def test_it_comes_down_to_the_fewest_first() -> None:
    found = told([*nodes("a"), workload("Deployment", replicas=7), hpa(2, 3)], Autoscale("hpa/web"))
    assert [each.detail for each in found.steps[1].events if each.kind == "scaled"] == [
        "shop/deployment/web=2",
        "shop/deployment/web=3",
    ]


def test_each_number_of_replicas_is_one_step() -> None:
    found = told([node("a1", "a", cpu="5"), workload("Deployment", replicas=4), hpa(4, 6)], Autoscale("hpa/web"))
    details = [each.detail for each in found.steps[1].events if each.kind == "scaled"]
    assert details == ["shop/deployment/web=5", "shop/deployment/web=6"]


@pytest.mark.parametrize("kind", ["StatefulSet", "Deployment"])
def test_what_is_closed_does_not_fit_from_the_beginning(kind: str) -> None:
    found = told(
        [*nodes("a"), workload(kind, replicas=1), hpa(1, 4, kind=kind)], Cordon(at("node=a1")), Autoscale("hpa/web")
    )
    assert reached(found).fits == 1


def test_what_is_not_there_is_refused() -> None:
    there = [*nodes("a"), workload("Deployment"), hpa(1, 2), hpa(1, 2, namespace="other")]
    with pytest.raises(UsageError, match="did you mean web"):
        told(there, Autoscale("hpa/wep"))
    with pytest.raises(UsageError, match="several exist, in the namespaces other, shop"):
        told(there, Autoscale("hpa/web"))
    with pytest.raises(UsageError, match="its target Deployment web does not exist"):
        told(there, Autoscale("other/hpa/web"))
    with pytest.raises(UsageError, match="for example hpa/web"):
        read_autoscale("deploy/web", "--autoscale")
    assert read_autoscale("shop/HorizontalPodAutoscaler/web", "") == Autoscale("shop/hpa/web")
