"""How commands explain themselves: help that imports nothing until it is shown, and the name they were called by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

_PLAIN = "topospread"
VARIABLE = "_TOPOSPREAD_COMPLETE"
"""Environment variable by which a shell asks what may come next."""


class _Examples(click.Command):
    """A command whose help shows its examples under the name that the program was called by."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The help, as it is typed."""
        given = self.help
        self.help = called(given or "", ctx)
        super().format_help_text(ctx, formatter)
        self.help = given


class Explained(_Examples):
    """A command with examples, and below its options a text that is fetched when it is shown.

    Args:
        below: gives the text; its lines are kept as they are.
    """

    def __init__(self, *args: Any, below: Callable[[], str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._below = below

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The text below, as it is."""
        if self._below is not None:
            formatter.write_paragraph()
            for line in self._below().rstrip("\n").splitlines():
                formatter.write(f"  {line}".rstrip() + "\n")


class ExplainedGroup(_Examples, click.Group):
    """A group of commands with examples."""


def called(text: str, ctx: click.Context) -> str:
    """Examples as they are typed: as a kubectl plugin ``topospread fields`` is ``kubectl topospread fields``."""
    name = ctx.find_root().info_name or _PLAIN
    if name == _PLAIN:
        return text
    return text.replace(f"  {_PLAIN} ", f"  {name} ").replace(f"| {_PLAIN} ", f"| {name} ")
