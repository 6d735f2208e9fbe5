"""The generator of cases: repeatable, and as varied as its flavours say."""

from __future__ import annotations

from itertools import islice

import pytest

from conformance.generate import FLAVOURS, Recipe, cases
from conformance.generators.draw import Draw
from conformance.generators.gates import SWITCHED, gates
from topospread.config.gates import gates_for


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_equal_seeds_give_equal_cases(flavour: str) -> None:
    recipe = Recipe(flavour)
    assert list(cases(recipe, 7, 5)) == list(cases(recipe, 7, 5))
    assert list(cases(recipe, 7, 5)) != list(cases(recipe, 8, 5))


def test_a_case_does_not_depend_on_how_many_follow() -> None:
    recipe = Recipe("mixed")
    assert list(islice(cases(recipe, 7, 50), 3)) == list(cases(recipe, 7, 3))


def test_pods_are_bound_to_nodes_of_the_case() -> None:
    for case in cases(Recipe("mixed"), 1, 20):
        names = {node["metadata"]["name"] for node in case["nodes"]}
        assert {pod["spec"]["nodeName"] for pod in case["pods"]} <= names
        assert len(case["incoming"]) == 4


def test_replicas_are_placed_one_after_another() -> None:
    for case in cases(Recipe("spread", sequential=12), 1, 20):
        assert case["sequential"] is True
        assert [pod["metadata"]["name"] for pod in case["incoming"]] == [f"replica-{i:03d}" for i in range(12)]


def test_node_counts_stay_in_their_range() -> None:
    assert {len(case["nodes"]) for case in cases(Recipe("spread", nodes=(3, 4)), 1, 30)} == {3, 4}


@pytest.mark.parametrize(
    ("flavour", "keys"),
    [
        ("volumes", {"persistentVolumes", "persistentVolumeClaims", "storageClasses", "csiNodes"}),
        ("preemption", {"preempt", "podDisruptionBudgets", "nominated"}),
        ("mixed", {"config", "services", "replicaSets", "statefulSets", "replicationControllers"}),
    ],
)
def test_flavours_bring_their_objects(flavour: str, keys: set[str]) -> None:
    assert keys <= set().union(*cases(Recipe(flavour), 1, 60))


def test_spread_asks_for_the_nearness_of_no_other_pod() -> None:
    for case in cases(Recipe("spread"), 1, 60):
        for pod in case["pods"] + case["incoming"]:
            assert not {"podAffinity", "podAntiAffinity"} & pod["spec"].get("affinity", {}).keys()


def test_a_version_is_stated_and_its_gates_are_switched() -> None:
    made = list(cases(Recipe("spread", kube_version="1.27"), 1, 30))
    assert all(case["kubeVersion"] == "1.27" for case in made)
    values = [case.get("featureGates", {}).get("MinDomainsInPodTopologySpread") for case in made]
    assert set(values) == {True, False, None}


def test_pods_choose_among_several_profiles() -> None:
    several = [case for case in cases(Recipe("profile"), 1, 30) if "bySchedulerName" in case]
    for case in several:
        names = {profile["schedulerName"] for profile in case["config"]["profiles"]}
        assert {pod["spec"]["schedulerName"] for pod in case["incoming"]} <= names
    assert len(several) > 5


@pytest.mark.parametrize("version", SWITCHED)
def test_gates_are_those_of_the_version(version: str) -> None:
    for i in range(20):
        gates_for(version, gates(Draw(i), version))
