"""Files that cannot be used: each is answered with exit code 2 and a line that says where and what, no traceback."""

import json
import re
import sys
from pathlib import Path

import pytest

from topospread.cli.main import main
from topospread.errors import InputError
from topospread.sources.load import load

HOSTILE = Path(__file__).parents[1] / "hostile"
EXPECTED = json.loads((HOSTILE / "expected.json").read_text())
"""Name of a file → the beginning of what is said about it; ``…/`` stands for the folder."""


def test_every_file_has_its_answer():
    assert sorted(EXPECTED) == sorted(path.name for path in HOSTILE.iterdir() if path.name != "expected.json")
    assert len(EXPECTED) >= 50


@pytest.mark.parametrize("name", EXPECTED)
def test_the_answer_names_the_place(name):
    with pytest.raises(InputError) as caught:
        load([str(HOSTILE / name)], cluster="nodes=1")
    said = str(caught.value).replace(f"{HOSTILE}/", "…/")
    assert said.startswith(f"…/{EXPECTED[name]}")
    assert caught.value.place.source.endswith(name)


@pytest.mark.parametrize("name", EXPECTED)
def test_most_answers_name_the_line(name):
    """All but those about a file as a whole: its compression, its encoding, its nesting."""
    whole = name.endswith(".gz") or name.startswith(("utf-16", "deep"))
    assert whole or re.match(rf"{re.escape(name)}:\d+:\d+: ", EXPECTED[name])


@pytest.mark.parametrize("name", EXPECTED)
def test_the_command_exits_with_2(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["topospread", "simulate", "-f", str(HOSTILE / name), "--on", "nodes=1"])
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr()
    assert left.value.code == 2
    assert said.out == ""
    assert said.err.startswith(f"error: {HOSTILE}/{EXPECTED[name][: EXPECTED[name].index(':')]}")
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-f", "gone.yaml"], "gone.yaml: cannot be read: No such file or directory"),
        (["-f", "."], "no file in this folder ends in .yaml"),
        (["-f", "empty.yaml"], "error: empty.yaml holds no object (--allow-empty accepts that)"),
        (["-f", "comments.yaml", "--on", "zones=3,nodes=3"], "error: comments.yaml holds no object"),
        (["-f", "empty.yaml", "--allow-empty"], "the input has no nodes"),
        (["-f", "-", "-f", "-"], "- is given twice"),
        ([], "no cluster: add --on"),
        (["-f", "empty.yaml", "--on", "zonse=3"], "zonse=3: write zones=3"),
        (["-f", "empty.yaml", "--on", "gone.yaml"], "gone.yaml: file not found"),
    ],
)
def test_what_is_no_file_exits_with_2(arguments, words, monkeypatch, capsys, tmp_path):
    (tmp_path / "nothing").mkdir()
    (tmp_path / "empty.yaml").write_bytes(b"")
    (tmp_path / "comments.yaml").write_bytes(b"# nothing yet\n---\n# nor here\n")
    monkeypatch.chdir(tmp_path / "nothing" if arguments == ["-f", "."] else tmp_path)
    monkeypatch.setattr(sys, "argv", ["topospread", "simulate", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert words in capsys.readouterr().err
