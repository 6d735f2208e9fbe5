"""Options that select lint rules, for ``lint`` and ``policies``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from topospread.errors import ConfigError, Place, UsageError

from .inputs import PATH
from .usage import together

if TYPE_CHECKING:
    from topospread.lint.settings import Settings

LEVELS = click.Choice(["error", "warning", "hint"])


def _completed(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from topospread.lint.rules import BY_ID

    before, comma, begin = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in BY_ID if name.startswith(begin)]


rule_options = together(
    click.option("--select", multiple=True, metavar="RULE,…", shell_complete=_completed, help="Use only these rules."),
    click.option(
        "--ignore", multiple=True, metavar="RULE,…", shell_complete=_completed, help="Do not use these rules."
    ),
    click.option("--level", type=LEVELS, default="hint", help="Use only rules of at least this severity."),
    click.option(
        "--settings", type=PATH, metavar="FILE|rev:REV", help="Settings file, not the nearest .topospread.yaml."
    ),
)
"""``--select --ignore --level --settings``."""


def read_settings(given: Mapping[str, Any]) -> Settings:
    """Return the project's settings, overridden by the command line's rules.

    Raises:
        ConfigError: if the file of --settings has no settings.
        UsageError: if a rule is unknown.
    """
    from dataclasses import replace

    from topospread.lint import settings as files
    from topospread.lint.settings_of_revision import settings_at
    from topospread.sources.revisions import REVISION

    path, settings = given["settings"], None
    if path is None:
        settings = files.find_settings()
    elif path.startswith(REVISION):
        settings = settings_at(path.removeprefix(REVISION))
    else:
        settings = files.read_settings(path)
    if settings is None:
        raise ConfigError("this file has no [tool.topospread]", Place(path))
    selected, ignored = (_rules(given[name], f"--{name}") for name in ("select", "ignore"))
    return replace(
        settings,
        select=(frozenset(selected) - frozenset(ignored)) if selected else settings.select,
        ignore=frozenset(ignored) if selected else settings.ignore | frozenset(ignored),
    )


def _rules(given: tuple[str, ...], option: str) -> list[str]:
    """Parse comma-separated rules."""
    from topospread.lint.settings import unknown_rule

    names = [name.strip() for each in given for name in each.split(",") if name.strip()]
    for name in names:
        problem = unknown_rule(name)
        if problem:
            raise UsageError(f"{option}: {problem}")
    return names
