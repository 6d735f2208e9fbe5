"""What is hashed, what stays, and that names hold together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from topospread.api.kinds import KINDS
from topospread.api.meta import ObjectMeta
from topospread.api.pod import Pod
from topospread.api.storage import CSIDriver, CSINode, CSIStorageCapacity, StorageClass
from topospread.api.workload import Service
from topospread.sources import snapshot_names as tables
from topospread.sources.pseudonyms import Pseudonyms
from topospread.sources.snapshot_names import hashed

NAMES = Pseudonyms(b"salt")
NAMES.know_nodes(["node-b", "node-a", "ip-10-0-1-5.acme.example"])


def text_fields(kind: type[msgspec.Struct], seen: set[Any]) -> Iterator[str]:
    """Every field, at any depth, that holds text, or a map by text."""
    if kind in seen:
        return
    seen.add(kind)
    info = msgspec.inspect.type_info(kind)
    assert isinstance(info, msgspec.inspect.StructType)
    for each in info.fields:
        yield from _texts(each.encode_name, each.type, seen)


def _texts(name: str, given: msgspec.inspect.Type, seen: set[Any]) -> Iterator[str]:
    match given:
        case msgspec.inspect.StructType(cls=cls):
            yield from text_fields(cls, seen)
        case msgspec.inspect.UnionType(types=types):
            for each in types:
                yield from _texts(name, each, seen)
        case msgspec.inspect.ListType(item_type=item):
            yield from _texts(name, item, seen)
        case msgspec.inspect.DictType() | msgspec.inspect.StrType():
            yield name


def test_of_every_text_that_is_kept_it_is_decided_whether_it_is_hashed() -> None:
    found = {name for how in KINDS.values() for name in text_fields(how.struct, set())}
    decided = (
        *(tables.NAMES, tables.VALUES, tables.KEYS, tables.OPAQUE, tables.DRIVERS, tables.IMAGES),
        *(tables.LABELS, tables.RESOURCES, tables.KEPT, {"hostIP", "clusterIP", "selector", "disruptedPods"}),
    )
    assert found - set().union(*decided) == set()
    assert sum(map(len, decided)) == len(set().union(*decided)), "a field is in two tables"


def test_a_headless_service_stays_one_and_addresses_are_hashed() -> None:
    def address(text: str) -> str:
        value = {"kind": "Service", "metadata": {"name": "web"}, "spec": {"clusterIP": text}}
        return str(hashed(msgspec.convert(value, Service), NAMES)["spec"]["clusterIP"])

    assert address("None") == "None"
    assert address("10.96.0.7") not in ("", "None", "10.96.0.7")


def test_the_same_name_is_the_same_word_and_another_salt_another() -> None:
    assert NAMES.name("web") == Pseudonyms(b"salt").name("web")
    assert NAMES.name("web") != Pseudonyms(b"pepper").name("web")
    assert NAMES.name("web") not in ("web", NAMES.name("wed"))


def test_names_made_of_names_stay_so() -> None:
    web, data = NAMES.name("web"), NAMES.name("data")
    assert NAMES.name("web-0") == f"{web}-0"
    assert NAMES.name("data-web-0") == f"{data}-{web}-0"
    assert NAMES.name("web-") == f"{web}-"


def test_words_of_nodes_sort_as_their_names_do() -> None:
    names = ["ip-10-0-1-5.acme.example", "node-a", "node-b"]
    assert [NAMES.name(name) for name in names] == sorted(NAMES.name(name) for name in names)


@pytest.mark.parametrize(
    "text", ["kube-proxy-ip-10-0-1-5.acme.example", "ip-10-0-1-5.acme.example", "x-10.0.1.5", "ip-10-0-1-5-y"]
)
def test_no_address_is_left_in_a_name(text: str) -> None:
    assert "10-0-1-5" not in NAMES.name(text)
    assert "10.0.1.5" not in NAMES.name(text)
    assert "acme" not in NAMES.name(text)


@pytest.mark.parametrize("text", ["", "42", "-7", "true", "default", "kube-system", "system-node-critical"])
def test_what_everybody_has_is_kept(text: str) -> None:
    assert NAMES.name(text) == text


def test_keys_are_kept_unless_their_prefix_is_somebodys_own() -> None:
    for key in ("app", "topology.kubernetes.io/zone", "kubernetes.io/hostname", "nvidia.com/gpu", "cpu"):
        assert NAMES.key(key) == key
    assert "acme" not in NAMES.key("acme.example/rack")


def test_drivers_are_kept_unless_they_are_somebodys_own() -> None:
    for driver in (
        "ebs.csi.aws.com",
        "kubernetes.io/no-provisioner",
        "kubernetes.io/aws-ebs",
        "rook-ceph.rbd.csi.ceph.com",
    ):
        assert NAMES.driver(driver) == driver
    assert "acme" not in NAMES.driver("csi.acme.example")


def test_a_labels_value_is_never_too_long() -> None:
    long = "-".join("abcdefghijklmnopqrstuvwxyz")
    assert len(NAMES.name(long)) > 63
    assert len(NAMES.label_value(long)) <= 63
    assert NAMES.label_value("web-0") == NAMES.name("web-0")


def test_an_image_without_a_tag_is_that_of_latest() -> None:
    assert NAMES.image("acme.example/web") == NAMES.image("acme.example/web:latest")
    assert NAMES.image("acme.example/web") != NAMES.image("acme.example/web:1")


def test_references_of_a_pod_hold() -> None:
    metadata = {"name": "web-0", "namespace": "shop", "labels": {"app": "web", "kubernetes.io/os": "linux"}}
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "u", "controller": True}
    selector = {
        "matchLabels": {"app": "web"},
        "matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}],
    }
    constraint = {"topologyKey": "acme.example/rack", "labelSelector": selector, "matchLabelKeys": ["app"]}
    fields = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-a"]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [fields]}}}
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}}
    spec = {"topologySpreadConstraints": [constraint], "affinity": affinity, "volumes": [volume], "nodeName": "node-a"}
    pod = msgspec.convert(
        {
            "kind": "Pod",
            "metadata": {**metadata, "ownerReferences": [owner]},
            "spec": spec,
            "status": {"phase": "Running"},
        },
        Pod,
    )
    found = hashed(pod, NAMES)
    web, node = NAMES.name("web"), NAMES.name("node-a")
    assert found["metadata"]["labels"] == {"app": web, "kubernetes.io/os": "linux"}
    assert found["metadata"]["ownerReferences"][0]["name"] == web
    written = found["spec"]["topologySpreadConstraints"][0]
    assert written["labelSelector"]["matchLabels"] == {"app": web}
    assert written["labelSelector"]["matchExpressions"][0]["values"] == [web]
    assert written["topologyKey"] == NAMES.key("acme.example/rack")
    assert written["matchLabelKeys"] == ["app"]
    term = found["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["nodeSelectorTerms"][0]["matchFields"] == [{"key": "metadata.name", "operator": "In", "values": [node]}]
    assert found["spec"]["nodeName"] == node
    assert found["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] == f"{NAMES.name('data')}-{web}-0"
    assert found["status"] == {"phase": "Running"}
    assert "web" not in str(found).replace(web, "")


def test_selectors_of_services_and_drivers_of_nodes() -> None:
    service = Service(kind="Service")
    service.spec.selector = {"app": "web", "name": "shop"}
    assert hashed(service, NAMES)["spec"]["selector"] == {"app": NAMES.name("web"), "name": NAMES.name("shop")}
    drivers = [{"name": "ebs.csi.aws.com", "nodeID": "i-123", "topologyKeys": ["topology.ebs.csi.aws.com/zone"]}]
    node = msgspec.convert({"kind": "CSINode", "metadata": {"name": "node-a"}, "spec": {"drivers": drivers}}, CSINode)
    found = hashed(node, NAMES)
    assert found["metadata"]["name"] == NAMES.name("node-a")
    assert found["spec"]["drivers"][0]["name"] == "ebs.csi.aws.com"
    assert "123" not in found["spec"]["drivers"][0]["nodeID"]


def test_published_capacity_stays_and_its_driver_is_the_classes() -> None:
    name = "csi.acme.example"
    driver = hashed(CSIDriver(kind="CSIDriver", metadata=ObjectMeta(name=name)), NAMES)
    assert (
        driver["metadata"]["name"] == hashed(StorageClass(kind="StorageClass", provisioner=name), NAMES)["provisioner"]
    )
    published = CSIStorageCapacity(kind="CSIStorageCapacity", capacity="10Gi", maximum_volume_size="1Gi")
    assert hashed(published, NAMES)["capacity"] == "10Gi"
    assert hashed(published, NAMES)["maximumVolumeSize"] == "1Gi"
