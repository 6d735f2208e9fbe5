"""Parse the pods to add: workloads with their replicas per round, or a pod's manifest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_fields
from fractions import Fraction
from math import ceil
from typing import Final

from msgspec.structs import replace

from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.pod import Pod
from topospread.controllers.draft import quota_refusal, refused_words
from topospread.controllers.planned import Plan, QueuedPod, Workload
from topospread.controllers.scale import in_namespace, short_target, the_workload
from topospread.errors import InputError, Place, UsageError
from topospread.whole_number import whole_number

_SCALABLE = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "Job")


@dataclass(frozen=True, slots=True)
class Share:
    """A workload ``[NAMESPACE/]KIND/NAME``, and its replicas per round."""

    target: str
    number: int = 1


_MOST_MORE = 1_000_000
_PERCENTAGE: Final = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{0,9})?)\s*%")


def read_shares(texts: Iterable[str], namespace: str | None = None) -> tuple[Share, ...]:
    """Parse ``deploy/web=2,deploy/api=1``. Targets without a namespace get ``namespace``.

    Raises:
        UsageError: if a text is malformed, or a target is repeated.
    """
    found: dict[str, Share] = {}
    for each in (part.strip() for text in texts for part in text.split(",")):
        target, equals, number = each.partition("=")
        count = whole_number(number) if equals else 1
        if not target or count is None or not 0 < count <= 1000:
            raise UsageError(f"--of {each}: write it as [NAMESPACE/]KIND/NAME[=N], for example deploy/web=2")
        name = in_namespace(target, namespace)
        if name in found:
            raise UsageError(f"--of {each}: {name} is given twice")
        found[name] = Share(name, count)
    return tuple(found.values())


def read_more(text: int | str) -> int | Fraction:
    """Parse the required replicas: a number, or a share such as ``20%``. Raise UsageError if it is neither."""
    if isinstance(text, int) or (text.isascii() and text.isdigit()):
        number = int(str(text)[:10])
        if 1 <= number <= _MOST_MORE:
            return number
    percentage = _PERCENTAGE.fullmatch(str(text))
    if percentage is None:
        raise UsageError(f"--more {text}: write a number from 1 to {_MOST_MORE}, or a percentage of the replicas, 20%")
    return Fraction(percentage[1]) / 100


def pods_asked(more: int | Fraction, share: int, replicas: int) -> int:
    """Return the required additional pods of a workload.

    Args:
        more: rounds, or a share of the replicas, rounded up.
        share: replicas of the workload in a round.
        replicas: current desired replicas.
    """
    return more * share if isinstance(more, int) else ceil(replicas * more)


def check_shares(shares: Iterable[Share], there: Iterable[ObjectKey]) -> dict[Share, ObjectKey]:
    """Return the target workloads; without shares, the only workload.

    Raises:
        UsageError: if a target is missing, repeated or has no replicas, or no target is given and there are several
            workloads.
    """
    controllers = list(there)
    found: dict[Share, ObjectKey] = {}
    scalable = [key for key in controllers if key[0] in _SCALABLE]
    if not shares:
        if len(scalable) != 1:
            names = [*map(short_target, scalable[:5]), *(["…"] if len(scalable) > 5 else []), "--pod FILE"]
            raise UsageError(f"name the workload to scale up: {', '.join(names)}")
        shares = [Share(short_target(scalable[0]))]
    for share in shares:
        key = the_workload(share.target, controllers)
        if key[0] not in _SCALABLE:
            raise UsageError(f"--of {share.target}: a {key[0]} cannot get more replicas")
        if key in found.values():
            raise UsageError(f"--of {share.target}: {key[1]}/{key[2]} is given twice")
        found[share] = key
    return found


def the_pod(manifest: Inventory, path: str) -> Pod:
    """Return the only pod in a file. Raise InputError if there is not exactly one."""
    pods = manifest.pods
    if len(pods) != 1:
        raise InputError(f"{len(pods) or 'no'} pods found; the file must hold one Pod", Place(source=path))
    spec = replace(pods[0].spec, node_name=None)
    return replace(pods[0], spec=spec, status=None)


def with_pod(inventory: Inventory, pod: Pod) -> tuple[Inventory, ObjectKey]:
    """Return the inventory with the pod added under an unused name."""
    namespace = pod.namespace or "default"
    taken = {each.name for each in inventory.pods if (each.namespace or "default") == namespace}
    base = pod.name or "pod"
    names = (base, *(f"{base}-{number}" for number in range(len(taken) + 1)))
    name = next(each for each in names if each not in taken)
    made = replace(pod, metadata=replace(pod.metadata, name=name, namespace=namespace, generate_name=None))
    return with_fields(inventory, pods=[*inventory.pods, made]), ("Pod", namespace, name)


def copies(queued: QueuedPod, number: int, plan: Plan) -> list[QueuedPod]:
    """Return this many copies of a pod. They share its object but have different names."""
    row, made = queued.workload, []
    for each in range(0 if queued.refused else number):
        name = f"{queued.name}-{each}"
        # The quotas are already charged with the plan's own pod.
        words = plan.quotas.refusal(queued.pod) if each and plan.quotas is not None else ""
        if words:
            denied = f'pods "{name}" is forbidden: {words}'
            plan.refused.append(QueuedPod(queued.pod, name, row, queued.priority, refused=denied))
            break
        made.append(QueuedPod(queued.pod, name, row, queued.priority))
    return made


def within_quotas(
    plan: Plan, targets: Sequence[tuple[Workload, int]], rounds: int
) -> tuple[list[int], QueuedPod | None]:
    """Return how many additional pods of each target quotas admit in at most `rounds`; also the first denied pod.

    Args:
        plan: the plan without further pods; its quotas are charged with them.
        targets: each target and its share of a round.
    """
    everything, admitted = [rounds * share for _, share in targets], [0] * len(targets)
    quotas = plan.quotas
    if quotas is None:
        return everything, None
    pods = [(row, row.template, share) for row, share in targets if row.template is not None]
    for _ in range(rounds):
        for at, (row, pod, share) in enumerate(pods):
            for _ in range(share):
                _, message, is_certain = quota_refusal(quotas, pod)
                if message and is_certain:
                    denied = QueuedPod(pod, f"{pod.metadata.generate_name or f'{row.name}-'}…", row)
                    denied.refused = refused_words(denied, message)
                    return admitted, denied
                admitted[at] += 1
    return everything, None
