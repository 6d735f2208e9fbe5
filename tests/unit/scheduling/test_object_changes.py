"""Events about volumes cost what they change, and change what they should."""

from __future__ import annotations

from msgspec.structs import replace

from tests.unit.plugins.storage_builders import claim, claimed, cluster, csi_node, node, pod, volume
from topospread.api.meta import ObjectMeta
from topospread.api.storage import VolumeAttachment, VolumeAttachmentSource, VolumeAttachmentSpec
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework

POD = pod(claimed("mine"))


def _scheduler() -> Scheduler:
    """Two nodes that take one volume each; claims ``mine`` and ``theirs`` have one, whose user is on n0."""
    csi = {"driver": "disk", "volumeHandle": ""}
    volumes = [volume(f"pv-{name}", csi=csi | {"volumeHandle": name}) for name in ("mine", "theirs")]
    claims = [claim("mine", "pv-mine"), claim("theirs", "pv-theirs")]
    nodes = [csi_node("n0", disk=1), csi_node("n1", disk=1)]
    made = cluster({}, *volumes, *claims, *nodes)
    for name in ("n0", "n1"):
        made.add_node(node(name, {}, allocatable={"pods": "9"}))
    there = pod(claimed("theirs"), name="there")
    made.apply("ADDED", replace(there, spec=replace(there.spec, node_name="n0")))
    scheduler = Scheduler(made, {"default-scheduler": Framework(default_profile(), gates_for())})
    assert _rejected(scheduler) == ["n0"]
    return scheduler


def _rejected(scheduler: Scheduler) -> list[str]:
    """The nodes that do not take the pod; nothing is built anew to find that out."""
    built = scheduler.work.built
    view = scheduler.view(scheduler.cluster.shared_class(POD))
    rows = [row for row in range(2) if not view.node_local.open[row]]
    assert scheduler.work.built - built == (0 if built else 1)
    return [scheduler.cluster.nodes.names[row] for row in rows]


def _attachment(node: str, volume: str = "pv-theirs") -> VolumeAttachment:
    spec = VolumeAttachmentSpec(attacher="disk", node_name=node, source=VolumeAttachmentSource(volume))
    return VolumeAttachment(metadata=ObjectMeta(name="attached"), spec=spec)


def test_a_limit_that_changes_is_seen_where_it_changes() -> None:
    scheduler = _scheduler()
    scheduler.cluster.apply("MODIFIED", csi_node("n0", disk=2))
    assert _rejected(scheduler) == []
    scheduler.cluster.apply("MODIFIED", csi_node("n1", disk=0))
    assert _rejected(scheduler) == ["n1"]
    scheduler.cluster.apply("DELETED", csi_node("n1"))
    assert _rejected(scheduler) == []


def test_a_volume_that_is_attached_without_a_pod_counts_while_it_is() -> None:
    scheduler = _scheduler()
    scheduler.cluster.apply("ADDED", _attachment("n1"))
    assert _rejected(scheduler) == ["n0", "n1"]
    scheduler.cluster.apply("MODIFIED", _attachment("n0"))
    assert _rejected(scheduler) == ["n0"]
    scheduler.cluster.apply("MODIFIED", _attachment("n1"))
    scheduler.cluster.apply("DELETED", volume("pv-theirs"))
    assert _rejected(scheduler) == []


def test_another_pod_s_claim_counts_by_the_volume_behind_it() -> None:
    scheduler = _scheduler()
    scheduler.cluster.apply("MODIFIED", claim("theirs", "pv-mine"))
    assert _rejected(scheduler) == []
    scheduler.cluster.apply("MODIFIED", claim("theirs", "pv-theirs"))
    assert _rejected(scheduler) == ["n0"]


def test_what_a_savepoint_takes_back_counts_again() -> None:
    scheduler = _scheduler()
    with scheduler.cluster.savepoint():
        scheduler.cluster.apply("ADDED", _attachment("n1"))
        scheduler.cluster.apply("MODIFIED", csi_node("n0", disk=2))
        scheduler.cluster.apply("MODIFIED", claim("theirs", "pv-mine"))
        assert _rejected(scheduler) == ["n1"]
    assert _rejected(scheduler) == ["n0"]


def test_what_the_pod_itself_reads_makes_the_answers_anew() -> None:
    scheduler = _scheduler()
    scheduler.cluster.apply("MODIFIED", claim("mine", "pv-theirs"))
    assert scheduler.view(scheduler.cluster.shared_class(POD)).node_local.open[:2].all()
