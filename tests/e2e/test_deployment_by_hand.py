"""The second scheduler that is applied by hand runs as the chart's does, whose own tests are on a real API server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
HOW_TO = ROOT / "docs" / "how-to" / "second-scheduler"
CHARTED = ROOT / "deploy" / "kustomize" / "base" / "scheduler.yaml"
Json = dict[str, Any]
NAMES = {"topospread-scheduler": "topospread"}
"""What the chart calls the scheduler's objects, and what they are called by hand."""


def by_kind(path: Path) -> dict[str, Json]:
    return {each["kind"]: each for each in yaml.safe_load_all(path.read_text())}


def unnamed(value: Any) -> Any:
    """The same without what has to differ: objects' names, their labels, the image, the sum that is the chart's own."""
    if isinstance(value, dict):
        if "app.kubernetes.io/name" in value or value == {"app": "topospread"}:
            return "the scheduler's labels"
        return {key: unnamed(each) for key, each in value.items() if key not in ("image", "annotations")}
    if isinstance(value, list):
        return [unnamed(each) for each in value]
    return NAMES.get(value, value) if isinstance(value, str) else value


def configured(item: Json) -> tuple[str, Json]:
    """Where the lease of a ConfigMap's configuration is, and all else that the configuration says."""
    read = yaml.safe_load(item["data"]["scheduler.yaml"])
    namespace = read["leaderElection"].pop("resourceNamespace", "kube-system")
    return namespace, unnamed(read)


@pytest.mark.parametrize("kind", ["Deployment", "PodDisruptionBudget"])
def test_what_is_run_by_hand_is_what_the_chart_runs(kind: str) -> None:
    by_hand, charted = by_kind(HOW_TO / "deployment.yaml"), by_kind(CHARTED)
    assert set(by_hand) == set(charted)
    assert unnamed(by_hand[kind]["spec"]) == unnamed(charted[kind]["spec"])


def test_the_configuration_by_hand_is_the_charts_and_the_one_that_is_tried_before() -> None:
    by_hand, charted = by_kind(HOW_TO / "deployment.yaml"), by_kind(CHARTED)
    for items in (by_hand, charted):
        assert configured(items["ConfigMap"])[0] == items["Deployment"]["metadata"]["namespace"]
    assert configured(by_hand["ConfigMap"])[1] == configured(charted["ConfigMap"])[1]
    tried = yaml.safe_load((HOW_TO / "scheduler.yaml").read_text())
    assert yaml.safe_load(by_hand["ConfigMap"]["data"]["scheduler.yaml"]) == tried


def test_the_names_by_hand_lead_to_each_other() -> None:
    items, rights = by_kind(HOW_TO / "deployment.yaml"), by_kind(HOW_TO / "rbac.yaml")
    pods = items["Deployment"]["spec"]["template"]
    assert pods["metadata"]["labels"] == items["Deployment"]["spec"]["selector"]["matchLabels"]
    assert pods["spec"]["serviceAccountName"] == rights["ServiceAccount"]["metadata"]["name"]
    assert pods["spec"]["volumes"][0]["configMap"]["name"] == items["ConfigMap"]["metadata"]["name"]
    lease = yaml.safe_load(items["ConfigMap"]["data"]["scheduler.yaml"])["leaderElection"]["resourceName"]
    assert [lease] in [rule.get("resourceNames") for rule in rights["Role"]["rules"]]
    assert {each["metadata"]["namespace"] for each in items.values()} == {"kube-system"}


def test_the_linter_finds_nothing_in_it() -> None:
    words = [Path(sys.executable).parent / "topospread", "lint", HOW_TO / "deployment.yaml"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout == "yes: no findings in 4 objects of 1 file\n", done.stdout + done.stderr
