"""Whose pods a constraint counts, and why its skew is more than maxSkew, in simulations, statuses and explanations."""

from __future__ import annotations

from pathlib import Path

import pytest

import topospread
from topospread.answers.status import status
from topospread.answers.why import why_answer
from topospread.api.inventory import Inventory
from topospread.lint.examples import constraint, deployment
from topospread.simulation.counted import PodOwners
from topospread.simulation.options import PLAIN
from topospread.simulation.placing import place_all
from topospread.simulation.result import WorkloadSpread
from topospread.simulation.run import Run, prepare, spreads
from topospread.simulation.simulate import simulate
from topospread.why.explain import explain

ZONE = "topology.kubernetes.io/zone"
SHOP = "labelSelector:\n  matchLabels: {part-of: shop}"
IN_ZONE_A = f"nodeSelector: {{{ZONE}: zone-a}}\n"


def of_shop(name: str, spec: str, replicas: int = 3, kind: str = "Deployment") -> str:
    text = deployment(spec, name=name, replicas=replicas).replace("kind: Deployment", f"kind: {kind}")
    return text.replace(f"labels: {{app: {name}}}", f"labels: {{part-of: shop, app: {name}}}") + "---\n"


def bare(name: str, node: str = "", labels: str = "part-of: shop") -> str:
    at = f"nodeName: {node}, " if node else ""
    head = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{{labels}}}}}\n"
    return f"{head}spec: {{{at}containers: [{{name: a, image: a}}]}}\n---\n"


def loaded(tmp_path: Path, *texts: str, cluster: str = "zones=3,nodes=6") -> Inventory:
    path = tmp_path / "all.yaml"
    path.write_text("".join(texts))
    return topospread.load(str(path), cluster=cluster)


def spread_of(given: Inventory, name: str, key: str = ZONE) -> WorkloadSpread:
    (found,) = [each for each in simulate(given).workloads if each.name == name]
    return next(each for each in found.spread if each.topology_key == key)


def placed(given: Inventory) -> Run:
    run = prepare(given, PLAIN)
    place_all(run)
    return run


def test_pods_of_another_workload_are_named(tmp_path: Path) -> None:
    given = loaded(tmp_path, of_shop("frontend", constraint(SHOP)), of_shop("history", IN_ZONE_A))
    found = spread_of(given, "frontend")
    assert dict(found.counted) == {"Deployment/frontend": 3, "Deployment/history": 3}
    assert found.exceeded == "others"
    text = simulate(given).answer().text(wide=True)
    assert "counted: 3 Deployment/frontend, 3 Deployment/history\n" in text
    assert "above maxSkew: pods of other workloads count" in text


def test_nobody_is_named_where_all_are_the_workloads_own(tmp_path: Path) -> None:
    own = constraint("labelSelector:\n  matchLabels: {app: frontend}")
    given = loaded(tmp_path, of_shop("frontend", own), of_shop("history", IN_ZONE_A))
    assert spread_of(given, "frontend").counted == {}
    assert "\ncounted:" not in simulate(given).answer().text(wide=True)


def test_pods_that_do_not_count_are_not_named(tmp_path: Path) -> None:
    """Those of another namespace, and those on nodes that take no part."""
    elsewhere = of_shop("other", "").replace("metadata:\n  name", "metadata:\n  namespace: else\n  name", 1)
    honoring = constraint(f"{SHOP}\nnodeTaintsPolicy: Honor")
    taint = "zones=3,nodes=6,taint=zone-a:dedicated=x:NoSchedule"
    given = loaded(tmp_path, of_shop("frontend", honoring), elsewhere, bare("a", "node-1"), cluster=taint)
    assert spread_of(given, "frontend").counted == {}


def test_bare_pods_are_counted_together_and_a_kind_tells_names_apart(tmp_path: Path) -> None:
    given = loaded(
        tmp_path,
        of_shop("web", constraint(SHOP), replicas=2),
        of_shop("web", "", replicas=1, kind="StatefulSet"),
        bare("a", "node-1"),
        bare("b", "node-1"),
    )
    (found,) = [each for each in simulate(given).workloads if each.kind == "Deployment"]
    assert found.spread[0].counted == {"Deployment/web": 2, "Pod": 2, "StatefulSet/web": 1}
    text = simulate(given).answer().text(wide=True)
    assert "counted: 2 Deployment/web, 2 Pod, 1 StatefulSet/web\n" in text


@pytest.mark.parametrize(
    ("spec", "more", "cluster", "why"),
    [
        (constraint(SHOP), "", "zones=3,nodes=6", ""),
        (constraint(SHOP), IN_ZONE_A, "zones=3,nodes=6", "others"),
        (constraint(SHOP, when="ScheduleAnyway"), "", "zones=2,nodes=4,cordon=zone-b", "full"),
        (constraint(SHOP, when="ScheduleAnyway"), "scores", "zones=2,nodes=4", "scores"),
    ],
)
def test_why_a_skew_is_more_than_max_skew(tmp_path: Path, spec: str, more: str, cluster: str, why: str) -> None:
    texts = [of_shop("frontend", spec)]
    if more == "scores":
        near = "affinity:\n  nodeAffinity:\n    preferredDuringSchedulingIgnoredDuringExecution:\n    - weight: 100\n"
        near += f"      preference: {{matchExpressions: [{{key: {ZONE}, operator: In, values: [zone-a]}}]}}\n"
        near += "  podAffinity:\n    preferredDuringSchedulingIgnoredDuringExecution:\n    - weight: 100\n"
        near += f"      podAffinityTerm: {{topologyKey: {ZONE}, labelSelector: {{matchLabels: {{part-of: shop}}}}}}\n"
        texts = [of_shop("frontend", near + spec)]
    elif more:
        texts.append(of_shop("history", more))
    assert spread_of(loaded(tmp_path, *texts, cluster=cluster), "frontend").exceeded == why


@pytest.mark.parametrize("nodes", ["4+1+1", "7+1+1"])
def test_a_hard_constraint_that_forces_the_placement_is_no_score(tmp_path: Path, nodes: str) -> None:
    """One pod a node: zone-b and zone-c have one node each, so filters leave the others zone-a."""
    both = constraint(SHOP, when="ScheduleAnyway") + one_pod_a_node().removeprefix("topologySpreadConstraints:\n")
    found = loaded(tmp_path, of_shop("frontend", both, replicas=6), cluster=f"zones=3,nodes={nodes}")
    spread = spread_of(found, "frontend")
    assert (spread.domains.after.tolist(), spread.exceeded) == ([4, 1, 1], "full")


def one_pod_a_node() -> str:
    return constraint(SHOP).replace(ZONE, "kubernetes.io/hostname")


def test_what_was_there_before_is_told(tmp_path: Path) -> None:
    own = of_shop("frontend", constraint(SHOP), replicas=1)
    there = [bare(name, "node-1") for name in "abc"]
    found = spread_of(loaded(tmp_path, own, *there), "frontend")
    assert (found.skew, found.exceeded) == (3, "before")


def test_a_status_names_them_too(tmp_path: Path) -> None:
    own = bare("own", "node-2").replace("spec: {", "spec: {" + flow() + ", ")
    given = loaded(
        tmp_path, own, of_shop("db", IN_ZONE_A, replicas=2, kind="StatefulSet"), owned("db-0"), owned("db-1")
    )
    found = status(given)
    (of_pod,) = [each for each in found.workloads if each.kind == "Pod"]
    assert of_pod.constraints[0].counted == {"Pod": 1, "StatefulSet/db": 2}
    assert "others-counted" in [each.code for each in found.causes]
    assert "counts 1 of Pod, 2 of StatefulSet/db" in found.text(wide=True, width=200)


def test_an_explanation_names_them_too(tmp_path: Path) -> None:
    given = loaded(tmp_path, of_shop("history", IN_ZONE_A), of_shop("frontend", constraint(SHOP)))
    found = why_answer(explain(given, "deploy/frontend", another=True))
    (table,) = found.constraints
    assert table.counted["Deployment/history"] == 3
    assert "counted: " in found.text(wide=True)


def test_pods_of_one_workload_are_counted_without_those_of_the_cluster(tmp_path: Path) -> None:
    own = constraint("labelSelector:\n  matchLabels: {app: frontend}")
    given = loaded(tmp_path, of_shop("frontend", own), of_shop("history", constraint(SHOP)), bare("web", "node-1"))
    run = placed(given)
    owners = PodOwners(run.cluster, run.owners, run.queue)
    frontend, history = ((each, spreads(run)[id(each)][0]) for each in run.plan.workloads if each.kind != "Pod")
    assert (owners.counted_by(frontend[1], frontend[0]), "_of" in vars(owners)) == ({}, False)
    assert owners.counted_by(history[1], history[0]) == {"Deployment/frontend": 3, "Deployment/history": 3, "Pod": 1}


def flow() -> str:
    return (
        "topologySpreadConstraints: [{maxSkew: 1, topologyKey: " + ZONE + ", whenUnsatisfiable: DoNotSchedule, "
        "labelSelector: {matchLabels: {part-of: shop}}}]"
    )


def owned(name: str) -> str:
    owner = "ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: u, controller: true}]"
    labels = "labels: {part-of: shop, app: db}"
    head = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, uid: {name}, {labels}, {owner}}}\n"
    return f"{head}spec: {{nodeName: node-1, containers: [{{name: a, image: a}}]}}\n---\n"
