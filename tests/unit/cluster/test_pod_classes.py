"""Pod classes: pods that are alike have one, pinned pods of a DaemonSet too, and idle classes go after a while."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from topospread.api.pod import Pod
from topospread.api.requests import RequestRules
from topospread.cluster import pod_classes as module
from topospread.cluster.pod_classes import PodClasses, own_node, without_pin

Json = dict[str, Any]
OWNER = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "1", "controller": True}
FIELD = {"key": "metadata.name", "operator": "In", "values": ["n1"]}


def pod(name: str = "p", labels: Json | None = None, priority: int = 0, **spec: Any) -> Pod:
    metadata = {"name": name, "namespace": spec.pop("namespace", "ns"), "labels": labels or {"app": "web"}}
    metadata |= {"ownerReferences": [spec.pop("owner")]} if "owner" in spec else {}
    given = {"containers": [{"name": "c"}], "priority": priority} | spec
    return msgspec.convert({"metadata": metadata, "spec": given}, Pod)


def pinned(*terms: Json, owner: Json = OWNER, **spec: Any) -> Pod:
    required = {"nodeSelectorTerms": list(terms or [{"matchFields": [FIELD]}])}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return pod(affinity=affinity, owner=owner, **spec)


def asking(term: Json, **more: Any) -> Pod:
    given = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "db"}}} | term
    return pod(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [given]}}, **more)


def classes() -> PodClasses:
    return PodClasses(RequestRules())


@pytest.mark.parametrize(
    ("given", "node"),
    [
        (pinned(), "n1"),
        (pinned(nodeName="n1"), "n1"),
        (pinned(nodeName="n2"), ""),
        (pinned(owner=OWNER | {"kind": "ReplicaSet"}), ""),
        (pinned({"matchFields": [FIELD]}, {"matchFields": [FIELD]}), ""),
        (pinned({"matchFields": [FIELD], "matchExpressions": [{"key": "a", "operator": "Exists"}]}), ""),
        (pinned({"matchFields": [FIELD, FIELD]}), ""),
        (pinned({"matchFields": [FIELD | {"operator": "NotIn"}]}), ""),
        (pinned({"matchFields": [FIELD | {"key": "metadata.uid"}]}), ""),
        (pinned({"matchFields": [FIELD | {"values": ["n1", "n2"]}]}), ""),
        (pinned({}), ""),
        (pod(), ""),
        (pod(affinity={}), ""),
        (pod(affinity={"nodeAffinity": {}}, owner=OWNER), ""),
    ],
)
def test_the_own_node_of_a_daemon_pod(given: Pod, node: str) -> None:
    assert own_node(given) == node


def test_pods_that_are_alike_have_one_class() -> None:
    made = classes()
    web = made.of(pod("a"))
    assert made.of(pod("b")) is web
    others = [pod("a", {"app": "api"}), pod("a", namespace="other"), pod("a", priority=1), pod("a", nodeName="n1")]
    found = [made.of(each) for each in others]
    assert len({each.index for each in (web, *found)}) == 5
    assert made.of(others[-1], is_placed=True) is web
    assert (made.made, set(made.every)) == (5, {0, 1, 2, 3, 4})


def test_daemon_pods_share_a_general_class_that_is_pinned() -> None:
    made = classes()
    first = made.of(pinned())
    second = made.of(pinned({"matchFields": [FIELD | {"values": ["n2"]}]}))
    assert (first.pinned_node, second.pinned_node) == ("n1", "n2")
    assert (first.index, first.priority, first.namespace, first.labels) == (0, 0, "ns", {"app": "web"})
    general = made.of(pinned(nodeName="n1"), is_placed=True)
    assert (general.pinned_node, general.is_node_pinned, made.made) == ("", True, 1)
    assert made.of(without_pin(pinned())) is not general


def test_an_object_is_asked_once_until_its_class_goes() -> None:
    made, shared = classes(), pod()
    web = made.of_object(shared)
    assert made.of_object(shared) is web
    made._let_go(made._idle.pop(web.index))
    assert (made.every, made._by_identity) == ({}, {})
    again = made.of_object(shared)
    assert (again.index, made.made, set(made._idle)) == (1, 2, {1})
    assert made.of_object(shared) is made.of(pod("other")) is again
    once = pinned()
    assert made.of_object(once).pinned_node == "n1"
    assert id(once) not in made._of_object


def test_no_more_is_remembered_than_so_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_REMEMBERED", 3)
    made = classes()
    pods = [pod(containers=[{"name": "c", "resources": {"requests": {"cpu": f"{n}m"}}}]) for n in range(8)]
    found = [made.of_object(each) for each in pods]
    assert (len(made._of_object), len(made._costs)) == (2, 2)
    assert [made.of_object(each) for each in pods] == found


def test_a_class_with_pods_stays_and_idle_ones_go_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_IDLE_KEPT", 4)
    made = classes()
    busy = made.of(pod(priority=7))
    made.first_pod_came(busy)
    found = [made.of(pod(labels={"n": str(number)})) for number in range(30)]
    assert made.every[busy.index] is busy
    assert len(made.every) < 20
    assert [each.index in made.every for each in found] == sorted(each.index in made.every for each in found)
    made.last_pod_went(busy)
    assert (busy.index in made._idle, made._there) == (True, {})


def test_a_dropped_class_whose_pod_comes_is_entered_anew() -> None:
    made = classes()
    web = made.of(pod(priority=3))
    made.keep(web)
    assert web.index == 0
    made._let_go(made._idle.pop(0))
    web.occupancy[4] = 1
    made.first_pod_came(web)
    assert (web.index, made.every, made._idle) == (1, {1: web}, {})
    assert (made.rows_below(3), made.rows_below(4)) == (set(), {4})
    made.first_pod_came(web)
    assert web.index == 1


def test_classes_with_terms_are_found_by_namespace_by_labels_and_by_age() -> None:
    made = classes()
    own = made.of(asking({}))
    named = made.of(asking({"namespaces": ["db"]}))
    every = made.of(asking({"namespaceSelector": {}}))
    plain = made.of(pod())
    bad = made.of(asking({"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Odd"}]}}))
    assert set(made.asking("ns")) == {own, every, bad}
    assert set(made.asking("db")) == {named, every}
    assert set(made.meaning(made.of(pod(labels={"app": "db"})))) == {own, every}
    assert set(made.meaning(made.of(pod(labels={"app": "db"}, namespace="db")))) == {named, every}
    assert set(made.meaning(plain)) == {every}
    assert made.asking_since(own.index) == [bad, every, named, own]
    assert made.asking_since(every.index) == [bad, every]
    for each in (own, named, every, bad):
        made._let_go(made._idle.pop(each.index))
    assert (made._asking, made._numbers, made._with_affinity) == ({}, {}, {})
    assert list(made.meaning(made.of(pod(labels={"app": "db"})))) == []
