"""``plan --to-kube-version preview:…``: a proposed change, marked as a preview in every form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conformance.compare import verdict_differences
from conformance.judging.cases import judge_case
from conformance.stored import stored
from topospread.cli.plan import plan
from topospread.cli.status import status
from topospread.errors import TopospreadError

OUTAGE = Path(__file__).parents[3] / "docs/how-to/zone-loss/outage.yaml"
PREVIEW = "preview:KEP-5980"


def planned(path: Path, *more: str) -> Any:
    return CliRunner().invoke(plan, ["--on", str(path), "--to-kube-version", PREVIEW, *more], standalone_mode=False)


@pytest.mark.parametrize("form", ["text", "wide", "json", "yaml", "md", "html"])
def test_every_form_says_that_it_is_a_preview(form: str) -> None:
    said = " ".join(planned(OUTAGE, "-o", form).stdout.split())
    assert f"nothing gets worse ({PREVIEW})" in said.replace("</b> ", "")
    assert "is a proposal that no release has" in said


def test_pods_beside_a_lost_zone_find_nodes() -> None:
    answer = json.loads(planned(OUTAGE, "-o", "json").stdout)
    assert answer["names"] == ["Kubernetes 1.37", f"Kubernetes {PREVIEW}"]
    assert answer["on"]["kubeVersion"] == PREVIEW
    assert [each["least"] for each in answer["workloads"][0]["placed"]] == [3, 9]


def test_a_policy_that_ignores_taints_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "outage.yaml").write_text(OUTAGE.read_text().replace("nodeTaintsPolicy: Honor", ""))
    assert json.loads(planned(tmp_path / "outage.yaml", "-o", "json").stdout)["workloads"] == []


def test_pods_that_are_placed_anew_leave_no_tainted_domain_with_pods() -> None:
    answer = json.loads(planned(OUTAGE, "--as-if-rolled-out", "-o", "json").stdout)
    assert answer["workloads"] == []


@pytest.mark.parametrize(
    ("command", "words", "says"),
    [
        (plan, ("--to-kube-version", "preview:KEP-1"), 'unknown preview "preview:KEP-1"; previews: preview:KEP-5980'),
        (plan, ("--kube-version", PREVIEW, "--to-kube-version", "1.37"), "is not a Kubernetes version"),
        (status, ("--kube-version", PREVIEW), "is not a Kubernetes version"),
    ],
)
def test_a_preview_is_only_the_version_to_compare_with(command: Any, words: tuple[str, ...], says: str) -> None:
    problem = CliRunner().invoke(command, ["--on", str(OUTAGE), *words], standalone_mode=False).exception
    assert isinstance(problem, TopospreadError)
    assert says in str(problem)


@pytest.mark.parametrize(("name", "least"), [("KEP-5980", 10), ("KEP-5980-replicas", 5)])
def test_the_stored_cases_hang_on_the_change(name: str, least: int) -> None:
    pairs = zip(*stored(name), strict=True)
    released = [verdict_differences(judge_case(case | {"kubeVersion": "1.37"}), verdicts) for case, verdicts in pairs]
    assert sum(map(bool, released)) >= least
