"""A rule's finding in one subject, and its fix; neither its position nor its severity."""

from __future__ import annotations

from typing import Annotated, Any, Final, NamedTuple

from msgspec import Meta

from topospread.base import Base

MOST_ALIKE: Final = 20
"""Findings of one rule for one object that are shown; the last one says how many more there are."""


class FieldEdit(Base, frozen=True):
    """A change that `--fix` makes."""

    op: Annotated[str, Meta(description="`replace`, `add` or `remove`.")]
    path: Annotated[str, Meta(description="Field path; `[-]` adds an item at the end of a list.")]
    value: Annotated[Any, Meta(description="New value; null for remove.")] = None


class Problem(NamedTuple):
    """A rule's finding in a subject.

    Attributes:
        field: the field's path in the subject, "" for the subject as a whole.
        message: what is wrong with it, with the values at hand.
        fix: what ``--fix`` does about it; empty when that takes a decision.
    """

    field: str
    message: str
    fix: tuple[FieldEdit, ...] = ()
