"""Drills in files, ``kind: Drill``: read, with the place of everything that is wrong; played by `checking`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from topospread.config.versions import KubeVersion
from topospread.errors import ConfigError, InputError, Place, UsageError
from topospread.sources.files import Source, read_text
from topospread.sources.made_up import is_made_up
from topospread.sources.positions import locate, parse_path
from topospread.sources.text import Text
from topospread.sources.yaml import read_documents

from .expectations import Expectations
from .steps import (
    AddNodes,
    Apply,
    Cordon,
    Drain,
    Fail,
    NodeChoice,
    Recover,
    Step,
    Uncordon,
    read_autoscale,
    read_choice,
    read_rollout,
    read_scale,
    read_wait,
)

API_VERSION = "topospread.dev/v1alpha1"
_GROUP = b"topospread.dev/"
_ENDINGS = (".yaml", ".yml", ".json")
_NODES: Mapping[str, Callable[[NodeChoice], Step]] = {
    "fail": Fail,
    "recover": Recover,
    "cordon": Cordon,
    "uncordon": Uncordon,
    "drain": Drain,
}
_READ: Mapping[str, Callable[[str, str], Step]] = {
    "scale": read_scale,
    "autoscale": read_autoscale,
    "wait": read_wait,
}
_STEPS = (*_NODES, "scale", "autoscale", "rollout", "wait", "addNodes", "apply")


@dataclass(frozen=True, slots=True)
class DrillFile:
    """One drill of a file.

    Attributes:
        name: ``metadata.name``, or else the file's.
        text, document: where it stands.
        cluster: a made-up cluster or a file, "" for none; paths are as seen from the working directory.
    """

    name: str
    text: Text
    document: int
    cluster: str
    manifests: tuple[str, ...]
    steps: tuple[Step, ...]
    expect: Expectations
    namespace: str = "default"
    kube_version: str = "1.37"
    config: str | None = None

    def place(self, path: str) -> Place:
        """Where a field stands, or what it would stand in."""
        return _place(self.text, self.document, path, self.name)


def find_drills(paths: Iterable[str]) -> list[DrillFile]:
    """The drills of files and of folders, whose other files are passed over.

    Raises:
        InputError: one cannot be read, or says what means nothing.
        UsageError: there is none at a path.
    """
    found: list[DrillFile] = []
    for path in paths:
        own = [drill for file in _files(path) for drill in _drills(file, named=file == path)]
        if not own:
            raise UsageError(f"{path}: there is no drill in it (apiVersion: {API_VERSION}, kind: Drill)")
        found += own
    return found


def _files(path: str) -> Iterator[str]:
    if not os.path.isdir(path):
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        yield from (os.path.join(folder, each) for each in sorted(names) if each.endswith(_ENDINGS))


def _drills(path: str, *, named: bool) -> Iterator[DrillFile]:
    text = read_text(Source(path, None))
    if not named and _GROUP not in text.data:
        return
    for document in read_documents(text):
        value = document.value
        if isinstance(value, dict) and value.get("kind") == "Drill":
            yield _DrillReader(text, document.number).drill(value)


def _place(text: Text, document: int, path: str, name: str = "") -> Place:
    found = locate(text.data, document, parse_path(path))
    return Place(
        text.name,
        object=f"Drill {name}" if name else "",
        field=path,
        line=found.line if found else None,
        column=found.column if found else None,
    )


class _DrillReader:
    """Turns plain data into a drill; whatever it does not know is refused with its place."""

    def __init__(self, text: Text, document: int) -> None:
        self._text = text
        self._document = document
        self._name = ""

    def drill(self, value: dict[str, Any]) -> DrillFile:
        self._known(value, ("apiVersion", "kind", "metadata", "spec"), "")
        if value.get("apiVersion") != API_VERSION:
            raise self._error(f"a Drill has apiVersion {API_VERSION}", "apiVersion")
        metadata = self._mapping(value.get("metadata") or {}, "metadata")
        file = os.path.splitext(os.path.basename(self._text.name))[0]
        self._name = self._string(metadata.get("name") or file, "metadata.name")
        spec = self._mapping(value.get("spec"), "spec")
        self._known(spec, ("cluster", "manifests", "namespace", "kubeVersion", "config", "steps", "expect"), "spec")
        cluster = self._string(spec.get("cluster", ""), "spec.cluster")
        config = spec.get("config")
        manifests = self._list(spec.get("manifests", []), "spec.manifests")
        return DrillFile(
            name=self._name,
            text=self._text,
            document=self._document,
            cluster=cluster if not cluster or is_made_up(cluster) else self._path(cluster),
            manifests=tuple(self._path(self._string(each, f"spec.manifests[{i}]")) for i, each in enumerate(manifests)),
            steps=self._steps(spec),
            expect=self._expectations(self._mapping(spec.get("expect"), "spec.expect")),
            namespace=self._string(spec.get("namespace", "default"), "spec.namespace"),
            kube_version=self._version(spec.get("kubeVersion", "1.37")),
            config=None if config is None else self._path(self._string(config, "spec.config")),
        )

    def _steps(self, spec: Mapping[str, Any]) -> tuple[Step, ...]:
        steps = self._list(spec.get("steps"), "spec.steps")
        if not steps:
            raise self._error("give at least one step", "spec.steps")
        return tuple(self._step(each, f"spec.steps[{i}]") for i, each in enumerate(steps))

    def _step(self, given: Any, where: str) -> Step:
        value = self._mapping(given, where)
        self._known(value, _STEPS, where)
        if len(value) != 1:
            raise self._error(f"a step is one of {', '.join(_STEPS)}", where)
        ((name, argument),) = value.items()
        if name == "addNodes":
            return self._add_nodes(self._mapping(argument, f"{where}.addNodes"), f"{where}.addNodes")
        text = self._string(argument, f"{where}.{name}")
        try:
            if name in _NODES:
                return _NODES[name](read_choice(text, name))
            if name == "apply":
                return Apply(self._path(text))
            if name == "rollout":
                step = read_rollout(text, name)
                return replace(step, path=self._path(step.path)) if step.path else step
            return _READ[name](text, name)
        except UsageError as error:
            raise self._error(str(error), f"{where}.{name}") from None

    def _add_nodes(self, value: Mapping[str, Any], where: str) -> Step:
        self._known(value, ("number", "like", "zone"), where)
        for name in ("number", "like"):
            if name not in value:
                raise self._error(f"{name} is missing", where)
        number = self._number(value["number"], f"{where}.number")
        if not number:
            raise self._error("how many nodes come is a number, from 1", f"{where}.number")
        zone = self._string(value.get("zone", ""), f"{where}.zone")
        return AddNodes(number, self._string(value["like"], f"{where}.like"), zone)

    def _expectations(self, value: Mapping[str, Any]) -> Expectations:
        base = "spec.expect"
        known = ("pending", "skew", "ready", "brokenBudgets", "notEvicted", "settledWithin")
        self._known(value, known, base)
        if not value:
            raise self._error(f"expect at least one of {', '.join(known)}", base)
        numbers = {
            name: self._number(value[name], f"{base}.{name}")
            for name in ("pending", "brokenBudgets", "notEvicted")
            if name in value
        }
        skew = value.get("skew")
        of = self._numbers(skew, f"{base}.skew") if isinstance(skew, dict) else {}
        within = value.get("settledWithin")
        return Expectations(
            pending=numbers.get("pending"),
            skew=None if skew is None or isinstance(skew, dict) else self._number(skew, f"{base}.skew"),
            skew_of=of,
            ready=self._numbers(value.get("ready", {}), f"{base}.ready"),
            broken_budgets=numbers.get("brokenBudgets"),
            not_evicted=numbers.get("notEvicted"),
            settled_within=None if within is None else self._duration(within, f"{base}.settledWithin"),
        )

    def _numbers(self, value: Any, where: str) -> dict[str, int]:
        given = self._mapping(value, where)
        return {name: self._number(each, f"{where}[{name}]") for name, each in given.items()}

    def _duration(self, value: Any, where: str) -> float:
        try:
            return read_wait(self._string(value, where), "settledWithin").seconds
        except UsageError as error:
            raise self._error(str(error), where) from None

    def _version(self, value: Any) -> str:
        text = self._string(value, "spec.kubeVersion")
        KubeVersion.parse(text, _place(self._text, self._document, "spec.kubeVersion", self._name))
        return text

    def _path(self, path: str) -> str:
        return os.path.normpath(os.path.join(os.path.dirname(self._text.name), path))

    def _known(self, value: Mapping[str, Any], known: Sequence[str], where: str) -> None:
        for name in value:
            if name not in known:
                close = get_close_matches(str(name), known, 1)
                hint = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(known)}"
                raise self._error(f"there is no field '{name}'; {hint}", f"{where}.{name}" if where else str(name))

    def _mapping(self, value: Any, where: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._error("expected a mapping" if value is not None else "it is missing", where)
        return value

    def _list(self, value: Any, where: str) -> list[Any]:
        if not isinstance(value, list):
            raise self._error("expected a list" if value is not None else "it is missing", where)
        return value

    def _string(self, value: Any, where: str) -> str:
        if not isinstance(value, str):
            raise self._error(f"expected a string, got {value!r}; put it in quotes", where)
        return value

    def _number(self, value: Any, where: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self._error(f"expected a number, from 0, got {value!r}", where)
        return value

    def _error(self, words: str, where: str) -> InputError:
        return ConfigError(words, _place(self._text, self._document, where, self._name))
