"""Objects that name no namespace, beside a snapshot that has their like in another."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from topospread.sources.load import load

Write = Callable[..., str]


def made(kind: str, name: str, **metadata: str) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    version = "v1"
    if kind == "Deployment":
        template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        spec, version = {"selector": {"matchLabels": {"a": "b"}}, "template": template}, "apps/v1"
    if kind == "Service":
        spec = {"selector": {"a": "b"}, "ports": [{"port": 80}]}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, *objects: dict[str, Any]) -> str:
        (tmp_path / name).write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
        return str(tmp_path / name)

    return write_file


def notes(
    write: Write, there: list[dict[str, Any]], given: list[dict[str, Any]], namespace: str = "default"
) -> list[str]:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "uid": "n"}}
    paths = [write("cluster.json", node, *there), write("app.json", *given)]
    return [each for each in load(paths, namespace=namespace).notes if "namespace" in each]


THERE = [made("Deployment", "web", namespace="demo", uid="1"), made("Service", "web", namespace="demo", uid="2")]


def test_their_like_elsewhere_gets_a_note(write: Write) -> None:
    given = [made("Deployment", "web"), made("Service", "web"), made("Service", "other")]
    assert notes(write, THERE, given) == [
        "Deployment web, Service web name no namespace, so they are put in default, but exist in demo: "
        "add -n demo to put them there"
    ]
    assert notes(write, THERE[:1], given) == [
        "Deployment web names no namespace, so it is put in default, but exists in demo: add -n demo to put it there"
    ]


def test_none_where_they_replace_what_is_there(write: Write) -> None:
    both = [*THERE, made("Deployment", "web", namespace="default", uid="3")]
    assert notes(write, both, [made("Deployment", "web")]) == []
    assert notes(write, THERE, [made("Deployment", "web")], namespace="demo") == []


def test_none_where_the_namespace_is_meant_or_nothing_was_stored(write: Write) -> None:
    assert notes(write, THERE, [made("Deployment", "web", namespace="default")]) == []
    assert notes(write, [made("Deployment", "web", namespace="demo")], [made("Deployment", "web")]) == []


def test_a_pod_of_a_controller_is_nobodys_namesake(write: Write) -> None:
    pod = made("Pod", "web-1", namespace="demo", uid="4")
    pod["spec"] = {"containers": [{"name": "c", "image": "i"}], "nodeName": "n"}
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "5", "controller": True}
    pod["metadata"]["ownerReferences"] = [owner]
    alone = made("Pod", "web-1") | {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    assert notes(write, [pod], [alone]) == []
