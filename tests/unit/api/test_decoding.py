from typing import Annotated

import msgspec
import pytest

from topospread.api.decoding import decode
from topospread.errors import DecodeError, Place


class Inner(msgspec.Struct, rename="camel"):
    name: str = ""
    some_values: list[str] | None = None


class Outer(msgspec.Struct, rename="camel"):
    count: Annotated[int, msgspec.Meta(ge=0, le=9)] | None = None
    plain: int = 7
    yes: bool | None = None
    share: float | None = None
    quantity: str | int | float | None = None
    inner: Inner | None = None
    own: Inner = msgspec.field(default_factory=Inner)
    many: list[Inner] | None = None
    labels: dict[str, str] | None = None
    limits: dict[str, str | None] | None = None
    anything: object = None


def test_good_data_is_taken_as_it_is():
    data = {"count": 3, "inner": {"name": "x", "someValues": []}, "labels": {"a": "b"}, "unknown": [1], "share": 1}
    assert decode(data, Outer) == Outer(count=3, inner=Inner(name="x", some_values=[]), labels={"a": "b"}, share=1.0)


def test_null_is_unset_or_the_zero_value_as_in_go():
    data = {
        "count": None,
        "plain": None,
        "inner": None,
        "own": None,
        "many": [None, {"someValues": [None, "x"]}],
        "labels": {"a": None},
        "limits": {"a": None},
        "anything": {"kept": None},
    }
    expected = Outer(
        many=[Inner(), Inner(some_values=["", "x"])], labels={"a": ""}, limits={"a": None}, anything={"kept": None}
    )
    assert decode(data, Outer) == expected


@pytest.mark.parametrize(
    ("data", "field", "message"),
    [
        ([], "", "expected an object, got a list"),
        ({1: 2}, "", "expected a string as key, got the number 1"),
        ({"count": "1"}, "count", 'expected an integer, got the string "1"'),
        ({"count": True}, "count", "expected an integer, got the boolean true"),
        ({"count": 1.0}, "count", "expected an integer, got the number 1.0"),
        ({"count": 10}, "count", "expected an integer from 0 to 9, got the number 10"),
        ({"yes": 1}, "yes", "expected true or false, got the number 1"),
        ({"share": "x"}, "share", 'expected a number, got the string "x"'),
        ({"quantity": []}, "quantity", "expected a string or an integer or a number, got a list"),
        ({"quantity": True}, "quantity", "expected a string or an integer or a number, got the boolean true"),
        ({"inner": "x"}, "inner", 'expected an object, got the string "x"'),
        ({"inner": {"name": {}}}, "inner.name", "expected a string, got an object"),
        ({"inner": {"someValues": {}}}, "inner.someValues", "expected a list, got an object"),
        ({"inner": {"someValues": ""}}, "inner.someValues", 'expected a list, got the string ""'),
        ({"many": [{}, {"name": 1}]}, "many[1].name", "expected a string, got the number 1"),
        ({"labels": {"app": 1}}, "labels[app]", "expected a string, got the number 1"),
        ({"labels": {"app": "x" * 50, "b": False}}, "labels[b]", "expected a string, got the boolean false"),
    ],
)
def test_a_wrong_type_is_refused_with_its_path(data, field, message):
    with pytest.raises(DecodeError) as caught:
        decode(data, Outer)
    assert caught.value.place.field == field
    assert caught.value.message == message


def test_the_path_continues_the_place():
    with pytest.raises(DecodeError) as caught:
        decode({"count": "x"}, Outer, Place("a.yaml", field="spec"))
    assert str(caught.value) == 'a.yaml: spec.count: expected an integer, got the string "x"'


def test_a_long_text_is_shown_in_part():
    with pytest.raises(DecodeError, match="…"):
        decode({"count": "x" * 1000}, Outer)
