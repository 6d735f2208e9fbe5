"""Volumes of a pod, right and wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.generators.draw import Json
from conformance.generators.refused.containers import VOLUME_NAMES
from conformance.generators.refused.scheduling import selector
from conformance.generators.refused.words import Words


def _text(words: Words) -> str:
    return words.mostly(["x", "y"], [""], 0.15)


def _path(words: Words) -> str:
    return words.mostly(["a", "a/b"], ["", "/a", "../a", "..a", "a/../b"], 0.2)


def _item(words: Words) -> Json:
    return words.some(
        {
            "key": lambda: _text(words),
            "path": lambda: _path(words),
            "mode": lambda: words.number([0o644], [-1, 0o1000]),
            "user": lambda: words.number([0], [-1]),
        },
        0.9,
    )


def _with_items(words: Words, name: str) -> Json:
    made = words.some({name: lambda: _text(words)}, 0.95)
    return made | words.some(
        {"items": lambda: words.listed(lambda: _item(words)), "defaultMode": lambda: words.number([0o644], [-1, 512])},
        0.4,
    )


def _file(words: Words) -> Json:
    fields = ["metadata.name", "metadata.labels", "metadata.annotations['a']", "status.podIP", "", "spec.nodeName"]
    return words.some({"path": lambda: _path(words)}, 0.95) | words.some(
        {
            "fieldRef": lambda: {"fieldPath": words.choice(fields)},
            "resourceFieldRef": lambda: words.some(
                {
                    "containerName": "a",
                    "resource": lambda: words.choice(["limits.cpu", "x", "limits.hugepages-2Mi"]),
                    "divisor": lambda: words.choice(["1m", "3", "1Mi", "0"]),
                },
                0.8,
            ),
            "mode": lambda: words.number([0o400], [-1, 512]),
        },
        0.55,
    )


def _projection(words: Words) -> Json:
    kinds: dict[str, Callable[[], Json]] = {
        "secret": lambda: _with_items(words, "name"),
        "configMap": lambda: _with_items(words, "name"),
        "downwardAPI": lambda: {"items": words.listed(lambda: _file(words))},
        "serviceAccountToken": lambda: words.some(
            {"path": lambda: _path(words), "expirationSeconds": lambda: words.number([600, 3600], [599, 2**32 + 1])},
            0.8,
        ),
    }
    kinds |= {"clusterTrustBundle": lambda: _trust_bundle(words), "podCertificate": lambda: _certificate(words)}
    chosen = words.choice(list(kinds))
    return {chosen: kinds[chosen]()} | words.some(kinds, 0.03)


def _signer(words: Words) -> str:
    odd = ["", "a", "a/b/c", "a.b/", "A.b/c", "a/b", "d" * 254 + "/x", "a.b/" + "c" * 318, "x.kubernetes.io/y"]
    return words.mostly(["example.com/signer", "kubernetes.io/kubelet"], odd, 0.3)


def _trust_bundle(words: Words) -> Json:
    names = ["", "A", "example.com:signer:b", ":x", "a/b:c", "a:B"]
    return words.some({"path": lambda: _path(words)}, 0.9) | words.some(
        {
            "name": lambda: words.mostly(["bundle"], names, 0.4),
            "signerName": lambda: _signer(words),
            "labelSelector": lambda: selector(words),
            "optional": True,
            "user": -1,
        },
        0.5,
    )


def _certificate(words: Words) -> Json:
    return words.some(
        {
            "signerName": lambda: _signer(words),
            "keyType": lambda: words.mostly(["ED25519", "RSA3072"], ["", "x<y"]),
            "maxExpirationSeconds": lambda: words.number([3600, 86400], [3599, 86401, 7862401]),
            "credentialBundlePath": lambda: _path(words),
            "keyPath": lambda: _path(words),
            "certificateChainPath": lambda: _path(words),
            "userAnnotations": lambda: {words.choice(["Example.com/K", "k", "", "a/b/c", "-/x"]): "v"},
        },
        0.6,
    )


def _claim(words: Words) -> Json:
    modes = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"]
    spec = words.some(
        {
            "accessModes": lambda: words.listed(lambda: words.mostly(modes, ["ReadWriteOncePod", "x"], 0.2)),
            "resources": lambda: words.choice(
                [{"requests": {"storage": "1Gi"}}, {"requests": {"storage": "0"}}, {}, {"requests": {"storage": "-1"}}]
            ),
        },
        0.9,
    )
    spec |= words.some(
        {
            "selector": lambda: selector(words),
            "storageClassName": words.name,
            "volumeMode": lambda: words.mostly(["Block", "Filesystem"], ["", "x"]),
            "dataSource": lambda: words.some({"kind": "PersistentVolumeClaim", "name": "c", "apiGroup": "g"}, 0.6),
            "dataSourceRef": lambda: words.some({"kind": "PersistentVolumeClaim", "name": "c", "namespace": "n"}, 0.6),
        },
        0.2,
    )
    made: Json = {"spec": spec}
    if words.chance(0.3):
        made["metadata"] = words.some({"labels": words.labels, "annotations": words.labels, "name": "x"}, 0.5)
    return made


SOURCES: dict[str, Callable[[Words], Any]] = {
    "emptyDir": lambda words: words.some({"sizeLimit": words.quantity, "medium": "Memory"}, 0.4),
    "hostPath": lambda words: words.some(
        {"path": lambda: _path(words), "type": lambda: words.mostly(["", "Directory"], ["x"])}, 0.8
    ),
    "gcePersistentDisk": lambda words: words.some(
        {"pdName": lambda: _text(words), "partition": lambda: words.number([1], [-1, 256])}, 0.8
    ),
    "awsElasticBlockStore": lambda words: words.some(
        {"volumeID": lambda: _text(words), "partition": lambda: words.number([1], [-1, 256])}, 0.8
    ),
    "secret": lambda words: _with_items(words, "secretName"),
    "configMap": lambda words: _with_items(words, "name"),
    "nfs": lambda words: words.some({"server": "s", "path": lambda: words.choice(["/x", "x", ""])}, 0.9),
    "iscsi": lambda words: words.some(
        {
            "targetPortal": lambda: words.mostly(["10.0.0.1"], ["", "p" * 70]),
            "iqn": lambda: words.mostly(
                ["iqn.2015-02.example.com:test"], ["", "x", "iqn.x", "eui.x", "naa." + "0" * 32]
            ),
            "lun": lambda: words.number([0, 1], [-1, 256]),
            "initiatorName": lambda: words.mostly(["iqn.2015-02.example.com:i"], ["", "x", "iqn.x"]),
            "chapAuthSession": True,
            "secretRef": {"name": "s"},
        },
        0.6,
    ),
    "persistentVolumeClaim": lambda words: words.some({"claimName": lambda: words.choice(["c", "", "pod-0-tmp"])}, 0.9),
    "rbd": lambda words: words.some({"monitors": ["m"], "image": "i"}, 0.8),
    "cinder": lambda words: words.some({"volumeID": "v", "secretRef": lambda: words.choice([{}, {"name": "n"}])}, 0.7),
    "cephfs": lambda words: words.some({"monitors": lambda: words.choice([[], ["m"]])}, 0.9),
    "flocker": lambda words: words.some({"datasetName": lambda: words.choice(["d", "a/b"]), "datasetUUID": "u"}, 0.6),
    "downwardAPI": lambda words: {"items": words.listed(lambda: _file(words))},
    "fc": lambda words: words.some({"targetWWNs": ["w"], "wwids": ["i"], "lun": lambda: words.choice([1, 300])}, 0.6),
    "flexVolume": lambda words: words.some(
        {"driver": "d", "options": lambda: {words.choice(["a", "x.k8s.io/b"]): ""}}, 0.8
    ),
    "azureFile": lambda words: words.some({"secretName": "s", "shareName": "n"}, 0.8),
    "azureDisk": lambda words: words.some(
        {
            "diskName": "d",
            "diskURI": lambda: words.choice(["https://x", "/subscriptions/x", ""]),
            "kind": lambda: words.mostly(["Shared", "Managed", "Dedicated"], ["x"]),
            "cachingMode": lambda: words.mostly(["None", "ReadOnly"], ["x"]),
        },
        0.8,
    ),
    "projected": lambda words: {"sources": words.listed(lambda: _projection(words), 3)},
    "csi": lambda words: words.some(
        {
            "driver": lambda: words.mostly(["d.e"], ["", "D_", "x" * 64]),
            "nodePublishSecretRef": lambda: {"name": words.name()},
        },
        0.8,
    ),
    "ephemeral": lambda words: words.some({"volumeClaimTemplate": lambda: _claim(words)}, 0.95),
    "image": lambda words: words.some(
        {"reference": "r", "pullPolicy": lambda: words.mostly(["Always"], ["x", ""])}, 0.8
    ),
    "storageos": lambda words: words.some({"volumeName": words.name, "volumeNamespace": words.name}, 0.8),
    "vsphereVolume": lambda words: words.some({"volumePath": "p"}, 0.8),
    "portworxVolume": lambda words: words.some({"volumeID": "p"}, 0.8),
    "scaleIO": lambda words: words.some({"gateway": "g", "system": "s", "volumeName": "v"}, 0.8),
    "gitRepo": lambda words: words.some({"repository": "r", "directory": lambda: _path(words)}, 0.8),
    "glusterfs": lambda words: words.some({"endpoints": "e", "path": "p"}, 0.8),
    "quobyte": lambda words: words.some(
        {"registry": lambda: words.choice(["h:1", "h", "h:1,i:2", "[::1]:2"]), "volume": "v"}, 0.8
    ),
    "photonPersistentDisk": lambda words: words.some({"pdID": "p"}, 0.8),
}
COMMON = ["emptyDir", "configMap", "secret", "persistentVolumeClaim", "projected", "hostPath"]


def volumes(words: Words) -> list[Json]:
    """``spec.volumes``."""
    made = []
    for name in words.sample(VOLUME_NAMES, words.randint(1, 3)):
        kind = words.choice(COMMON if words.chance(0.7) else list(SOURCES))
        volume: Json = {"name": words.mostly([name], ["data", "", "V", "a.b"], 0.08), kind: SOURCES[kind](words)}
        if words.chance(0.04):
            other = words.choice(list(SOURCES))
            volume[other] = SOURCES[other](words)
        made.append({"name": name} if words.chance(0.03) else volume)
    return made
