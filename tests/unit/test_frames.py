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
    assert ONCALL.status().frame("pending.workloads").shape == (1, 6)


def test_every_cell_is_a_scalar() -> None:
    pending = ONCALL.status().frame("pending")
    assert pending.loc[pending["workloads"] == "shop/Deployment/checkout", "causes"].tolist() == [3]
    assert pending["pods"].str.startswith("shop/checkout-").all()
    spread = ONCALL.simulate().frame("workloads.constraints")
    assert "eu-west-1a=2, eu-west-1b=2, eu-west-1c=1" in set(spread["domains"])
    for frame in (pending, spread):
        assert not any(isinstance(cell, dict | list | tuple) for row in frame.itertuples() for cell in row)


def test_the_first_cause_and_remedy_are_columns_of_text() -> None:
    status = ONCALL.status()
    (group,) = status.pending
    pending = status.frame("pending")
    assert pending["first_cause"].tolist() == [group.causes[0].says]
    assert pending["first_remedy"].tolist() == [group.remedies[0].says]
    pods = status.frame("pending.pods").groupby("pending_first_cause").size()
    assert pods.to_dict() == {group.causes[0].says: len(group.pods)}


def test_a_group_that_is_not_judged_has_its_sentence_as_the_first_cause() -> None:
    claim = {"name": "gpu", "resourceClaimName": "gpu"}
    pod = {"containers": [{"name": "a", "image": "a"}], "resourceClaims": [claim]}
    web = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": pod}
    status = ONCALL.but(on="zones=3,nodes=3").after(manifests=[web]).status()
    assert [each.verdict for each in status.pending] == ["unknown"]
    assert status.frame("pending")["first_cause"].tolist() == [status.pending[0].says]


def test_a_mapping_has_a_row_for_each_key() -> None:
    answer = ONCALL.simulate()
    domains = answer.frame("workloads.constraints.domains")
    owned = [(each.name, one) for each in answer.workloads for one in each.constraints]
    known = [(name, *pair) for name, one in owned for pair in one.domains.items()]
    assert [*zip(domains["workloads_name"], domains["domains"], domains["value"], strict=True)] == known
    assert ("checkout", "eu-west-1c") in {pair[:2] for pair in known}


def test_polars_alone_does(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "pandas")
    found = ONCALL.drill_each("zone").frame("outcomes")
    assert isinstance(found, polars.DataFrame)
    assert found["verdict"].to_list() == ["no"] * 3


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    why: Any = ONCALL.why("deploy/checkout")
    with pytest.raises(topospread.TopospreadError, match="Why has no list 'pods'; its lists are causes, remedies"):
        why.frame("pods")
    without(monkeypatch, "pandas", "polars")
    with pytest.raises(topospread.TopospreadError, match=r"pip install 'topospread\[frames\]'"):
        why.frame("remedies")
    assert repr(ONCALL.inventory) == "<Inventory 6 nodes, 14 pods>"


def test_a_list_without_items_has_its_columns() -> None:
    status = ONCALL.but(on="zones=3,nodes=3").status()
    for rows, some in (("pending", "says"), ("workloads.constraints", "topology_key"), ("domains", "pods")):
        found = status.frame(rows)
        assert not len(found)
        assert some in found.columns
    workloads = ONCALL.simulate().frame("workloads")
    assert {"autoscaler_name", "placed_bounds_least"} <= set(workloads.columns)
    assert "autoscaler" not in workloads.columns


def test_placements_hold_the_pods_that_have_nodes() -> None:
    found = ONCALL.simulate(namespace="shop")
    frame = found.frame("placements")
    assert list(frame.columns) == list(found.placements[0].__struct_fields__)
    assert len(frame) == len(found.placements) + sum(each.existing for each in found.workloads)
    bound = frame[frame["score"].isna() & frame["node"].notna()]
    assert set(bound["zone"]) == {"eu-west-1a", "eu-west-1b", "eu-west-1c"}
    assert "StatefulSet/orders-db" in set(bound["workload"])
    assert found.placement("orders-db-0").zone == "eu-west-1a"


def test_a_pod_that_does_not_exist_is_an_input_error() -> None:
    found = ONCALL.simulate()
    with pytest.raises(topospread.InputError, match=r"pod orders-db-9 not found; did you mean shop/orders-db-\d"):
        found.placement("orders-db-9")
    with pytest.raises(topospread.InputError, match="pod shop/zzz not found; the simulation has shop/"):
        found.placement("zzz", "shop")
    with pytest.raises(topospread.InputError, match="the simulation has no pod"):
        topospread.Session("zones=3,nodes=3").simulate().placement("web")
