"""Read the project file: the nearest `topospread.toml` or `[tool.topospread]` of `pyproject.toml`.

Its values apply if neither the command line nor the environment sets an option. A stranger may have written the file.
So its paths must stay in the repository, else in its folder, and it cannot name a live cluster or write a file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import click
import msgspec
from click.core import ParameterSource

from topospread.errors import ConfigError, Place

FILES: Final = ("topospread.toml", "pyproject.toml")
_PATHS: Final = ("on", "config", "pools")
PARAMETERS: Final = {
    "on": "cluster",
    "kube-version": "kube_version",
    "config": "config_path",
    "pools": "pools",
    "namespace": "namespace",
    "output": "outputs",
    "unknown": "allow_unknown",
}
"""Key of the file → parameter of a command."""


class Setting(msgspec.Struct, frozen=True):
    """A key of the project file.

    Attributes:
        key, value: as in the file, but paths are relative to the working directory.
    """

    key: str
    value: str
    where: Place


def project_settings(folder: str = ".") -> list[Setting]:
    """Return the settings of the nearest project file; empty without a file.

    Raises:
        InputError: if the file cannot be read, is not TOML, or has a value that is not allowed.
    """
    from topospread.sources.roots import has_file, upwards

    for place in upwards(folder):
        for name in FILES:
            path = os.path.relpath(os.path.join(place, name))
            if has_file(path):
                found = _read(path)
                if found is not None:
                    return found
    return []


def with_project(given: Mapping[str, Any], settings: Iterable[Setting]) -> dict[str, Any]:
    """Return the running command's options, completed from the project file."""
    context = click.get_current_context()
    parameters = {each.name: each for each in context.command.params}
    found = dict(given)
    for name, value in project_defaults(settings).items():
        is_open = context.get_parameter_source(name) is ParameterSource.DEFAULT
        names_live = name == "cluster" and any(given.get(each) for each in ("context", "kubeconfig", "user"))
        if name in parameters and is_open and not names_live:
            found[name] = parameters[name].process_value(context, value)
    return found


def project_defaults(settings: Iterable[Setting]) -> dict[str, Any]:
    """Return settings as click's ``default_map`` for a command."""
    made: dict[str, Callable[[str], Any]] = {
        "pools": lambda value: [value],
        "output": lambda value: [value],
        "unknown": lambda value: value == "allow",
    }
    return {PARAMETERS[each.key]: made.get(each.key, str)(each.value) for each in settings}


def _read(path: str) -> list[Setting] | None:
    """Return the settings in a file; None for a pyproject.toml without them."""
    from topospread.sources.project_table import read_table

    text, table = read_table(path)
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ConfigError("tool.topospread: expected a table", Place(path))
    return [_checked(key, value, _place(path, text, key)) for key, value in table.items() if key in PARAMETERS]


def _place(path: str, text: str, key: str) -> Place:
    found = re.search(rf"^[ \t]*{re.escape(key)}[ \t]*=", text, re.MULTILINE)
    return Place(path, line=text.count("\n", 0, found.end()) + 1 if found else None)


def _checked(key: str, value: object, place: Place) -> Setting:
    """Validate a setting, which a stranger may have written.

    Raises:
        ConfigError: if the value is not text, leaves the repository, or would reach a cluster or write a file.
    """
    from topospread.sources.roots import is_within, repository_of, root_of
    from topospread.sources.synthetic_cluster import is_synthetic

    if not isinstance(value, str) or not value:
        raise ConfigError(f"{key}: expected text in quotes that is not empty", place)
    if key == "unknown" and value not in ("fail", "allow"):
        raise ConfigError(f'unknown: expected "fail" or "allow", got "{value}"', place)
    if key == "output" and "=" in value:
        raise ConfigError("output: a project file names a format only; give the file on the command line", place)
    if key == "output" and value == "github":
        words = "output: a project file cannot say github, whose lines are commands; give -o github on the command line"
        raise ConfigError(words, place)
    if key == "on" and value == "live":
        raise ConfigError("on: a project file cannot say live; give --on live or --context", place)
    if key in _PATHS and not (key == "on" and is_synthetic(value)):
        value = os.path.normpath(os.path.join(os.path.dirname(place.source), value))
        if not is_within(value, root_of(place.source)):
            root = "repository" if repository_of(place.source) else "folder of this file"
            raise ConfigError(f"{key}: this path leaves the {root}; give it on the command line", place)
        # Only these exact words are not paths; "./live" must stay a path.
        value = os.path.join(os.curdir, value) if value in ("live", "-") else value
    return Setting(key, value, place)
