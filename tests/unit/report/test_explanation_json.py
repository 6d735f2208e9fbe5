"""An explanation as plain data."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.unit.explanation.builders import HOST, constraint, explained, node, pod, spec, workload, zones
from topospread.report.explanation_json import explanation_json

OF = spec(constraint())


def pending() -> dict[str, Any]:
    nodes = [*zones("a"), node("c1", "zone-c", cordoned=True)]
    return explanation_json(explained("web", *nodes, pod("there", "a", OF), pod("web", of=OF)))


def test_the_keys_come_in_one_order_whatever_the_state() -> None:
    of = OF | {"schedulingGates": [{"name": "example.com/quota"}]}
    waiting = explanation_json(explained("web", *zones(), pod("web", of=of)))
    placed = explanation_json(explained("deploy/web", *zones(), workload("Deployment", 1, OF)))
    assert list(waiting) == list(placed) == list(pending())
    assert (waiting["state"], waiting["scores"], waiting["constraints"]) == ("waiting", None, [])


def test_a_domain_says_its_sum() -> None:
    (found,) = pending()["constraints"]
    assert found["domains"][0] == {
        "name": "zone-a",
        "nodes": 1,
        "matching": 1,
        "after": 2,
        "skew": 2,
        "allowed": False,
        "holdsMinimum": False,
        "open": 1,
        "arithmetic": "1 + 1 (self) − 0 (minimum: zone-c) = 2 > maxSkew 1",
        "rejected": {},
    }
    assert found["domains"][1]["rejected"] == {"node(s) were unschedulable": 1}


def test_what_the_message_counts_is_told_apart_from_what_each_plugin_rejects() -> None:
    found = pending()
    assert [(each["plugin"], each["nodes"]) for each in found["rejections"]] == [
        ("PodTopologySpread", 1),
        ("NodeUnschedulable", 1),
    ]
    assert [(each["plugin"], each["alone"]) for each in found["plugins"]] == [
        ("NodeUnschedulable", 0),
        ("TaintToleration", 0),
        ("PodTopologySpread", 1),
    ]


def test_a_suggestion_has_its_object_and_its_patch() -> None:
    found = {each["kind"]: each for each in pending()["suggestions"]}
    assert found["maxSkew"] == {
        "kind": "maxSkew",
        "title": "maxSkew 2 instead of 1 on topology.kubernetes.io/zone",
        "means": "recreate",
        "object": {"apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": "web"},
        "file": None,
        "patch": [{"op": "replace", "path": "/spec/topologySpreadConstraints/0/maxSkew", "value": 2}],
        "placed": 1,
        "wanted": 1,
        "letsIn": 1,
        "newlyPending": [],
        "evicted": 0,
        "stuckAt": None,
    }


def test_what_is_not_there_is_null() -> None:
    of = spec(constraint(when="ScheduleAnyway"), constraint(HOST, "ScheduleAnyway"))
    found = explanation_json(explained("web", *zones("a"), node("bare"), pod("web", of=of)))
    bare = next(each for each in found["scores"]["spread"] if each["node"] == "bare")
    assert bare["raw"] is None
    assert found["without"][0]["instead"] is None


def test_it_is_plain_data() -> None:
    found = pending()
    assert msgspec.json.decode(msgspec.json.encode(found)) == found
