"""Validation rules for single fields of the API's structs, and their check.

``rules.json`` has the rules by struct: required fields, allowed values, minimum, range or format (pkg/apis/*/validation
of Kubernetes 1.37). The other modules have the rules over several fields, or with special messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

import msgspec

from topospread.api.shipped_table import shipped_table

from . import names
from .field import FieldError, all_invalid, not_negative, one_of, positive, required

Json = dict[str, Any]


class FieldRule(msgspec.Struct, frozen=True):
    """The rule for a field's values.

    Attributes:
        required: whether the field must be set and not empty. A text is True, and is appended to the error.
        words: allowed values, in the order of the message.
        optional: whether "" is allowed, too.
        least: minimum, 0 or 1.
        range: lowest and highest value.
        format: key of `_FORMATS`; empty values are not checked.
    """

    required: bool | str = False
    words: tuple[str, ...] = ()
    optional: bool = False
    least: int | None = None
    range: tuple[int, int] | None = None
    format: str = ""


def _file_mode(mode: int) -> names.Reasons:
    return () if 0 <= mode <= 0o777 else ("must be a number between 0 and 0777 (octal), both inclusive",)


_FORMATS: Final[dict[str, Callable[[Any], names.Reasons]]] = {
    "config_key": names.config_key,
    "dns_label": names.dns_label,
    "environment_variable": names.environment_variable,
    "file_mode": _file_mode,
    "port_number": names.port_number,
    "subdomain": names.subdomain,
    "user_or_group": names.user_or_group,
}


@cache
def _rules() -> dict[str, dict[str, FieldRule]]:
    return shipped_table(__package__, "rules.json", dict[str, dict[str, FieldRule]])


@cache
def _asked(struct: str) -> tuple[tuple[str, Callable[[Any], bool], FieldRule], ...]:
    """Return (name, quick test for valid values, rule) for each field of a struct that has a rule."""
    return tuple((field, _passing(rule), rule) for field, rule in _rules().get(struct, {}).items())


def _passing(rule: FieldRule) -> Callable[[Any], bool]:
    if rule.words:
        empty = () if rule.required else (None, "") if rule.optional else (None,)
        return frozenset((*rule.words, *empty)).__contains__
    if rule == FieldRule(required=rule.required):
        return bool
    if rule.format:
        reasons = _FORMATS[rule.format]
        return lambda given: not reasons(given) if given else not rule.required
    return lambda given: not any(_refused("", rule, given))


def check_fields(path: str, struct: str, value: Json) -> Iterator[FieldError]:
    """Yield the errors of each single field of ``value``, whose Go type is ``struct``.

    ``path`` precedes the field in errors; "" for a whole object."""
    for field, passes, rule in _asked(struct):
        given = value.get(field)
        if (given is not None or rule.required) and not passes(given):
            yield from _refused(f"{path}.{field}" if path else field, rule, given)


def _refused(path: str, rule: FieldRule, given: Any) -> Iterator[FieldError]:
    if rule.required and not given:
        yield required(path, rule.required if isinstance(rule.required, str) else "")
        return
    if given and rule.format:
        yield from all_invalid(path, given, _FORMATS[rule.format](given))
    if rule.words and (given or not rule.optional):
        yield from one_of(path, given, rule.words)
    if rule.least is not None:
        yield from positive(path, given) if rule.least else not_negative(path, given)
    if rule.range is not None:
        yield from all_invalid(path, given, names.in_range(given, *rule.range))
