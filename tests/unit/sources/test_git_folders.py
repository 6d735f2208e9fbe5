from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from topospread.errors import InputError
from topospread.sources.git_folders import check_git_folder
from topospread.sources.revisions import state_of

NOT_WRITTEN = "git did not write .git for this folder"


def git(folder: Path, *words: str) -> None:
    named = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose branch ``main`` has one file ``app.yaml``."""
    return made(tmp_path / "repository")


def made(folder: Path, *options: str) -> Path:
    folder.mkdir()
    git(folder, "init", "-b", "main", *options)
    (folder / "app.yaml").write_text("kind: List\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-m", "x")
    return folder


def read(folder: Path, revision: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(folder)
    with state_of(f"rev:{revision}") as state:
        return Path(state.root, "app.yaml").read_text()


def worktree(repository: Path) -> Path:
    git(repository, "worktree", "add", "--detach", "../worktree")
    return repository.parent / "worktree"


def submodule(repository: Path) -> Path:
    above = made(repository.parent / "above")
    git(above, "submodule", "add", str(repository), "inner")
    return above / "inner"


def shallow(repository: Path) -> Path:
    git(repository.parent, "clone", "--depth=1", f"file://{repository}", "shallow")
    return repository.parent / "shallow"


def packed(repository: Path) -> Path:
    git(repository, "gc")
    return repository


def with_sha256(repository: Path) -> Path:
    return made(repository.parent / "sha256", "--object-format=sha256")


def borrowing(repository: Path) -> Path:
    git(repository.parent, "clone", "--shared", str(repository), "borrowing")
    return repository.parent / "borrowing"


@pytest.mark.parametrize("change", [worktree, submodule, shallow, packed, with_sha256, borrowing])
def test_kinds_of_repositories(
    change: Callable[[Path], Path], repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read(change(repository), "HEAD", monkeypatch) == "kind: List\n"


def test_a_folder_in_a_repository_is_not_one_of_its_submodules(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = submodule(repository).parent / "unpacked"
    folder.mkdir()
    (folder / ".git").write_text("gitdir: ../.git/modules/inner\n")
    with pytest.raises(InputError, match=NOT_WRITTEN):
        read(folder, "HEAD", monkeypatch)


def test_a_pipe_beside_a_git_folder_is_not_read(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder := repository / "unpacked").mkdir()
    (module := repository / ".git" / "modules" / "x").mkdir(parents=True)
    os.mkfifo(module / "config")
    (folder / ".git").write_text("gitdir: ../.git/modules/x\n")
    with pytest.raises(InputError, match=NOT_WRITTEN):
        read(folder, "HEAD", monkeypatch)


def test_deep_folders(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / ".git" / "refs" / "/".join(["a"] * 250)).mkdir(parents=True)
    with pytest.raises(InputError, match="more than 200 parts"):
        read(repository, "main", monkeypatch)


def test_names_that_settings_and_logs_resolve(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(repository.parent, "clone", "repository", "clone")
    clone = repository.parent / "clone"
    git(clone, "checkout", "-b", 'a"b', "--track", "origin/main")
    (clone / "app.yaml").write_text("kind: Pod\n")
    git(clone, "commit", "-am", "x")
    assert read(clone, "HEAD", monkeypatch) == "kind: Pod\n"
    for revision in ("@{upstream}", "origin/main", "HEAD@{1}", 'a"b@{1}'):
        assert read(clone, revision, monkeypatch) == "kind: List\n"


def test_revisions_are_read_by_any_user(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """git itself refuses to read the settings of another user's repository."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert read(repository, "main", monkeypatch) == "kind: List\n"


def test_unknown_revision(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="neither a path nor a revision of this repository"):
        read(repository, "missing", monkeypatch)


@pytest.mark.parametrize("name", ["HEAD", "refs/heads/other", "objects/00", "config", "packed-refs", "logs/HEAD"])
@pytest.mark.parametrize("target", ["token", "missing"])
def test_links_show_nothing_of_their_targets(
    name: str, target: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository.parent / "token").write_text("secret")
    path = repository / ".git" / name
    if path.is_dir():  # objects whose names begin with 00
        path.rename(repository.parent / "moved")
    path.unlink(missing_ok=True)
    path.symlink_to(repository.parent / target)
    with pytest.raises(InputError, match=NOT_WRITTEN):
        read(repository, "main", monkeypatch)


def test_a_pipe_is_not_read(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / ".git" / "HEAD").unlink()
    os.mkfifo(repository / ".git" / "HEAD")
    with pytest.raises(InputError, match=NOT_WRITTEN):
        read(repository, "main", monkeypatch)


@pytest.mark.parametrize("target", ["repository/.git", "missing", "token", "x\0y", "y" * 5000])
@pytest.mark.parametrize("pointer", ["file", "commondir"])
def test_a_git_folder_that_names_another_one(
    pointer: str, target: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository.parent / "token").write_text("secret")
    other = repository.parent / "other"
    if pointer == "file":
        other.mkdir()
        (other / ".git").write_text(f"gitdir: {repository.parent / target}\n")
    else:
        (made(other) / ".git" / "commondir").write_text(f"{repository.parent / target}\n")
    with pytest.raises(InputError, match=NOT_WRITTEN):
        read(other, "main", monkeypatch)


@pytest.mark.parametrize(
    ("named", "refused"), [(".bare", True), ("deploy/../.bare/worktrees/a", True), ("../x", False)]
)
def test_git_s_folder_is_not_in_the_root_under_another_name(tmp_path: Path, named: str, refused: bool) -> None:
    repository = tmp_path
    (repository / "deploy").mkdir()
    (repository / ".git").mkdir()
    check_git_folder(str(repository))
    (repository / ".git").rmdir()
    (repository / ".git").write_text(f"gitdir: {named}\n")
    check_git_folder(str(repository))
    (repository / ".bare" / "worktrees" / "a").mkdir(parents=True)
    said = ""
    try:
        check_git_folder(str(repository))
    except InputError as error:
        said = str(error)
    assert ("charts could read git's folder .bare" in said) is refused
