"""Values of unquoted YAML scalars in Kubernetes: YAML 1.1 as in kubectl and the API server.

sigs.k8s.io/yaml converts manifests to JSON with go.yaml.in/yaml/v2; its ``resolve.go`` is the source of these rules:
``yes`` and ``on`` are booleans, ``0644`` is octal, ``12:30`` and dates are strings.
"""

from __future__ import annotations

import base64
import math
import re
import struct
from typing import Final

Scalar = str | int | float | bool | None

_LOOKUP: Final[dict[str, Scalar]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_MAY_BE_NUMBER: Final = frozenset("+-.0123456789")
_INTEGER: Final = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]*|[1-9][0-9]*)")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_DOT_FLOAT: Final = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")
_LONGEST_INTEGER: Final = 80
"""Maximum characters of a text that can be a 64-bit integer: sign, 0b, 64 digits and underscores."""

_LARGEST_FLOAT32: Final = 3.4028235677973366e38
"""Smallest number that is rounded to infinity in 32 bits."""

_TAG: Final = "tag:yaml.org,2002:"
_RESOLVED: Final = {_TAG + kind: kind for kind in ("bool", "int", "float", "null", "timestamp")}


class ScalarError(ValueError):
    """A scalar that does not match its tag, or a key or number that JSON cannot represent."""


def plain_scalar(text: str) -> Scalar:
    """Return the value of an unquoted scalar without a tag."""
    if text in _LOOKUP:
        return _LOOKUP[text]
    if text[0] not in _MAY_BE_NUMBER:
        return text
    # An integer of 64 bits, a float, or the text itself.
    if text[0] == "." and not _DOT_FLOAT.fullmatch(text):
        return text
    plain = text.replace("_", "")
    if len(plain) <= _LONGEST_INTEGER and _INTEGER.fullmatch(plain):
        number = _integer(plain)
        lowest, highest = (-(2**63), 2**63 - 1) if plain[0] in "+-" else (0, 2**64 - 1)
        if lowest <= number <= highest:
            return number
    if _FLOAT.fullmatch(plain):
        number_as_float = float(plain)
        if math.isfinite(number_as_float):
            return number_as_float
    return text


def _integer(text: str) -> int:
    """Return ``strconv.ParseInt(text, 0, 64)`` of a valid text; a leading 0 means octal."""
    digits = text.lstrip("+-")
    octal = len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
    number = int(digits, 8 if octal else 0)
    return -number if text[0] == "-" else number


def tagged_scalar(tag: str, text: str) -> Scalar:
    """Return the value of a scalar with an explicit tag (``!!str 5``); custom tags keep the text.

    Raises:
        ScalarError: if the text does not match the tag.
    """
    if tag == _TAG + "binary":
        try:
            return base64.b64decode(re.sub(r"[\r\n]", "", text), validate=True).decode()
        except ValueError:
            raise ScalarError("the value of !!binary is not base64 of UTF-8 text") from None
    kind = _RESOLVED.get(tag)
    if kind is None:
        return text
    if kind == "timestamp":
        return text
    value = plain_scalar(text)
    if kind == "float" and type(value) is int:
        return float(value)
    if _kind_of(value) != kind:
        raise ScalarError(f"cannot decode a !!{_kind_of(value)} of {len(text)} characters as a !!{kind}")
    return value


def _kind_of(value: Scalar) -> str:
    return {type(None): "null", bool: "bool", int: "int", float: "float"}.get(type(value), "str")


def whole_number(number: float) -> float | int:
    """Return a float without a fraction as an integer, like Go's JSON."""
    return int(number) if number.is_integer() and abs(number) < 1e21 else number


def key_text(value: object) -> str:
    """Return a mapping's key as a JSON key: ``on`` is ``true``, ``1`` is ``"1"``.

    Raises:
        ScalarError: if the key is null, a list or a mapping.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and value < 2**63:
        return str(value)
    if isinstance(value, float):
        return _float_key(value)
    what = {type(None): "null", int: "an unsigned number", list: "a list", dict: "a mapping"}[type(value)]
    raise ScalarError(f"{what} cannot be the key of a mapping")


def _float_key(number: float) -> str:
    """Return ``strconv.FormatFloat(number, 'g', -1, 32)``, with YAML's word for infinity."""
    if abs(number) > _LARGEST_FLOAT32:
        return ".inf" if number > 0 else "-.inf"
    single: float = struct.unpack("f", struct.pack("f", number))[0]
    for precision in range(1, 10):
        text = f"{single:.{precision}g}"
        if struct.unpack("f", struct.pack("f", float(text)))[0] == single:
            break
    mantissa, _, exponent = f"{float(text):.{precision - 1}e}".partition("e")
    if -4 <= int(exponent) < 6:
        return f"{float(text):.{max(0, precision - 1 - int(exponent))}f}"
    return f"{mantissa}e{int(exponent):+03d}"
