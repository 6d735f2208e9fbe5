"""The argument TARGET: objects in kubectl's syntax."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from topospread.errors import UsageError
from topospread.text import shell_line

from .object_names import targets
from .usage import is_named_file

Command = TypeVar("Command", bound=Callable[..., Any])


def target_argument(*, required: bool, files: bool = False) -> Callable[[Command], Command]:
    """Return the decorator for ``TARGET``; its values are in the parameter ``targets``.

    Args:
        files: whether files are accepted as targets, for commands that handle them.
    """
    metavar = "TARGET" if required else "[TARGET]"
    callback = _read if files else _read_no_files
    return click.argument(
        "targets", nargs=-1, required=required, metavar=metavar, callback=callback, shell_complete=targets
    )


def file_error(word: str, context: click.Context) -> UsageError:
    """Return the error for a file instead of a target."""
    return UsageError(f"{word} is a file: {context.command_path} -f {shell_line([word])}")


def _read_no_files(context: click.Context, parameter: click.Parameter, words: tuple[str, ...]) -> tuple[str, ...]:
    for word in filter(is_named_file, words):
        raise file_error(word, context)
    return _read(context, parameter, words)


def _read(context: click.Context, parameter: click.Parameter, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the targets: ``deploy/web``, ``shop/deploy/web``, ``web-0``, or kind and name, ``deploy web``."""
    from topospread.controllers.scale import KIND_OF

    found: list[str] = []
    kind = ""
    for word in words:
        if kind:
            found.append(f"{kind}/{word}")
            kind = ""
        elif word.lower() in {*KIND_OF, "po", "pod", "pods", "no", "node", "nodes"}:
            kind = word
        else:
            found.append(word)
    return tuple([*found, kind] if kind else found)


def one_target(targets: Sequence[str]) -> str:
    """Return the single target. Raise UsageError if there are several."""
    if len(targets) > 1:
        raise UsageError(f"name one of {', '.join(targets)}: this command takes one target")
    return targets[0]
