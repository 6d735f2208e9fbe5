"""Selections: which classes a selector matches, found once a selector and kept up."""

from __future__ import annotations

import gc

import msgspec

from topospread.api.labels import Selector
from topospread.api.pod import Pod
from topospread.cluster import Cluster, PodClass


def class_of(cluster: Cluster, **labels: str) -> PodClass:
    return cluster.pod_class(msgspec.convert({"metadata": {"namespace": "default", "labels": labels}}, Pod))


def test_a_selection_has_the_classes_there_and_those_to_come() -> None:
    cluster = Cluster()
    before = class_of(cluster, app="web")
    web = cluster.selections.of("default", Selector.from_set({"app": "web"}))
    after = class_of(cluster, app="web", hash="1")
    class_of(cluster, app="db")

    assert set(web.classes) == {before, after}


def test_a_class_that_is_forgotten_leaves_its_selections() -> None:
    cluster = Cluster()
    first, second = class_of(cluster, app="web"), class_of(cluster, app="web", hash="1")
    web = cluster.selections.of("default", Selector.from_set({"app": "web"}))

    cluster.selections.remove(first)

    assert set(web.classes) == {second}


def test_who_asks_for_the_same_gets_the_same_and_a_selection_that_nobody_holds_is_released() -> None:
    cluster = Cluster()
    held = [cluster.selections.of("default", Selector.from_set({"app": f"app-{i % 5}"})) for i in range(50)]
    assert len(cluster.selections) == 5

    held.clear()
    gc.collect()

    assert len(cluster.selections) == 0


def test_what_selections_hold_grows_with_what_they_match_and_not_with_selectors_times_classes() -> None:
    def entries(count: int) -> int:
        cluster = Cluster()
        held = [cluster.selections.of("default", Selector.from_set({"app": f"app-{i}"})) for i in range(count)]
        for i in range(count):
            class_of(cluster, app=f"app-{i}")
        return sum(len(each.sets) for each in held)

    assert entries(20) == 20
    assert entries(400) == 400
