"""A plugin that fails on one node fails the pod, wherever else it would fit."""

from __future__ import annotations

import pytest

from tests.unit.plugins.storage_builders import Json, claim, claimed, cluster, csi_node, node, pod, volume
from topospread.api.pod import Pod
from topospread.config.gates import gates_for
from topospread.config.load import default_profile, load_configuration
from topospread.errors import Place
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework

NODES = ("n0", "n1")
EPHEMERAL: Json = {"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}}


def scheduler_of(*, filters: bool = True, sampled: bool = False) -> Scheduler:
    """Two nodes; on n1 runs a pod whose ephemeral volume's claim is somebody else's."""
    attached = volume("pv", csi={"driver": "disk", "volumeHandle": "pv"})
    stolen = claim("there-v0", metadata={"ownerReferences": [{"kind": "Pod", "name": "other", "uid": "other"}]})
    objects = (csi_node("n0", disk=5), csi_node("n1", disk=5), attached, claim("c", "pv"), stolen)
    made = cluster({}, *objects)
    for name in NODES:
        made.add_node(node(name, {}, allocatable={"pods": "9"}))
    there = pod(EPHEMERAL, name="there", nodeName="n1")
    made.add_pod(there)
    profile = default_profile(gates_for("1.37").kube_version)
    if not filters:
        config = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"plugins": {"filter": {"disabled": [{"name": "*"}]}}}],
        }
        gates = gates_for("1.37")
        profile = load_configuration(config, place=Place(), kube_version=gates.kube_version, gates=gates).profiles[0]
    return Scheduler(made, {"default-scheduler": Framework(profile, gates_for("1.37"))}, sampled=sampled)


@pytest.mark.parametrize("sampled", [False, True])
def test_the_pod_stays_pending_with_the_plugins_words(sampled: bool) -> None:
    placed = scheduler_of(sampled=sampled).schedule(pod(claimed("c")))
    assert placed.node is None
    assert 'running "NodeVolumeLimits" filter plugin: PVC ns/there-v0 was not created for pod' in placed.message


def test_a_pod_without_volumes_is_placed() -> None:
    assert scheduler_of().schedule(Pod(metadata=pod().metadata)).node == "n0"


def test_without_filters_nothing_fails() -> None:
    assert scheduler_of(filters=False).schedule(pod(claimed("c"))).node == "n0"


def test_a_pod_that_cannot_be_judged_is_rejected_by_no_node() -> None:
    verdict = scheduler_of().verdict(pod(claimed("c")))
    assert verdict.error
    assert (verdict.feasible, verdict.rejected, verdict.best) == ((), {}, ())
