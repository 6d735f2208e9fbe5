"""Replace the private names in an inventory. docs/how-to/snapshot.md lists the names that stay."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import msgspec

from topospread.api.inventory import Inventory
from topospread.api.meta import KubeObject

from .pseudonyms import Pseudonyms, key_of
from .snapshot_facts import SnapshotFacts
from .snapshot_names import hashed, hashed_facts


def anonymous(inventory: Inventory, salt: bytes | None = None) -> Inventory:
    """Return the same cluster with other names, like ``topospread dump --anonymous`` writes it.

    Args:
        inventory: a cluster; it is not changed.
        salt: secret from which the names are derived, random by default. The same salt gives the same names.

    Example:
        >>> topospread.save(anonymous(topospread.load("cluster.json.gz")), "shared.json.gz")
    """
    return _anonymous(inventory, _names(inventory, salt))


def anonymous_snapshot(
    inventory: Inventory, facts: SnapshotFacts, salt: bytes | None = None
) -> tuple[Inventory, SnapshotFacts]:
    """Return a cluster and its snapshot's facts with other names; see `anonymous`."""
    names = _names(inventory, salt)
    return _anonymous(inventory, names), hashed_facts(facts, names)


def _names(inventory: Inventory, salt: bytes | None) -> Pseudonyms:
    names = Pseudonyms(key_of(salt))
    names.know_nodes(each.name for each in inventory.nodes)
    return names


def _anonymous(inventory: Inventory, names: Pseudonyms) -> Inventory:
    kinds: dict[str, Any] = {
        each.name: [_renamed(item, names) for item in getattr(inventory, each.name)]
        for each in fields(inventory)
        if each.type.startswith("list[") and _is_of_objects(getattr(inventory, each.name))
    }
    # ResourceSlices are dropped, so pods that need devices are unjudged.
    kinds["resource_slices"] = []
    # Warnings, notes, places and configurations contain names, and `read_from` refers to the original input.
    return replace(inventory, **kinds, warnings=[], notes=[], places={}, declared={}, configurations=[], read_from=None)


def _is_of_objects(items: list[Any]) -> bool:
    return bool(items) and isinstance(items[0], KubeObject)


def _renamed(item: KubeObject, names: Pseudonyms) -> KubeObject:
    return msgspec.convert(hashed(item, names), type(item), strict=False, str_keys=True)
