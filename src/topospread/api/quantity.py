"""Kubernetes quantities, exact and without floats.

A quantity is ``unscaled * 10**exponent`` with one of three formats. The rules, messages, rounding and overflows are
those of k8s.io/apimachinery/pkg/api/resource (quantity.go, amount.go, scale_int.go). Go stores short numbers as int64,
and longer numbers as arbitrary decimals. The two forms overflow differently, so ``wide`` records the form.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from functools import lru_cache, total_ordering
from typing import Final, Literal

Format = Literal["DecimalSI", "BinarySI", "DecimalExponent"]

_MAX_INT64: Final = 2**63 - 1
_MIN_INT64: Final = -(2**63)
_NANO: Final = -9
_MILLI: Final = -3
# Go has no limit, but thousands of digits are slow and surely a mistake.
_MAX_WIDE_DIGITS: Final = 1_000

_SCANNER: Final = re.compile(r"([+-]?)0*+([0-9]*+)(?:\.([0-9]*+))?+([eEinumkKMGTP]*+[-+]?[0-9]*+)")
_WHITESPACE: Final = "\t\n\v\f\r \x85\xa0"
_DECIMAL_SUFFIXES: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_SUFFIXES: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX_OF: Final = {exponent: suffix for suffix, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_SUFFIX_OF: Final = {0: "", **{exponent: suffix for suffix, exponent in _BINARY_SUFFIXES.items()}}

FORMAT_WORDS: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
NUMERIC_WORDS: Final = "unable to parse numeric part of quantity"
SUFFIX_WORDS: Final = "unable to parse quantity's suffix"


class QuantityError(ValueError):
    """Error for a text that is not a quantity; the message is the API server's."""


class NumberText(str):
    """A JSON number as it was written, because ``1.50`` and ``1.5`` are the same float but different quantities."""

    __slots__ = ()


@total_ordering
class Quantity:
    """An exact amount and the way it was written; immutable, compared and hashed by amount alone.

    Attributes:
        unscaled: the digits as an integer, with sign.
        exponent: the amount is ``unscaled * 10**exponent``.
        format: family of suffixes, such as Ki and Mi.
        wide: whether Go stores the amount as an arbitrary decimal instead of an int64.
    """

    __slots__ = ("_milli", "_text", "_value", "exponent", "format", "unscaled", "wide")

    def __init__(self, unscaled: int, exponent: int = 0, format: Format = "DecimalSI", *, wide: bool = False) -> None:  # noqa: A002
        self.unscaled = unscaled
        self.exponent = exponent
        self.format: Format = format
        self.wide = wide
        self._text: str | None = None
        self._value: int | None = None
        self._milli: int | None = None

    def __str__(self) -> str:
        """Return the canonical text (Go's ``Quantity.String()``); canonical input stays unchanged."""
        text = self._text
        if text is None:
            text = self._text = _canonical(self)
        return text

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.compare(other) == 0

    def __lt__(self, other: Quantity) -> bool:
        return self.compare(other) < 0

    def __hash__(self) -> int:
        if self.unscaled == 0:
            return 0
        digits, zeros = _remove_factors(self.unscaled, 10)
        return hash((digits, self.exponent + zeros))

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.unscaled > 0) - (self.unscaled < 0)

    def value(self) -> int:
        """Return the amount in whole units, rounded away from zero; it overflows like Go's int64 (``Value()``)."""
        if self._value is None:
            self._value = self._scaled(0)
        return self._value

    def milli_value(self) -> int:
        """Return the amount in thousandths, rounded away from zero; it overflows like Go's int64 (``MilliValue()``)."""
        if self._milli is None:
            self._milli = self._scaled(_MILLI)
        return self._milli

    def compare(self, other: Quantity) -> int:
        """Return -1, 0 or 1 if this amount is less than, equal to or greater than the other (Go's ``Cmp``)."""
        if self.exponent == other.exponent:
            left, right = self.unscaled, other.unscaled
        elif self.sign != other.sign or self.unscaled == 0:
            left, right = self.sign, other.sign
        else:
            left, right = self._magnitude(), other._magnitude()
            if left != right:
                return 1 if (left > right) == (self.unscaled > 0) else -1
            lowest = min(self.exponent, other.exponent)
            left = self.unscaled * _power_of_ten(self.exponent - lowest)
            right = other.unscaled * _power_of_ten(other.exponent - lowest)
        return (left > right) - (left < right)

    def add(self, other: Quantity) -> Quantity:
        """Return the sum in this quantity's format, or in the other's if this one is zero (Go's ``Add``)."""
        written: Format = other.format if self.unscaled == 0 else self.format
        wide = self.wide or other.wide
        if not wide:
            if other.unscaled == 0:
                return Quantity(self.unscaled, self.exponent, written)
            if self.unscaled == 0:
                return Quantity(other.unscaled, other.exponent, written)
        lowest = min(self.exponent, other.exponent)
        if max(self.exponent, other.exponent) - lowest > _MAX_WIDE_DIGITS:
            raise QuantityError(f"cannot add {self} and {other}: their magnitudes are too far apart")
        left = self.unscaled * _power_of_ten(self.exponent - lowest)
        right = other.unscaled * _power_of_ten(other.exponent - lowest)
        wide = wide or not all(_MIN_INT64 <= part <= _MAX_INT64 for part in (left, right, left + right))
        return Quantity(left + right, lowest, written, wide=wide)

    def rounded_to_milli(self) -> Quantity:
        """Return the amount rounded away from zero to thousandths, as the API server stores it (Go's ``RoundUp``)."""
        if self.exponent >= _MILLI:
            return self
        unscaled = _shift_away_from_zero(self.unscaled, _MILLI - self.exponent)
        return Quantity(unscaled, _MILLI, self.format, wide=self.wide)

    def widened(self) -> Quantity:
        """Return the same amount as an arbitrary decimal, which overflows in other cases (Go's ``ToDec``)."""
        if self.wide:
            return self
        wide = Quantity(self.unscaled, self.exponent, self.format, wide=True)
        wide._text = self._text
        return wide

    def _magnitude(self) -> int:
        """Return the smallest exponent whose power of ten is larger than the amount."""
        return len(str(abs(self.unscaled))) + self.exponent

    def _scaled(self, scale: int) -> int:
        difference = self.exponent - scale
        if self.wide:
            return _scaled_wide(self.unscaled, difference)
        if difference < 0:
            return _shift_away_from_zero(self.unscaled, -difference)
        if self.unscaled == 0 or difference > 19:
            return 0
        scaled = self.unscaled * _power_of_ten(difference)
        if _MIN_INT64 <= scaled <= _MAX_INT64:
            return scaled
        # Overflow: for these powers of ten, Go multiplies once and wraps around. For others, it returns 0.
        return wrap_int64(scaled) if difference in (1, 2, 3, 6, 9) else 0


ZERO: Final = Quantity(0)


@lru_cache(maxsize=65536, typed=True)
def parse_quantity(text: str | int | float) -> Quantity:
    """Read a quantity as the API server reads it from JSON: a string, or a number.

    Whitespace around it is allowed. Raises QuantityError with Go's words.
    Source: ParseQuantity and UnmarshalJSON in k8s.io/apimachinery/pkg/api/resource/quantity.go.
    """
    if not isinstance(text, str):
        text = _number_text(text)
    text = text.strip(_WHITESPACE)
    if not text:
        raise QuantityError(FORMAT_WORDS)
    scanned = _SCANNER.fullmatch(text)
    if scanned is None:
        raise QuantityError(FORMAT_WORDS)
    sign, number, fraction, suffix = scanned.groups()
    number, fraction = number or "0", fraction or ""
    base, exponent, written = _interpret_suffix(suffix)
    quantity = _short(text, sign, number + fraction, len(fraction), (base, exponent, written))
    if quantity is not None:
        return quantity
    digits = text[: len(text) - len(suffix)]
    if not any(character.isdigit() for character in digits):
        raise QuantityError(NUMERIC_WORDS)
    if len(digits) > _MAX_WIDE_DIGITS:
        raise QuantityError(f"{len(digits)} digits are more than any quantity needs")
    unscaled = int(number + fraction)
    return _long(-unscaled if sign == "-" else unscaled, len(fraction), (base, exponent, written))


def _number_text(number: float) -> str:
    """Return a JSON number as Go writes it when YAML is turned into JSON (encoding/json's float64)."""
    if isinstance(number, bool) or not math.isfinite(number):
        raise QuantityError(FORMAT_WORDS)
    if isinstance(number, int):
        return str(number)
    if number == 0 or 1e-6 <= abs(number) < 1e21:
        text = format(Decimal(repr(number)), "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, _, exponent = format(Decimal(repr(number)), "e").partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{exponent}"


def _interpret_suffix(suffix: str) -> tuple[int, int, Format]:
    """Return a suffix's base, exponent and format; raise QuantityError for an unknown suffix."""
    decimal = _DECIMAL_SUFFIXES.get(suffix)
    if decimal is not None:
        return 10, decimal, "DecimalSI"
    binary = _BINARY_SUFFIXES.get(suffix)
    if binary is not None:
        return 2, binary, "BinarySI"
    if len(suffix) > 1 and suffix[0] in "eE":
        try:
            exponent = int(suffix[1:])
        except ValueError:
            raise QuantityError(SUFFIX_WORDS) from None
        if _MIN_INT64 <= exponent <= _MAX_INT64:
            return 10, (exponent + 2**31) % 2**32 - 2**31, "DecimalExponent"
    raise QuantityError(SUFFIX_WORDS)


def _short(text: str, sign: str, digits: str, places: int, suffix: tuple[int, int, Format]) -> Quantity | None:
    """Return the quantity as an int64 amount; None if it is too long or too precise."""
    base, exponent, written = suffix
    multiplier = 1
    if base == 10:
        precision = 18 - len(digits)
    elif places == 0:
        multiplier = 1 << exponent
        precision = 15 - len(digits) - exponent * 3 // 10 - 1
        exponent = 0
    else:
        return None
    exponent -= places
    if precision < 0 or exponent < _NANO:
        return None
    number = int(digits)
    unscaled = number * multiplier
    if unscaled > _MAX_INT64:
        return None
    quantity = Quantity(-unscaled if sign == "-" else unscaled, exponent, written)
    if written == "BinarySI":
        canonical = number & 7 != 0
    else:
        canonical = exponent % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
    if canonical or text == "0":
        quantity._text = text
    return quantity


def _long(unscaled: int, places: int, suffix: tuple[int, int, Format]) -> Quantity:
    """Return the quantity as an arbitrary decimal: at least one nano; binary suffixes at most the largest int64."""
    base, exponent, written = suffix
    if base == 2:
        unscaled <<= exponent
        exponent = 0
    exponent -= places
    if unscaled and exponent > _NANO:
        if exponent > _MAX_WIDE_DIGITS:
            raise QuantityError(f"the exponent {exponent} is larger than any quantity needs")
        unscaled, exponent = unscaled * _power_of_ten(exponent - _NANO), _NANO
    elif unscaled and exponent < _NANO:
        unscaled, exponent = _shift_away_from_zero(unscaled, _NANO - exponent), _NANO
    if written == "BinarySI" and unscaled:
        limit = _MAX_INT64 * _power_of_ten(-_NANO)
        if abs(unscaled) > limit:
            unscaled, exponent = (_MAX_INT64 if unscaled > 0 else -_MAX_INT64), 0
        elif abs(unscaled) < _power_of_ten(-_NANO):
            written = "DecimalSI"
    return Quantity(unscaled, exponent, written, wide=True)


def _power_of_ten(exponent: int) -> int:
    power: int = 10**exponent
    return power


def _shift_away_from_zero(unscaled: int, places: int) -> int:
    if places > len(str(unscaled)):
        return (unscaled > 0) - (unscaled < 0)
    quotient = -(-abs(unscaled) // _power_of_ten(places))
    return quotient if unscaled >= 0 else -quotient


def _to_int64(number: int) -> int:
    """Return the low 64 bits of the magnitude, with the sign: Go's big.Int.Int64()."""
    low = abs(number) & (2**64 - 1)
    return wrap_int64(-low if number < 0 else low)


def wrap_int64(number: int) -> int:
    """Return the number after an overflow of a signed 64-bit integer."""
    return (number + 2**63) % 2**64 - 2**63


def _scaled_wide(unscaled: int, difference: int) -> int:
    """Return Go's scaledValue: exact up to int64, rounded up (not away from zero) if digits are dropped."""
    if difference == 0:
        return _to_int64(unscaled)
    if difference > 0:
        power = _power_of_ten(difference) if difference < 19 else _MIN_INT64
        return wrap_int64(_to_int64(unscaled) * power)
    divisor = _power_of_ten(-difference)
    if unscaled < _MAX_INT64 and -difference < 19:
        narrow = _to_int64(unscaled)
        quotient = abs(narrow) // divisor
        quotient = quotient if narrow >= 0 else -quotient
        return quotient + 1 if narrow % divisor else quotient
    quotient, remainder = divmod(unscaled, divisor)
    return wrap_int64(_to_int64(quotient) + 1) if remainder else _to_int64(quotient)


def _remove_factors(number: int, factor: int) -> tuple[int, int]:
    """Return the number divided by ``factor`` as often as possible, and the number of divisions."""
    times = 0
    while number and number % factor == 0:
        number //= factor
        times += 1
    return number, times


def _canonical(quantity: Quantity) -> str:
    """Return the text with the largest suffix that needs no fraction; Ki … Ei only for whole units."""
    if quantity.unscaled == 0:
        return "0"
    if quantity.format == "BinarySI":
        whole = _whole_units(quantity)
        if whole is not None and abs(whole) >= 1024:
            digits, times = _remove_factors(whole, 1024)
            return f"{digits}{_BINARY_SUFFIX_OF.get(times * 10, '')}"
    digits, zeros = _remove_factors(quantity.unscaled, 10)
    exponent = quantity.exponent + zeros
    digits, exponent = digits * _power_of_ten(exponent % 3), exponent - exponent % 3
    if quantity.format == "DecimalExponent":
        return f"{digits}e{exponent}" if exponent else str(digits)
    return f"{digits}{_DECIMAL_SUFFIX_OF.get(exponent, '')}"


def _whole_units(quantity: Quantity) -> int | None:
    if quantity.exponent >= 0:
        return quantity.unscaled * _power_of_ten(quantity.exponent)
    whole, rest = divmod(quantity.unscaled, _power_of_ten(-quantity.exponent))
    return None if rest else whole
