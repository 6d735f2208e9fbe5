"""The syntax of label keys and values, with Kubernetes' error messages.

Sources: apimachinery ``pkg/api/validate/content`` (kube.go, dns.go, errors.go) and
``pkg/util/validation/field/errors.go``. All lengths are bytes of UTF-8.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

LABEL_MAX_LENGTH = 63
SUBDOMAIN_MAX_LENGTH = 253

_NAME_FORMAT = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE_FORMAT = f"({_NAME_FORMAT})?"
_DNS_LABEL_FORMAT = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_FORMAT = rf"{_DNS_LABEL_FORMAT}(\.{_DNS_LABEL_FORMAT})*"

_NAME = re.compile(_NAME_FORMAT)
_SUBDOMAIN = re.compile(_SUBDOMAIN_FORMAT)

_NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME_FORMAT}')"
)
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{_VALUE_FORMAT}')"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN_FORMAT}')"
)

_ESCAPES = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    "\\": r"\\",
    '"': r"\"",
}


def label_key_problems(key: str) -> list[str]:
    """Return the problems of a label key: a name, after an optional subdomain and ``/`` (``content.IsLabelKey``)."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return [
            f"a valid label key {_NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    problems: list[str] = []
    if slash:
        found = subdomain_problems(prefix) if prefix else ["must be non-empty"]
        problems += [f"prefix part {each}" for each in found]
    if not name:
        problems.append("name part must be non-empty")
    problems += _too_long(name, LABEL_MAX_LENGTH, "name part ")
    if not _NAME.fullmatch(name):
        problems.append(f"name part {_NAME_RULE}")
    return problems


def label_value_problems(value: str) -> list[str]:
    """Return the problems of a label value (``content.IsLabelValue``)."""
    problems = _too_long(value, LABEL_MAX_LENGTH)
    if value and not _NAME.fullmatch(value):
        problems.append(_VALUE_RULE)
    return problems


def subdomain_problems(name: str) -> list[str]:
    """Return the problems of a lowercase DNS subdomain (``content.IsDNS1123Subdomain``)."""
    problems = _too_long(name, SUBDOMAIN_MAX_LENGTH)
    if not _SUBDOMAIN.fullmatch(name):
        problems.append(_SUBDOMAIN_RULE)
    return problems


def _too_long(text: str, limit: int, subject: str = "") -> list[str]:
    too_long = len(text.encode("utf-8", "surrogatepass")) > limit
    return [f"{subject}must be no more than {limit} bytes"] if too_long else []


def quoted(text: str) -> str:
    """Return text as Go's ``%q`` prints it."""
    return '"' + "".join(map(_quoted_character, text)) + '"'


def _quoted_character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character == " " or character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def invalid(field: str, value: str | Sequence[str] | None, detail: str) -> str:
    """Return the text of Go's ``field.Invalid``: strings quoted, lists as JSON."""
    if isinstance(value, str):
        shown = quoted(value)
    else:
        shown = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        for plain in "<>&\u2028\u2029":
            shown = shown.replace(plain, f"\\u{ord(plain):04x}")
    return f"{field}: Invalid value: {shown}: {detail}"
