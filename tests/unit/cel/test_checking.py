"""Expressions that the API server's checker refuses before it evaluates them."""

from __future__ import annotations

import pytest

from topospread.cel.checking import problem_of

NAMES = dict.fromkeys(("object", "request", "variables", "authorizer"), "dyn") | {"variables.n": "int"}
PATCH = '[JSONPatch{op: "replace", path: "/spec/a", value: {"a": 1}}]'


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("object.spec.containers.all(c, c.image != 'a' && has(c.x))", "bool"),
        ("object.?labels[?'a'].orValue('b') == 'c'", "bool"),
        ("cel.bind(x, variables.n, x + 1) == 2 && -1 < 2u", "bool"),
        ("'%s %d'.format(['a', 1])", "string"),
        ("[1, 2].map(x, string(x)).filter(x, x.startsWith('a'))", "list(string)"),
        ("dyn(1) == 'a' || null == object || type(1) == int", "bool"),
        ("duration('1h') < timestamp('2026-01-01T00:00:00Z') - request.at", "bool"),
        ("authorizer.group('').resource('pods').check('x').allowed()", "dyn"),
        ("format.dns1123Label().validate('x').hasValue()", "dyn"),
        (f"true ? {PATCH} : []", "dyn"),
        (PATCH, "list(JSONPatch)"),
        ("Object{spec: Object.spec{nodeSelector: {'a': 'b'}}}", "Object"),
        ("nonsense(", "dyn"),
    ],
)
def test_an_expression_that_compiles_has_no_problem(expression: str, kind: str) -> None:
    assert problem_of(expression, NAMES) == ("", kind)


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("true || foo == 2", "undeclared reference to 'foo'"),
        ("true || 'a'.nosuch()", "undeclared reference to 'nosuch'"),
        ("[1].all(x, x == 1) && x == 1", "undeclared reference to 'x'"),
        ("variables.m == 1", "undeclared reference to 'variables.m'"),
        ("Foo{} == object", "undeclared reference to 'Foo'"),
        ("true || 1 + 'a' == 2", "no overload of _+_ takes these types"),
        ("true || 1", "no overload of _||_ takes these types"),
        ("variables.n == 'a'", "no overload of _==_ takes these types"),
        ("[1, 'a'].size() == 2", "no overload of […] takes these types"),
        ("{'a': 1, 'b': 'x'} == object", "no overload of {…} takes these types"),
        ("[1].exists(x, x == 'a')", "no overload of _==_ takes these types"),
        ("1 in ['a']", "no overload of _in_ takes these types"),
        ("!'a'", "no overload of !_ takes these types"),
        ("1.startsWith('a')", "no overload of startsWith takes these types"),
        ("'a'.b == 1", "no field b can be selected"),
        (f"true ? {PATCH} : [1]", "no overload of _?_:_ takes these types"),
        ("[JSONPatch{op: 1}]", "no overload of JSONPatch.op takes these types"),
        ("[JSONPatch{oq: 'a'}]", "undefined field 'oq'"),
        ("has(object)", "invalid argument to has() macro"),
    ],
)
def test_an_expression_that_cannot_compile_has_a_problem(expression: str, problem: str) -> None:
    assert problem_of(expression, NAMES)[0] == problem


def test_the_type_of_the_value_is_checked() -> None:
    assert problem_of("'a'", NAMES, "bool")[0] == "it is of type string, not bool"
