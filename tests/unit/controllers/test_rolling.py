"""One step of a rolling update stays within the bounds of the strategy."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from topospread.api.rollout import OrdinalStrategy, Strategy
from topospread.controllers.rolling import (
    OnNode,
    Ordinal,
    RolloutStatus,
    nodes_to_replace,
    ordinals_to_replace,
    to_create,
    to_remove,
)

ordinals = st.lists(st.none() | st.builds(Ordinal, st.booleans(), st.booleans()), max_size=6)


@given(pods=ordinals, by=st.builds(OrdinalStrategy, st.integers(0, 4), st.integers(1, 4)), at_once=st.booleans())
def test_no_more_are_unavailable_than_may_be(pods: list[Ordinal | None], by: OrdinalStrategy, at_once: bool) -> None:
    for in_order in (True, False):
        places = ordinals_to_replace(pods, by, in_order=in_order, at_once=at_once)
        chosen = [pods[place] for place in places]
        assert all(each is not None and not each.is_new for each in chosen)
        assert min(places, default=by.partition) >= by.partition
        available = sum(each is not None and each.is_available for each in pods)
        going = sum(each is not None and each.is_available for each in chosen)
        assert not going or len(pods) - available + going <= (by.max_unavailable if at_once else len(pods))


states = st.dictionaries(
    st.sampled_from("abcdef"), st.builds(OnNode, st.none() | st.booleans(), st.none() | st.booleans())
)


@given(nodes=states, most=st.integers(1, 4))
def test_daemons_go_and_come_within_the_bounds(nodes: dict[str, OnNode], most: int) -> None:
    going, coming = nodes_to_replace(nodes, Strategy(0, most))
    assert coming == []
    down = {name for name, each in nodes.items() if not (each.new or each.old) or (each.new and each.old)}
    assert len(down | set(going)) <= max(most, len(down))
    going, coming = nodes_to_replace(nodes, Strategy(most, 0))
    assert all(nodes[name].new or not nodes[name].old for name in going)
    assert all(nodes[name].new is None and nodes[name].old is not None for name in coming)


@given(
    counts=st.tuples(*[st.integers(0, 6)] * 4),
    replicas=st.integers(1, 8),
    by=st.builds(Strategy, st.integers(0, 4), st.integers(0, 4)),
)
def test_no_step_leaves_the_bounds_of_the_strategy(counts: tuple[int, ...], replicas: int, by: Strategy) -> None:
    standing = RolloutStatus(replicas, *counts)
    total = standing.new + standing.old
    created = to_create(standing, by)
    assert created == 0 or total + created <= replicas + by.max_surge
    waiting, others = to_remove(standing, by)
    assert waiting <= standing.old_unavailable
    available = standing.new_available + standing.old_available
    assert others == 0 or available - others >= replicas - by.max_unavailable
