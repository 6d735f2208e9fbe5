"""What Helm or Kustomize has yet to make a manifest of, read raw, is not accused of what they will fill in."""

from __future__ import annotations

from pathlib import Path

import pytest

from topospread.answers.lint import lint_answer
from topospread.lint.reading import Question
from topospread.lint.run import LintReport, run
from topospread.lint.unfinished import FolderContext
from topospread.sources.rendering import RAW

PARTIAL = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 3}\n"
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {app: a}}
spec:
  containers: [{name: a}]
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}
"""


def judged(*paths: Path) -> LintReport:
    return run(Question(paths=[str(path) for path in paths], rendering=RAW))


def rules(outcome: LintReport) -> set[str]:
    return {each.rule for each in outcome.findings if each.severity != "hint"}


def test_a_charts_templates_are_left_out_and_what_stands_beside_is_linted(tmp_path: Path) -> None:
    template = tmp_path / "chart" / "templates" / "web" / "app.yaml"
    template.parent.mkdir(parents=True)
    (tmp_path / "chart" / "Chart.yaml").write_text("apiVersion: v2\nname: a\nversion: 1.0.0\n")
    (tmp_path / "chart" / "values.yaml").write_text("kind: DaemonSet\nreplicas: 3\n")
    template.write_text("{{- if .Values.a }}\nkind: Pod\napiVersion: v1\n{{- end }}\n")
    (tmp_path / "app.yaml").write_text(POD)
    outcome = judged(tmp_path)
    assert not outcome.read.broken
    assert rules(outcome) == {"validation", "selector-empty"}
    left = {Path(name).name: why for name, why in outcome.read.left_out.items()}
    assert left == {"app.yaml": "template", "Chart.yaml": "other", "values.yaml": "other"}


def test_a_chart_above_the_linted_folder_leaves_nothing_out(tmp_path: Path) -> None:
    app = tmp_path / "templates" / "prod" / "app.yaml"
    app.parent.mkdir(parents=True)
    app.write_text(PARTIAL)
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: a\nversion: 1.0.0\n")
    assert rules(judged(app.parent)) == {"validation"}
    for whole in (tmp_path, app):
        assert rules(judged(whole)) == set()


def test_a_patch_of_a_file_that_is_not_a_kustomization_is_linted(tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(PARTIAL)
    kustomization = tmp_path / "kustomization.yaml"
    for version, found in (("kustomize.config.k8s.io/v1beta1", set()), ("example.com/v1", {"validation"})):
        kustomization.write_text(
            f"apiVersion: {version}\nkind: A\nmetadata: {{name: a}}\npatches: [{{path: web.yaml}}]"
        )
        assert rules(judged(tmp_path)) == found


def test_only_the_kustomization_that_is_built_names_patches(tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(PARTIAL)
    (tmp_path / "kustomization.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    (tmp_path / "Kustomization").write_text("patches: [{path: web.yaml}]\n")
    assert rules(judged(tmp_path)) == {"validation"}


def test_a_file_is_linted_with_any_folder_above_it(tmp_path: Path) -> None:
    context = FolderContext([str(tmp_path / "a"), str(tmp_path / "a" / "b" / "c.yaml")])
    assert [context._is_linted(str(tmp_path / each)) for each in ("a", "a/b/c", "ab", "")] == [True, True, False, False]
    assert FolderContext(["/"])._is_linted(str(tmp_path))


def test_a_folder_of_templates_without_a_chart_holds_manifests(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "app.yaml").write_text(PARTIAL)
    assert rules(judged(tmp_path)) == {"validation"}


@pytest.mark.parametrize(
    "how",
    [
        "patches: [{path: patches/app.yaml}]",
        "patchesStrategicMerge: [patches/app.yaml, 'kind: Pod\n\n  apiVersion: v1']",
        "patchesJson6902: [{path: patches/app.yaml, target: {kind: Deployment, name: a}}]",
    ],
)
def test_a_kustomizations_patches_are_left_out(tmp_path: Path, how: str) -> None:
    patch = tmp_path / "patches" / "app.yaml"
    patch.parent.mkdir()
    patch.write_text(PARTIAL)
    (tmp_path / "kustomization.yaml").write_text(f"kind: Kustomization\n{how}\n")
    for paths in ((tmp_path,), (patch,)):
        outcome = judged(*paths)
        assert rules(outcome) == set()
        assert outcome.read.left_out[str(patch)] == "patch"
        assert ("1 file with manifests left out" in lint_answer(outcome).says) == (paths == (patch,))


@pytest.mark.parametrize("how", ["patches: [{path: k8s/prod/app.yaml}]", "resources: [k8s/prod/app.yaml]\nvars: [a]"])
def test_a_kustomization_above_the_linted_folder_leaves_nothing_out(tmp_path: Path, how: str) -> None:
    app = tmp_path / "k8s" / "prod" / "app.yaml"
    app.parent.mkdir(parents=True)
    app.write_text(PARTIAL)
    (tmp_path / "kustomization.yaml").write_text(how)
    for paths in ((app.parent,), (app.parent.parent, app.parent), (app.parent, tmp_path / "kustomization.yaml")):
        assert rules(judged(*paths)) == {"validation"}
    assert rules(judged(tmp_path)) == set()


@pytest.mark.parametrize(
    ("field", "found"),
    [
        ("labels: [{pairs: {app: a}, includeSelectors: true}]", {"selector-empty"}),
        ("namespace: shop", {"validation", "selector-empty"}),
        ("patches: []", {"validation", "selector-empty"}),
    ],
)
def test_what_a_kustomization_changes_is_judged_but_not_validated(tmp_path: Path, field: str, found: set[str]) -> None:
    (tmp_path / "app.yaml").write_text(POD)
    (tmp_path / "kustomization.yaml").write_text(f"resources: [app.yaml]\n{field}\n")
    assert rules(judged(tmp_path / "app.yaml")) == found


def test_a_kustomization_above_the_repository_leaves_nothing_out(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "kustomization.yaml").write_text("patches:\n- path: repo/app.yaml\n")
    (tmp_path / "repo" / "app.yaml").write_text(POD)
    assert judged(tmp_path / "repo" / "app.yaml").findings != judged(tmp_path / "kustomization.yaml").findings


def test_a_kustomization_that_is_no_yaml_names_nothing(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text(POD)
    (tmp_path / "kustomization.yaml").write_text("patches: [")
    assert "validation" in rules(judged(tmp_path / "app.yaml"))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("apiVersion: v1\n", False),
        ("kind: bug-fix\nmetadata: {}\n", False),
        ("apiVersion: v2\nname: chart\nmetadata: {}\n", False),
        ("apiVersion: v1\nmetadata: {name: a}\n", True),
        ("kind: Pod\nmetadata: {name: a}\n", True),
        ("- apiVersion: v1\n  kind: Pod\n", False),
    ],
)
def test_what_lacks_a_part_of_its_type_is_accused_only_when_it_is_meant_as_an_object(
    tmp_path: Path, text: str, meant: bool
) -> None:
    (tmp_path / "a.yaml").write_text(text)
    assert rules(judged(tmp_path)) == ({"validation"} if meant else set())
