"""A file is written whole or not at all, with the right mode, and never through a link that leaves its folder."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

import topospread
from topospread.errors import InputError
from topospread.sources.atomic_file import replacing, write_file


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_an_error_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(str(path)) as file:  # noqa: PT012 - the block is interrupted
        file.write(b"half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_private_file_is_read_by_its_owner_only_even_if_the_old_one_was_not(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    path.write_text("old")
    path.chmod(0o644)
    with replacing(str(path), private=True) as file:
        file.write(b"new")
        (part,) = [each for each in tmp_path.iterdir() if each != path]
        assert mode(part) == 0o600
    assert (path.read_text(), mode(path)) == ("new", 0o600)


def test_a_shared_file_has_the_mode_of_the_umask_or_keeps_its_own(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_file(str(tmp_path / "new.svg"), "new")
    finally:
        os.umask(before)
    assert mode(tmp_path / "new.svg") == 0o640
    (tmp_path / "new.svg").chmod(0o604)
    write_file(str(tmp_path / "new.svg"), "newer")
    assert mode(tmp_path / "new.svg") == 0o604


def test_a_link_out_of_its_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "outside").write_text("old")
    link = tmp_path / "folder" / "report.html"
    link.symlink_to("../outside")
    for path in (str(link), str(tmp_path / "folder" / "nowhere" / ".." / "report.html")):
        with pytest.raises(InputError, match="a symbolic link leads out of the folder"):
            write_file(path, "new")
    assert (tmp_path / "outside").read_text() == "old"


def test_a_link_out_of_its_folder_is_refused_if_its_target_does_not_exist(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "report.html").symlink_to(tmp_path / "outside")
    with pytest.raises(InputError, match="a symbolic link leads out of the folder"):
        write_file(str(tmp_path / "folder" / "report.html"), "new")
    assert not (tmp_path / "outside").exists()


def test_a_link_to_gits_files_is_refused(tmp_path: Path) -> None:
    hook = tmp_path / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(parents=True)
    hook.write_text("old")
    (tmp_path / "report.txt").symlink_to(hook)
    with pytest.raises(InputError, match="or to git's files"):
        write_file(str(tmp_path / "report.txt"), "new")
    assert hook.read_text() == "old"


def test_a_linked_folder_out_of_the_working_directory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "out").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path / "work")
    for path in ("out/report.html", str(tmp_path / "work" / "out" / "report.html")):
        with pytest.raises(InputError, match="a symbolic link leads out of the folder"):
            write_file(path, "new")
    write_file("../report.html", "new")  # the user named the other folder
    assert os.listdir(tmp_path / "work") == ["out"]


def test_a_linked_folder_out_of_the_repository_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipeline often names the checkout by its whole path, or works in a folder of it."""
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    (tmp_path / "repository" / "app").mkdir()
    (tmp_path / "repository" / "linked").symlink_to("app")
    (tmp_path / "repository" / "out").symlink_to(tmp_path)
    (tmp_path / "repository" / "git").symlink_to(".git")
    (tmp_path / "other-way").symlink_to("repository")
    monkeypatch.chdir(tmp_path / "repository" / "app")
    for folder in ("../out", "../git", str(tmp_path / "repository" / "out"), str(tmp_path / "other-way" / "out")):
        with pytest.raises(InputError, match=r"leaves .*repository by a symbolic link"):
            write_file(os.path.join(folder, "report.html"), "new")
    write_file("../linked/report.html", "new")
    assert os.listdir(tmp_path / "repository" / "app") == ["report.html"]


def test_a_link_inside_its_folder_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "v1.html").write_text("old")
    (tmp_path / "report.html").symlink_to("v1.html")
    write_file(str(tmp_path / "report.html"), "new")
    assert (tmp_path / "report.html").is_symlink()
    assert (tmp_path / "v1.html").read_text() == "new"


def test_a_device_is_written_and_stays_a_device() -> None:
    write_file("/dev/null", "new")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize(("path", "why"), [("none/x.svg", "No such file or directory"), (".", "Is a directory")])
def test_what_cannot_be_written_is_an_error_with_its_path(
    path: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"cannot be written: .*{why}"):
        write_file(path, "new")
    assert os.listdir(tmp_path) == []


def test_no_other_module_writes_files() -> None:
    writes = re.compile(r"""\bopen\([^)\n]*,\s*["'][wax]b?\+?["']|write_text|write_bytes|mkstemp|os\.replace""")
    root = Path(topospread.__file__).parent
    found = {path.relative_to(root).as_posix() for path in root.rglob("*.py") if writes.search(path.read_text())}
    # The modules of `sources` write into temporary folders of their own.
    assert found == {"sources/atomic_file.py", "sources/helm_gate.py", "sources/revisions.py"}
