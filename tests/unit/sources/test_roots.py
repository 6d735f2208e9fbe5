"""The root of a path, and links that leave it."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from topospread.errors import InputError
from topospread.sources.roots import (
    check_inside_repository,
    check_links,
    check_name,
    is_within,
    real_path,
    real_path_in,
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
    (repository / "deploy" / "b").symlink_to("c")
    (repository / "deploy" / "c").symlink_to("../deploy/b")
    check_links(str(repository / "deploy"), str(repository))


@pytest.mark.parametrize("links", [41, 120])
def test_more_links_than_the_system_follows_are_outside_because_go_follows_them(repository: Path, links: int) -> None:
    for number in range(1, links):
        (repository / f"l{number}").symlink_to(f"l{number + 1}")
    (repository / f"l{links}").symlink_to("deploy")
    assert not is_within(str(repository / "l1"), str(repository))
    assert is_within(str(repository / f"l{links - 39}"), str(repository))


def test_more_links_than_a_system_follows_take_no_time(repository: Path) -> None:
    (repository / "l").symlink_to(".")
    assert is_within(str(repository / ("l/" * 40)), str(repository))
    with pytest.raises(OSError, match="symbolic links"):
        os.stat(repository / ("l/" * 2_000))
    assert not is_within(str(repository / ("l/" * 20_000)), str(repository)), "no path is so long"


def test_the_targets_of_the_links_of_a_path_have_a_hundred_names_together(repository: Path) -> None:
    (repository / "b").symlink_to("deploy/../" * 24 + "deploy")
    (repository / "a").symlink_to("deploy/../" * 25 + "b")
    assert is_within(str(repository / "a"), str(repository))
    (repository / "c").symlink_to("a")
    assert not is_within(str(repository / "c"), str(repository))


def unresolvable(repository: Path, target: Path) -> str:
    """Make a link to `target` whose real path is too long for any call, and return a short path of it by a link."""
    deep = ["d" * 250] * 17
    begin = os.getcwd()
    os.chdir(repository)
    try:
        for each in deep:
            os.mkdir(each)
            os.chdir(each)
        Path("x").symlink_to(target)
    finally:
        os.chdir(begin)
    (repository / "l").symlink_to("/".join(deep[:8]))
    return "/".join(["l", *deep[8:], "x"])


def test_a_link_that_is_too_deep_to_be_resolved_is_outside_where_it_is_followed(repository: Path) -> None:
    """``os.path.realpath`` takes this link for a file, but the system reads its target."""
    path = repository / unresolvable(repository, repository.parent / "outside" / "a.yaml")
    assert path.read_text() == ""
    assert os.path.realpath(path).startswith(str(repository))
    assert not is_within(str(path), str(repository))
    with pytest.raises(InputError, match="leaves"):
        check_inside_repository(str(path))


def test_a_link_that_seems_to_be_a_loop_is_outside_where_it_is_followed(repository: Path) -> None:
    """``os.path.realpath`` comes back to the link itself, but the system reads another file than the path names."""
    deep = Path("z", *"z" * 18)
    (repository / deep).mkdir(parents=True)
    (repository / "z" / "p").symlink_to(repository.parent / "outside" / "a.yaml")
    (repository / "p").symlink_to(f"{unresolvable(repository, repository / deep)}/{'../' * 18}p")
    path = str(repository / "p")
    assert os.path.realpath(path) == path
    assert Path(path).samefile(repository.parent / "outside" / "a.yaml")
    with pytest.raises(InputError, match="leaves"):
        check_inside_repository(path)
    with pytest.raises(InputError, match="cannot be resolved"):
        real_path(path)


def test_a_chart_with_a_folder_that_is_too_deep_to_be_resolved_is_refused(repository: Path) -> None:
    chart = repository / "deploy"
    (chart / "templates").symlink_to("../" + unresolvable(repository, repository.parent / "outside"))
    with pytest.raises(InputError, match="leaves"):
        check_links(str(chart), str(repository))


@pytest.mark.parametrize("folder", ["outside", "absent"])
def test_a_link_that_leaves_the_root_and_comes_back_does_not_tell_what_exists(repository: Path, folder: str) -> None:
    (repository / "deploy" / "a.yaml").write_text("")
    for link, way in (("absolute", str(repository.parent)), ("relative", "../..")):
        (repository / "deploy" / link).symlink_to(f"{way}/{folder}/../{repository.name}/deploy/a.yaml")
        assert not is_within(str(repository / "deploy" / link), str(repository))
    (repository / "deploy" / "line").symlink_to(f"../../{repository.name}/deploy/a.yaml")
    assert is_within(str(repository / "deploy" / "line"), str(repository)), "the folders above exist anyway"


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


FOLDERS = ["", "a", "b", "a/b", "b/a"]
PLACES = [f"{folder}/{link}".lstrip("/") for folder in FOLDERS for link in "mno"]
WAYS = st.lists(st.sampled_from(["a", "b", "m", "n", "o", ".."]), max_size=3)
TARGETS = st.tuples(st.sampled_from([*FOLDERS, *PLACES]), WAYS)


@drawn(150)
@given(st.dictionaries(st.sampled_from(PLACES), TARGETS, min_size=4), st.lists(WAYS, min_size=1, max_size=4))
def test_a_resolved_path_is_the_file_that_the_system_opens(
    links: dict[str, tuple[str, list[str]]], ways: list[list[str]]
) -> None:
    """Most links lead to other links, because a resolver errs where it comes back to a link."""
    with TemporaryDirectory() as folder:
        root = os.path.realpath(folder)
        for first, second in product("ab", repeat=2):
            os.makedirs(os.path.join(root, first, second))
        for place, (target, way) in links.items():
            os.symlink(os.path.join("../" * place.count("/"), target, *way) or ".", os.path.join(root, place))
        for begin, way in product(links, ways):
            path = os.path.join(root, begin, *way)
            found = real_path_in(path, os.sep)
            if os.path.exists(path):
                assert found == os.path.realpath(path)
            else:
                assert found is None or not os.path.exists(found)


def test_a_link_that_is_followed_twice_in_one_path_does_not_lead_to_itself(repository: Path) -> None:
    """``x`` passes ``m`` on the way to ``n``, and ``n`` passes ``m`` again on its way out of the repository."""
    (repository / "a" / "b").mkdir(parents=True)
    (repository / "d").mkdir()
    (repository / "a" / "b" / "m").symlink_to("../../d")
    (repository / "d" / "n").symlink_to("../a/b/m/out")
    (repository / "d" / "out").symlink_to("../../outside/a.yaml")
    (repository / "x").symlink_to("a/b/m/n")
    assert (repository / "x").samefile(repository.parent / "outside" / "a.yaml")
    assert not is_within(str(repository / "x"), str(repository))
