"""A node's pods stand as in kube-scheduler's list: who comes is appended, and the last takes the place of who goes."""

from __future__ import annotations

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.forks import fork
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster

NODE = msgspec.convert({"metadata": {"name": "n"}, "status": {"allocatable": {"pods": "99"}}}, Node)
NAMES = st.sampled_from([f"p{number}" for number in range(12)])
PODS = st.builds(
    lambda name, cpu: msgspec.convert(
        {
            "metadata": {"name": name, "namespace": "ns"},
            "spec": {"nodeName": "n", "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
        },
        Pod,
    ),
    NAMES,
    st.sampled_from(["1", "2"]),
)
CHANGES = st.lists(st.tuples(st.sampled_from(["ADDED", "DELETED"]), PODS), max_size=14)


def keep(listed: list[str], event: str, pod: Pod) -> None:
    """What ``NodeInfo.Pods`` becomes (framework/types.go, removeFromSlice; backend/cache/cache.go, updatePod)."""
    key = f"ns/{pod.name}"
    if key in listed:
        listed[listed.index(key)] = listed[-1]
        listed.pop()
    if event == "ADDED":
        listed.append(key)


class Order(RuleBasedStateMachine):
    """Pods of one node, which itself comes and goes; savepoints and forks on the way."""

    def __init__(self) -> None:
        super().__init__()
        self.cluster = Cluster()
        self.cluster.apply("ADDED", NODE)
        self.listed: list[str] = []

    @rule(changes=CHANGES)
    def happen(self, changes: list[tuple[str, Pod]]) -> None:
        change(self.cluster, self.listed, changes)

    @rule(changes=CHANGES, without=st.booleans())
    def go_back(self, changes: list[tuple[str, Pod]], without: bool) -> None:
        before, then = in_order(self.cluster), list(self.listed)
        with self.cluster.savepoint():
            if without:
                self.cluster.apply("DELETED", NODE)
            change(self.cluster, then, changes)
            self.cluster.apply("ADDED", NODE)
            assert in_order(self.cluster) == then
        assert in_order(self.cluster) == before

    @rule(changes=CHANGES)
    def the_node_is_away(self, changes: list[tuple[str, Pod]]) -> None:
        self.cluster.apply("DELETED", NODE)
        change(self.cluster, self.listed, changes)
        self.cluster.apply("ADDED", NODE)

    @rule(changes=CHANGES)
    def fork(self, changes: list[tuple[str, Pod]]) -> None:
        forked, apart = fork(self.cluster), list(self.listed)
        change(forked, apart, changes)
        assert in_order(forked) == apart

    @invariant()
    def order_is_the_list(self) -> None:
        assert in_order(self.cluster) == self.listed


def change(cluster: Cluster, listed: list[str], changes: list[tuple[str, Pod]]) -> None:
    for event, pod in changes:
        keep(listed, event, pod)
        cluster.apply("DELETED" if event == "DELETED" else "ADDED", pod)


def in_order(cluster: Cluster) -> list[str]:
    return cluster.order.on(cluster.nodes.row_of["n"])


TestOrder = Order.TestCase
