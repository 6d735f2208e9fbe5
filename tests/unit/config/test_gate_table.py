"""The table of gates hangs together: histories go forward, and what a gate needs is in the table."""

from __future__ import annotations

import pytest

from topospread.config.gate_table import _EFFECTS, GATES, GateRow, gate_row
from topospread.config.versions import NEWEST, OLDEST, KubeVersion

ROWS = list(GATES.values())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_history_goes_forward(row: GateRow) -> None:
    versions = [span.since for span in row.spans]
    assert versions == sorted(set(versions))
    assert OLDEST <= versions[0] <= versions[-1] <= row.last <= NEWEST
    stages = ["ALPHA", "BETA", "GA"]
    order = [stages.index(span.stage) for span in row.spans]
    assert order == sorted(order)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_only_general_availability_locks_a_gate(row: GateRow) -> None:
    assert all(span.stage == "GA" for span in row.spans if span.locked)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_needs_are_in_the_table_and_on_by_default_where_the_gate_is(row: GateRow) -> None:
    span = row.span_at(NEWEST)
    for need in row.needs:
        needed = GATES[need].span_at(NEWEST)
        assert needed is None or span is None or needed.default >= span.default


def test_every_gate_that_decides_is_printed() -> None:
    assert {row.name for row in ROWS} == set(_EFFECTS)
    assert all(row.components and row.effect for row in ROWS)


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("CSIMigrationRBD", 24, 30),  # csiMigrationRBD before
        ("EfficientWatchResumption", 20, 32),  # the generic API server's
        ("ComponentSLIs", 26, 34),  # the metrics library's
        ("InOrderInformers", 33, 37),  # client-go's
        ("TaintBasedEvictions", 18, 19),
    ],
)
def test_gates_that_decide_nothing_are_known_while_the_programs_know_them(name: str, first: int, last: int) -> None:
    row = gate_row(name)
    assert row is not None
    assert (row.components, row.effect) == ((), "")
    known = [minor for minor in range(18, 38) if row.span_at(KubeVersion(1, minor))]
    assert (known[0], known[-1]) == (first, last)


def test_gates_of_the_controller_manager_alone_are_unknown() -> None:
    assert gate_row("ControllerManagerReleaseLeaderElectionLockOnExit") is None


def test_span_is_the_last_that_began() -> None:
    row = GATES["MinDomainsInPodTopologySpread"]
    shown = {minor: row.span_at(KubeVersion(1, minor)) for minor in (23, 24, 26, 29, 31, 32)}
    assert {minor: span and (span.stage, span.default) for minor, span in shown.items()} == {
        23: None,
        24: ("ALPHA", False),
        26: ("BETA", False),
        29: ("BETA", True),
        31: ("GA", True),
        32: None,
    }
