"""CEL expressions: values and errors as cel-go has them in Kubernetes 1.37 (a real API server said so)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from topospread.cel.evaluation import Budget, evaluate
from topospread.cel.values import CannotEvaluateError, CelError, Lazy, Unknown

UNKNOWN = Unknown("what nobody knows")
USER = Unknown("the user", is_sound=True)
POD: dict[str, Any] = {
    "metadata": {"name": "p1", "labels": {"app": "web", "t": "7"}, "generation": 1, "uid": UNKNOWN},
    "spec": {
        "containers": [{"name": "c", "image": "nginx:latest"}, {"name": "d", "image": "b:1", "uid": UNKNOWN}],
        "perhaps": Unknown("perhaps", may_be_absent=True),
    },
    "status": {},
}
VARIABLES = {"object": POD, "oldObject": None, "params": None, "user": USER}


def value(expression: str, **more: Any) -> Any:
    return evaluate(expression, {**VARIABLES, **more}, Budget())


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 + 2 * 3 == 7 && !(1 > 2)", True),
        ("!!true ? 'a' : 'b'", "a"),
        ("!!!true", False),
        ("-5 % 3", -2),
        ("-5 / 3", -1),
        ("-9223372036854775808", -(2**63)),
        ("0x1F + 1", 32),
        ("1 == 1.0 && 1u == 1 && 1 != true && 1 in [1.0]", True),
        ("5 == dyn('5')", False),
        ("{'a': 1} == {'a': 1.0} && [[1]] == [[1.0]]", True),
        ("'it''s' == 'x' || r'\\d' == '\\\\d'", None),
        (r"'\x41\u00e9\n\'' == 'Aé' + '\n' + '\''", True),
        ("'''a'b''' + \"c\"", "a'bc"),
        ("size('äb') + size([1]) + size({'a': 1})", 4),
        ("has(object.spec.containers) && !has(object.spec.nosuch) && !has(object.metadata.name.foo)", True),
        ("object.?spec.?nosuch.deeper.orValue(3)", 3),
        ("object.metadata.labels[?'app'].orValue('none')", "web"),
        ("object.?metadata.labels.app.optMap(x, x + '1').orValue('z')", "web1"),
        ("optional.none().hasValue()", False),
        ("[?optional.none(), ?optional.of(1)] == [1] && {?'a': optional.none()} == {}", True),
        ("object.nosuch == 1 || true", True),
        ("true || object.nosuch", True),
        ("object.metadata.labels.t || true", True),
        ("false && object.nosuch", False),
        ("[0, 1].exists(x, 1 / x == 1)", True),
        ("[1, 2].all(x, x / 0 == 1 || true)", True),
        ("object.spec.containers.exists_one(c, c.name == 'c')", True),
        ("[1, 2, 3].filter(x, x > 1).map(x, x * 2)", [4, 6]),
        ("[1, 2].map(x, x > 1, x * 2)", [4]),
        ("[5, 6].transformList(i, v, i + v)", [5, 7]),
        ("{'a': 1}.transformMap(k, v, v + 1)", {"a": 2}),
        ("object.metadata.labels.all(k, v, k != v)", True),
        ("object.metadata.labels.map(k, k)", ["app", "t"]),
        ("'a,b'.split(',') == ['a', 'b'] && 'abc'.substring(1, 2) == 'b' && 'abc'.charAt(3) == ''", True),
        ("'aXa'.replace('a', 'b', 1) + ' x '.trim() + 'aB'.upperAscii() + 'abcb'.lastIndexOf('b')", None),
        ("['b', 'a'].join('-') + string(1) + string(true)", "b-a1true"),
        ("int('7') + int(9.9) + [1, 2].max() + [1, 2].sum() + [3, 1].min()", 22),
        ("sets.contains([1, 2], [1]) && sets.intersects([1], [1, 2]) && sets.equivalent([1, 1], [1])", True),
        ("[1, 2].isSorted() && !['b', 'a'].isSorted() && [1, 1].distinct() == [1]", True),
        ("'%s|%d|%s|%s'.format(['a', 1, ['b', true], {'k': 1}])", 'a|1|["b", true]|{"k":1}'),
        ("quantity('1Gi').isGreaterThan(quantity('500Mi')) && quantity('1').compareTo(quantity('1000m')) == 0", True),
        ("quantity('2').add(1).sub(quantity('500m')).isInteger() || isQuantity('1x')", False),
        ("quantity('50k').asInteger()", 50000),
        ("semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.0.0-a').isLessThan(semver('1.0.0'))", True),
        ("type(1) == int && type('a') == string && type(object) == map && type(null) == null_type", True),
        ("object.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')", True),
        ("'a\\n'.matches('^a$')", False),
        ("oldObject == null && params == null", True),
        ("object.spec.containers[0].name // a comment", "c"),
        ("object.spec.containers.exists(c, c.image == 'b:1' || c.uid == 'x')", True),
        ("object.spec.containers.all(c, c.image == 'x' && c.uid == 'y')", False),
        ("false && user == 'x'", False),
    ],
)
def test_values(expression: str, expected: Any) -> None:
    if expected is None:
        with pytest.raises((CelError, CannotEvaluateError)):
            value(expression)
    else:
        found = value(expression)
        assert found == expected
        assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("object.metadata.labels.zz", "no such key: zz"),
        ("object.spec['containers'][0]['zz']", "no such key: zz"),
        ("object.metadata.name['a']", "no such key: a"),
        ("params.data.x", "no such key: data"),
        ("object.spec.containers[3].name", "index out of bounds: 3"),
        ("object.spec.containers['a']", "unsupported index type 'string' in list"),
        ("has(object.spec.containers.foo)", "unsupported index type 'string' in list"),
        ("object.metadata.name > 3", "no such overload"),
        ("!object.metadata.name", "no such overload"),
        ("object.metadata.labels.t ? 1 : 2", "no such overload"),
        ("'a' + dyn(1)", "no such overload"),
        ("dyn(1).startsWith('a')", "no such overload"),
        ("size(dyn(1))", "no such overload: size"),
        ("string(object.status)", "no such overload: string(map)"),
        ("dyn(5) % 0", "modulus by zero"),
        ("1 / (size(object.spec.containers) - 2)", "division by zero"),
        ("9223372036854775807 + 1", "integer overflow"),
        ("int(object.metadata.name)", "type conversion error from 'string' to 'int'"),
        ("'abc'.substring(5)", "index out of range: 5"),
        ("[].max()", "max called on empty list"),
        ("optional.none().value()", "optional.none() dereference"),
        ("object.spec.containers.exists(c, c.foo == 'x')", "no such key: foo"),
        ("object.nosuch && object.other", "no such key: nosuch"),
        ("{'a': 1}[dyn('b')]", "no such key: b"),
    ],
)
def test_errors(expression: str, message: str) -> None:
    with pytest.raises(CelError) as caught:
        value(expression)
    assert str(caught.value) == message


def test_variables_are_evaluated_when_they_are_read() -> None:
    def fails() -> Any:
        raise CelError("no such key: x")

    variables = Lazy({"a": lambda: 1, "b": fails})
    assert value("variables.a == 1 && has(variables.b)", variables=variables) is True
    with pytest.raises(CelError, match='composited variable "b" fails to evaluate: no such key: x'):
        value("variables.b", variables=variables)


@pytest.mark.parametrize(
    "expression",
    [
        "l.all(a, l.exists(b, a == a))",
        "l.all(a, l.sort().size() > 0)",
        "l.all(a, l.isSorted() && l.min() < l.max() && l.sum() > 0)",
        "l.all(a, t.lastIndexOf(u) < 0)",
    ],
)
def test_steps_grow_with_the_work(expression: str) -> None:
    """Each round costs as much as the parts that Python looks at: 20,000 of them would take minutes."""
    many = {"l": list(range(20_000)), "t": "a" * 100_000, "u": "ab" + "a" * 50_000}
    budget = Budget()
    with suppress(CannotEvaluateError):
        evaluate(expression, many, budget)
    rounds = Budget()
    with suppress(CannotEvaluateError):
        evaluate(expression.replace("l.all(a", "[1, 2, 3].all(a"), many, rounds)
    assert budget.is_spent
    assert Budget().steps - rounds.steps > 3 * 1_000


@pytest.mark.parametrize("expression", ["semver(d + '.0.0').major() > 0", "quantity('1e999999999').add(quantity('1'))"])
def test_numbers_beyond_those_of_python_are_not_evaluated(expression: str) -> None:
    with pytest.raises(CannotEvaluateError):
        value(expression, d="9" * 5_000)
