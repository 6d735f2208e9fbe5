import json
import subprocess
import unicodedata

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from topospread.api.yaml_text import parse_yaml, yaml_text
from topospread.base import json_text
from topospread.text import (
    colour_mark,
    escape_commands,
    escape_control_bytes,
    escape_control_characters,
    for_terminal,
    message_lines,
    one_line,
    shell_line,
)

CONTROLS = [
    *(chr(code) for code in (*range(9), *range(0x0B, 0x20), *range(0x7F, 0xA0))),
    *"\xad\u200b\u200d\u2060\ufe0f\ufeff\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\ud800\udfff\ufffe\uffff",
]
texts = st.text(st.sampled_from([*CONTROLS, *"\n\t\\\"':# -ab[]é→"]), max_size=30)
whole = texts.map(lambda text: text.encode("utf-8", "replace").decode())


@pytest.mark.parametrize("control", CONTROLS)
def test_every_control_character_is_escaped(control: str) -> None:
    assert escape_control_characters(f"a{control}b") == f"a\\u{ord(control):04x}b"


def test_line_ends_tabs_and_letters_stay() -> None:
    text = "a\tb\r\nc\nß→é𝄞 ✅"
    assert escape_control_characters(text) == text


def test_every_invisible_character_of_unicode_is_escaped() -> None:
    """All format characters, except Arabic and other signs that are drawn."""
    drawn = [*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)]
    for code in range(0x110000):
        if unicodedata.category(chr(code)) == "Cf":
            assert (escape_control_characters(chr(code)) == chr(code)) == (code in drawn), hex(code)


@pytest.mark.parametrize("hidden", ["\U000e0041", "\U000e0100", "\u3164", "\xad"])
def test_an_invisible_character_keeps_the_meaning_of_json_and_yaml(hidden: str) -> None:
    text = f"a{hidden}b"
    shown = escape_control_characters(text)
    assert shown.isascii()
    assert json.loads(f'"{shown}"') == text
    assert escape_control_bytes(json.dumps(text, ensure_ascii=False).encode()) == f'"{shown}"'.encode()
    assert parse_yaml(escape_control_characters(yaml_text(text))) == text


def test_every_character_of_unicode_that_moves_a_cursor_or_turns_text_is_escaped() -> None:
    for code in range(0x110000):
        sign = chr(code)
        acts = unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(sign) in (
            *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"),
        )
        if acts and sign not in "\n\t":
            assert escape_control_characters(sign) != sign, hex(code)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::x", "\\u003a:error::x"),
        ("a\n  ::stop-commands::x", "a\n  \\u003a:stop-commands::x"),
        ("a ::b", "a ::b"),
        ("a ##[error]b", "a #\\u0023[error]b"),
        ("##vso[task.setvariable]", "#\\u0023vso[task.setvariable]"),
        ("## title", "## title"),
    ],
)
def test_no_line_is_a_command_to_a_pipeline(text: str, shown: str) -> None:
    assert escape_commands(text) == shown


def test_only_marks_of_this_process_become_colours() -> None:
    marked = f"{colour_mark('1;31')}a\x1b[31m{colour_mark('0')}"
    assert for_terminal(marked) == "\x1b[1;31ma\\u001b[31m\x1b[0m"


@pytest.mark.parametrize("words", [["a", "b c", "d'e"], ["a\nb'\\c", "\t", "é\x1b"], [""]])
def test_a_shell_reads_the_words_of_a_line(words: list[str]) -> None:
    line = shell_line(words)
    assert "\n" not in line
    script = f"printf '%s\\0' {line}"
    ran = subprocess.run(["bash", "-c", script], env={"LC_ALL": "C.UTF-8"}, capture_output=True, check=True)
    assert ran.stdout.decode().split("\0")[:-1] == words


def test_other_shells_run_no_part_of_a_word() -> None:
    """In sh no ``$'…'`` has an escaped quote; in fish ``'…'`` has one, and an unknown ``$'`` is an error."""
    line = shell_line(["printf", "x", "\x1b';echo ran;'"])
    assert subprocess.run(["sh", "-c", line], capture_output=True, check=True).stdout == b"x"
    assert shell_line(["a\\", ";id;"]) == "$'a\\\\' ';id;'"


@given(texts)
def test_escaping_twice_changes_nothing_more(text: str) -> None:
    once = escape_control_characters(text)
    assert escape_control_characters(once) == once
    assert "\n" not in one_line(text)


@given(whole)
def test_json_keeps_its_meaning(text: str) -> None:
    written = json_text({text: [text]})
    assert json.loads(escape_commands(escape_control_characters(written))) == {text: [text]}
    assert json.loads(escape_control_bytes(written.encode())) == {text: [text]}


@given(whole.filter(lambda text: "\r" not in text))
def test_yaml_keeps_its_meaning_and_no_line_of_it_is_a_command(text: str) -> None:
    written = yaml_text({text or "a": [text, f"x\n::error::{text}", f"##[{text}", "b " * 600 + "::c"]})
    shown = escape_commands(escape_control_characters(written))
    assert parse_yaml(shown) == parse_yaml(written) == yaml.safe_load(shown)


def test_json_of_a_file_name_that_is_not_utf_8_can_be_read() -> None:
    assert json.loads(json_text({"file": "a\udcff"})) == {"file": "a\udcff"}


def test_only_notes_continue_a_message() -> None:
    text = "rights are missing:\n  yes: all is well\nyes: all is well\n ::error::x\r\n  end"
    shown = "rights are missing:\\n  yes: all is well\\nyes: all is well\\n ::error::x\\r\\n  end"
    assert message_lines(text) == shown
    assert message_lines(text, ["list nodes", "list\n  pods"]) == f"{shown}\n  list nodes\n  list\n    pods"
