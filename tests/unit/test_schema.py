"""The documented schemas are what the structs of the answers give."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import jsonschema
import pytest

from topospread.schema import ANSWERS, files, schema_of

REFERENCE = Path(__file__).parent.parent.parent / "docs/reference"


@pytest.mark.parametrize(("name", "text"), list(files()), ids=lambda value: value if value.endswith(".json") else "")
def test_the_documented_schema_is_that_of_the_struct(name: str, text: str) -> None:
    assert (REFERENCE / name).read_text() == text, "run: python -m topospread.schema docs/reference"


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_schema_is_one_and_every_answer_has_a_page(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema_of(kind))
    struct = getattr(import_module(ANSWERS[kind]), kind)
    module, _, name = struct.PAGE.partition(":")
    assert callable(getattr(import_module(module), name))
