"""Paths → the objects that are linted, each with its place, and their pods or pod templates; judges nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from topospread.api.labels import Selector
from topospread.api.meta import KubeObject
from topospread.api.pod import Pod, PodSpec
from topospread.api.spread import TopologySpreadConstraint
from topospread.api.workload import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from topospread.errors import DecodeError
from topospread.sources.files import find_sources, read_text
from topospread.sources.json_list import JsonList
from topospread.sources.json_text import looks_like_json, read_value, split_documents
from topospread.sources.spots import Spot
from topospread.sources.text import Text
from topospread.sources.yaml import read_documents

HASH = "pod-template-hash"
_WITH_REPLICAS = (Deployment, ReplicaSet, StatefulSet, ReplicationController)


@dataclass(frozen=True, slots=True)
class PodSource:
    """A pod, or the template of an object's pods.

    Attributes:
        item: the object.
        path: path of the pod's spec in the object.
        labels: the pods' labels.
        spec: the pods' spec.
        replicas: how many pods there will be; None when the object does not say.
    """

    item: KubeObject
    path: str
    labels: dict[str, str]
    spec: PodSpec
    replicas: int | None

    def constraints(self) -> Iterator[tuple[str, TopologySpreadConstraint]]:
        """The topology spread constraints, each with its path."""
        for index, constraint in enumerate(self.spec.topology_spread_constraints or ()):
            yield f"{self.path}.topologySpreadConstraints[{index}]", constraint


def read_values(paths: Sequence[str], stdin: BinaryIO | None = None) -> Iterator[tuple[dict[str, Any], Spot]]:
    """The objects of files and folders as plain data, lists taken apart.

    Raises:
        InputError: a path cannot be read, or what stands there is no object.
    """
    for path in paths:
        for source in find_sources(path):
            for value, spot in _documents(read_text(source, stdin)):
                yield from _objects(value, spot)


def _documents(text: Text) -> Iterator[tuple[Any, Spot]]:
    if looks_like_json(text):
        try:
            spans = split_documents(text)
        except DecodeError:
            spans = []  # YAML may begin with a brace; if it is broken JSON, the YAML reader says so.
        if spans:
            for start, end in spans:
                yield read_value(text, start, end), Spot(text, start=start, end=end)
            return
    for document in read_documents(text):
        yield document.value, Spot(text, document.number, document.line)


def _objects(value: Any, spot: Spot) -> Iterator[tuple[dict[str, Any], Spot]]:
    if value is None:
        return
    if not isinstance(value, dict):
        raise DecodeError("expected an object with apiVersion and kind", spot.place())
    kind, items = value.get("kind"), value.get("items")
    if not (isinstance(kind, str) and kind.endswith("List") and isinstance(items, list)):
        yield value, spot
        return
    listed = JsonList.at(spot) if spot.document is None else None
    of = {"kind": kind.removesuffix("List"), "apiVersion": value.get("apiVersion")} if kind != "List" else {}
    for index, item in enumerate(items):
        typed = {**of, **item} if isinstance(item, dict) else item
        yield from _objects(typed, listed.spot_of(index) if listed else spot.item("items", index))


def pod_source(item: KubeObject) -> PodSource | None:
    """The pods that an object is or makes; None for kinds that make none."""
    if isinstance(item, Pod):
        return PodSource(item, "spec", item.labels, item.spec, 1)
    if isinstance(item, CronJob):
        template, path = item.spec.job_template.spec.template, "spec.jobTemplate.spec.template.spec"
    elif isinstance(item, (*_WITH_REPLICAS, DaemonSet, Job)):
        if item.spec.template is None:
            return None
        template, path = item.spec.template, "spec.template.spec"
    else:
        return None
    return PodSource(item, path, template.metadata.labels or {}, template.spec, _replicas(item))


def _replicas(item: KubeObject) -> int | None:
    """Replicas as the API server defaults them; None where nodes or runs decide."""
    if isinstance(item, _WITH_REPLICAS):
        return 1 if item.spec.replicas is None else item.spec.replicas
    return None


def own_selector(constraint: TopologySpreadConstraint) -> Selector:
    """What a constraint's author wrote: since 1.34 the API server adds matchLabelKeys to it, which is left out here.

    Raises:
        InvalidSelectorError: the selector does not compile.
    """
    compiled = Selector.from_label_selector(constraint.label_selector)
    if compiled.selects_nothing:
        return compiled
    keys = constraint.match_label_keys or ()
    return Selector(tuple(each for each in compiled.requirements if each.key not in keys))
