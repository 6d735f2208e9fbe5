"""Custom resources → the built-in objects that make pods like theirs, by a table of data; it places no pod.

`custom_kinds.yaml` beside this file is the table; ``kinds`` of a project's ``.topospread.yaml`` adds to it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, Final, NamedTuple

import msgspec

from topospread.errors import ConfigError, Place
from topospread.text import listed
from topospread.whole_number import whole_number

from .files import Source, read_text
from .positions import parse_path
from .roots import check_link, upwards
from .text import Text
from .yaml import read_documents

# The parts of an object of unknown kind that are about pods: templates, pod specs, spread constraints at any depth.
# A controller that nobody here knows makes the pods: it may add labels, constraints and selectors of its own.

CONSTRAINTS: Final = "topologySpreadConstraints"
_DEPTH: Final = 24
_SCHEMAS: Final = frozenset({"CustomResourceDefinition", "ConstraintTemplate"})
"""Kinds that describe others."""


class PodPart(NamedTuple):
    """A part of an object that is about pods.

    Attributes:
        path: of the pods' spec, or of what holds the constraints.
        spec: what stands there.
        labels: the pods' labels as far as they are written; None where no template says them.
        labels_path: where those stand.
    """

    path: str
    spec: Mapping[str, Any]
    labels: Mapping[str, Any] | None
    labels_path: str

    @property
    def is_pod(self) -> bool:
        """True if this is a whole pod's spec, and not only constraints."""
        return _has_containers(self.spec)


def pod_parts(value: Mapping[str, Any]) -> list[PodPart]:
    """The parts of an object, in its order; none of one that describes other kinds."""
    return [] if value.get("kind") in _SCHEMAS else list(_inside(value, "", _DEPTH))


def _inside(value: Any, path: str, depth: int) -> Iterator[PodPart]:
    if depth == 0:
        return
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from _inside(each, f"{path}[{index}]", depth - 1)
    elif isinstance(value, Mapping):
        for key, each in value.items():
            way = f"{path}.{key}" if path else str(key)
            if isinstance(each, Mapping) and (_has_containers(each) or isinstance(each.get(CONSTRAINTS), list)):
                yield _part(value, str(key), each, path)
            else:
                yield from _inside(each, way, depth - 1)


def _part(above: Mapping[str, Any], key: str, spec: Mapping[str, Any], path: str) -> PodPart:
    metadata = above.get("metadata") if key == "spec" and path else None
    labels = metadata.get("labels") if isinstance(metadata, Mapping) else None
    way = f"{path}.{key}" if path else key
    return PodPart(way, spec, labels if isinstance(labels, Mapping) else None, f"{path}.metadata.labels")


def _has_containers(spec: Mapping[str, Any]) -> bool:
    containers = spec.get("containers")
    return isinstance(containers, list) and any(
        isinstance(each, Mapping) and ("image" in each or "name" in each) for each in containers
    )


SETTINGS: Final = (".topospread.yaml", ".topospread.yml")
_MOST: Final = 1_000
"""So many objects are made of one at most."""
MADE_OF: Final = "topospread.dev/made-of"
"""Annotation of what stands in for a custom resource whose replicas are its own: ``group/Kind/name``."""
_ADDED_BY_PROMETHEUS: Final = "additionalLabelSelectors"


class CustomKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """The way in which one kind's controller makes pods.

    Paths are written as the API server writes them (``spec.template``, ``metadata.annotations[a.b/c]``), from the
    object or, with ``each``, from an item of that list. Texts may hold ``{name}``, ``{each}`` (the item's name, or its
    number where it has none) and ``{copy}``.

    Attributes:
        group, kind: of the custom resource, whatever its version.
        as_: the built-in kind that makes pods as its controller does.
        name: of what is made.
        each: path of a list: something is made of every item.
        copies: path of how many are made, 1 where nothing stands there.
        template: path of the pods' template, or several, of which the first counts that is there.
        spec: field of the pods' spec (``affinity.nodeAffinity``) → path of its value, where there is no template.
        resources: path of what the pods' container requests, likewise.
        defaults: field of the pods' spec, or ``resources`` → what the controller puts there where nothing is said.
        replicas: path of the number of pods, 1 where nothing stands there.
        less: so many fewer.
        first: the number of the first pod.
        selector: path of the selector.
        labels: what the controller adds to the pods' labels.
    """

    group: str
    kind: str
    as_: str = msgspec.field(name="as")
    name: str = "{name}"
    each: str = ""
    copies: str = ""
    template: str | list[str] = ""
    spec: dict[str, str] = {}
    resources: str = ""
    defaults: dict[str, Any] = {}
    replicas: str = ""
    less: int = 0
    first: int = 0
    selector: str = ""
    labels: dict[str, str] = {}


Kinds = Mapping[tuple[str, str], Sequence[CustomKind]]
"""API group and kind → how its pods are made."""

_BUILT_IN: Final = {
    "ReplicaSet": "apps/v1",
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "Job": "batch/v1",
    "Pod": "v1",
}


def parse_kinds(value: Any, place: Place) -> Kinds:
    """The kinds that a list describes.

    Raises:
        ConfigError: it is no such list.
    """
    try:
        listed = msgspec.convert(value, list[CustomKind])
    except msgspec.ValidationError as error:
        raise ConfigError(f"kinds: {error}", place) from None
    found: dict[tuple[str, str], list[CustomKind]] = {}
    for each in listed:
        if each.as_ not in _BUILT_IN:
            raise ConfigError(f"kinds: {each.kind}: as: {each.as_}: there are {', '.join(_BUILT_IN)}", place)
        if not each.template and not each.spec:
            raise ConfigError(f"kinds: {each.kind}: template or spec is missing", place)
        found.setdefault((each.group, each.kind), []).append(each)
    return found


@cache
def shipped_kinds() -> Kinds:
    """Return the kinds known without a project's own."""
    data = resources.files(__package__).joinpath("custom_kinds.yaml").read_bytes()
    (document,) = read_documents(Text("custom_kinds.yaml", data))
    return parse_kinds(document.value["kinds"], Place("custom_kinds.yaml"))


def find_kinds(folder: str = ".") -> Kinds:
    """Return the known kinds, with those of the nearest ``.topospread.yaml`` from a folder up to its repository.

    Raises:
        InputError: if the file cannot be read, or its kinds are invalid.
    """
    for above in upwards(folder):
        for path in (os.path.join(above, name) for name in SETTINGS):
            if os.path.isfile(path):
                check_link(path)
                shown = os.path.relpath(path)
                documents = [each.value for each in read_documents(read_text(Source(shown, None)))]
                whole = documents[0] if documents else None
                given = whole.get("kinds") if isinstance(whole, dict) else None
                return {**shipped_kinds(), **parse_kinds(given or [], Place(shown))}
    return shipped_kinds()


def made_of(value: Mapping[str, Any], how: CustomKind, namespace: str) -> Iterator[dict[str, Any]]:
    """The built-in objects that make an object's pods, as plain data; none where no template is there.

    Args:
        value: the custom resource.
        how: its kind.
        namespace: where it goes.
    """
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    if not isinstance(name, str):
        return
    every = _at(value, how.each) if how.each else [value]
    for number, of in enumerate(every if isinstance(every, list) else ()):
        template = _template(of, how, name) if isinstance(of, Mapping) else None
        for copy in range(min(_number(of, how.copies), _MOST)) if template is not None else ():
            words = {"name": name, "each": str(of.get("name") or number), "copy": str(copy)}
            words["made of"] = "" if how.each or how.copies or how.less else f"{how.group}/{how.kind}/{name}"
            yield from _made(of, how, _labelled(template or {}, how, words), {**words, "namespace": namespace})


def _made(
    of: Mapping[str, Any], how: CustomKind, template: dict[str, Any], words: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    name, replicas = _filled(how.name, words), max(_number(of, how.replicas) - how.less, 0)
    head = {"apiVersion": _BUILT_IN[how.as_], "kind": how.as_}
    place: dict[str, Any] = {"namespace": words["namespace"]}
    if words["made of"]:
        place["annotations"] = {MADE_OF: words["made of"]}
    labels = template["metadata"]["labels"]
    if how.as_ == "Pod":
        for number in range(how.first, how.first + min(replicas, _MOST)):
            yield {
                **head,
                "metadata": {**place, "name": f"{name}-{number}", "labels": labels},
                "spec": template["spec"],
            }
        return
    spec: dict[str, Any] = {"template": template}
    if how.as_ == "Job":
        template["spec"].setdefault("restartPolicy", "Never")
        spec |= {"parallelism": replicas, "completions": replicas}
    else:
        selector = _at(of, how.selector) if how.selector else None
        spec |= {"replicas": replicas, "selector": selector or {"matchLabels": labels}}
    if how.as_ == "StatefulSet":
        spec |= {"serviceName": name, "podManagementPolicy": "Parallel"}
        spec |= {"ordinals": {"start": how.first}} if how.first else {}
    yield {**head, "metadata": {**place, "name": name}, "spec": spec}


def _template(of: Mapping[str, Any], how: CustomKind, name: str) -> dict[str, Any] | None:
    """The pods' template as it is written, or made up of fields and what stands in their place by default."""
    for path in [how.template] if isinstance(how.template, str) else how.template:
        found = _at(of, path) if path else None
        if isinstance(found, Mapping) and isinstance(found.get("spec"), Mapping):
            return dict(found)
    if not how.spec:
        return None
    said = {"resources": how.resources, **how.spec} if how.resources else how.spec
    values = {field: found for field, path in said.items() if (found := _at(of, path)) is not None}
    spec: dict[str, Any] = {}
    for field, value in {**_filled_in(how.defaults, {"name": name}), **values}.items():
        # Set a nested field in copies: the source of the values must not change.
        into = spec
        *above, last = [str(step) for step in parse_path(field)] or [field]
        for step in above:
            there = into.get(step)
            into[step] = dict(there) if isinstance(there, Mapping) else {}
            into = into[step]
        into[last] = value
    constraints = spec.get("topologySpreadConstraints")
    if isinstance(constraints, list):
        spec["topologySpreadConstraints"] = [
            {key: each[key] for key in each if key != _ADDED_BY_PROMETHEUS} if isinstance(each, Mapping) else each
            for each in constraints
        ]
    container = {"name": how.kind.lower(), "image": how.kind.lower()}
    requested = spec.pop("resources", None)
    return {"spec": {**spec, "containers": [container | ({"resources": requested} if requested else {})]}}


def _labelled(template: Mapping[str, Any], how: CustomKind, words: Mapping[str, str]) -> dict[str, Any]:
    """The template with the labels that the controller adds."""
    given = template.get("metadata")
    metadata = dict(given) if isinstance(given, Mapping) else {}
    own, added = metadata.get("labels") or {}, {key: _filled(text, words) for key, text in how.labels.items()}
    # Labels of another type are left as they are: the API server's rules for the pods refuse them.
    metadata["labels"] = own | added or {"topospread.dev/made-by": words["name"]} if isinstance(own, dict) else own
    return {"metadata": metadata, "spec": {name: _mounting_nothing(each) for name, each in template["spec"].items()}}


def _mounting_nothing(value: Any) -> Any:
    """Containers without their mounts: what they name may come from claim templates of the custom resource's own."""
    if not isinstance(value, list):
        return value
    mounts = ("volumeMounts", "volumeDevices")
    return [{k: v for k, v in each.items() if k not in mounts} if isinstance(each, Mapping) else each for each in value]


def _filled_in(value: Any, words: Mapping[str, str]) -> Any:
    """Plain data with the words in its texts."""
    if isinstance(value, Mapping):
        return {key: _filled_in(each, words) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled_in(each, words) for each in value]
    return _filled(value, words) if isinstance(value, str) else value


def _filled(text: str, words: Mapping[str, str]) -> str:
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", word)
    return text


def _number(of: Any, path: str) -> int:
    """A number at a path, be it written as a text; 1 where none stands there."""
    found = _at(of, path) if path else None
    number = whole_number(str(found).strip())
    return 1 if number is None else number


def _at(value: Any, path: str) -> Any:
    for step in parse_path(path):
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value


_NAMED: Final = 3


def notes_on_custom(custom: Mapping[str, str], unknown: Sequence[str]) -> list[str]:
    """Return notes on custom resources: whose pods are simulated, and whose are not known.

    Args:
        custom: the name of each whose pods are known → the built-in kind that makes such pods.
        unknown: the names of those that hold pods nobody knows the number of.
    """
    notes = []
    if custom:
        named = [f"{name} (as {'an' if kind[0] in 'AEIOU' else 'a'} {kind})" for name, kind in custom.items()]
        notes.append(f"custom resources whose pods are simulated: {listed(named, _NAMED)}")
    if unknown:
        of = listed(dict.fromkeys(unknown), _NAMED)
        notes.append(f"the pods of {of} are not known; `kinds` in .topospread.yaml can describe them")
    return notes
