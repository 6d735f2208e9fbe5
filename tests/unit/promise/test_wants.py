"""Promises of workloads that declare none."""

from __future__ import annotations

from tests.unit.drill.builders import nodes, workload
from tests.unit.promise.test_kept import checked
from topospread.api.promises import Want
from topospread.promise.wants import default_wants


def test_nothing_declared_asks_that_no_loss_takes_all_and_of_a_stateful_set_for_the_quorum() -> None:
    found = checked([*nodes("a", "b"), workload("StatefulSet", "db", 3)])
    assert [each.want for each in found.promises] == ["quorum"]
    assert found.verdict == "no"
    assert "default promise" in found.says
    assert default_wants("Deployment", 2) == (Want("zone-loss", 1), Want("node-loss", 1))
