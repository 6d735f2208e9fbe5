"""NodeVolumeLimits and what is told of a node besides its pods: VolumeAttachments, drivers that have to be there."""

from __future__ import annotations

from typing import Any

from conformance.judging.cases import judge_case

Json = dict[str, Any]


def volume(number: int) -> Json:
    return {"metadata": {"name": f"pv{number}"}, "spec": {"csi": {"driver": "csi", "volumeHandle": f"h{number}"}}}


def claim(number: int) -> Json:
    done = {"pv.kubernetes.io/bind-completed": "yes"}
    metadata = {"name": f"c{number}", "namespace": "d", "annotations": done}
    return {"metadata": metadata, "spec": {"volumeName": f"pv{number}", "accessModes": ["ReadWriteMany"]}}


def pod(name: str, number: int, on: str = "") -> Json:
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": f"c{number}"}}]
    spec: Json = {"containers": [{"name": "c"}], "volumes": volumes}
    return {"metadata": {"name": name, "namespace": "d"}, "spec": spec | ({"nodeName": on} if on else {})}


def attachment(number: int, node: str) -> Json:
    source = {"persistentVolumeName": f"pv{number}"}
    return {"metadata": {"name": f"a{number}"}, "spec": {"attacher": "csi", "nodeName": node, "source": source}}


def reasons(version: str = "1.37", drivers: list[Json] | None = None, **more: Any) -> Json:
    """Node → why it is rejected; each node takes one volume of the driver unless ``drivers`` says something else."""
    listed = [{"name": "csi", "nodeID": "n", "allocatable": {"count": 1}}] if drivers is None else drivers
    case = {
        "kubeVersion": version,
        "nodes": [{"metadata": {"name": name}, "status": {"allocatable": {"pods": "9"}}} for name in ("a", "b")],
        "incoming": [pod("new", 0)],
        "persistentVolumes": [volume(number) for number in range(3)],
        "persistentVolumeClaims": [claim(number) for number in range(3)],
        "csiNodes": [{"metadata": {"name": name}, "spec": {"drivers": listed}} for name in ("a", "b")],
    }
    rejected = judge_case(case | more)["verdicts"][0].get("rejected", {})
    return {node: each["reasons"] for node, each in rejected.items()}


def test_a_volume_that_is_attached_and_used_by_no_pod_counts() -> None:
    assert reasons(volumeAttachments=[attachment(1, "a")]) == {"a": ["node(s) exceed max volume count"]}


def test_a_volume_that_is_attached_for_a_pod_counts_once() -> None:
    used = {"pods": [pod("there", 0, "a")], "volumeAttachments": [attachment(0, "a")]}
    assert reasons(**used) == {}


def test_attachments_count_since_1_32() -> None:
    assert reasons("1.31", volumeAttachments=[attachment(1, "a")]) == {}
    assert reasons("1.32", volumeAttachments=[attachment(1, "a")]) == {"a": ["node(s) exceed max volume count"]}


def test_an_attachment_of_an_unknown_volume_counts_nothing() -> None:
    assert reasons(volumeAttachments=[attachment(9, "a")]) == {}


def test_a_driver_that_has_to_be_there_rejects_nodes_without_it() -> None:
    driver = {"metadata": {"name": "csi"}, "spec": {"preventPodSchedulingIfMissing": True}}
    words = ["csi CSI driver is not installed on the node"]
    assert reasons(drivers=[], csiDrivers=[driver]) == {"a": words, "b": words}
    assert reasons(csiDrivers=[driver]) == {}
    assert reasons("1.36", drivers=[], csiDrivers=[driver]) == {}


def test_other_drivers_may_be_missing_but_in_1_35() -> None:
    driver = {"metadata": {"name": "csi"}, "spec": {}}
    gates = {"featureGates": {"VolumeLimitScaling": True}}
    assert reasons(drivers=[], csiDrivers=[driver]) == {}
    assert sorted(reasons("1.35", drivers=[], csiDrivers=[driver], **gates)) == ["a", "b"]
