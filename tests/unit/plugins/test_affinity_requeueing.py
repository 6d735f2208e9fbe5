"""InterPodAffinity's hints: the pods and nodes that may help a rejected pod, by version."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.version_rules import rules_for
from topospread.plugins.affinity_requeueing import AffinityHintRules, affinity_registrations, wants_near
from topospread.plugins.interface import PluginError

Json = dict[str, Any]


def term(app: str, **more: Any) -> Json:
    return {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": app}}, **more}


def pod(app: str = "web", *, near: tuple[Json, ...] = (), away: tuple[Json, ...] = (), on: str = "") -> Pod:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    kinds = {"podAffinity": near, "podAntiAffinity": away}
    affinity = {kind: {required: list(terms)} for kind, terms in kinds.items() if terms}
    metadata = {"name": app, "namespace": "d", "labels": {"app": app}}
    return msgspec.convert({"metadata": metadata, "spec": {"affinity": affinity, "nodeName": on}}, Pod)


def node(**labels: str) -> Node:
    return msgspec.convert({"metadata": {"name": "n", "labels": labels}}, Node)


def helps(resource: str, incoming: Pod, old: object, new: object, version: str = "1.37") -> bool:
    rules = rules_for(AffinityHintRules, gates_for(version))
    hints: dict[str, Any] = {each.event.resource: each.hint for each in affinity_registrations(Cluster(), rules)}
    return bool(hints[resource](incoming, old, new))


NEAR, AWAY = pod(near=(term("db"),)), pod(away=(term("db"),))


def test_an_added_pod_helps_if_all_affinity_terms_match() -> None:
    assert helps("AssignedPod", NEAR, None, pod("db", on="n"))
    assert not helps("AssignedPod", NEAR, None, pod("cache", on="n"))
    both = pod(near=(term("db"), term("cache")))
    assert not helps("AssignedPod", both, None, pod("db", on="n"))
    assert not helps("AssignedPod", pod(), None, pod("db", on="n"))


def test_a_pod_without_a_node_does_not_help() -> None:
    assert not helps("AssignedPod", NEAR, None, pod("db"))


def test_new_labels_help_if_they_begin_to_match_affinity_or_end_to_match_anti_affinity() -> None:
    db, cache = pod("db", on="n"), pod("cache", on="n")
    assert helps("AssignedPod", NEAR, cache, db)
    assert not helps("AssignedPod", NEAR, db, cache)
    assert helps("AssignedPod", AWAY, db, cache)
    assert not helps("AssignedPod", AWAY, cache, db)


def test_a_deleted_pod_helps_if_anti_affinity_matched_it() -> None:
    assert helps("AssignedPod", AWAY, pod("db", on="n"), None)
    assert not helps("AssignedPod", AWAY, pod("cache", on="n"), None)
    assert not helps("AssignedPod", NEAR, pod("db", on="n"), None)


@pytest.mark.parametrize(("version", "moves"), [("1.36", False), ("1.37", True)])
def test_since_1_37_one_of_several_anti_affinity_terms_suffices(version: str, moves: bool) -> None:
    both = pod(away=(term("db"), term("cache")))
    assert helps("AssignedPod", both, pod("db", on="n"), None, version) is moves


@pytest.mark.parametrize(("version", "moves"), [("1.35", False), ("1.36", True)])
def test_since_1_36_a_deleted_pods_own_anti_affinity_counts(version: str, moves: bool) -> None:
    rejecting = pod("db", away=(term("web"),), on="n")
    assert helps("AssignedPod", pod(), rejecting, None, version) is moves


def test_an_added_node_helps_if_it_has_the_key_or_the_pod_avoids_others() -> None:
    assert helps("Node", NEAR, None, node(zone="a"))
    assert not helps("Node", NEAR, None, node())
    assert helps("Node", AWAY, None, node())
    assert not helps("Node", pod(), None, node(zone="a"))


def test_a_node_helps_if_it_joins_a_domain_of_affinity_or_leaves_one_of_anti_affinity() -> None:
    assert helps("Node", NEAR, node(), node(zone="a"))
    assert not helps("Node", NEAR, node(zone="a"), node())
    assert not helps("Node", NEAR, node(zone="a"), node(zone="a", x="y"))
    assert helps("Node", AWAY, node(zone="a"), node())
    assert not helps("Node", AWAY, node(), node(zone="a"))


def test_an_invalid_required_term_is_an_error() -> None:
    broken = term("db", labelSelector={"matchExpressions": [{"key": "app", "operator": "In"}]})
    with pytest.raises(PluginError, match="requiredAffinityTerms"):
        helps("AssignedPod", pod(near=(broken,)), None, pod("db", on="n"))


def test_a_pod_wants_to_be_near_pods_that_any_affinity_term_matches() -> None:
    assert wants_near(pod(near=(term("db"), term("cache"))), pod("db"), Cluster())
    assert not wants_near(NEAR, pod("cache"), Cluster())
    assert not wants_near(AWAY, pod("db"), Cluster())
