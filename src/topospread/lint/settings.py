"""Lint settings of ``.topospread.yaml`` and ``pyproject.toml``: the enabled rules and their severities.

The nearest file counts, from a folder up to the root of its git repository; ``topospread.toml`` is the third possible
name. The section ``lint`` (in ``pyproject.toml``: ``[tool.topospread.lint]``) has these keys::

    select: [RULE, …]                     only these rules; all by default
    ignore: [RULE, …]                     not these rules
    severity: {RULE: error|warning|hint}
    per-file-ignores: {GLOB: [RULE, …]}   not these rules in these files
    exclude: [GLOB, …]                    files that are not read
    kube-version: "1.32"
    cluster: SPEC|FILE
    config: FILE

Further sections are ``kinds`` and ``promises``: ``[{select: LABEL=VALUE, want: "zone-loss>=66% never-waits"}, …]``,
which ``promise check`` checks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import translate
from functools import lru_cache, partial
from typing import Any, Final, get_args

from topospread.config.versions import KubeVersion
from topospread.errors import InputError, Place
from topospread.sources.custom_kinds import parse_kinds
from topospread.sources.files import STANDARD_INPUT, Source, read_text
from topospread.sources.positions import positions
from topospread.sources.project_table import read_table
from topospread.sources.roots import has_file, root_of, upwards
from topospread.sources.synthetic_cluster import is_synthetic
from topospread.sources.typed_fields import TypedFields
from topospread.sources.yaml import read_documents
from topospread.text import did_you_mean

from .rule import Severity
from .rules import BY_ID

SETTINGS_NAMES: Final = (".topospread.yaml", ".topospread.yml", "topospread.toml", "pyproject.toml")
"""Names of settings files; the first existing one in a folder counts."""
_OPTIONS: Final = ("on", "kube-version", "config", "pools", "namespace", "output", "unknown")
"""Keys of a TOML file that set options of commands. `cli.project` reads them."""
_PROMISES: Final = re.compile(r"[ \t]*(?:\[\[[ \t]*(?:tool\.topospread\.)?promises[ \t]*\]\]|promises[ \t]*=)")
"""An entry of `promises` in TOML, or the key of an inline array."""
_LONGEST_GLOB: Final = 1_000
_MOST_GLOBS: Final = 1000
"""Maximum number of globs, because each is compared with each file."""
MOST_COMPARED: Final = 8_000_000_000
"""Maximum sum of (length of a glob × length of a path) in a run. Matching takes up to a nanosecond for each unit."""


@dataclass(frozen=True, slots=True)
class DeclaredPromise:
    """Promises that a project declares for its workloads.

    Attributes:
        select: labels of a workload's pods, or of the workload.
        want: the promises, in the syntax of `topospread promise check --want`.
        where: the file and line of the entry.
    """

    select: Mapping[str, str]
    want: str
    where: Place


@dataclass(slots=True)
class GlobResults:
    """The results of globs in a run.

    Attributes:
        ignored: path → rules that are disabled for it.
        excluded: path → whether it is not read.
        work: see `MOST_COMPARED`.
    """

    ignored: dict[str, frozenset[str]] = field(default_factory=dict)
    excluded: dict[str, bool] = field(default_factory=dict)
    work: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A project's settings for linting.

    Attributes:
        select: enabled rules; None for all.
        ignore: disabled rules.
        severity: rule → severity that overrides the rule's own.
        per_file_ignores: glob → rules that are disabled for matching files.
        exclude: globs of files that are not read.
        kube_version: default of the target Kubernetes version.
        cluster: default of the cluster to compare with.
        config: default of kube-scheduler's configuration.
        namespace: default namespace of objects without ``metadata.namespace``.
        folder: folder to which globs are relative; "" is the working directory.
        source: the settings file; "" without one.
        promises: declared promises of workloads.
        exclude_namespaces: namespaces whose objects are not linted.
        spread_from: minimum replicas of a workload that must be spread (rule ``no-spread``).
        spread_over: topology key over which it must be spread; "" for any.
        compared: the results of the globs.
    """

    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    per_file_ignores: Mapping[str, frozenset[str]] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    kube_version: str | None = None
    cluster: str | None = None
    config: str | None = None
    namespace: str | None = None
    folder: str = ""
    source: str = ""
    promises: tuple[DeclaredPromise, ...] = ()
    exclude_namespaces: frozenset[str] = frozenset()
    spread_from: int = 3
    spread_over: str = ""
    compared: GlobResults = field(default_factory=GlobResults, compare=False)

    def asks(self, rule: str) -> bool:
        """Return whether a rule is enabled for any file."""
        return rule not in self.ignore and (self.select is None or rule in self.select)

    def wants(self, rule: str, *paths: str) -> bool:
        """Return whether a rule is enabled for all of the files."""
        return not any(rule in self._ignored(path) for path in paths)

    def ignored_in(self, folder: str, file: str) -> frozenset[str] | None:
        """Return the rules that are disabled for a rendered folder by its file; None if the folder is excluded."""
        return None if self.excludes(folder) else self._ignored(file)

    def _ignored(self, path: str) -> frozenset[str]:
        known = self.compared.ignored
        if path not in known:
            found = (self.per_file_ignores[glob] for glob in self._matching(path, self.per_file_ignores))
            known[path] = frozenset().union(*found)
        return known[path]

    def excludes(self, path: str) -> bool:
        """Return whether a file is excluded, even if it is named explicitly. Standard input never is."""
        known = self.compared.excluded
        if path not in known:
            known[path] = path != STANDARD_INPUT and bool(self._matching(path, self.exclude))
        return known[path]

    def _matching(self, path: str, globs: Collection[str]) -> list[str]:
        """Return the globs that match. ``*`` also matches slashes; one without a slash may match the file name alone.

        Raises:
            InputError: if too many globs were compared with too many paths.
        """
        if not globs:
            return []
        relative, name = os.path.relpath(path, self.folder or ".").replace(os.sep, "/"), os.path.basename(path)
        self.compared.work += sum(map(len, globs)) * len(relative)
        if self.compared.work > MOST_COMPARED:
            raise InputError("the globs are too long for so many files; use fewer globs", Place(self.source))
        matches = ((glob, _pattern(glob).match) for glob in globs)
        return [glob for glob, match in matches if match(relative) or ("/" not in glob and match(name))]


@lru_cache(maxsize=2 * _MOST_GLOBS)
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))


def find_settings(folder: str = ".") -> Settings:
    """Return the nearest settings from a folder up to its repository, or the default settings.

    Raises:
        InputError: if the file cannot be read or is invalid.
    """
    for place in upwards(folder):
        for name in SETTINGS_NAMES:
            if has_file(os.path.join(place, name)):
                shown = os.path.relpath(os.path.join(place, name)) if name in os.listdir(place) else name
                found = read_settings(shown)
                if found is not None:
                    return found
    return Settings()


def read_settings(path: str) -> Settings | None:
    """Return the settings of a file, or None for a pyproject.toml without topospread.

    Raises:
        InputError: if the file cannot be read or is invalid.
    """
    if path.endswith(".toml"):
        prefix = "" if os.path.basename(path) == "topospread.toml" else "tool.topospread"
        text, value = read_table(path)
        if value is None:
            return None
        lines = [number for number, line in enumerate(text.split("\n"), 1) if _PROMISES.match(line)]
    else:
        prefix = ""
        read = read_text(Source(path, None))
        value = next((each.value for each in read_documents(read)), None)
        found = positions(read.data, 1)
        lines = [at.line for steps, at in found.items() if len(steps) == 2 and steps[0] == "promises"]
    return _SettingsParser(path, prefix, lines).settings(value or {})


class _SettingsParser(TypedFields):
    """Converts plain data to settings. Unknown keys raise an error with their place."""

    def __init__(self, path: str, prefix: str, lines: Sequence[int]) -> None:
        self.path = path
        self.prefix = prefix
        self.lines = lines
        """Line of each entry of `promises`, if known."""

    def settings(self, value: Any) -> Settings:
        """Return the settings in a file."""
        whole = self.mapping(value, "")
        options = _OPTIONS if self.path.endswith(".toml") else ()
        self.known(whole, ("lint", "kinds", "promises", *options), "")
        parse_kinds(whole.get("kinds") or [], Place(self.path))
        given = self.mapping(whole.get("lint") or {}, "lint")
        readers: dict[str, tuple[str, Callable[[Any, str], Any]]] = {
            "select": ("select", self._rules),
            "ignore": ("ignore", self._rules),
            "severity": ("severity", self._severities),
            "per-file-ignores": ("per_file_ignores", self._per_file),
            "exclude": ("exclude", self._globs),
            "kube-version": ("kube_version", self._version),
            "cluster": ("cluster", self.string),
            "config": ("config", self.string),
            "namespace": ("namespace", self.string),
            "exclude-namespaces": ("exclude_namespaces", self._names),
            "spread-from": ("spread_from", partial(self.number, least=2)),
            "spread-over": ("spread_over", self.label_key),
        }
        self.known(given, tuple(readers), "lint")
        fields = {readers[name][0]: readers[name][1](each, f"lint.{name}") for name, each in given.items()}
        folder = os.path.dirname(self.path)
        for name in ("cluster", "config"):
            if name in fields and not is_synthetic(fields[name]):
                path = os.path.join(folder or os.curdir, fields[name])  # "-" is a file, too
                fields[name] = self.within(path, root_of(self.path), f"lint.{name}", "give it on the command line")
        promises = self._promises(whole.get("promises") or [])
        return Settings(**fields, folder=folder, source=self.path, promises=promises)

    def _promises(self, value: Any) -> tuple[DeclaredPromise, ...]:
        found = []
        for index, each in enumerate(self.items(value, "promises")):
            where = f"promises[{index}]"
            given = self.mapping(each, where)
            self.known(given, ("select", "want"), where)
            words = self.string(given.get("select", ""), f"{where}.select").split(",")
            if not all(re.fullmatch(r"[^=\s]+=[^=\s]*", word) for word in words):
                raise self.error("expected labels such as tier=web,app=shop", f"{where}.select")
            select = dict(word.split("=") for word in words)
            line = self.lines[index] if index < len(self.lines) else next(iter(self.lines[-1:]), None)
            want = self.string(given.get("want", ""), f"{where}.want")
            found.append(DeclaredPromise(select, want, replace(self.place(where), line=line)))
        return tuple(found)

    def _names(self, value: Any, where: str) -> frozenset[str]:
        return frozenset(self.strings(value, where))

    def _version(self, value: Any, where: str) -> str:
        text = self.string(value, where)
        KubeVersion.parse(text, self.place(where))
        return text

    def _globs(self, value: Any, where: str) -> tuple[str, ...]:
        globs = tuple(self.strings(value, where))
        self._check_globs(globs, where)
        return globs

    def _check_globs(self, globs: Collection[str], where: str) -> None:
        if len(globs) > _MOST_GLOBS:
            told = f"{len(globs)} globs, but at most {_MOST_GLOBS} are allowed; a glob such as dir/* covers many"
            raise self.error(told, where)
        if any(len(each) > _LONGEST_GLOB for each in globs):
            raise self.error(f"a glob is longer than {_LONGEST_GLOB} characters", where)

    def _rules(self, value: Any, where: str) -> frozenset[str]:
        return frozenset(self._rule(each, f"{where}[{index}]") for index, each in enumerate(self.strings(value, where)))

    def _rule(self, name: str, where: str) -> str:
        problem = unknown_rule(name)
        if problem:
            raise self.error(problem, where)
        return name

    def _severities(self, value: Any, where: str) -> dict[str, Severity]:
        for name, severity in self.mapping(value, where).items():
            self._rule(name, where)
            self.choice(severity, get_args(Severity), f"{where}.{name}")
        return dict(value)

    def _per_file(self, value: Any, where: str) -> dict[str, frozenset[str]]:
        given = self.mapping(value, where)
        self._check_globs(given, where)
        return {glob: self._rules(rules, f"{where}[{glob}]") for glob, rules in given.items()}

    def place(self, where: str) -> Place:
        """Return the place of a setting, by its full key."""
        return Place(self.path, field=".".join(part for part in (self.prefix, where) if part))


def unknown_rule(name: str) -> str:
    """Return the error message for an unknown rule; "" if the rule exists."""
    if name in BY_ID:
        return ""
    return f"unknown rule '{name}'{did_you_mean(name, list(BY_ID), '`topospread explain rules` lists them')}"
