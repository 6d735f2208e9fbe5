"""Pods that are a class each, as a StatefulSet's are, are answered together exactly as if each were asked by itself."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from tests.drawn import drawn
from tests.forks import fork
from tests.property.clusters import nodes, pods
from tests.property.test_views import FRAMEWORK, assert_same
from topospread.api.labels import LabelSelector
from topospread.api.meta import ObjectMeta
from topospread.api.node import Node
from topospread.api.pod import PersistentVolumeClaimVolumeSource, Pod, Volume
from topospread.api.spread import TopologySpreadConstraint
from topospread.api.storage import PersistentVolumeClaim, PersistentVolumeClaimSpec, StorageClass
from topospread.api.workload import Service, ServiceSpec
from topospread.cluster import Cluster
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.view import Shared, View

NAME, INDEX = "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"
ORDINALS = st.integers(0, 4)


class Ordinals(RuleBasedStateMachine):
    """Pods of a few templates with ordinals come and go; nodes and what selects by ordinals come, too."""

    def __init__(self) -> None:
        super().__init__()
        self.cluster = Cluster()
        self.scheduler = Scheduler(self.cluster, {"default-scheduler": FRAMEWORK})
        self.templates: list[Pod] = []
        self.asked: list[Pod] = []

    @initialize(
        first=st.lists(nodes(), min_size=2, max_size=8),
        templates=st.lists(pods(), min_size=2, max_size=2),
        has_claims=st.booleans(),
    )
    def begin(self, first: list[Node], templates: list[Pod], has_claims: bool) -> None:
        for node in first:
            self.cluster.add_node(node)
        waits = StorageClass(
            metadata=ObjectMeta(name="waits"), provisioner="e", volume_binding_mode="WaitForFirstConsumer"
        )
        self.cluster.apply("ADDED", waits)
        self.templates = [self._named(each, i, has_claims=has_claims) for i, each in enumerate(templates)]

    def _named(self, template: Pod, number: int, *, has_claims: bool) -> Pod:
        volumes = (
            [Volume(name="data", persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=""))]
            if has_claims
            else None
        )
        spec = replace(template.spec, volumes=volumes)
        return replace(template, metadata=replace(template.metadata, name=f"set-{number}"), spec=spec)

    def _replica(self, template: Pod, ordinal: int) -> Pod:
        name = f"{template.metadata.name}-{ordinal}"
        labels = {**template.labels, NAME: name, INDEX: str(ordinal)}
        spec = template.spec
        if spec.volumes:
            spec = replace(
                spec,
                volumes=[
                    Volume(
                        name="data",
                        persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=f"data-{name}"),
                    )
                ],
            )
            if ("default", f"data-{name}") not in self.cluster.objects.persistent_volume_claims:
                claim = PersistentVolumeClaim(
                    metadata=ObjectMeta(name=f"data-{name}", namespace="default"),
                    spec=PersistentVolumeClaimSpec(storage_class_name="waits", access_modes=["ReadWriteOnce"]),
                )
                self.cluster.apply("ADDED", claim)
        return replace(template, metadata=replace(template.metadata, name=name, labels=labels), spec=spec)

    @rule(data=st.data(), ordinal=ORDINALS)
    def place(self, data: st.DataObject, ordinal: int) -> None:
        pod = self._replica(data.draw(st.sampled_from(self.templates)), ordinal)
        if f"default/{pod.name}" in self.cluster.placed:
            self.cluster.unbind(f"default/{pod.name}")
        alone = Scheduler(fork(self.cluster), {"default-scheduler": FRAMEWORK})
        expected = alone.schedule(pod)
        assert self.scheduler.schedule(pod) == expected
        self.asked = [*self.asked[-3:], pod]

    @precondition(lambda self: self.cluster.placed)
    @rule(data=st.data())
    def remove_pod(self, data: st.DataObject) -> None:
        self.cluster.unbind(data.draw(st.sampled_from(sorted(self.cluster.placed))))

    @rule(node=nodes())
    def put_node(self, node: Node) -> None:
        self.cluster.add_node(node)

    @precondition(lambda self: self.cluster.nodes.row_of)
    @rule(data=st.data())
    def remove_node(self, data: st.DataObject) -> None:
        self.cluster.remove_node(data.draw(st.sampled_from(sorted(self.cluster.nodes.row_of))))

    @rule(data=st.data(), ordinal=ORDINALS)
    def try_and_take_back(self, data: st.DataObject, ordinal: int) -> None:
        pod = self._replica(data.draw(st.sampled_from(self.templates)), ordinal)
        if f"default/{pod.name}" not in self.cluster.placed:
            with self.cluster.savepoint():
                self.scheduler.schedule(pod)

    @rule(ordinal=ORDINALS, app=st.sampled_from(["a", "b"]), is_one=st.booleans(), goes=st.booleans())
    def service(self, ordinal: int, app: str, is_one: bool, goes: bool) -> None:
        selector = {NAME: f"set-0-{ordinal}"} if is_one else {"app": app}
        name = f"one-{ordinal}" if is_one else app
        service = Service(metadata=ObjectMeta(name=name, namespace="default"), spec=ServiceSpec(selector=selector))
        self.cluster.apply("DELETED" if goes else "ADDED", service)

    @precondition(lambda self: len(self.cluster.placed) > 5)
    @rule(ordinal=ORDINALS)
    def reader_of_ordinals(self, ordinal: int) -> None:
        constraint = TopologySpreadConstraint(
            max_skew=1,
            topology_key="topology.kubernetes.io/zone",
            when_unsatisfiable="DoNotSchedule",
            label_selector=LabelSelector(match_labels={INDEX: str(ordinal)}),
        )
        template = self.templates[0]
        spec = replace(template.spec, topology_spread_constraints=[constraint])
        metadata = replace(template.metadata, name=f"reader-{len(self.templates)}")
        self.templates = [*self.templates[-2:], replace(template, metadata=metadata, spec=spec)]

    @invariant()
    def views_are_as_if_each_had_its_own(self) -> None:
        for pod in self.asked:
            pod_class = self.cluster.pod_class(pod)
            assert_same(self.scheduler.view(pod_class), View(self.cluster, FRAMEWORK, pod_class, Shared()))


def _volume(claim: str) -> Volume:
    return Volume(name="data", persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=claim))


TestOrdinals = Ordinals.TestCase
TestOrdinals.settings = drawn(20, stateful_step_count=30)
