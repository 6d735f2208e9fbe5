"""Charts and kustomizations are linted as what Helm and kustomize make of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.sources.fake_programs import FakePrograms, programs
from topospread.answers.lint import cases, lint_answer
from topospread.cli.lint import left_out
from topospread.config.gates import gates_for
from topospread.errors import InputError
from topospread.lint import reading
from topospread.lint.fixing import mend
from topospread.lint.reading import Question
from topospread.lint.run import LintReport, run
from topospread.lint.settings import Settings
from topospread.render.junit import junit
from topospread.sources.rendering import RAW

__all__ = ["programs"]
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers: [{name: a, image: a}]
  topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: failure-domain.beta.kubernetes.io/zone
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {matchLabels: {app: web}}
"""
BUDGET = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
"""
RULE = "beta-topology-key"


@pytest.fixture
def chart(tmp_path: Path, programs: FakePrograms) -> Path:
    folder = tmp_path / "web"
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 1.0.0\n")
    (folder / "templates" / "pod.yaml").write_text("{{- if .Values.on }}\n" + POD + "{{- end }}\n")
    programs.install("helm", "---\n# Source: web/templates/pod.yaml\n" + POD)
    return folder


def judged(*paths: Path, rules: tuple[str, ...] = (RULE,), ignored: str = "") -> LintReport:
    per_file = {ignored.lstrip("/"): frozenset(rules)} if ignored else {}
    settings = Settings(select=frozenset(rules), per_file_ignores=per_file, folder="/")
    return run(Question(paths=[str(path) for path in paths], settings=settings))


def overlays(tmp_path: Path, programs: FakePrograms, texts: dict[str, str]) -> None:
    """Kustomizations that build these texts."""
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "kustomization.yaml").write_text("resources: []\n")
        (tmp_path / name / "built").write_text(text)
    shown = f"for n in {' '.join(texts)}; do "
    shown += "if [ ${2##*/} = $n ] || grep -q '/'$n'\"$' \"$2/kustomization.yaml\"; "
    shown += f"then cat {tmp_path}/$n/built; fi; done"
    programs.install("kustomize", before=shown)


def test_a_finding_in_a_chart_stands_in_its_template(chart: Path) -> None:
    (finding,) = judged(chart.parent).findings
    assert (finding.place.source, finding.place.line) == (f"{chart}/templates/pod.yaml", 9)
    assert finding.rendered is not None
    assert (finding.rendered.source, finding.rendered.line) == (str(chart), 10)


def test_text_shows_the_line_as_it_was_rendered(chart: Path) -> None:
    text = lint_answer(judged(chart)).text(wide=True, width=200)
    assert f"{chart}/templates/pod.yaml\n9:5 warning: " in text
    assert "rendered 10 |     topologyKey: failure-domain.beta.kubernetes.io/zone" in text


def test_reports_for_machines_name_both_places(chart: Path) -> None:
    outcome = judged(chart)
    (finding,) = lint_answer(outcome).to_dict()["findings"]
    assert (finding["file"], finding["line"]) == (f"{chart}/templates/pod.yaml", 9)
    assert finding["rendered"] == {"of": str(chart), "document": 1, "line": 10, "column": 5}
    assert "pod.yaml:9:5" in junit("topospread lint", cases(outcome))


def test_what_was_rendered_is_not_fixed(chart: Path) -> None:
    settings = Settings(select=frozenset({RULE}))
    outcome, mended = mend(Question(paths=[str(chart)], settings=settings))
    assert mended == []
    assert [each.fix for each in outcome.findings] == [()]


def test_comments_in_a_template_ignore_what_they_cover(chart: Path, programs: FakePrograms) -> None:
    comment = f"    # topospread: ignore {RULE} why\n    topologyKey"
    programs.install("helm", "---\n# Source: web/templates/pod.yaml\n" + POD.replace("    topologyKey", comment))
    outcome = judged(chart)
    assert (outcome.findings, len(outcome.ignored)) == ([], 1)


def test_an_ignore_that_is_of_no_use_stands_in_the_template(chart: Path, programs: FakePrograms) -> None:
    pod = POD.replace("failure-domain.beta", "topology")
    comment = f"    # topospread: ignore {RULE} why\n    topologyKey"
    programs.install("helm", "---\n# Source: web/templates/pod.yaml\n" + pod.replace("    topologyKey", comment))
    (finding,) = judged(chart, rules=(RULE, "unused-ignore")).findings
    assert (finding.rule, finding.place.source) == ("unused-ignore", f"{chart}/templates/pod.yaml")


def claiming(origin: str, name: str = "web") -> str:
    """The pod as kustomize makes it, with an annotation of its origin."""
    head = "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n    config.kubernetes.io/origin: |\n"
    said = f"      {origin}\n  name: {name}\n  labels: {{app: web}}\n"
    return head + said + POD.partition("labels: {app: web}}\n")[2]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "pod.yaml").write_text(POD)
    (tmp_path / "base" / "kustomization.yaml").write_text("resources: [pod.yaml]\n")
    return tmp_path / "base"


def test_what_two_overlays_have_of_one_base_is_one_finding(tmp_path: Path, base: Path, programs: FakePrograms) -> None:
    built = claiming(f"path: {base}/pod.yaml")
    overlays(tmp_path, programs, {"dev": built, "prod": built})
    for name in ("dev", "prod"):
        (tmp_path / name / "kustomization.yaml").write_text("resources: [../base]\n")
    (finding,) = judged(tmp_path / "dev", tmp_path / "prod").findings
    assert (finding.place.source, finding.place.line) == (f"{tmp_path}/base/pod.yaml", 8)
    for glob, count in (("dev/*", 1), ("prod/*", 1), ("*/kustomization.yaml", 0), ("base/*", 0)):
        assert len(judged(tmp_path / "dev", tmp_path / "prod", ignored=f"{tmp_path}/{glob}")) == count


@pytest.mark.parametrize("said", ["path", "configuredIn"])
@pytest.mark.parametrize("resources", ["[pod.yaml]", "[pod.yaml, ../base]"])
def test_an_origin_that_a_patch_wrote_hides_nothing(
    tmp_path: Path, base: Path, programs: FakePrograms, said: str, resources: str
) -> None:
    forged = claiming(f"{said}: {base}/{'pod' if said == 'path' else 'kustomization'}.yaml")
    own = claiming(f"path: {base}/pod.yaml", "old-web")
    overlays(tmp_path, programs, {"app": forged + ("---\n" + own if "base" in resources else "")})
    (tmp_path / "app" / "pod.yaml").write_text(POD)
    (tmp_path / "app" / "kustomization.yaml").write_text(f"resources: {resources}\n")
    found = judged(tmp_path / "app", ignored=f"{base}/*").findings
    assert "Pod default/web" in {each.place.object for each in found}
    if "base" not in resources:
        assert {each.place.source for each in found} == {f"{tmp_path}/app/kustomization.yaml"}


def test_overlays_of_one_base_are_not_one_cluster(tmp_path: Path, programs: FakePrograms) -> None:
    """What stands in every overlay does not count what stands in another one."""
    alone = POD.replace("failure-domain.beta", "topology")
    overlays(tmp_path, programs, {"dev": alone + "---\n" + BUDGET, "prod": alone + "---\n" + BUDGET})
    worlds = judged(tmp_path, rules=("object-twice",))
    assert worlds.findings == []
    assert len(worlds.read.manifests) == 4
    assert len(worlds.given.manifests) == 2


def test_plain_files_and_what_is_made_once_belong_to_every_overlay(tmp_path: Path, programs: FakePrograms) -> None:
    (tmp_path / "budget.yaml").write_text(BUDGET)
    other = POD.replace("name: web", "name: other")
    overlays(tmp_path, programs, {"dev": POD, "prod": POD, "rest": other})
    outcome = judged(tmp_path)
    assert sorted(each.item.metadata.name or "" for each in outcome.given.manifests) == ["other", "web", "web"]
    assert len(outcome.read.manifests) == 4


def test_overlays_that_share_only_equal_objects_are_one_cluster_too(tmp_path: Path, programs: FakePrograms) -> None:
    other = POD.replace("name: web", "name: other")
    overlays(tmp_path, programs, {"a": POD + "---\n" + BUDGET, "b": other + "---\n" + BUDGET})
    outcome = judged(tmp_path, rules=(RULE, "object-twice"))
    assert sorted(each.item.metadata.name or "" for each in outcome.given.manifests) == ["other", "web", "web"]
    assert [each.rule for each in outcome.findings] == [RULE, RULE]
    assert not [each for each in outcome.read.notes if "alternatives" in each]


def test_overlays_that_differ_in_one_object_are_told(tmp_path: Path, programs: FakePrograms) -> None:
    """A change could hide a finding about objects of two kustomizations so."""
    texts = {"a": POD + "---\n" + BUDGET, "b": BUDGET.replace("1,", "2,"), "c": POD.replace("name: web", "name: c")}
    overlays(tmp_path, programs, texts)
    (note,) = (each for each in judged(tmp_path).read.notes if "alternatives" in each)
    because = "because they differ in PodDisruptionBudget default/web"
    assert note == f"{tmp_path}/a, {tmp_path}/b: linted as alternatives, {because}"


def test_a_chart_that_cannot_be_rendered_does_not_end_the_rest(chart: Path, programs: FakePrograms) -> None:
    (chart.parent / "pod.yaml").write_text(POD)
    programs.install("helm", stderr="Error: no", code=1)
    outcome = judged(chart.parent)
    assert [str(each) for each in outcome.read.broken] == [f"{chart}: `helm template` failed: no"]
    assert [each.place.source for each in outcome.findings] == [f"{chart.parent}/pod.yaml"]


def test_a_missing_program_is_an_error_unless_the_chart_is_excluded(chart: Path, programs: FakePrograms) -> None:
    (chart.parent / "pod.yaml").write_text(POD)
    (programs.folder / "helm").unlink()
    with pytest.raises(InputError, match="helm is not on the PATH"):
        judged(chart.parent)
    settings = Settings(exclude=("web*",), folder=str(chart.parent), select=frozenset({RULE}))
    assert len(run(Question(paths=[str(chart.parent)], settings=settings)).findings) == 1


def test_raw_leaves_templates_out_and_says_so(chart: Path) -> None:
    outcome = run(Question(paths=[str(chart)], rendering=RAW))
    assert outcome.findings == []
    assert any("a chart's template, skipped: lint the chart's folder" in note for note in left_out(outcome.read))


def test_of_the_files_that_were_named_every_one_left_out_is_told(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text(f"patches: {[{'path': f'{name}.yaml'} for name in 'abcdefg']}\n")
    files = [tmp_path / f"{name}.yaml" for name in "abcdefg"]
    for each in files:
        each.write_text(POD)
    paths = list(map(str, files))
    (note,) = left_out(run(Question(paths=paths)).read, paths)
    assert all(each in note for each in paths)


@pytest.mark.parametrize("kind", ["Kustomization", "Component"])
def test_manifests_that_a_kustomization_leaves_out_are_counted_in_the_first_line(
    tmp_path: Path, base: Path, programs: FakePrograms, kind: str
) -> None:
    programs.install("kustomize", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    (base / "kustomization.yaml").write_text(f"apiVersion: kustomize.config.k8s.io/v1\nkind: {kind}\nresources: []\n")
    (base / "values.yaml").write_text("a: 1\n")
    (tmp_path / "a.yaml").write_text(BUDGET)
    says = lint_answer(judged(tmp_path)).says
    assert says.endswith("; 1 file with manifests left out")
    (base / "kustomization.yaml").write_text("resources: [pod.yaml]\n")
    assert "left out" not in lint_answer(judged(tmp_path)).says


def test_what_was_rendered_is_told(chart: Path) -> None:
    assert left_out(judged(chart).read) == [f"{chart}: rendered with `helm template`"]


def test_charts_and_kustomizations_render_a_limited_number_of_objects(
    tmp_path: Path, programs: FakePrograms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_MOST_RENDERED", 3)
    overlays(tmp_path, programs, {"a": f"{POD}---\n{BUDGET}", "b": f"{POD}---\n{BUDGET}"})
    named = [str(tmp_path / each) for each in "ab"]
    assert not reading.read(Question(paths=named[:1]), gates_for("1.37")).broken
    (error,) = reading.read(Question(paths=named), gates_for("1.37")).broken
    assert str(error) == f"{tmp_path}/b: charts and kustomizations render more than 3 objects; name fewer"
