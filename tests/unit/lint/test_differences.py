"""A diff leads from one text to the other, whatever stands in them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topospread.lint.fixing import unified_diff

LINES = st.lists(st.sampled_from(["a: 1", "b: 2", "---", "", "@@ -1 +1 @@", "- x", "--- # y"]), max_size=30)
END = st.sampled_from(["", "\n"])


def applied(before: str, diff: str) -> str:
    """The text with a unified diff applied."""
    old = before.splitlines(keepends=True)
    new: list[str] = []
    at = 0
    lines = diff.splitlines(keepends=True)[2:]
    for number, line in enumerate(lines):
        kept = line[1:-1] if lines[number + 1 : number + 2] == ["\\ No newline at end of file\n"] else line[1:]
        head = re.match(r"@@ -(\d+)(?:,(\d+))? \+", line)
        if head:
            begin = int(head[1]) - (head[2] != "0")
            new += old[at:begin]
            at = begin
        elif line[0] in " -":
            assert old[at] == kept
            at += 1
        if line[0] in " +":
            new.append(kept)
    return "".join(new + old[at:])


@given(LINES, LINES, END, END)
def test_the_diff_leads_from_one_to_the_other(one: list[str], other: list[str], end: str, other_end: str) -> None:
    before, after = "\n".join(one) + end, "\n".join(other) + other_end
    assert applied(before, unified_diff(before, after, "a.yaml")) == after


def test_the_same_text_has_no_differences() -> None:
    assert unified_diff("a: 1\n", "a: 1\n", "a.yaml") == ""


@pytest.mark.parametrize("end", ["", "\n"])
def test_patch_takes_it(tmp_path: Path, end: str) -> None:
    documents = [f"name: {at}\nvalue: {at}\n" for at in range(50)]
    before = "---\n".join(documents).removesuffix("\n") + end
    after = before.replace("value: 7", "value: x\nmore: y").replace("name: 49\n", "")
    (tmp_path / "a.yaml").write_text(before)
    diff = unified_diff(before, after, "a.yaml")
    subprocess.run(["patch", "-p0", "-s"], cwd=tmp_path, input=diff, text=True, check=True)
    assert (tmp_path / "a.yaml").read_text() == after


def test_a_line_ends_where_patch_ends_it() -> None:
    before = '{"a": "\u2028+forged\x85",\n "b": 1\n}\n'
    diff = unified_diff(before, before.replace("1", "2"), "a.json")
    assert diff.split("\n")[3:-1] == [' {"a": "\u2028+forged\x85",', '- "b": 1', '+ "b": 2', " }"]
