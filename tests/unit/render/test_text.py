"""Text: the verdict first, names and commands whole, every line within the width if its words allow it."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from topospread.base import Bounds
from topospread.render.blocks import Bar, Code, Fact, Page, Section, Span, Table, Verdict
from topospread.render.text import text


def plain_text(line: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", line)


COMMAND = 'kubectl -n shop patch deployment checkout --type json -p \'[{"op":"replace","path":"/spec"}]\''
ZONES = Table(
    ("zone", "pods", "skew", "", "limit 1"),
    (
        ("eu-west-1a", 2, 2, Bar(2, 1), Span("refused", "bad")),
        ("eu-west-1c", Bounds(least=0, most=3), 1, Bar(1, 1), "admitted, but no node of the zone takes the pod"),
    ),
)


def page(*parts: object) -> Page:
    return Page("title", (Verdict("no", "shop/checkout-7c9d5b8f64-ssqbj finds no node"), *parts))  # type: ignore[arg-type]


def test_the_first_line_is_the_verdict() -> None:
    assert text(page()).splitlines()[0] == "no: shop/checkout-7c9d5b8f64-ssqbj finds no node"


def test_a_command_is_never_wrapped() -> None:
    lines = text(page(Fact("fix", "tried: places it", COMMAND)), width=40).splitlines()
    assert f"fix: {COMMAND}" in lines
    assert lines[-1] == "     tried: places it"


def test_numbers_are_right_aligned_and_a_long_cell_continues_below() -> None:
    lines = text(page(ZONES), width=60).splitlines()[1:]
    assert lines[0] == "zone        pods  skew      limit 1"
    assert lines[1] == "eu-west-1a     2     2  ██  refused"
    assert lines[2].startswith("eu-west-1c   0–3     1  █   admitted")
    assert max(len(plain_text(line)) for line in lines) <= 60


def test_a_narrow_screen_drops_columns_only_in_the_order_that_the_table_gives() -> None:
    wide = Table(("NAME", "NOTE", "COUNT"), (("a" * 30, "b" * 30, 1),), may_drop=(1,))
    assert "NOTE" not in text(page(wide), width=50)
    assert "NOTE" in text(page(wide), width=50, wide=True)


def test_further_rows_are_counted_unless_everything_is_wanted() -> None:
    many = Table(("NAME",), tuple((f"pod-{i}",) for i in range(30)), most=5, more="pods")
    assert text(page(many)).endswith("pod-4\nand 25 more pods: -o wide\n")
    assert text(page(many), wide=True).endswith("pod-29\n")


def test_wide_sections_are_shown_on_request() -> None:
    section = Section("kube-scheduler's words", (Code("0/6 nodes are available"),), wide=True)
    assert "0/6" not in text(page(section))
    assert text(page(section), wide=True).endswith("\nkube-scheduler's words\n  0/6 nodes are available\n")


def test_colours_add_no_words() -> None:
    plain, coloured = text(page(ZONES)), text(page(ZONES), colour=True)
    assert coloured.startswith("\x1b[1;31;")
    assert [len(plain_text(line)) for line in coloured.splitlines()] == [len(line) for line in plain.splitlines()]


@given(st.lists(st.text("abc-", min_size=1, max_size=70), min_size=1, max_size=8), st.integers(60, 100))
def test_names_are_never_cut(names: list[str], width: int) -> None:
    shown = text(page(Table(("NAME", "WHY"), tuple((name, "it lacks 700m of cpu") for name in names))), width=width)
    assert all(any(name in line for line in shown.splitlines()) for name in names)


@given(st.lists(st.sampled_from(["a", "yes:", "all is well", "x" * 90, "\n"]), min_size=1), st.integers(20, 90))
def test_words_of_a_name_do_not_begin_a_line(words: list[str], width: int) -> None:
    shown = text(page(Table(("name", "pods"), ((f"web {' '.join(words)}", 1), ("b", 2)))), width=width)
    assert not any(line.startswith(("yes:", "all is")) for line in shown.splitlines())


def test_a_name_that_reads_like_a_verdict_is_in_quotes() -> None:
    shown = text(page(Table(("name", "pods"), (("yes: all is well", 1), ("eu: a", 2)))))
    assert '"yes: all is well"     1\n' in shown
    assert "\neu: a " in shown
    assert '\n"no: a/b"\n' in text(page(Section("no: a/b", (Fact("why", "x"),))))
    for label in ("yes: all is well.yaml:3:1 hint", "yes"):
        assert f'\n"{label}": x\n' in text(page(Fact(label, "x")))


def test_a_line_separator_in_a_source_begins_no_line() -> None:
    shown = text(page(Code("a: x\u2028forged: 1\x85forged: 2\nb: y\n", "yaml")))
    assert shown.split("\n")[1:] == ["  a: x\u2028forged: 1\x85forged: 2", "  b: y", ""]
