"""Which folders are charts and kustomizations, and what of a tree is read."""

from __future__ import annotations

import os
import shutil
import tarfile
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from tests.unit.sources.fake_programs import FakePrograms, programs
from topospread.errors import InputError
from topospread.lint.settings import Settings
from topospread.sources import files, kustomizations
from topospread.sources.folders import PathContents, check_programs, look_into, wholes_of
from topospread.sources.rendering import RAW, ChartUnit, KustomizationUnit, Rendering

__all__ = ["programs"]
CHART = "apiVersion: v2\nname: web\nversion: 1.0.0\n"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def look(folder: Path, inside: str = "") -> PathContents:
    return look_into(str(folder / inside) if inside else str(folder), Rendering())


def kinds(folder: Path, inside: str = "") -> dict[str, str]:
    """What is read, and how."""
    names = {ChartUnit: "chart", KustomizationUnit: "kustomization", type(None): "file"}
    return {os.path.relpath(each.path, folder): names[type(each.unit)] for each in look(folder, inside).sources}


@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
def test_a_folder_with_a_kustomization_is_built_and_its_files_are_not_read(tmp_path: Path, name: str) -> None:
    write(tmp_path, {f"app/{name}": "resources: [a.yaml]\n", "app/a.yaml": "", "b.yaml": ""})
    assert kinds(tmp_path) == {"app": "kustomization", "b.yaml": "file"}
    assert kinds(tmp_path, "app") == {"app": "kustomization"}


def test_a_folder_with_a_chart_is_rendered_with_all_that_is_in_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "x/web/Chart.yaml": CHART,
            "x/web/templates/a.yaml": "",
            "x/web/charts/sub/Chart.yaml": CHART,
            "x/web/ci/kustomization.yaml": "",
            "x/a.yaml": "",
        },
    )
    assert kinds(tmp_path) == {"x/a.yaml": "file", "x/web": "chart"}


def test_bases_and_components_that_others_refer_to_are_not_read_alone(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "base/kustomization.yaml": "resources: [a.yaml]\n",
            "base/a.yaml": "",
            "zone/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n",
            "overlays/dev/kustomization.yaml": "bases: [../../base]\n",
            "overlays/prod/kustomization.yaml": "resources: [../../base, extra/]\ncomponents: [../../zone]\n",
            "overlays/prod/extra/kustomization.yaml": "resources: []\n",
        },
    )
    assert kinds(tmp_path) == {"overlays/dev": "kustomization", "overlays/prod": "kustomization"}
    assert kinds(tmp_path, "base") == {"base": "kustomization"}


def test_nested_folders_below_a_kustomization_are_looked_into(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "kustomization.yaml": "resources: [a.yaml]\n",
            "a.yaml": "",
            "lost.yaml": "",
            "deep/er/kustomization.yaml": "",
            "deep/chart/Chart.yaml": CHART,
            "deep/plain.yaml": "",
        },
    )
    assert kinds(tmp_path) == {".": "kustomization", "deep/chart": "chart", "deep/er": "kustomization"}
    unread = f"{tmp_path}/lost.yaml, {tmp_path}/deep/plain.yaml: not read, no kustomization refers to it"
    assert unread in look(tmp_path).notes


def test_what_is_made_of_the_folder_that_is_named_is_not_built_beside_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "kustomization.yaml": "resources: []\n",
            "overlays/dev/kustomization.yaml": "resources: [../..]\n",
            "overlays/dev-east/kustomization.yaml": "resources: [../dev]\n",
        },
    )
    assert kinds(tmp_path) == {".": "kustomization"}
    assert any("overlays/dev" in note and "name it instead" in note for note in look(tmp_path).notes)


def test_what_is_to_be_applied_is_the_kustomization_of_a_folder_and_nothing_beside_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "app/kustomization.yaml": "resources: [base]\n",
            "app/base/kustomization.yaml": "resources: []\n",
            "app/tests/kustomization.yaml": "resources: [../base]\n",
            "app/chart/Chart.yaml": CHART,
        },
    )
    app = str(tmp_path / "app")
    found = look_into(app, Rendering(), to_apply=True)
    assert [each.path for each in found.sources] == [app]
    assert found.notes == [
        f"{app}: built with kustomize",
        f"{app}/chart, {app}/tests: not built, because {app} does not refer to it; name it to read it",
    ]
    assert len(look_into(str(tmp_path), Rendering(), to_apply=True).sources) == 3
    assert len(look_into(app, Rendering()).sources) == 3


def test_charts_that_a_kustomization_inflates_are_not_rendered_beside_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "app/kustomization.yaml": "helmCharts: [{name: web}]\n",
            "app/charts/web/Chart.yaml": CHART,
            "other/kustomization.yaml": "helmGlobals: {chartHome: ../vendor}\nhelmCharts: [{name: web}]\n",
            "vendor/web/Chart.yaml": CHART,
        },
    )
    assert kinds(tmp_path) == {"app": "kustomization", "other": "kustomization"}


def test_a_chart_beside_those_that_a_kustomization_names_is_rendered(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "app/kustomization.yaml": "helmGlobals: {chartHome: ..}\nhelmCharts: [{name: web, version: 1.0.0}]\n",
            "old/kustomization.yaml": "helmChartInflationGenerator: [{chartName: cache, chartHome: ../vendor}]\n",
            "web/Chart.yaml": CHART,
            "web-1.0.0/web/Chart.yaml": CHART,
            "web-2/Chart.yaml": CHART,
            "vendor/cache/Chart.yaml": CHART,
            "vendor/cache2/Chart.yaml": CHART,
        },
    )
    read = {"app": "kustomization", "old": "kustomization", "web-2": "chart", "vendor/cache2": "chart"}
    assert kinds(tmp_path) == read
    (note,) = [each for each in look(tmp_path).notes if each.endswith("not read alone")]
    for part, whole in (("vendor/cache", "old"), ("web", "app"), ("web-1.0.0/web", "app")):
        assert f"{tmp_path}/{part} (part of {tmp_path}/{whole})" in note


COMPONENT = "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n"


@pytest.mark.parametrize(
    ("others", "read"),
    [
        ({"zz": f"{COMPONENT}resources: [../k8s]\n"}, {"k8s"}),
        ({"zz": f"{COMPONENT}components: [../yy]\n", "yy": f"{COMPONENT}components: [../zz, ../k8s]\n"}, {"k8s"}),
        ({"zz": f"{COMPONENT}resources: [../k8s]\n", "aa": "components: [../zz]\n"}, {"aa"}),
        ({"a": "resources: [../b]\n", "b": "resources: [../a, ../k8s]\n"}, {"a"}),
        ({"zz": "resources: [../a]\n", "a": "resources: [../b]\n", "b": "resources: [../a, ../k8s]\n"}, {"zz"}),
        ({"k8s/self": "resources: [., ..]\n"}, {"k8s/self"}),
        ({"zz": "resources: [../k8s]\n", "yy": "resources: [../zz]\n", "aa": "resources: [../k8s]\n"}, {"aa", "yy"}),
    ],
)
def test_only_what_a_built_kustomization_refers_to_is_not_built_alone(
    tmp_path: Path, others: dict[str, str], read: set[str]
) -> None:
    """Otherwise a file that nobody applies would hide what is deployed."""
    write(tmp_path, {f"{name}/kustomization.yaml": text for name, text in {"k8s": "resources: []\n", **others}.items()})
    assert set(kinds(tmp_path)) == read


def test_charts_of_a_component_that_nothing_refers_to_are_rendered(tmp_path: Path) -> None:
    component = f"{COMPONENT}helmGlobals: {{chartHome: ..}}\nhelmCharts: [{{name: web}}]\n"
    write(tmp_path, {"zz/kustomization.yaml": component, "web/Chart.yaml": CHART})
    assert kinds(tmp_path) == {"web": "chart"}


@pytest.mark.parametrize("name", ["kustomization.yaml", "other/file.yaml"])
def test_an_overlay_whose_findings_are_not_reported_includes_nothing(tmp_path: Path, name: str) -> None:
    """An overlay is excluded, another has a rule disabled: their base and chart are built, too."""
    inside = "resources: [../../base]\nhelmGlobals: {chartHome: ../..}\nhelmCharts: [{name: web}]\n"
    write(
        tmp_path,
        {
            "base/kustomization.yaml": "resources: [a.yaml]\n",
            "base/a.yaml": OBJECT,
            "base/other.yaml": OBJECT,
            "web/Chart.yaml": CHART,
            f"tests/x/{name}": f"{inside}patches: [{{path: own.yaml}}, {{path: ../../base/other.yaml}}]\n",
            "tests/x/own.yaml": OBJECT,
        },
    )
    if name != "kustomization.yaml":
        (tmp_path / "tests" / "x" / "kustomization.yaml").symlink_to(name)

    def found(settings: Settings) -> tuple[list[str], list[str]]:
        contents = look_into(str(tmp_path), Rendering(), ignored=settings.ignored_in)
        kept = [os.path.relpath(each.path, tmp_path) for each in contents.sources]
        return kept, [os.path.relpath(each, tmp_path) for each in contents.unread]

    folder = str(tmp_path)
    for glob in ("tests/*", "tests/x"):
        kept, unread = found(Settings(exclude=(glob,), folder=folder))
        assert (kept, unread) == (["base", "web"], ["base/other.yaml"])
    rules, glob = frozenset({"validation"}), "tests/*"
    kept, _ = found(Settings(per_file_ignores={glob: rules}, folder=folder))
    assert kept == ["base", "tests/x", "web"]
    kept, _ = found(Settings(per_file_ignores={"*": rules, glob: rules}, folder=folder))
    assert kept == ["tests/x"]


def test_a_chart_beside_a_kustomization_is_told_and_counted(tmp_path: Path) -> None:
    inflating = "helmGlobals: {chartHome: ..}\nhelmCharts: [{name: b}]\n"
    write(tmp_path, {"a/kustomization.yaml": "namePrefix: a-\n", "a/Chart.yaml": CHART, "a/templates/a.tpl": OBJECT})
    write(tmp_path, {"b/kustomization.yaml": inflating, "b/Chart.yaml": CHART})
    contents = look(tmp_path)
    assert kinds(tmp_path) == {"a": "kustomization", "b": "kustomization"}
    assert contents.unread == [str(tmp_path / "a" / "Chart.yaml")]
    assert f"{tmp_path}/a/Chart.yaml: not rendered, its folder has a kustomization" in contents.notes


def test_objects_below_a_kustomization_in_its_file_are_told_and_counted(tmp_path: Path) -> None:
    write(tmp_path, {"a/kustomization.yaml": f"namePrefix: a-\n---\n{OBJECT}"})
    write(tmp_path, {"b/kustomization.yaml": "---\nnamePrefix: a-\n---\n# b\n"})
    contents = look(tmp_path)
    assert contents.unread == [str(tmp_path / "a" / "kustomization.yaml")]
    words = "kustomize reads only the first document, not the objects below"
    assert f"{tmp_path}/a/kustomization.yaml: {words}" in contents.notes
    excluded = Settings(exclude=("a",), folder=str(tmp_path)).ignored_in
    assert look_into(str(tmp_path), Rendering(), ignored=excluded).unread == []


def test_what_is_part_of_another_kustomization_is_told(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "k8s/kustomization.yaml": "resources: []\n",
            "zz/kustomization.yaml": "resources: [../k8s]\npatches: [{target: {kind: Pod}, patch: '$patch: delete'}]\n",
        },
    )
    assert f"{tmp_path}/k8s (part of {tmp_path}/zz): not read alone" in look(tmp_path).notes
    assert look(tmp_path, "k8s").notes == [f"{tmp_path}/k8s: built with kustomize"]


def test_what_is_part_of_the_named_kustomization_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"kustomization.yaml": "resources: [sub]\n", "sub/kustomization.yaml": "resources: []\n"})
    assert f"{tmp_path}/sub (part of {tmp_path}): not read alone" in look(tmp_path).notes


def test_a_manifest_that_a_kustomization_only_mentions_is_told(tmp_path: Path) -> None:
    generator = "configMapGenerator: [{name: a, files: [a.yaml, settings.yaml]}]\ncommonAnnotations: {note: b=b.yaml}\n"
    write(
        tmp_path,
        {
            "kustomization.yaml": f"resources: [c.yaml]\n{generator}",
            **dict.fromkeys(("a.yaml", "b.yaml", "c.yaml"), OBJECT),
            "settings.yaml": "a: 1\n",
        },
    )
    assert f"{tmp_path}/a.yaml, {tmp_path}/b.yaml: not read, no kustomization refers to it" in look(tmp_path).notes


WORKLOADS = {
    "deployment": "{kind: Deployment, apiVersion: apps/v1, spec: {selector: {}, template: {spec: {containers: [%s]}}}}",
    "job": "{kind: Job, apiVersion: batch/v1, spec: {template: {spec: {containers: [%s]}}}}",
    "cron": "{kind: CronJob, apiVersion: batch/v1, spec: {schedule: a, jobTemplate: {spec: {template: {spec: {"
    "containers: [%s]}}}}}}",
    "pod": "{kind: Pod, apiVersion: v1, spec: {containers: [%s]}}",
    "list": "{kind: List, apiVersion: v1, items: [{kind: Pod, apiVersion: v1, spec: {containers: [%s]}}]}",
}


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS)
@pytest.mark.parametrize("field", ["patches: [{path: a.yaml}, {path: b.yaml}]", "patchesStrategicMerge: [a.yaml]"])
def test_a_whole_workload_that_is_only_a_patch_is_told(tmp_path: Path, workload: str, field: str) -> None:
    texts = {"a.yaml": workload % "{name: a, image: a}", "b.yaml": workload % "{name: a}", "c.yaml": OBJECT}
    write(tmp_path, {"kustomization.yaml": f"resources: [c.yaml]\n{field}\n", **texts})
    found = look(tmp_path)
    assert f"{tmp_path}/a.yaml: read only as a patch, it is a whole workload" in found.notes
    assert f"{tmp_path}/a.yaml" in found.unread
    write(tmp_path, {"kustomization.yaml": f"resources: [c.yaml, a.yaml]\n{field}\n"})
    assert not [each for each in look(tmp_path).notes if "a.yaml" in each]


def test_files_that_make_kustomize_leave_out_objects_are_told(tmp_path: Path) -> None:
    local = "kind: Pod\napiVersion: v1\nmetadata: {annotations: {config.kubernetes.io/%s: ''}}\n"
    write(
        tmp_path,
        {
            "kustomization.yaml": "resources: [a.yaml, b.yaml, c.yaml]\npatches: [{path: p.yaml}]\n",
            "a.yaml": local % "local-config",
            "b.yaml": local.replace("config.", '"config.').replace(": ''", '": a') % "loca\\x6c-config",
            "c.yaml": OBJECT + "# local-config\n",
            "p.yaml": "[{op: add, path: /metadata/annotations/config.kubernetes.io~1local-config, value: a}]\n",
        },
    )
    found = look(tmp_path)
    words = "kustomize leaves out the objects that this marks as local-config"
    assert f"{tmp_path}/a.yaml, {tmp_path}/b.yaml, {tmp_path}/p.yaml: {words}" in found.notes
    assert sorted(found.unread) == [f"{tmp_path}/a.yaml", f"{tmp_path}/b.yaml"]


def test_charts_of_kustomizations_and_values_files_are_searched_for_what_installs_otherwise(tmp_path: Path) -> None:
    now = "a: {{ now }}\n"
    write(tmp_path, {"k/kustomization.yaml": "helmCharts: [{name: web}]\n", "v.yaml": now})
    write(tmp_path, {"k/charts/web/Chart.yaml": CHART, "k/charts/web/templates/a.yaml": now, "c/Chart.yaml": CHART})
    values = str(tmp_path / "v.yaml")
    notes = look_into(str(tmp_path), Rendering(helm_values=(values,), helm_in_kustomizations=True)).notes
    told = sorted(each for each in notes if "at installation" in each)
    words = "Helm may render other manifests at installation, because of"
    chart = os.path.relpath(tmp_path / "k" / "charts" / "web")
    assert told == sorted([f"./{chart}: {words} templates/a.yaml:1 (now)", f"{values}: {words} v.yaml:1 (now)"])


def test_values_of_a_chart_in_a_kustomization_are_searched_for_what_installs_otherwise(tmp_path: Path) -> None:
    inline = 'helmCharts:\n- name: web\n  valuesFile: v.yaml\n  valuesInline: {a: "{{ now }}"}\n'
    write(
        tmp_path, {"kustomization.yaml": inline, "v.yaml": "a: '{{ randInt 1 9 }}'\n", "charts/web/Chart.yaml": CHART}
    )
    notes = look_into(str(tmp_path), Rendering(helm_in_kustomizations=True)).notes
    found = [each.rpartition("because of ")[2] for each in notes if "at installation" in each]
    assert found == ["kustomization.yaml:4 (now)", "v.yaml:1 (randInt)"]
    assert not any("at installation" in each for each in look(tmp_path).notes), "without charts they are other texts"


@pytest.mark.parametrize("named", ["resources: [../../x.yaml]\n", "patches: [{path: ../../x.yaml}]\n"])
@pytest.mark.parametrize("outside", ["local-config", "other", None])
def test_no_note_depends_on_a_file_outside_the_root(tmp_path: Path, named: str, outside: str | None) -> None:
    root = tmp_path / "repository"
    write(root, {".git/HEAD": "", "kustomization.yaml": "resources: []\n", "k/kustomization.yaml": named})
    if outside is not None:
        workload = f"spec: {{containers: [{{name: c, image: i}}]}}\nmetadata: {{name: {outside}}}\n"
        write(tmp_path, {"x.yaml": OBJECT + workload})
    notes = [f"{root}, {root}/k: built with kustomize"]
    assert look(root).notes == notes


def test_a_path_that_is_named_many_times_is_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a/kustomization.yaml": f"resources: [{', '.join(['../b'] * 1000)}]\n"})
    write(tmp_path, {"b/kustomization.yaml": "resources: []\n"})
    looked: list[str] = []
    lies = kustomizations.is_within
    monkeypatch.setattr(kustomizations, "is_within", lambda path, root: looked.append(path) or lies(path, root))
    assert kinds(tmp_path) == {"a": "kustomization"}
    kustomizations.check_reach(str(tmp_path / "a"), str(tmp_path), network=False)
    assert len(looked) < 20


def test_hidden_files_and_other_kinds_below_a_kustomization_are_told_and_counted(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "kustomization.yaml": "resources: []\n",
            "deploy/.bad.yaml": OBJECT,
            "deploy/.tool.yaml": "a: b\n",
            "deploy/kustomization.yaml": OBJECT,
        },
    )
    found, told = look(tmp_path), [f"{tmp_path}/deploy/.bad.yaml", f"{tmp_path}/deploy/kustomization.yaml"]
    assert found.unread == told
    assert f"{', '.join(told)}: not read, no kustomization refers to it" in found.notes


def test_a_manifest_in_a_hidden_folder_is_told_where_kubectl_apply_would_read_it(tmp_path: Path) -> None:
    write(tmp_path, {"app/web.yaml": OBJECT, "app/.more/late.yaml": OBJECT})
    note = f"{tmp_path}/app/.more/late.yaml: not read, in a folder that begins with a dot; name it to read it"
    assert look_into(str(tmp_path / "app"), Rendering(), to_apply=True).notes == [note]
    write(tmp_path, {"app/kustomization.yaml": "resources: [web.yaml]\n"})
    assert note not in look_into(str(tmp_path / "app"), Rendering(), to_apply=True).notes, "kubectl apply -k"


def test_a_link_that_names_a_chart_or_kustomization_counts_whether_its_target_exists(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name, kind in (("Chart.yaml", "chart"), ("kustomization.yaml", "kustomization")):
        for target in ("/etc/hostname", "/etc/missing"):
            (tmp_path / "app").mkdir()
            (tmp_path / "app" / name).symlink_to(target)
            assert kinds(tmp_path) == {"app": kind}
            shutil.rmtree(tmp_path / "app")


@pytest.mark.parametrize("top", ["plain", ".hidden", "chart"])
def test_the_path_of_a_folder_has_a_limit(tmp_path: Path, top: str) -> None:
    os.makedirs(os.path.join(tmp_path, top, *["a"] * 200))
    write(tmp_path, {"b.yaml": OBJECT, "chart/Chart.yaml": CHART})
    with pytest.raises(InputError, match="the path of this folder has more than 200 parts"):
        look(tmp_path)


def test_a_file_that_only_an_unused_component_elsewhere_names_is_told(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "k8s/kustomization.yaml": "resources: []\n",
            "k8s/a.yaml": "",
            "zz/kustomization.yaml": f"{COMPONENT}resources: [../k8s/a.yaml, own.yaml]\n",
            "zz/own.yaml": "",
        },
    )
    (note,) = [each for each in look(tmp_path).notes if "no kustomization refers to it" in each]
    assert note.startswith(f"{tmp_path}/k8s/a.yaml: ")


def test_charts_that_link_to_each_other_are_searched_once(
    tmp_path: Path, programs: FakePrograms, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs.install("helm")
    charts = tmp_path / "charts"
    for number in range(9):
        write(charts, {f"c{number}/Chart.yaml": CHART, f"c{number}/templates/a.yaml": ""})
        (charts / f"c{number}" / "all").symlink_to("..")
    searched: list[str] = []
    scandir = os.scandir

    def noted(path: str) -> Any:
        searched.append(path)
        return scandir(path)

    sources = look(charts).sources
    monkeypatch.setattr(os, "scandir", noted)
    check_programs(sources)
    check_programs(sources)
    assert len(searched) == len(set(searched)) == 19


def test_a_link_out_of_the_root_is_found_for_each_chart(tmp_path: Path, programs: FakePrograms) -> None:
    programs.install("helm")
    for name in ("a", "b"):
        write(tmp_path / "charts", {f"{name}/Chart.yaml": CHART})
        (tmp_path / "charts" / name / "shared").symlink_to("../shared")
    (tmp_path / "charts" / "shared").mkdir()
    (tmp_path / "charts" / "shared" / "out").symlink_to("../../secret")
    for source in look(tmp_path / "charts").sources:
        with pytest.raises(InputError, match="this symbolic link leaves"):
            check_programs([source])


def test_bases_of_many_overlays_are_checked_once(
    tmp_path: Path, programs: FakePrograms, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs.install("kustomize")
    count = 9
    for number in range(count):
        base = f"resources: [../base{number + 1}]\n" if number < count - 1 else "resources: []\n"
        overlay = "resources: [../base0]\n"
        write(tmp_path, {f"base{number}/kustomization.yaml": base, f"o{number}/kustomization.yaml": overlay})
    checked: list[str] = []
    check = kustomizations._ReachCheck

    def noted(folder: str, root: str, network: bool) -> kustomizations._ReachCheck:
        checked.append(folder)
        return check(folder, root, network)

    monkeypatch.setattr(kustomizations, "_ReachCheck", noted)
    sources = look(tmp_path).sources
    assert len(sources) == count
    check_programs(sources)
    assert len(checked) == len(set(checked)) == 2 * count


def test_checks_end_with_the_time_for_rendering(
    tmp_path: Path, programs: FakePrograms, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs.install("helm")
    write(tmp_path, {"a/Chart.yaml": CHART, "b/Chart.yaml": CHART})
    times = iter((0.0, files.MAX_RENDERING + 1))
    monkeypatch.setattr(time, "monotonic", lambda: next(times))
    with pytest.raises(InputError, match="took 600 seconds"):
        check_programs(look(tmp_path).sources)


OBJECT = "apiVersion: v1\nkind: Pod\n"


def test_manifests_of_a_charts_folder_that_helm_does_not_render_are_told(tmp_path: Path) -> None:
    charts = {
        "Chart.yaml": CHART,
        "values.yaml": "kind: Pod\nversion: apiVersion\n",
        "templates/a.yaml": OBJECT,
        "crds/crd.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n",
        "charts/sub/templates/a.yaml": OBJECT,
        "files/dashboard.json": '{"a": "\\\\"}',
    }
    manifests = {
        "b.yaml": f"kind: none\n---\n{OBJECT}",
        "charts/_sub/templates/a.yaml": OBJECT,
        "charts/sub/b.json": '{"apiVersion": "v1", "kind": "Pod"}',
        "crds/b.yaml": OBJECT,
        ".more/.a/b.yaml": OBJECT,
        "charts/.sub/templates/a.yaml": OBJECT,
        "more/Chart.yaml": CHART,
        "more/Kustomization": "resources: [a.txt]\n",
        "more/charts/sub/templates/a.yaml": '"\\x61piVersion": v1\nkind: Pod\n',
        "more/kustomization.yaml": "resources: []\n",
        "more/templates/a.yaml": OBJECT,
        "torn.yaml": f"{OBJECT}a: [",
    }
    for name, kind in (("app", ""), ("lib", "type: library\n")):
        write(tmp_path, {f"{name}/{file}": text for file, text in charts.items()})
        write(tmp_path, {f"{name}/Chart.yaml": CHART + kind})
    assert not [each for each in look(tmp_path).notes if "not a template" in each]
    for name in ("app", "lib"):
        for file, text in manifests.items():
            write(tmp_path, {f"{name}/{file}": text})
            (note,) = [each for each in look(tmp_path).notes if "not a template" in each]
            assert note == f"{tmp_path}/{name}/{file}: not read, it is not a template of its chart"
            (tmp_path / name / file).unlink()


@pytest.mark.parametrize(
    ("file", "rules", "is_told"),
    [
        ("templates/_a.yaml", "", True),
        ("templates/.a.yaml", "", True),
        ("templates/deep/a.yaml", "a.yaml\n", True),
        ("templates/deep/a.yaml", "*.yaml\n", True),
        ("templates/deep/a.yaml", "deep/\n", True),
        ("templates/deep/a.yaml", "/templates/deep\n", True),
        ("templates/deep/a.yaml", "templates/deep/?.yaml\n", True),
        ("templates/deep/a.yaml", "!Chart.yaml\n", True),
        ("templates/deep/a.yaml", "x\n" * 501, True),
        ("templates/deep/a.yaml", "x" * 1001, True),
        ("templates/deep/a.yaml", "# a.yaml\n\nb.yaml\n/a.yaml\n", False),
        ("charts/sub/templates/_a.yaml", "", True),
        ("templates/!.yaml", "templates/[!a].yaml\n", True),
        ("templates/a.yaml", "templates/[!a].yaml\n", True),
        ("templates/a.yaml", "templates/[\\^a].yaml\n", True),
        ("templates/a.yaml", "![^b].yaml\n", True),
        ("templates/a.yaml", "files/[!a].yaml\n", False),
    ],
)
def test_manifests_among_templates_that_helm_leaves_out_are_told(
    tmp_path: Path, file: str, rules: str, is_told: bool
) -> None:
    write(tmp_path, {"app/Chart.yaml": CHART, "app/.helmignore": rules, f"app/{file}": OBJECT})
    assert any(f"app/{file}: not read" in each for each in look(tmp_path).notes) == is_told
    write(tmp_path, {f"app/{file}": f"{{{{- define }}}}\n{OBJECT}"})
    assert not any(f"app/{file}: not read" in each for each in look(tmp_path).notes)


def test_manifests_in_folders_that_begin_with_a_dot_are_told(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": OBJECT, ".d/e/b.yaml": OBJECT, ".d/c.yaml": "a: b\n", ".git/d.yaml": OBJECT})
    (tmp_path / ".d" / "out.yaml").symlink_to("/etc/hostname")
    contents = look(tmp_path)
    assert contents.unread == [f"{tmp_path}/.d/e/b.yaml"]
    assert contents.notes == [
        f"{tmp_path}/.d/e/b.yaml: not read, in a folder that begins with a dot; name it to read it"
    ]


@pytest.mark.parametrize("name", ["Chart.yaml", "Kustomization", "kustomization.yml"])
def test_charts_and_kustomizations_in_folders_that_begin_with_a_dot_are_told(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"a.yaml": OBJECT, f".d/{name}": "name: a\n"})
    assert look(tmp_path).unread == [f"{tmp_path}/.d/{name}"]


def test_objects_among_definitions_that_helm_install_creates_are_told(tmp_path: Path) -> None:
    definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
    write(
        tmp_path,
        {
            "app/Chart.yaml": CHART,
            "app/crds/.more/a.yaml": OBJECT,
            "app/crds/c.YAML": OBJECT,
            "app/crds/a.yaml": definition,
            "app/crds/b.yaml": f"{definition}items: [{{apiVersion: v1, kind: Pod}}]\n",
            "app/charts/other/Chart.yaml": CHART,
            ".linked/crds/a.yaml": OBJECT,
        },
    )
    (tmp_path / "app" / "charts" / "other" / "crds").symlink_to("../../../.linked/crds")
    (tmp_path / "app" / "charts" / "sub").symlink_to("../../.linked")
    for name, text, inside in (
        ("a.tgz", OBJECT, "crds"),
        ("b.tgz", definition, "crds"),
        ("c.tgz", "{{ torn", "templates/crds"),
        ("d.tgz", OBJECT, "charts/x/./crds/y"),
    ):
        with tarfile.open(tmp_path / "app" / "charts" / name, "w:gz") as archive:
            member = tarfile.TarInfo(f"web/{inside}/a.yaml")
            member.size = len(text)
            archive.addfile(member, BytesIO(text.encode()))
    (tmp_path / "app" / "charts" / "e.tgz").write_bytes(b"torn")
    told = {os.path.relpath(each, tmp_path / "app") for each in look(tmp_path).unread}
    links = {"charts/sub/crds/a.yaml", "charts/other/crds/a.yaml"}
    own = {"crds/.more/a.yaml", "crds/b.yaml", "crds/c.YAML"}
    assert told - links - {"../.linked/crds/a.yaml"} == {*own, "charts/a.tgz", "charts/d.tgz", "charts/e.tgz"}
    assert told & links
    packed = look(tmp_path, "app/charts/a.tgz")
    assert packed.unread == [f"{tmp_path}/app/charts/a.tgz"]
    assert f"{packed.unread[0]}: not read, it is not a template of its chart" in packed.notes


def test_a_library_chart_is_not_rendered(tmp_path: Path) -> None:
    write(tmp_path, {"lib/Chart.yaml": CHART + "type: library\n", "a.yaml": ""})
    assert kinds(tmp_path) == {"a.yaml": "file"}
    assert look(tmp_path).notes == [f"{tmp_path}/lib: not rendered, it is a library of other charts"]


def test_a_packed_chart_is_rendered(tmp_path: Path) -> None:
    (tmp_path / "web-1.0.0.tgz").write_bytes(b"")
    assert kinds(tmp_path, "web-1.0.0.tgz") == {"web-1.0.0.tgz": "chart"}


def test_fluxs_kustomization_is_a_manifest(tmp_path: Path) -> None:
    flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\n"
    write(tmp_path, {"kustomization.yaml": flux, "a.yaml": ""})
    assert kinds(tmp_path) == {"a.yaml": "file", "kustomization.yaml": "file"}


def test_a_kustomization_that_is_no_yaml_is_left_to_kustomize(tmp_path: Path) -> None:
    write(tmp_path, {"kustomization.yaml": "resources: [", "a.yaml": ""})
    assert kinds(tmp_path) == {".": "kustomization"}


def test_raw_reads_every_file_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, {"app/kustomization.yaml": "resources: [a.yaml]\n", "app/a.yaml": "", "web/Chart.yaml": CHART})
    found = look_into(str(tmp_path), RAW)
    assert [os.path.relpath(each.path, tmp_path) for each in found.sources] == [
        "app/a.yaml",
        "app/kustomization.yaml",
        "web/Chart.yaml",
    ]
    assert {each.unit for each in found.sources} == {None}
    assert found.notes == ()


def test_a_component_alone_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"zone/kustomization.yaml": "kind: Component\n", "a.yaml": ""})
    with pytest.raises(InputError, match=r"a Kustomize Component.*name a kustomization that includes it"):
        look(tmp_path, "zone")
    words = "not built, it is a component, and no kustomization here refers to it"
    assert f"{tmp_path}/zone: {words}" in look(tmp_path).notes


def test_a_tree_of_nothing_but_libraries_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, {"lib/Chart.yaml": CHART + "type: library\n"})
    with pytest.raises(InputError, match="no file in this folder"):
        look(tmp_path)


@pytest.mark.parametrize(
    ("named", "wholes"),
    [
        (["web/templates/a.yaml", "web/values.yaml", "web/Chart.yaml"], ["web"]),
        (["base/a.yaml"], ["overlays/dev", "overlays/prod"]),
        (["base/kustomization.yaml"], ["overlays/dev", "overlays/prod"]),
        (["overlays/prod/patch.yaml", "plain.yaml"], ["overlays/prod", "plain.yaml"]),
        (["overlays/prod/lost.yaml"], ["overlays/prod/lost.yaml"]),
        (["lone/a.yaml"], ["lone"]),
        (["lone/data.yaml"], ["lone", "lone/data.yaml"]),
        (["lone/data.txt", "lone", "none.txt"], ["lone", "none.txt"]),
        (["web/templates/a.txt", "web/.helmignore", "web/charts/sub.tgz", "plain.txt"], ["web"]),
        (["plain.txt", "plain.tgz"], ["plain.tgz"]),
    ],
)
def test_a_file_of_a_commit_stands_for_what_it_is_part_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: list[str], wholes: list[str]
) -> None:
    write(
        tmp_path,
        {
            "web/Chart.yaml": CHART,
            "web/values.yaml": "",
            "web/templates/a.yaml": "",
            **dict.fromkeys(("web/templates/a.txt", "web/.helmignore", "web/charts/sub.tgz"), ""),
            "base/kustomization.yaml": "resources: [a.yaml]\n",
            "base/a.yaml": "",
            "overlays/dev/kustomization.yaml": "resources: [../../base]\n",
            "overlays/prod/kustomization.yaml": "resources: [../../base]\npatches: [{path: patch.yaml}]\n",
            "overlays/prod/patch.yaml": "",
            "overlays/prod/lost.yaml": "",
            "lone/kustomization.yaml": "resources: [a.yaml]\nconfigMapGenerator: [{files: [data.yaml, data.txt]}]\n",
            "lone/a.yaml": "",
            "lone/data.txt": "",
            "plain.txt": "",
            "plain.tgz": "",
            "lone/data.yaml": OBJECT,
            "plain.yaml": "",
        },
    )
    monkeypatch.chdir(tmp_path)
    assert wholes_of(named, Rendering())[0] == wholes


@pytest.mark.parametrize(
    ("changed", "wholes"),
    [
        (".c/templates/d.tpl", [".c"]),
        ("a/.c/.k/d.txt", ["top", "a/.c/.k"]),
        ("templates/d.tpl", ["app", "top"]),
        ("deep/d.tpl", ["app", "top"]),
        ("lost/d.tpl", []),
        (".lost/d.tpl", []),
        ("../other/.c/d.tpl", []),
    ],
)
def test_hidden_folders_and_links_of_charts_are_wholes_and_other_files_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str, wholes: list[str]
) -> None:
    top = "resources: [../a/.c/.k]\nhelmGlobals: {chartHome: ..}\nhelmCharts: [{name: app}]\n"
    write(
        tmp_path / "repository",
        {
            ".git/config": "",
            changed: "",
            ".c/Chart.yaml": CHART,
            "a/.c/.k/kustomization.yaml": "resources: [d.txt]\n",
            "app/Chart.yaml": CHART,
            "app/values.yaml": "",
            "away/Chart.yaml": CHART,
            "templates/a.yaml": "",
            "deep/a.yaml": "",
            "top/kustomization.yaml": top,
        },
    )
    monkeypatch.chdir(tmp_path / "repository")
    for link, target in {"app/templates": "../templates", "templates/deep": "../deep", "away/all": "/"}.items():
        Path(link).symlink_to(target)
    expected = [each for each in wholes if each != "app"]  # the kustomization renders this chart
    assert wholes_of([changed], Rendering()) == (expected, [] if expected else [changed])
    Path("top/kustomization.yaml").write_text("")
    assert wholes_of([changed], Rendering())[0] == [each for each in wholes if each != "top"]
