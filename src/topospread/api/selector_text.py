"""Parse the text of a label selector, such as ``app=web,tier in (front, back),!canary``.

Source: apimachinery pkg/labels/selector.go, ``Parse``: requirements are separated by commas and must all hold; Gt and
Lt are written ``>`` and ``<``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from topospread.errors import UsageError

from .labels import InvalidSelectorError, Operator, Requirement, Selector

_TOKEN = re.compile(r"\s*(==|!=|[=<>!(),]|[^\s=<>!(),]+)")
_OPERATORS: dict[str, Operator] = {"=": "=", "==": "=", "!=": "NotIn", ">": "Gt", "<": "Lt"}
_SETS: dict[str, Operator] = {"in": "In", "notin": "NotIn"}
_SIGNS = frozenset("=<>!(),") | {"==", "!="}
_END = ""


def parse_selector(text: str) -> Selector:
    """Return the selector; an empty text selects everything.

    Raises:
        UsageError: if the text is not a selector.
    """
    try:
        return Selector(tuple(_SelectorParser(text).requirements()))
    except InvalidSelectorError as error:
        raise UsageError(f'"{text}" is not a label selector: {error}') from None


def nothing_selected(selector: Selector) -> UsageError:
    """Return the error for a selector that selects no workload."""
    return UsageError(f"-l {selector} selects no workload (--allow-empty accepts that)")


class _SelectorParser:
    def __init__(self, text: str) -> None:
        self._tokens: list[str] = [*_TOKEN.findall(text.strip()), _END]
        self._at = 0

    def requirements(self) -> Iterator[Requirement]:
        """Yield all requirements.

        Raises:
            InvalidSelectorError: if a requirement is not valid, with apimachinery's message.
        """
        if self._next == _END:
            return
        yield self._requirement()
        while self._next == ",":
            self._take()
            yield self._requirement()
        if self._next != _END:
            raise InvalidSelectorError(f"found '{self._next}', expected: ',' or 'end of string'")

    @property
    def _next(self) -> str:
        return self._tokens[self._at]

    def _take(self) -> str:
        token = self._next
        if token != _END:
            self._at += 1
        return token

    def _word(self, what: str) -> str:
        token = self._take()
        if token == _END or token in _SIGNS:
            raise InvalidSelectorError(f"found '{token}', expected: {what}")
        return token

    def _requirement(self) -> Requirement:
        if self._next == "!":
            self._take()
            return Requirement.checked(self._word("identifier"), "DoesNotExist", None)
        key = self._word("!, identifier")
        if self._next in ("", ","):
            return Requirement.checked(key, "Exists", None)
        operator = self._take()
        if operator in _SETS:
            return Requirement.checked(key, _SETS[operator], self._values())
        if operator not in _OPERATORS:
            raise InvalidSelectorError(f"found '{operator}', expected: in, notin, =, ==, !=, gt, lt")
        value = "" if self._next in ("", ",") else self._word("identifier")
        return Requirement.checked(key, _OPERATORS[operator], [value])

    def _values(self) -> list[str]:
        """Parse ``(a, b)``; a missing value is empty, as in ``(a,)``."""
        if self._next != "(":
            raise InvalidSelectorError(f"found '{self._next}' expected: '('")
        self._take()
        values = [""]
        while (token := self._take()) != ")":
            if token == _END:
                raise InvalidSelectorError("found '', expected: ',' or ')'")
            if token == ",":
                values.append("")
            elif token in _SIGNS or values[-1]:
                raise InvalidSelectorError(f"found '{token}', expected: ',' or ')'")
            else:
                values[-1] = token
        return values
