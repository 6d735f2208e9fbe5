"""What is hashed, what stays, and that names hold together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from topospread.admission.names import generated_uid
from topospread.api.admission_policy import ValidatingAdmissionPolicy
from topospread.api.kinds import KINDS
from topospread.api.meta import ObjectMeta
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from topospread.api.workload import CronJob, Service
from topospread.sources import snapshot_names as tables
from topospread.sources.pseudonyms import Pseudonyms, size_bucket
from topospread.sources.snapshot_facts import SnapshotFacts
from topospread.sources.snapshot_names import hashed, hashed_facts

NAMES = Pseudonyms(b"key")
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
        *(tables.NAMES, tables.NODES, tables.NAMESPACES, tables.VOLUMES, tables.CLASSES, tables.VALUES),
        *(tables.REVISIONS, tables.KEYS, tables.OPAQUE, tables.DRIVERS, tables.IMAGES, tables.LABELS),
        *(tables.RESOURCES, tables.ENUMERATED, tables.FORMS, tables.OTHERS, tables.KEPT),
        {"selector", "disruptedPods"},
    )
    assert found - set().union(*decided) == set()
    assert sum(map(len, decided)) == len(set().union(*decided)), "a field is in two tables"


def test_a_policys_rules_name_no_private_api() -> None:
    rules = [
        {"apiGroups": ["", "apps", "ledger.example.corp"], "apiVersions": ["v1"], "operations": ["CREATE"]},
        {"apiGroups": ["*"], "resources": ["pods", "*/*", "ledgers", "ledgers/status"]},
    ]
    spec = {"matchConstraints": {"resourceRules": rules}}
    value = {"kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": spec}
    policy = msgspec.convert(value, ValidatingAdmissionPolicy)
    groups, resources = hashed(policy, NAMES)["spec"]["matchConstraints"]["resourceRules"]
    assert groups["apiGroups"] == ["", "apps", NAMES.api_version("ledger.example.corp/v1").removesuffix("/v1")]
    word = NAMES.whole("resource", "ledgers")
    assert resources == {"apiGroups": ["*"], "resources": ["pods", "*/*", word, f"{word}/status"]}
    assert "ledger" not in word


def test_text_in_annotations_of_numbers_and_times_is_hashed() -> None:
    def restarted(text: str) -> str:
        annotations = {"kubectl.kubernetes.io/restartedAt": text}
        item = msgspec.convert({"kind": "Pod", "metadata": {"name": "web", "annotations": annotations}}, Pod)
        return str(hashed(item, NAMES)["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"])

    assert restarted("2026-01-02T03:04:05+01:00") == "2026-01-02T03:04:05+01:00"
    assert "acme" not in restarted("for acme")


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("service.kubernetes.io/topology-mode", "Auto"),
        ("storageclass.kubernetes.io/is-default-class", "true"),
        ("helm.sh/hook", "pre-install, post-upgrade"),
        ("storage.alpha.kubernetes.io/migrated-plugins", "kubernetes.io/aws-ebs,kubernetes.io/gce-pd"),
    ],
)
def test_words_of_kubernetes_in_annotations_stay_and_others_do_not(name: str, kept: str) -> None:
    for text in (kept, "acme-falcon.com/nearest"):
        pod = msgspec.convert({"kind": "Pod", "metadata": {"name": "a", "annotations": {name: text}}}, Pod)
        assert (hashed(pod, NAMES)["metadata"]["annotations"][name] == text) == (text == kept)


def test_the_node_selector_of_an_allocated_claim_is_no_map_of_labels() -> None:
    field = {"key": "metadata.name", "operator": "In", "values": ["n0"]}
    allocation = {"nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]}}
    value = {"kind": "ResourceClaim", "metadata": {"name": "c"}, "status": {"allocation": allocation}}
    found = hashed(msgspec.convert(value, KINDS["ResourceClaim"].struct), NAMES)
    (term,) = found["status"]["allocation"]["nodeSelector"]["nodeSelectorTerms"]
    assert term["matchFields"][0]["key"] == "metadata.name"


def test_a_headless_service_stays_one_and_addresses_are_hashed() -> None:
    def address(text: str) -> str:
        value = {"kind": "Service", "metadata": {"name": "web"}, "spec": {"clusterIP": text}}
        return str(hashed(msgspec.convert(value, Service), NAMES)["spec"]["clusterIP"])

    assert address("None") == "None"
    assert address("10.96.0.7") not in ("", "None", "10.96.0.7")


def test_zones_are_compared_under_every_key_and_in_sets() -> None:
    zone = NAMES.label_value("topology.kubernetes.io/zone", "eu-1a", "")
    other = NAMES.label_value("topology.ebs.csi.aws.com/zone", "eu-1b", "")
    assert "eu" not in zone.split("-")
    assert NAMES.label_value("failure-domain.beta.kubernetes.io/zone", "eu-1a__eu-1b", "") == f"{zone}__{other}"


def test_drivers_are_kept_unless_they_are_somebodys_own() -> None:
    for driver in (
        "ebs.csi.aws.com",
        "kubernetes.io/no-provisioner",
        "kubernetes.io/aws-ebs",
        "rook-ceph.rbd.csi.ceph.com",
    ):
        assert NAMES.driver(driver) == driver
    assert "acme" not in NAMES.driver("csi.acme.example")
    assert "acme" not in NAMES.driver("acme.csi.aws.com")


def test_an_image_without_a_tag_is_that_of_latest() -> None:
    assert NAMES.image("acme.example/web") == NAMES.image("acme.example/web:latest")
    assert NAMES.image("acme.example/web") != NAMES.image("acme.example/web:1")


def test_schedules_schedulers_owners_and_image_sizes_are_hidden() -> None:
    job = CronJob(kind="CronJob", metadata=ObjectMeta(name="payroll", namespace="acme"))
    job.spec.schedule = "17 3 28 * *"
    assert hashed(job, NAMES)["spec"]["schedule"] == "0 0 * * *"
    owner = {"apiVersion": "acme.example/v1", "kind": "AcmeDatabase", "name": "ledger", "uid": "u"}
    metadata = {"name": "ledger-0", "namespace": "acme", "ownerReferences": [owner]}
    status = {"reason": "AcmeFailed", "conditions": [{"type": "AcmeReady", "status": "True"}]}
    value = {"kind": "Pod", "metadata": metadata, "spec": {"schedulerName": "acme-scheduler"}, "status": status}
    pod = msgspec.convert(value, Pod)
    assert re.search("acme|ledger", str(hashed(pod, NAMES)), re.IGNORECASE) is None
    images = [{"names": ["acme/web:1"], "sizeBytes": 187_654_321}]
    node = msgspec.convert({"kind": "Node", "metadata": {"name": "node-a"}, "status": {"images": images}}, Node)
    assert hashed(node, NAMES)["status"]["images"][0]["sizeBytes"] == size_bucket(187_654_321)


def test_a_custom_resources_stand_in_has_the_words_of_a_reference_to_it() -> None:
    metadata = {
        "name": "a",
        "namespace": "n",
        "annotations": {"topospread.dev/made-of": "acme.example/Database/ledger"},
    }
    found = hashed(msgspec.convert({"kind": "Pod", "metadata": metadata}, Pod), NAMES)
    group = NAMES.api_version("acme.example/v1").partition("/")[0]
    words = f"{group}/{NAMES.kind('Database')}/{NAMES.name('ledger', 'n')}"
    assert found["metadata"]["annotations"]["topospread.dev/made-of"] == words


def test_random_uids_stay_and_uids_made_of_names_do_not() -> None:
    random = "0f3c9f0e-5b7a-4e2d-9c1b-2a6d5e4f3c2b"
    assert NAMES.uid(random) == random
    for number in range(200):
        made = generated_uid("Pod", "shop", f"web-{number}")
        assert NAMES.uid(made) != made
    assert NAMES.uid("namespace-shop") != "namespace-shop"


def test_a_volume_and_its_claim_refer_to_each_other() -> None:
    claim = PersistentVolumeClaim(kind="PersistentVolumeClaim", metadata=ObjectMeta(name="data", namespace="n"))
    claim.spec.volume_name = "v"
    reference = {"namespace": "n", "name": "data"}
    value = {"kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {"claimRef": reference}}
    one, other = hashed(claim, NAMES), hashed(msgspec.convert(value, PersistentVolume), NAMES)
    assert one["spec"]["volumeName"] == other["metadata"]["name"]
    assert other["spec"]["claimRef"]["name"] == one["metadata"]["name"]
    assert other["spec"]["claimRef"]["namespace"] == one["metadata"]["namespace"]


def test_facts_name_no_namespace_and_no_user() -> None:
    facts = SnapshotFacts(namespace="shop", missing={"Service": "Forbidden", "Node": 'User "jane" cannot list'})
    found = hashed_facts(facts, NAMES)
    assert found.namespace == NAMES.namespace("shop")
    assert found.missing == {"Service": "Forbidden", "Node": "not readable"}
    assert found.hashed


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
    app, web, node = NAMES.label_value("app", "web", ""), NAMES.name("web", "shop"), NAMES.node("node-a")
    assert found["metadata"]["labels"] == {"app": app, "kubernetes.io/os": "linux"}
    assert found["metadata"]["ownerReferences"][0]["name"] == web
    written = found["spec"]["topologySpreadConstraints"][0]
    assert written["labelSelector"]["matchLabels"] == {"app": app}
    assert written["labelSelector"]["matchExpressions"][0]["values"] == [app]
    assert written["topologyKey"] == NAMES.key("acme.example/rack")
    assert written["matchLabelKeys"] == ["app"]
    term = found["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["nodeSelectorTerms"][0]["matchFields"] == [{"key": "metadata.name", "operator": "In", "values": [node]}]
    assert found["spec"]["nodeName"] == node
    assert found["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] == f"{NAMES.name('data', 'shop')}-{web}-0"
    assert found["status"] == {"phase": "Running"}
    assert "web" not in str(found).replace(web, "").replace(app, "")


def test_selectors_of_services_and_drivers_of_nodes() -> None:
    service = Service(kind="Service")
    service.spec.selector = {"app": "web", "name": "shop"}
    assert hashed(service, NAMES)["spec"]["selector"] == {
        "app": NAMES.label_value("app", "web", ""),
        "name": NAMES.label_value("name", "shop", ""),
    }
    drivers = [{"name": "ebs.csi.aws.com", "nodeID": "i-123", "topologyKeys": ["topology.ebs.csi.aws.com/zone"]}]
    node = msgspec.convert({"kind": "CSINode", "metadata": {"name": "node-a"}, "spec": {"drivers": drivers}}, CSINode)
    found = hashed(node, NAMES)
    assert found["metadata"]["name"] == NAMES.node("node-a")
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
