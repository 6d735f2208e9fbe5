"""The mixin `PlainData`, which gives engine results their ``-o json`` form.

`answers` defines the forms and is imported on demand, so the engine does not depend on it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from topospread.base import json_text

_ANSWERS = {
    "Drill": ("drill", "drill_answer"),
    "DrillCheck": ("drill_many", "check_answer"),
    "EachDrill": ("drill_many", "each_answer"),
    "Orders": ("orders", "orders_answer"),
    "Simulation": ("simulation", "simulation_answer"),
}
"""Class → module and function in `answers` that build its answer."""


class PlainData:
    """A result that can be written like ``-o json``."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, like ``-o json``."""
        built: dict[str, Any] = self.answer().to_dict()
        return built

    def to_json(self) -> str:
        """Return the JSON text that ``-o json`` writes."""
        return json_text(self.to_dict())

    def answer(self, *restricted: str | None) -> Any:
        """Return the command's answer, with its verdict, causes and page."""
        module, name = _ANSWERS[type(self).__name__]
        return getattr(import_module(f"topospread.answers.{module}"), name)(self, *restricted)
