"""Read Drill files (``kind: Drill``). Errors name the place of the faulty field. `checking` runs the drills."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from topospread.errors import Place, UsageError
from topospread.sources.files import KUBECTL_ENDINGS, Source, check_depth, read_text
from topospread.sources.roots import is_within, leaves, root_of
from topospread.sources.text import Text, shown_path
from topospread.sources.yaml import read_documents

from .drill_settings import FIELDS, DrillInput, DrillSettings, read_manifests, read_settings
from .expectations import Expectations
from .file_fields import FileFields, place_in
from .steps import (
    NODE_STEPS,
    TURNS,
    AddNodes,
    Apply,
    RolloutStep,
    Step,
    read_autoscale,
    read_choice,
    read_rollout,
    read_scale,
    read_scale_down,
    read_wait,
)

API_VERSION = "topospread.dev/v1alpha1"
_GROUP = b"topospread.dev/"
_MOST_NODES = 100_000
FIELD_OF: Mapping[str, str] = {"force-drain": "forceDrain"}
"""Step whose field in a Drill file has another name → the field."""
_NODES = {FIELD_OF.get(name, name): step for name, step in NODE_STEPS.items()}
_READ: Mapping[str, Callable[[str, str], Step]] = {
    "scale": read_scale,
    "scaleDown": read_scale_down,
    "autoscale": read_autoscale,
    "wait": read_wait,
}
_STEPS = (*_NODES, "scale", "scaleDown", "autoscale", "rollout", "wait", "addNodes", "apply")


@dataclass(frozen=True, slots=True)
class DrillFile:
    """One drill from a file.

    Attributes:
        name: ``metadata.name``, by default the file's name.
        text, document: its file and YAML document.
        manifests: the initial objects.
        settings: the settings of the drill.
    """

    name: str
    text: Text
    document: int
    manifests: DrillInput
    settings: DrillSettings
    steps: tuple[Step, ...]
    expect: Expectations

    def place(self, path: str) -> Place:
        """Return the place of a field; of its nearest parent if it is missing."""
        return place_in(self.text, self.document, path, self.name)


def find_drills(
    paths: Iterable[str], *, helm_in_kustomizations: bool = False, network: bool = False
) -> list[DrillFile]:
    """Return the drills in files and folders. Other files in folders are skipped.

    Args:
        paths: files and folders.
        helm_in_kustomizations, network: permissions of `Rendering`, which a Drill file cannot grant itself.

    Raises:
        InputError: if a file cannot be read, or is invalid.
        UsageError: if a path contains no drill.
    """
    found: list[DrillFile] = []
    for path in paths:
        root = root_of(path)
        own = [drill for file in _files(path, root) for drill in _drills(file, root, named=file == path)]
        if not own:
            raise UsageError(f"{shown_path(path)}: no drill found (apiVersion: {API_VERSION}, kind: Drill)")
        found += own
    return [_allowed(each, helm_in_kustomizations, network) for each in found]


def _allowed(drill: DrillFile, helm: bool, network: bool) -> DrillFile:
    rendering = replace(drill.manifests.rendering, helm_in_kustomizations=helm, network=network)
    return replace(drill, manifests=replace(drill.manifests, rendering=rendering))


def _files(path: str, root: str) -> Iterator[str]:
    if not os.path.isdir(path):
        yield path
        return
    for folder, folders, names in os.walk(path):
        check_depth(folder)
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for file in (os.path.join(folder, each) for each in sorted(names) if each.endswith(KUBECTL_ENDINGS)):
            if not is_within(file, root):
                raise leaves(file, root)
            yield file


def _drills(path: str, root: str, *, named: bool) -> Iterator[DrillFile]:
    text = read_text(Source(path, None))
    if not named and _GROUP not in text.data:
        return
    for document in read_documents(text):
        value = document.value
        if isinstance(value, dict) and value.get("kind") == "Drill":
            yield _DrillReader(text, document.number, root).drill(value)


class _DrillReader(FileFields):
    """Converts plain data to a drill. Unknown fields raise an error with their place.

    Attributes:
        any_node: `DrillSettings.any_node`.
    """

    any_node = False

    def drill(self, value: dict[str, Any]) -> DrillFile:
        self.known(value, ("apiVersion", "kind", "metadata", "spec"), "")
        if value.get("apiVersion") != API_VERSION:
            raise self.error(f"a Drill has apiVersion {API_VERSION}", "apiVersion")
        metadata = self.mapping(value.get("metadata") or {}, "metadata")
        file = os.path.splitext(os.path.basename(self.text.name))[0]
        self.name = self.string(metadata.get("name") or file, "metadata.name")
        spec = self.mapping(value.get("spec"), "spec")
        self.known(spec, (*FIELDS, "steps", "expect"), "spec")
        settings = read_settings(self, spec)
        self.any_node = settings.any_node
        return DrillFile(
            name=self.name,
            text=self.text,
            document=self.document,
            manifests=read_manifests(self, spec, settings.kube_version),
            settings=settings,
            steps=self._steps(spec),
            expect=self._expectations(self.mapping(spec.get("expect"), "spec.expect")),
        )

    def _steps(self, spec: Mapping[str, Any]) -> tuple[Step, ...]:
        steps = self.items(spec.get("steps"), "spec.steps")
        if not steps:
            raise self.error("give at least one step", "spec.steps")
        found = tuple(self._step(each, f"spec.steps[{i}]") for i, each in enumerate(steps))
        if sum(each.number for each in found if isinstance(each, AddNodes)) > _MOST_NODES:
            raise self.error(f"addNodes: at most {_MOST_NODES} nodes in all steps are allowed", "spec.steps")
        return found

    def _step(self, given: Any, where: str) -> Step:
        value = self.mapping(given, where)
        self.known(value, _STEPS, where)
        if len(value) != 1:
            raise self.error(f"a step must have exactly one of the fields {', '.join(_STEPS)}", where)
        ((name, argument),) = value.items()
        if name == "addNodes":
            return self._add_nodes(self.mapping(argument, f"{where}.addNodes"), f"{where}.addNodes")
        if name == "rollout" and isinstance(argument, dict):
            return self._rollout_in_turns(argument, f"{where}.rollout")
        text = self.string(argument, f"{where}.{name}")
        try:
            if name in _NODES:
                return _NODES[name](read_choice(text, name))
            if name == "apply":
                return Apply(self.path(text, f"{where}.apply"))
            if name == "rollout":
                step = read_rollout(text, name)
                return replace(step, path=self.path(step.path, f"{where}.rollout")) if step.path else step
            return _READ[name](text, name)
        except UsageError as error:
            raise self.error(str(error), f"{where}.{name}") from None

    def _add_nodes(self, value: Mapping[str, Any], where: str) -> Step:
        self.known(value, ("number", "like", "zone"), where)
        for name in ("number", "like"):
            if name not in value:
                raise self.error(f"{name} is missing", where)
        number = self.number(value["number"], f"{where}.number", least=1)
        zone = self.string(value.get("zone", ""), f"{where}.zone")
        return AddNodes(number, self.string(value["like"], f"{where}.like"), zone)

    def _rollout_in_turns(self, value: Mapping[str, Any], where: str) -> Step:
        self.known(value, ("target", "turns"), where)
        turns = self.items(value.get("turns"), f"{where}.turns")
        try:
            step = read_rollout(self.string(value.get("target"), f"{where}.target"), "rollout")
        except UsageError as error:
            raise self.error(str(error), f"{where}.target") from None
        if step.path:
            raise self.error("turns cannot be combined with manifests", f"{where}.target")
        read = tuple(self._turn(each, f"{where}.turns[{i}]") for i, each in enumerate(turns))
        return replace(step, turns=read, is_fixed=not self.any_node)

    def _turn(self, given: Any, where: str) -> RolloutStep:
        value = self.mapping(given, where)
        self.known(value, TURNS, where)
        if len(value) != 1:
            raise self.error(f"a turn must have exactly one of the fields {', '.join(TURNS)}", where)
        (name,) = (each for each in TURNS if each in value)
        text = self.string(value[name], f"{where}.{name}")
        if name == "ready":
            if text != "any":
                raise self.error("write any: the turn is for any new pod", f"{where}.ready")
            return RolloutStep("ready")
        pod, equals, node = text.rpartition("=")
        if bool(equals) != (name == "stands") or not node or (equals and not pod):
            raise self.error("write POD=NODE" if name == "stands" else "write a node", f"{where}.{name}")
        return RolloutStep(name, node, pod)

    def _expectations(self, value: Mapping[str, Any]) -> Expectations:
        base = "spec.expect"
        known = ("pending", "skew", "ready", "left", "brokenBudgets", "notEvicted", "settledWithin")
        self.known(value, known, base)
        if not value:
            raise self.error(f"expect at least one of {', '.join(known)}", base)
        numbers = {
            name: self.number(value[name], f"{base}.{name}")
            for name in ("pending", "brokenBudgets", "notEvicted")
            if name in value
        }
        skew = value.get("skew")
        of = self._numbers(skew, f"{base}.skew") if isinstance(skew, dict) else {}
        within = value.get("settledWithin")
        return Expectations(
            pending=numbers.get("pending"),
            skew=None if skew is None or isinstance(skew, dict) else self.number(skew, f"{base}.skew"),
            skew_of=of,
            ready=self._numbers(value.get("ready", {}), f"{base}.ready"),
            left=self._numbers(value.get("left", {}), f"{base}.left"),
            broken_budgets=numbers.get("brokenBudgets"),
            not_evicted=numbers.get("notEvicted"),
            settled_within=None if within is None else self._duration(within, f"{base}.settledWithin"),
        )

    def _numbers(self, value: Any, where: str) -> dict[str, int]:
        given = self.mapping(value, where)
        return {name: self.number(each, f"{where}[{name}]") for name, each in given.items()}

    def _duration(self, value: Any, where: str) -> float:
        try:
            return read_wait(self.string(value, where), "settledWithin").seconds
        except UsageError as error:
            raise self.error(str(error), where) from None
