"""The parts of an object of unknown kind that are about pods: templates, pod specs, spread constraints at any depth.

A controller that nobody here knows makes the pods: it may add labels, constraints and selectors of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

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
