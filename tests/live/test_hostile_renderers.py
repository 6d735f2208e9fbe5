"""Kustomizations and charts of a stranger, with the real helm and kustomize: no code runs, no path leaves the root."""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path

import pytest

from tests.live.test_renderers import CLUSTER, TOPOSPREAD, Done

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web%s}
spec: {containers: [{name: a, image: a}]}
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with a pull request of a stranger; a secret lies beside it."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    (tmp_path / "secret.yaml").write_text(POD % "-hunter2")
    return folder


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def run(checkout: Path, renderers: Path, *words: str) -> Done:
    environment = {"HOME": os.environ["HOME"], "PATH": f"{renderers}:/usr/bin:/bin", "TOKEN": "hunter2"}
    return subprocess.run(
        [TOPOSPREAD, *words], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )


def plugin(checkout: Path) -> Path:
    """A Helm plugin in the home that the kustomization names; returns the file that it writes when it runs."""
    proof = checkout.parent / "proof"
    write(
        checkout,
        {
            "kustomization.yaml": (
                "helmGlobals: {configHome: evil}\nhelmCharts: [{name: web, repo: 'evil://x', version: 1.0.0}]\n"
            ),
            "evil/.data/plugins/evil/plugin.yaml": (
                "name: evil\nversion: 1.0.0\nusage: a\ndescription: a\n"
                "downloaders: [{command: run.sh, protocols: [evil]}]\n"
            ),
            "evil/.data/plugins/evil/run.sh": f"#!/bin/sh\necho $TOKEN > {proof}\n",
        },
    )
    (checkout / "evil/.data/plugins/evil/run.sh").chmod(0o755)
    return proof


@pytest.mark.parametrize("allowed", [(), ("--render-helm",), ("--render-helm", "--render-network")])
@pytest.mark.parametrize("command", ["lint", "simulate", "plan"])
def test_a_plugin_of_the_config_home_never_runs(
    renderers: Path, checkout: Path, command: str, allowed: tuple[str, ...]
) -> None:
    proof = plugin(checkout)
    paths = ("path:.", "path:.") if command == "plan" else (".",)
    done = run(checkout, renderers, command, *paths, *CLUSTER, *allowed)
    assert done.returncode == 2
    assert not proof.exists()
    # Without topospread between them the two programs do run it.
    environment = {"HOME": str(checkout.parent), "PATH": f"{renderers}:/usr/bin:/bin", "TOKEN": "hunter2"}
    subprocess.run([renderers / "kustomize", "build", "--enable-helm", "."], cwd=checkout, env=environment, check=False)
    assert proof.read_text() == "hunter2\n"


def test_a_release_name_is_no_option_of_helm(renderers: Path, checkout: Path) -> None:
    refused = "is not allowed as an option of Helm"
    names = ((f"--output-dir={checkout.parent}/written", " leaves "), ("--post-renderer=./run.sh", refused))
    for name, problem in (*names, ("--output-dir=written", refused)):
        chart = {"charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n", "charts/web/values.yaml": ""}
        chart["charts/web/templates/pod.yaml"] = POD % ""
        write(checkout, chart | {"kustomization.yaml": f"helmCharts: [{{name: web, releaseName: '{name}'}}]\n"})
        done = run(checkout, renderers, "simulate", "-f", ".", *CLUSTER, "--render-helm")
        assert done.returncode == 2
        assert problem in done.stderr
        assert not (checkout.parent / "written").exists()
        assert not (checkout / "written").exists()


def test_functions_do_not_run(renderers: Path, checkout: Path) -> None:
    proof = checkout.parent / "proof"
    function = (
        "apiVersion: a/v1\nkind: A\nmetadata:\n  name: a\n  annotations:\n"
        "    config.kubernetes.io/function: |\n      exec: {path: ./run.sh}\n"
    )
    write(checkout, {"run.sh": f"#!/bin/sh\ntouch {proof}\n", "function.yaml": function, "pod.yaml": POD % ""})
    (checkout / "run.sh").chmod(0o755)
    for field in ("generators", "transformers", "validators"):
        write(checkout, {"kustomization.yaml": f"resources: [pod.yaml]\n{field}: [function.yaml]\n"})
        done = run(checkout, renderers, "lint", ".", "--render-helm", "--render-network")
        assert done.returncode == 2
        assert not proof.exists()


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """A server of this machine, which holds what a pull request must not fetch; and the paths it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write((POD % "-fetched").encode())

        def log_message(self, *args: object) -> None:
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{found.server_port}/pod.yaml", asked
        found.shutdown()


@pytest.mark.parametrize(
    "fields",
    [
        "resources: ['%s']",
        "RESOURCES: ['%s']",
        "resources: [pod.yaml]\npatches: [{path: '%s'}]",
        "resources: [pod.yaml]\nopenapi: {path: '%s'}",
        "configMapGenerator: [{name: a, files: ['a=%s']}]",
        "resources: [below]",
        "resources: [pod.yaml]\ntransformers: [transformer.yaml]",
    ],
)
def test_nothing_is_fetched_unless_asked_for(
    renderers: Path, checkout: Path, server: tuple[str, list[str]], fields: str
) -> None:
    url, asked = server
    transformer = f"apiVersion: builtin\nkind: PatchTransformer\nmetadata: {{name: a}}\npath: '{url}'\n"
    files = {"kustomization.yaml": fields.replace("%s", url), "below/kustomization.yaml": f"resources: ['{url}']\n"}
    write(checkout, files | {"pod.yaml": POD % "", "transformer.yaml": transformer})
    done = run(checkout, renderers, "lint", ".")
    assert (done.returncode, asked) == (2, []), done.stdout + done.stderr
    assert "add --render-network" in done.stderr
    run(checkout, renderers, "lint", ".", "--render-network")
    assert asked, "the attack works where the network is allowed"


def test_a_repository_is_not_cloned_unless_asked_for(renderers: Path, checkout: Path) -> None:
    other = checkout.parent / "other"
    other.mkdir()
    write(other, {"kustomization.yaml": "resources: [pod.yaml]\n", "pod.yaml": POD % "-hunter2"})
    for words in (
        ("init", "--quiet"),
        ("add", "-A"),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"),
    ):
        subprocess.run(["git", *words], cwd=other, check=True)
    write(checkout, {"kustomization.yaml": f"resources: ['file://{other}']\n"})
    for allowed in ((), ("--render-network",)):
        done = run(checkout, renderers, "simulate", "-f", ".", *CLUSTER, *allowed)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr


def test_a_base_does_not_leave_the_repository(renderers: Path, checkout: Path) -> None:
    write(checkout.parent, {"other/kustomization.yaml": "resources: [pod.yaml]\n", "other/pod.yaml": POD % "-hunter2"})
    (checkout / "link").symlink_to(checkout.parent / "other")
    for base in ("../other", "link", "below"):
        write(checkout, {"kustomization.yaml": f"resources: [{base}]\n"})
        write(checkout, {"below/kustomization.yaml": "Resources: [../../other]\n"})
        done = run(checkout, renderers, "simulate", "-f", ".", *CLUSTER)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"leaves {checkout}" in done.stderr


def test_without_a_repository_a_base_does_not_leave_the_folder_that_is_named(renderers: Path, tmp_path: Path) -> None:
    base = {"base/kustomization.yaml": "resources: [pod.yaml]\n", "base/pod.yaml": POD % "-hunter2"}
    write(tmp_path, base | {"overlay/kustomization.yaml": "resources: [../base]\n"})
    done = run(tmp_path, renderers, "simulate", "-f", "overlay", *CLUSTER)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"../base leaves {tmp_path}/overlay; name {tmp_path}, which holds both" in " ".join(done.stderr.split())
    assert run(tmp_path, renderers, "simulate", "-f", ".", *CLUSTER).returncode == 0


def chart_with_schema(reference: str) -> dict[str, str]:
    """A chart whose schema for values refers to something else."""
    return {
        "charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
        "charts/web/values.yaml": "a: 1\n",
        "charts/web/values.schema.json": json.dumps({"properties": {"a": {"$ref": reference}}}),
        "charts/web/templates/pod.yaml": POD % "",
    }


@pytest.mark.parametrize("path", ["charts/web", "web-1.0.0.tgz", "."])
def test_a_schema_for_values_reads_no_file_and_no_server(
    renderers: Path, checkout: Path, server: tuple[str, list[str]], path: str
) -> None:
    url, asked = server
    secret = checkout.parent / "secret.json"
    secret.write_text('{"const": "hunter2"}')
    for reference in (f"file://{secret}", url):
        write(checkout, chart_with_schema(reference) | {"kustomization.yaml": "helmCharts: [{name: web}]\n"})
        subprocess.run([renderers / "helm", "package", "charts/web"], cwd=checkout, check=True, capture_output=True)
        done = run(checkout, renderers, "simulate", "-f", path, *CLUSTER, "--render-helm")
        assert (done.returncode, asked) == (0, []), done.stderr
        assert "hunter2" not in done.stdout + done.stderr
        if path != ".":
            assert "values are not validated" in " ".join(done.stdout.split())


def test_a_schema_for_values_is_still_enforced(renderers: Path, checkout: Path) -> None:
    write(checkout, chart_with_schema("#/$defs/a"))
    schema = {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"const": 2}}}
    (checkout / "charts/web/values.schema.json").write_text(json.dumps(schema))
    done = run(checkout, renderers, "simulate", "-f", "charts/web", *CLUSTER)
    assert done.returncode == 2
    assert "values don't meet the specifications of the schema" in " ".join(done.stderr.split())


def test_a_link_in_a_chart_does_not_leave_the_repository(renderers: Path, checkout: Path) -> None:
    template = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: {{ .Files.Get "x" | quote }}}\n'
    chart = {
        "Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
        "templates/a.yaml": template,
        "values.yaml": "",
    }
    write(checkout / "charts" / "web", chart)
    (checkout / "charts" / "web" / "x").symlink_to(checkout.parent / "secret.yaml")
    done = run(checkout, renderers, "lint", "charts/web")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"charts/web/x: this symbolic link leaves {checkout}" in done.stderr
    write(checkout, {"kustomization.yaml": "helmCharts: [{name: web}]\n"})
    done = run(checkout, renderers, "lint", ".", "--render-helm")
    assert done.returncode == 2
    assert f"this symbolic link leaves {checkout}" in done.stderr


@pytest.fixture
def chart_repository(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of a repository of charts, which has one that is called web there, and the folder of its files."""
    folder = tmp_path / "repository"
    folder.mkdir()
    with HTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=folder)) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{found.server_port}"
        entry = {"name": "web", "version": "1.0.0", "apiVersion": "v2", "urls": [f"{address}/web.tgz"]}
        write(folder, {"index.yaml": json.dumps({"apiVersion": "v1", "entries": {"web": [entry]}})})
        yield address, folder
        found.shutdown()


@pytest.mark.parametrize(
    ("name", "file"), [("web", "templates/pod.yaml"), (".git", "config"), ("web", ".git/config"), ("web", "a/.git")]
)
def test_a_fetched_chart_is_no_repository(
    renderers: Path, checkout: Path, chart_repository: tuple[str, Path], name: str, file: str
) -> None:
    """Helm calls a chart's folder what the chart says, and a repository's configuration names programs."""
    address, folder = chart_repository
    with tarfile.open(folder / "web.tgz", "w:gz") as archive:
        files = {"Chart.yaml": f"apiVersion: v2\nname: {name}\nversion: 1.0.0\n", "values.yaml": "", file: POD % ""}
        for each, text in files.items():
            member = tarfile.TarInfo(f"web/{each}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    fields = f"helmGlobals: {{chartHome: .}}\nhelmCharts: [{{name: web, repo: '{address}'}}]\n"
    write(checkout, {"kustomization.yaml": fields})
    before = (checkout / ".git" / "config").read_text()
    done = run(checkout, renderers, "simulate", "-f", ".", *CLUSTER, "--render-helm", "--render-network")
    is_plain = file == "templates/pod.yaml"
    assert (done.returncode, (checkout / "web").exists()) == (0 if is_plain else 2, is_plain), done.stderr
    assert is_plain or "contains a file of git's" in done.stderr
    assert (checkout / ".git" / "config").read_text() == before


@pytest.mark.parametrize("program", ["kustomize", "kubectl"])
def test_a_kustomization_does_not_see_that_it_is_built_for_places(
    renderers: Path, kubectl: Path, checkout: Path, program: str
) -> None:
    """The patch is for objects with the annotation of an origin, which only topospread asks for."""
    (only := checkout.parent / "only").mkdir()
    (only / program).symlink_to((renderers if program == "kustomize" else kubectl) / program)
    patch = "- {op: replace, path: /metadata/name, value: harmless}"
    target = "target: {kind: Pod, annotationSelector: config.kubernetes.io/origin}"
    write(
        checkout,
        {
            "pod.yaml": POD % "-harmful",
            "kustomization.yaml": f"resources: [pod.yaml]\npatches:\n- {target}\n  patch: '{patch}'\n",
        },
    )
    done = run(checkout, only, "simulate", "-f", ".", *CLUSTER)
    assert "web-harmful" in done.stdout, done.stderr
    assert "harmless" not in done.stdout
