"""A cluster read from its snapshot, names hashed or not, is simulated as the cluster itself."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hypothesis import given

import topospread
from tests.drawn import drawn
from tests.property.explained import clusters
from topospread.api.inventory import Inventory
from topospread.api.meta import KubeObject
from topospread.api.node import Node
from topospread.simulation.result import Simulation, WorkloadSpread
from topospread.simulation.simulate import simulate
from topospread.sources.pseudonyms import Pseudonyms, size_bucket
from topospread.sources.snapshot_facts import FORMAT, SnapshotFacts
from topospread.sources.snapshot_file import writing
from topospread.sources.snapshot_names import hashed


def stored(inventory: Inventory) -> list[KubeObject]:
    """The objects as an API server has them."""
    objects = list(inventory.objects())
    for number, each in enumerate(objects):
        each.metadata.uid = each.metadata.uid or f"uid-{number}"
        each.metadata.creation_timestamp = each.metadata.creation_timestamp or "2026-01-01T00:00:00Z"
    return objects


def read_back(objects: list[KubeObject], changed: Callable[[KubeObject], Any]) -> Inventory:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "cluster.json.gz")
        with writing(path, io.BytesIO()) as writer:
            for each in objects:
                writer.add(changed(each))
            writer.end(SnapshotFacts(format=FORMAT))
        return topospread.load(path)


class AsItIs:
    """Gives names as they are."""

    def node(self, text: str) -> str:
        return text

    def name(self, text: str, namespace: str) -> str:
        return text

    def key(self, text: str) -> str:
        return text


def outcome(simulation: Simulation, names: Pseudonyms | AsItIs) -> list[object]:
    """Return the decisions, with the words that `names` has for the names in them."""
    placed = [(each.node and names.node(each.node), each.score) for each in simulation.placements]
    spread = [
        (each.kind, names.name(each.name, each.namespace), each.placed, each.pending, skews(each.spread, names))
        for each in simulation.workloads
    ]
    evicted = [(names.name(each.name, each.namespace), names.node(each.node)) for each in simulation.evictions]
    return [placed, spread, evicted, [each.message if each.verdict else "" for each in simulation.pending]]


def skews(spread: Sequence[WorkloadSpread], names: Pseudonyms | AsItIs) -> list[object]:
    return [(names.key(each.topology_key), each.skew) for each in spread]


@drawn(25)
@given(given=clusters())
def test_what_is_read_is_what_was_written(given: tuple[Inventory, str]) -> None:
    objects = stored(given[0])
    again = read_back(objects, lambda item: item)
    assert sorted(map(repr, again.objects())) == sorted(map(repr, objects))


def with_sizes_in_buckets(item: KubeObject) -> KubeObject:
    for image in ((item.status and item.status.images) or ()) if isinstance(item, Node) else ():
        image.size_bytes = size_bucket(image.size_bytes or 0)
    return item


@drawn(25)
@given(given=clusters())
def test_hashed_names_change_no_decision(given: tuple[Inventory, str]) -> None:
    objects = stored(given[0])
    names = Pseudonyms(b"key")
    names.know_nodes(node.name for node in given[0].nodes)
    again = read_back(objects, lambda item: hashed(item, names))
    plain = read_back(objects, with_sizes_in_buckets)
    same = outcome(simulate(again), AsItIs())
    assert same == outcome(simulate(plain), names)
