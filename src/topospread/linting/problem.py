"""A rule's finding in one subject, and its fix; neither its position nor its severity."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

MOST_ALIKE: Final = 20
"""Findings of one rule for one object that are shown; the last one says how many more there are."""


class Edit(NamedTuple):
    """One mechanical change of an object.

    Attributes:
        op: ``replace`` gives a field another value, ``add`` gives a mapping a field that it lacks or a list one more
            item at its end (``path`` ends in ``[-]``), ``remove`` takes a field or an item away.
        path: the field, as the API server writes it.
        value: the new value, as plain data.
    """

    op: Literal["replace", "add", "remove"]
    path: str
    value: Any = None


class Problem(NamedTuple):
    """A rule's finding in a subject.

    Attributes:
        field: the field's path in the subject, "" for the subject as a whole.
        message: what is wrong with it, with the values at hand.
        fix: what ``--fix`` does about it; empty when that takes a decision.
    """

    field: str
    message: str
    fix: tuple[Edit, ...] = ()
