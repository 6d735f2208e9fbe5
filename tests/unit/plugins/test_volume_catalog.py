"""The volumes of a cluster by class and size, and the nodes that reach each."""

from __future__ import annotations

import pytest

from tests.unit.plugins.storage_builders import HOST, ZONE, Json, claim, cluster, volume, zonal
from topospread.api.quantity import parse_quantity
from topospread.plugins.volume_catalog import capacity, catalog_of

NODES = zonal(a0="a", a1="a", b0="b")
MINE = {"namespace": "ns", "name": "data"}


def test_free_volumes_of_a_class_are_those_large_enough_smallest_first() -> None:
    listed = [
        *(volume(f"{size}", size=size) for size in ("3Gi", "1Gi", "2Gi", "1025Mi")),
        volume("claimed", size="2Gi", claimRef=MINE),
        volume("released", size="2Gi", status={"phase": "Released"}),
        volume("deleted", size="2Gi", metadata={"deletionTimestamp": "t"}),
        volume("other", size="2Gi", storageClassName="other"),
    ]
    made = cluster(NODES, *listed)
    least = parse_quantity("1025Mi")
    assert [each.volume.name for each in catalog_of(made).free("wait", least)] == ["1025Mi", "2Gi", "3Gi"]
    made.objects.put(volume("2Gi", size="2Gi", claimRef=MINE))
    made.objects.add([volume("4Gi", size="4Gi")])
    assert [each.volume.name for each in catalog_of(made).free("wait", least)] == ["1025Mi", "3Gi", "4Gi"]


def test_volumes_that_name_a_claim_are_promised_to_it_if_the_class_is_the_same() -> None:
    listed = [
        volume("large", size="2Gi", claimRef=MINE),
        volume("small", claimRef=MINE),
        volume("strange", claimRef=MINE, storageClassName="other"),
        volume("foreign", claimRef=MINE | {"namespace": "other"}),
    ]
    made = cluster(NODES, *listed)
    catalog = catalog_of(made)
    assert [each.volume.name for each in catalog.promised(claim("data"))] == ["small", "large"]
    assert {each.volume.name for each in catalog.naming(claim("data"))} == {"small", "large", "strange"}


@pytest.mark.parametrize(
    ("where", "reached", "by_label"),
    [
        (None, [True, True, True], None),
        ({HOST: ["a1"]}, [False, True, False], {1}),
        ({ZONE: ["a", "b"]}, [True, True, True], {0, 1, 2}),
        ({ZONE: ["a"], HOST: ["a0", "b0"]}, [True, False, False], None),
    ],
)
def test_a_volume_is_reached_by_the_nodes_of_its_affinity(
    where: Json | None, reached: list[bool], by_label: set[int] | None
) -> None:
    made = cluster(NODES, volume("pv", where))
    (found,) = catalog_of(made).free("wait", parse_quantity("0"))
    assert catalog_of(made).reached(found.volume, slice(0, 3)).tolist() == reached
    assert (found.reachable.rows() if found.reachable else None) == by_label


def test_a_volume_without_capacity_has_none() -> None:
    assert capacity(volume("pv", capacity=None)).value() == 0
    assert capacity(volume("pv", size="1Ki")).value() == 1024
