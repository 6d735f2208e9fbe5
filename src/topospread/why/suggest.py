"""Search for changes with which a pending pod is placed: single changes, or the smallest sufficient sets.

Every change is simulated from the beginning (`what_if`), and only changes that help are suggested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from topospread.api.inventory import Inventory
from topospread.controllers.planned import QueuedPod, Workload
from topospread.plugins.spread_constraints import Constraint

from .changes import (
    Change,
    as_in_template,
    combined,
    constraint_changes,
    go_together,
    max_skew_change,
    request_change,
    toleration_change,
    topology_key_change,
)
from .claim_changes import template_changes
from .correction_sets import smallest_sets
from .owner import Owned, owned
from .rejections_per_node import Shortage
from .repeated_simulation import RepeatedSimulation
from .result import Suggestion
from .typo_suggestions import meant_changes
from .what_if import OutOfEffortError, PendingPodFacts, WhatIf

_OF_A_KIND = 2
"""Largest number of suggestions for each kind of change to the cluster."""
_TOGETHER = 3
"""Largest number of changes in one suggestion."""
_SETS = 6
"""Maximum number of sets of changes. Of sets with the same kinds of changes, only the first is kept."""
_REQUESTS = 3
"""Maximum number of smaller requests to try with other changes, and of resource combinations to search."""
_SHARE = 10
"""Largest number of pods that share a node's room when requests are reduced."""
_WITH_TEMPLATE = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")
Worked = tuple[Change, Suggestion]
Result = tuple[Change, Suggestion | None]
Attempt = Callable[[int], Result]


def suggestions(
    simulation: RepeatedSimulation, inventory: Inventory, subject: QueuedPod, found: PendingPodFacts
) -> tuple[tuple[Suggestion, ...], int]:
    """Return the changes that place pods of the subject's workload, and the number of changes that were not simulated.

    The state must be that of the simulation's start, and is restored. Spec changes that place only some pods are
    dropped if other changes place all pods, and so are changes whose rollout gets stuck. Changes that leave the fewest
    pods without a node come first, among them changes that replace the fewest pods.
    """
    workload = subject.workload
    allowed = {each.position: each.max_skew for each in found.constraints if each.when_unsatisfiable == "DoNotSchedule"}
    counted = {
        (each.arithmetic.position, each.arithmetic.topology_key): each.arithmetic.domains
        for each in found.tables
        if each.arithmetic.hard
    }
    search = WhatIf(simulation, workload, found.baseline, workload.template or subject.pod, allowed, counted)
    owner = owned(inventory, subject, found.constraints, has_pods=_has_pods(workload, simulation, inventory))
    kept: list[Worked] = []
    items = list(spec_changes(owner, found)) if owner is not None else []
    if owner is not None:
        own = (each for each in simulation.queue if each.workload is workload)
        items += template_changes(owner, own, simulation.run.cluster.objects)
    if owner is not None:
        kept += _control(search, owner, workload, found)
        # A change that causes a rollout must place more pods than a rollout without the change.
        search.rolled_out = max((tried.placed for _, tried in kept if not tried.complete), default=0)
        if not any(tried.complete for _, tried in kept):
            kept += _helping(search, [each for each in items if each.kind != "requests"])
            kept += _least_skews(search, owner, found)
            kept += _largest_requests(search, owner, found)
            items += (max_skew_change(owner, each, _most(found, each)) for each in hard_constraints(owner, found))
    by_spec = any(tried.complete for _, tried in kept)
    if by_spec:
        kept = [each for each in kept if each[1].complete]
    by_kind: dict[str, list[Worked]] = {}
    for change in found.cluster_changes:
        worked = by_kind.setdefault(change.kind, [])
        whole = sum(tried.complete for _, tried in worked)
        tried = search.try_out(change) if change.alone and whole < _OF_A_KIND else None
        # Another StorageClass for one pod's claim does not help the other pods.
        if tried is not None and (tried.complete or change.kind != "storageClassName"):
            worked.append((change, tried))
    # A combined change must place more pods than the best single change.
    opening = [*kept, *by_kind.get("uncordon", ()), *by_kind.get("free", ())]
    most = max((one.placed for each, one in opening if each.kind in ("toleration", "uncordon", "free")), default=0)
    for worked in by_kind.values():
        better = (each for each in worked if not each[0].parts or each[1].placed > most)
        kept += sorted(better, key=lambda each: not each[1].complete)[:_OF_A_KIND]
    if not any(tried.complete for change, tried in kept if not change.parts):
        single = [each for each in found.cluster_changes if not each.parts]
        kept[:0] = _together(search, owner, found, [*items, *single], some=not kept)
    elif not by_spec:
        kept += _together(search, owner, found, items, some=False)
    # A new node deletes no pod, and is still no smaller change than a rollout. Nor is the deletion of one pod, because
    # the rollout has to replace the others, too.
    most_replaced = max((tried.replaces for _, tried in kept), default=0)

    def order(worked: Worked) -> tuple[object, ...]:
        change, tried = worked
        is_smaller = tried.kind != "deletePod" and not any(each.nodes for each in change.each)
        replaces = tried.replaces if is_smaller else most_replaced
        return tried.worse[0], replaces, tried.worse[1], change.size, tried.title

    return tuple(each for _, each in sorted(kept, key=order)), search.untried


def spec_changes(owner: Owned, found: PendingPodFacts) -> Iterator[Change]:
    """Yield single changes of the spec, except larger values of maxSkew."""
    hard = hard_constraints(owner, found)
    for constraint in hard:
        key = found.meant.keys.get(constraint.topology_key)
        change = topology_key_change(owner, constraint, key) if key else None
        if change is not None:
            yield change
    yield from meant_changes(owner, found.meant)
    domains = {each.arithmetic.position: len(each.domains) for each in found.tables}
    for constraint in hard:
        yield from constraint_changes(owner, constraint, domains[constraint.position])
    for taints in found.taints:
        yield toleration_change(owner, taints)
    for short in found.short[:_REQUESTS]:
        request = request_change(owner, short)
        if request is not None:
            yield request


def hard_constraints(owner: Owned, found: PendingPodFacts) -> list[Constraint]:
    """Return the hard constraints that are also in the owner's spec. A pod of an older revision may have more."""
    own = len(owner.spec.topology_spread_constraints or ()) or len(found.constraints)
    return [each for each in found.constraints if each.when_unsatisfiable == "DoNotSchedule" and each.position < own]


def _control(search: WhatIf, owner: Owned, workload: Workload, found: PendingPodFacts) -> Iterator[Worked]:
    """Yield a restart with the unchanged template if its pods find nodes. Then no other change is needed."""
    if workload.template is not None and workload.kind in _WITH_TEMPLATE and owner.means in ("rollout", "new pods"):
        yield from _helping(search, [as_in_template(owner, workload.template, older=found.older)])


def _helping(search: WhatIf, changes: Sequence[Change]) -> Iterator[Worked]:
    for change in changes:
        tried = search.try_out(change)
        if tried is not None:
            yield change, tried


def _least_skews(search: WhatIf, owner: Owned, found: PendingPodFacts) -> Iterator[Worked]:
    """Yield for each constraint the smallest maxSkew that places as many pods as the largest."""
    for constraint in hard_constraints(owner, found):
        smallest = _smallest(
            search, constraint.max_skew, _most(found, constraint), _by_max_skew(search, owner, constraint)
        )
        if smallest is not None:
            yield smallest[1]


def _largest_requests(search: WhatIf, owner: Owned, found: PendingPodFacts) -> Iterator[Worked]:
    """Yield, for each combination of short resources, the largest requests that place as many pods
    as the smallest requests do.

    If a node has ``old`` pods of the workload and must take ``more``, each may request an equal share
    of the node's room.
    """
    by_resources: dict[tuple[str, ...], set[tuple[Shortage, ...]]] = {}
    most = min(found.baseline.wanted, _SHARE)
    together = [(old, old + more) for old in range(most) for more in range(1, most - old + 1)]
    for short in found.short:
        reduced = by_resources.setdefault(tuple(each.resource for each in short), set())
        for old, pods in together:
            shares = [(each, (each.requested * (old + 1) - each.missing) // pods) for each in short]
            if all(each.requested <= share * _SHARE < each.requested * _SHARE for each, share in shares):
                reduced.add(tuple(Shortage(each.resource, each.requested, 0, share) for each, share in shares))
    whole: list[set[str]] = []
    for resources, reduced in islice(by_resources.items(), _REQUESTS):
        order = sorted(reduced, key=lambda lacks: max(each.share for each in lacks))

        while order and (least := request_change(owner, order[-1])) is None:
            order.pop()
        if not order or least is None or any(each <= {*resources} for each in whole):
            continue

        def tried(at: int, order: list[tuple[Shortage, ...]] = order, least: Change = least) -> Result:
            change = request_change(owner, order[at])
            return (change, search.try_out(change)) if change is not None else (least, None)

        largest = _smallest(search, -1, len(order) - 1, tried)
        if largest is not None:
            yield largest[1]
            if largest[1][1].complete:
                whole.append({*resources})


def _most(found: PendingPodFacts, constraint: Constraint) -> int:
    """Return a maxSkew that forbids no placement."""
    table = next(each for each in found.tables if each.arithmetic.position == constraint.position)
    most = max((each.matching for each in table.domains), default=0) + found.baseline.wanted + 1
    return max(most, constraint.max_skew + 1)


def _by_max_skew(search: WhatIf, owner: Owned, constraint: Constraint, others: Sequence[Change] = ()) -> Attempt:
    """Return a function that simulates a maxSkew together with other changes."""

    def tried(value: int) -> Result:
        change = max_skew_change(owner, constraint, value)
        if others:
            change = combined(sorted((change, *others), key=lambda each: each.size))
        return change, search.try_out(change)

    return tried


def _smallest(search: WhatIf, now: int, most: int, tried: Attempt) -> tuple[int, Worked] | None:
    """Return the smallest value above ``now`` that places as many pods as ``most``, and its result."""
    untried = search.untried
    _, largest = tried(most)
    if largest is None:
        return None
    low, step = now, 1
    high = low + step
    while not _as_good(tried(high)[1], largest):
        low, step = high, 2 * step
        high = min(low + step, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _as_good(tried(middle)[1], largest) else (middle, high)
    change, smallest = tried(high)
    return (high, (change, smallest)) if smallest is not None and search.untried == untried else None


def _as_good(one: Suggestion | None, largest: Suggestion) -> bool:
    """Return whether a change places as many pods as the largest value, with the same strategy."""
    return one is not None and one.placed >= largest.placed and len(one.patch) <= len(largest.patch)


def _together(
    search: WhatIf, owner: Owned | None, found: PendingPodFacts, items: Sequence[Change], *, some: bool
) -> Iterator[Worked]:
    """Yield the smallest sets of changes that place every pod; with ``some``, sets that place any pod if none
    places all.
    """
    # The items have an unlimited maxSkew for each constraint, so the change to ScheduleAnyway is not needed.
    soft = {each.patch[0]["path"].rpartition("/")[0] for each in items if each.kind == "maxSkew"}
    items = [
        each
        for each in items
        if each.patch and not (each.kind == "whenUnsatisfiable" and each.patch[0]["path"].rpartition("/")[0] in soft)
    ]
    for every in (True, False) if some else (True,):

        def suffices(chosen: tuple[Change, ...], every: bool = every) -> bool:
            tried = search.try_out(combined(chosen), must=True)
            return tried is not None and (tried.complete or not every)

        order = sorted(items, key=lambda each: each.size)
        kinds: set[str] = set()
        try:
            for chosen in islice(smallest_sets(order, suffices, go_together, _TOGETHER), _SETS):
                worked = _with_least_skews(search, owner, found, chosen)
                if worked is not None and worked[0].kind not in kinds:
                    kinds.add(worked[0].kind)
                    yield worked
        except OutOfEffortError:
            return
        if kinds:
            return


def _with_least_skews(
    search: WhatIf, owner: Owned | None, found: PendingPodFacts, chosen: tuple[Change, ...]
) -> Worked | None:
    """Return a set of changes with the smallest values of maxSkew that have the same effect."""
    for each in chosen:
        if each.kind == "maxSkew" and owner is not None:
            constraint = next(one for one in hard_constraints(owner, found) if one.position == each.size[-1])
            others = [other for other in chosen if other is not each]
            by = _by_max_skew(search, owner, constraint, others)
            smallest = _smallest(search, constraint.max_skew, _most(found, constraint), by)
            if smallest is None:
                return None
            value, _ = smallest
            chosen = tuple(max_skew_change(owner, constraint, value) if other is each else other for other in chosen)
    change = combined(chosen)
    tried = search.try_out(change)
    return (change, tried) if tried is not None else None


def _has_pods(workload: Workload, simulation: RepeatedSimulation, inventory: Inventory) -> bool:
    """Return whether the input contains pods of a controller, with or without a node."""
    if workload.kind == "Pod" or workload.existing:
        return bool(workload.existing)
    waiting = {(each.namespace, each.name) for each in simulation.queue if each.workload is workload}
    return any((pod.namespace or "default", pod.name) in waiting for pod in inventory.pods)
