"""matchLabelKeys and mismatchLabelKeys become requirements of selectors, once, where their gates are on."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from topospread.admission.label_keys import reads_own_labels, with_label_keys_merged
from topospread.api.pod import PodSpec
from topospread.config.gates import gates_for

Json = dict[str, Any]
LABELS = {"app": "web", "hash": "7"}
SELECTOR: Json = {"matchLabels": {"app": "web"}}
KEYED: Json = {"topologyKey": "zone", "labelSelector": SELECTOR, "matchLabelKeys": ["hash"]}
ADDED = [{"key": "hash", "operator": "In", "values": ["7"]}]


def spec(constraint: Json | None = None, **affinity: Json) -> PodSpec:
    given: Json = {"containers": [{"name": "c"}]}
    if constraint is not None:
        given["topologySpreadConstraints"] = [{"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"} | constraint]
    if affinity:
        given["affinity"] = affinity
    return msgspec.convert(given, PodSpec)


def required(term: Json) -> Json:
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def preferred(term: Json) -> Json:
    return {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 3, "podAffinityTerm": term}]}


def merged(given: PodSpec, version: str = "1.37", **gates: bool) -> PodSpec:
    return with_label_keys_merged(given, LABELS, gates_for(version, gates))


def expressions(selector: Any) -> list[Json]:
    return [
        {"key": each.key, "operator": each.operator, "values": each.values} for each in selector.match_expressions or ()
    ]


@pytest.mark.parametrize(("version", "found"), [("1.33", []), ("1.34", ADDED), ("1.37", ADDED)])
def test_of_a_constraint_since_1_34(version: str, found: list[Json]) -> None:
    given = spec(KEYED)
    made = merged(given, version)
    (constraint,) = made.topology_spread_constraints or ()
    assert expressions(constraint.label_selector) == found
    assert (made is given) == (not found)
    assert merged(made, version) is made, "twice is once"


def test_keys_that_the_pod_lacks_and_missing_selectors_are_left() -> None:
    for each in (KEYED | {"matchLabelKeys": ["none"]}, {"topologyKey": "zone", "matchLabelKeys": ["hash"]}):
        given = spec(each)
        assert merged(given) is given
    plain = spec({"topologyKey": "zone", "labelSelector": SELECTOR})
    assert merged(plain) is plain


@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
@pytest.mark.parametrize("form", [required, preferred])
def test_of_terms_since_1_31(kind: str, form: Any) -> None:
    given = spec(**{kind: form(KEYED | {"matchLabelKeys": None, "mismatchLabelKeys": ["hash"]})})
    made = merged(given)
    assert made.affinity is not None
    side = made.affinity.pod_affinity or made.affinity.pod_anti_affinity
    assert side is not None
    hard = side.required_during_scheduling_ignored_during_execution or []
    soft = side.preferred_during_scheduling_ignored_during_execution or []
    assert [each.weight for each in soft] == ([3] if form is preferred else [])
    (term,) = [*hard, *(each.pod_affinity_term for each in soft)]
    assert expressions(term.label_selector) == [{"key": "hash", "operator": "NotIn", "values": ["7"]}]
    assert merged(made) is made
    assert merged(given, "1.30") is given


def test_an_affinity_that_asks_for_nothing_stays_the_same_object() -> None:
    for term in ({"topologyKey": "zone", "labelSelector": SELECTOR}, KEYED | {"matchLabelKeys": ["none"]}):
        given = spec(podAffinity=required(term), nodeAffinity={})
        assert merged(given) is given


def test_the_keys_that_are_read() -> None:
    given = spec(
        KEYED,
        podAffinity=required(KEYED | {"matchLabelKeys": ["a"], "mismatchLabelKeys": ["b"]}),
        podAntiAffinity=preferred(KEYED | {"matchLabelKeys": ["c"]}),
    )
    assert list(reads_own_labels(given)) == ["hash", "a", "b", "c"]
    assert list(reads_own_labels(spec())) == []
