"""Kustomizations that would make kustomize read outside their root, or fetch something."""

from __future__ import annotations

from pathlib import Path

import pytest

from topospread.errors import InputError
from topospread.sources.kustomizations import check_reach, kustomization_in

URL = "http://127.0.0.1:8080/token"
GENERATOR = f'{{apiVersion: builtin, kind: ConfigMapGenerator, metadata: {{name: a}}, files: ["{URL}"]}}'


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def check(folder: Path, *, network: bool = False) -> None:
    check_reach(str(folder), str(folder), network=network)


@pytest.mark.parametrize("field", ["generators", "transformers", "validators"])
def test_a_folder_of_configurations_may_name_any_url(tmp_path: Path, field: str) -> None:
    files = {"a/kustomization.yaml": "resources: [b.yaml]\n", "a/b.yaml": GENERATOR}
    folder = write(tmp_path, files | {"kustomization.yaml": f"{field}: [a]\n"})
    with pytest.raises(InputError, match=f"a is a folder of {field}"):
        check(folder)
    check(folder, network=True)


def test_a_configuration_on_one_line_is_no_path(tmp_path: Path) -> None:
    folder = write(tmp_path, {"kustomization.yaml": f"generators:\n- '{GENERATOR}'\n", GENERATOR: "a: b\n"})
    with pytest.raises(InputError, match="would fetch this"):
        check(folder)


@pytest.mark.parametrize("merged", ["<<: {files: [b]}", "? << # c\n: {files: [b]}", "!!merge <<: {files: []}"])
def test_a_merged_key_hides_no_url(tmp_path: Path, merged: str) -> None:
    """kustomize fetches the URL: for go-yaml v3 the key wins over the merged one behind it."""
    text = f"apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {{name: a}}\nfiles: ['{URL}']\n{merged}\n"
    folder = write(tmp_path, {"kustomization.yaml": "generators: [a.yaml]\n", "a.yaml": text, "b.yaml": ""})
    for network in (False, True):
        with pytest.raises(InputError, match=r"merges keys with <<|has a tag"):
            check(folder, network=network)


@pytest.mark.parametrize(
    ("kustomization", "said"),
    [
        ("{resources: !x,foo: [base]}\n", "a tag without a value"),
        ("resources: !!seq [base]\n", "has a tag"),
        ("generators:\n- |\n  a\n  b\n", "has no kind"),
        ('generators: ["a@b:x.git?a=\\n&ref=HEAD"]\n', "has no kind"),
        ("resources: [base]\nResources: [base]\n", "a field is given twice"),
        ("resources: [base]\n--- # a\n", "unusual line break"),
        ("resources: [base]\n# a\u2028", "unusual line break"),
        ('generators: ["{kind: A}\\n--- # x\\u2028note: a"]\n', "unusual line break|not take this line"),
        ('generators: ["kind: A\\na: b\\r"]\n', "a carriage return"),
        ('generators: ["kind: A\\nname: \\"..\\\\n/x\\""]\n', "the name of a chart cannot contain"),
        ("kind: Component\n\u212aind: Kustomization\n", "a field is given twice"),
    ],
)
def test_what_kustomize_may_read_otherwise_is_refused(tmp_path: Path, kustomization: str, said: str) -> None:
    folder = write(tmp_path, {"kustomization.yaml": kustomization, "base/kustomization.yaml": "resources: []\n"})
    for network in (False, True):
        with pytest.raises(InputError, match=said):
            check(folder, network=network)


def test_a_folder_with_the_name_of_a_repository_is_fetched(tmp_path: Path) -> None:
    """kustomize clones it, whatever lies in the folder."""
    url = "http://127.0.0.1:1/x.git"
    folder = write(
        tmp_path, {"kustomization.yaml": f"resources: ['{url}']\n", "http:/127.0.0.1:1/x.git/kustomization.yaml": ""}
    )
    with pytest.raises(InputError, match="would fetch this"):
        check(folder)
    assert not check_reach(str(folder), str(tmp_path), network=True)


@pytest.mark.parametrize("name", ["GitHub.com/o/r", "git@host:o/r", "gh:o/r", "GIT::x"])
def test_a_folder_is_a_repository_whatever_the_case_of_its_host(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path, {"kustomization.yaml": f"resources: ['{name}']\n", f"{name}/kustomization.yaml": ""})
    with pytest.raises(InputError, match="would fetch this"):
        check(folder)
    assert not check_reach(str(folder), str(tmp_path), network=True)


@pytest.mark.parametrize("field", ["resources", "generators"])
@pytest.mark.parametrize("name", ["github.com/o/r", "https://host/x"])
def test_a_file_is_a_repository_where_kustomize_may_clone_it(tmp_path: Path, name: str, field: str) -> None:
    """kustomize reads the file first, and clones what is no manifest."""
    folder = write(tmp_path, {"kustomization.yaml": f"{field}: ['{name}']\n"})
    (folder / name.replace("//", "/")).parent.mkdir(parents=True)
    (folder / name.replace("//", "/")).write_text("kind: none\n")
    assert not check_reach(str(folder), str(tmp_path), network=True)


def test_two_kustomizations_in_one_folder_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, {"kustomization.yaml": "resources: []\n", "Kustomization": "resources: []\n"})
    with pytest.raises(InputError, match=r"this folder has kustomization\.yaml and Kustomization; keep one"):
        check(folder)


@pytest.mark.parametrize("name", ["kustomization.yaml", "generator.yaml"])
def test_a_kustomization_with_many_slashes_is_refused(tmp_path: Path, name: str) -> None:
    """Each path takes time in proportion to its length."""
    files = {"kustomization.yaml": "generators: [generator.yaml]\n", "generator.yaml": "kind: A\n"}
    folder = write(tmp_path, files | {name: f"kind: A\nmetadata: {{a: &a {'a/' * 20_000}, b: [*a, *a]}}\n"})
    with pytest.raises(InputError) as caught:
        check(folder)
    assert "its paths have more than 50,000 slashes" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "is_built"),
    [
        ("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n", False),
        ("apiVersion: kustomize.toolkit.fluxcd.io/v1\napiversion: kustomize.config.k8s.io/v1beta1\n", True),
        ("kind: Component\n", True),
    ],
)
def test_a_kustomization_of_flux_has_one_version(tmp_path: Path, text: str, *, is_built: bool) -> None:
    folder = write(tmp_path, {"kustomization.yaml": text})
    assert (kustomization_in(str(folder), str(folder)) is not None) == is_built


def test_a_configuration_on_several_lines_needs_no_file(tmp_path: Path) -> None:
    text = GENERATOR.replace(URL, "b.yaml").replace(", kind", ",\n  kind")
    check(write(tmp_path, {"kustomization.yaml": f"generators:\n- |\n  {text}\n"}))


def test_a_base_with_a_line_break_in_its_name_is_checked(tmp_path: Path) -> None:
    base = {"a\nb/kustomization.yaml": "resources: [../../outside]\n", "../outside/kustomization.yaml": ""}
    folder = write(tmp_path / "root", base | {"kustomization.yaml": 'resources: ["a\\nb"]\n'})
    with pytest.raises(InputError, match="leaves"):
        check(folder)


def test_a_base_outside_names_the_folder_that_holds_both(tmp_path: Path) -> None:
    files = {"overlays/prod/kustomization.yaml": "resources: [../../base]\n", "base/kustomization.yaml": ""}
    with pytest.raises(InputError, match=rf"name {tmp_path}, which holds both"):
        check(write(tmp_path, files) / "overlays/prod")


@pytest.mark.parametrize("field", ["resources", "components", "generators"])
def test_a_base_beyond_a_link_is_where_kustomize_looks(tmp_path: Path, field: str) -> None:
    """kustomize takes .. out of a path before it follows links, and would read the base out of the root."""
    files = {"root/a/base/kustomization.yaml": "", "root/a/b/c/d.yaml": "", "base/kustomization.yaml": ""}
    folder = write(tmp_path, files | {"root/kustomization.yaml": f"{field}: [link/../../base]\n"}) / "root"
    (folder / "link").symlink_to("a/b/c")
    assert (folder / "link/../../base").is_dir()
    with pytest.raises(InputError, match="leaves"):
        check(folder, network=True)


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "configMapGenerator: [{name: a, files: [.git/config]}]",
        "configMapGenerator: [{name: a, files: [b=base/../.git/config]}]",
        "configMapGenerator: [{name: a, files: [b=missing/../.git/config]}]",
        "configMapGenerator: [{name: a, envs: [.git/config/]}]",
        "configMapGenerator: [{name: a, envs: [link]}]",
        "resources: [.git/config]",
        "generators: ['{kind: ConfigMapGenerator, files: [link]}']",
        "patches: [{path: .git/config}]",
    ],
)
def test_what_git_keeps_is_not_read(tmp_path: Path, text: str, network: bool) -> None:
    """Its configuration holds the token of who checked out, and a replacement could copy that to a label."""
    folder = write(tmp_path, {"kustomization.yaml": text, ".git/config": "", "base/a.yaml": ""})
    if "link" in text:
        (folder / "link").symlink_to(".git/config")
    with pytest.raises(InputError, match=r"git's files|leaves"):
        check(folder, network=network)


@pytest.mark.parametrize(
    "charts",
    [
        f"helmCharts: [{{name: a, valuesFile: '{URL}'}}]",
        f"helmCharts: [{{name: a, additionalValuesFiles: ['{URL}']}}]",
        f"helmChartInflationGenerator: [{{chartName: a, values: '{URL}'}}]",
    ],
)
def test_values_of_charts_are_no_urls(tmp_path: Path, charts: str) -> None:
    with pytest.raises(InputError, match="would fetch this"):
        check(write(tmp_path, {"kustomization.yaml": charts}))


def test_the_repository_of_a_chart_is_only_asked_if_the_chart_is_missing(tmp_path: Path) -> None:
    check(write(tmp_path, {"kustomization.yaml": f"helmCharts: [{{name: a, repo: '{URL}'}}]\n"}))


@pytest.mark.parametrize(
    "text",
    [
        "helmGlobals: {chartHome: b/c}\nhelmCharts: [{name: ../../a/b, valuesInline: {c: d}}]",
        "helmChartInflationGenerator: [{chartName: ../a, chartHome: b}]",
        "generators: ['{kind: HelmChartInflationGenerator, name: a/../../b}']",
    ],
)
def test_a_chart_of_no_name_has_no_values_written_elsewhere(tmp_path: Path, text: str) -> None:
    """kustomize writes the values of a chart into a temporary folder, and ``..`` leads out of it."""
    with pytest.raises(InputError, match=r"the name of a chart cannot contain|leaves"):
        check(write(tmp_path, {"kustomization.yaml": text}))


@pytest.mark.parametrize("link", ["123", "yes", "2001-01-01T00:00:00Z", "base/sub/link", "link/"])
def test_no_link_leads_to_what_git_keeps(tmp_path: Path, link: str) -> None:
    """kustomize makes the name of a file of ``path: 123``, of yes and of a date, each as its version reads YAML."""
    files = {"kustomization.yaml": "resources: []\n", ".git/config": "", "base/sub/kustomization.yaml": ""}
    folder = write(tmp_path, files)
    (folder / link.rstrip("/")).symlink_to(folder / ".git" / ("" if link.endswith("/") else "config"))
    with pytest.raises(InputError, match="this symbolic link leads to git's files"):
        check(folder)
    check(folder / "base" / "sub")


@pytest.mark.parametrize("target", ["/etc/shadow", "/nonexistent", "../secret"])
def test_a_number_does_not_tell_whether_a_file_outside_exists(tmp_path: Path, target: str) -> None:
    transformer = "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\npath: 1\n"
    folder = write(tmp_path / "a", {"kustomization.yaml": "transformers: [t.yaml]\n", "t.yaml": transformer})
    check(folder)
    (folder / "1").symlink_to(target)
    with pytest.raises(InputError, match="the symbolic link 1 leaves the root; remove it"):
        check(folder)


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "resources: [PATH]",
        "bases: [PATH]",
        "crds: [PATH]",
        "configurations: [PATH]",
        "generators: [PATH]",
        "patches: [{path: PATH}]",
        "patchesStrategicMerge: [PATH]",
        "replacements: [{path: PATH}]",
        "openapi: {path: PATH}",
        "configMapGenerator: [{name: a, files: [PATH]}]",
        "configMapGenerator: [{name: a, files: [b=PATH]}]",
        "secretGenerator: [{name: a, envs: [PATH]}]",
        "helmGlobals: {chartHome: PATH}",
        "helmCharts: [{name: a, valuesFile: PATH}]",
        "generators: ['{kind: ConfigMapGenerator, files: [PATH]}']",
    ],
)
@pytest.mark.parametrize("path", ["../there", "../missing", "/there", "/missing", "a/../../missing", "link/missing"])
def test_an_error_does_not_tell_whether_a_file_outside_exists(
    tmp_path: Path, text: str, path: str, network: bool
) -> None:
    given = path if path[0] != "/" else f"{tmp_path}{path}"
    folder = write(tmp_path / "root", {"kustomization.yaml": text.replace("PATH", given), "../there/b": ""})
    (folder / "link").symlink_to("../there")
    with pytest.raises(InputError, match=f"{path}.* leaves .*/root; name "):
        check(folder, network=network)


@pytest.mark.parametrize(
    "text",
    [
        "patches: [{patch: '[{op: remove, path: /a/../../../../../../../../../b}]'}]",
        "replacements: [{source: {options: {delimiter: /}}}]",
        'transformers: ["{kind: PrefixTransformer,\\n fieldSpecs: [{path: /metadata/name}]}"]',
        "configurations: [a.yaml]",
    ],
)
def test_texts_that_are_no_paths_may_have_slashes(tmp_path: Path, text: str) -> None:
    check(write(tmp_path, {"kustomization.yaml": text, "a.yaml": "namePrefix: [{path: /metadata/name}]\n"}))


def test_the_home_of_charts_is_no_link_to_elsewhere(tmp_path: Path) -> None:
    folder = write(tmp_path / "root", {"kustomization.yaml": "helmCharts: [{name: a}]\n"})
    (folder / "charts").symlink_to("..")
    with pytest.raises(InputError, match="charts leaves"):
        check(folder)


def test_a_release_name_reads_no_environment(tmp_path: Path) -> None:
    """Helm's functions for it include env, which shows whether topospread renders."""
    text = "helmCharts: [{name: a, NameTemplate: '{{ env \"A\" }}'}]"
    with pytest.raises(InputError, match="NameTemplate: a release's name cannot be a template"):
        check(write(tmp_path, {"kustomization.yaml": text}), network=True)


CHARTS = {
    "own field": "helmCharts:\n- {name: web, version: 1.0.0}\n",
    "lower case": "helmcharts:\n- {name: web}\n",
    "old field": "helmChartInflationGenerator:\n- {chartName: web}\n",
    "another home": "helmGlobals: {chartHome: charts}\nhelmCharts:\n- {name: web}\n",
    "generator": "generators:\n- |-\n  {apiVersion: builtin, kind: HelmChartInflationGenerator, name: web}\n",
}


@pytest.mark.parametrize("target", ["outside", "missing"])
@pytest.mark.parametrize("link", ["web", "web/values.yaml"])
@pytest.mark.parametrize("text", CHARTS.values(), ids=CHARTS)
def test_a_chart_by_a_link_shows_nothing_of_the_links_target(tmp_path: Path, text: str, link: str, target: str) -> None:
    """kustomize looks for a chart and its values before it runs Helm."""
    (tmp_path / "outside").mkdir()
    folder = write(tmp_path / "root", {"kustomization.yaml": text, "charts/other/Chart.yaml": "name: other\n"})
    path = folder / "charts" / link
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(tmp_path / target)
    with pytest.raises(InputError, match="leaves"):
        check(folder)


def test_a_chart_below_a_link_shows_nothing_of_the_links_target(tmp_path: Path) -> None:
    text = "helmCharts:\n- {name: a/ssl}\n"
    folder = write(tmp_path / "root", {"kustomization.yaml": text, "charts/web/Chart.yaml": "name: web\n"})
    (folder / "charts" / "a").symlink_to("/etc")
    with pytest.raises(InputError, match="leaves"):
        check(folder)


def test_names_of_other_objects_are_no_charts(tmp_path: Path) -> None:
    text = "images: [{name: registry/web, newTag: '2'}]\nconfigMapGenerator: [{name: a, literals: [b=c]}]\n"
    check(write(tmp_path, {"kustomization.yaml": text}))


def test_many_charts_are_refused(tmp_path: Path) -> None:
    charts = ", ".join(f"{{name: c{number}, chartHome: h{number}}}" for number in range(100))
    with pytest.raises(InputError, match="more than 5,000 names of charts"):
        check(write(tmp_path, {"kustomization.yaml": f"helmCharts: [{charts}]\n"}))
