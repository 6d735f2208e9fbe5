"""Calls of Helm that a kustomization may cause, and those that it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from topospread.errors import InputError, UsageError
from topospread.sources.helm_gate import check_call


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
    pull = ("pull", "--untar", "--untardir", "ROOT/charts", "--repo", "https://a", "web", "--version", "1")
    check(root, *pull, network=True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("install", "web", "ROOT/charts/web"), "install is not allowed"),
        ((), "is not allowed"),
        (("template", "--post-renderer=./a", "ROOT/charts/web"), "--post-renderer=./a is not allowed"),
        (("template", "--set-file=a=b", "ROOT/charts/web"), "is not allowed as an option"),
        (("template", "web", "ROOT/../secret"), "is outside"),
        (("template", "web", "ROOT/charts/web", "-f", "ROOT/../secret"), "is outside"),
        (("pull", "--untar", "--untardir", "ROOT/charts", "web"), "add --render-network"),
        (("template", "web", "ROOT/charts/web", "-f", "ROOT/a,ROOT/../secret"), "the names of several files"),
        (("template", "web", "ROOT/charts/web", "-f", 'ROOT/"a'), "the names of several files"),
        (("template", "--name-template", '{{getHostByName "a"}}', "ROOT/charts/web"), "add --render-network"),
    ],
)
def test_other_calls_are_refused(root: Path, words: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check(root, *words)


def test_a_chart_is_not_fetched_to_elsewhere(root: Path) -> None:
    with pytest.raises(UsageError, match="is outside"):
        check(root, "pull", "--untar", "--untardir", "ROOT/..", "web", network=True)


def test_a_link_out_of_a_chart_is_refused(root: Path) -> None:
    (root / "charts" / "web" / "a").symlink_to("../../../secret")
    with pytest.raises(InputError, match="leaves"):
        check(root, "template", "web", "ROOT/charts/web")


def test_a_chart_that_is_a_repository_is_refused(root: Path) -> None:
    (root / "charts" / "web" / ".git").mkdir()
    with pytest.raises(InputError, match="Helm would read what git keeps"):
        check(root, "template", "web", "ROOT/charts/web")
