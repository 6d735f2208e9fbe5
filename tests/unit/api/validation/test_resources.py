"""Requests and limits: names, amounts, their relation, huge pages, the pod's own, claims."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.api.validation.builders import CONTAINER, pod, pod_of, refusals

PATH = "spec.containers[0].resources"


def refused(requests: Any = None, limits: Any = None, **more: Any) -> list[str]:
    given = {"requests": requests, "limits": limits, **more}
    return refusals(pod_of(resources={name: value for name, value in given.items() if value is not None}))


@pytest.mark.parametrize(
    ("requests", "limits"),
    [
        ({"cpu": "100m", "memory": 1000}, {"cpu": 1, "memory": "1Gi"}),
        ({"cpu": 0.5}, None),
        (None, {"example.com/gpu": 2}),
        (None, {"hugepages-2Mi": "4Mi", "cpu": "1"}),
        ({"kubernetes.io/batch": "1"}, None),
        ({"cpu": None}, None),
    ],
)
def test_good_resources(requests, limits):
    assert refused(requests, limits) == []


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("gpu", "must be a standard resource for containers"),
        ("gpu", "must be a standard resource type or fully qualified"),
        ("pods", "must be a standard resource for containers"),
        ("requests.example.com/x", "doesn't follow extended resource name standard"),
    ],
)
def test_containers_have_standard_and_extended_resources(name, detail):
    assert f'{PATH}.requests[{name}]: Invalid value: "{name}": {detail}' in refused({name: "1"}, {name: "1"})


@pytest.mark.parametrize(
    ("requests", "limits", "messages"),
    [
        ({"cpu": "-1"}, None, [f'{PATH}.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0']),
        (
            {"memory": "2Gi"},
            {"memory": "1500Mi"},
            [f'{PATH}.requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1500Mi'],
        ),
        ({"a.b/c": "1"}, {"a.b/c": "2"}, [f'{PATH}.requests: Invalid value: "1": must be equal to a.b/c limit of 2']),
        ({"a.b/c": "1"}, None, [f"{PATH}.limits: Required value: Limit must be set for non overcommitable resources"]),
        (
            {"a.b/c": "1500m"},
            {"a.b/c": "1.5"},
            [
                f'{PATH}.limits[a.b/c]: Invalid value: "1500m": must be an integer',
                f'{PATH}.requests[a.b/c]: Invalid value: "1500m": must be an integer',
            ],
        ),
        ({"hugepages-2Mi": "4Mi"}, {"hugepages-2Mi": "4Mi"}, [f"{PATH}: Forbidden: HugePages require cpu or memory"]),
        (
            {"hugepages-2Mi": "3Mi", "cpu": "1"},
            {"hugepages-2Mi": "3Mi"},
            [
                f'{PATH}.{side}[hugepages-2Mi]: Invalid value: "3Mi": '
                "3Mi is not positive integer multiple of hugepages-2Mi"
                for side in ("limits", "requests")
            ],
        ),
    ],
)
def test_amounts_and_how_they_relate(requests, limits, messages):
    assert refused(requests, limits) == messages


def test_amounts_are_compared_after_rounding_to_thousandths():
    assert refused({"cpu": "1.0001"}, {"cpu": "1.0009"}) == []


def test_a_size_of_page_that_is_none_refuses_every_amount():
    messages = refused(None, {"hugepages-x": "1", "cpu": "1"})
    assert len(messages) == 2
    assert all("1 is not positive integer multiple of hugepages-x" in message for message in messages)


def test_overhead_is_checked_as_the_limits_of_a_container():
    assert refusals(pod(overhead={"cpu": "-1", "gpu": "1"})) == [
        'spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
        'spec.overhead.limits[gpu]: Invalid value: "gpu": must be a standard resource for containers',
        'spec.overhead.limits[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified',
    ]


def test_the_pods_own_resources_cover_its_containers():
    container = CONTAINER | {"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}}
    own = {"requests": {"cpu": "1500m", "memory": "1Gi"}, "limits": {"cpu": "1500m"}}
    assert refusals(pod(containers=[container, container | {"name": "d"}], resources=own)) == [
        f'spec.resources.containers[{index}][cpu].limits: Invalid value: "2": '
        "must be less than or equal to pod limits of 1500m"
        for index in (0, 1)
    ] + [
        'spec.resources.requests[cpu]: Invalid value: "1500m": '
        "must be greater than or equal to aggregate container requests of 2"
    ]


def test_sidecars_count_beside_the_containers_and_init_containers_only_if_they_need_more():
    init = [
        CONTAINER | {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}},
        CONTAINER | {"name": "i", "resources": {"requests": {"cpu": "3"}}},
    ]
    container = CONTAINER | {"resources": {"requests": {"cpu": "2"}}}
    made = pod(containers=[container], initContainers=init, resources={"requests": {"cpu": "3500m"}})
    assert refusals(made) == [
        'spec.resources.requests[cpu]: Invalid value: "3500m": '
        "must be greater than or equal to aggregate container requests of 4"
    ]
    made["spec"]["resources"]["requests"]["cpu"] = "4"
    assert refusals(made) == []


def test_the_pods_own_resources_are_cpu_memory_and_huge_pages():
    assert refusals(pod(resources={"requests": {"a.b/c": "1"}, "limits": {"a.b/c": "1"}, "claims": []})) == [
        "spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level",
        'spec.resources.limits[a.b/c]: Unsupported value: "a.b/c": supported values: "cpu", "hugepages-", "memory"',
        'spec.resources.requests[a.b/c]: Unsupported value: "a.b/c": supported values: "cpu", "hugepages-", "memory"',
    ]
    assert refusals(pod(resources={"requests": {"x": "1"}}, os={"name": "windows"})) == [
        "spec.resources: Forbidden: may not be set for a windows pod"
    ]


def test_claims_of_containers_are_those_of_the_pod():
    claims = [{"name": "gpu", "request": "a"}, {"name": "gpu"}, {"name": "gone"}, {}, {"name": "gpu", "request": "A"}]
    container = CONTAINER | {"resources": {"claims": claims}}
    made = pod(containers=[container], resourceClaims=[{"name": "gpu", "resourceClaimName": "g"}])
    fields = [message.split(": ")[:2] for message in refusals(made)]
    assert fields == [
        [f"{PATH}.claims[1]", "Duplicate value"],
        [f"{PATH}.claims[2]", "Not found"],
        [f"{PATH}.claims[3]", "Required value"],
        [f"{PATH}.claims[4]", "Duplicate value"],
    ]
