"""The answer of ``topospread promise design``: constraints that keep the wanted promises, with reasons."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar

from msgspec import Meta
from msgspec.structs import replace as with_fields

from topospread.answer import Answer, Cause, Unjudged
from topospread.api.inventory import Inventory, ObjectKey
from topospread.base import Base, Word, worst
from topospread.controllers.scale import short_target, the_workload
from topospread.drill.placed_pods import without_pods_of
from topospread.errors import UsageError
from topospread.promise.asking import unjudged_classes, unjudged_parts
from topospread.promise.design import Design, design
from topospread.promise.fresh import LISTS, autoscaling_of, simulated_replicas, without_unjudged
from topospread.promise.kept import WorkloadPromises
from topospread.promise.orders import SearchBudget
from topospread.promise.wants import wanted_of
from topospread.simulation.options import PLAIN, SimulationOptions
from topospread.simulation.run import prepare

from .asked import asked_of
from .words import agreeing, counted

Progress = Callable[[int, int | None], None]


class DesignLine(Base, frozen=True, kw_only=True):
    """A part of the design, with its reason."""

    line: Annotated[str, Meta(description="The part, for example `nodeTaintsPolicy: Honor`.")]
    reason: Annotated[str, Meta(description="What fails without it.")]


class DesignedWorkload(Base, frozen=True, kw_only=True):
    """A workload and its design."""

    kind: Annotated[str, Meta(description="Kind of the workload.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    replicas: Annotated[int, Meta(description="Pods that it is to have.")]
    verdict: Annotated[Word, Meta(description="Whether a design keeps everything that is wanted.")]
    asked: Annotated[tuple[str, ...], Meta(description="What is wanted, a phrase each.")]
    lines: Annotated[tuple[DesignLine, ...], Meta(description="Added lines, each with the want that fails without it.")]
    manifest: Annotated[str, Meta(description="The lines as YAML for server-side apply; empty if nothing is added.")]
    file: Annotated[str, Meta(description="Name of the manifest's file with `--out`.")]
    checked: Annotated[tuple[str, ...], Meta(description="What the design was checked for, a phrase each.")]
    unmet: Annotated[
        tuple[str, ...],
        Meta(description="Wants that fail if the verdict is not yes; with yes, wishes that are not kept."),
    ]
    conflict: Annotated[
        tuple[str, ...],
        Meta(description="The smallest set of wants that no tried design keeps together; empty if it is not known."),
    ] = ()
    tried: Annotated[int, Meta(description="Designs that were checked.")]


class PromiseDesign(Answer, frozen=True, kw_only=True):
    """Is there a design that keeps the wanted promises?"""

    PAGE: ClassVar[str] = "topospread.render.pages.promise_design:page"

    kind: Annotated[str, Meta(description="`PromiseDesign`.")] = "PromiseDesign"
    workloads: Annotated[tuple[DesignedWorkload, ...], Meta(description="Each workload with its design.")]
    edited: Annotated[tuple[str, ...], Meta(description="Files that were edited with `--in-place`.")] = ()
    folder: Annotated[str, Meta(description="Folder of `--out`; empty without it.")] = ""
    check: Annotated[tuple[str, ...], Meta(description="Words of the command that checks the files of `--out`.")] = ()
    warnings: Annotated[tuple[str, ...], Meta(description="Warnings about the input.")] = ()
    notes: Annotated[tuple[str, ...], Meta(description="Notes about the input.")] = ()


def promise_design(  # noqa: PLR0913 - keyword arguments
    inventory: Inventory,
    targets: Sequence[str] = (),
    options: SimulationOptions = PLAIN,
    *,
    want: str = "",
    survive: Sequence[str] = (),
    left: Sequence[int] = (),
    replicas: int | None = None,
    unnoticed: bool = False,
    namespace: str | None = None,
    tries: int = 60,
    states: int = 5_000,
    progress: Progress | None = None,
) -> PromiseDesign:
    """Search for the fewest constraints that keep the wanted promises.

    Drills and searches check each design.

    Args:
        inventory: the input, which is not changed.
        targets: Deployments and StatefulSets, ``[NAMESPACE/]KIND/NAME``; by default all with two pods or more.
        want: promises: ``zone-loss>=4``, ``drain>=66%`` …; by default the loss of one zone takes only its share of the
            pods.
        survive: topology keys, or ``zone`` or ``node``: the loss of any one domain must leave enough pods.
        left: number of pods that must survive, one for each item of `survive`.
        replicas: replicas of each workload; by default the manifest's.
        unnoticed: require that a node's loss takes at most one pod, which becomes ready elsewhere, and that any node
            can be drained.
        options: the control plane, and how pods are placed.
        namespace: namespace of targets without one.
        tries: maximum number of designs checked for each workload.
        states: maximum number of cluster states searched for each design.
        progress: receives the number of designs that were checked.

    Returns:
        the answer, with a manifest for each workload.

    Raises:
        InputError: if an object is not valid.
        UsageError: if a target does not exist, or a wanted promise is not valid.
    """
    designs: list[tuple[Design, DesignedWorkload]] = []
    parts: dict[str, Unjudged] = {}
    given, like = inventory, dict[Hashable, Design]()
    for key in _chosen(inventory, targets, namespace):
        unjudged = _unjudged(inventory, options, key)
        parts |= {each.what: each for each in unjudged}
        wanted = wanted_of(inventory, key, want, replicas) if want or not (survive or unnoticed) else ((), (), ())
        number = replicas or simulated_replicas(given, key)
        asked = tuple(f"a loss leaves {least} of {number}" for least in wanted[1] if least >= number)
        # A domain that has a pod takes it.
        unmet = tuple(f"the loss of a domain with a pod leaves {number - 1} of {number} at most" for _ in asked[:1])
        blocked = [str(each) for each in wanted[2] if each.about == "drain" and each.least(number) >= number]
        if asked or blocked:
            asked, unmet = (*asked, *blocked), unmet or (f"if all {number} pods have to stay, no node can be drained",)
            one = Design(*key, number, asked, False, (), "", (), unmet, 0, given, is_impossible=True)
            designs.append((one, _designed(one, is_judged=True, is_open=False)))
            continue
        # Each design takes the previous designs into account.
        known = without_unjudged(given, key) if unjudged else given
        one = design(
            known,
            short_target(key),
            options,
            survive=(*survive, *wanted[0]),
            left=(*left, *wanted[1]),
            others=wanted[2],
            replicas=replicas,
            unnoticed=unnoticed,
            tries=tries,
            states=states,
            progress=progress,
            known=None if unjudged else like,
        )
        is_open = bool(unjudged and _unjudged(known, options, key))
        designs.append((one, _designed(one, is_judged=not unjudged, is_open=is_open)))
        given = given if unjudged else one.inventory
    found = [each for _, each in designs]
    if len(found) > 1:
        found = [_beside_others(one, each, given, options, states) for one, each in designs]
    for each in found:
        if each.verdict == "unknown" and not parts:
            because = f"{counted(each.tried, 'checked design')} (--tries) did not suffice, and more are possible"
            parts["budget"] = Unjudged(what="budget", because=because)
            if not each.manifest and each.tried < tries:
                parts["budget"] = Unjudged(what="designs", because="other changes of the manifest are not tried")
            elif each.manifest:
                parts["budget"] = Unjudged(what="budget", because=each.unmet[-1])
    kept = sum(each.verdict == "yes" for each in found)
    return PromiseDesign(
        verdict=worst(each.verdict for each in found),
        says=_says(found, kept),
        causes=tuple(_causes(found)),
        unjudged=tuple(parts.values()),
        assumed=tuple(f"{each.what} let every node pass" for each in parts.values() if each.pods),
        on=asked_of(inventory, options),
        workloads=tuple(sorted(found, key=lambda each: {"no": 0, "unknown": 1, "yes": 2}[each.verdict])),
        warnings=(*inventory.warnings, *_fewer_replicas(found, inventory), *_without_design(inventory, found, targets)),
        notes=tuple(inventory.notes),
    )


def _fewer_replicas(found: Iterable[DesignedWorkload], inventory: Inventory) -> Iterator[str]:
    """Yield a warning for each design whose workload may have fewer replicas."""
    for each in found:
        scaling = autoscaling_of(inventory, (each.kind, each.namespace, each.name))
        if scaling is not None and scaling.least < each.replicas:
            yield (
                f"{each.namespace}/{each.name} is designed for {each.replicas} replicas, and HorizontalPodAutoscaler "
                f"{scaling.name} allows {scaling.least}: see what --of {scaling.least} gives"
            )


def _without_design(inventory: Inventory, found: Sequence[DesignedWorkload], targets: Sequence[str]) -> Iterator[str]:
    """Yield a warning about workloads of one pod, which have no design unless they are named."""
    spaces = {each.namespace for each in found}
    every = [each for name in LISTS.values() for each in getattr(inventory, name) if each.namespace in spaces]
    left = len(every) - len(found)
    if left and not targets:
        yield f"{counted(left, 'workload')} of fewer than two pods {agreeing('have', left)} no design"


def _chosen(inventory: Inventory, targets: Sequence[str], namespace: str | None) -> list[ObjectKey]:
    """Return the target workloads, or all with at least two pods.

    Raises:
        UsageError: if a target does not exist, or there is no workload.
    """
    items = [(kind, each) for kind, name in LISTS.items() for each in getattr(inventory, name)]
    keys = [(kind, each.namespace, each.name) for kind, each in items]
    if targets:
        return list(dict.fromkeys(the_workload(each, keys, namespace) for each in targets))
    found = [
        key
        for key, (_, each) in zip(keys, items, strict=True)
        if simulated_replicas(inventory, key) > 1 and namespace in (None, key[1])
    ]
    if not found:
        raise UsageError("no Deployment or StatefulSet with two pods or more")
    return found


def _unjudged(inventory: Inventory, options: SimulationOptions, key: ObjectKey) -> tuple[Unjudged, ...]:
    run = prepare(without_pods_of(inventory, key), replace(options, preemption=False), with_spreads=False)
    own = [each for each in run.queue if (each.workload.kind, each.workload.namespace, each.workload.name) == key]
    return unjudged_parts(run, own, unjudged_classes(run, own))


def _designed(one: Design, *, is_judged: bool, is_open: bool) -> DesignedWorkload:
    """Return a design as data.

    Args:
        one: the design.
        is_judged: whether topospread can judge all parts of the pods.
        is_open: whether a part that it cannot judge may be the reason for a failure.
    """
    verdict: Word = "yes" if one.promises else "no"  # a failed search alone proves nothing
    if (not is_judged or one.is_open) if one.promises else is_open or not one.is_impossible:
        verdict = "unknown"
    return DesignedWorkload(
        kind=one.kind,
        namespace=one.namespace,
        name=one.name,
        replicas=one.replicas,
        verdict=verdict,
        asked=one.asked,
        lines=tuple(DesignLine(line=each.line, reason=each.reason) for each in one.lines),
        manifest=one.manifest,
        file=f"{one.namespace}-{one.name}.yaml",
        checked=one.checked,
        unmet=one.unmet,
        conflict=one.conflict,
        tried=one.tried,
    )


def _beside_others(
    one: Design, designed: DesignedWorkload, inventory: Inventory, options: SimulationOptions, states: int
) -> DesignedWorkload:
    """Return a design, checked again on the cluster with all designs applied."""
    if designed.verdict != "yes":
        return designed
    key = one.kind, one.namespace, one.name
    budget = SearchBudget(states, 10.0)
    by = replace(options.answered_by, preemption=False)
    judge = WorkloadPromises(inventory, by, key, budget, {}, only_whole=True)
    broken = [each for each in judge.kept(one.wants) if each.verdict != "yes"]
    if not broken:
        return designed
    unmet = tuple(f"{each.want} beside the other designs: {each.part}" for each in broken)
    if worst(each.verdict for each in broken) == "unknown":
        return with_fields(designed, verdict="unknown", unmet=(*designed.unmet, *unmet))
    return with_fields(designed, verdict="unknown", unmet=unmet, lines=(), manifest="")


def _says(found: Sequence[DesignedWorkload], kept: int) -> str:
    if len(found) == 1:
        (one,) = found
        name = f"{one.namespace}/{one.name}"
        if one.verdict == "yes":
            parts = counted(len(one.lines), "line")
            return f"{name} keeps what is wanted with {parts}" if one.lines else f"{name} keeps it as it is"
        if one.verdict == "no":
            return f"no design keeps what is wanted of {name}"
        if _failed(one):
            return f"none of {counted(one.tried, 'design')} keeps what is wanted of {name}"
        return f"whether a design keeps what is wanted of {name}"
    return f"a design keeps what is wanted of {kept} of {counted(len(found), 'workload')}"


def _failed(one: DesignedWorkload) -> bool:
    """Return whether no design was found."""
    return one.verdict != "yes" and bool(one.unmet) and not one.lines


def _causes(found: Sequence[DesignedWorkload]) -> Iterator[Cause]:
    for each in [each for each in found if _failed(each)][:3]:
        says = each.unmet[0]
        if each.conflict and len(each.asked) > 1:
            number = "both" if len(each.conflict) == 2 else "all of"
            says = f"no design tried keeps {f'{number}: ' * (len(each.conflict) > 1)}{'; '.join(each.conflict)}"
        yield Cause(code="no-design", says=says, objects=(f"{each.namespace}/{each.name}",))
