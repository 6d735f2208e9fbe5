"""A rule's finding and its fix, before position and severity are known."""

from __future__ import annotations

from typing import Annotated, Any, Final, NamedTuple

from msgspec import Meta

from topospread.base import Base

MOST_ALIKE: Final = 20
"""Maximum findings of one rule for one object. The last finding states the number of omitted findings."""


class FieldEdit(Base, frozen=True):
    """A change that `--fix` makes."""

    op: Annotated[str, Meta(description="`replace`, `add` or `remove`.")]
    path: Annotated[str, Meta(description="Field path; `[-]` adds an item at the end of a list.")]
    value: Annotated[Any, Meta(description="New value; null for remove.")] = None


class Problem(NamedTuple):
    """A rule's finding in one object.

    Attributes:
        field: path of the field; "" for the whole object.
        message: the problem, with the actual values.
        fix: edits that ``--fix`` makes; empty if a person must decide.
        suggestion: edits for a person to confirm, made with ``--unsafe-fixes``.
    """

    field: str
    message: str
    fix: tuple[FieldEdit, ...] = ()
    suggestion: tuple[FieldEdit, ...] = ()
