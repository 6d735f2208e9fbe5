"""Scalars of YAML as Kubernetes reads and writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topospread.api.yaml_text import parse_yaml, yaml_text
from topospread.errors import DecodeError
from topospread.sources.text import Text
from topospread.sources.yaml import read_documents


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("y", True),
        ("No", False),
        ("on", True),
        ("tRue", "tRue"),
        ("~", None),
        ("", None),
        ("nUll", "nUll"),
        ("010", 8),
        ("0o17", 15),
        ("0x1F", 31),
        ("-0b11", -3),
        ("1_000", 1000),
        ("08", 8),
        ("1.0", 1),
        ("1e3", 1000),
        ("1.5", 1.5),
        ("1e-7", 1e-7),
        ("12:30", "12:30"),
        ("2020-01-01", "2020-01-01"),
        ("=", "="),
        ("<<", "<<"),
        ("'1'", "1"),
    ],
)
def test_scalars_are_what_kubernetes_tools_make_of_them(scalar, value):
    parsed = parse_yaml(f"a: {scalar}\n")
    assert parsed == {"a": value}
    assert type(parsed["a"]) is type(value)


def test_keys_are_text():
    assert parse_yaml("{1: a, y: b, 1.5: c}") == {"1": "a", "true": "b", "1.5": "c"}


@pytest.mark.parametrize(
    "text", ["y", "no", "", "null", "0o17", "1e3", "12:30", "2020-01-01", "=", "<<", "a\nb", "- a"]
)
def test_text_that_looks_like_something_else_is_written_so_that_it_stays_text(text):
    assert parse_yaml(yaml_text({"a": text, text or "b": 1})) == {"a": text, text or "b": 1}


SCALAR_LIKE = st.text("-+.0123456789eExXoObByYnNaAiIfFtTrRuUlLsS~_:<=", max_size=8)


@given(SCALAR_LIKE)
def test_one_document_and_whole_files_mean_the_same_by_a_scalar(text):
    def meaning(read):
        try:
            return read()
        except DecodeError:
            return "refused"

    data = f"a: [{text}]\n"
    files = meaning(lambda: [each.value for each in read_documents(Text("f.yaml", data.encode()))])
    assert meaning(lambda: [parse_yaml(data)]) == files


@given(SCALAR_LIKE)
def test_every_string_is_written_so_that_it_stays_one(text):
    written = yaml_text({"a": text}).encode()
    assert parse_yaml(written) == {"a": text}
    assert [each.value for each in read_documents(Text("f.yaml", written))] == [{"a": text}]
