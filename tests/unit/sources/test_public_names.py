"""Names that an anonymised cluster keeps."""

from __future__ import annotations

import pytest

from topospread.api.kinds import KINDS
from topospread.sources import public_names
from topospread.sources.custom_kinds import shipped_kinds
from topospread.sources.pseudonyms import Pseudonyms
from topospread.sources.versions import VERSIONS

NAMES = Pseudonyms(b"key")


@pytest.mark.parametrize("text", ["", "42", "-7", "true", "linux"])
def test_values_that_every_cluster_has_are_kept(text: str) -> None:
    assert NAMES.label_value("acme.example/x", text, "") == text


def test_kubernetes_own_names_are_kept() -> None:
    assert NAMES.namespace("kube-system") == "kube-system"
    assert NAMES.class_name("system-node-critical") == "system-node-critical"
    assert NAMES.scheduler("default-scheduler") == "default-scheduler"
    assert NAMES.enumerated("PodScheduled") == "PodScheduled"


@pytest.mark.parametrize(
    "key",
    [
        *("app", "topology.kubernetes.io/zone", "kubernetes.io/hostname", "nvidia.com/gpu", "cpu", "hugepages-2Mi"),
        *("failure-domain.beta.kubernetes.io/zone", "topology.ebs.csi.aws.com/zone", "node.kubernetes.io/not-ready"),
        *("node-role.kubernetes.io/control-plane", "attachable-volumes-aws-ebs", "pod-template-hash", "metadata.name"),
        *("controller-revision-hash", "statefulset.kubernetes.io/pod-name", "node.kubernetes.io/instance-type"),
        "attachable-volumes-csi-ebs.csi.aws.com",
    ],
)
def test_public_keys_are_kept(key: str) -> None:
    assert NAMES.key(key) == key


@pytest.mark.parametrize(
    ("key", "kept"),
    [
        ("node-role.kubernetes.io/payments", "node-role.kubernetes.io/"),
        ("node-restriction.kubernetes.io/payments", "node-restriction.kubernetes.io/"),
        ("payments.acme.k8s.aws/zone", ".k8s.aws/zone"),
        ("payments-tier", "-tier"),
        ("acme.example/payments", "/"),
        ("attachable-volumes-csi-csi.payments.acme", "attachable-volumes-csi-"),
    ],
)
def test_private_halves_of_keys_are_replaced(key: str, kept: str) -> None:
    assert kept in NAMES.key(key)
    assert "payments" not in NAMES.key(key)
    assert "acme" not in NAMES.key(key)


def test_every_kind_that_is_read_is_public() -> None:
    assert set(KINDS) | {kind for _, kind in shipped_kinds()} <= public_names.KINDS


def test_versions_of_every_kind_that_is_read_are_public() -> None:
    for versions in VERSIONS.values():
        for version in versions:
            assert NAMES.api_version(version) == version


def test_groups_of_known_custom_kinds_are_public() -> None:
    for group, _ in shipped_kinds():
        assert NAMES.api_version(f"{group}/v1") == f"{group}/v1"
