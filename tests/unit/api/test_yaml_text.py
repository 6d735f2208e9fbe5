import pytest

from topospread.api.yaml_text import parse_yaml
from topospread.errors import DecodeError, DuplicateError, Place


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


def test_without_a_file_the_place_is_told_in_words():
    with pytest.raises(DuplicateError) as caught:
        parse_yaml("a: 1\na: 2\n")
    assert str(caught.value) == "line 2, column 1: the key 'a' occurs twice in one mapping"
