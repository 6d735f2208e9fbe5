"""Heartbeats of nodes are told from what changes something, as the bytes of the API server have it."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import msgspec
import pytest

from topospread.api.node import Node
from topospread.cluster.scheduling_fields import same_to_scheduling
from topospread.live.heartbeats import Heartbeats

Json = dict[str, Any]


def node(version: int = 1, name: str = "a") -> Json:
    return {
        "metadata": {"name": name, "resourceVersion": str(version), "labels": {"zone": "x"}, "uid": "u"},
        "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]},
        "status": {
            "allocatable": {"cpu": "4"},
            "capacity": {"cpu": "4"},
            "images": [{"names": ["i"], "sizeBytes": 5}],
            "declaredFeatures": ["f"],
            "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": str(version)}],
        },
    }


def written(item: Json) -> memoryview:
    return memoryview(json.dumps(item, separators=(",", ":")).encode())


def test_the_first_state_is_handed_on_and_what_repeats_it_is_not() -> None:
    heard = Heartbeats()
    assert heard.version("MODIFIED", written(node(1))) == ""
    assert heard.version("MODIFIED", written(node(2))) == "2"
    assert heard.version("MODIFIED", written(node(3, "b"))) == ""


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("metadata", "labels"), {"zone": "y"}),
        (("metadata", "labels"), None),
        (("spec",), {"unschedulable": True}),
        (("spec",), {}),
        (("status", "allocatable"), {"cpu": "5"}),
        (("status", "images"), []),
        (("status", "declaredFeatures"), None),
    ],
)
def test_whatever_scheduling_reads_is_handed_on(place: tuple[str, ...], value: object) -> None:
    heard = Heartbeats()
    heard.version("MODIFIED", written(node(1)))
    changed: Any = deepcopy(node(2))
    *path, last = place
    inner = changed
    for each in path:
        inner = inner[each]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    before, after = (msgspec.json.decode(written(each), type=Node) for each in (node(1), changed))
    assert not same_to_scheduling(before, after)
    assert heard.version("MODIFIED", written(changed)) == ""
    assert heard.version("MODIFIED", written(node(3))) == ""


def test_a_node_that_goes_or_is_listed_again_comes_anew() -> None:
    heard = Heartbeats()
    heard.version("MODIFIED", written(node(1)))
    assert heard.version("DELETED", written(node(2))) == ""
    assert heard.version("MODIFIED", written(node(3))) == ""
    assert heard.version("ADDED", written(node(4))) == ""
    assert heard.version("MODIFIED", written(node(5))) == ""
    heard.forget()
    assert heard.version("MODIFIED", written(node(6))) == ""


def test_what_cannot_be_read_is_no_heartbeat() -> None:
    heard = Heartbeats()
    assert heard.version("MODIFIED", memoryview(b'{"metadata":{"name":"a"')) == ""
    assert heard.version("MODIFIED", memoryview(b'{"metadata":{"name":"a"},"status":null}')) == ""
