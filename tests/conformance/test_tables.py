"""What is held of the tables printed from Kubernetes' sources without printing them, as `make conformance` does."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from conformance import tables
from conformance.tables import DIGESTS, PACKAGE, TABLES, PrintedTable, changed, digests, since

DEFAULTS = PrintedTable("config/default_plugins.json", "plugins defaults")


def test_no_table_was_changed_by_hand() -> None:
    assert DIGESTS.read_text(encoding="ascii") == digests()


OTHERS = {"api/validation/rules.json", "admission/merge_lists.json"}
"""The rules of single fields, and what `conformance/merge_lists.py` prints."""


def test_every_other_table_that_ships_is_printed() -> None:
    ships = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.json") if "web" not in path.parts}
    assert ships == {table.path for table in TABLES} | OTHERS


@pytest.mark.parametrize(
    ("said", "of_newer"),
    [
        ({"18": "a", "30": "b", "37": "c"}, {"36": "b", "37": "c"}),
        ({"37": "c"}, {"37": "c"}),
        ({"v1beta3": {"23": ["A"]}, "v1": {"25": ["B"]}}, {"v1": {"36": ["B"]}}),
        ({"A": {"filter": "18-31", "score": "18-", "bind": "37-"}}, {"A": {"score": "36-", "bind": "37-"}}),
        ({"A": {"filter": "18-31"}, "B": {"filter": "18-36"}}, {"B": {"filter": "36-36"}}),
        ({"Pod": "namespaced 18-", "Gone": "cluster 18-24"}, {"Pod": "namespaced 36-"}),
        (
            {"a": "string since 26", "b": "string since 37", "c": "string"},
            {"a": "string", "b": "string since 37", "c": "string"},
        ),
        ({"G": {"history": "1.24 ALPHA off, 1.27 BETA on"}}, {"G": {"history": "1.36 BETA on"}}),
        ({"G": {"history": "1.24 ALPHA off, 1.37 BETA on"}}, {"G": {"history": "1.36 ALPHA off, 1.37 BETA on"}}),
        (
            {"G": {"history": "1.24 GA on, last 1.36"}, "H": {"history": "1.24 GA on, last 1.30"}},
            {"G": {"history": "1.36 GA on, last 1.36"}},
        ),
        ({"Pod": {"old": 24, "new": 37}, "Node": {"old": 36}}, {"Pod": {"new": 37}}),
        ({"Empty": {}}, {"Empty": {}}),
    ],
)
def test_what_a_table_says_of_newer_versions(said: Any, of_newer: Any) -> None:
    assert since(said, 36) == of_newer


def printing(monkeypatch: pytest.MonkeyPatch, edit: Callable[[Any], None]) -> None:
    """Has the programs print what is stored, edited."""

    def printed(table: PrintedTable, oldest: int | None = None) -> str:
        found = json.loads(table.stored())
        found = found if oldest is None or table.of_all else since(found, oldest)
        edit(found)
        return json.dumps(found)

    monkeypatch.setattr(tables.PrintedTable, "printed", printed)


@pytest.mark.parametrize("oldest", [None, 36])
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.path)
def test_what_is_printed_as_it_is_stored_differs_nowhere(
    table: PrintedTable, oldest: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    printing(monkeypatch, lambda found: None)
    assert changed(table, oldest) == []


@pytest.mark.parametrize("oldest", [None, 36])
def test_a_default_plugin_more_is_told(oldest: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    printing(monkeypatch, lambda found: found["v1"]["37"]["multiPoint"].append("Another"))
    (said,) = changed(DEFAULTS, oldest)
    assert said.startswith("/v1/37/multiPoint: ")


def test_a_gate_more_that_drops_a_field_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    dropped = next(table for table in TABLES if table.of_all)
    printing(monkeypatch, lambda found: found["Container"].update(restartPolicy="SidecarContainers Another"))
    assert len(changed(dropped, 36)) == 1
