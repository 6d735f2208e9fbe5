"""Group pods without a node by cause: rejected by every node, not placed yet, or not judged."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Annotated, Final

from msgspec import Meta, structs

from topospread.answer import Cause, Remedy
from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.base import Base, Word
from topospread.simulation.options import SimulationOptions
from topospread.simulation.result import Placement, Simulation
from topospread.simulation.run import prepare
from topospread.why.explain import PendingPods, Waiting, explain_pending
from topospread.why.owner import exists
from topospread.why.what_if import EFFORT

from .causes import causes_of_pod, why_words
from .remedies import remedy_of


class Pending(Base, frozen=True, kw_only=True):
    """Pods without a node that share their causes."""

    verdict: Annotated[Word, Meta(description="`no`: no node takes the pods; `unknown`: topospread cannot judge this.")]
    workloads: Annotated[tuple[str, ...], Meta(description="Their workloads, NAMESPACE/KIND/NAME, most pods first.")]
    pods: Annotated[tuple[str, ...], Meta(description="The pods, NAMESPACE/NAME.")]
    says: Annotated[str, Meta(description="The cause in one sentence.")]
    causes: Annotated[tuple[Cause, ...], Meta(description="The causes of the first workload's pods.")] = ()
    searched: Annotated[bool, Meta(description="Whether every change that may help was simulated.")] = False
    remedies: Annotated[
        tuple[Remedy, ...], Meta(description="Simulated changes that help the first workload, best first.")
    ] = ()


def pending_groups(inventory: Inventory, waiting: Waiting, shown: Collection[ObjectKey]) -> Iterator[Pending]:
    """Yield groups of rejected pods, most pods first, then pods that are not placed yet or not judged.

    Args:
        inventory: the input.
        waiting: its pods without a node, after the simulation.
        shown: workloads to include.
    """
    yield from _rejected(waiting.pending)
    stored = {f"{each.namespace}/{each.name}" for each in inventory.pods if exists(each)}
    opened = set(waiting.simulation.open_pods)
    tried = [each for each in waiting.simulation.placements if each.workload_key in shown]
    feasible = [each for each in tried if each.node is not None and _pod(each) in stored and _pod(each) not in opened]
    if feasible:
        says = "a node is feasible, and kube-scheduler has not placed them yet"
        yield _group("no", feasible, says, (Cause(code="not-placed-yet", says=says),))
    parts = [(each.because, set(each.pods)) for each in waiting.simulation.unjudged]
    unknown: dict[str, list[Placement]] = {}
    for each in tried:
        if _pod(each) in opened:
            own = [because for because, pods in parts if _pod(each) in pods]
            says = "; ".join(dict.fromkeys(own or [because for because, _ in parts]))
            unknown.setdefault(says, []).append(each)
    for says, pods in unknown.items():
        yield _group("unknown", pods, says, ())


_LIMIT: Final = re.compile(r"maxSkew \d+")
_AMOUNTS: Final = re.compile(r" \([^()]* missing\)|(?<=lacks )[\d.]+\w* ")
_TOO_LARGE: Final = re.compile(r"the pod requests .*\((?:the largest node has [^()]*|no node has any)\)")
"""Requests that exceed every node. Like `_AMOUNTS`, they differ between workloads with the same cause."""


def displaced_pods(
    inventory: Inventory, options: SimulationOptions, displaced: Collection[ObjectKey], names: Collection[str]
) -> tuple[Pending, ...]:
    """Return some pending pods by cause, with simulated changes; empty if the cluster is too large.

    Args:
        inventory: the cluster.
        options: the control plane and placement options.
        displaced: workloads of the pods.
        names: the pods, NAMESPACE/NAME.
    """
    run = prepare(inventory, replace(options, watch=(), tries_groups=True), with_spreads=False)
    if 2 * len(run.queue) > EFFORT:
        return ()
    chosen = {each for each in run.plan.workloads if key_of(each) in displaced}
    found = _rejected(explain_pending(inventory, run, chosen, suggest=True).pending)
    own = (structs.replace(each, pods=tuple(pod for pod in each.pods if pod in names)) for each in found)
    return tuple(each for each in own if each.pods)


Fixes = tuple[tuple[Remedy, ...], int, bool, dict[str, tuple[Cause, ...]]]
"""First working fix for each cause of pending pods; number of causes with untried changes; whether changes were tried;
NAMESPACE/NAME of a pod → its causes."""


def fixes_of(simulation: Simulation, namespace: str | None) -> Fixes:
    """Return fixes for the pending pods of a simulation, and their causes as `why` explains them.

    Args:
        simulation: the simulation.
        namespace: the namespace of the pods; by default all.
    """
    if simulation.begun is None or not simulation.pending:
        return (), 0, False, {}
    inventory, options = simulation.begun
    run = prepare(inventory, replace(options, watch=()), with_spreads=False)
    chosen = {each for each in run.plan.workloads if namespace in (None, each.namespace)}
    if 2 * len(run.queue) > EFFORT:
        return (), len(simulation.pending), False, {}
    waiting = explain_pending(inventory, run, chosen, suggest=True, result=None if options.pools else simulation)
    found = tuple(each.remedies[0] for each in _rejected(waiting.pending) if each.remedies)
    searched = [each.explanation for each in waiting.pending]
    tried = [each for each in searched if each.state == "pending"]
    causes = {
        f"{each.workload.namespace}/{name}": of_pod
        for each in waiting.pending
        if (of_pod := causes_of_pod(each.explanation))
        for name in each.pods
    }
    return found, sum(each.untried or not each.searched for each in tried), bool(tried), causes


def _pod(placement: Placement) -> str:
    return f"{placement.namespace}/{placement.name}"


def _group(verdict: Word, pods: Iterable[Placement], says: str, causes: tuple[Cause, ...]) -> Pending:
    workloads: dict[str, list[str]] = {}
    for each in pods:
        workloads.setdefault(f"{each.namespace}/{each.workload}", []).append(_pod(each))
    order = sorted(workloads, key=lambda each: -len(workloads[each]))
    names = tuple(pod for each in order for pod in workloads[each])
    return Pending(verdict=verdict, workloads=tuple(order), pods=names, says=says, causes=causes)


def _rejected(pending: Iterable[PendingPods]) -> Iterator[Pending]:
    """Yield the rejected pods, grouped by their causes."""
    by_cause: dict[object, list[tuple[PendingPods, tuple[Cause, ...]]]] = {}
    for each in pending:
        causes = causes_of_pod(each.explanation)
        asked = each.explanation.verdict is not None
        key = (
            asked and tuple((one.code, one.objects, *_LIMIT.findall(one.says)) for one in causes)
        ) or each.explanation.message
        by_cause.setdefault(key, []).append((each, causes))
    for members in sorted(by_cause.values(), key=lambda one: -sum(len(each.pods) for each, _ in one)):
        first, causes = members[0]
        says = why_words(causes) if causes else first.explanation.message
        if any(other and why_words(other) != says for _, other in members):
            says = _TOO_LARGE.sub("each pod requests more than any node has", _AMOUNTS.sub("", says))
        yield Pending(
            verdict="no",
            workloads=tuple(
                dict.fromkeys(f"{one.workload.namespace}/{one.workload.kind}/{one.workload.name}" for one, _ in members)
            ),
            pods=tuple(f"{one.workload.namespace}/{name}" for one, _ in members for name in one.pods),
            says=says,
            causes=causes,
            remedies=tuple(map(remedy_of, first.explanation.suggestions)),
            searched=first.explanation.searched and not first.explanation.untried,
        )
