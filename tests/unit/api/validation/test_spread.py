"""Spread constraints: what each field must be, what may not stand beside what."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.api.validation.builders import pod, refusals

PATH = "spec.topologySpreadConstraints"
GOOD = {
    "maxSkew": 1,
    "topologyKey": "topology.kubernetes.io/zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}


def refused(*constraints: dict[str, Any], labels: dict[str, str] | None = None) -> list[str]:
    return refusals(pod({"labels": labels or {"app": "web"}}, topologySpreadConstraints=list(constraints)))


def test_a_good_constraint_has_all_eight_fields():
    full = GOOD | {
        "minDomains": 2,
        "nodeAffinityPolicy": "Ignore",
        "nodeTaintsPolicy": "Honor",
        "matchLabelKeys": ["pod-template-hash"],
    }
    assert refused(full, GOOD | {"whenUnsatisfiable": "ScheduleAnyway"}) == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"maxSkew": 0}, "maxSkew: Invalid value: 0: must be greater than zero"),
        ({"maxSkew": None}, "maxSkew: Invalid value: 0: must be greater than zero"),
        ({"topologyKey": ""}, "topologyKey: Required value: can not be empty"),
        (
            {"whenUnsatisfiable": None},
            'whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"',
        ),
        ({"minDomains": 0}, "minDomains: Invalid value: 0: must be greater than zero"),
        (
            {"minDomains": 2, "whenUnsatisfiable": "ScheduleAnyway"},
            "minDomains: Invalid value: 2: "
            "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
        ),
        (
            {"nodeAffinityPolicy": "Honour"},
            'nodeAffinityPolicy: Unsupported value: "Honour": supported values: "Honor", "Ignore"',
        ),
        ({"nodeTaintsPolicy": ""}, 'nodeTaintsPolicy: Unsupported value: "": supported values: "Honor", "Ignore"'),
        (
            {"labelSelector": None, "matchLabelKeys": ["app"]},
            "matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
        ),
    ],
)
def test_a_wrong_field_is_refused_at_its_place(fields, message):
    assert refused(GOOD | fields) == [f"{PATH}[0].{message}"]


def test_a_topology_key_need_not_be_a_label_key():
    assert refused(GOOD | {"topologyKey": "a b"}) == []


def test_two_constraints_of_one_kind_are_one_too_many_and_the_earlier_is_named():
    assert refused(GOOD, GOOD | {"maxSkew": 2}) == [
        f"{PATH}[0].{{topologyKey, whenUnsatisfiable}}: Duplicate value: "
        '"{topology.kubernetes.io/zone, DoNotSchedule}"'
    ]


def test_a_key_is_either_matched_or_selected():
    """matchLabelKeys becomes a requirement of the selector first, so that it meets what is there."""
    both = GOOD | {"matchLabelKeys": ["tier", "app"]}
    assert refused(both) == [f'{PATH}[0][1]: Invalid value: "app": exists in both matchLabelKeys and labelSelector']
    assert refused(both, labels={"tier": "front"}) == []


def test_a_value_taken_from_the_pods_labels_is_checked_as_a_value_of_the_selector():
    messages = refused(GOOD | {"matchLabelKeys": ["bad"]}, labels={"app": "web", "bad": "a b"})
    assert [message.partition(": ")[0] for message in messages] == [
        "metadata.labels",
        f"{PATH}[0].labelSelector.matchExpressions[0].values[0]",
    ]
