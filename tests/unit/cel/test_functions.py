"""Functions of CEL within their budget."""

from __future__ import annotations

import pytest

from tests.unit.cel.test_evaluation import value
from topospread.cel.evaluation import Budget, evaluate
from topospread.cel.values import CannotEvaluateError


@pytest.mark.parametrize(("expression", "name"), [("'a'.join(',')", "join"), ("'a'.split(1)", "split")])
def test_the_message_names_the_function(expression: str, name: str) -> None:
    with pytest.raises(CannotEvaluateError, match=rf"^{name}\(\) cannot be evaluated for these arguments$"):
        value(expression)


@pytest.mark.parametrize(
    "expression",
    [
        r"'\U00110000' == 'a'",
        r"'\ud800' == 'a'",
        "[1][1e999] == 1",
        "[1][1e999 - 1e999] == 1",
        "uint(1e999) == 1u",
        "uint(1e30) == 1u",
        f"{'9' * 4_500} > 1",
    ],
)
def test_numbers_and_characters_out_of_range_are_not_evaluated(expression: str) -> None:
    with pytest.raises(CannotEvaluateError):
        value(expression)


def test_a_text_is_joined_only_within_the_budget() -> None:
    given = {"a": "x" * 6_000, "b": "y" * 1_000}
    assert evaluate("a.split('x').join('yy').size()", given, Budget()) == 12_000
    with pytest.raises(CannotEvaluateError, match="too long"):
        evaluate("a.split('x').join(b) != ''", given, Budget(200_000))
    budget = Budget(10_000_000)
    assert evaluate("a.split('x').join(b).size()", given, budget) == 6_000_000
    assert 10_000_000 - budget.steps > 600_000, "each ten characters are a step"


def test_find_is_leftmost_and_prefers_as_perl_does() -> None:
    assert value("'xaab'.find('a|aa')") == "a"
    assert value("'xaab'.find('aa??b?')") == "a"
    assert value("'abab'.findAll('(a)b')") == ["ab", "ab"]
    assert value("'aab'.findAll('a*', 2)") == ["aa", ""]
    with pytest.raises(CannotEvaluateError):
        value("'a'.find('(a*)*')")
