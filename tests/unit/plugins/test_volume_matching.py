"""Volumes for claims, seen from many nodes at once and from few."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.plugins.storage_builders import HOST, ZONE, claim, cluster, node, volume, zonal
from topospread.api.storage import PersistentVolume
from topospread.plugins.volume_catalog import catalog_of
from topospread.plugins.volume_matching import NO_VOLUME, Candidates, Choice, by_size, is_promised

NODES = zonal(**{f"n{i}": "ab"[i % 2] for i in range(6)})


@st.composite
def volumes(draw: st.DrawFn) -> list[PersistentVolume]:
    places = st.sampled_from([None, {ZONE: ["a"]}, {HOST: ["n1"]}, {HOST: ["n1", "n2"]}, {ZONE: ["b"], HOST: ["n3"]}])
    sizes = st.integers(1, 4)
    return [volume(f"pv{i}", draw(places), size=f"{draw(sizes)}Gi") for i in range(draw(st.integers(0, 6)))]


@given(volumes(), st.lists(st.integers(1, 3), min_size=1, max_size=3))
def test_all_nodes_at_once_say_what_each_says(listed: list[PersistentVolume], sizes: list[int]) -> None:
    made = cluster(NODES, *listed)
    claims = by_size(claim(f"c{i}", size=f"{size}Gi") for i, size in enumerate(sizes))
    candidates = [Candidates(each, catalog_of(made), attributes_classes=True) for each in claims]
    whole: list[Choice] = []
    single: list[list[Choice]] = [[] for _ in NODES]
    for each in candidates:
        whole.append(each.choose(slice(0, len(NODES)), whole))
        for row, chosen in enumerate(single):
            chosen.append(each.choose(np.array([row], dtype=np.int64), chosen))
    for i, choice in enumerate(whole):
        assert choice.places.tolist() == [int(single[row][i].places[0]) for row in range(len(NODES))]


@given(volumes())
def test_the_smallest_volume_in_reach_is_chosen(listed: list[PersistentVolume]) -> None:
    made = cluster(NODES, *listed)
    candidates = Candidates(claim("c", size="2Gi"), catalog_of(made), attributes_classes=True)
    choice = candidates.choose(slice(0, len(NODES)))
    for row, place in enumerate(choice.places.tolist()):
        reached = [
            stock.size.value()
            for stock in candidates.volumes
            if catalog_of(made).reached(stock.volume, np.array([row], dtype=np.int64))[0]
        ]
        assert (place == NO_VOLUME) == (not reached)
        assert place == NO_VOLUME or candidates.volumes[place].size.value() == min(reached)


def test_a_volume_is_promised_by_namespace_name_and_uid() -> None:
    each = claim("data")
    assert is_promised(volume("pv", claimRef={"namespace": "ns", "name": "data"}), each)
    assert is_promised(volume("pv", claimRef={"namespace": "ns", "name": "data", "uid": "uid-data"}), each)
    assert not is_promised(volume("pv", claimRef={"namespace": "ns", "name": "data", "uid": "x"}), each)
    assert not is_promised(volume("pv", claimRef={"namespace": "other", "name": "data"}), each)
    assert not is_promised(volume("pv"), each)


def test_the_catalog_follows_nodes_that_change() -> None:
    made = cluster(NODES, volume("pv", {HOST: ["new"]}))
    candidates = Candidates(claim("c"), catalog_of(made), attributes_classes=True)
    assert candidates.choose(slice(0, 6)).places.tolist() == [NO_VOLUME] * 6
    made.add_node(node("new", {HOST: "new"}))
    assert candidates.choose(slice(0, 7)).places.tolist() == [NO_VOLUME] * 6 + [0]
