"""Whatever happens to a cluster, a view that kept up says what one built from nothing would say."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from tests.drawn import drawn
from tests.forks import fork
from tests.property.clusters import NODE_NAMES, nodes, pods
from topospread.api.meta import OwnerReference
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.controllers.daemon_set import affinity_to_node
from topospread.plugins.spread_arithmetic import arithmetic_as_counted
from topospread.plugins.spread_counts import Spread
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.evaluate import rejection_on, verdict_of
from topospread.scheduling.framework import Framework
from topospread.scheduling.view import Shared, View

FRAMEWORK = Framework(default_profile(), gates_for())


class History(RuleBasedStateMachine):
    """Pods come and go, nodes come, change and go; views of a few pod classes are kept all the while."""

    def __init__(self) -> None:
        super().__init__()
        self.cluster = Cluster()
        self.scheduler = Scheduler(self.cluster, {"default-scheduler": FRAMEWORK})
        self.templates: list[Pod] = []
        self.count = 0

    @initialize(first=st.lists(nodes(), min_size=2, max_size=8), templates=st.lists(pods(), min_size=1, max_size=3))
    def begin(self, first: list[Node], templates: list[Pod]) -> None:
        for node in first:
            self.cluster.add_node(node)
        self.templates = templates

    @rule(data=st.data())
    def place(self, data: st.DataObject) -> None:
        self.count += 1
        template = data.draw(st.sampled_from(self.templates))
        expected = best_of_all(self.scheduler, template)
        placement = self.scheduler.schedule(template, f"pod-{self.count}")
        assert (placement.node, placement.score) == expected

    @precondition(lambda self: self.cluster.nodes.row_of)
    @rule(data=st.data())
    def bind_anywhere(self, data: st.DataObject) -> None:
        self.count += 1
        template = data.draw(st.sampled_from(self.templates))
        row = data.draw(st.sampled_from(sorted(self.cluster.nodes.row_of.values())))
        self.cluster.bind(f"default/pod-{self.count}", self.cluster.shared_class(template), row)

    @precondition(lambda self: self.cluster.nodes.row_of)
    @rule(data=st.data())
    def place_daemon_pod(self, data: st.DataObject) -> None:
        self.count += 1
        node = data.draw(st.sampled_from(sorted(self.cluster.nodes.row_of)))
        pod = of_daemon_set(data.draw(st.sampled_from(self.templates)), node)
        expected = best_of_all(self.scheduler, pod)
        placement = self.scheduler.schedule(pod, f"pod-{self.count}")
        assert (placement.node, placement.score) == expected

    @precondition(lambda self: self.cluster.placed)
    @rule(data=st.data())
    def remove_pod(self, data: st.DataObject) -> None:
        self.cluster.unbind(data.draw(st.sampled_from(sorted(self.cluster.placed))))

    @rule(node=nodes())
    def put_node(self, node: Node) -> None:
        self.cluster.add_node(node)

    @precondition(lambda self: self.cluster.nodes.row_of)
    @rule(data=st.data())
    def remove_node(self, data: st.DataObject) -> None:
        self.cluster.remove_node(data.draw(st.sampled_from(sorted(self.cluster.nodes.row_of))))

    @rule(template=pods())
    def another_template(self, template: Pod) -> None:
        self.templates = [*self.templates[-3:], template]

    @invariant()
    def views_are_as_if_built_from_nothing(self) -> None:
        for template in self.templates:
            kept = self.scheduler.view(self.cluster.shared_class(template))
            anew = fork(self.cluster)  # views of one cluster share what they count
            assert_same(kept, View(anew, FRAMEWORK, anew.shared_class(template), Shared()))

    @invariant()
    def used_is_what_the_pods_take(self) -> None:
        table = self.cluster.nodes
        for name, row in table.row_of.items():
            taken = sum((c.taken(table) for c in self.cluster.on_node[row].values()), np.zeros(table.used.shape[1]))
            assert table.used[row].tolist() == taken.tolist(), name


def of_daemon_set(template: Pod, node: str) -> Pod:
    """A pod as the DaemonSet controller would make it of the template, for one node."""
    owner = OwnerReference(api_version="apps/v1", kind="DaemonSet", name="agent", controller=True)
    return replace(
        template,
        metadata=replace(template.metadata, owner_references=[owner]),
        spec=replace(template.spec, affinity=affinity_to_node(template.spec.affinity, node)),
    )


def best_of_all(scheduler: Scheduler, template: Pod) -> tuple[str | None, int | None]:
    """The choice by comparing every node: the reference for the choice by buckets."""
    verdict = scheduler.verdict(template)
    return (verdict.best[0], verdict.total[verdict.best[0]]) if verdict.feasible else (None, None)


def assert_same(kept: View, built: View) -> None:
    size = kept.cluster.nodes.size
    alive = kept.cluster.nodes.alive[:size]
    assert kept.node_local.open[:size].tolist() == built.node_local.open[:size].tolist()
    answers = zip(kept.node_local.open[:size].tolist(), kept.node_local.points[:size].tolist(), strict=True)
    assert kept.node_local.worth[:size] == [points if open_ else None for open_, points in answers]
    own = kept.node_local.rejections
    own.catch_up()
    for row in np.flatnonzero(alive).tolist():
        assert own.rejection(row) == built.node_local.rejections.rejection(row)
    assert_same_verdicts(kept, built)
    for mine, fresh in zip(kept.plugins.watchers, built.plugins.watchers, strict=True):
        if isinstance(mine, Spread) and isinstance(fresh, Spread):
            assert_same_counts(mine, fresh, size)
            assert arithmetic_as_counted(mine) == arithmetic_as_counted(fresh)
    rows = np.flatnonzero(built.node_local.open[:size])
    rows = rows[built.feasible(rows)]
    assert kept.feasible(rows).all()
    if len(rows):
        assert kept.total(rows).tolist() == built.total(rows).tolist()
    # A score that became 0 on every node, and counts that all went, are told apart only by a new view.
    if kept.node_local.flat == built.node_local.flat and layouts(kept) == layouts(built):
        assert kept.node_local.points[:size][alive].tolist() == built.node_local.points[:size][alive].tolist()
        assert heads(kept) == heads(built)


def assert_same_verdicts(kept: View, built: View) -> None:
    """The verdict that begins with what is known of single nodes is the one that every filter gives in turn."""
    found, other = verdict_of("ns/pod", kept, FRAMEWORK), verdict_of("ns/pod", built, FRAMEWORK)
    anew = [rejection_on(kept.cluster.nodes.row_of[name], "ns/pod", kept) for name in found.nodes]
    assert [found.rejections[each] if each >= 0 else None for each in found.blame.tolist()] == anew
    assert (found.nodes, found.message) == (other.nodes, other.message)
    assert found.blame.tolist() == other.blame.tolist()
    assert found.rejections == other.rejections


def assert_same_counts(kept: Spread, built: Spread, size: int) -> None:
    for mine, fresh in zip((*kept.hard, *kept.soft), (*built.hard, *built.soft), strict=True):
        assert mine.pods.on_node == fresh.pods.on_node
        if mine.counts is None or fresh.counts is None:
            assert mine.counts is fresh.counts
            continue
        assert mine.counts.member[:size].tolist() == fresh.counts.member[:size].tolist()
        assert mine.counts.domains == fresh.counts.domains
        assert mine.counts.minimum == fresh.counts.minimum
        for code in range(max(len(mine.counts.counts), len(fresh.counts.counts))):
            assert at(mine.counts.counts, code) == at(fresh.counts.counts, code)
            assert at(mine.counts.nodes, code) == at(fresh.counts.nodes, code)


def at(column: np.ndarray, code: int) -> int:  # type: ignore[type-arg]
    return int(column[code]) if code < len(column) else 0


def layouts(view: View) -> list[int]:
    return [watcher.layout for watcher in view.plugins.watchers]


def heads(view: View) -> list[tuple[int, int]] | None:
    """Return the best row of each group and the size of the group."""
    found = view.heads()
    return None if found is None else sorted((row, size) for row, size in zip(*found, strict=True) if size)


TestHistory = History.TestCase
TestHistory.settings = drawn(10, stateful_step_count=50)


@given(nodes=st.lists(st.sampled_from(NODE_NAMES), unique=True, min_size=1))
def test_ranks_sort_as_names_do(nodes: list[str]) -> None:
    cluster = Cluster()
    for name in nodes:
        cluster.add_node(_named(name))
    table = cluster.nodes
    by_rank = sorted(table.row_of, key=lambda name: int(table.rank[table.row_of[name]]))
    assert by_rank == sorted(nodes)


def _named(name: str) -> Node:
    node = Node()
    node.metadata.name = name
    return node
