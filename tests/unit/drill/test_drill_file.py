"""Drills in files: how they are read, what is refused where, and what they are held to."""

from __future__ import annotations

from pathlib import Path

import pytest

from topospread.drill.drill_file import find_drills
from topospread.drill.expectations import Expectations
from topospread.drill.steps import AddNodes, Apply, Fail, Scale, Wait
from topospread.errors import InputError, UsageError

from .builders import at

HEAD = "apiVersion: topospread.dev/v1alpha1\nkind: Drill\n"
WHOLE = (
    HEAD
    + """metadata: {name: all}
spec:
  cluster: zones=2,nodes=4
  manifests: [web.yaml]
  kubeVersion: "1.35"
  steps:
    - fail: zone=zone-a
    - wait: 90s
    - scale: deploy/web=3
    - addNodes: {number: 2, like: node-1}
    - apply: more/web.yaml
  expect:
    pending: 0
    skew: {deploy/web: 1}
    ready: {deploy/web: 2}
    settledWithin: 10m
"""
)


def written(folder: Path, text: str, name: str = "d.yaml") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_everything_that_may_stand_in_a_file_is_read(tmp_path: Path) -> None:
    (found,) = find_drills([written(tmp_path, WHOLE)])
    assert (found.name, found.manifests.cluster, found.settings.kube_version) == ("all", "zones=2,nodes=4", "1.35")
    assert found.manifests.paths == (str(tmp_path / "web.yaml"),)
    assert found.steps == (
        Fail(at("zone=zone-a")),
        Wait(90),
        Scale("deploy/web", 3),
        AddNodes(2, "node-1"),
        Apply(str(tmp_path / "more/web.yaml")),
    )
    assert found.expect == Expectations(
        pending=0, skew_of={"deploy/web": 1}, ready={"deploy/web": 2}, settled_within=600
    )


@pytest.mark.parametrize(
    ("change", "says", "line"),
    [
        (("pending: 0", "pendng: 0"), "did you mean pending?", 15),
        (("kubeVersion", "kubeversion"), "did you mean kubeVersion?", 7),
        (("- fail:", "- fial:"), "did you mean fail?", 9),
        (("zone=zone-a", "zone-a"), "write KEY=VALUE", 9),
        (("90s", "90"), "put it in quotes", 10),
        (("number: 2, ", ""), "number is missing", 12),
        (("number: 2", "number: 0"), "at least 1", 12),
        (("number: 2", "number: 100001"), "at most 100000 nodes in all steps", 8),
        (("pending: 0", "pending: -1"), "at least 0", 15),
        (("settledWithin: 10m", "settledWithin: soon"), "duration", 18),
        (("v1alpha1", "v2"), "apiVersion topospread.dev/v1alpha1", 1),
        (("[web.yaml]", "web.yaml"), "expected a list", 6),
        (('"1.35"', '"1.5"'), "1.5", 7),
    ],
)
def test_what_means_nothing_is_refused_with_its_line(
    tmp_path: Path, change: tuple[str, str], says: str, line: int
) -> None:
    assert change[0] in WHOLE
    with pytest.raises(InputError) as caught:
        find_drills([written(tmp_path, WHOLE.replace(*change))])
    assert says in str(caught.value)
    assert caught.value.place.line == line


@pytest.mark.parametrize("missing", ["steps", "expect"])
def test_steps_and_expectations_are_required(tmp_path: Path, missing: str) -> None:
    parts = {"steps": "  steps: [{wait: 1s}]\n", "expect": "  expect: {pending: 0}\n"}
    del parts[missing]
    with pytest.raises(InputError, match=f"spec.{missing}: it is missing"):
        find_drills([written(tmp_path, HEAD + "spec:\n" + "".join(parts.values()))])


def test_other_files_of_a_folder_are_passed_over(tmp_path: Path) -> None:
    written(tmp_path, "kind: Service", "a.yaml")
    written(tmp_path, "{{ no yaml }}:\n  - {", "chart.yaml")
    written(tmp_path, WHOLE)
    assert [each.name for each in find_drills([str(tmp_path)])] == ["all"]


def test_a_path_without_drills_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no drill found"):
        find_drills([written(tmp_path, "kind: Service")])
