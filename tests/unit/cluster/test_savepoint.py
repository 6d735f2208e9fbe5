"""Going back: who read what is taken back has read it for nothing, however savepoints nest."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from tests.unit.cluster.test_cluster import cluster, node, pod
from tests.unit.cluster.test_device_use import claim
from topospread.cluster import Cluster


class Count:
    """Pods on nodes, counted from the journal alone."""

    def __init__(self, made: Cluster) -> None:
        self._made = made
        self.pods = len(made.placed)
        self._position = made.journal.join(self)

    def catch_up(self) -> bool:
        changes = self._made.journal.since(self._position, self)
        assert changes is not None
        self.pods += sum(delta for _, _, delta in changes)
        self._position = self._made.journal.position
        return True

    def rewind(self, position: int) -> None:
        self._position = position

    def now(self) -> int:
        self.catch_up()
        return self.pods


@pytest.mark.parametrize("reads", [(), ("outer",), ("inner",), ("after",), ("outer", "inner"), ("inner", "after")])
@pytest.mark.parametrize("joined", ["before", "outer", "inner"])
def test_whoever_reads_where_counts_what_is_there(reads: tuple[str, ...], joined: str) -> None:
    made = cluster(node("n"), pod("first", "n"))
    counts = {"before": Count(made)}
    with made.savepoint():
        made.apply("ADDED", pod("second", "n"))
        counts["outer"] = Count(made)
        count = counts.get(joined)
        assert count is None or "outer" not in reads or count.now() == 2
        with made.savepoint():
            made.apply("ADDED", pod("third", "n"))
            made.apply("DELETED", pod("first", "n"))
            made.apply("ADDED", pod("fourth", "n"))
            counts["inner"] = Count(made)
            assert "inner" not in reads or counts[joined].now() == 3
        assert "after" not in reads or counts[joined].now() == 2
    assert counts[joined].now() == 1
    made.apply("ADDED", pod("fifth", "n"))
    assert counts[joined].now() == 2


@pytest.mark.parametrize("keeps", [True, False])
def test_a_pod_that_was_put_back_for_a_while_keeps_its_claim(keeps: bool) -> None:
    made = cluster(node("n"), pod("p", "n"))
    key, pod_class = next(iter(made.on_node[0].items()))
    namespace = key.partition("/")[0]
    held = claim({}, users=("p",))
    held.metadata.namespace = namespace
    made.objects.put(held)
    with made.objects.devices.kept() if keeps else nullcontext(), made.savepoint():
        made.unbind(key)
        with made.savepoint():
            made.bind(key, pod_class, 0)
            made.objects.put(held)
        assert bool(made.objects.resource_claims[namespace, "c"].status.reserved_for) == keeps
    assert made.objects.resource_claims[namespace, "c"].status.reserved_for == held.status.reserved_for


def test_going_back_to_before_a_pod_came_keeps_a_claim_reserved_for_it() -> None:
    made = cluster(node("n"))
    held = claim({}, users=("p",))
    held.metadata.namespace = pod("p", "n").namespace
    made.objects.put(held)
    with made.savepoint():
        made.apply("ADDED", pod("p", "n"))
    assert made.objects.resource_claims[held.namespace, "c"].status.reserved_for == held.status.reserved_for
