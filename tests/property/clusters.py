"""Random clusters, pods and histories for property tests: small, but with every odd case a rule may trip over."""

from __future__ import annotations

from hypothesis import strategies as st

from topospread.api.labels import LabelSelector
from topospread.api.meta import ObjectMeta
from topospread.api.node import Node, NodeSpec, NodeStatus
from topospread.api.node_selection import (
    Affinity,
    PodAffinity,
    PodAffinityTerm,
    Taint,
    Toleration,
    WeightedPodAffinityTerm,
)
from topospread.api.pod import Container, ContainerPort, Pod, PodSpec, ResourceRequirements
from topospread.api.spread import TopologySpreadConstraint

ZONE, HOST, RACK = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "example.com/rack"
NODE_NAMES = [f"node-{i}" for i in range(12)]
_TAINTS = [
    Taint(key="dedicated", value="gpu", effect="NoSchedule"),
    Taint(key="location", value="true", effect="PreferNoSchedule"),
]


@st.composite
def nodes(draw: st.DrawFn, name: str | None = None) -> Node:
    name = name or draw(st.sampled_from(NODE_NAMES))
    labels = {HOST: draw(st.sampled_from([name, name, name, "shared"]))}
    if draw(st.integers(0, 5)):
        labels[ZONE] = draw(st.sampled_from(["zone-a", "zone-b", "zone-c", ""]))
    if draw(st.booleans()):
        labels[RACK] = f"rack-{draw(st.integers(0, 40))}"
    labels["disk"] = draw(st.sampled_from(["ssd", "hdd"]))
    amounts = {"cpu": draw(st.sampled_from(["1", "2"])), "memory": "2Gi", "pods": draw(st.sampled_from(["3", "110"]))}
    return Node(
        metadata=ObjectMeta(name=name, labels=labels),
        spec=NodeSpec(
            unschedulable=draw(st.sampled_from([None, None, None, True])),
            taints=draw(st.lists(st.sampled_from(_TAINTS), max_size=2, unique=True)),
        ),
        status=NodeStatus(allocatable=dict(amounts), capacity=dict(amounts)),
    )


@st.composite
def constraints(draw: st.DrawFn, key: str) -> TopologySpreadConstraint:
    hard = draw(st.booleans())
    return TopologySpreadConstraint(
        max_skew=draw(st.integers(1, 3)),
        topology_key=key,
        when_unsatisfiable="DoNotSchedule" if hard else "ScheduleAnyway",
        label_selector=draw(
            st.sampled_from([None, LabelSelector(), *(LabelSelector(match_labels={"app": app}) for app in "aabb")])
        ),
        min_domains=draw(st.sampled_from([None, None, 2, 5])) if hard else None,
        node_taints_policy=draw(st.sampled_from([None, "Honor"])),
        node_affinity_policy=draw(st.sampled_from([None, "Ignore"])),
    )


@st.composite
def affinities(draw: st.DrawFn) -> Affinity | None:
    if draw(st.integers(0, 2)):
        return None

    def term() -> PodAffinityTerm:
        selector = LabelSelector(match_labels={"app": draw(st.sampled_from(["a", "b"]))})
        return PodAffinityTerm(topology_key=draw(st.sampled_from([ZONE, HOST, RACK])), label_selector=selector)

    def terms() -> PodAffinity | None:
        required = [term() for _ in range(draw(st.integers(0, 1)))]
        weights = draw(st.lists(st.integers(1, 100), max_size=2))
        preferred = [WeightedPodAffinityTerm(weight=weight, pod_affinity_term=term()) for weight in weights]
        return PodAffinity(
            required_during_scheduling_ignored_during_execution=required,
            preferred_during_scheduling_ignored_during_execution=preferred,
        )

    return Affinity(pod_affinity=terms(), pod_anti_affinity=terms())


@st.composite
def pods(draw: st.DrawFn, name: str = "") -> Pod:
    affinity = draw(affinities())
    keys = draw(st.lists(st.sampled_from([ZONE, HOST, RACK]), max_size=3, unique=True))
    ports = [ContainerPort(host_port=8080)] if draw(st.integers(0, 5)) == 0 else None
    requests = {"cpu": draw(st.sampled_from(["100m", "300m"])), "memory": "64Mi"}
    return Pod(
        metadata=ObjectMeta(name=name, namespace="default", labels={"app": draw(st.sampled_from(["a", "b"]))}),
        spec=PodSpec(
            containers=[
                Container(name="c", image="i", resources=ResourceRequirements(requests=dict(requests)), ports=ports)
            ],
            topology_spread_constraints=[draw(constraints(key)) for key in keys] or None,
            node_selector=draw(st.sampled_from([None, None, {"disk": "ssd"}])),
            affinity=affinity,
            tolerations=draw(st.sampled_from([None, [Toleration(key="dedicated", operator="Exists")]])),
        ),
    )
