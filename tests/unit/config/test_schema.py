"""Strict decoding: what is accepted, what null means, and the words for what is not accepted."""

from __future__ import annotations

from typing import Any

import pytest

from topospread.config.schema import (
    ANYTHING,
    BASE64,
    BOOLEAN,
    DURATION,
    FLOAT,
    INT32,
    INT64,
    STRING,
    ListOf,
    MapOf,
    Object,
    Problems,
    Type,
)

POINT = Object({"x": INT32, "name": STRING})


@pytest.mark.parametrize(
    ("kind", "value", "decoded"),
    [
        (STRING, "a", "a"),
        (BOOLEAN, False, False),
        (INT32, 2**31 - 1, 2**31 - 1),
        (INT64, -(2**63), -(2**63)),
        (FLOAT, 5, 5),
        (FLOAT, 0.5, 0.5),
        (DURATION, "1m", "1m"),
        (BASE64, "aGk=", "aGk="),
        (ANYTHING, {"a": [1]}, {"a": [1]}),
        (ListOf(STRING), ["a", None], ["a", ""]),
        (ListOf(POINT), [{"x": 1}, None], [{"x": 1}, {}]),
        (MapOf(STRING), {"a": "b", "c": None}, {"a": "b", "c": ""}),
        (POINT, {"x": None, "name": "n"}, {"name": "n"}),
    ],
)
def test_accepts(kind: Type, value: Any, decoded: Any) -> None:
    problems: Problems = []
    assert kind.decode(value, "f", problems) == decoded
    assert problems == []


@pytest.mark.parametrize(
    ("kind", "value", "path", "what"),
    [
        (STRING, 1, "f", "must be a string, not a number"),
        (STRING, True, "f", "must be a string, not a boolean"),
        (BOOLEAN, "true", "f", "must be true or false, not a string"),
        (BOOLEAN, 1, "f", "must be true or false, not a number"),
        (INT32, "1", "f", "must be a whole number, not a string"),
        (INT32, True, "f", "must be a whole number, not a boolean"),
        (INT32, 1.0, "f", "must be a whole number, not the fraction 1.0"),
        (INT32, 2**31, "f", "2147483648 does not fit into 32 bits"),
        (INT64, -(2**63) - 1, "f", "-9223372036854775809 does not fit into 64 bits"),
        (FLOAT, "1", "f", "must be a number, not a string"),
        (DURATION, 15, "f", 'must be a duration as "15s" or "1m30s", not a number'),
        (DURATION, "15", "f", '"15" is not a duration; write it as "15s" or "1m30s"'),
        (BASE64, "?", "f", "is not base64"),
        (BASE64, 1, "f", "must be bytes in base64, not a number"),
        (ListOf(STRING), {}, "f", "must be a list, not an object"),
        (ListOf(STRING), ["a", 1], "f[1]", "must be a string, not a number"),
        (MapOf(STRING), [], "f", "must be an object, not a list"),
        (MapOf(STRING), {"k": 1}, "f.k", "must be a string, not a number"),
        (POINT, "x", "f", "must be an object, not a string"),
        (POINT, {"y": 1}, "f.y", "unknown field"),
        (POINT, {"y": None}, "f.y", "unknown field"),
    ],
)
def test_refuses(kind: Type, value: Any, path: str, what: str) -> None:
    problems: Problems = []
    kind.decode(value, "f", problems)
    assert problems == [(path, what)]


def test_every_problem_is_reported() -> None:
    problems: Problems = []
    ListOf(POINT).decode([{"x": "1"}, {"z": 1, "name": 2}], "points", problems)
    assert [path for path, _ in problems] == ["points[0].x", "points[1].z", "points[1].name"]
