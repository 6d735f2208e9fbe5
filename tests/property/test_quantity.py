"""What holds of every quantity: its text reads back, its order is that of numbers, its sums are exact."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import assume, given
from hypothesis import strategies as st

from topospread.api.quantity import Quantity, QuantityError, parse_quantity

UNITS = {
    **{
        unit: Fraction(10) ** (3 * power)
        for power, unit in enumerate(["n", "u", "m", "", "k", "M", "G", "T", "P", "E"], -3)
    },
    **{f"{unit}i": Fraction(2) ** (10 * power) for power, unit in enumerate("KMGTPE", 1)},
    "e2": Fraction(100),
    "E-2": Fraction(1, 100),
}
NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.decimals(-(10**6), 10**6, allow_nan=False, places=4).map(lambda number: format(number, "f")),
)
TEXTS = st.tuples(NUMBERS, st.sampled_from(sorted(UNITS)))
QUANTITIES = TEXTS.map("".join).map(parse_quantity)


def amount(quantity: Quantity) -> Fraction:
    return quantity.unscaled * Fraction(10) ** quantity.exponent


@given(TEXTS)
def test_the_amount_is_number_times_unit_rounded_up_to_nanos_and_capped(text):
    number, unit = text
    exact = Fraction(number) * UNITS[unit]
    nanos = exact * 10**9
    rounded = Fraction(int(nanos) + (nanos > int(nanos)) - (nanos < int(nanos)), 10**9)
    limit = 2**63 - 1
    expected = max(min(rounded, limit), -limit) if unit.endswith("i") else rounded
    assert amount(parse_quantity(number + unit)) == expected


@given(QUANTITIES)
def test_canonical_text_reads_back_to_the_same_amount(quantity):
    assume(abs(amount(quantity)) < 10**20)  # there are no suffixes beyond: Go's text is then the digits alone
    again = parse_quantity(str(quantity))
    assert again == quantity
    assert str(again) == str(quantity)


@given(QUANTITIES, QUANTITIES)
def test_order_is_that_of_the_amounts(left, right):
    assert (left < right, left == right, left > right) == (
        amount(left) < amount(right),
        amount(left) == amount(right),
        amount(left) > amount(right),
    )
    if left == right:
        assert hash(left) == hash(right)


@given(QUANTITIES, QUANTITIES)
def test_sums_are_exact_and_in_any_order(left, right):
    assert amount(left.add(right)) == amount(left) + amount(right)
    assert left.add(right) == right.add(left)


@given(QUANTITIES)
def test_whole_units_and_thousandths_are_rounded_away_from_zero_where_int64_can_hold_them(quantity):
    assume(not quantity.wide)
    assume(abs(amount(quantity)) < 2**53)
    for rounded, exact in ((quantity.value(), amount(quantity)), (quantity.milli_value(), 1000 * amount(quantity))):
        assert abs(rounded) - 1 < abs(exact) <= abs(rounded)
        assert rounded * exact >= 0


@given(QUANTITIES)
def test_rounding_to_thousandths_never_loses_and_adds_less_than_one(quantity):
    rounded, exact = amount(quantity.rounded_to_milli()), amount(quantity)
    assert abs(exact) <= abs(rounded) < abs(exact) + Fraction(1, 1000)
    assert rounded * 1000 == int(rounded * 1000)


@given(st.text())
def test_any_text_is_read_or_refused(text):
    try:
        read = parse_quantity(text)
    except QuantityError:
        return
    assert set(text.strip()) <= set("+-.0123456789eEinumkKMGTP")
    assert isinstance(read, Quantity)
