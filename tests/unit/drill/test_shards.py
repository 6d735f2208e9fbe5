"""Drills that are shared out: together the parts are what one process finds, and only parts of one whole are merged."""

from __future__ import annotations

from pathlib import Path

import pytest

from topospread.drill.each import EachDrill, drill_each, merged
from topospread.drill.saved import read_each
from topospread.drill.shards import Shard, read_shard
from topospread.errors import InputError, UsageError
from topospread.simulation.options import SimulationOptions

from .builders import Json, inventory, nodes, spread, workload

SPREAD = {"topologySpreadConstraints": [spread()]}
OBJECTS = [*nodes("a", "a", "b", "b", "c"), workload("Deployment", replicas=5, spec=SPREAD)]


def each(shard: Shard | None = None, objects: list[Json] = OBJECTS) -> EachDrill:
    return drill_each(inventory(*objects), "node", SimulationOptions(), 2, shard=shard)


def written(folder: Path, found: EachDrill, name: str) -> str:
    path = folder / name
    path.write_text(found.to_json())
    return str(path)


@pytest.mark.parametrize("number", [1, 2, 3, 7])
def test_parts_together_are_the_whole_byte_for_byte(tmp_path: Path, number: int) -> None:
    paths = [written(tmp_path, each(Shard(index, number)), f"{index}.json") for index in range(number)]
    found = merged([(path, read_each(path)) for path in reversed(paths)])
    assert found.to_json() == each().to_json()


def test_no_target_is_in_two_parts() -> None:
    targets = [outcome.target for index in range(3) for outcome in each(Shard(index, 3)).outcomes]
    assert sorted(targets) == sorted(outcome.target for outcome in each().outcomes)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1", "write INDEX/NUMBER"),
        ("a/4", "write INDEX/NUMBER"),
        ("-1/4", "write INDEX/NUMBER"),
        ("4/4", "the parts are 0/4 to 3/4"),
        ("0/0", "this part does not exist"),
    ],
)
def test_a_part_that_is_none_is_refused(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read_shard(text, "--shard")
    assert read_shard("3/4", "--shard") == Shard(3, 4)


def test_only_all_parts_of_one_whole_are_merged() -> None:
    first, second = ((str(index), each(Shard(index, 2))) for index in range(2))
    other = each(Shard(1, 2), [*nodes("a", "b"), workload("Deployment")])
    for parts, says in (
        ([first], "1/2 missing"),
        ([first, first], "are the same part, 0/2"),
        ([first, ("other", other)], "0 and other are parts of different drills"),
        ([first, ("whole", each())], "whole is a complete result"),
        ([], "name the files of all parts"),
    ):
        with pytest.raises(UsageError, match=says):
            merged(parts)
    assert merged([second, first]).part is None


def test_a_file_of_something_else_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for text, says in (("{}", "it is not what"), ("nonsense", "it is not what")):
        path.write_text(text)
        with pytest.raises(InputError, match=says) as caught:
            read_each(str(path))
        assert caught.value.place.source == str(path)
