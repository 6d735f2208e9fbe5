"""Lists of answers as data frames."""

from __future__ import annotations

from importlib import util
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest

import topospread

ONCALL = topospread.Session(Path(__file__).parents[2] / "docs/how-to/on-call/cluster.yaml")


def without(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    find = util.find_spec
    monkeypatch.setattr("topospread.frames.find_spec", lambda name: None if name in packages else find(name))


def test_a_list_is_a_frame_and_a_list_in_it_has_the_columns_of_its_owner() -> None:
    why = ONCALL.why("deploy/checkout")
    constraints = why.frame("constraints")
    assert isinstance(constraints, pandas.DataFrame)
    assert constraints["topology_key"].tolist() == [each.topology_key for each in why.constraints]
    domains = why.frame("constraints.domains")
    assert domains["name"].tolist() == ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
    assert set(domains["constraints_max_skew"]) == {1}
    assert why.frame("remedies")["tried_places"].tolist()[0] == 6
    assert ONCALL.status().frame("pending.workloads").shape == (1, 4)


def test_polars_alone_does(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "pandas")
    found = ONCALL.drill_each("zone").frame("outcomes")
    assert isinstance(found, polars.DataFrame)
    assert found["verdict"].to_list() == ["no"] * 3


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    why: Any = ONCALL.why("deploy/checkout")
    with pytest.raises(topospread.TopospreadError, match="Why has no list 'pods'; there are causes, remedies"):
        why.frame("pods")
    without(monkeypatch, "pandas", "polars")
    with pytest.raises(topospread.TopospreadError, match=r"pip install 'topospread\[frames\]'"):
        why.frame("remedies")
    assert repr(ONCALL.inventory) == "<Inventory 6 nodes, 14 pods>"
