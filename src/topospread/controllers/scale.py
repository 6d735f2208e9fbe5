"""Targets of ``--scale [NAMESPACE/]KIND/NAME=N`` and their controllers.

KIND is a name that kubectl accepts, in upper or lower case: ``deployment``, ``deployments``, ``deploy`` or
``deployment.apps``. A NAME without a namespace must exist in one namespace only. For a Job, N is the parallelism.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from topospread.errors import UsageError
from topospread.text import did_you_mean
from topospread.whole_number import whole_number

if TYPE_CHECKING:
    from topospread.api.inventory import ObjectKey

_KINDS: Mapping[str, tuple[str, ...]] = {
    "Deployment": ("deployment", "deployments", "deploy"),
    "ReplicaSet": ("replicaset", "replicasets", "rs"),
    "ReplicationController": ("replicationcontroller", "replicationcontrollers", "rc"),
    "StatefulSet": ("statefulset", "statefulsets", "sts"),
    "DaemonSet": ("daemonset", "daemonsets", "ds"),
    "Job": ("job", "jobs"),
    "CronJob": ("cronjob", "cronjobs", "cj"),
}
KIND_OF = {alias: kind for kind, aliases in _KINDS.items() for alias in aliases}
_SHORT = {kind: aliases[0] for kind, aliases in _KINDS.items()}
_SCALABLE = "deployment, replicaset, replicationcontroller, statefulset or job"


def read_scale(text: str, option: str) -> tuple[str, int]:
    """Return the target and the replicas of ``deploy/web=30``.

    Raises:
        UsageError: if it is not of this form.
    """
    target, equals, number = text.rpartition("=")
    replicas = whole_number(number)
    if not equals or replicas is None:
        raise UsageError(f"{option} {text}: write it as [NAMESPACE/]KIND/NAME=REPLICAS, for example deploy/web=30")
    return target, replicas


def scaled(scale: Mapping[str, int], controllers: Collection[ObjectKey]) -> dict[ObjectKey, int]:
    """Return the requested replicas of the input's controllers.

    Raises:
        UsageError: if a target is missing, is in several namespaces, has no replicas or is named twice, or if N is
            negative.
    """
    found: dict[ObjectKey, int] = {}
    for target, replicas in scale.items():
        key = _scalable(target, controllers)
        if key in found:
            raise UsageError(f"--scale {target}={replicas}: {short_target(key)} is scaled twice")
        if replicas < 0:
            raise UsageError(f"--scale {target}={replicas}: replicas cannot be negative")
        found[key] = replicas
    return found


def requested_runs(names: Iterable[str], cron_jobs: Collection[ObjectKey]) -> set[ObjectKey]:
    """Return the CronJobs that run once: ``NAME``, ``NAMESPACE/NAME``, with or without ``cronjob/`` before the name.

    Raises:
        UsageError: if a CronJob is missing or is in several namespaces.
    """
    runs: set[ObjectKey] = set()
    for text in names:
        parts = [part for part in text.split("/") if KIND_OF.get(part.lower()) != "CronJob" or part == text]
        if len(parts) > 2:
            raise UsageError(f'"{text}" names no CronJob: write [NAMESPACE/]NAME')
        runs.add(_the_one(text, ("CronJob", "/".join(parts[:-1]), parts[-1]), cron_jobs))
    return runs


def in_namespace(target: str, namespace: str | None) -> str:
    """Return ``[KIND/]NAME`` with the namespace, unless the target names one already."""
    *before, _ = target.split("/")
    is_bare = not before or (len(before) == 1 and before[0].partition(".")[0].lower() in {*KIND_OF, "hpa"})
    return f"{namespace}/{target}" if namespace and is_bare else target


def the_workload(
    target: str, there: Collection[ObjectKey], namespace: str | None = None, *, option: str = ""
) -> ObjectKey:
    """Return the workload of ``[NAMESPACE/]KIND/NAME``, or of ``[NAMESPACE/]NAME`` if the name is unique.

    Args:
        target: the user's text.
        there: kind, namespace and name of each workload of the input.
        namespace: default namespace; without one, all namespaces are searched.
        option: name of the option, for messages.

    Raises:
        UsageError: if the target has another form, is missing, or is in several namespaces.
    """
    *before, name = target.split("/")
    kind = KIND_OF.get(before[-1].partition(".")[0].lower()) if before else None
    space = "/".join(before if kind is None else before[:-1]) or namespace or ""
    said = f"{option} {target}: " if option else ""
    if not name or "/" in space or (kind is None and len(before) > 1):
        raise UsageError(f"{said or f'{target}: '}write [NAMESPACE/]KIND/NAME")
    if kind is None:
        named = [key for key in there if key[2] == name and space in ("", key[1]) and key[0] in _SHORT]
        if len(named) > 1:
            raise UsageError(f"{said}{target} is {' and '.join(map(short_target, named))}: say which")
        if not named:
            every = [key for key in there if key[0] in _SHORT]
            inside = [key for key in every if space in ("", key[1])]
            hint = _hint(name, every, inside or every)
            raise UsageError(f"{said}workload {name} not found{f' in namespace {space}' if space else ''}{hint}")
        return named[0]
    return _the_one(f"{option} {target}".lstrip(), (kind, space, name), there)


def _scalable(target: str, controllers: Collection[ObjectKey]) -> ObjectKey:
    fixed = ("DaemonSet", "CronJob")
    kind = KIND_OF.get(target.rpartition("/")[0].rpartition("/")[2].lower())
    if kind == "DaemonSet":
        raise UsageError(f"--scale {target}: a DaemonSet has a pod on each node it selects and cannot be scaled")
    if kind == "CronJob":
        raise UsageError(f"--scale {target}: a CronJob has no replicas; KIND is {_SCALABLE}")
    return the_workload(target, [key for key in controllers if key[0] not in fixed], option="--scale")


def _the_one(option: str, wanted: ObjectKey, there: Collection[ObjectKey]) -> ObjectKey:
    kind, namespace, name = wanted
    found = [key for key in there if key[0] == kind and key[2] == name and namespace in ("", key[1])]
    if len(found) == 1:
        return found[0]
    if found:
        where = ", ".join(short_target(key) for key in found)
        raise UsageError(f"{option}: several workloads match; use one of {where}")
    of_kind = [key for key in there if key[0] == kind]
    hint = _hint(name, of_kind, of_kind) or f"; the input has no {kind}"
    where = f" in namespace {namespace}" if namespace else ""
    raise UsageError(f"{option}: {kind} {name} not found{where}{hint}")


def _hint(name: str, known: Sequence[ObjectKey], others: Sequence[ObjectKey]) -> str:
    """Return a hint for an unknown name: the workload with a similar name, else the names of some workloads."""
    names = [short_target(key) for key in others]
    some = f"the input has {', '.join(names[:5])}{' …' * (len(names) > 5)}" if names else ""
    return did_you_mean(name, {key[2]: short_target(key) for key in reversed(known)}, some, cutoff=0.5)


def short_target(key: ObjectKey) -> str:
    """Return the target as commands accept it: ``shop/deploy/web``."""
    return f"{key[1]}/{_SHORT[key[0]]}/{key[2]}"
