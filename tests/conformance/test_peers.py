"""The page that compares us with other linters is what was found with the real ones, and every rule stands in it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

from conformance.peers import PEERS, STORED, differences
from topospread.lint.rules import BY_ID

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
FOUND = json.loads(STORED.read_text())["rules"]


def test_the_page_is_written_from_what_was_found() -> None:
    spec = importlib.util.spec_from_file_location("write_peers", REFERENCE / "write_peers.py")
    assert spec is not None
    assert spec.loader is not None
    writer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(writer)
    assert (REFERENCE / "peers.md").read_text() == writer.page()


def test_every_program_was_asked_about_rules_that_there_are() -> None:
    assert set(FOUND) <= set(BY_ID)
    assert all(set(found) == {peer.name for peer in PEERS} for found in FOUND.values())


def test_what_every_peer_has_or_none_is_found_here() -> None:
    """Budgets without room, that select nothing, that are missing; too few replicas; an autoscaler's minimum."""
    ours = {"budget-blocks-drain", "budget-selects-nothing", "no-budget", "one-replica-to-spread"}
    assert ours | {"autoscaler-under-domains", "budget-blocks-rebalance"} <= set(FOUND)
    for peer in ("kube-linter", "polaris"):
        drained = FOUND["budget-blocks-drain"][peer]
        assert set(drained["wrong"]) - set(drained["right"])


def test_the_versions_stored_are_those_that_are_built() -> None:
    assert json.loads(STORED.read_text())["versions"] == {peer.name: peer.release for peer in PEERS}


def test_what_is_found_otherwise_than_stored_is_told() -> None:
    stored = {"versions": {"a": "1"}, "rules": {"r": {"a": {"wrong": ["x"], "right": []}}, "gone": {"a": {}}}}
    found = {"versions": {"a": "2"}, "rules": {"r": {"a": {"wrong": [], "right": []}}, "new": {"a": {"wrong": []}}}}
    assert differences(stored, stored) == []
    assert [line.partition(":")[0] for line in differences(stored, found)] == ["versions", "gone", "new, a", "r, a"]
