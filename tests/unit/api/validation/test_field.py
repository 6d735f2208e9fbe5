"""Refusals are worded and values printed as Go's field.Error does."""

from __future__ import annotations

import pytest

from topospread.api.quantity import parse_quantity
from topospread.api.validation.field import (
    FieldError,
    Named,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    printed,
    report,
    required,
    too_long,
    too_many,
    type_error,
)


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (invalid("a.b", 5, "must be 1"), "FieldValueInvalid", "a.b: Invalid value: 5: must be 1"),
        (invalid("a", "x", ""), "FieldValueInvalid", 'a: Invalid value: "x"'),
        (required("a"), "FieldValueRequired", "a: Required value"),
        (required("a", "give one"), "FieldValueRequired", "a: Required value: give one"),
        (
            not_supported("a", Named("x"), ("b", "c")),
            "FieldValueNotSupported",
            'a: Unsupported value: "x": supported values: "b", "c"',
        ),
        (not_supported("a", "x", ()), "FieldValueNotSupported", 'a: Unsupported value: "x"'),
        (forbidden("a", "not now"), "FieldValueForbidden", "a: Forbidden: not now"),
        (duplicate("a[1]", "x"), "FieldValueDuplicate", 'a[1]: Duplicate value: "x"'),
        (not_found("a", "x"), "FieldValueNotFound", 'a: Not found: "x"'),
        (too_long("a", 63), "FieldValueTooLong", "a: Too long: may not be more than 63 bytes"),
        (too_long("a", 1), "FieldValueTooLong", "a: Too long: may not be more than 1 byte"),
        (too_long("a", 2, "character"), "FieldValueTooLong", "a: Too long: may not be more than 2 characters"),
        (too_long("a", -1), "FieldValueTooLong", "a: Too long: value is too long"),
        (too_many("a", 21, 20), "FieldValueTooMany", "a: Too many: 21: must have at most 20 items"),
        (too_many("a", 2, 1), "FieldValueTooMany", "a: Too many: 2: must have at most 1 item"),
        (too_many("a", -1, -1), "FieldValueTooMany", "a: Too many: has too many items"),
        (type_error("a", "expected a list"), "FieldValueTypeInvalid", "a: expected a list"),
        (type_error("", "expected an object"), "FieldValueTypeInvalid", "expected an object"),
    ],
)
def test_a_refusal_says_path_kind_value_and_reason(error, kind, message):
    assert (error.type, error.message) == (kind, message)
    assert error.message.startswith(error.field)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('q"\n\x7fé\u200b', '"q\\"\\n\\x7fé\\u200b"'),
        (Named("a<b>&\u2028"), '"a\\u003cb\\u003e\\u0026\\u2028"'),
        (None, "null"),
        (True, "true"),
        (-3, "-3"),
        (["a", 1], '["a",1]'),
        ({"b": None, "a": {"x": "é"}}, '{"b":null,"a":{"x":"é"}}'),
        (parse_quantity("1500m"), '"1500m"'),
    ],
)
def test_values_are_printed_as_go_prints_them(value, text):
    assert printed(value) == text


def test_what_has_no_json_form_is_an_error_of_ours():
    with pytest.raises(TypeError, match="set has no JSON form"):
        printed({1})


def test_a_report_has_each_refusal_once_by_message():
    first, second = required("b"), required("a")
    assert report([first, second, FieldError(first.type, first.field, first.message)]) == [second, first]
