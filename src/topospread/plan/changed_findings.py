"""Lint the objects that differ between two states of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from io import BytesIO

import msgspec

from topospread.api.inventory import Inventory
from topospread.api.meta import KubeObject
from topospread.controllers.ownership import Owners
from topospread.lint.reading import Question
from topospread.lint.rule import Finding
from topospread.lint.run import run
from topospread.simulation.options import SimulationOptions
from topospread.sources.files import STANDARD_INPUT

_WRITTEN = (
    *("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "CronJob", "Pod"),
    *("PodDisruptionBudget", "HorizontalPodAutoscaler"),
)
"""Kinds that users write, although controllers create some of their objects."""


def changed_findings(
    inventories: tuple[Inventory, Inventory],
    options: SimulationOptions,
    namespace: str,
    paths: Sequence[str] = (),
) -> tuple[tuple[list[Finding], list[Finding]], tuple[str, ...]]:
    """Return ((findings before, findings after), labels of new workloads that lint did not place).

    Args:
        inventories: the objects before and after.
        options: the control plane.
        namespace: namespace of objects without one.
        paths: files of the new objects, which locate findings; by default the objects are linted without files.
    """
    written = [{_key(each): each for each in _written(side)} for side in inventories]
    changed = {key for key in {*written[0], *written[1]} if written[0].get(key) != written[1].get(key)}
    labels = {f"{kind} {scope}/{called}" for kind, scope, called in changed}
    found: list[list[Finding]] = []
    left_out: tuple[str, ...] = ()
    for at, (side, cluster) in enumerate(zip(written, inventories, strict=True)):
        own = [item for key, item in side.items() if key in changed]
        by_files = bool(at and paths)
        if not own:
            found.append([])
            continue
        question = Question(
            paths=paths if by_files else [STANDARD_INPUT],
            config=options.config,
            kube_version=options.kube_version,
            namespace=namespace,
            applied=by_files,
        )
        report = run(question, None if by_files else _list(own), cluster=cluster)
        own_findings = [each for each in report.findings if each.place.object in labels]
        found.append(own_findings if by_files else [_without_file(each) for each in own_findings])
        left_out = tuple(report.given.effort.left_out) if at else ()
    return (found[0], found[1]), left_out


def _list(items: Iterable[KubeObject]) -> BytesIO:
    listed = {"apiVersion": "v1", "kind": "List", "items": [msgspec.to_builtins(each) for each in items]}
    return BytesIO(msgspec.json.encode(listed))


def _without_file(finding: Finding) -> Finding:
    place = replace(finding.place, source="the cluster", document=None, line=None, column=None)
    return replace(finding, place=place)


def _written(side: Inventory) -> list[KubeObject]:
    found = [each for each in side.objects() if type(each).__name__ in _WRITTEN]
    owners = Owners((type(each).__name__, each) for each in found)
    return [each for each in found if not owners.created(each)]


def _key(item: KubeObject) -> tuple[str, str, str]:
    return type(item).__name__, item.namespace or "default", item.name
