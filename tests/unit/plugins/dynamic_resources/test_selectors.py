"""CEL expressions on devices: what they come to, what fails as it does in kube-scheduler, and what is not judged."""

from __future__ import annotations

import msgspec
import pytest

from topospread.api.devices import Device
from topospread.cel.evaluation import Budget, Value
from topospread.cel.values import CannotEvaluateError, CelError
from topospread.plugins.dynamic_resources import selectors

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


def evaluated(expression: str) -> Value:
    return selectors.evaluated(expression, DRIVER, DEVICE, Budget())


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
        ("device.attributes['nobody.example.com'] == {} && !('nobody.example.com' in device.attributes)", True),
        ("device.attributes.exists(domain, domain == 'other.example.com')", True),
        (f"{OWN}.links.exists(each, each == 'b')", True),
        ("device.capacity['gpu.example.com'].memory.compareTo(quantity('40960Mi')) == 0", True),
        ("device.capacity['gpu.example.com'].memory == quantity('40960Mi')", True),
        ("device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('40G'))", True),
        ("device.capacity['other.example.com'].lanes.asInteger() == 8", True),
        ("device.capacity['gpu.example.com'].memory.sub(quantity('39Gi')).isLessThan(quantity('2Gi'))", True),
        (f"{OWN}.version.isGreaterThan(semver('1.1.9'))", True),
        (f"{OWN}.version.isLessThan(semver('1.2.0-rc.1'))", False),
        (f"{OWN}.version.major() == 1 && {OWN}.version.minor() == 2", True),
        (f"{OWN}.?none.orValue(1) == 1", True),
        (f"{OWN}.model.find('[a-h]*i') == 'bi' && '1-22'.findAll('[0-9]+') == ['1', '22']", True),
        (" || ".join(["device.driver == 'x'"] * 400 + ["true"]), True),
        (f"cel.bind(own, {OWN}, own.ready && own.index == 3)", True),
        (f"{OWN}.model.lowerAscii() == 'big' && {OWN}.model.matches('^b.g$')", True),
        (f"{OWN}.none == 1 || true", True),
        (f"false && {OWN}.none == 1", False),
    ],
)
def test_an_expression_comes_to_what_it_does_in_kubernetes(expression: str, value: object) -> None:
    assert evaluated(expression) is value


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
    with pytest.raises(CelError) as raised:
        evaluated(expression)
    assert words in str(raised.value)


@pytest.mark.parametrize("expression", ["device.", "unheard(device.driver)", "ip('1.2.3.4').family() == 4"])
def test_what_is_not_covered_is_not_judged(expression: str) -> None:
    with pytest.raises(CannotEvaluateError):
        evaluated(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'.find('(a|a)*b$') == ''",
        f"'{'a' * 60}'.find('{'(a|a)' * 40}b') == ''",
    ],
)
def test_an_expression_of_many_ways_takes_few_steps(expression: str) -> None:
    assert evaluated(expression) is True


@pytest.mark.parametrize(
    "expression",
    [
        f"[1, 2, 3, 4, 5, 6, 7, 8].{'map(x, [1, 2, 3, 4, 5, 6, 7, 8].' * 7}map(x, true){')' * 7} == []",
        "[1, 2, 3, 4, 5, 6, 7, 8]." + "//\nmap(x, [1, 2, 3, 4, 5, 6, 7, 8]." * 7 + "map(x, true)" + ")" * 7 + " == []",
        f"{'cel.bind(a, b + b + b + b, ' * 15}true{')' * 15}".replace("b + b", "[1]", 1),
        f"'{'a' * 1000}'.replace('a', 'aaaa').replace('a', 'aaaa').replace('a', '{'a' * 900}') == ''",
        f"'{'a' * 2000}'.findAll('a.*b|a') == []",
        "+".join(["1"] * 5000) + " > 1",
        "device" + ".a" * 5000,
        "device" + "[0]" * 3000,
        "1+" * 5200 + "1 > 1",
        "'\\U00110000' == 'a'",
    ],
)
def test_work_beyond_a_bound_is_not_judged(expression: str) -> None:
    with pytest.raises(CannotEvaluateError):
        evaluated(expression)
