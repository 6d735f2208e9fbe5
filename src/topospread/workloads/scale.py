"""``--scale [NAMESPACE/]KIND/NAME=N``: which controllers are meant; what follows from it is the planners'.

Kinds are written as kubectl takes them: ``deployment``, ``deployments``, ``deploy``, ``deployment.apps``, whatever
the case. Without a namespace the name must be found in one namespace only. Of a Job it is the parallelism.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches

from topospread.api.inventory import ObjectKey
from topospread.errors import UsageError

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


def scaled(scale: Mapping[str, int], controllers: Collection[ObjectKey]) -> dict[ObjectKey, int]:
    """What was asked for, by the controllers of the input.

    Raises:
        UsageError: a target that is not there, or in several namespaces; a kind that has no replicas; a negative
            number; one controller twice.
    """
    found: dict[ObjectKey, int] = {}
    for target, replicas in scale.items():
        key = _target(target, controllers)
        if key in found:
            raise UsageError(f"--scale {target}={replicas}: {short_target(key)} is scaled twice")
        if replicas < 0:
            raise UsageError(f"--scale {target}={replicas}: replicas cannot be negative")
        found[key] = replicas
    return found


def requested_runs(names: Iterable[str], cron_jobs: Collection[ObjectKey]) -> set[ObjectKey]:
    """The CronJobs that are to run once: ``NAME``, ``NAMESPACE/NAME``, with or without ``cronjob/`` before the name.

    Raises:
        UsageError: one that is not there, or in several namespaces.
    """
    runs: set[ObjectKey] = set()
    for text in names:
        parts = [part for part in text.split("/") if KIND_OF.get(part.lower()) != "CronJob" or part == text]
        if len(parts) > 2:
            raise UsageError(f'"{text}" names no CronJob: write [NAMESPACE/]NAME')
        runs.add(_the_one(text, ("CronJob", "/".join(parts[:-1]), parts[-1]), cron_jobs))
    return runs


def the_workload(target: str, there: Collection[ObjectKey]) -> ObjectKey:
    """The workload that ``[NAMESPACE/]KIND/NAME`` means.

    Raises:
        UsageError: it is not of this form, is not there, or is in several namespaces.
    """
    parts = target.split("/")
    kind = KIND_OF.get(parts[-2].partition(".")[0].lower()) if len(parts) in (2, 3) else None
    if kind is None or not parts[-1]:
        raise UsageError(f"{target}: write [NAMESPACE/]KIND/NAME")
    return _the_one(target, (kind, "/".join(parts[:-2]), parts[-1]), there)


def _target(target: str, controllers: Collection[ObjectKey]) -> ObjectKey:
    parts = target.split("/")
    named = [key for key in controllers if key[2] == target and key[0] not in ("DaemonSet", "CronJob")]
    if len(named) == 1:
        return named[0]
    if named:
        raise UsageError(f"--scale {target}: {target} is {' and '.join(map(short_target, named))}: say which")
    kind = KIND_OF.get(parts[-2].partition(".")[0].lower()) if len(parts) in (2, 3) else None
    if kind is None or not parts[-1]:
        raise UsageError(f"--scale {target}: write [NAMESPACE/]KIND/NAME=N, where KIND is {_SCALABLE}")
    if kind == "DaemonSet":
        raise UsageError(f"--scale {target}: a DaemonSet has a pod on each node it selects and cannot be scaled")
    if kind == "CronJob":
        raise UsageError(f"--scale {target}: a CronJob has no replicas; KIND is {_SCALABLE}")
    return _the_one(f"--scale {target}", (kind, "/".join(parts[:-2]), parts[-1]), controllers)


def _the_one(option: str, wanted: ObjectKey, there: Collection[ObjectKey]) -> ObjectKey:
    kind, namespace, name = wanted
    found = [key for key in there if key[0] == kind and key[2] == name and namespace in ("", key[1])]
    if len(found) == 1:
        return found[0]
    if found:
        where = ", ".join(short_target(key) for key in found)
        raise UsageError(f"{option}: there are several, name one of {where}")
    shown = {short_target(key): key for key in there if key[0] == kind}
    names = {key[2]: text for text, key in shown.items()}
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"; did you mean {names[near[0]]}?" if near else "; there is none of this kind" * (not shown)
    if shown and not near:
        hint = f"; there is {', '.join(list(shown)[:5])}" + (" …" if len(shown) > 5 else "")
    where = f" in namespace {namespace}" if namespace else ""
    raise UsageError(f"{option}: there is no {kind} {name}{where}{hint}")


def short_target(key: ObjectKey) -> str:
    """``shop/deploy/web``, as commands take it."""
    return f"{key[1]}/{_SHORT[key[0]]}/{key[2]}"
