"""The answer about several clusters is the union of the answers about each, whatever the clusters are."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.property.explained import clusters
from topospread.answers.fleet import Member, fleet, member, unreadable
from topospread.answers.status import Status, status
from topospread.api.inventory import Inventory
from topospread.base import worst
from topospread.status.result import WorkloadStatus

NAMES = ("a", "b", "c", "d")
WORDS = ("yes", "no", "unknown")


@st.composite
def asked(draw: st.DrawFn) -> dict[str, Status | None]:
    """Clusters by name, each with its own answer; ``None`` for one that cannot be read."""
    found: list[Inventory | None] = draw(
        st.lists(st.one_of(clusters().map(lambda each: each[0]), st.none()), min_size=1, max_size=4)
    )
    return {name: None if each is None else status(each) for name, each in zip(NAMES, found, strict=False)}


def members(found: dict[str, Status | None]) -> list[Member]:
    return [unreadable(name, "gone") if each is None else member(name, each) for name, each in found.items()]


@drawn(25)
@given(found=asked(), cut=st.integers(0, 3))
def test_the_answer_is_the_union_of_the_single_answers(found: dict[str, Status | None], cut: int) -> None:
    whole = fleet(members(found))
    assert {each.cluster for each in whole.clusters} == found.keys()
    for row in whole.clusters:
        single = found[row.cluster]
        if single is None:
            assert (row.verdict, row.problem) == ("unknown", "gone")
            assert row.cluster in whole.says
            continue
        assert (row.verdict, row.says, row.nodes) == (single.verdict, single.says, single.nodes)
        assert (row.causes, row.remedies, row.unjudged) == (single.causes, single.remedies, single.unjudged)
        assert row.exceeded == single.exceeded
        pods = {verdict: sum(len(each.pods) for each in single.pending if each.verdict == verdict) for verdict in WORDS}
        assert (row.pending, row.unknown) == (pods["no"], pods["unknown"])
    assert whole.verdict == worst("unknown" if each is None else each.verdict for each in found.values())
    every = members(found)
    for part in (every[:cut], every[cut:]):
        if part:
            rows = fleet(part).clusters
            assert rows == tuple(each for each in whole.clusters if each in rows)
    assert fleet(every[::-1]).clusters == whole.clusters
    assert fleet(every, "ended").verdict == ("no" if whole.verdict == "no" else "unknown")


@drawn(25)
@given(found=asked())
def test_clusters_differ_where_their_own_answers_do(found: dict[str, Status | None]) -> None:
    read = {name: each for name, each in found.items() if each is not None}
    differing = {(each.workload, each.what, each.topology_key): each for each in fleet(members(found)).drift}
    for workload in {_key(one) for each in read.values() for one in each.workloads}:
        having = {name: one for name, each in read.items() for one in each.workloads if _key(one) == workload}
        by_value: dict[int, set[str]] = {}
        for name, one in having.items():
            by_value.setdefault(one.replicas, set()).add(name)
        told = differing.get(("/".join(workload), "replicas", ""))
        expected = {str(value): names for value, names in by_value.items()}
        if workload[1] == "DaemonSet" or len(by_value) < 2:
            assert told is None
        else:
            assert told is not None
            assert {each.value: set(each.clusters) for each in told.values} == expected
        keys = {
            name: {
                (each.topology_key, each.hard, each.max_skew)
                for each in one.constraints
                if not each.revision and each.origin != "system"
            }
            for name, one in having.items()
        }
        if any(one != other for one, other in pairwise(keys.values())):
            assert ("/".join(workload), "constraints", "") in differing


@drawn(12)
@given(found=clusters())
def test_a_cluster_agrees_with_itself(found: tuple[Inventory, str]) -> None:
    single = status(found[0])
    assert fleet([member("a", single), member("b", single)]).drift == ()


def _key(each: WorkloadStatus) -> tuple[str, str, str]:
    return each.namespace, each.kind, each.name
