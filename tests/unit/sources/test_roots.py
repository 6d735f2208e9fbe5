"""The root of a path, and links that leave it."""

from __future__ import annotations

from pathlib import Path

import pytest

from topospread.errors import InputError
from topospread.sources.roots import (
    check_inside_repository,
    check_links,
    check_name,
    is_within,
    repository_of,
    root_of,
    upwards,
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    (tmp_path / "repository" / "deploy").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.yaml").write_text("")
    return tmp_path / "repository"


def test_a_name_with_a_line_break_in_a_chart_is_refused(tmp_path: Path) -> None:
    (tmp_path / "chart").mkdir()
    (tmp_path / "chart" / "a\n---\n# Source: chart").touch()
    with pytest.raises(InputError, match="its name has a line break"):
        check_links(str(tmp_path), str(tmp_path))


def test_the_root_is_the_repository_or_else_the_folder(repository: Path) -> None:
    assert root_of(str(repository / "deploy" / "a.yaml")) == str(repository)
    assert root_of(str(repository / "deploy")) == str(repository)
    outside = repository.parent / "outside"
    assert root_of(str(outside)) == root_of(str(outside / "a.yaml")) == str(outside)


def test_a_link_to_another_repository_leaves_its_own(repository: Path) -> None:
    (repository.parent / "other" / ".git").mkdir(parents=True)
    (repository / "link").symlink_to("../other")
    assert repository_of(str(repository / "link")) == str(repository)
    assert not is_within(str(repository / "link"), str(repository))
    with pytest.raises(InputError, match="leaves"):
        check_inside_repository(str(repository / "link" / "a.yaml"))


def test_a_repository_in_a_repository_is_its_own_root(repository: Path) -> None:
    (repository / "inner" / ".git").mkdir(parents=True)
    assert repository_of(str(repository / "inner")) == str(repository / "inner")


def test_a_repository_that_is_reached_by_a_link_is_the_root(repository: Path) -> None:
    (repository.parent / "link").symlink_to("repository")
    assert root_of(str(repository.parent / "link" / "deploy")) == str(repository)
    check_inside_repository(str(repository.parent / "link" / "deploy" / "a.yaml"))


def test_a_name_that_only_begins_alike_is_outside(repository: Path) -> None:
    assert not is_within(f"{repository}-2/a", str(repository))
    assert is_within("/a", "/")


def test_links_of_linked_folders_are_checked(repository: Path) -> None:
    (repository / "shared").mkdir()
    (repository / "shared" / "a").symlink_to("../../outside/a.yaml")
    (repository / "deploy" / "shared").symlink_to("../shared")
    (repository / "shared" / "circle").symlink_to("../deploy")
    with pytest.raises(InputError, match="shared/a: this symbolic link leaves"):
        check_links(str(repository / "deploy"), str(repository))
    (repository / "shared" / "a").unlink()
    check_links(str(repository / "deploy"), str(repository))


def test_a_link_to_itself_leads_nowhere(repository: Path) -> None:
    (repository / "deploy" / "a").symlink_to("a")
    check_links(str(repository / "deploy"), str(repository))


def test_no_file_has_so_long_a_path(repository: Path) -> None:
    (repository / "l").symlink_to(".")
    assert is_within(str(repository / ("l/" * 1_500)), str(repository))
    assert not is_within(str(repository / ("l/" * 2_100)), str(repository))


def test_what_git_keeps_is_no_file_of_its_repository(repository: Path) -> None:
    """Its configuration holds the token of who checked out."""
    (repository / ".git" / "config").write_text("")
    (repository / "deploy" / "a").symlink_to("../.git/config")
    root = str(repository)
    assert not any(is_within(str(repository / each), root) for each in (".git", ".git/config", "deploy/a", ".GIT/a"))
    assert is_within(str(repository / ".github" / "a"), root)
    with pytest.raises(InputError, match=r"deploy/a: this symbolic link leaves"):
        check_links(str(repository / "deploy"), root)
    (repository / "deploy" / "a").unlink()
    (repository / "deploy" / ".git").mkdir()
    with pytest.raises(InputError, match=r"deploy/\.git: Helm would read git's files"):
        check_links(root, root, beside_git=True)
    (repository / "deploy" / ".git").rmdir()
    (repository / "deploy" / ".git").write_text("gitdir: ../.git/modules/deploy")
    check_links(root, root, beside_git=True)
    with pytest.raises(InputError, match=r"\.git: Helm would read git's files"):
        check_links(root, root)
    worktree = repository / ".git" / "worktree"
    (worktree / ".git").mkdir(parents=True)
    assert is_within(str(worktree / "a"), root_of(str(worktree)))


@pytest.mark.parametrize("link", ["self", "deploy/back"])
def test_no_link_leads_to_what_git_keeps_by_another_way(repository: Path, link: str) -> None:
    """Helm follows a link to the chart's own folder, unless its .helmignore ends the circle."""
    (repository / link).symlink_to(repository)
    with pytest.raises(InputError, match=f"{link}: Helm would read git's files here"):
        check_links(str(repository), str(repository), beside_git=True)
    (repository / ".git").rmdir()
    check_links(str(repository), str(repository), beside_git=True)


def test_settings_are_searched_up_to_the_root(repository: Path) -> None:
    assert list(upwards(str(repository / "deploy"))) == [str(repository / "deploy"), str(repository)]
    assert list(upwards(str(repository.parent))) == [str(repository.parent)]


@pytest.mark.parametrize("name", ["c ", " c", "a\nb", "a\rb", "a\u0085b", "c\u00a0", "a\u2028b", "k\udcff"])
def test_a_program_may_read_another_path_than_such_a_one(name: str) -> None:
    with pytest.raises(InputError, match="white space"):
        check_name(name)
    check_name("charts/our web")
