import pytest
from hypothesis import given
from hypothesis import strategies as st

from topospread.api.yaml_text import parse_yaml, yaml_text
from topospread.errors import DecodeError, DuplicateError, Place
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


def test_merge_keys_and_aliases():
    assert parse_yaml("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n") == {"a": {"b": 1}, "c": {"b": 1, "d": 2}}


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("a: [", 2, 1), ("a: 1\n b: 2", 2, 3), ("a: 1\n---\nb: 2", 2, 1), ("a: .inf", 1, 4), ("? {a: b}\n: c", 1, 3)],
)
def test_what_is_not_yaml_is_refused_with_its_place(text, line, column):
    with pytest.raises(DecodeError) as caught:
        parse_yaml(text, Place("f.yaml", document=1))
    assert caught.value.message.startswith("not YAML: ")
    assert caught.value.place == Place("f.yaml", document=1, line=line, column=column)


@pytest.mark.parametrize("text", [b"\xff\xfe\x00", "a: \x01", "a: !!python/name:os.x 1", "null: 1", "[" * 100_000])
def test_hostile_text_is_refused(text):
    with pytest.raises(DecodeError):
        parse_yaml(text)


def test_a_key_twice_is_refused():
    with pytest.raises(DuplicateError) as caught:
        parse_yaml("a: 1\nb: 2\na: 3\n", Place("f.yaml"))
    assert str(caught.value) == "f.yaml:3:1: the key 'a' occurs twice in one mapping"


@pytest.mark.parametrize(
    "text", ["y", "no", "", "null", "0o17", "1e3", "12:30", "2020-01-01", "=", "<<", "a\nb", "- a"]
)
def test_text_that_looks_like_something_else_is_written_so_that_it_stays_text(text):
    assert parse_yaml(yaml_text({"a": text, text or "b": 1})) == {"a": text, text or "b": 1}


def test_without_a_file_the_place_is_told_in_words():
    with pytest.raises(DuplicateError) as caught:
        parse_yaml("a: 1\na: 2\n")
    assert str(caught.value) == "line 2, column 1: the key 'a' occurs twice in one mapping"


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
