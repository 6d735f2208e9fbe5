"""Typed fields: each type is checked, and an error shows no content of the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from topospread.errors import InputError, Place
from topospread.sources.typed_fields import TypedFields


class Fields(TypedFields):
    def place(self, where: str) -> Place:
        return Place("own.yaml", field=where)


FIELDS = Fields()


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (FIELDS.mapping, {"a": 1}),
        (FIELDS.items, [1]),
        (FIELDS.string, "a"),
        (FIELDS.strings, ["a"]),
        (FIELDS.number, 0),
        (FIELDS.flag, False),
    ],
)
def test_a_value_of_the_type_is_returned_and_every_other_one_is_an_error(
    read: Callable[[Any, str], Any], value: Any
) -> None:
    assert read(value, "spec.a") == value
    for other in (None, {"a": 1}, [1], "secret", ["secret", 1], 0, 1.5, True):
        if type(other) is not type(value) or read == FIELDS.strings:
            with pytest.raises(InputError, match=r"own\.yaml: spec\.a(\[\d\])?: (expected|it is missing)") as caught:
                read(other, "spec.a")
            assert "secret" not in str(caught.value)


def test_numbers_choices_and_unknown_fields() -> None:
    with pytest.raises(InputError, match="at least 2, got 1"):
        FIELDS.number(1, "least", least=2)
    assert FIELDS.choice("a", ("a", "b"), "level") == "a"
    with pytest.raises(InputError, match="level: expected one of a, b"):
        FIELDS.choice("c", ("a", "b"), "level")
    with pytest.raises(InputError, match=r"spec\.relase: unknown field 'relase'; did you mean release\?"):
        FIELDS.known({"relase": 1}, ("release", "name"), "spec")
