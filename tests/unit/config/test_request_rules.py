"""The rules for a pod's requests by version and gate."""

from __future__ import annotations

import pytest

from topospread.config.gates import gates_for
from topospread.config.request_rules import request_rules


@pytest.mark.parametrize(
    ("version", "resize", "rule"),
    [
        ("1.26", None, "ignored"),
        ("1.27", None, "ignored"),
        ("1.27", True, "allocated"),
        ("1.31", True, "allocated"),
        ("1.32", True, "running"),
        ("1.33", None, "running or allocated"),
        ("1.33", False, "ignored"),
        ("1.36", None, "running or allocated"),
        ("1.37", None, "whole pod"),
    ],
)
def test_the_status_of_a_pod_resized_in_place_counts_by_version(version: str, resize: bool | None, rule: str) -> None:
    overrides = {} if resize is None else {"InPlacePodVerticalScaling": resize}
    assert request_rules(gates_for(version, overrides)).status == rule
