"""A problem at a place in a file, in the form that junit and github output need."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from topospread.base import Base
from topospread.text import one_line

Level = Literal["error", "warning", "hint"]


class Finding(Base, frozen=True, kw_only=True):
    """A problem, certain or probable, and its place."""

    level: Annotated[Level, Meta(description="Severity of the problem.")]
    rule: Annotated[str, Meta(description="Rule or check that found it.")]
    says: Annotated[str, Meta(description="The problem in one sentence.")]
    file: Annotated[str, Meta(description="File as it was given; `-` for standard input.")]
    line: Annotated[int | None, Meta(description="Line from 1; null if it is not known.")] = None
    column: Annotated[int | None, Meta(description="Column from 1; null if it is not known.")] = None
    object: Annotated[str, Meta(description="`KIND NAMESPACE/NAME`; empty if it concerns no object.")] = ""

    @property
    def where(self) -> str:
        """The place as ``file:line:column``, which editors can open. A colon in the file's name is escaped."""
        return f"{self.file.replace(':', chr(92) + 'u003a')}:{self.line or 1}:{self.column or 1}"

    def __str__(self) -> str:
        of = f" ({self.object})" if self.file == "-" and self.object else ""
        return one_line(f"{self.where}: {self.level}: {self.says}{of} [{self.rule}]")
