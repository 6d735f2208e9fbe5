"""Volumes and the claims they make."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.api.validation.builders import pod, refusals

CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def fields(*volumes: dict[str, Any], **metadata: Any) -> list[str]:
    return [message.split(": ")[0] for message in refusals(pod(metadata, volumes=list(volumes)))]


@pytest.mark.parametrize(
    "source",
    [
        {},
        {"emptyDir": {"sizeLimit": "1Gi", "mode": 9999}},
        {"hostPath": {"path": "/x", "type": "Directory"}},
        {"gitRepo": {"repository": "r"}},
        {"gcePersistentDisk": {"pdName": "d", "partition": 255}},
        {"awsElasticBlockStore": {"volumeID": "v"}},
        {"secret": {"secretName": "s", "items": [{"key": "k", "path": "a/b", "mode": 0o777}]}},
        {"configMap": {"name": "m", "defaultMode": 0}},
        {"nfs": {"server": "s", "path": "/x"}},
        {"iscsi": {"targetPortal": "p", "iqn": "iqn.2015-02.example.com:t", "lun": 255}},
        {"iscsi": {"targetPortal": "p", "iqn": "eui.0123456789abcdef", "initiatorName": "naa." + "0" * 32}},
        {"persistentVolumeClaim": {"claimName": "c"}},
        {"downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
        {"fc": {"targetWWNs": ["w"], "lun": 0}},
        {"flexVolume": {"driver": "d", "options": {"example.com/x": "y"}}},
        {"azureDisk": {"diskName": "d", "diskURI": "https://x"}},
        {"azureDisk": {"diskName": "d", "diskURI": "/subscriptions/x", "kind": "Managed"}},
        {"quobyte": {"registry": "a:1,[::1]:2", "volume": "v"}},
        {"projected": {"sources": [{"configMap": {"name": "m"}}, {"secret": {"name": "s"}}]}},
        {"csi": {"driver": "d.example.com", "nodePublishSecretRef": {"name": "s"}}},
        {"ephemeral": {"volumeClaimTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": CLAIM}}},
        {"image": {"reference": "r"}},
        {"flocker": {"datasetName": "d"}},
        {"storageos": {"volumeName": "v"}},
    ],
)
def test_good_volumes(source):
    assert fields({"name": "v", **source}) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ({"emptyDir": {"sizeLimit": "-1"}}, ["emptyDir.sizeLimit"]),
        ({"hostPath": {}}, ["hostPath.path"]),
        ({"hostPath": {"path": "/a/../b", "type": "x"}}, ["hostPath.path", "hostPath.type"]),
        ({"gitRepo": {"directory": "/a"}}, ["gitRepo.directory", "gitRepo.repository"]),
        ({"gcePersistentDisk": {"partition": 256}}, ["persistentDisk.partition", "persistentDisk.pdName"]),
        (
            {"secret": {"defaultMode": 512, "items": [{}]}},
            ["secret.defaultMode", "secret.items[0].key", "secret.items[0].path", "secret.secretName"],
        ),
        (
            {"configMap": {"name": "m", "items": [{"key": "k", "path": "..a", "mode": -1}]}},
            ["configMap.items[0].mode", "configMap.items[0].path"],
        ),
        ({"nfs": {"server": "s"}}, ["nfs.path", "nfs.path"]),
        (
            {"iscsi": {"iqn": "x", "lun": -1, "chapAuthSession": True}},
            ["iscsi.iqn", "iscsi.lun", "iscsi.secretRef", "iscsi.targetPortal"],
        ),
        (
            {"iscsi": {"targetPortal": "p" * 64, "iqn": "iqn.x", "initiatorName": ""}},
            ["iscsi.initiatorname", "iscsi.iqn", "name"],
        ),
        ({"persistentVolumeClaim": {}}, ["persistentVolumeClaim.claimName"]),
        ({"downwardAPI": {"items": [{"path": "/p"}]}}, ["downwardAPI", "downwardAPI.path"]),
        (
            {"downwardAPI": {"items": [{"path": "p", "resourceFieldRef": {"resource": "limits.cpu"}}]}},
            ["downwardAPI.resourceFieldRef.containerName"],
        ),
        ({"fc": {}}, ["fc.targetWWNs"]),
        ({"fc": {"targetWWNs": ["w"], "wwids": ["i"]}}, ["fc.lun", "fc.targetWWNs"]),
        ({"flexVolume": {"driver": "d", "options": {"k8s.io/x": "y"}}}, ["flexVolume.options[k8s.io/x]"]),
        (
            {"azureDisk": {"diskName": "d", "diskURI": "x", "kind": "x", "cachingMode": "x"}},
            ["azureDisk.cachingMode", "azureDisk.diskURI", "azureDisk.kind"],
        ),
        ({"quobyte": {"registry": "a"}}, ["quobyte.registry", "quobyte.volume"]),
        ({"quobyte": {"volume": "v"}}, ["quobyte.registry"]),
        ({"quobyte": {"registry": "a:1", "volume": "v", "tenant": "t" * 65}}, ["quobyte.tenant"]),
        ({"csi": {}}, ["csi.driver"]),
        (
            {"csi": {"driver": "D_" * 32, "nodePublishSecretRef": {"name": "S"}}},
            ["csi.driver", "csi.driver", "csi.name"],
        ),
        ({"csi": {"driver": "d", "nodePublishSecretRef": {}}}, ["csi.nodePublishSecretRef.name"]),
        ({"ephemeral": {}}, ["ephemeral.volumeClaimTemplate"]),
        ({"image": {"pullPolicy": "x"}}, ["image.pullPolicy", "image.reference"]),
        ({"flocker": {}}, ["flocker"]),
        ({"flocker": {"datasetName": "a/b", "datasetUUID": "u"}}, ["flocker", "flocker.datasetName"]),
        ({"storageos": {"volumeName": "V", "secretRef": {}}}, ["storageos.secretRef.name", "storageos.volumeName"]),
        ({"cephfs": {}, "downwardAPI": {}}, ["cephfs.monitors", "downwarAPI"]),
        ({"emptyDir": {}, "cephfs": {}}, ["cephFS"]),
    ],
)
def test_bad_volumes(source, found):
    assert sorted(fields({"name": "v", **source})) == sorted(f"spec.volumes[0].{field}" for field in found)


def test_names_of_volumes():
    assert fields({}, {"name": "V"}, {"name": "v"}, {"name": "v"}) == [
        "spec.volumes[0].name",
        "spec.volumes[1].name",
        "spec.volumes[3].name",
    ]


def test_files_of_a_projected_volume_do_not_collide():
    sources = [
        {"secret": {"name": "s", "items": [{"key": "k", "path": "a"}]}},
        {"configMap": {"name": "m", "items": [{"key": "k", "path": "a"}]}},
        {"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.name"}}]}},
        {"secret": {}, "configMap": {"name": "m"}},
    ]
    assert refusals(pod(volumes=[{"name": "v", "projected": {"sources": sources}}])) == [
        "spec.volumes[0].projected.sources[3].secret.name: Required value",
        "spec.volumes[0].projected.sources[3]: Forbidden: may not specify more than 1 volume type per source",
        'spec.volumes[0].projected: Invalid value: "a": conflicting duplicate paths',
        'spec.volumes[0].projected: Invalid value: "m": conflicting duplicate paths',
    ]


def test_tokens_are_for_a_service_account_and_last_ten_minutes():
    token = {"serviceAccountToken": {"path": "t", "expirationSeconds": 599}}
    volume = {"name": "v", "projected": {"sources": [token]}}
    path = "spec.volumes[0].projected.sources[0].serviceAccountToken"
    assert refusals(pod(serviceAccountName="sa", volumes=[volume])) == [
        f"{path}.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes"
    ]
    token["serviceAccountToken"] = {"expirationSeconds": 2**32 + 1}
    assert [message.split(": ")[0] for message in refusals(pod(volumes=[volume]))] == [
        "spec.volumes[0].projected.path",
        f"{path}.expirationSeconds",
        path,
    ]


def test_a_claim_that_the_pod_makes_is_named_after_both_and_used_once():
    ephemeral = {"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}}}
    used = {"name": "v", "persistentVolumeClaim": {"claimName": "p-data"}}
    assert fields(ephemeral, used) == ["spec.volumes[1].persistentVolumeClaim.claimName"]
    (message,) = refusals(pod({"name": "p" * 250}, volumes=[ephemeral]))
    assert message.startswith('spec.volumes[0].name: Invalid value: "data": PVC name "ppp')


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        ({}, ["accessModes", "resources[storage]"]),
        (CLAIM | {"accessModes": ["ReadWriteOncePod", "ReadOnlyMany", "x"]}, ["accessModes", "accessModes"]),
        (CLAIM | {"resources": {"requests": {"storage": "0"}}}, ["resources[storage]"]),
        (CLAIM | {"volumeMode": "x", "storageClassName": "A"}, ["storageClassName", "volumeMode"]),
        (CLAIM | {"selector": {"matchLabels": {"-": ""}}}, ["selector.matchLabels"]),
        (CLAIM | {"dataSource": {"kind": "K", "name": "n"}}, ["dataSource"]),
        (CLAIM | {"dataSource": {}}, ["dataSource", "dataSource.kind", "dataSource.name"]),
        (
            CLAIM
            | {
                "dataSource": {"kind": "PersistentVolumeClaim", "name": "a"},
                "dataSourceRef": {"kind": "PersistentVolumeClaim", "name": "b"},
            },
            [""],
        ),
        (
            CLAIM
            | {
                "dataSource": {"kind": "PersistentVolumeClaim", "name": "a"},
                "dataSourceRef": {"kind": "K", "name": "a", "namespace": "a.b", "apiGroup": "G"},
            },
            ["", "dataSourceRef.apiGroup", "dataSourceRef.namespace"],
        ),
    ],
)
def test_claims(claim, found):
    path = "spec.volumes[0].ephemeral.volumeClaimTemplate.spec"
    volume = {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}
    assert sorted(fields(volume)) == sorted(f"{path}.{field}".rstrip(".") for field in found)


def test_of_a_claims_metadata_only_labels_and_annotations_may_be_given():
    template = {"metadata": {"name": "n", "uid": "u", "labels": {}}, "spec": CLAIM}
    path = "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata"
    assert fields({"name": "v", "ephemeral": {"volumeClaimTemplate": template}}) == [f"{path}.name", f"{path}.uID"]
