"""Keyword arguments of a question in tests: those of `SimulationOptions` go into the struct."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from topospread.simulation.options import SimulationOptions

_NAMES = {each.name for each in fields(SimulationOptions)}


def parted(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with an options struct."""
    own = {name: value for name, value in given.items() if name in _NAMES}
    return {name: value for name, value in given.items() if name not in own} | {"options": SimulationOptions(**own)}
