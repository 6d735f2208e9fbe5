"""A profile's plugins: PreFilter results together, scores with weights, and the extenders that a pod concerns."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.unit.plugins.storage_builders import cluster, pod, zonal
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.config.profile import Extender
from topospread.plugins.interface import Prepared, Status, StatusCode
from topospread.scheduling.framework import Framework, PreparedPlugins

PROFILE, GATES = default_profile(), gates_for()


def prepared(version: str = "1.37", **known: Prepared) -> PreparedPlugins:
    made = cluster(zonal(a="a", b="b", c="c"))
    gates = gates_for(version)
    return Framework(default_profile(version, gates), gates).prepare(made.pod_class(pod()), made, known)


def only(*names: str) -> Prepared:
    return Prepared(narrowed=frozenset(names))


def rejects(code: StatusCode) -> Prepared:
    return Prepared(rejected=Status(code, (code,)))


def test_pre_filters_leave_the_nodes_that_all_leave() -> None:
    found = prepared(NodeAffinity=only("a", "b"), VolumeBinding=only("b", "c"))
    assert (found.narrowed, set(found.narrowing)) == ({"b"}, {"NodeAffinity", "VolumeBinding"})


@pytest.mark.parametrize(("version", "code"), [("1.29", "Unschedulable"), ("1.30", "UnschedulableAndUnresolvable")])
def test_node_lists_without_a_common_node_reject_the_pod(version: str, code: str) -> None:
    found = prepared(version, NodeAffinity=only("a"), VolumeBinding=only("b"))
    assert found.rejected is not None
    assert (found.rejected[0], found.rejected[1].code) == ("", code)


@pytest.mark.parametrize(("version", "last"), [("1.29", "NodeAffinity"), ("1.30", "VolumeBinding")])
def test_an_unresolvable_rejection_overrides_an_earlier_one_since_1_30(version: str, last: str) -> None:
    resolvable, unresolvable = rejects("Unschedulable"), rejects("UnschedulableAndUnresolvable")
    found = prepared(version, NodeAffinity=resolvable, VolumeBinding=unresolvable)
    assert found.rejected is not None
    assert found.rejected[0] == last


def test_scores_have_the_weights_of_the_profile_and_none_without_score_plugins() -> None:
    made = cluster(zonal(a="a"))
    framework = Framework(PROFILE, GATES)
    weights = {each.plugin: each.weight for each in framework.prepare(made.pod_class(pod()), made).scores}
    assert weights.items() <= PROFILE.weights.items()
    assert weights["TaintToleration"] == 3
    assert framework.without_scores().prepare(made.pod_class(pod()), made).scores == []


@pytest.mark.parametrize(
    ("spec", "concerned"),
    [
        ({"requests": {"example.com/gpu": "1"}}, "all gpu"),
        ({"limits": {"example.com/gpu": "1"}}, "all gpu"),
        ({"requests": {"cpu": "1"}}, "all"),
    ],
)
def test_an_extender_with_managed_resources_concerns_pods_that_name_one(spec: dict[str, Any], concerned: str) -> None:
    extenders = (
        Extender("all", {"filterVerb": "filter nodes"}, frozenset(), "extenders[0]"),
        Extender("gpu", {"prioritizeVerb": "score nodes"}, frozenset({"example.com/gpu"}), "extenders[1]", asked=True),
    )
    framework = Framework(replace(PROFILE, extenders=extenders), GATES)
    pod_class = cluster({}).pod_class(pod(containers=[{"name": "c", "resources": spec}]))
    assert " ".join(each.url for each in framework.interested(pod_class)) == concerned
    assert [each.url for each in framework.asks(pod_class)] == ["gpu"] * ("gpu" in concerned)
    unjudged = framework.extenders(pod_class, "filterVerb", "prioritizeVerb")
    assert [each.because for each in unjudged] == ["extender all is not asked: it may filter nodes"]
