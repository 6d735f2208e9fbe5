"""InterPodAffinity: what its terms mean in one version and not in another."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.cases import judge_case

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"


def pod(name: str, namespace: str, spec: Json) -> Json:
    return {"metadata": {"name": name, "namespace": namespace, "labels": {"app": "web"}}, "spec": spec}


@pytest.mark.parametrize(
    ("version", "feasible"), [("1.33", ["a", "b"]), ("1.34", ["b"]), ("1.36", ["b"]), ("1.37", ["a", "b"])]
)
def test_from_1_34_to_1_36_no_label_is_asked_of_namespaces_without_labels(version: str, feasible: list[str]) -> None:
    term = {
        "topologyKey": ZONE,
        "labelSelector": {"matchLabels": {"app": "web"}},
        "namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]},
    }
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    case = {
        "kubeVersion": version,
        "nodes": [
            {"metadata": {"name": name, "labels": {ZONE: name}}, "status": {"allocatable": {"pods": 9}}}
            for name in "ab"
        ],
        "namespaces": [{"metadata": {"name": "mine"}}, {"metadata": {"name": "blue", "labels": {"team": "blue"}}}],
        "pods": [pod("there", "blue", {"nodeName": "a"})],
        "incoming": [pod("new", "mine", {"affinity": affinity})],
    }
    assert judge_case(case)["verdicts"][0]["feasible"] == feasible


@pytest.mark.parametrize(("enabled", "feasible"), [(True, ["n2"]), (False, ["n1", "n2"])])
def test_namespace_selector_is_ignored_while_its_gate_is_off(enabled: bool, feasible: list[str]) -> None:
    """Then the term means the namespaces that it names: none, for it has a selector."""
    term = {"topologyKey": "zone", "namespaceSelector": {}, "labelSelector": {"matchLabels": {"app": "web"}}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    metadata = {"name": "p", "namespace": "d", "labels": {"app": "web"}}
    there = {"metadata": metadata | {"name": "there"}, "spec": {"nodeName": "n1", "containers": [{"name": "c"}]}}
    case = {
        "name": "c",
        "kubeVersion": "1.22",
        "featureGates": {"PodAffinityNamespaceSelector": enabled},
        "nodes": [
            {"metadata": {"name": name, "labels": {"zone": name}}, "status": {"allocatable": {"pods": "9", "cpu": "4"}}}
            for name in ("n1", "n2")
        ],
        "namespaces": [{"metadata": {"name": "d"}}],
        "pods": [there],
        "incoming": [{"metadata": metadata, "spec": {"containers": [{"name": "c"}], "affinity": affinity}}],
    }
    assert judge_case(case)["verdicts"][0]["feasible"] == feasible
