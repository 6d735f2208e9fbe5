"""The volume that a claim is bound to without a pod: pre-bound ones first, then the smallest."""

from __future__ import annotations

from typing import Any

from tests.unit.plugins.storage_builders import claim, volume
from topospread.api.storage import PersistentVolume
from topospread.plugins.volume_index import VolumeIndex, phase_of


def chosen(
    *volumes: PersistentVolume, size: str = "1Gi", waits: bool = False, attributes: bool = True, **fields: Any
) -> str:
    asked = claim("c", size=size, **fields)
    found = VolumeIndex(volumes).match(asked, waits=waits, attributes_classes=attributes)
    return "" if found is None else found.name


def bound_to(name: str, **more: Any) -> dict[str, Any]:
    return {"claimRef": {"namespace": "ns", "name": name}, **more}


def test_the_smallest_volume_that_is_large_enough_is_taken() -> None:
    volumes = (volume("large", size="9Gi"), volume("small", size="1Gi"), volume("middle", size="5Gi"))
    assert chosen(*volumes, size="2Gi") == "middle"
    assert chosen(*volumes, size="10Gi") == ""


def test_fewer_access_modes_come_before_size() -> None:
    modes = ["ReadWriteOnce"]
    many = volume("many", size="1Gi", accessModes=[*modes, "ReadWriteMany"])
    few = volume("few", size="9Gi", accessModes=modes)
    assert chosen(many, few, accessModes=modes) == "few"


def test_a_volume_that_names_the_claim_comes_first_and_is_all_that_a_waiting_claim_gets() -> None:
    promised, free = volume("promised", size="9Gi", **bound_to("c")), volume("free")
    assert chosen(promised, free) == "promised"
    assert chosen(promised, free, waits=True) == "promised"
    assert chosen(free, waits=True) == ""


def test_volumes_of_other_claims_and_classes_are_not_taken() -> None:
    assert chosen(volume("other", **bound_to("d"))) == ""
    assert chosen(volume("other", storageClassName="slow")) == ""


def test_only_available_volumes_that_are_not_being_deleted_are_taken() -> None:
    assert chosen(volume("released", status={"phase": "Released"})) == ""
    assert chosen(volume("deleted", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})) == ""


def test_a_selector_chooses_among_free_volumes_alone() -> None:
    selector = {"matchLabels": {"disk": "ssd"}}
    ssd, hdd = (volume(disk, metadata={"labels": {"disk": disk}}) for disk in ("ssd", "hdd"))
    assert chosen(hdd, ssd, selector=selector) == "ssd"
    assert chosen(volume("promised", **bound_to("c")), selector=selector) == "promised"


def test_without_the_gate_a_volume_with_an_attributes_class_is_not_taken() -> None:
    made = volume("v", volumeAttributesClassName="gold")
    assert chosen(made, attributes=False, volumeAttributesClassName="gold") == ""
    assert chosen(made, volumeAttributesClassName="gold") == "v"


def test_a_taken_volume_is_taken_once() -> None:
    index = VolumeIndex([volume("v0"), volume("v1")])
    first = index.match(claim("c"), waits=False, attributes_classes=True)
    assert first is not None
    index.take(first)
    second = index.match(claim("d"), waits=False, attributes_classes=True)
    assert second is not None
    assert {first.name, second.name} == {"v0", "v1"}


def test_a_missing_status_has_no_phase() -> None:
    assert phase_of(volume("v", status=None)) == ""
    assert phase_of(volume("v")) == "Available"
