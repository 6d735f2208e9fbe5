"""The spread constraints of a pod: its own, or the defaults with a deduced selector, by version."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from topospread.api.pod import Pod
from topospread.api.workload import Service
from topospread.cluster import Cluster
from topospread.config.args import DefaultConstraint, PodTopologySpreadArgs
from topospread.config.gates import gates_for
from topospread.config.version_rules import rules_for
from topospread.plugins.interface import PluginError
from topospread.plugins.pod_topology_spread_rules import PodTopologySpreadRules
from topospread.plugins.spread_constraints import Constraint, ConstraintsInForce

Json = dict[str, Any]
LISTED = PodTopologySpreadArgs(
    default_constraints=(
        DefaultConstraint(max_skew=1, topology_key="rack", when_unsatisfiable="ScheduleAnyway"),
        DefaultConstraint(max_skew=2, topology_key="zone", when_unsatisfiable="DoNotSchedule"),
    ),
    defaulting_type="List",
)


def pod(*constraints: Json, **labels: str) -> Pod:
    metadata = {"name": "p", "namespace": "d", "labels": labels or {"app": "web"}}
    return msgspec.convert({"metadata": metadata, "spec": {"topologySpreadConstraints": list(constraints)}}, Pod)


def hard(**fields: Any) -> Json:
    selector = {"matchLabels": {"app": "web"}}
    return {
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "maxSkew": 1,
        "labelSelector": selector,
    } | fields


def in_force(
    made: Pod,
    when: Any = "DoNotSchedule",
    *,
    version: str = "1.37",
    args: PodTopologySpreadArgs = LISTED,
    service: bool = True,
) -> list[Constraint]:
    cluster = Cluster()
    if service:
        given = {"metadata": {"name": "s", "namespace": "d"}, "spec": {"selector": {"app": "web"}}}
        cluster.objects.add([msgspec.convert(given, Service)])
    rules = rules_for(PodTopologySpreadRules, gates_for(version))
    return ConstraintsInForce(args, rules)(cluster.pod_class(made), cluster, when)


def one(made: Pod, version: str = "1.37") -> Constraint:
    (found,) = in_force(made, version=version)
    return found


def test_own_constraints_of_one_kind_keep_their_position() -> None:
    soft = hard(whenUnsatisfiable="ScheduleAnyway", topologyKey="rack")
    found = in_force(pod(soft, hard(maxSkew=3)))
    assert [(each.topology_key, each.max_skew, each.position, each.origin) for each in found] == [("zone", 3, 1, "pod")]


def test_any_own_constraint_replaces_all_defaults() -> None:
    assert in_force(pod(hard()), "ScheduleAnyway") == []


def test_defaults_have_the_selector_of_the_pods_service() -> None:
    (found,) = in_force(pod())
    assert (found.topology_key, found.max_skew, found.position, found.origin) == ("zone", 2, 1, "profile")
    assert found.selector.matches({"app": "web"})
    assert not found.selector.matches({"app": "db"})


def test_without_a_selector_there_are_no_defaults() -> None:
    assert in_force(pod(), service=False) == []


def test_built_in_defaults_are_soft() -> None:
    system = PodTopologySpreadArgs()
    assert in_force(pod(), args=system) == []
    found = in_force(pod(), "ScheduleAnyway", args=system)
    assert [(each.topology_key, each.max_skew, each.origin) for each in found] == [
        ("kubernetes.io/hostname", 3, "system"),
        ("topology.kubernetes.io/zone", 5, "system"),
    ]


@pytest.mark.parametrize(("version", "least"), [("1.26", 1), ("1.27", 5)])
def test_min_domains_counts_from_the_version_with_its_gate_on(version: str, least: int) -> None:
    assert one(pod(hard(minDomains=5)), version).min_domains == least
    assert one(pod(hard()), version).min_domains == 1


def test_unset_policies_honor_affinity_and_ignore_taints() -> None:
    plain = one(pod(hard()))
    assert (plain.honors_affinity, plain.honors_taints) == (True, False)
    other = one(pod(hard(nodeAffinityPolicy="Ignore", nodeTaintsPolicy="Honor")))
    assert (other.honors_affinity, other.honors_taints) == (False, True)


def test_before_the_gate_policies_are_ignored() -> None:
    old = one(pod(hard(nodeAffinityPolicy="Ignore", nodeTaintsPolicy="Honor")), "1.25")
    assert (old.honors_affinity, old.honors_taints) == (True, False)


def test_match_label_keys_add_the_pods_own_values() -> None:
    made = pod(hard(matchLabelKeys=["revision", "missing"]), app="web", revision="1")
    assert not one(made).selector.matches({"app": "web", "revision": "2"})
    assert one(made).selector.matches({"app": "web", "revision": "1"})
    assert one(made, "1.26").selector.matches({"app": "web", "revision": "2"})


def test_keys_without_a_selector_select_nothing() -> None:
    made = pod(hard(labelSelector=None, matchLabelKeys=["app"]), app="web")
    assert not one(made).selector.matches({"app": "web"})


def test_a_pod_that_does_not_match_its_selector_does_not_count_itself() -> None:
    cluster = Cluster()
    constraint = one(pod(hard()))
    assert constraint.counts_itself(cluster.pod_class(pod(app="web"))) == 1
    assert constraint.counts_itself(cluster.pod_class(pod(app="db"))) == 0


@pytest.mark.parametrize(
    ("when", "version", "begins"),
    [
        ("DoNotSchedule", "1.37", "PreFilter plugin {}: get constraints from pod: obtaining pod's hard"),
        ("DoNotSchedule", "1.29", "PreFilter plugin {}: obtaining pod's hard"),
        ("ScheduleAnyway", "1.37", "PreScore plugin {}: calculating preScoreState: obtaining pod's soft"),
    ],
)
def test_an_invalid_selector_fails_the_step_that_reads_it(when: str, version: str, begins: str) -> None:
    broken = {"matchExpressions": [{"key": "app", "operator": "In"}]}
    with pytest.raises(PluginError) as failure:
        in_force(pod(hard(whenUnsatisfiable=when, labelSelector=broken)), when, version=version)
    assert str(failure.value).startswith("running " + begins.format('"PodTopologySpread"'))
