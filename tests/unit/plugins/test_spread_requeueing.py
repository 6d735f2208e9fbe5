"""PodTopologySpread's hints: the pods and nodes that may help a rejected pod."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.config.args import PodTopologySpreadArgs
from topospread.plugins.pod_topology_spread_rules import PodTopologySpreadRules
from topospread.plugins.spread_constraints import ConstraintsInForce
from topospread.plugins.spread_requeueing import spread_registrations

Json = dict[str, Any]


def constraint(key: str = "zone", **fields: Any) -> Json:
    selector = {"matchLabels": {"app": "web"}}
    return {"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector} | fields


def pod(*constraints: Json, app: str = "web", namespace: str = "d", on: str = "", **more: Any) -> Pod:
    spec = {"topologySpreadConstraints": list(constraints), "nodeName": on, **more.pop("spec", {})}
    metadata = {"name": app, "namespace": namespace, "labels": {"app": app}}
    return msgspec.convert({"metadata": metadata, "spec": spec, **more}, Pod)


def node(taints: tuple[str, ...] = (), **labels: str) -> Node:
    spec = {"taints": [{"key": each, "effect": "NoSchedule"} for each in taints]}
    return msgspec.convert({"metadata": {"name": "n", "labels": labels}, "spec": spec}, Node)


def helps(
    resource: str, old: object, new: object, incoming: Pod | None = None, *, counts_nominated: bool = True
) -> bool:
    constraints = ConstraintsInForce(PodTopologySpreadArgs(), PodTopologySpreadRules())
    registrations = spread_registrations(Cluster(), constraints, counts_nominated=counts_nominated)
    hints: dict[str, Any] = {each.event.resource: each.hint for each in registrations}
    return bool(hints[resource](incoming or pod(constraint()), old, new))


THERE = pod(on="n")


def test_a_counted_pod_helps_when_it_is_bound_or_deleted() -> None:
    assert helps("AssignedPod", None, THERE)
    assert helps("AssignedPod", THERE, None)


@pytest.mark.parametrize("other", [pod(app="db", on="n"), pod(namespace="other", on="n"), pod()])
def test_a_pod_that_is_not_counted_does_not_help(other: Pod) -> None:
    assert not helps("AssignedPod", None, other)
    assert not helps("AssignedPod", other, None)


def test_new_labels_help_if_the_pod_is_counted_in_one_state_only() -> None:
    assert helps("AssignedPod", pod(app="db", on="n"), THERE)
    assert not helps("AssignedPod", THERE, THERE)


def test_a_nominated_pod_counts_if_the_version_says_so() -> None:
    nominated = pod(status={"nominatedNodeName": "n"})
    assert helps("AssignedPod", nominated, None)
    assert not helps("AssignedPod", nominated, None, counts_nominated=False)


def test_pods_do_not_help_soft_constraints() -> None:
    soft = pod(constraint(whenUnsatisfiable="ScheduleAnyway"))
    assert not helps("AssignedPod", None, THERE, soft)


def test_a_pods_own_labels_help_if_it_begins_or_ends_to_count_itself() -> None:
    old, new = pod(constraint(), app="db"), pod(constraint())
    assert helps("TargetPod", old, new, new)
    assert not helps("TargetPod", new, new, new)


def test_a_pods_own_tolerations_help_if_taints_are_honored() -> None:
    spec = {"tolerations": [{"key": "k", "operator": "Exists"}]}
    for policy, moves in (("Honor", True), ("Ignore", False)):
        given = constraint(nodeTaintsPolicy=policy)
        old, new = pod(given), pod(given, spec=spec)
        assert helps("TargetPod", old, new, new) is moves


def test_a_node_helps_if_it_has_all_keys() -> None:
    assert helps("Node", None, node(zone="a"))
    assert helps("Node", node(zone="a"), None)
    assert not helps("Node", None, node())
    two = pod(constraint(), constraint("rack"))
    assert not helps("Node", None, node(zone="a"), two)
    assert helps("Node", None, node(zone="a", rack="r"), two)


@pytest.mark.parametrize(
    ("old", "new", "moves"),
    [
        (node(), node(zone="a"), True),
        (node(zone="a"), node(), True),
        (node(zone="a"), node(zone="b"), True),
        (node(zone="a"), node(zone="a", x="y"), False),
        (node(zone="a"), node(("t",), zone="a"), True),
        (node(), node(("t",)), False),
    ],
)
def test_an_updated_node_helps_if_its_domain_or_taints_changed(old: Node, new: Node, moves: bool) -> None:
    assert helps("Node", old, new) is moves
