"""The documented schema of answers is what their structs give."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import jsonschema
import pytest

from topospread.schema import ANSWERS, schema, text

FILE = Path(__file__).parent.parent.parent / "docs/reference/answers.schema.json"


def test_the_documented_schema_is_that_of_the_structs() -> None:
    assert FILE.read_text() == text(), f"run: python -m topospread.schema {FILE}"
    documented = json.loads(text())
    jsonschema.Draft202012Validator.check_schema(documented)
    written = json.loads(json.dumps(schema()))
    for name, each in written["$defs"].items():
        assert each.pop("title") == name
        if not each["required"]:
            del each["required"]
        assert "." not in name, "two structs of answers have the same name"
    assert documented == written


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_answer_has_a_page_and_an_entry_of_its_own(kind: str) -> None:
    struct = getattr(import_module(ANSWERS[kind]), kind)
    module, _, name = struct.PAGE.partition(":")
    assert callable(getattr(import_module(module), name))
    validator = jsonschema.Draft202012Validator(json.loads(FILE.read_text()))
    assert "is not valid under any of the given schemas" in next(validator.iter_errors({"kind": kind})).message
