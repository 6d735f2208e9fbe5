"""Which folders are charts and kustomizations, and what of a tree is read."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.unit.sources.fake_programs import FakePrograms, programs
from topospread.errors import InputError
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
        f"{app}/chart, {app}/tests: left out, as {app} does not refer to it; name it to have it",
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
        "more/charts/sub/templates/a.yaml": '"\\x61piVersion": v1\nkind: Pod\n',
        "more/kustomization.yaml": "resources: []\n",
        "more/templates/a.yaml": OBJECT,
        "torn.yaml": f"{OBJECT}a: [",
    }
    for name, kind in (("app", ""), ("lib", "type: library\n")):
        write(tmp_path, {f"{name}/{file}": text for file, text in charts.items()})
        write(tmp_path, {f"{name}/Chart.yaml": CHART + kind})
    assert not [each for each in look(tmp_path).notes if "no template" in each]
    for name in ("app", "lib"):
        for file, text in manifests.items():
            write(tmp_path, {f"{name}/{file}": text})
            (note,) = [each for each in look(tmp_path).notes if "no template" in each]
            assert note == f"{tmp_path}/{name}/{file}: not read, it is no template of its chart"
            (tmp_path / name / file).unlink()


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
    assert f"{tmp_path}/zone: not built, it is a component that nothing here refers to" in look(tmp_path).notes


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
            "base/kustomization.yaml": "resources: [a.yaml]\n",
            "base/a.yaml": "",
            "overlays/dev/kustomization.yaml": "resources: [../../base]\n",
            "overlays/prod/kustomization.yaml": "resources: [../../base]\npatches: [{path: patch.yaml}]\n",
            "overlays/prod/patch.yaml": "",
            "overlays/prod/lost.yaml": "",
            "lone/kustomization.yaml": "resources: [a.yaml]\n",
            "lone/a.yaml": "",
            "plain.yaml": "",
        },
    )
    monkeypatch.chdir(tmp_path)
    assert wholes_of(named, Rendering()) == wholes
