"""The answer of ``topospread promise design``: constraints that keep the wanted promises, with reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from msgspec import Meta, to_builtins
from msgspec.json import encode
from msgspec.structs import replace as with_fields

from topospread.answer import Answer, Cause, Unjudged
from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.api.meta import Annotations
from topospread.api.promises import PROMISE, Want, read_wants
from topospread.api.workload import DeploymentSpec
from topospread.base import Base, Word, worst
from topospread.controllers.scale import short_target, the_workload
from topospread.drill.placed_pods import without_pods_of
from topospread.errors import Place, UsageError
from topospread.lint.settings import DeclaredPromise
from topospread.promise.asking import prepared_with_groups, unjudged_classes, unjudged_parts
from topospread.promise.design import Design, design
from topospread.promise.fresh import LISTS, autoscaling_of, simulated_replicas, without_unjudged, workload_of
from topospread.promise.in_place import replacements
from topospread.promise.kept import WorkloadPromises, budgets_over
from topospread.promise.orders import SearchBudget
from topospread.promise.questions import LOSSES
from topospread.promise.wants import wanted_of
from topospread.simulation.budgets import desired_healthy
from topospread.simulation.options import PLAIN, SimulationOptions
from topospread.text import did_you_mean

from .asked import asked_of
from .promise_check import refuse_unread_annotations, wants_of_item
from .words import agreeing, blocked_drains, counted

Progress = Callable[[int, int | None], None]


class DesignLine(Base, frozen=True, kw_only=True):
    """A part of the design, with its reason."""

    line: Annotated[str, Meta(description="The part, for example `nodeTaintsPolicy: Honor`.")]
    reason: Annotated[str, Meta(description="The failure without this line.")]
    wanted: Annotated[
        bool, Meta(description="Whether a wanted promise fails without it; otherwise the failure is a side effect.")
    ] = True


class DesignedWorkload(Base, frozen=True, kw_only=True):
    """A workload and its design."""

    kind: Annotated[str, Meta(description="Kind of the workload.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    replicas: Annotated[int, Meta(description="Desired pods.")]
    verdict: Annotated[Word, Meta(description="Whether a design keeps everything that is wanted.")]
    asked: Annotated[tuple[str, ...], Meta(description="What is wanted, a phrase each.")]
    lines: Annotated[tuple[DesignLine, ...], Meta(description="Added lines, each with the want that fails without it.")]
    manifest: Annotated[str, Meta(description="The lines as YAML for server-side apply; empty if nothing is added.")]
    file: Annotated[str, Meta(description="Name of the manifest's file with `--out`.")]
    checked: Annotated[tuple[str, ...], Meta(description="Checks that the design passed, a phrase each.")]
    unmet: Annotated[
        tuple[str, ...],
        Meta(description="Wants that fail; if the verdict is yes, side effects that remain."),
    ]
    conflict: Annotated[
        tuple[str, ...],
        Meta(description="The smallest set of wants that no tried design keeps together; empty if it is not known."),
    ] = ()
    tried: Annotated[int, Meta(description="Designs that were checked.")]
    changes: Annotated[
        tuple[str, ...],
        Meta(description="Values of the manifest that the design replaces, each as `FIELD: OLD → NEW`."),
    ] = ()
    declare: Annotated[
        str,
        Meta(description="The annotation that the manifest adds to declare the kept promises; empty if none."),
    ] = ""


class PromiseDesign(Answer, frozen=True, kw_only=True):
    """Is there a design that keeps the wanted promises?"""

    PAGE: ClassVar[str] = "topospread.render.pages.promise_design:page"

    kind: Annotated[str, Meta(description="`PromiseDesign`.")] = "PromiseDesign"
    workloads: Annotated[tuple[DesignedWorkload, ...], Meta(description="Each workload with its design.")]
    edited: Annotated[tuple[str, ...], Meta(description="Files that were edited with `--in-place`.")] = ()
    folder: Annotated[str, Meta(description="Folder of `--out`; empty without it.")] = ""
    unwritten: Annotated[
        tuple[str, ...],
        Meta(description="Workloads whose design `--in-place` and `--out` do not write, as it is not decided."),
    ] = ()
    check: Annotated[tuple[str, ...], Meta(description="Words of the command that checks the written promises.")] = ()
    warnings: Annotated[tuple[str, ...], Meta(description="Warnings about the input.")] = ()
    notes: Annotated[tuple[str, ...], Meta(description="Notes about the input.")] = ()


def promise_design(  # noqa: PLR0913 - keyword arguments
    inventory: Inventory,
    targets: Sequence[str] = (),
    options: SimulationOptions = PLAIN,
    *,
    want: str = "",
    declared: Sequence[DeclaredPromise] = (),
    survive: Sequence[str] = (),
    left: Sequence[int | str] = (),
    replicas: int | None = None,
    unnoticed: bool = False,
    namespace: str | None = None,
    among: Collection[ObjectKey] = (),
    tries: int = 60,
    states: int = 5_000,
    progress: Progress | None = None,
) -> PromiseDesign:
    """Search for the fewest constraints that keep the wanted promises.

    Drills and searches check each design.

    Args:
        inventory: the input, which is not changed.
        targets: Deployments and StatefulSets, ``[NAMESPACE/]KIND/NAME``; by default all with two pods or more.
        want: promises besides those that the workload declares: ``zone-loss>=4``, ``drain>=66%`` …; without any, the
            loss of one zone may take only its share of the pods.
        declared: promises in the project's settings (`topospread.find_settings`), which select workloads by labels.
        survive: topology keys, or ``zone`` or ``node``: the loss of any one domain must leave enough pods.
        left: number or share (``50%``) of the pods that must survive, one for each item of `survive`.
        replicas: replicas of each workload; by default the manifest's.
        unnoticed: require that a node's loss takes at most one pod, which becomes ready elsewhere, and that any node
            can be drained.
        options: the control plane, and how pods are placed.
        namespace: namespace of targets without one.
        among: objects among which targets are searched first, and which are designed without targets; by default all.
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
    asked_for, of_key = read_wants(want), dict[ObjectKey, Mapping[Want, Place]]()
    parts: dict[str, Unjudged] = {}
    given, like = inventory, dict[Hashable, Design]()
    for key in _chosen(inventory, targets, namespace, among):
        unjudged = _unjudged(inventory, options, key)
        parts |= {each.what: each for each in unjudged}
        number = replicas or simulated_replicas(given, key)
        item = workload_of(inventory, key)
        refuse_unread_annotations(inventory, key, item)
        own = of_key[key] = wants_of_item(inventory, key, item, item.spec.template.metadata.labels or {}, declared)
        wants = tuple(dict.fromkeys((*asked_for, *(each for each in own if not _is_replaced(each, asked_for, number)))))
        losses, others = wanted_of(inventory, wants, number) if wants or not (survive or unnoticed) else ({}, ())
        counts = [each if isinstance(each, int) else read_wants(f"zone-loss>={each}")[0].least(number) for each in left]
        least_of = [
            max(least, losses.pop(LOSSES.get(each, each), 0)) for each, least in zip(survive, counts, strict=False)
        ]
        asked = tuple(f"a loss leaves {least} of {number}" for least in losses.values() if least >= number)
        # The loss of a domain with a pod takes at least this pod.
        unmet = tuple(f"the loss of a domain with a pod leaves {number - 1} of {number} at most" for _ in asked[:1])
        if asked:
            one = Design(*key, number, asked, False, (), (), (), unmet, 0, given, is_impossible=True)
            designs.append((one, _designed(one, given, is_judged=True, is_open=False)))
            continue
        # Each design takes the previous designs into account.
        known = without_unjudged(given, key) if unjudged else given
        one = design(
            known,
            short_target(key),
            options,
            survive=(*survive, *losses),
            left=(*least_of, *counts[len(survive) :], *losses.values()),
            others=others,
            replicas=replicas,
            unnoticed=unnoticed,
            tries=tries,
            states=states,
            progress=progress,
            known=None if unjudged else like,
        )
        is_open = bool(unjudged and _unjudged(known, options, key))
        designed = _designed(one, given, is_judged=not unjudged, is_open=is_open)
        designs.append((one, designed))
        given = one.inventory if designed.verdict == "yes" else given
    found = [each for _, each in designs]
    if len(found) > 1:
        found = [_beside_others(one, each, given, options, states) for one, each in designs]
    for each in found:
        if each.verdict == "unknown" and not parts:
            because = (
                f"{counted(each.tried, 'checked design')} (--tries) were not enough, and more designs are possible"
            )
            parts["budget"] = Unjudged(what="budget", because=because)
            if not each.manifest and each.tried < tries:
                parts["budget"] = Unjudged(what="designs", because="other changes of the manifest are not tried")
            elif each.manifest:
                parts["budget"] = Unjudged(what="budget", because=each.unmet[-1])
    kept = sum(each.verdict == "yes" for each in found)
    found = [_declaring(inventory, one, each, asked_for, of_key) for (one, _), each in zip(designs, found, strict=True)]
    names = Counter(each.file for each in found)
    found = [with_fields(each, file=_whole_name(each)) if names[each.file] > 1 else each for each in found]
    verdict = worst(each.verdict for each in found)
    blocked = list(_blocked_drains(inventory, [one for one, _ in designs]))
    asked_to = dict.fromkeys(name for one, name in blocked if _wants_drains(one))
    return PromiseDesign(
        verdict=verdict,
        says=_says(found, kept) + (blocked_drains(asked_to) if verdict == "yes" else ""),
        causes=tuple(_causes(found)),
        unjudged=tuple(parts.values()),
        assumed=tuple(f"{each.what} let every node pass" for each in parts.values() if each.pods),
        on=asked_of(inventory, options),
        workloads=tuple(sorted(found, key=lambda each: {"no": 0, "unknown": 1, "yes": 2}[each.verdict])),
        warnings=(
            *inventory.warnings,
            *_fewer_replicas(found, inventory),
            *_without_design(inventory, found, targets, among),
            *(
                f"PodDisruptionBudget {name} blocks every drain of a node with a pod of {one.namespace}/{one.name}; "
                f'--want "drain>={one.replicas - 1}" lowers it'
                for one, name in blocked
                if one.replicas > 1 and not _wants_drains(one)
            ),
            *(
                f"promise check does not check the loss of {each}: only the loss of zones and nodes can be declared"
                for each in survive
                if LOSSES.get(each, each) not in LOSSES.values()
            ),
        ),
        notes=tuple(inventory.notes),
    )


def _declaring(
    inventory: Inventory,
    one: Design,
    designed: DesignedWorkload,
    wants: Sequence[Want],
    declared: Mapping[ObjectKey, Mapping[Want, Place]],
) -> DesignedWorkload:
    """Return a kept design with the annotation that declares its promises beside those of the workload."""
    if designed.verdict != "yes":
        return designed
    key = key_of(one)
    annotations = workload_of(inventory, key).metadata.annotations or Annotations()
    new: list[Want] = []
    for each in (*wants, *one.wants):
        if not any(mine.includes(each, one.replicas) for mine in (*declared[key], *new)):
            new.append(each)
    if not new:
        return designed
    by = [each for each in new if each in wants]
    kept = (each for each in read_wants(annotations.promise or "") if not _is_replaced(each, by, one.replicas))
    declare = " ".join(map(str, (*kept, *new)))
    metadata = {"name": one.name, "namespace": one.namespace, "annotations": {PROMISE: declare}}
    own_part = next((each for each in one.objects if each["kind"] == one.kind), {})
    budgets = [each for each in one.objects if each is not own_part]
    objects = {"apiVersion": "apps/v1", "kind": one.kind, **own_part, "metadata": metadata}, *budgets
    return with_fields(designed, declare=declare, manifest=replace(one, objects=objects).manifest)


def _is_replaced(declared: Want, wants: Sequence[Want], replicas: int) -> bool:
    """Return whether one of the wanted promises implies the declared promise."""
    return any(each.about == declared.about and each.includes(declared, replicas) for each in wants)


def _wants_drains(one: Design) -> bool:
    return any(each.about == "drain" for each in one.wants)


def _fewer_replicas(found: Iterable[DesignedWorkload], inventory: Inventory) -> Iterator[str]:
    """Yield a warning for each design whose workload may have fewer replicas."""
    for each in found:
        scaling = autoscaling_of(inventory, key_of(each))
        if scaling is not None and scaling.least < each.replicas:
            yield (
                f"{each.namespace}/{each.name} is designed for {each.replicas} replicas, and HorizontalPodAutoscaler "
                f"{scaling.name} allows {scaling.least}: see what --of {scaling.least} gives"
            )


def _blocked_drains(inventory: Inventory, designs: Iterable[Design]) -> Iterator[tuple[Design, str]]:
    """Yield each design with a budget that lets no pod of its workload be evicted."""
    for one in designs:
        labels = workload_of(inventory, key_of(one)).spec.template.metadata.labels or {}
        budgets = [each for each, _ in budgets_over(one.inventory, one.namespace, labels)]
        if len(budgets) == 1 and one.replicas and desired_healthy(budgets[0], one.replicas) >= one.replicas:
            yield one, f"{one.namespace}/{budgets[0].metadata.name}"


def _without_design(
    inventory: Inventory, found: Sequence[DesignedWorkload], targets: Sequence[str], among: Collection[ObjectKey]
) -> Iterator[str]:
    """Yield a warning about workloads of one pod, which have no design unless they are named."""
    spaces = {each.namespace for each in found}
    left = sum(key[1] in spaces for key in _designable(inventory, among)) - len(found)
    if left and not targets:
        yield f"{counted(left, 'workload')} of fewer than two pods {agreeing('have', left)} no design"


def _designable(inventory: Inventory, among: Collection[ObjectKey]) -> list[ObjectKey]:
    """Return the Deployments and StatefulSets among some objects, or all."""
    keys = [(kind, each.namespace, each.name) for kind, name in LISTS.items() for each in getattr(inventory, name)]
    return [key for key in keys if not among or key in among]


def _target(target: str, inventory: Inventory, namespace: str | None, among: Collection[ObjectKey]) -> ObjectKey:
    with suppress(UsageError):
        return the_workload(target, _designable(inventory, among), namespace)
    return the_workload(target, _designable(inventory, ()), namespace)


def _chosen(
    inventory: Inventory, targets: Sequence[str], namespace: str | None, among: Collection[ObjectKey]
) -> list[ObjectKey]:
    """Return the target workloads, or those of some objects with at least two pods.

    Raises:
        UsageError: if a target does not exist, or there is no workload.
    """
    if targets:
        return list(dict.fromkeys(_target(each, inventory, namespace, among) for each in targets))
    keys = _designable(inventory, among)
    found = [key for key in keys if simulated_replicas(inventory, key) > 1 and namespace in (None, key[1])]
    if not found:
        spaces = {key[1] for key in keys}
        if namespace is None or namespace in spaces:
            where = "; -A designs the workloads of the cluster, too" if among else ""
            raise UsageError(f"{'-f has ' if among else ''}no Deployment or StatefulSet with two pods or more{where}")
        hint = did_you_mean(namespace, spaces, f"namespaces with such workloads: {', '.join(sorted(spaces))}")
        raise UsageError(f'no Deployment or StatefulSet in the namespace "{namespace}"{hint}')
    return found


def _unjudged(inventory: Inventory, options: SimulationOptions, key: ObjectKey) -> tuple[Unjudged, ...]:
    how = replace(options, preemption=False, tries_groups=True)
    run = prepared_with_groups(without_pods_of(inventory, key), how)
    own = [each for each in run.queue if key_of(each.workload) == key]
    return unjudged_parts(run, own, unjudged_classes(run, own))


def _designed(one: Design, inventory: Inventory, *, is_judged: bool, is_open: bool) -> DesignedWorkload:
    """Return a design as data.

    Args:
        one: the design.
        inventory: the input without the design.
        is_judged: whether topospread can judge all parts of the pods.
        is_open: whether a part that it cannot judge may be the reason for a failure.
    """
    verdict: Word = "yes" if one.promises else "no"  # a failed search alone proves nothing
    if (not is_judged or one.is_open) if one.promises else is_open or not one.is_impossible:
        verdict = "unknown"
    return DesignedWorkload.like(
        one,
        verdict=verdict,
        lines=tuple(DesignLine(line=each.line, reason=each.reason, wanted=each.is_wanted) for each in one.lines),
        file=f"{one.namespace}-{one.name}.yaml",
        changes=tuple(_changes(one, inventory)),
    )


def _changes(one: Design, inventory: Inventory) -> Iterator[str]:
    """Yield the values that the design's objects replace in a workload and in its budget."""
    spec = workload_of(inventory, key_of(one)).spec
    pod = {
        "topologySpreadConstraints": [each.to_dict() for each in spec.template.spec.topology_spread_constraints or ()]
    }
    strategy = {"strategy": to_builtins(spec.strategy)} if isinstance(spec, DeploymentSpec) and spec.strategy else {}
    replicas = {} if spec.replicas is None else {"replicas": spec.replicas}
    budgets = {each.metadata.name: each for each in inventory.pod_disruption_budgets if each.namespace == one.namespace}
    for each in one.objects:
        there: dict[str, Any] = {"spec": {**replicas, **strategy, "template": {"spec": pod}}}
        if each["kind"] != one.kind:
            budget = budgets.get(each["metadata"]["name"])
            there = {"spec": to_builtins(budget.spec)} if budget else {}
        for path, old, new in replacements(there, {"spec": each["spec"]} if there else {}):
            field = path.removeprefix("spec.template.spec.")
            yield f"{field}: {_in_one_line(old)} → {_in_one_line(new)}"


def _in_one_line(value: Any) -> str:
    return value if isinstance(value, str) else encode(value).decode()


def _whole_name(one: DesignedWorkload) -> str:
    """Return a file name that no other workload has, because names have no underscore."""
    return f"{one.namespace}_{one.kind.lower()}_{one.name}.yaml"


def _beside_others(
    one: Design, designed: DesignedWorkload, inventory: Inventory, options: SimulationOptions, states: int
) -> DesignedWorkload:
    """Check a design again on the cluster with all designs applied, and return it with the result."""
    if designed.verdict != "yes":
        return designed
    key = key_of(one)
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
            choices = sum(not each.wanted for each in one.lines)
            with_lines = f"with {counted(len(one.lines), 'added line')}" if one.lines else "without a change"
            with_lines += f", {choices} of them by choice" if 0 < choices < len(one.lines) else ""
            with_lines += ", by choice" if choices and choices == len(one.lines) else ""
            return f"{name} keeps the wanted promises {with_lines}"
        if one.verdict == "no":
            return f"no design of {name} keeps the wanted promises"
        if _failed(one):
            return f"no design of {name} was found that keeps the wanted promises ({one.tried} tried)"
        return f"whether a design of {name} keeps the wanted promises"
    return f"{kept} of {counted(len(found), 'workload')} can keep the wanted promises"


def _failed(one: DesignedWorkload) -> bool:
    """Return whether no design was found."""
    return one.verdict != "yes" and bool(one.unmet) and not one.lines


def _causes(found: Sequence[DesignedWorkload]) -> Iterator[Cause]:
    for each in [each for each in found if _failed(each)][:3]:
        says = each.unmet[0]
        if each.conflict and len(each.asked) > 1:
            number = "both" if len(each.conflict) == 2 else "all of"
            says = f"no tried design keeps {f'{number}: ' * (len(each.conflict) > 1)}{'; '.join(each.conflict)}"
        yield Cause(code="no-design", says=says, objects=(f"{each.namespace}/{each.name}",))
