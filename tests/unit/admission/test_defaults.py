"""Pods as the API server of a version stores them: fields dropped, selectors merged, requests completed as it does."""

from __future__ import annotations

import pytest

from conformance import created

ROWS = created.kept()
SETS = [(version, gates) for version, sets in created.GATES.items() for gates in sets]


@pytest.mark.parametrize(("version", "gates"), SETS, ids=str)
def test_pods_are_stored_as_the_api_server_stores_them(version: str, gates: dict[str, bool]) -> None:
    rows = [row for row in ROWS if (row["version"], row["gates"]) == (version, gates)]
    assert len(rows) >= 40
    for row in rows:
        assert created.stored_by_us(row["pod"], version, gates) == row["stored"], row["pod"]


def test_stored_pods_show_every_field_kept_and_dropped() -> None:
    def given(field: str, value: object) -> bool:
        return f"'{field}'" in str(value)

    for field in (
        "minDomains",
        "nodeTaintsPolicy",
        "matchLabelKeys",
        "mismatchLabelKeys",
        "schedulingGates",
        "resourceClaims",
        "bindMountOptions",
    ):
        outcomes = {given(field, row["stored"]) for row in ROWS if given(field, row["pod"])}
        assert outcomes == {True, False}, field


def test_generator_repeats_a_seed() -> None:
    assert created.pods(7, 20) == created.pods(7, 20)
