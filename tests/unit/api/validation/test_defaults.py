"""Defaults that the API server adds before it validates a pod."""

from __future__ import annotations

import copy

from conformance.judging.objects import validate_pod
from tests.unit.api.validation.builders import CONTAINER, pod, pod_of, refusals
from topospread.api.validation import validate_pod_template


def test_requests_come_from_limits_before_they_are_checked():
    assert refusals(pod_of(resources={"limits": {"example.com/gpu": "1", "cpu": "1"}})) == []


def test_the_object_given_stays_as_it_is():
    spread = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {},
        "matchLabelKeys": ["app"],
    }
    made = pod(topologySpreadConstraints=[spread], resources={"limits": {"cpu": "1"}})
    before = copy.deepcopy(made)
    assert validate_pod(made) == []
    assert made == before


def test_label_keys_of_a_template_are_not_merged():
    spread = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "matchLabelKeys": ["app"],
    }
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [dict(CONTAINER)], "topologySpreadConstraints": [spread]},
    }
    assert validate_pod_template(template, "spec.template") == []
    assert len(refusals(pod(topologySpreadConstraints=[spread]))) == 1


def test_missing_amounts_at_pod_level_come_from_the_containers():
    """A limit of 1 at pod level is a request of 1 as well, unless the containers request something."""
    container = CONTAINER | {"resources": {"requests": {"cpu": "2"}}}
    assert refusals(pod(containers=[container], resources={"limits": {"cpu": "1"}})) == [
        'spec.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'
    ]
    assert refusals(pod(resources={"limits": {"cpu": "1"}})) == []
