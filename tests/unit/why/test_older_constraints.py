"""A pending pod of an older revision may have more constraints than its template; changes are tried for the others."""

from __future__ import annotations

from typing import Any

from tests.plain_inventory import inventory
from topospread.answers.why import why_answer
from topospread.why.explain import explain

Json = dict[str, Any]


def spread(key: str) -> Json:
    selector = {"matchLabels": {"app": "web"}}
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}


def spec(*keys: str) -> Json:
    return {"containers": [{"name": "c", "image": "i"}], "topologySpreadConstraints": [spread(each) for each in keys]}


def test_a_constraint_that_only_the_pod_has_is_not_changed() -> None:
    labels = {"app": "web"}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}
    meta = {"name": "web-old", "namespace": "shop", "labels": labels, "ownerReferences": [owner], "uid": "p"}
    node = {"metadata": {"name": "a", "labels": {"x": "1"}}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}}
    objects: list[Json] = [
        {"apiVersion": "v1", "kind": "Node", **node},
        {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec("x", "y"), "status": {"phase": "Pending"}},
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": "web", "namespace": "shop", "uid": "u"},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec("x")},
            },
        },
    ]
    answer = why_answer(explain(inventory(*objects), "web-old", namespace="shop"))
    assert answer.verdict == "no"
