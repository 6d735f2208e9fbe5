"""What Helm and kustomize are asked for, what is made of their answers, and what is said when they fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.sources.fake_programs import FakePrograms, programs
from topospread.errors import InputError, InvalidError, Place
from topospread.sources import renderers, rendering
from topospread.sources.files import read_text
from topospread.sources.folders import look_into
from topospread.sources.load import load
from topospread.sources.rendering import Rendering, without_origins
from topospread.sources.text import Text

__all__ = ["programs"]
GIVEN = "values are given with --helm-values FILE and --helm-set NAME=VALUE"
CHART = "apiVersion: v2\nname: web\nversion: 1.0.0\n"
TEMPLATE = """\
{{- if .Values.on }}
apiVersion: v1
kind: Pod
metadata: {name: "{{ .Release.Name }}"}
spec:
  priority: nine
  containers:
  - name: {{ .Values.name }}
{{- end }}
"""
RENDERED = """\
---
# Source: web/templates/cm.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
# Source: web/templates/pod.yaml
apiVersion: v1
kind: Pod
metadata: {name: "web"}
spec:
  priority: nine
  containers:
  - name: a
"""
BASE = """\
apiVersion: v1
kind: Service
metadata: {name: other}
---
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  priority: nine
  containers:
  - {name: a, image: a}
"""
BUILT = """\
apiVersion: v1
kind: Pod
metadata:
  annotations:
    config.kubernetes.io/origin: |
      path: %s
  name: prod-web
spec:
  containers:
  - image: b
    name: a
  priority: nine
"""


def text_of(path: Path, rendering: Rendering | None = None) -> Text:
    (source,) = look_into(str(path), rendering or Rendering()).sources
    return read_text(source)


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    (tmp_path / "shop" / "templates").mkdir(parents=True)
    (tmp_path / "shop" / "Chart.yaml").write_text(CHART)
    (tmp_path / "shop" / "templates" / "pod.yaml").write_text(TEMPLATE)
    return tmp_path / "shop"


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "pod.yaml").write_text(BASE)
    (tmp_path / "base" / "kustomization.yaml").write_text("resources: [pod.yaml]\n")
    (tmp_path / "prod").mkdir()
    (tmp_path / "prod" / "kustomization.yaml").write_text("resources: [../base]\n")
    return tmp_path / "prod"


def test_a_folder_whose_name_a_program_reads_otherwise_is_refused(
    programs: FakePrograms, chart: Path, overlay: Path
) -> None:
    for found, name in ((chart, "shop "), (overlay, "pr\nod")):
        with pytest.raises(InputError, match="white space"):
            text_of(found.rename(found.with_name(name)))
    (link := overlay.with_name("link")).symlink_to("pr\nod")
    with pytest.raises(InputError, match="white space"):
        text_of(link)


def install_kustomize(programs: FakePrograms, overlay: Path, name: str = "kustomize") -> None:
    """One that prints origins as they are from the folder it is asked to build."""
    base = overlay.parent / "base" / "pod.yaml"
    # What kustomize says is relative to its folder, which is beside nothing that a test knows.
    programs.install(name, BUILT % ("../" * 12 + str(base).lstrip("/")))


def test_helm_is_asked_for_the_release_with_values_namespace_and_version(programs: FakePrograms, chart: Path) -> None:
    programs.install("helm", RENDERED)
    text = text_of(
        chart,
        Rendering(
            helm_values=("a.yaml", "b.yaml"),
            helm_set=("x=1", "y=a b"),
            namespace="demo",
            kube_version="v1.30.2-gke.1",
        ),
    )
    assert text.data.decode() == RENDERED
    options = ["--namespace=demo", "--values=a.yaml", "--values=b.yaml", "--set=x=1", "--set=y=a b"]
    (call,) = programs.calls("helm")
    told = [word for word in call if not word.startswith("--api-versions=")]
    assert told == ["template", "web", str(chart), *options, "--kube-version=v1.30.2-gke.1"]


@pytest.mark.parametrize(
    ("version", "there", "not_there"),
    [("1.37", "batch/v1/CronJob", "batch/v1beta1/CronJob"), ("1.20", "batch/v1beta1/CronJob", "batch/v1/CronJob")],
)
def test_charts_are_told_the_kinds_that_the_version_serves(
    programs: FakePrograms, chart: Path, version: str, there: str, not_there: str
) -> None:
    # Charts ask `.Capabilities.APIVersions.Has "batch/v1/CronJob"`; `helm template` alone knows but "batch/v1".
    programs.install("helm", RENDERED)
    text_of(chart, Rendering(kube_version=version))
    (call,) = programs.calls("helm")
    assert f"--api-versions={there}" in call
    assert f"--api-versions={not_there}" not in call


def test_without_a_version_helm_says_its_own(programs: FakePrograms, chart: Path) -> None:
    programs.install("helm", RENDERED)
    text_of(chart)
    assert not [word for word in programs.calls("helm")[0] if "-version" in word]


@pytest.mark.parametrize("name", ["--set-file=a=/etc/passwd", "-f/etc/passwd", "--post-renderer=./a", "A", "w" * 54])
def test_a_release_is_no_option(programs: FakePrograms, chart: Path, name: str) -> None:
    """A drill's file may name the release."""
    programs.install("helm", RENDERED)
    with pytest.raises(InputError, match="not a valid release name:"):
        text_of(chart, Rendering(helm_release=name))
    assert not programs.calls("helm")


def test_helm_does_not_read_what_git_keeps(programs: FakePrograms, chart: Path) -> None:
    """The configuration of git holds the token of who checked out, and a template could print it."""
    (chart / ".git").mkdir()
    (chart / ".git" / "config").write_text("token")
    (chart / ".helmignore").write_text("# a\n.git/\n")
    programs.install("helm", RENDERED, before='cat "$3/templates/pod.yaml" > /dev/null && ls -A "$3" >&2 && exit 1')
    with pytest.raises(InputError, match=r"failed: \.helmignore Chart\.yaml templates$"):
        text_of(chart)


@pytest.mark.parametrize("ignored", [None, "", "#.git/", "!.git/", "\x1c.git/", "templates/.git"])
def test_a_chart_cannot_tell_by_git_that_it_is_rendered_here(
    programs: FakePrograms, chart: Path, ignored: str | None
) -> None:
    """Helm reads ``.git`` elsewhere, unless ``.helmignore`` leaves it out."""
    programs.install("helm", RENDERED)
    (chart / ".git").mkdir()
    if ignored is not None:
        (chart / ".helmignore").write_text(ignored)
    with pytest.raises(InputError, match=r"templates could read \.git.*; add the line \.git/ to \.helmignore"):
        text_of(chart)
    (chart / ".helmignore").write_text(" .git/ \r\n*.bak\n")
    text_of(chart)
    (chart / ".git").rmdir()
    (chart / ".git").write_text("gitdir: a")
    with pytest.raises(InputError, match=r"add the line \.git to \.helmignore"):
        text_of(chart)


def test_values_are_files_and_no_other_ones(programs: FakePrograms, chart: Path) -> None:
    """Helm takes the names for a line of CSV, and a drill's file may name them."""
    programs.install("helm", RENDERED)
    text_of(chart, Rendering(helm_values=("a,/etc/passwd", 'a"b', "plain.yaml", "-", " -", "http://a/b.yaml", "/a:b")))
    values = [each for each in programs.calls("helm")[0] if each.startswith("--values=")]
    plain = ["--values=plain.yaml", "--values=./-", "--values=./ -", "--values=./http://a/b.yaml", "--values=/a:b"]
    assert values == ['--values="a,/etc/passwd"', '--values="a""b"', *plain]


@pytest.mark.parametrize(
    ("name", "given", "release"),
    [("web", "", "web"), ("web", "mine", "mine"), ("Web_App", "", "release-name"), ("w" * 54, "", "release-name")],
)
def test_the_release_is_named_as_the_chart_unless_it_is_named(
    programs: FakePrograms, chart: Path, name: str, given: str, release: str
) -> None:
    programs.install("helm", RENDERED)
    (chart / "Chart.yaml").write_text(CHART.replace("web", name))
    text_of(chart, Rendering(helm_release=given))
    assert programs.calls("helm")[0][1] == release


def test_a_folder_is_never_taken_for_an_option(
    programs: FakePrograms, chart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs.install("helm", RENDERED)
    chart.rename(chart.parent / "--post-renderer=x")
    monkeypatch.chdir(chart.parent)
    text_of(Path("--post-renderer=x"))
    assert programs.calls("helm")[0][2] == "./--post-renderer=x"


def test_errors_in_what_helm_makes_point_into_the_template(programs: FakePrograms, chart: Path) -> None:
    programs.install("helm", RENDERED)
    with pytest.raises(InputError, match="expected an integer") as caught:
        load([str(chart)], cluster="nodes=1")
    place = caught.value.place
    assert (place.source, place.line, place.column) == (f"{chart}/templates/pod.yaml", 6, 3)
    assert (place.object, place.field, place.document) == ("Pod default/web", "spec.priority", None)


def test_what_no_line_of_the_template_reads_like_is_placed_in_the_template(programs: FakePrograms, chart: Path) -> None:
    programs.install("helm", RENDERED.replace("priority: nine", "priority: 9"))
    with pytest.raises(InvalidError, match="image: Required value") as caught:
        load([str(chart)], cluster="nodes=1")
    assert (caught.value.place.source, caught.value.place.line) == (f"{chart}/templates/pod.yaml", None)


@pytest.mark.parametrize("name", ["kustomize", "kubectl"])
def test_errors_in_what_kustomize_makes_point_into_the_resource(
    programs: FakePrograms, overlay: Path, name: str
) -> None:
    install_kustomize(programs, overlay, name)
    with pytest.raises(InputError, match="expected an integer") as caught:
        load([str(overlay)], cluster="nodes=1")
    place = caught.value.place
    assert (place.source, place.document) == (f"{overlay.parent}/base/pod.yaml", 2)
    assert (place.line, place.column, place.object) == (10, 3, "Pod default/prod-web")
    assert programs.calls(name)[0][0] == {"kustomize": "build", "kubectl": "kustomize"}[name]


def test_what_the_resource_does_not_say_points_to_the_kustomization(programs: FakePrograms, overlay: Path) -> None:
    install_kustomize(programs, overlay)
    (overlay.parent / "base" / "pod.yaml").write_text(BASE.replace("nine", "9"))
    with pytest.raises(InputError, match="expected an integer") as caught:
        load([str(overlay)], cluster="nodes=1")
    assert (caught.value.place.source, caught.value.place.line) == (f"{overlay}/kustomization.yaml", None)


def test_places_are_relative_where_the_path_was(
    programs: FakePrograms, overlay: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_kustomize(programs, overlay)
    monkeypatch.chdir(overlay)
    with pytest.raises(InputError) as caught:
        load(["."], cluster="nodes=1")
    assert caught.value.place.source == "../base/pod.yaml"


def test_the_origins_are_taken_out_again() -> None:
    documents = [
        "metadata:\n  annotations:\n    config.kubernetes.io/origin: |\n      path: a.yaml\n  name: a\n",
        "metadata:\n  annotations:\n    a: x\n    config.kubernetes.io/origin: |\n      path: b\n    z: y\n  name: b\n",
        "kind: ConfigMap\ndata:\n  a: |\n    config.kubernetes.io/origin: |\n      path: c\nmetadata:\n  name: c\n",
    ]
    plain, origins = without_origins("---\n".join(documents).encode())
    assert plain.decode().split("---\n") == [
        "metadata:\n  name: a\n",
        "metadata:\n  annotations:\n    a: x\n    z: y\n  name: b\n",
        documents[2],
    ]
    assert [each.origin for each in origins] == [b"      path: a.yaml\n", b"      path: b\n", b""]


def test_what_changed_an_object_is_taken_out_as_its_origin_is() -> None:
    said = "      - configuredIn: k.yaml\n        configuredBy:\n          kind: PatchTransformer\n"
    annotations = (
        f"    alpha.config.kubernetes.io/transformations: |\n{said}    config.kubernetes.io/origin: |\n      path: a\n"
    )
    plain, (found,) = without_origins(f"metadata:\n  annotations:\n{annotations}  name: a\n".encode())
    assert plain == b"metadata:\n  name: a\n"
    assert (found.origin, found.transformations) == (b"      path: a\n", said.encode())


def test_kustomize_may_use_helm_only_on_request(programs: FakePrograms, overlay: Path) -> None:
    programs.install("kustomize", BUILT % "x")
    text_of(overlay)
    assert len(programs.calls("kustomize")[0]) == 2
    (overlay / "kustomization.yaml").write_text("helmCharts: [{name: web}]\n")
    with pytest.raises(InputError, match="runs Helm only on request; add --render-helm"):
        text_of(overlay)
    assert len(programs.calls("kustomize")) == 1
    allowed = Rendering(helm_in_kustomizations=True)
    with pytest.raises(InputError, match="helm is not on the PATH"):
        text_of(overlay, allowed)
    programs.install("helm")
    text_of(overlay, allowed)
    enabled, command = programs.calls("kustomize")[1][2:]
    assert enabled == "--enable-helm"
    assert command.startswith("--helm-command=")
    assert str(programs.folder) not in command, "kustomize runs Helm through the gate"


@pytest.mark.parametrize("kustomization", ["generators: [../gen]\n", "resources: [https://example.com/base]\n"])
def test_helm_runs_for_no_chart_that_was_not_read_before(
    programs: FakePrograms, overlay: Path, kustomization: str
) -> None:
    """kustomize writes values beside the name of a chart, which may lead to any folder."""
    programs.install("kustomize", BUILT % "x")
    programs.install("helm")
    (generator := overlay.with_name("gen")).mkdir()
    (generator / "kustomization.yaml").write_text("resources: [chart.yaml]\n")
    (generator / "chart.yaml").write_text("kind: HelmChartInflationGenerator\nname: ../../x\n")
    (overlay / "kustomization.yaml").write_text(kustomization)
    allowed = Rendering(helm_in_kustomizations=True, network=True)
    text_of(overlay, allowed)
    assert len(programs.calls("kustomize")[0]) == 2, "no --enable-helm"
    (overlay / "kustomization.yaml").write_text(f"{kustomization}helmCharts: [{{name: web}}]\n")
    with pytest.raises(InputError, match="cannot check files that kustomize fetches"):
        text_of(overlay, allowed)


@pytest.mark.parametrize(
    "kustomization", ["resources: ['../imageTags:base']\n", "patches: ['a: b']\nresources: ['../patches:base']\n"]
)
def test_names_that_old_versions_of_kustomize_rewrite_are_refused(
    programs: FakePrograms, overlay: Path, kustomization: str
) -> None:
    programs.install("kustomize")
    for name in ("imageTags:base", "patches:base"):
        overlay.with_name(name).mkdir()
    (overlay / "kustomization.yaml").write_text(kustomization)
    with pytest.raises(InputError, match="before version 5, kustomize replaces"):
        text_of(overlay)


def test_a_missing_program_is_named_with_where_to_get_it(programs: FakePrograms, chart: Path, overlay: Path) -> None:
    with pytest.raises(
        InputError, match=r"helm is not on the PATH: install it \(https://helm\.sh.*or add --render never"
    ):
        load([str(chart)], cluster="nodes=1")
    with pytest.raises(
        InputError, match=r"neither kustomize nor kubectl is on the PATH: install one .*or add --render never"
    ):
        load([str(overlay)], cluster="nodes=1")


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("execution error at (web/templates/a.yaml:1:2): Please define bucketNames", True),
        (
            'web/templates/a.yaml:1:2\n  executing "a" at <.Values.a.b>:\n    nil pointer',
            True,
        ),
        ("found in Chart.yaml, but missing in charts/ directory: redis", False),
        ("parse error at (web/templates/a.yaml:3): unexpected EOF", False),
    ],
)
def test_where_values_may_be_missing_it_is_said_how_to_give_them(
    programs: FakePrograms, chart: Path, said: str, hint: bool
) -> None:
    programs.install("helm", stderr=f"Error: {said}\n", code=1)
    with pytest.raises(InputError) as caught:
        text_of(chart)
    assert str(caught.value).endswith(f"; {GIVEN}") == hint


def test_what_a_program_says_when_it_fails_is_in_the_error(programs: FakePrograms, chart: Path, overlay: Path) -> None:
    programs.install(
        "helm", stderr="Error: values don't meet\nthe schema\n\nUse --debug flag to render out invalid YAML\n", code=1
    )
    with pytest.raises(InputError) as caught:
        text_of(chart)
    assert str(caught.value) == f"{chart}: `helm template` failed: values don't meet the schema; {GIVEN}"
    warnings = "# Warning: 'vars' is deprecated.\n# Warning: 'bases' too.\n"
    programs.install("kustomize", stderr=f"{warnings}Error: no such resource in x\n", code=1)
    with pytest.raises(InputError) as caught:
        text_of(overlay)
    assert str(caught.value) == f"{overlay}: `kustomize build` failed: no such resource in x"
    # It is asked for the folder itself, so that its words are about that.
    assert programs.calls("kustomize") == [["build", str(overlay)]]


def test_a_program_that_hangs_is_ended(programs: FakePrograms, chart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs.install("helm", before="exec sleep 30")
    monkeypatch.setattr(renderers, "TIMEOUT", 0.2)
    with pytest.raises(InputError, match="`helm template` took longer than"):
        text_of(chart)


def test_two_overlays_that_make_one_object_are_not_both_simulated(programs: FakePrograms, tmp_path: Path) -> None:
    for name in ("dev", "prod"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kustomization.yaml").write_text("resources: []\n")
    programs.install(
        "kustomize", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: a}]}\n"
    )
    with pytest.raises(InputError, match=f"{tmp_path}/dev and {tmp_path}/prod in one path both make this object"):
        load([str(tmp_path)], cluster="nodes=1")


def test_a_cluster_may_be_rendered_and_what_was_is_told(programs: FakePrograms, chart: Path) -> None:
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: one}\n"
    programs.install("helm", "---\n# Source: web/templates/node.yaml\n" + node)
    inventory = load([], cluster=str(chart))
    assert [each.name for each in inventory.nodes] == ["one"]
    assert f"{chart}: rendered with `helm template`" in inventory.notes


def test_of_a_key_that_a_chart_gives_twice_the_last_counts(programs: FakePrograms, chart: Path) -> None:
    # Helm and kubectl install such a chart, and whoever uses it cannot mend it.
    twice = "schedulerName: a\n  schedulerName: b"
    rendered = RENDERED.replace("priority: nine", twice).replace("- name: a", "- {name: a, image: a}")
    programs.install("helm", rendered)
    (chart / "templates" / "pod.yaml").write_text(TEMPLATE.replace("priority: nine", twice))
    inventory = load([str(chart)], cluster="zones=1,nodes=1")
    (pod,) = inventory.pods
    assert pod.spec.scheduler_name == "b"
    assert inventory.warnings == [
        f'{chart}/templates/pod.yaml:7:3: the key "schedulerName" occurs twice in one mapping; '
        "the last one counts, as for kubectl and Helm"
    ]


AS_A_BASE = 'case "$2" in */topospread-*) {};; esac'
"""What a program does first if topospread asks for origins."""


def test_a_build_is_asked_for_origins_only_if_a_place_is_wanted(programs: FakePrograms, overlay: Path) -> None:
    install_kustomize(programs, overlay)
    text = text_of(overlay)
    assert programs.calls("kustomize") == [["build", str(overlay)]]
    assert text.origins is not None
    for _ in range(2):
        place = text.origins.place(1, ("spec", "priority"), Place("rendered"))
        assert (place.source, place.line) == (f"{overlay.parent}/base/pod.yaml", 10)
    assert len(programs.calls("kustomize")) == 2


def test_what_kustomize_makes_only_with_origins_is_not_judged(programs: FakePrograms, overlay: Path) -> None:
    """A patch may be for objects with the annotation of an origin, which only topospread asks for."""
    other = (BUILT % "x").replace("nine", "1")
    programs.install("kustomize", BUILT % "x", before=AS_A_BASE.format(f"echo '{other}'; exit"))
    text = text_of(overlay)
    assert b"priority: nine" in text.data
    assert text.origins is not None
    place = text.origins.place(1, ("spec", "priority"), Place("rendered"))
    assert (place.source, place.line) == (f"{overlay}/kustomization.yaml", None)


def test_places_are_those_of_the_order_in_which_kustomize_sorts(programs: FakePrograms, overlay: Path) -> None:
    file = "../" * 12 + str(overlay.parent / "base" / "pod.yaml").lstrip("/")
    first, second = BUILT % file, BASE.partition("---\n")[0]
    programs.install(
        "kustomize", f"{second}---\n{first}", before=AS_A_BASE.format(f"printf %s '{first}---\n{second}'; exit")
    )
    text = text_of(overlay)
    assert text.origins is not None
    assert text.origins.place(2, ("spec", "priority"), Place("rendered")).line == 10


def test_a_build_whose_origins_take_too_long_is_done_without_them(
    programs: FakePrograms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time that kustomize needs for them grows with the patches times the objects."""
    (tmp_path / "kustomization.yaml").write_text("resources: []\n")
    programs.install("kustomize", BASE, before=AS_A_BASE.format("sleep 60"))
    monkeypatch.setattr(rendering, "_DETOUR", 0.2)
    (source,) = look_into(str(tmp_path), Rendering()).sources
    assert isinstance(source.unit, rendering.KustomizationUnit)
    for left in (60.0, 0.0):
        source.unit.shared.detours = left
        text = read_text(source)
        assert b"name: web" in text.data
        assert text.origins is not None
        for _ in range(2):
            assert text.origins.place(1, ("spec",), Place("rendered")).line is None
    asked = [each for each in programs.calls("kustomize") if "topospread-" in each[1]]
    assert len(asked) == 1, "at the end the time of the path is used up"
