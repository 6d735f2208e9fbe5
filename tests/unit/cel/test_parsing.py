"""Texts that are no expressions, and hostile ones."""

from __future__ import annotations

import time

import pytest

from tests.unit.cel.test_evaluation import value
from topospread.cel.values import CannotEvaluateError, CelError


@pytest.mark.parametrize(
    "expression",
    ["a.b(", "1 +", "'open", "object..x", "x ? y", "(" * 500, "!-1", "nosuch", "ip('1.2.3.4')", "b'a' == b'a'"],
)
def test_what_is_not_understood(expression: str) -> None:
    with pytest.raises(CannotEvaluateError):
        value(expression)


_LIST = f"[{', '.join(['1'] * 300)}]"


@pytest.mark.parametrize(
    "expression",
    [
        f"{_LIST}.map(a, {_LIST}.map(b, {_LIST}.map(c, a + b + c)))",
        f"({'1 + ' * 900}1)",
        f"{_LIST}.all(a, '{'a' * 3000}!'.matches('(a+)+$') || true)",
        f"{_LIST}.all(a, sets.equivalent({_LIST}, {_LIST}))",
        "'a'.matches('((a{1000}){1000}){1000}')",
        "'a'.matches('(((){1000}){1000}){1000}')",
        "'a'.matches('(?:){4000000000,}')",
        "[[[1, 1], [1, 1]]]" + ".map(x, [x, x, x, x, x, x, x, x])" * 60 + ".map(x, x == x)[0]",
        "'ab'" + ".replace('a', 'aaaaaaaaaaaaaaaa')" * 60,
        "'%s'.format([[1]" + ".map(x, [x, x, x, x, x, x, x, x])" * 60 + "]) == ''",
        "object" + ".a" * 9000,
        "object == " * 1500 + "object",
    ],
)
def test_hostile_expressions_end(expression: str) -> None:
    begun = time.process_time()
    with pytest.raises((CannotEvaluateError, CelError)):
        value(expression)
    assert time.process_time() - begun < 5
