"""An inventory with words in place of names, for a report that others are to see; nothing else of it changes."""

from __future__ import annotations

import secrets
from dataclasses import fields, replace
from typing import Any

import msgspec

from topospread.api.inventory import Inventory
from topospread.api.meta import KubeObject
from topospread.sources.pseudonyms import Pseudonyms
from topospread.sources.snapshot_names import hashed


def anonymous(inventory: Inventory, salt: bytes | None = None) -> Inventory:
    """The same cluster under other names, as ``dump --hash-names`` writes them.

    Args:
        inventory: what was read; it is not changed.
        salt: of which the words are made; by default one that nobody knows.
    """
    names = Pseudonyms(salt or secrets.token_bytes(32))
    names.know_nodes(each.name for each in inventory.nodes)
    kinds: dict[str, Any] = {
        each.name: [_renamed(item, names) for item in getattr(inventory, each.name)]
        for each in fields(inventory)
        if each.type.startswith("list[") and _is_of_objects(getattr(inventory, each.name))
    }
    # Sentences and places hold names; what was read from is how to read it once more, with all of them.
    return replace(inventory, **kinds, warnings=[], notes=[], places={}, read_from=None)


def _is_of_objects(items: list[Any]) -> bool:
    return bool(items) and isinstance(items[0], KubeObject)


def _renamed(item: KubeObject, names: Pseudonyms) -> KubeObject:
    return msgspec.convert(hashed(item, names), type(item), strict=False, str_keys=True)
