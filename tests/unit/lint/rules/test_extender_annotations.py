"""Rules about the annotations that the extender reads."""

from __future__ import annotations

import pytest

from tests.unit.lint.manifests import messages
from topospread.lint.examples import deployment

LABELS = "      labels: {app: web}\n"


def annotated(text: str) -> str:
    return deployment("").replace(LABELS, f"{LABELS}      annotations:\n        {text}\n")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("topospread.dev/shares: 'zone: a=60, b=40'", []),
        ("topospread.dev/shares: 'zone: a=60'", ["zone: the shares are 60 % in all, not 100 %"]),
        ("topospread.dev/counted: app=web", ["nothing is asked"]),
        ("example.com/shares: x", []),
    ],
)
def test_what_the_extender_cannot_read_is_an_error(text: str, found: list[str]) -> None:
    told = messages(annotated(text), "extender-annotation-malformed")
    assert len(told) == len(found)
    assert all(each.startswith(words) for each, words in zip(told, found, strict=True))


def test_an_annotation_on_the_workload_is_not_the_pods() -> None:
    on_owner = deployment("").replace("  name: web\n", "  name: web\n  annotations: {topospread.dev/counted: a}\n", 1)
    (told,) = messages(on_owner, "extender-annotation-misplaced")
    assert told.endswith("move it to spec.template.metadata")
    assert messages(on_owner, "extender-annotation-malformed") == []


def test_a_pods_own_annotation_stands_where_it_belongs() -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  annotations: {topospread.dev/max-per-domain: 'zone: x'}\n"
    pod += "spec:\n  containers: [{name: a, image: a}]\n"
    assert messages(pod, "extender-annotation-misplaced") == []
    assert len(messages(pod, "extender-annotation-malformed")) == 1
