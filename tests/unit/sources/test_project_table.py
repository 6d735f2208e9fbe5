from __future__ import annotations

import time
from pathlib import Path

import pytest

from topospread.errors import DecodeError
from topospread.sources.project_table import read_table


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('\\"""\n' * 30_000, "not TOML"),
        ("a = '''\n" * 60_001, "not TOML"),
        (f"[{'.'.join('a' * 32)}]\n", "a key has more than 30 parts"),
        (f"{'.'.join('a' * 32)} = 1\n", "a key has more than 30 parts"),
        ("a = 1\n# " + "x" * (1 << 20), "the settings have more than 1 MiB"),
        ('a = """' + ".a" * 40, "not TOML"),
    ],
)
def test_texts_that_would_take_long(text: str, error: str, tmp_path: Path) -> None:
    (path := tmp_path / "topospread.toml").write_text(text)
    begin = time.process_time()
    with pytest.raises(DecodeError, match=error):
        read_table(str(path))
    assert time.process_time() - begin < 5


@pytest.mark.parametrize("text", [".a" * 40, "\\n\\u0041" + ".a" * 40])
@pytest.mark.parametrize("quotes", ['"', '"""'])
def test_dots_in_strings_are_no_parts_of_keys(text: str, quotes: str, tmp_path: Path) -> None:
    (path := tmp_path / "topospread.toml").write_text(f"# {text}\na = {quotes}{text}{quotes}\nb.c = 'x.y'\n")
    assert read_table(str(path))[1]["b"] == {"c": "x.y"}
