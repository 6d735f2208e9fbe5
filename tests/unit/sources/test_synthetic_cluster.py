import pytest

from topospread.errors import InputError, UsageError
from topospread.sources.synthetic_cluster import (
    GRAMMAR,
    HOSTNAME,
    RACK,
    REGION,
    ZONE,
    is_synthetic,
    synthetic_nodes,
    synthetic_storage_classes,
    zone_name,
)


def nodes(text: str) -> list:
    return [node for node, _ in synthetic_nodes(text)]


def labels(text: str, key: str) -> list[str | None]:
    return [node.labels.get(key) for node in nodes(text)]


class TestTopology:
    def test_nodes_are_dealt_to_the_zones_in_turn(self):
        assert labels("zones=3,nodes=5", ZONE) == ["zone-a", "zone-b", "zone-c", "zone-a", "zone-b"]
        assert labels("zones=3,nodes=5", HOSTNAME) == ["node-1", "node-2", "node-3", "node-4", "node-5"]

    def test_one_node_a_zone_unless_said(self):
        assert labels("zones=3", ZONE) == ["zone-a", "zone-b", "zone-c"]

    def test_no_zones_no_label(self):
        assert labels("nodes=2", ZONE) == [None, None]

    def test_each_zone_may_have_its_number(self):
        assert labels("nodes=3+1+2", ZONE) == ["zone-a", "zone-b", "zone-c", "zone-a", "zone-c", "zone-a"]

    def test_zones_belong_to_regions_in_turn(self):
        assert labels("zones=3,regions=2", REGION) == ["region-1", "region-2", "region-1"]

    def test_racks_are_a_zones_own(self):
        found = labels("zones=2,nodes=6,racks=2", RACK)
        assert found == [
            "zone-a-rack-1",
            "zone-b-rack-1",
            "zone-a-rack-2",
            "zone-b-rack-2",
            "zone-a-rack-1",
            "zone-b-rack-1",
        ]

    def test_zones_beyond_z(self):
        assert [zone_name(index) for index in (0, 25, 26, 701, 702)] == [
            "zone-a",
            "zone-z",
            "zone-aa",
            "zone-zz",
            "zone-aaa",
        ]

    def test_a_cluster_is_the_same_every_time(self):
        assert nodes("zones=3,nodes=7,racks=2") == nodes("zones=3,nodes=7,racks=2")


class TestResources:
    def test_what_is_given_and_what_is_usual(self):
        (node,) = nodes("nodes=1,cpu=8,memory=32Gi,nvidia.com/gpu=2")
        wanted = {"cpu": "8", "memory": "32Gi", "pods": "110", "ephemeral-storage": "100Gi", "nvidia.com/gpu": "2"}
        assert node.status.allocatable == wanted
        assert node.status.capacity == wanted


class TestMarks:
    def test_labels_everywhere_or_somewhere(self):
        assert labels("zones=2,nodes=3,label=disk=ssd", "disk") == ["ssd"] * 3
        assert labels("zones=2,nodes=3,label=zone-a:disk=ssd", "disk") == ["ssd", None, "ssd"]
        assert labels("zones=2,nodes=3,label=node-2:disk=ssd", "disk") == [None, "ssd", None]
        assert labels("zones=2,nodes=3,racks=2,label=zone-a-rack-2:disk=ssd", "disk") == [None, None, "ssd"]
        assert labels("zones=2,regions=2,label=region-2:example.com/disk=", "example.com/disk") == [None, ""]

    def test_taints(self):
        text = (
            "zones=2,taint=zone-b:dedicated=gpu:NoSchedule,taint=location:PreferNoSchedule,taint=node-1:old:NoExecute"
        )
        found = [[(taint.key, taint.value, taint.effect) for taint in node.spec.taints] for node in nodes(text)]
        assert found == [
            [("location", None, "PreferNoSchedule"), ("old", None, "NoExecute")],
            [("dedicated", "gpu", "NoSchedule"), ("location", None, "PreferNoSchedule")],
        ]

    def test_a_cordoned_node_has_its_taint_too(self):
        first, second = nodes("zones=2,cordon=zone-b")
        assert (first.spec.unschedulable, first.spec.taints) == (None, None)
        assert second.spec.unschedulable is True
        assert second.spec.taints[0].key == "node.kubernetes.io/unschedulable"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("zonse=3", r"zonse=3: write zones=3 \(topospread explain clusters\)"),
        ("gpu=1", r"gpu=1: keys are nodes, .*; devices need ResourceSlices in -f"),
        ("zones=three", "zones=three: expected a whole number from 1 to 1000"),
        ("zones=0", "zones=0: expected"),
        ("nodes=999999999", "nodes=999999999: expected a whole number from 1 to 100000"),
        ("nodes=٣", "nodes=٣: expected"),
        ("zones=3,,nodes=3", "an empty part is not KEY=VALUE"),
        ("zones=3,nodes", "nodes is not KEY=VALUE"),
        ("zones=", "zones= is not KEY=VALUE"),
        ("zones=3,zones=4", "zones is given twice"),
        ("zones=3,nodes=2", "nodes=2: must be at least the number of zones, 3"),
        ("zones=3,nodes=1+2", "numbers for 2 zones, but zones=3; make them equal"),
        ("zones=2,regions=3", "regions=3: must be at most the number of zones"),
        ("cpu=lots", "cpu=lots: quantities must match"),
        ("cpu=-1", "cpu=-1: must be greater than or equal to 0"),
        (
            "zones=3,label=zone-d:a=b",
            r"zone-d is not a zone, region, rack or node of this cluster \(is zone-[abc] meant\?\)",
        ),
        ("zones=3,label=disk", "label=disk: expected"),
        ("zones=3,label=a b=c", "label=a b=c: name part must consist of"),
        ("zones=3,label=a=b/c", "label=a=b/c: a valid label must"),
        ("zones=3,taint=a=b:NoSchedul", r"taint=a=b:NoSchedul: expected .* \(is NoSchedule meant\?\)"),
        ("zones=3,taint=NoSchedule", "taint=NoSchedule: expected"),
        ("zones=3,taint=zone-c:NoSchedule", "zone-c is a zone, .*, not a key; write taint=zone-c:KEY:NoSchedule"),
        ("nodes=3,taint=node-2=gpu:NoExecute", "node-2 is a zone, .*; write taint=node-2:gpu:NoExecute"),
    ],
)
def test_what_cannot_be_made_up_is_named(text, words):
    with pytest.raises(InputError, match=words) as caught:
        synthetic_nodes(text)
    assert str(caught.value).startswith("--on: ")


def test_the_grammar_names_every_key():
    for key in ("nodes", "zones", "regions", "racks", "cpu", "memory", "pods", "label", "taint", "cordon"):
        assert f"{key}=" in GRAMMAR


def test_a_file_with_an_equals_sign_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert is_synthetic("zones=3")
    assert not is_synthetic("nodes.yaml")
    for name in ("a=b.yaml", "zones=3"):
        (tmp_path / name).write_text("")
    assert not is_synthetic("a=b.yaml")
    assert not is_synthetic("./zones=3")
    # A pull request may have added it, to have its changes judged against a cluster of its own.
    with pytest.raises(UsageError, match=r"write \./zones=3 for the file"):
        is_synthetic("zones=3")


def test_labels_and_nodes_are_not_too_many_together():
    labels = ",".join(f"label=a{number}=b" for number in range(1000))
    with pytest.raises(InputError, match="1000 labels, taints and cordons are too many for 100000 nodes"):
        synthetic_nodes(f"nodes=100000,{labels}")


class TestStorageClasses:
    def test_there_is_a_default_one_that_waits_for_its_first_consumer(self):
        ((found, place),) = synthetic_storage_classes("zones=3")
        assert (found.name, found.volume_binding_mode) == ("standard", "WaitForFirstConsumer")
        assert found.metadata.annotations
        assert found.metadata.annotations.is_default_class == "true"
        assert str(place) == "--on: StorageClass standard"

    def test_the_first_that_is_named_is_the_default(self):
        found = [each for each, _ in synthetic_storage_classes("zones=3,storage-class=gp3,storage-class=io2")]
        defaults = [bool(each.metadata.annotations) for each in found]
        assert ([each.name for each in found], defaults) == (["gp3", "io2"], [True, False])

    def test_there_may_be_none(self):
        assert synthetic_storage_classes("zones=3,storage-class=none") == []

    @pytest.mark.parametrize(
        "text",
        [
            "storage-class=none,storage-class=a",
            "storage-class=a,storage-class=none",
            "storage-class=a,storage-class=a",
            "storage-class=A",
            "storage-class=a/b",
        ],
    )
    def test_what_is_no_name_or_contradicts_is_refused(self, text):
        with pytest.raises(InputError, match="storage-class"):
            synthetic_nodes(f"zones=3,{text}")
