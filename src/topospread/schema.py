"""Write the JSON Schema of all answers from their structs: ``python -m topospread.schema FILE``."""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from typing import Any

import msgspec

from topospread.sources.atomic_file import write_file

ANSWERS: dict[str, str] = {
    "DrillCheck": "topospread.answers.drill_many",
    "DrillEach": "topospread.answers.drill_many",
    "DrillResult": "topospread.answers.drill",
    "Orders": "topospread.answers.orders",
    "Simulation": "topospread.answers.simulation",
    "Capacity": "topospread.answers.capacity",
    "ConfigValidate": "topospread.answers.config_validate",
    "Fleet": "topospread.answers.fleet",
    "Lint": "topospread.answers.lint",
    "Rebalance": "topospread.answers.rebalance",
    "Plan": "topospread.answers.plan",
    "PromiseCheck": "topospread.answers.promise_check",
    "PromiseDesign": "topospread.answers.promise_design",
    "PromiseShow": "topospread.answers.promise_show",
    "Status": "topospread.answers.status",
    "Why": "topospread.answers.why",
    "WhyHistory": "topospread.answers.why_history",
    "WhyPending": "topospread.answers.why_pending",
}
"""Kind of answer → module with its struct. The struct has the same name as the kind."""


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of all answers. ``$defs`` has each answer and each of its parts by name."""
    structs = [getattr(import_module(module), kind) for kind, module in ANSWERS.items()]
    _, definitions = msgspec.json.schema_components(structs, ref_template="#/$defs/{name}")
    for kind in ANSWERS:
        definitions[kind]["properties"]["kind"] = {"const": kind}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Answers of topospread",
        "oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in sorted(ANSWERS)],
        "$defs": dict(sorted(definitions.items())),
    }


def schema_of(*kinds: str) -> dict[str, Any]:
    """Return the JSON Schema that accepts these kinds of answers, with every definition it refers to."""
    definitions = schema()["$defs"]
    found: dict[str, Any] = {}
    waiting = list(kinds)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = definitions[name]
            waiting += re.findall(r'"#/\$defs/(\w+)"', json.dumps(definitions[name]))
    return {"type": "object", "anyOf": [{"$ref": f"#/$defs/{kind}"} for kind in kinds], "$defs": found}


def text() -> str:
    """Return the schema as JSON text with one line for each property."""

    def line(value: object) -> str:
        return json.dumps(value, ensure_ascii=False)

    whole = schema()
    definitions = []
    for name, each in whole.pop("$defs").items():
        properties = ",\n".join(f"      {line(key)}: {line(value)}" for key, value in each.pop("properties").items())
        told = line({key: value for key, value in each.items() if value and key not in ("title", "type")})
        definitions.append(
            f'    {line(name)}: {{"type": "object", {told[1:-1]}, "properties": {{\n{properties}\n    }}}}'
        )
    return f'{line(whole)[:-1]},\n  "$defs": {{\n' + ",\n".join(definitions) + "\n  }\n}\n"


if __name__ == "__main__":
    write_file(sys.argv[1], text())
