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


class Counted:
    def __init__(self) -> None:
        self.heard: list[tuple[int, int]] = []

    def add(self, row: int, delta: int) -> None:
        self.heard.append((row, delta))


def placed(cluster: Cluster, pod_class: PodClass, row: int, delta: int) -> None:
    pod_class.occupancy[row] = pod_class.occupancy.get(row, 0) + delta
    cluster.selections.count(pod_class, row, delta)


def test_pods_are_counted_by_node_from_the_first_time_that_somebody_asks() -> None:
    cluster = Cluster()
    web, other = class_of(cluster, app="web"), class_of(cluster, app="web", hash="1")
    selection = cluster.selections.of("default", Selector.from_set({"app": "web"}))
    counter = selection.shared("key", Counted)
    placed(cluster, web, 1, 1)
    assert (selection.on_node, counter.heard) == ({}, [])
    placed(cluster, other, 1, 1)
    placed(cluster, other, 2, 1)
    assert selection.counting() is selection.counting()
    assert selection.on_node == {1: 2, 2: 1}
    placed(cluster, web, 1, -1)
    placed(cluster, other, 2, -1)
    assert (selection.on_node, counter.heard) == ({1: 1}, [(1, -1), (2, -1)])
    assert selection.shared("key", Counted) is counter
    again = selection.shared("other", Counted)
    placed(cluster, class_of(cluster, app="db"), 1, 1)
    placed(cluster, web, 3, 1)
    assert (counter.heard[-1], again.heard) == ((3, 1), [(3, 1)])


def test_terminating_pods_do_not_count() -> None:
    cluster = Cluster()
    metadata = {"namespace": "default", "labels": {"app": "web"}, "deletionTimestamp": "2026-01-01T00:00:00Z"}
    leaving = cluster.pod_class(msgspec.convert({"metadata": metadata}, Pod))
    leaving.occupancy[1] = 1
    selection = cluster.selections.of("default", Selector.from_set({"app": "web"})).counting()
    cluster.selections.count(leaving, 1, 1)
    assert selection.on_node == {}


def test_selectors_that_come_before_and_after_the_last_class_of_some_labels_keep_up() -> None:
    cluster = Cluster()
    first = cluster.selections.of("default", Selector.from_set({"app": "web"})).counting()
    web = class_of(cluster, app="web")
    second = cluster.selections.of("default", Selector.from_set({})).counting()
    elsewhere = cluster.selections.of("other", Selector.from_set({})).counting()
    placed(cluster, web, 1, 1)
    assert (first.on_node, second.on_node, elsewhere.on_node) == ({1: 1}, {1: 1}, {})
    assert set(cluster.selections.classes("default", Selector.from_set({"app": "web"}))) == {web}
    cluster.selections.remove(web)
    assert [*first.classes, *second.classes, *first.sets, *second.sets] == []
    cluster.selections.add(web)
    assert [*first.classes] == [*second.classes] == [web]
