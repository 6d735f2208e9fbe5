"""What everybody answered, as it is stored in `tests/conformance/field.json`; asks nobody."""

from __future__ import annotations

import json
from typing import Any

from conformance.field import drawn, traps
from conformance.field.findings import Finding, compared
from conformance.programs import ROOT

Json = dict[str, Any]

STORED = ROOT / "tests" / "conformance" / "field.json"
SEED, DRAWN = 1337, 240
"""Of the random situations that the page is about."""


def situations() -> list[Json]:
    """All situations of the page: those made by hand, then the random ones."""
    return [*traps.situations(), *drawn.situations(SEED, DRAWN)]


def read() -> Json:
    """What is stored: ``versions``, ``answers`` by situation and peer, ``smallest`` cases."""
    found: Json = json.loads(STORED.read_text(encoding="utf-8"))
    return found


def write(found: Json) -> None:
    """Store it, a situation a line."""
    parts = [f' "versions": {json.dumps(found["versions"])}']
    answers = [f"  {json.dumps(name)}: {json.dumps(each)}" for name, each in found["answers"].items()]
    parts.append(' "answers": {\n' + ",\n".join(answers) + "\n }")
    smallest = [f"  {json.dumps(each)}" for each in found["smallest"]]
    parts.append(' "smallest": [\n' + ",\n".join(smallest) + "\n ]")
    STORED.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def differences(answers: Json) -> list[tuple[str, Finding]]:
    """Every finding in stored answers, with the name of its situation."""
    return [(name, finding) for name, each in answers.items() for finding in compared(each)]
