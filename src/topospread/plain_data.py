"""Results as plain data, in the form that the command writes with ``-o json``; the forms themselves are in `answers`.

They are looked up when they are asked for: who computes a result knows nothing of how it is shown.
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
"""Class → the module of `answers` and its function."""


class PlainData:
    """A result of which there is a form as plain data."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data: what the command writes with ``-o json``."""
        built: dict[str, Any] = self.answer().to_dict()
        return built

    def to_json(self) -> str:
        """The result as the text that the command writes with ``-o json``."""
        return json_text(self.to_dict())

    def answer(self, *restricted: str | None) -> Any:
        """Return the answer that the command writes: with its verdict, causes and page."""
        module, name = _ANSWERS[type(self).__name__]
        return getattr(import_module(f"topospread.answers.{module}"), name)(self, *restricted)
