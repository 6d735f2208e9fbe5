"""Simulations of one input in many orders of pods, with the results as ranges over the orders.

In a real cluster, the order in which controllers create pods is unknown, and kube-scheduler draws among nodes with
equal scores. The first order is the plan's own and takes the first of such nodes by name; the other orders draw. They
interleave the workloads at random, or place one workload after another in random order. Every order keeps priorities,
the order within a workload, and the order of bare pods and of pods that are already pending in the cluster.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Annotated

from msgspec import Meta

from topospread.answer import Unjudged
from topospread.api.inventory import Inventory
from topospread.base import Base, Bounds, Word, worst
from topospread.controllers.planned import QueuedPod
from topospread.errors import UsageError
from topospread.plain_data import PlainData

from .options import SimulationOptions
from .outcome import result_of
from .placing import place_all
from .result import PendingGroup, Simulation
from .run import prepare
from .unknown import bracketed, has_open_pods, is_unjudged, unjudged_parts

Progress = Callable[[int, int], None]
"""Function that receives the number of orders simulated so far and the total."""


class SpreadBounds(Base, frozen=True):
    """The ranges of one constraint of a workload over all orders."""

    topology_key: Annotated[str, Meta(description="Node label whose values are the domains.")]
    when_unsatisfiable: Annotated[str, Meta(description="`DoNotSchedule` (hard) or `ScheduleAnyway` (soft).")]
    max_skew: Annotated[int, Meta(description="Largest allowed skew.")]
    origin: Annotated[str, Meta(description="`pod`, `profile` or `system`: source of the constraint.")]
    skew: Annotated[Bounds, Meta(description="Skew afterwards.")]
    domains: Annotated[dict[str, Bounds], Meta(description="Eligible domain → matching pods afterwards.")]


class WorkloadBounds(Base, frozen=True):
    """The ranges of a workload over all orders."""

    kind: Annotated[str, Meta(description="Kind of the workload; `Pod` for a bare pod.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    replicas: Annotated[int, Meta(description="Desired number of pods.")]
    pending: Annotated[Bounds, Meta(description="Number of its pods without a node.")]
    same: Annotated[bool, Meta(description="Whether every order gave the same numbers.")]
    constraints: Annotated[tuple[SpreadBounds, ...], Meta(description="Each constraint in force.")]


@dataclass(frozen=True, slots=True)
class Orders(PlainData):
    """The results of all orders.

    Attributes:
        given: simulation in the plan's own order.
        orders: number of simulated orders, including the plan's own.
        seed: seed of the random orders.
        workloads: ranges by workload, in input order.
        pending: number of pending pods.
        evicted: number of evicted pods.
        all_placed: number of orders without a pending pod.
        verdict: whether every pod has a node in every order. One order with a pending pod makes it no, if topospread
            models everything that keeps the pod pending.
        unjudged: parts of pods that topospread does not model and that alone kept pods pending in some order.
    """

    given: Simulation
    orders: int
    seed: int
    workloads: tuple[WorkloadBounds, ...]
    pending: Bounds
    evicted: Bounds
    all_placed: int
    verdict: Word
    unjudged: tuple[Unjudged, ...] = ()


def simulate_orders(
    inventory: Inventory,
    orders: int,
    options: SimulationOptions,
    progress: Progress | None = None,
    namespace: str | None = None,
) -> Orders:
    """Simulate the plan's own order and random orders.

    Args:
        inventory: the input, which is not changed.
        orders: number of orders, at least 1.
        options: options of each simulation; ``seed`` draws the orders, 0 by default.
        progress: receives the number of orders simulated so far and the total.
        namespace: namespace whose pending pods count; by default all.

    Raises:
        InputError: if the API server would deny an object.
        UsageError: if ``orders`` is below 1, or an option names a missing object.
    """
    if orders < 1:
        raise UsageError(f"orders must be at least 1, got {orders}")
    seed = options.seed or 0
    options = replace(options, one_of_many=True)
    source = random.Random(seed)
    found: list[Simulation] = []
    tallies: list[_Tally] = []
    unjudged: list[PendingGroup] = []
    verdicts: list[Word] = []
    for number in range(orders):
        again = copy(source)
        result = simulated_order(inventory, options, source, number)
        found += [result] if not found else []
        tallies.append(_Tally.of_simulation(result, namespace))
        if has_open_pods(result):
            assumed = simulated_order(inventory, replace(options, assumes_unjudged=True), again, number)
            tallies.append(_Tally.of_simulation(assumed, namespace))
            result = bracketed(result, assumed)
        verdicts.append(result.verdict_in(namespace))
        unjudged += filter(is_unjudged, result.pending)
        if progress is not None:
            progress(number + 1, orders)
    return Orders(
        given=found[0],
        orders=orders,
        seed=seed,
        workloads=tuple(_ranges(found[0], tallies)),
        pending=Bounds.of([each.pending for each in tallies]),
        evicted=Bounds.of([each.evicted for each in tallies]),
        all_placed=verdicts.count("yes"),
        verdict=worst(verdicts),
        unjudged=unjudged_parts(unjudged),
    )


def simulated_order(inventory: Inventory, options: SimulationOptions, source: random.Random, number: int) -> Simulation:
    """Return the simulation with the pods in one order, and random choices among equally good nodes.

    ``number``: 0 for the plan's own order without random choices; if odd, workloads take turns; if even, they come one
    after another.
    """
    if number == 0:
        run = prepare(inventory, replace(options, seed=None))
    else:
        run = prepare(inventory, replace(options, seed=source.getrandbits(63), draws=True))
        run.queue = interleaved(run.queue, source, by_turns=number % 2 == 1)
    place_all(run)
    return result_of(run)


def interleaved(queue: Sequence[QueuedPod], source: random.Random, *, by_turns: bool) -> list[QueuedPod]:
    """Return the pods in a random order that a cluster could produce.

    Args:
        queue: pods in the plan's order.
        by_turns: whether to interleave the workloads' pods, each interleaving equally likely; else one workload
            follows another. Pods of higher priority always precede.
    """
    waiting = [each for each in queue if each.created]
    streams: dict[Hashable, list[QueuedPod]] = {}
    for each in queue:
        if not each.created:
            streams.setdefault("Pod" if each.workload.kind == "Pod" else id(each.workload), []).append(each)
    turns: list[Hashable]
    if by_turns:
        turns = [key for key, pods in streams.items() for _ in pods]
        source.shuffle(turns)
    else:
        keys = list(streams)
        source.shuffle(keys)
        turns = [key for key in keys for _ in streams[key]]
    left = {key: iter(pods) for key, pods in streams.items()}
    return [*waiting, *(next(left[key]) for key in turns)]


@dataclass(frozen=True, slots=True)
class _Tally:
    """The numbers of one simulation, from which ranges are computed.

    Attributes:
        of: index of the workload → (number of pending pods, (skew, counts of its domains) of each constraint).
    """

    pending: int
    evicted: int
    of: list[tuple[int, list[tuple[int, dict[str, int]]]]]

    @classmethod
    def of_simulation(cls, result: Simulation, namespace: str | None) -> _Tally:
        return cls(
            sum(each.pending for each in result.workloads if namespace in (None, each.namespace)),
            len(result.evictions),
            [
                (
                    each.pending,
                    [(one.skew, {domain.name: domain.after for domain in one.domains}) for one in each.spread],
                )
                for each in result.workloads
            ],
        )


def _ranges(given: Simulation, tallies: Sequence[_Tally]) -> Iterator[WorkloadBounds]:
    for place, workload in enumerate(given.workloads):
        own = [each.of[place] for each in tallies]
        spreads = []
        for position, spread in enumerate(workload.spread):
            sides = [constraints[position] for _, constraints in own]
            names = dict.fromkeys(name for _, counts in sides for name in counts)
            domains = {name: Bounds.of([counts.get(name, 0) for _, counts in sides]) for name in names}
            skew = Bounds.of([skew for skew, _ in sides])
            what = (spread.topology_key, spread.when_unsatisfiable, spread.max_skew, spread.origin)
            spreads.append(SpreadBounds(*what, skew, domains))
        pending = Bounds.of([number for number, _ in own])
        every = (pending, *(each for one in spreads for each in (one.skew, *one.domains.values())))
        same = all(each.known for each in every)
        who = (workload.kind, workload.namespace, workload.name, workload.replicas)
        yield WorkloadBounds(*who, pending, same, tuple(spreads))
