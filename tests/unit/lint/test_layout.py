"""A text's layout: positions are those that errors have, and characters are those the values are written with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from topospread.lint.layout import Layouts, documents_of
from topospread.sources.json_layout import json_root
from topospread.sources.locations import Location
from topospread.sources.positions import format_path
from topospread.sources.text import Text
from topospread.sources.yaml import read_documents

KEYS = st.sampled_from(["a", "spec", "app.kubernetes.io/name", "x-y", "8080", "ä"])
SCALARS = st.one_of(st.integers(), st.booleans(), st.none(), st.text("ab: #'\"\n-😀é", max_size=8))
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, min_size=1, max_size=3)


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to every value."""
    yield path
    for step, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from paths(inner, (*path, step))


@given(st.lists(DOCUMENTS, min_size=1, max_size=3), st.sampled_from([None, True, False]))
def test_places_in_yaml_are_those_of_errors(values: list[Any], flow: bool | None) -> None:
    dumped = yaml.safe_dump_all(values, default_flow_style=flow, allow_unicode=True)
    text = Text("a.yaml", dumped.replace("--- ", "---\n").encode())
    layouts = Layouts()
    for document in read_documents(text):
        location = Location(text, document.number, document.line)
        for path in paths(document.value):
            field = format_path(path)
            assert layouts.place(location, "Pod a", field) == location.place("Pod a", field)


@given(st.lists(DOCUMENTS, min_size=1, max_size=3), st.sampled_from([None, 2]))
def test_places_in_json_are_those_of_errors(values: list[Any], indent: int | None) -> None:
    layouts = Layouts()
    data = b""
    spans = []
    for value in values:
        written = json.dumps(value, indent=indent, ensure_ascii=False).encode()
        spans.append((len(data), len(data) + len(written)))
        data += written + b"\n"
    text = Text("a.json", data)
    for value, (start, end) in zip(values, spans, strict=True):
        location = Location(text, start=start, end=end)
        for path in paths(value):
            field = format_path(path)
            assert layouts.place(location, "Pod a", field) == location.place("Pod a", field)


@given(VALUES, st.sampled_from([None, 2]))
def test_json_read_as_json_is_laid_out_as_yaml_lays_it_out(value: Any, indent: int | None) -> None:
    data = json.dumps(value, indent=indent, ensure_ascii=False).encode()
    root = json_root(data)
    assert root is not None
    (by_yaml,) = documents_of(data)
    assert list(root.walk()) == list(by_yaml.walk())


@pytest.mark.parametrize("data", [b"", b" ", b"{", b"[1, ]x", b'{"a" 1}', b"[" * 100_000, b'"a\r"', b"\xff", b"a: 1"])
def test_what_is_no_plain_json_is_left_to_yaml(data: bytes) -> None:
    assert json_root(data) is None


def test_of_json_only_the_way_to_a_field_is_gone() -> None:
    root = json_root(json.dumps({"spec": {"a": [1, 2]}, "status": {"b": {"c": 3}}}).encode())
    assert root is not None
    spec = root.child("spec")
    assert spec is not None
    assert spec.child("a") is not None
    status = root.child("status")
    assert status is not None
    assert status.unread is not None


@given(DOCUMENTS, st.sampled_from([None, True, False]))
def test_the_characters_of_a_node_are_those_of_its_value(value: Any, flow: bool | None) -> None:
    dumped = yaml.safe_dump(value, default_flow_style=flow, allow_unicode=True)
    (root,) = documents_of(dumped.encode())
    for path in paths(value):
        node, inner = root, value
        for step in path:
            below = node.child(step)
            assert below is not None
            node, inner = below, inner[step]
        written = dumped[node.start : node.end]
        if node.flow and (node.form != "scalar" or "\n" not in written):
            assert yaml.safe_load(written) == inner


@pytest.mark.parametrize("data", [b"a: [", b"\tx", b"a: &x [*x]\n", b"[" * 3000, b"", b"{{ x }}: ["])
def test_a_text_that_cannot_be_read_has_the_layout_of_what_can(data: bytes) -> None:
    assert len(documents_of(data)) <= 1


def test_a_field_that_is_not_there_is_at_what_it_would_stand_in() -> None:
    text = Text("a.yaml", b"kind: Pod\nspec:\n  a: 1\n")
    location = Location(text, 1, 1)
    place = Layouts().place(location, "Pod a", "spec.b.c")
    assert (place.line, place.column, place.field) == (2, 1, "spec.b.c")
