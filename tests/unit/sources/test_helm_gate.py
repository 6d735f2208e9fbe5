"""Calls of Helm that a kustomization may cause, and those that it may not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from topospread.errors import InputError, UsageError
from topospread.sources.helm_gate import check_call, write_gate


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root" / "charts" / "web").mkdir(parents=True)
    (tmp_path / "secret").write_text("")
    return tmp_path / "root"


def check(root: Path, *words: str, network: bool = False) -> None:
    check_call([word.replace("ROOT", str(root)) for word in words], (str(root),), network=network)


def test_the_calls_of_kustomize_are_allowed(root: Path) -> None:
    check(root, "version", "--short")
    check(root, "template", "web", "ROOT/charts/web", "--namespace", "a", "-f", "ROOT/values.yaml", "--include-crds")
    # A value is never taken for an option by Helm.
    check(root, "template", "web", "ROOT/charts/web", "--namespace", "--post-renderer=a")
    check(root, "template", "--name-template", "web-1", "ROOT/charts/web")
    pull = ("pull", "--untar", "--untardir", "ROOT/charts", "--repo", "https://a", "web", "--version", "1")
    check(root, *pull, network=True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("install", "web", "ROOT/charts/web"), "install is not allowed"),
        ((), "is not allowed"),
        (("template", "--post-renderer=./a", "ROOT/charts/web"), "--post-renderer=./a is not allowed"),
        (("template", "--set-file=a=b", "ROOT/charts/web"), "is not allowed as an option"),
        (("template", "web", "ROOT/../secret"), "name of a chart cannot be"),
        (("template", "web", "ROOT/charts/../charts/web"), "name of a chart cannot be"),
        (("template", "web", "/secret"), "is outside"),
        (("template", "web", "ROOT/charts/web", "-f", "ROOT/../secret"), "is outside"),
        (("pull", "--untar", "--untardir", "ROOT/charts", "web"), "add --render-network"),
        (("template", "web", "ROOT/charts/web", "-f", "ROOT/a,ROOT/../secret"), "the names of several files"),
        (("template", "web", "ROOT/charts/web", "-f", 'ROOT/"a'), "the names of several files"),
        (("template", "web", "ROOT/charts/web", "-f", "oci://127.0.0.1/web"), "Helm would fetch these values"),
        (("template", "--name-template", '{{env "A"}}', "ROOT/charts/web"), "nameTemplate: a release's name cannot"),
    ],
)
def test_other_calls_are_refused(root: Path, words: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check(root, *words)


def test_a_chart_is_not_fetched_to_elsewhere(root: Path) -> None:
    with pytest.raises(UsageError, match="is outside"):
        check(root, "pull", "--untar", "--untardir", "ROOT/..", "web", network=True)


@pytest.mark.parametrize("name", ["../../x", "/etc/x"])
def test_a_chart_with_the_name_of_another_folder_is_not_fetched(root: Path, name: str) -> None:
    with pytest.raises(UsageError, match="the name of a chart cannot be an absolute path or contain"):
        check(root, "pull", "--untar", "--untardir", "ROOT/charts", name, network=True)


def test_a_chart_is_not_fetched_to_where_helm_looks_for_plugins(root: Path) -> None:
    """A base from the network lies beside Helm's homes."""
    home = root.parent / "home"
    for words in (("pull", "--untar", "--untardir", f"{home}/plugins", "web"), ("template", "web", f"{home}/web")):
        with pytest.raises(UsageError, match="is outside"):
            check_call(words, (str(root), str(home)), network=True)
    check_call(
        ("template", "web", f"{root}/charts/web", "-f", f"{home}/values.yaml"), (str(root), str(home)), network=True
    )


def fetch(root: Path, fetched: str) -> subprocess.CompletedProcess[str]:
    """Have the gate fetch a chart from a Helm that unpacks a file, and shows its folder of plugins."""
    helm = root.parent / "helm"
    helm.write_text(f'#!/bin/sh\nmkdir -p "$(dirname "$4/{fetched}")"; touch "$4/{fetched}"; echo "$HELM_PLUGINS"\n')
    helm.chmod(0o755)
    home = root.parent / "home"
    home.mkdir()
    gate = write_gate(str(home), str(helm), str(root), network=True)
    words = [gate, "pull", "--untar", "--untardir", f"{root}/new", "--repo", "https://a", "web"]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_a_fetched_chart_lies_where_kustomize_looks_for_it(root: Path) -> None:
    done = fetch(root, "web/templates/a.yaml")
    assert (done.returncode, done.stdout, done.stderr) == (0, "/dev/null\n", "")
    assert (root / "new" / "web" / "templates" / "a.yaml").exists()


@pytest.mark.parametrize("fetched", [".git/config", ".GIT/config", "web/.git/config", "web/sub/.git"])
def test_a_fetched_chart_brings_no_file_of_git(root: Path, fetched: str) -> None:
    """A chart may be called .git, and its config may name a program that git runs."""
    done = fetch(root, fetched)
    assert (done.returncode, done.stderr) == (
        1,
        "Error: the fetched chart contains a file of git's; use another version of it\n",
    )
    assert not (root / "new").exists()


def test_a_fetched_chart_takes_no_other_files_place(root: Path) -> None:
    (root / "new").mkdir()
    (root / "new" / "web").symlink_to("../..")
    done = fetch(root, "web/templates/a.yaml")
    assert (done.returncode, "exists, and the fetched chart has the same name" in done.stderr) == (1, True)
    assert not (root.parent / "templates").exists()


def test_a_link_out_of_a_chart_is_refused(root: Path) -> None:
    (root / "charts" / "web" / "a").symlink_to("../../../secret")
    with pytest.raises(InputError, match="leaves"):
        check(root, "template", "web", "ROOT/charts/web")


def test_a_chart_whose_name_helm_shortens_is_refused(root: Path) -> None:
    with pytest.raises(InputError, match="white space"):
        check(root, "template", "web", "ROOT/charts/web ")


def test_a_chart_that_is_a_repository_is_refused(root: Path) -> None:
    (root / "charts" / "web" / ".git").mkdir()
    with pytest.raises(InputError, match="Helm would read git's files"):
        check(root, "template", "web", "ROOT/charts/web")
