"""Convert custom resources to built-in objects that create equivalent pods.

The table is `custom_kinds.yaml` in this folder; ``kinds`` in a project's ``.topospread.yaml`` extends it.
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
from .roots import has_file, upwards
from .text import Text
from .yaml import read_documents

# Pod-related parts of a custom resource: pod templates, pod specs, and spread constraints at any depth.

CONSTRAINTS: Final = "topologySpreadConstraints"
_DEPTH: Final = 24
_SCHEMAS: Final = frozenset({"CustomResourceDefinition", "ConstraintTemplate"})
"""Kinds whose objects describe other kinds."""


class PodPart(NamedTuple):
    """A pod-related part of an object.

    Attributes:
        path: path of the pod spec, or of the parent of the constraints.
        labels: the pods' written labels; None without a template.
    """

    path: str
    spec: Mapping[str, Any]
    labels: Mapping[str, Any] | None
    labels_path: str

    @property
    def is_pod(self) -> bool:
        """True if this is a complete pod spec, not only constraints."""
        return _has_containers(self.spec)


def pod_parts(value: Mapping[str, Any]) -> list[PodPart]:
    """Return the pod-related parts of an object, in order; empty for objects that describe other kinds."""
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
"""Maximum number of objects created from one custom resource."""
_LONGEST_TEXT: Final = 10_000
MADE_OF: Final = "topospread.dev/made-of"
"""Annotation of an object that replaces a scalable custom resource: ``group/Kind/name``."""
_ADDED_BY_PROMETHEUS: Final = "additionalLabelSelectors"


class CustomKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """The way in which the controller of a custom resource creates pods.

    Paths use the API server's syntax (``spec.template``, ``metadata.annotations[a.b/c]``). They start at the object or,
    with ``each``, at an item of that list. Texts may contain ``{name}``, ``{each}`` (the item's name or number) and
    ``{copy}``.

    Attributes:
        as_: the built-in kind that creates equivalent pods.
        each: path of a list; an object is created for each item.
        copies: path of the number of objects to create, 1 by default.
        template: path of the pod template, or several paths, of which the first existing one is used.
        spec: field of the pods' spec (``affinity.nodeAffinity``) → path of its value, for kinds without a template.
        resources: path of the container's resources, for kinds without a template.
        defaults: field of the pods' spec, or ``resources`` → the controller's default.
        replicas: path of the number of pods, 1 by default.
        less: number to subtract from the replicas.
        first: ordinal of the first pod.
        labels: labels that the controller adds to the pods.
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
"""(API group, kind) → how its pods are created."""

_BUILT_IN: Final = {
    "ReplicaSet": "apps/v1",
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "Job": "batch/v1",
    "Pod": "v1",
}


def parse_kinds(value: Any, place: Place) -> Kinds:
    """Parse a list of custom kinds. Raise ConfigError if it is invalid."""
    try:
        listed = msgspec.convert(value, list[CustomKind])
    except msgspec.ValidationError as error:
        raise ConfigError(f"kinds: {error}", place) from None
    found: dict[tuple[str, str], list[CustomKind]] = {}
    for each in listed:
        if each.as_ not in _BUILT_IN:
            raise ConfigError(f"kinds: {each.kind}: as: {each.as_}: use one of {', '.join(_BUILT_IN)}", place)
        if not each.template and not each.spec:
            raise ConfigError(f"kinds: {each.kind}: add template or spec", place)
        found.setdefault((each.group, each.kind), []).append(each)
    return found


@cache
def shipped_kinds() -> Kinds:
    """Return the built-in table of custom kinds."""
    data = resources.files(__package__).joinpath("custom_kinds.yaml").read_bytes()
    (document,) = read_documents(Text("custom_kinds.yaml", data))
    return parse_kinds(document.value["kinds"], Place("custom_kinds.yaml"))


def find_kinds(folder: str = ".") -> Kinds:
    """Return the known custom kinds, with those of the nearest ``.topospread.yaml`` up to the repository's root."""
    for above in upwards(folder):
        for path in (os.path.join(above, name) for name in SETTINGS):
            if has_file(path):
                shown = os.path.relpath(path)
                documents = [each.value for each in read_documents(read_text(Source(shown, None)))]
                whole = documents[0] if documents else None
                given = whole.get("kinds") if isinstance(whole, dict) else None
                return {**shipped_kinds(), **parse_kinds(given or [], Place(shown))}
    return shipped_kinds()


def made_of(value: Mapping[str, Any], how: CustomKind, namespace: str) -> Iterator[dict[str, Any]]:
    """Yield built-in objects that create a custom resource's pods; none if it has no pod template."""
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
    """Return the pod template, either as written or built from fields and defaults."""
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
        # Set nested fields in copies: the input must not change.
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
    given = template.get("metadata")
    metadata = dict(given) if isinstance(given, Mapping) else {}
    own, added = metadata.get("labels") or {}, {key: _filled(text, words) for key, text in how.labels.items()}
    # Labels of the wrong type stay: the validation of the pods rejects them.
    metadata["labels"] = own | added or {"topospread.dev/made-by": words["name"]} if isinstance(own, dict) else own
    return {"metadata": metadata, "spec": {name: _mounting_nothing(each) for name, each in template["spec"].items()}}


def _mounting_nothing(value: Any) -> Any:
    """Return containers without volume mounts, because claim templates of the custom resource are not read."""
    if not isinstance(value, list):
        return value
    mounts = ("volumeMounts", "volumeDevices")
    return [{k: v for k, v in each.items() if k not in mounts} if isinstance(each, Mapping) else each for each in value]


def _filled_in(value: Any, words: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _filled_in(each, words) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled_in(each, words) for each in value]
    return _filled(value, words) if isinstance(value, str) else value


def _filled(text: str, words: Mapping[str, str]) -> str:
    for name, word in words.items():
        placeholder = f"{{{name}}}"
        if text.count(placeholder) * len(word) > _LONGEST_TEXT:
            raise ConfigError(f"kinds: a text with {placeholder} is longer than {_LONGEST_TEXT} characters; cut it")
        text = text.replace(placeholder, word)
    return text


def _number(of: Any, path: str) -> int:
    """Return the number at a path, also if it is a string; 1 if it is missing."""
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
    """Return notes on custom resources with simulated pods, and on those with unknown pods.

    Args:
        custom: custom resource with known pods → the equivalent built-in kind.
        unknown: custom resources with an unknown number of pods.
    """
    notes = []
    if custom:
        named = [f"{name} (as {'an' if kind[0] in 'AEIOU' else 'a'} {kind})" for name, kind in custom.items()]
        notes.append(f"custom resources whose pods are simulated: {listed(named, _NAMED)}")
    if unknown:
        of = listed(dict.fromkeys(unknown), _NAMED)
        notes.append(f"the pods of {of} are not known; `kinds` in .topospread.yaml can describe them")
    return notes
