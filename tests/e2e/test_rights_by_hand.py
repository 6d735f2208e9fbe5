"""Roles that are applied by hand grant what the chart's do, which are held to the audit log of a real API server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
BASE = ROOT / "deploy" / "kustomize" / "base"
Right = tuple[str, str, str, bool]


def rights(path: Path) -> set[Right]:
    """Verb, group, resource of each right of a file's roles, and whether it is for named objects only."""
    items: list[dict[str, Any]] = [each for each in yaml.safe_load_all(path.read_text()) if each]
    return {
        (verb, group, resource, "resourceNames" in rule)
        for each in items
        if each["kind"] in ("Role", "ClusterRole")
        for rule in each["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


@pytest.mark.parametrize(
    ("by_hand", "charted"),
    [
        ("docs/how-to/second-scheduler/rbac.yaml", "scheduler-rights.yaml"),
        ("deploy/prometheus/rbac.yaml", "exporter.yaml"),
    ],
)
def test_what_is_granted_by_hand_is_what_the_chart_grants(by_hand: str, charted: str) -> None:
    granted = rights(BASE / charted)
    assert len(granted) > 10
    assert rights(ROOT / by_hand) == granted
