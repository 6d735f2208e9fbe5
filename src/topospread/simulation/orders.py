"""The same simulation in many orders, and its answers as ranges: what the order in which pods come decides.

A running cluster interleaves the pods that controllers create, and kube-scheduler takes one of equal nodes: neither is
known beforehand. The first order is the plan's own, with the first of equals by name. The others draw among equals,
and take the workloads by turns at random or one after another in a random order. Priorities, the order of the pods of
one workload, that of bare pods, and pods that wait in the cluster already are left as they are.
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
from topospread.errors import UsageError
from topospread.plain_data import PlainData
from topospread.workloads.planned import QueuedPod

from .options import SimulationOptions
from .outcome import result_of
from .placing import place_all
from .result import PendingGroup, Simulation
from .run import prepare
from .unknown import bracketed, has_open_pods, is_unjudged, unjudged_parts

Progress = Callable[[int, int], None]
"""Told how many orders of how many were tried."""


class SpreadBounds(Base, frozen=True):
    """One constraint of a workload over all orders."""

    topology_key: Annotated[str, Meta(description="Node label whose values are the domains.")]
    when_unsatisfiable: Annotated[str, Meta(description="`DoNotSchedule` (hard) or `ScheduleAnyway` (soft).")]
    max_skew: Annotated[int, Meta(description="Largest allowed skew.")]
    origin: Annotated[str, Meta(description="`pod`, `profile` or `system`: source of the constraint.")]
    skew: Annotated[Bounds, Meta(description="Skew afterwards.")]
    domains: Annotated[dict[str, Bounds], Meta(description="Eligible domain → matching pods afterwards.")]


class WorkloadBounds(Base, frozen=True):
    """A workload over all orders."""

    kind: Annotated[str, Meta(description="Kind of the workload; `Pod` for a bare pod.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    replicas: Annotated[int, Meta(description="Pods that it wants.")]
    pending: Annotated[Bounds, Meta(description="Its pods without a node.")]
    same: Annotated[bool, Meta(description="Whether every order gave the same numbers.")]
    spread: Annotated[tuple[SpreadBounds, ...], Meta(description="Each constraint in force.")]


@dataclass(frozen=True, slots=True)
class Orders(PlainData):
    """The results of all orders.

    Attributes:
        given: the simulation in the plan's own order.
        orders: how many were tried, that one included.
        seed: what they were drawn with.
        workloads: in input order.
        pending: pods that are not placed.
        evicted: pods that are evicted.
        all_placed: in how many orders nothing is pending.
        verdict: whether every pod finds a node in every order. A pod that is pending in some order decides, if all
            that keeps it from a node is judged.
        unjudged: parts of pods that are not modelled and alone kept the pods from a node in some order.
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
    inventory: Inventory, orders: int, options: SimulationOptions, progress: Progress | None = None
) -> Orders:
    """Simulate in the plan's own order and in random ones.

    Args:
        inventory: what was read; it is not changed.
        orders: how many orders in all, at least one.
        options: those of one simulation; their seed is what the orders are drawn with, 0 by default.
        progress: told how many orders of how many were tried.

    Raises:
        InputError: an object that the API server would refuse.
        UsageError: there is no order to try, or an option names what is not there.
    """
    if orders < 1:
        raise UsageError(f"{orders} orders: try at least one")
    seed = options.seed or 0
    options = replace(options, one_of_many=True)
    source = random.Random(seed)
    found: list[Simulation] = []
    tallies: list[_Tally] = []
    unjudged: list[PendingGroup] = []
    verdicts: list[Word] = []
    for number in range(orders):
        again = copy(source)
        result = _simulated(inventory, options, source, number)
        found += [result] if not found else []
        tallies.append(_Tally.of_simulation(result))
        if has_open_pods(result):
            assumed = _simulated(inventory, replace(options, assumes_unjudged=True), again, number)
            tallies.append(_Tally.of_simulation(assumed))
            result = bracketed(result, assumed)
        verdicts.append(result.verdict)
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


def _simulated(inventory: Inventory, options: SimulationOptions, source: random.Random, number: int) -> Simulation:
    """The simulation in one order; that of number 0 is the plan's own."""
    if number == 0:
        run = prepare(inventory, replace(options, seed=None))
    else:
        run = prepare(inventory, replace(options, seed=source.getrandbits(63), draws=True))
        run.queue = interleaved(run.queue, source, by_turns=number % 2 == 1)
    place_all(run)
    return result_of(run)


def interleaved(queue: Sequence[QueuedPod], source: random.Random, *, by_turns: bool) -> list[QueuedPod]:
    """The pods in another order, as it may come about.

    Args:
        queue: in the plan's order.
        source: of randomness.
        by_turns: any interleaving of the workloads' pods, each as likely as the others; else one workload after
            another. Of one priority: more important pods come first in any order.
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
    """The numbers of one simulation.

    Attributes:
        of: workload's place → pods pending, and for each constraint its skew and its domains' counts.
    """

    pending: int
    evicted: int
    of: list[tuple[int, list[tuple[int, dict[str, int]]]]]

    @classmethod
    def of_simulation(cls, result: Simulation) -> _Tally:
        """The numbers of a simulation."""
        return cls(
            sum(each.pending for each in result.workloads),
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
