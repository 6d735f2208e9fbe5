"""An inventory of plain objects, as an API server would give them."""

from __future__ import annotations

import copy
from typing import Any

import msgspec

from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS


def inventory(*objects: dict[str, Any]) -> Inventory:
    """The objects, typed; they share nothing with what was given."""
    made = Inventory()
    for each in objects:
        kind = KINDS[each["kind"]]
        getattr(made, kind.attribute).append(msgspec.convert(copy.deepcopy(each), kind.struct))
    return made
