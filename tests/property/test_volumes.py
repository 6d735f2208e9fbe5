"""Whatever becomes of pods with volumes, views that kept up say what plugins that know nothing yet would say."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.drawn import drawn
from tests.property.clusters import NODE_NAMES, ZONE, nodes
from tests.property.test_views import assert_same
from tests.unit.plugins.storage_builders import HOST, claim, claimed, csi_node, pod, storage_class, volume
from topospread.api.node import Node
from topospread.cluster import Cluster
from topospread.cluster.volume_use import VolumeRef
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.dry_run import DryRun
from topospread.scheduling.framework import Framework
from topospread.scheduling.view import Shared, View

PROFILE, GATES = default_profile(), gates_for()
OBJECTS = [
    storage_class(),
    storage_class("local", provisioner="kubernetes.io/no-provisioner"),
    claim("alone", accessModes=["ReadWriteOncePod"]),
    *(claim(f"wait-{i}") for i in range(3)),
    *(claim(f"local-{i}", storageClassName="local") for i in range(2)),
    *(claim(f"bound-{i}", f"pv-{i}") for i in range(3)),
    *(
        volume(f"pv-{i}", storageClassName="now", csi={"driver": "disk", "volumeHandle": f"h{i // 2}"})
        for i in range(3)
    ),
    *(volume(f"local-{name}", {HOST: [name]}, storageClassName="local") for name in NODE_NAMES[:6]),
    volume("zonal", {ZONE: ["zone-a"]}, storageClassName="local", size="2Gi"),
    *(csi_node(name, disk=i % 3) for i, name in enumerate(NODE_NAMES) if i % 4),
]
DISKS = [{"gcePersistentDisk": {"pdName": "d", "readOnly": only}} for only in (True, False)]
CLAIMS = [each.name for each in OBJECTS if each.namespace]
EVERY_POD: dict[str, object] = {"topologyKey": ZONE, "labelSelector": {}}
APART = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": EVERY_POD}]}
WISHES: list[dict[str, object]] = [
    {},
    {"affinity": {"podAntiAffinity": APART}},
    {"topologySpreadConstraints": [EVERY_POD | {"maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}]},
]


class Volumes(RuleBasedStateMachine):
    """Pods with claims and disks come and go, claims are bound, nodes come, change and go."""

    def __init__(self) -> None:
        super().__init__()
        self.cluster = Cluster()
        self.cluster.objects.add(OBJECTS)
        self.scheduler = Scheduler(self.cluster, {"default-scheduler": Framework(PROFILE, GATES)})
        self.wish: dict[str, object] = {}
        self.templates = [pod()]
        self.count = 0

    @initialize(first=st.lists(nodes(), min_size=2, max_size=8), wish=st.sampled_from(WISHES))
    def begin(self, first: list[Node], wish: dict[str, object]) -> None:
        self.wish = wish
        self.templates = [pod(**wish)]
        for node in first:
            self.cluster.add_node(node)

    @rule(names=st.lists(st.sampled_from(CLAIMS), max_size=2), disks=st.lists(st.sampled_from(DISKS), max_size=1))
    def another_template(self, names: list[str], disks: list[dict[str, object]]) -> None:
        self.templates = [*self.templates[-2:], pod(*map(claimed, names), *disks, **self.wish)]

    @rule(data=st.data())
    def place(self, data: st.DataObject) -> None:
        self.count += 1
        template = data.draw(st.sampled_from(self.templates))
        verdict = self.scheduler.verdict(template)
        placement = self.scheduler.schedule(template, f"pod-{self.count}")
        assert placement.node == (verdict.best[0] if verdict.feasible else None)

    @precondition(lambda self: self.cluster.nodes.row_of)
    @rule(data=st.data())
    def try_beside_another(self, data: st.DataObject) -> None:
        one, other = (data.draw(st.sampled_from(self.templates)) for _ in range(2))
        row = data.draw(st.sampled_from(sorted(self.cluster.nodes.row_of.values())))
        with DryRun(self.scheduler.view(self.cluster.shared_class(one)), row) as dry_run:
            dry_run.add("ns/nominated", self.cluster.shared_class(other))
            dry_run.passes()

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

    @invariant()
    def views_are_as_if_nothing_was_known(self) -> None:
        for template in self.templates:
            pod_class = self.cluster.shared_class(template)
            kept = self.scheduler.view(pod_class)
            assert_same(kept, View(self.cluster, Framework(PROFILE, GATES), pod_class, Shared()))

    @invariant()
    def uses_are_what_the_pods_name(self) -> None:
        users: dict[VolumeRef, dict[int, int]] = {}
        for _, pod_class, row in self.cluster.pods():
            for ref in pod_class.volumes:
                rows = users.setdefault(ref, {})
                rows[row] = rows.get(row, 0) + 1
        assert self.cluster.volume_use.users == users


TestVolumes = Volumes.TestCase
TestVolumes.settings = drawn(15, stateful_step_count=25)
