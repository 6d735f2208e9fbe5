"""The answer of ``topospread promise show``: pods that workloads keep after losses, drains and rollouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from topospread.answer import Answer, Cause, Unjudged
from topospread.api.inventory import Inventory, key_of
from topospread.base import Base, Bounds, Word, worst
from topospread.controllers.planned import Workload
from topospread.controllers.scale import short_target
from topospread.promise.fresh import LISTS
from topospread.promise.grouped_pods import ORDERS
from topospread.promise.orders import SearchBudget
from topospread.promise.shown import Basis, Shown, ShownEvent, When, shown
from topospread.simulation.options import PLAIN, SimulationOptions
from topospread.simulation.run import prepare
from topospread.simulation.unknown import merged
from topospread.status.result import ConstraintStatus

from .asked import asked_of, input_words
from .promise_check import KINDS, chosen_workloads, declared_wants
from .words import PODS_ANYWHERE, blocked_drains, counted

if TYPE_CHECKING:
    from topospread.lint.settings import DeclaredPromise

WITHOUT_UNJUDGED = "in simulations, other pods that are not judged take no room"
_WHAT = {"zone-loss": "zone", "node-loss": "node"}


class PromisedEvent(Base, frozen=True, kw_only=True):
    """An event, and the pods that the workload keeps."""

    when: Annotated[When, Meta(description="The event; `more`: replicas are added.")]
    leaves: Annotated[
        Bounds,
        Meta(
            description="Fewest pods that stay ready, over the current state, all orders and all rollouts; a lower "
            "bound if `ground` is `proved`. For `more`: the number of replicas that can be added."
        ),
    ]
    needed: Annotated[
        int | None,
        Meta(
            description="Pods that the event must leave: the declared number; without a declaration 1 or the quorum, "
            "for losses alone. Null if the verdict does not depend on the event."
        ),
    ] = None
    of: Annotated[int, Meta(description="Pods that the workload wants after the event; 0 for `more`.")]
    ground: Annotated[
        Basis,
        Meta(
            description="Basis of `leaves`. `proved`: every order, with any feasible node. `seen`: the current state, "
            "the worst case. `played`: one simulation, only the upper bound of a loss. `drawn`: simulations with "
            "random choices. `none`: the search ended early, or pods are not judged. The other fields about later "
            "states are simulated."
        ),
    ]
    now: Annotated[
        int | None, Meta(description="Pods that the loss or drain leaves in the current state; else null.")
    ] = None
    orders: Annotated[
        Bounds | None,
        Meta(description="Fewest pods that the loss or drain leaves in any order; null for other events."),
    ] = None
    rolled: Annotated[
        Bounds | None,
        Meta(description="Fewest pods that it leaves after any rollout; null if rollouts do not matter."),
    ] = None
    alone: Annotated[
        int | None,
        Meta(
            description="Fewest pods that the loss leaves in any order if other workloads leave room; null unless it "
            "is proved and `orders` or `rolled` is not known. Null for more than 10 workloads."
        ),
    ] = None
    alone_rolled: Annotated[int | None, Meta(description="The same after any rollout.")] = None
    then: Annotated[str, Meta(description="Events that follow in the drills; empty without drills.")] = ""
    pending: Annotated[int, Meta(description="Pods that are pending afterwards.")] = 0
    missing: Annotated[int, Meta(description="Pods that are not ready afterwards.")] = 0
    skew: Annotated[int | None, Meta(description="Greatest skew afterwards; null without a constraint.")] = None
    worst: Annotated[str, Meta(description="Domain or node of the worst drill; empty for other events.")] = ""
    message: Annotated[str, Meta(description="kube-scheduler's message about a pod that is pending afterwards.")] = ""
    runs: Annotated[int, Meta(description="Number of drills that were run.")] = 0
    steps: Annotated[tuple[str, ...], Meta(description="Steps of the worst drill, as options of `drill`.")] = ()


class PromisedWorkload(Base, frozen=True, kw_only=True):
    """A workload, and its events."""

    kind: Annotated[str, Meta(description="Kind of the workload.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    replicas: Annotated[int, Meta(description="Desired pods.")]
    ready: Annotated[int, Meta(description="Pods that have a node now.")]
    needed: Annotated[
        int, Meta(description="Pods that a loss must leave if nothing is declared: 1, or the quorum of a StatefulSet.")
    ]
    declared: Annotated[str, Meta(description="Declared promises, for example `zone-loss>=4`; empty without.")] = ""
    verdict: Annotated[Word, Meta(description="Whether each event leaves the needed pods.")]
    ground: Annotated[
        Basis,
        Meta(
            description="Basis of the verdict: `seen` if a loss takes too many pods now, else `proved`, `played` or "
            "`none`."
        ),
    ]
    constraints: Annotated[tuple[str, ...], Meta(description="Constraints in force, in words.")]
    sizes: Annotated[
        Bounds | None, Meta(description="Replicas that an autoscaler allows; null if `replicas` is the only number.")
    ] = None
    has_unjudged: Annotated[bool, Meta(description="Whether pods of the workload are not judged.")] = False
    events: Annotated[tuple[PromisedEvent, ...], Meta(description="Events, losses first.")]


class PromiseShow(Answer, frozen=True, kw_only=True):
    """Does each event leave the declared pods? Without a declaration: does each loss leave a pod, or the quorum?"""

    PAGE: ClassVar[str] = "topospread.render.pages.promise_show:page"

    kind: Annotated[str, Meta(description="`PromiseShow`.")] = "PromiseShow"
    workloads: Annotated[tuple[PromisedWorkload, ...], Meta(description="Each workload.")]
    next: Annotated[
        tuple[str, ...],
        Meta(description="Words of the command to run next, for the first workload with a problem."),
    ] = ()
    warnings: Annotated[tuple[str, ...], Meta(description="Warnings about the input.")] = ()
    notes: Annotated[tuple[str, ...], Meta(description="Notes about the input.")] = ()


def promise_show(  # noqa: PLR0913 - keyword arguments
    inventory: Inventory,
    targets: Sequence[str] = (),
    options: SimulationOptions = PLAIN,
    *,
    namespace: str | None = None,
    selector: str | None = None,
    declared: Sequence[DeclaredPromise] = (),
    most: int | None = None,
    states: int = 2_000,
    seconds: float = 3.0,
    typed: Sequence[str] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> PromiseShow:
    """Return how many pods workloads keep after losses, a drain, a rollout and scaling.

    The counts of losses hold for any order of the pods and any feasible node. Drills simulate the recovery.

    Args:
        inventory: the input, which is not changed.
        targets: workloads, ``[NAMESPACE/]KIND/NAME``; by default all that have replicas.
        options: the control plane, and how pods are placed.
        namespace: namespace of targets without one.
        selector: without targets, workloads whose pods have these labels, as for ``kubectl get -l``.
        declared: promises in the project's settings (`topospread.find_settings`), which apply besides annotations.
        most: number of domains and nodes per workload that are drilled, fullest first; by default 20 for a single
            workload, else 1.
        states: maximum number of cluster states searched for each count.
        seconds: time limit of the search for each count, and of repeating each simulated event.
        typed: command-line words for the same input, for `next`; by default the files that were read.
        progress: receives the name of each search or simulation before it begins.

    Returns:
        the answer, with the events of each workload.

    Raises:
        InputError: if an object is not valid.
        UsageError: if a target does not exist, or there is no workload.
    """
    workloads = prepare(inventory, replace(options, preemption=False), with_spreads=False).plan.workloads
    chosen = chosen_workloads(workloads, targets, namespace, selector)
    wants = [tuple(declared_wants(inventory, each, declared)) for each in chosen]
    keys = [key_of(each) for each in chosen]
    drilled = most or (20 if len(keys) == 1 else 1)
    every = shown(inventory, options, keys, SearchBudget(states, seconds), drilled, progress=progress)
    found = [
        replace(each, declared=own, sizes=_sizes(workload))
        for each, own, workload in zip(every, wants, chosen, strict=True)
    ]
    parts = {each.what: each for one in found for each in one.unjudged}
    without_node = [each for each in parts.values() if each.what != ORDERS]
    beside = any(one.is_beside_unjudged and any(event.runs for event in one.events) for one in found)
    assumed = (*([PODS_ANYWHERE] if without_node else []), *([WITHOUT_UNJUDGED] if beside else []))
    broken = [each for each in found if each.verdict == "no"]
    sized = list(_at_one_size(chosen))
    blocking = dict.fromkeys(name for each in found for name in each.blocking)
    verdict = worst(each.verdict for each in found)
    if verdict == "unknown" and not parts:
        why = next((each.undecided for each in found if each.verdict == "unknown"), "")
        because = f"the search of all orders ended after {states} states (--states) or {seconds:g} s (--seconds)"
        parts["budget"] = Unjudged(what="budget", because=why or because)
    return PromiseShow(
        verdict=verdict,
        says=_says(found, broken, sized) + (blocked_drains(blocking) if verdict == "yes" else ""),
        causes=tuple(_cause(each) for each in broken[:3]),
        unjudged=merged(parts.values(), *(event.unjudged for one in found for event in one.events)),
        assumed=assumed,
        on=asked_of(inventory, options),
        workloads=tuple(map(_workload, found)),
        next=_next(found, input_words(inventory) if typed is None else typed),
        warnings=(
            *inventory.warnings,
            *sized,
            *(() if targets or selector else _left_out(workloads, namespace)),
        ),
        notes=tuple(inventory.notes),
    )


def _sizes(workload: Workload) -> Bounds | None:
    """Return the numbers of replicas that an autoscaler allows; ``None`` if it allows one."""
    by = workload.autoscaling
    is_free = by is not None and by.replicas and not by.asked and by.least < by.most
    return Bounds(least=by.least, most=by.most) if by is not None and is_free else None


def _at_one_size(chosen: Iterable[Workload]) -> Iterator[str]:
    """Yield a warning for each workload to which an autoscaler may give another number of pods."""
    for each in chosen:
        if (by := each.autoscaling) is not None and _sizes(each) is not None:
            yield (
                f"{each.namespace}/{each.name} is shown with {counted(each.replicas, 'replica')}, and "
                f"HorizontalPodAutoscaler {by.name} allows {by.least} to {by.most}: topospread promise check judges all"
            )


def _left_out(workloads: Iterable[Workload], namespace: str | None) -> Iterator[str]:
    """Yield a warning about workloads of kinds that have no promises."""
    kinds = Counter(
        "bare pod" if each.kind == "Pod" else each.kind
        for each in workloads
        if each.kind not in KINDS and namespace in (None, each.namespace)
    )
    if kinds:
        yield f"not shown: {', '.join(counted(number, kind) for kind, number in sorted(kinds.items()))}"


def _next(found: Sequence[Shown], typed: Sequence[str] | None) -> tuple[str, ...]:
    """Return the suggested next command; empty if no words name the input.

    The command is for the first workload with a problem: `why` if pods have no node, else `promise design`.
    """
    if typed is None:
        return ()
    for each in found:
        if each.verdict == "no" and _cause(each).code == "pods-pending":
            return ("topospread", "why", short_target(each.key), *typed)
        if each.verdict == "no" and not each.unjudged and each.key[0] in LISTS and each.replicas > 1:
            want = ("--want", " ".join(map(str, each.declared))) if each.declared else ()
            return ("topospread", "promise", "design", short_target(each.key), *want, *typed)
    return ()


def _says(found: Sequence[Shown], broken: Sequence[Shown], sized: Sequence[str]) -> str:
    if len(found) == 1:
        (one,) = found
        name, of = f"{one.key[1]}/{one.key[2]}", "the quorum" if one.needed > 1 else "all pods"
        name += f" with {counted(one.replicas, 'replica')}" if sized else ""
        if one.declared:
            told = {"yes": f"{name} keeps", "no": f"{name} may not keep", "unknown": f"whether {name} keeps"}
            return f"{told[one.verdict]} the pods that its promises declare"
        if broken:
            return f"a single loss can take {of} of {name}"
        is_open = one.verdict == "unknown"
        return f"whether a single loss can take {of} of {name}" if is_open else f"no single loss takes {of} of {name}"
    of = counted(len(found), "workload")
    unknown = sum(each.verdict == "unknown" for each in found)
    undecided = f"{unknown} of {of} {'is' if unknown == 1 else 'are'} not decided"
    if broken:
        event = "an event" if any(each.declared for each in broken) else "a single loss"
        says = f"{event} can leave too few pods in {len(broken)} of {of}"
        return f"{says}; {undecided}" if unknown else says
    at = ", at their present sizes" if sized else ""
    return undecided if unknown else f"every single loss leaves enough pods of all {of}{at}"


def _cause(one: Shown) -> Cause:
    """Return why a loss takes too many pods, from their current nodes or from the nodes that filters allow."""
    loss, least = next((each, least) for each, least in one.asked if each.leaves.at_least(least) == "no")
    name, left = f"{one.key[1]}/{one.key[2]}", f"{loss.leaves.most} of {one.replicas} pods"
    if loss.when not in _WHAT:
        says = f"{name}: a {loss.when} can leave {left}, {least} are declared"
        return Cause(code="promise-broken", says=says, objects=(name,))
    what = _WHAT[loss.when]
    if loss.basis == "seen":
        return Cause(code="pods-together", says=f"{name}: losing a {what} now leaves {left}", objects=(name,))
    if loss.shared:
        return Cause(code="pods-together", says=f"{name}: losing a {what} leaves 0 ({loss.shared})", objects=(name,))
    hard = [each for each in one.constraints if each.hard and each.topology_key == loss.key]
    counting = [each for each in hard if each.counts_itself]
    strictest = max(counting, key=lambda each: _allowed(each, one.replicas), default=None)
    code = "not-kept-apart"
    if one.placed < one.replicas and (strictest is None or loss.leaves.most < _allowed(strictest, one.replicas)):
        code, why = "pods-pending", f"{one.replicas - one.placed} of its pods find no node"
    elif strictest is None:
        why = f"{hard[0].selector} matches none of its pods" if hard else f"no hard constraint over {loss.key}"
    elif loss.leaves.most >= _allowed(strictest, one.replicas):
        why = f"maxSkew {strictest.max_skew} allows it"
    elif loss.orders is not None and loss.orders.least >= least:
        why = f"a rollout can end above maxSkew {strictest.max_skew}, as old pods count"
    else:
        code, why = "pods-pending", "in some orders, some pods find no node"
    return Cause(code=code, says=f"{name}: losing a {what} can leave {left} ({why})", objects=(name,))


def _allowed(constraint: ConstraintStatus, replicas: int) -> int:
    """Return the fewest pods outside one domain that a hard constraint allows if all replicas have nodes."""
    domains, skew = max(constraint.eligible, 1), constraint.max_skew
    fullest = (
        skew if constraint.lacks_domains else max((replicas + (domains - 1) * skew) // domains, min(skew, replicas))
    )
    return max(replicas - fullest, 0)


def _workload(one: Shown) -> PromisedWorkload:
    kind, namespace, name = one.key
    needed = {each.when: least for each, least in one.asked}
    return PromisedWorkload.like(
        one,
        kind=kind,
        namespace=namespace,
        name=name,
        declared=" ".join(map(str, one.declared)),
        ground=one.basis,
        constraints=tuple(
            f"{each.when_unsatisfiable} over {each.topology_key}, maxSkew {each.max_skew}" for each in one.constraints
        ),
        events=tuple(_event(each, needed.get(each.when)) for each in one.events),
    )


def _event(each: ShownEvent, needed: int | None) -> PromisedEvent:
    return PromisedEvent.like(
        each, needed=needed, ground=each.basis, message=each.why, steps=tuple(map(str, each.steps))
    )
