"""The JSON Schemas of the answers, written from the structs: ``python -m topospread.schema FOLDER``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from topospread.answer import Answer
from topospread.atomic_file import write_file
from topospread.base import json_text

ANSWERS: dict[str, str] = {
    "DrillCheck": "topospread.answers.drill_many",
    "DrillEach": "topospread.answers.drill_many",
    "DrillResult": "topospread.answers.drill",
    "Orders": "topospread.answers.orders",
    "Simulation": "topospread.answers.simulation",
    "Capacity": "topospread.answers.capacity",
    "ConfigValidate": "topospread.answers.config_validate",
    "Lint": "topospread.answers.lint",
    "Rebalance": "topospread.answers.rebalance",
    "Plan": "topospread.answers.plan",
    "PromiseCheck": "topospread.answers.promise_check",
    "PromiseDesign": "topospread.answers.promise_design",
    "PromiseShow": "topospread.answers.promise_show",
    "Status": "topospread.answers.status",
    "Why": "topospread.answers.why",
    "WhyHistory": "topospread.answers.why_history",
}
"""Kind of answer → module that has its struct, of the same name."""


def schema_of(kind: str) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a kind of answer.

    Raises:
        KeyError: if there is no such kind.
    """
    struct: type[Answer] = getattr(import_module(ANSWERS[kind]), kind)
    schema: dict[str, Any] = msgspec.json.schema(struct)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": kind, **schema}


def files() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each schema's file, for example ``why.schema.json``."""
    for kind in ANSWERS:
        yield f"{re.sub('(?<!^)(?=[A-Z])', '-', kind).lower()}.schema.json", json_text(schema_of(kind))


if __name__ == "__main__":
    for name, text in files():
        write_file(str(Path(sys.argv[1]) / name), text)
