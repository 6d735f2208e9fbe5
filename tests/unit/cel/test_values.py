"""Values that are not known stay unknown."""

from __future__ import annotations

import pytest

from tests.unit.cel.test_evaluation import value
from topospread.cel.values import Unknown


@pytest.mark.parametrize(
    "expression",
    [
        "object.metadata.uid == 'x'",
        "object.metadata.uid.startsWith('x') || object.nosuch",
        "object.spec.containers.all(c, c.image != 'x' && (c.name == 'c' || c.uid == 'y'))",
        "has(object.spec.perhaps)",
        "'perhaps' in object.spec",
        "object.spec == {}",
        "object.spec.map(k, k)",
        "object.spec.?perhaps.hasValue()",
        "[object.metadata.uid] == ['x']",
        "object.metadata.uid ? 1 : 2",
    ],
)
def test_what_hangs_on_what_is_not_known(expression: str) -> None:
    assert isinstance(value(expression), Unknown)


def test_whether_what_is_not_known_may_be_an_error() -> None:
    for expression in ("user == 'x'", "!user.startsWith('system:')", "'a' in user", "user == 'a' && true"):
        assert value(expression).is_sound, expression
    for expression in ("user[0] == 'x'", "user.map(u, u) == []", "user == 'x' || object.nosuch", "int(user) == 1"):
        assert not value(expression).is_sound, expression
