"""Quantities as Go's resource.Quantity reads, prints, rounds and compares them.

``quantities.jsonl`` holds Go's answers to the texts of Kubernetes' own test tables and to odd ones.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from topospread.api.quantity import FORMAT_WORDS, NumberText, Quantity, QuantityError, parse_quantity

TABLE = [json.loads(line) for line in Path(__file__).with_name("quantities.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("row", [row for row in TABLE if "error" not in row], ids=lambda row: row["text"])
def test_reads_and_prints_as_go_does(row):
    quantity = parse_quantity(row["text"])
    assert (str(quantity), quantity.value(), quantity.milli_value()) == (row["canonical"], row["value"], row["milli"])
    assert str(quantity.rounded_to_milli()) == row["rounded"]


@pytest.mark.parametrize("row", [row for row in TABLE if "error" in row], ids=lambda row: repr(row["text"]))
def test_refuses_in_gos_words(row):
    with pytest.raises(QuantityError) as refusal:
        parse_quantity(row["text"])
    assert str(refusal.value) == row["error"]


@pytest.mark.parametrize(
    ("number", "canonical"),
    [(1, "1"), (-3, "-3"), (1500, "1500"), (0.5, "500m"), (1.0, "1"), (1e3, "1k"), (1e21, "1e+21"), (1.5e-7, "150e-9")],
)
def test_takes_json_numbers_as_go_writes_them(number, canonical):
    assert str(parse_quantity(number)) == canonical


def test_a_json_number_keeps_the_text_it_was_written_with():
    assert str(parse_quantity(NumberText("1.500"))) == "1.500"
    assert str(parse_quantity(1.5)) == "1500m"


@pytest.mark.parametrize("value", [True, float("nan"), float("inf")])
def test_booleans_and_what_json_cannot_hold_are_no_quantities(value):
    with pytest.raises(QuantityError, match="quantities must match"):
        parse_quantity(value)


def test_whole_and_boolean_one_are_told_apart_whichever_is_read_first():
    assert parse_quantity(1).value() == 1
    with pytest.raises(QuantityError) as refusal:
        parse_quantity(True)
    assert str(refusal.value) == FORMAT_WORDS


@pytest.mark.parametrize("text", ["1" * 5000, "12345678901234567890e5000", "1" * 5000 + "Ki"])
def test_a_number_of_thousands_of_digits_is_refused(text):
    with pytest.raises(QuantityError, match="than any quantity needs"):
        parse_quantity(text)


def test_a_huge_exponent_costs_nothing():
    huge, tiny = parse_quantity("1e2000000000"), parse_quantity("1")
    assert huge > tiny
    assert str(huge) == "100e1999999998"
    with pytest.raises(QuantityError, match="too far apart"):
        huge.add(tiny)


@pytest.mark.parametrize(
    ("left", "right", "total"),
    [
        ("100m", "900m", "1"),
        ("1Gi", "1Gi", "2Gi"),
        ("1Gi", "1", "1073741825"),
        ("0", "1Ki", "1Ki"),
        ("1Ki", "1000", "2024"),
        ("9223372036854775807", "1", "9223372036854775808"),
        ("1.5", "-1.5", "0"),
        ("1e3", "500m", "1000500e-3"),
    ],
)
def test_a_sum_is_written_as_its_first_part_or_as_the_second_when_that_is_zero(left, right, total):
    assert str(parse_quantity(left).add(parse_quantity(right))) == total


def test_equal_amounts_are_equal_however_they_are_written():
    assert parse_quantity("1Gi") == parse_quantity("1024Mi") == parse_quantity("1073741824000m")
    assert len({parse_quantity(text) for text in ("1Gi", "1024Mi", "1073741824", "1073741824000m")}) == 1
    assert parse_quantity("1") != parse_quantity("1001m")
    assert parse_quantity("1") != 1


def test_a_widened_amount_overflows_as_a_decimal_does():
    quantity = parse_quantity("12E")
    assert quantity.value() == 0
    assert quantity.widened().value() == 12 * 10**18 - 2**64
    assert str(quantity.widened()) == "12E"
    assert quantity.widened().widened() == quantity


def test_it_shows_itself():
    assert repr(parse_quantity("1500m")) == "Quantity('1500m')"
    assert repr(Quantity(15, 2)) == "Quantity('1500')"
