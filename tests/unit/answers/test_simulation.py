from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from tests.answer_schema import schema_of
from tests.unit.render.builders import (
    CPU,
    SPREAD,
    arithmetic,
    placements,
    simulation,
    spread,
    verdict,
    waiting,
    workload,
)
from topospread import Session
from topospread.admission.dropped_fields import UnusedField
from topospread.answers.simulation import names
from topospread.errors import UsageError
from topospread.simulation.result import EvictedPod, Simulation
from topospread.simulation.simulate import simulate

SCHEMA = schema_of("Simulation")


def everything() -> Simulation:
    """A simulation in which no list is empty."""
    zones = arithmetic({"zone-a": 1, "zone-b": 0}, left_out=[("no label zone", ["node-9"])])
    rejected = {"zone-a": {SPREAD: 2}, "zone-b": {CPU: 1}}
    judged = verdict(
        {"n1": ("NodeResourcesFit", CPU), "n2": ("PodTopologySpread", SPREAD), "n3": ("PodTopologySpread", SPREAD)}
    )
    return simulation(
        [workload("web", spread(zones, rejected=rejected), placed=1, pending=1, notes=["a note"])],
        [waiting(1, "0/3 nodes are available.", (zones, rejected), preemption="preemption: no", verdict=judged)],
        placements=placements({"web-0": "node-1", "web-1": None}),
        evictions=(EvictedPod("shop", "old", "node-1", "", "shop/web-0", None),),
        removed={"shop/gone": "", "shop/lost": "node-2"},
        unused=(
            UnusedField("dropped", "Deployment", "shop", "web", "spec.template.spec.resources", "PodLevelResources"),
            UnusedField("ignored", "Node", "", "node-1", "status.declaredFeatures", ""),
        ),
        skipped={"Ingress": 1, "ConfigMap": 2},
        warnings=("a warning",),
        notes=("another note",),
    )


def strict(schema: Any) -> Any:
    """The schema with no room for fields that it does not describe."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if "properties" in schema else {}
    return closed | {key: strict(value) for key, value in schema.items()}


def test_every_field_is_described() -> None:
    jsonschema.validate(everything().to_dict(), strict(SCHEMA))


@pytest.mark.parametrize("key", ["node", "score", "message"])
def test_the_schema_notices_what_is_missing(key: str) -> None:
    data = everything().to_dict()
    del data["placements"][0][key]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, SCHEMA)


def test_the_answer_begins_with_the_verdict_and_kinds_are_sorted() -> None:
    assert list(everything().to_dict())[:4] == ["apiVersion", "kind", "verdict", "says"]
    assert list(everything().to_dict()["skipped"]) == ["ConfigMap", "Ingress"]


def test_placements() -> None:
    assert everything().to_dict()["placements"] == [
        {
            "namespace": "shop",
            "name": "web-0",
            "workload": "Deployment/web",
            "node": "node-1",
            "zone": None,
            "message": "",
            "score": 600,
            "nominatedNode": None,
        },
        {
            "namespace": "shop",
            "name": "web-1",
            "workload": "Deployment/web",
            "node": None,
            "zone": None,
            "message": "0/9 nodes are available.",
            "score": None,
            "nominatedNode": None,
        },
    ]


def test_how_a_constraint_came_out() -> None:
    (found,) = everything().to_dict()["workloads"][0]["constraints"]
    assert found == {
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "maxSkew": 1,
        "minDomains": 1,
        "origin": "pod",
        "selector": "app=web",
        "self": 1,
        "skew": 1,
        "minimum": 0,
        "domains": {"zone-a": 1, "zone-b": 0},
        "before": {"zone-a": 0, "zone-b": 0},
        "nodes": {"zone-a": 3, "zone-b": 3},
        "rejected": {"zone-a": {SPREAD: 2}, "zone-b": {CPU: 1}},
        "counted": {},
        "exceeded": None,
        "leftOut": [{"reason": "no label zone", "nodes": ["node-9"]}],
    }


def test_pending_pods_carry_the_arithmetic() -> None:
    (group,) = everything().to_dict()["pending"]
    assert group["rejections"] == [
        {"plugin": "PodTopologySpread", "code": "Unschedulable", "reasons": [SPREAD], "nodes": 2},
        {"plugin": "NodeResourcesFit", "code": "Unschedulable", "reasons": [CPU], "nodes": 1},
    ]
    assert group["constraints"][0]["domains"][0] == {
        "name": "zone-a",
        "matching": 1,
        "nodes": 3,
        "skew": 2,
        "allowed": False,
        "arithmetic": "1 + 1 (self) − 0 (minimum: zone-b) = 2 > maxSkew 1",
        "rejected": {SPREAD: 2},
    }


def test_names_of_pods_that_were_not_asked_about_have_no_verdict() -> None:
    assert simulation([], [waiting(1, "waits for its scheduling gates: g")]).to_dict()["pending"][0]["rejections"] == []


def test_names() -> None:
    assert names(everything()) == "pod/web-0 node-1\npod/web-1 <none>\n"


def test_a_namespace_alone() -> None:
    whole = everything()
    other = simulation(
        [*whole.workloads, workload("cache", namespace="infra", placed=1)],
        whole.pending,
        placements=whole.placements,
        evictions=(
            EvictedPod("infra", "a", "node-1", "", "shop/web-0", None),
            EvictedPod("infra", "b", "node-1", "", "infra/c", None),
        ),
        removed={"shop/gone": "", "infra/gone": ""},
    )
    shown = other.answer("shop").to_dict()
    assert [each["name"] for each in shown["workloads"]] == ["web"]
    assert [each["name"] for each in shown["evictions"]] == ["a"]
    assert [each["pod"] for each in shown["removed"]] == ["shop/gone"]
    assert other.answer("infra").to_dict()["placements"] == []
    with pytest.raises(UsageError, match="workloads: infra, shop"):
        names(other, "nowhere")


def test_the_first_fix_of_each_cause_is_tried() -> None:
    from tests.plain_inventory import inventory
    from tests.unit.why.builders import GPU, constraint, node, spec, zones
    from tests.unit.why.builders import workload as controller

    tainted = [*zones("a"), node("b", "zone-b", taints=[GPU])]
    large = controller("Deployment", 2, spec(cpu="9"), "large")
    found = simulate(inventory(*tainted, controller("Deployment", 3, spec(constraint())), large)).answer()
    assert [(each.code, each.tried.places) for each in found.remedies] == [
        ("requests", 2),
        ("nodeTaintsPolicy", 3),
    ]
    assert found.to_dict()["remedies"][1]["object"]["name"] == "web"
    text = " ".join(found.text().split())
    assert (
        "fix: shop/web: nodeTaintsPolicy: Honor on topology.kubernetes.io/zone "
        "(tried: all 3 pods have a node; its skew no longer counts zone-b)"
    ) in text
    assert simulate(inventory(*zones("a"))).answer().remedies == ()
    terms = [{"matchExpressions": [{"key": "disktype", "operator": "Exists"}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    ssd = controller("Deployment", 2, spec() | {"affinity": {"nodeAffinity": required}})
    assert "fix: none found; tried: other constraints," in simulate(inventory(*zones("a"), ssd)).answer().text()


@pytest.mark.parametrize(
    ("selector", "why"), [({"matchLabels": {"app": "wbe"}}, "selector app=wbe"), (None, "it has no labelSelector")]
)
def test_a_selector_that_misses_its_own_pods_is_told_on_every_first_screen(selector: object, why: str) -> None:
    labels = {"app": "web"}
    constraint = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
    pod = {
        "containers": [{"name": "c", "image": "i"}],
        "topologySpreadConstraints": [{**constraint, **({"labelSelector": selector} if selector else {})}],
    }
    web = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 4,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
    zone = {"topology.kubernetes.io/zone": "a"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "labels": zone}}
    asked = Session([{**node, "status": {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "9"}}}, web])
    for answer in (asked.simulate(), asked.status(), asked.why("deploy/web"), asked.after().status()):
        (warning,) = [each for each in answer.warnings if "no spreading" in each]
        assert f"the constraint over zones counts none of these pods ({why})" in warning
        assert f"({why})" in answer.text(width=400)
