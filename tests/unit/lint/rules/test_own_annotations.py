"""The rule about annotations of topospread that no command reads."""

from __future__ import annotations

import pytest

from tests.unit.lint.manifests import findings
from topospread.lint.examples import GOOD_CONSTRAINT, deployment

RULE = "own-annotation-unread"
WEB = deployment(GOOD_CONSTRAINT)


def on_workload(text: str, kind: str = "Deployment") -> str:
    return WEB.replace("Deployment", kind).replace("  name: web\n", f"  name: web\n  annotations:\n    {text}\n", 1)


def on_pods(text: str) -> str:
    labels = "      labels: {app: web}\n"
    return WEB.replace(labels, f"{labels}      annotations:\n        {text}\n")


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        (on_workload("topospread.dev/promise: zone-loss>=3"), ""),
        (on_workload("topospread.dev/quorum: '2'"), ""),
        (on_workload("topospread.dev/ignore: no-budget"), ""),
        (on_workload("topospread.dev/scale-in: keep-spread"), ""),
        (on_workload("topospread.dev/pool: a"), ""),
        (on_pods("topospread.dev/fallback: after=5m"), ""),
        (on_workload("topospread.dev/promises: zone-loss>=3"), "did you mean topospread.dev/promise?"),
        (on_pods("topospread.dev/falback: after=5m"), "did you mean topospread.dev/fallback?"),
        (
            on_workload("topospread.dev/zzz: ''"),
            "known annotations: topospread.dev/promise, topospread.dev/quorum, topospread.dev/scale-in",
        ),
        (on_workload("topospread.dev/promise: zone-los>=3"), "did you mean zone-loss>=3?"),
        (on_workload(f"topospread.dev/promise: zone-loss>={'9' * 5000}"), 'promise "zone-loss>=999'),
        (on_workload(f"topospread.dev/quorum: '{'9' * 5000}'"), 'quorum "999'),
        (on_workload("topospread.dev/promise: ''"), "it declares nothing"),
        (on_workload("topospread.dev/quorum: two"), 'quorum "two" is no number of pods'),
        (on_workload("topospread.dev/scale-in: keep"), 'the only value is "keep-spread"'),
        (on_pods("topospread.dev/fallback: 5m"), "write after=DURATION"),
        (on_pods("topospread.dev/promise: quorum"), "it belongs to metadata.annotations of the Deployment"),
        (on_workload("topospread.dev/fallback: after=5m"), "it belongs to spec.template.metadata.annotations"),
        (
            on_workload("topospread.dev/promise: quorum", "DaemonSet"),
            "it belongs to metadata.annotations of a Deployment or StatefulSet",
        ),
    ],
)
def test_an_annotation_that_no_command_reads_is_reported(manifest: str, said: str) -> None:
    found = findings(manifest, RULE)
    assert len(found) == bool(said)
    for each in found:
        assert said in each.message
        assert "topospread.dev" in manifest.splitlines()[(each.place.line or 0) - 1]


def test_an_annotation_that_a_controller_copied_is_left_alone() -> None:
    owner = "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: a, controller: true}]"
    copied = on_workload("topospread.dev/promise: quorum", "ReplicaSet").replace(
        "metadata:", f"metadata:\n  {owner}", 1
    )
    assert findings(copied, RULE) == []


def test_an_annotation_of_another_kind_or_of_a_custom_resources_pods_is_checked() -> None:
    space = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, annotations: {topospread.dev/quorum: '2'}}\n"
    assert len(findings(space, RULE)) == 1
    unknown = "apiVersion: example.com/v1\nkind: A\nmetadata: {name: a, annotations: {topospread.dev/quorums: '2'}}\n"
    assert len(findings(unknown, RULE)) == 1
