import json

import pytest

from topospread.errors import DecodeError, DuplicateError
from topospread.sources.files import Source, checked_utf8
from topospread.sources.json_text import JsonList, read_value, split_documents
from topospread.sources.locations import Location
from topospread.sources.text import Text


def documents(data: bytes) -> list[object]:
    text = Text("a.json", data)
    return [read_value(text, start, end) for start, end in split_documents(text)]


@pytest.mark.parametrize(
    ("data", "values"),
    [
        (b"", []),
        (b" \n", []),
        (b'{"a": 1}', [{"a": 1}]),
        (b' {"a": 1}\n{"b": 2}{"c": 3} ', [{"a": 1}, {"b": 2}, {"c": 3}]),
        ('{"é": "€"}\n{"😀": "é"}'.encode(), [{"é": "€"}, {"😀": "é"}]),
        (b'{"a": "\\ud83d\\ude00"}', [{"a": "😀"}]),
    ],
)
def test_documents_one_after_another(data, values):
    assert documents(data) == values


def test_numbers_are_what_go_writes_for_them():
    assert documents(b"[3.0, 1e3, 2.5, -0.5, 12345678901234567890]") == [[3, 1000, 2.5, -0.5, 12345678901234567890]]
    assert [type(number) for number in documents(b"[3.0, 1e3, 2.5]")[0]] == [int, int, float]


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "9" * 5000])
def test_numbers_that_json_cannot_hold(number):
    with pytest.raises(DecodeError):
        documents(f'{{"a": 1}}\n{{"b": {number}}}'.encode())


def test_what_is_not_json_is_placed():
    with pytest.raises(DecodeError) as caught:
        documents(b'{"a": 1}\n{"b": \n  oops}')
    assert str(caught.value) == "a.json:3:3: not JSON: expecting value"


def test_endless_nesting_is_refused():
    with pytest.raises(DecodeError, match="levels deep"):
        documents(b"[" * 100_000)
    with pytest.raises(DecodeError, match="levels deep"):
        documents(b"{}" + b"[" * 100_000)


def test_texts_with_too_many_values_documents_or_small_items_are_refused():
    """Two bytes of text make a value of 60 bytes in memory."""
    with pytest.raises(DecodeError, match="more than 1,000,000 values; split it"):
        documents(b"[%s0]" % (b"[]," * 500_000))
    with pytest.raises(DecodeError, match="more than 1,000,000 values of under 8 bytes"):
        checked_utf8(b"[%s0]" % (b"[]," * 1_000_000), Source("a.json", None))
    with pytest.raises(DecodeError, match="more than 100,000 documents"):
        documents(b"{}" * 100_001)
    small = Text("a.json", b'{"kind": "List", "items": [%s0]}' % (b"null," * 100_000))
    with pytest.raises(DecodeError, match="too many items that are too small"):
        JsonList.at(Location(small, end=len(small.data)))
    large = Text("a.json", small.data.replace(b"null,", b"null,".ljust(65)))
    assert JsonList.at(Location(large, end=len(large.data))) is not None
    assert checked_utf8(large.data, Source("a.json", None)).data == large.data


class TestDuplicates:
    def test_are_placed(self):
        with pytest.raises(DuplicateError) as caught:
            documents(b'{"a": 1}\n{"b": {"c": 1,\n       "c": 2}}')
        assert str(caught.value) == "a.json:3:8: a key of 1 character occurs twice in one mapping; remove one"

    def test_are_named_even_where_yaml_cannot_read_the_text(self):
        text = json.dumps({"pair": "😀"})[:-1].encode() + b', "x": 1, "x": 2}'
        with pytest.raises(DuplicateError, match="a key of 1 character occurs twice in one object"):
            documents(text)
