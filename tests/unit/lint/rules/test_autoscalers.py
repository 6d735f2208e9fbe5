"""HorizontalPodAutoscalers that scale nothing, or what another one scales."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.manifests import findings, messages
from topospread.lint.examples import deployment

MISSING, SEVERAL = "autoscaler-without-target", "several-autoscalers"
ROLLOUT = "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: %s}\nspec: {}\n"
NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\n"


def autoscaler(
    name: str = "web",
    *,
    of: str = "a",
    kind: str = "Deployment",
    version: str = "apps/v1",
    namespace: str = "default",
    own_version: str = "v2",
) -> str:
    return (
        f"---\napiVersion: autoscaling/{own_version}\nkind: HorizontalPodAutoscaler\n"
        f"metadata: {{name: {of}, namespace: {namespace}}}\n"
        f"spec:\n  scaleTargetRef: {{apiVersion: {version}, kind: {kind}, name: {name}}}\n  maxReplicas: 3\n"
    )


def test_one_whose_target_is_there_is_not_found() -> None:
    assert messages(deployment("") + autoscaler(), MISSING) == []


@pytest.mark.parametrize(
    ("scaler", "message"),
    [
        (autoscaler("wep"), "scales nothing: Deployment wep not found in namespace default"),
        (
            autoscaler(namespace="shop"),
            "scales nothing: Deployment web not found in namespace shop, only in default",
        ),
        (autoscaler(kind="StatefulSet"), "scales nothing: StatefulSet web not found in namespace default"),
        (
            autoscaler(version="extensions/v1beta1"),
            "scales nothing: it names extensions/v1beta1, where Deployment web is of the group apps",
        ),
        (autoscaler(version="''"), "scales nothing: it names no apiVersion, where Deployment web is of the group apps"),
        (autoscaler(kind="DaemonSet"), "a DaemonSet cannot be scaled"),
        (
            autoscaler("wep", own_version="v2beta1"),
            "scales nothing: Deployment wep not found in namespace default",
        ),
    ],
)
def test_one_that_scales_nothing_is_found(scaler: str, message: str) -> None:
    assert messages(deployment("") + scaler, MISSING) == [message]


def test_a_file_without_workloads_says_nothing_of_what_is_there() -> None:
    assert messages(autoscaler(), MISSING) == []


def test_a_target_of_somebody_elses_kind_is_looked_for_where_there_are_such() -> None:
    of_rollout = autoscaler(kind="Rollout", version="argoproj.io/v1alpha1")
    assert messages(deployment("") + of_rollout, MISSING) == []
    assert messages(ROLLOUT % "web" + of_rollout, MISSING) == []
    assert messages(ROLLOUT % "other" + of_rollout, MISSING)


def test_a_target_of_the_cluster_is_there(tmp_path: Path) -> None:
    there = tmp_path / "cluster.yaml"
    there.write_text(NODE + deployment(""))
    assert messages(deployment("", name="other") + autoscaler(), MISSING, cluster=str(there)) == []


def test_two_on_one_target_are_found_at_the_second(tmp_path: Path) -> None:
    (found,) = findings(deployment("") + autoscaler(of="a") + autoscaler(of="b"), SEVERAL)
    assert found.place.object == "HorizontalPodAutoscaler default/b"
    assert "the HorizontalPodAutoscaler a already scales" in found.message
    there = tmp_path / "cluster.yaml"
    there.write_text(NODE + autoscaler(of="old").removeprefix("---\n"))
    assert messages(deployment("") + autoscaler(of="new"), SEVERAL, cluster=str(there))
    assert messages(deployment("") + autoscaler(of="old"), SEVERAL, cluster=str(there)) == []
