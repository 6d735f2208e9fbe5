"""A session holds the cluster and the options once; client objects are recognised by their shape."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest

import topospread
from topospread.drills.steps import Fail
from topospread.errors import UsageError
from topospread.session import plain_object

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "docs/how-to/shop.json"
ONCALL = ROOT / "docs/how-to/on-call/cluster.yaml"


def test_questions_give_the_answers_of_the_functions() -> None:
    session = topospread.Session(str(SHOP))
    assert session.status().verdict == "no"
    assert session.rebalance().verdict == "yes"
    assert session.simulate().verdict == "yes"
    oncall = topospread.Session(ONCALL)
    assert oncall.why("deploy/checkout", namespace="shop").verdict == "no"
    assert repr(oncall) == "<Session 6 nodes, 14 pods, v1.37>"


def test_other_options_on_the_same_cluster() -> None:
    session = topospread.Session("zones=3,nodes=6")
    older = session.but(kube_version="1.33")
    assert older.inventory is session.inventory
    assert (session.kube_version, older.kube_version) == ("1.37", "1.33")
    assert older.but().kube_version == "1.33"


def node(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "9"}},
    }


def test_objects_are_read_as_dictionaries() -> None:
    session = topospread.Session([node("a"), node("b")])
    assert [each.name for each in session.inventory.nodes] == ["a", "b"]
    with topospread.Session(node("c")) as single:
        assert len(single.inventory.nodes) == 1


class V1ObjectMeta:
    """As the client kubernetes has its models: snake_case attributes and a map of them."""

    attribute_map: ClassVar = {"name": "name", "creation_timestamp": "creationTimestamp", "labels": "labels"}

    def __init__(self) -> None:
        self.name, self.labels = "web", None
        self.creation_timestamp = datetime(2026, 1, 1, tzinfo=UTC)


class V1Deployment:
    """A list's item, whose kind and API version are not set."""

    attribute_map: ClassVar = {"api_version": "apiVersion", "kind": "kind", "metadata": "metadata"}

    def __init__(self) -> None:
        self.api_version = self.kind = None
        self.metadata = V1ObjectMeta()


class Pod:
    """As kr8s and lightkube have theirs."""

    def __init__(self, **kept: Any) -> None:
        self.__dict__.update(kept)


def test_models_of_clients_are_recognised_by_their_shape() -> None:
    found = plain_object(V1Deployment())
    assert (found["apiVersion"], found["kind"]) == ("apps/v1", "Deployment")
    assert found["metadata"] == {"name": "web", "creationTimestamp": datetime(2026, 1, 1, tzinfo=UTC)}
    named = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}}
    assert plain_object(Pod(raw=named)) == named
    assert plain_object(Pod(to_dict=lambda: {"metadata": {"name": "p"}})) == named


def test_wrong_values_are_named() -> None:
    with pytest.raises(UsageError, match=r'kube_version: 1.3 is not text: write "1.30"'):
        topospread.Session("zones=3,nodes=6", kube_version=1.30)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r'Fail\(\'zone=zone-a\'\): write Fail\(NodeChoice\("zone", "zone-a"\)\)'):
        Fail("zone=zone-a")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="int: expected a Kubernetes object"):
        topospread.Session([1])
