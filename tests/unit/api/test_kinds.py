"""Every kind has its list in an inventory."""

from __future__ import annotations

from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS, NOT_MODELLED, OWNER_LISTS


def test_each_kind_has_a_struct_of_its_name_and_a_list_of_its_own() -> None:
    lists = [each.attribute for each in KINDS.values()]
    assert len(set(lists)) == len(lists)
    assert {name: each.struct.__name__ for name, each in KINDS.items()} == {name: name for name in KINDS}
    assert set(OWNER_LISTS) < set(lists)
    assert not NOT_MODELLED & set(KINDS)


def test_an_inventory_yields_the_objects_of_every_kind() -> None:
    made = Inventory(configurations=[{"kind": "KubeSchedulerConfiguration"}])
    for kind in KINDS.values():
        getattr(made, kind.attribute).append(kind.struct())
    assert {type(each).__name__ for each in made.objects()} == set(KINDS)
    assert {name for name, each in KINDS.items() if not each.namespaced} >= {"Node", "PersistentVolume", "Namespace"}
