"""CEL expressions on devices: what they come to, what fails as it does in kube-scheduler, and what is not judged."""

from __future__ import annotations

import msgspec
import pytest

from topospread.api.devices import Device
from topospread.plugins.dynamic_resources.selectors import (
    CannotEvaluateError,
    SelectorError,
    evaluated,
    without_bindings,
)

DRIVER = "gpu.example.com"
DEVICE = msgspec.convert(
    {
        "name": "d",
        "attributes": {
            "model": {"string": "big"},
            "index": {"int": 3},
            "ready": {"bool": True},
            "version": {"version": "1.2.0"},
            "other.example.com/rack": {"string": "r1"},
            "links": {"strings": ["a", "b"]},
        },
        "capacity": {"memory": {"value": "40Gi"}, "other.example.com/lanes": {"value": "8"}},
    },
    Device,
)
OWN = "device.attributes['gpu.example.com']"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("device.driver == 'gpu.example.com'", True),
        ("device.allowMultipleAllocations", False),
        (f"{OWN}.model in ['big', 'mid'] && {OWN}.index < 4", True),
        (f"{OWN}.model.startsWith('s') || {OWN}.ready", True),
        ("device.attributes['other.example.com'].rack == 'r1'", True),
        (f"'none' in {OWN}", False),
        (f"has({OWN}.none)", False),
        ("has(device.attributes['nobody.example.com'].x)", False),
        ("'nobody.example.com' in device.attributes", False),
        (f"{OWN}.links.exists(each, each == 'b')", True),
        ("device.capacity['gpu.example.com'].memory.compareTo(quantity('40960Mi')) == 0", True),
        ("device.capacity['gpu.example.com'].memory == quantity('40960Mi')", True),
        ("device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('40G'))", True),
        ("device.capacity['other.example.com'].lanes.asInteger() == 8", True),
        ("device.capacity['gpu.example.com'].memory.sub(quantity('39Gi')).isLessThan(quantity('2Gi'))", True),
        (f"{OWN}.version.isGreaterThan(semver('1.1.9'))", True),
        (f"{OWN}.version.isLessThan(semver('1.2.0-rc.1'))", False),
        (f"{OWN}.version.major() == 1 && {OWN}.version.minor() == 2", True),
        (f"cel.bind(own, {OWN}, own.ready && own.index == 3)", True),
        (f"{OWN}.model.lowerAscii() == 'big' && {OWN}.model.matches('^b.g$')", True),
        (f"{OWN}.none == 1 || true", True),
        (f"false && {OWN}.none == 1", False),
    ],
)
def test_an_expression_comes_to_what_it_does_in_kubernetes(expression: str, value: object) -> None:
    assert evaluated(expression, DRIVER, DEVICE) is value


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (f"{OWN}.none == 1", "no such key: none"),
        ("device.attributes['nobody.example.com'].x == 1", "no such key: x"),
        (f"{OWN}.model < 1", "no such overload"),
        (f"{OWN}.index / 0 == 1", "division by zero"),
        (f"{OWN}.model.isGreaterThan(semver('1.0.0'))", "no such overload"),
        ("quantity('much').isInteger()", "quantities must match the regular expression"),
    ],
)
def test_what_kube_scheduler_cannot_evaluate_is_an_error(expression: str, words: str) -> None:
    with pytest.raises(SelectorError) as raised:
        evaluated(expression, DRIVER, DEVICE)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    "expression", ["device.", "unheard(device.driver)", f"{OWN}.?none.orValue(1) == 1", "ip('1.2.3.4').family() == 4"]
)
def test_what_is_not_covered_is_not_judged(expression: str) -> None:
    with pytest.raises(CannotEvaluateError):
        evaluated(expression, DRIVER, DEVICE)


@pytest.mark.parametrize(
    "expression",
    [
        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'.find('(a|a)*b$') != 'q'",
        f"[1, 2].{'all(x, [1, 2].' * 4}all(x, true){')' * 4}",
        f"{'cel.bind(a, b + b + b + b, ' * 15}true{')' * 15}",
        f"'{'a' * 1000}'.replace('a', 'aaaa').replace('a', 'aaaa') == ''",
    ],
)
def test_work_that_may_multiply_is_not_begun(expression: str) -> None:
    with pytest.raises(CannotEvaluateError, match="too long"):
        evaluated(expression, DRIVER, DEVICE)


def test_bindings_nest_and_commas_in_texts_do_not_end_them() -> None:
    assert without_bindings("cel.bind(a, 'x,)', a == b)") == "['x,)'].map(a, a == b)[0]"
    assert without_bindings("cel.bind(a, f(1, 2), cel.bind(b, a, b))") == "[f(1, 2)].map(a, [a].map(b, b)[0])[0]"
    assert without_bindings("cel.bind(a, b)") == "cel.bind(a, b)"
