"""From an inventory and a workload to sentences: each is worded from what a drill, a search or a count came to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from topospread.api.inventory import Inventory, ObjectKey
from topospread.config.gates import Gates
from topospread.config.profile import Configuration
from topospread.drills.drill import drill
from topospread.drills.steps import Wait
from topospread.errors import UsageError
from topospread.guarantees.guarantee import guarantee
from topospread.simulation.run import SimulationOptions
from topospread.sources.inputs import Input, inventory_of
from topospread.spare_capacity.capacity import capacity
from topospread.spread_status import SpreadStatus, WorkloadStatus
from topospread.spread_status.status import status
from topospread.workloads.scale import short_target, the_workload

from .constraint_statements import constraint_words, standing
from .described import DescribedWorkload
from .losses import drained, lost
from .result import Description, Held, Statement
from .updates import rolled_out, scaled_down
from .workload_drills import HOSTNAME, ZONE, WorkloadDrills

_ROLLED = frozenset({"Deployment", "StatefulSet"})
_SCALED = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"})
MOST_DOMAINS = 20
"""Of more domains with its pods than these, those that hold most are drilled."""


def describe(  # noqa: PLR0913 - keyword arguments of the public API
    inputs: Input,
    of: str,
    *,
    cluster: str | None = None,
    namespace: str | None = None,
    config: Configuration | str | os.PathLike[str] | None = None,
    kube_version: str = "1.37",
    gates: Gates | None = None,
    apiserver_gates: Gates | None = None,
    most: int = MOST_DOMAINS,
    states: int = 5_000,
    seconds: float = 10.0,
    typed: Sequence[str] = ("PATH",),
) -> Description:
    """Say what a workload is promised on a cluster, in sentences that were checked, and what it is not.

    Args:
        inputs: what was read (`topospread.load`), which is not changed, or the paths to read.
        of: the workload, ``[NAMESPACE/]KIND/NAME``.
        cluster: beside paths: a made-up cluster, ``zones=3,nodes=12,cpu=8,memory=32Gi``, or a file that holds one.
        namespace: of a workload that names none, and where objects of paths go that name none.
        config: kube-scheduler's configuration, or its file; by default that of a kube-scheduler without a file.
        kube_version: the Kubernetes version to act as.
        gates: kube-scheduler's feature gates; by default the version's.
        apiserver_gates: the API server's, which decide what fields its objects keep; by default the version's.
        most: of more domains of a key with its pods than this, those that hold most are drilled.
        states: how many states of the cluster are looked at for what holds in every order.
        seconds: how long that may take for each question.
        typed: the inputs as words of a command, for the commands that repeat what was checked.

    Raises:
        InputError: an object that the API server would refuse, or a path that cannot be read.
        UsageError: there is no such workload, or it belongs to its nodes (a DaemonSet).
    """
    options = SimulationOptions.of_version(kube_version, config, gates, apiserver_gates)
    given = inventory_of(inputs, cluster, options.apiserver_gates, namespace)
    subject, stands = _subject(given, f"{namespace}/{of}" if namespace and of.count("/") == 1 else of, options, typed)
    told = subject.status
    statements = (
        *standing(subject),
        *(each for key in _keys(told) for each in lost(subject, key, most)),
        *drained(subject, most),
        *(rolled_out(subject) if told.kind in _ROLLED else ()),
        *(scaled_down(subject) if told.kind in _SCALED and told.replicas > 1 else ()),
        *(_room(subject) if told.kind in _SCALED else ()),
        *(() if subject.is_there else _orders(subject, states, seconds)),
    )
    constraints = tuple(map(constraint_words, told.constraints))
    return Description(
        told.kind,
        told.namespace,
        told.name,
        told.replicas,
        stands.nodes,
        constraints,
        statements,
        stands.warnings,
        (*stands.notes, *told.notes),
    )


def _subject(
    given: Inventory, of: str, options: SimulationOptions, typed: Sequence[str]
) -> tuple[DescribedWorkload, SpreadStatus]:
    """The workload with all pods placed that can be, and how everything stands then."""
    read = _status(given, options)
    key = the_workload(of, [(each.kind, each.namespace, each.name) for each in read.workloads])
    before = _of(read, key)
    if key[0] == "DaemonSet":
        raise UsageError(f"{of}: pods of a DaemonSet belong to their nodes: nothing is promised of where they are")
    trials = WorkloadDrills(given, options, key)
    settled = drill(
        given,
        [Wait(0)],
        **options.answered_by,
        keep_after=True,
    )
    after = settled.steps[0].after
    assert after is not None, "the drill was to keep it"
    stands = _status(after, options)
    is_there = before.existing >= before.replicas
    return DescribedWorkload(trials, _of(stands, key), short_target(key), is_there, typed), stands


def _status(given: Inventory, options: SimulationOptions) -> SpreadStatus:
    return status(
        given,
        **options.answered_by,
    )


def _of(found: SpreadStatus, key: ObjectKey) -> WorkloadStatus:
    return next(each for each in found.workloads if (each.kind, each.namespace, each.name) == key)


def _keys(told: WorkloadStatus) -> list[str]:
    """Zone and hostname, and what its constraints are about, where it has pods in domains of it."""
    wanted = dict.fromkeys([ZONE, HOSTNAME, *(each.topology_key for each in told.constraints)])
    there = {each.topology_key for each in told.losses}
    return [each for each in wanted if each in there]


def _room(subject: DescribedWorkload) -> Iterator[Statement]:
    """How many more replicas fit."""
    how = subject.trials.options
    found = capacity(
        subject.trials.inventory,
        subject.target,
        **how.answered_by,
        limit=1000,
    ).capacity
    room, told = found.targets[0], subject.status
    if room.missing:
        text = f"{room.missing} of {told.replicas} pods find no node as things are"
    elif found.pending is None:
        text = f"at least {room.more} more replicas find nodes"
    else:
        text = f"{room.more} more replicas find nodes, and the next may stay pending: {found.pending.message}"
    yield Statement(
        "room",
        "no" if room.missing else "yes",
        text,
        "one replica after the other placed",
        subject.command("capacity", subject.target),
        figures={"more": room.more, "missing": room.missing},
    )


def _orders(subject: DescribedWorkload, states: int, seconds: float) -> Iterator[Statement]:
    """What holds in whatever order the pods come, as long as they are still to come."""
    how, told = subject.trials.options, subject.status
    worst = {each.topology_key: each.of - each.lost for each in told.worst_losses}
    has = {each.name for each in subject.trials.inventory.nodes if ZONE in each.labels}
    for survives, key in (("zone", ZONE), ("node", HOSTNAME), (None, "")):
        if survives and (not worst.get(key) or (survives == "zone" and not has)):
            continue
        want = f"{survives}-loss>={worst[key]}" if survives else "never-waits"
        (answer,) = guarantee(
            subject.trials.inventory,
            never_pending=not survives,
            survives=survives,
            left=[f"{subject.target}={worst[key]}"] if survives else (),
            **how.answered_by,
            states=states,
            seconds=seconds,
        ).answers
        what = f"the loss of any one {survives} leaves at least {worst[key]}" if survives else "no pod stays pending"
        held: Held = "no"
        text = f"it is not so in every order that {what}: {answer.why}"
        if answer.answer == "always":
            held, text = "yes", f"in whatever order pods come, {what}"
        elif answer.answer == "not decided":
            held, text = "not decided", f"whether in every order {what} is not decided: {answer.why}"
        yield Statement(
            "orders",
            held,
            text,
            f"{answer.states} states of all orders looked at"
            if answer.states
            else "counting what any order can come to",
            subject.command("promise check", subject.target, "--want", want),
            key,
            {"left": worst[key]} if survives else {},
        )
