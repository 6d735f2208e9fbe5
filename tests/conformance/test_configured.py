"""Configurations of v1, v1beta3 and v1beta2 with their defaults and problems, beside kube-scheduler's own answers."""

from __future__ import annotations

import pytest

from conformance import configured

ROWS = configured.kept()
ASKED = [(kube, api) for kube, versions in configured.SERVED.items() for api in versions]


def of_version(kube_version: str, api_version: str) -> list[configured.Json]:
    group_version = f"{configured.GROUP}/{api_version}"
    return [
        row
        for row in ROWS
        if row["version"] == kube_version and row["configuration"].get("apiVersion") == group_version
    ]


@pytest.mark.parametrize(("kube_version", "api_version"), ASKED)
def test_defaults_and_problems_are_those_of_kube_scheduler(kube_version: str, api_version: str) -> None:
    rows = of_version(kube_version, api_version)
    assert len(rows) >= 80
    for row in rows:
        assert configured.ours(row["configuration"], kube_version) == row["answer"], row["configuration"]


@pytest.mark.parametrize(("kube_version", "api_version"), ASKED)
def test_stored_ones_hold_good_broken_and_undecodable_ones(kube_version: str, api_version: str) -> None:
    answers = [row["answer"] for row in of_version(kube_version, api_version)]
    kinds = {"undecodable" if "decode" in each else "broken" if each["errors"] else "good" for each in answers}
    assert kinds == {"undecodable", "broken", "good"}
