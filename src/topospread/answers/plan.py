"""The answer of `plan`: does a change of manifests, configuration or version make nothing worse?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace as with_fields
from typing import Annotated, ClassVar, Literal, NamedTuple

from msgspec import Meta
from msgspec.structs import replace

from topospread.answer import Answer, Asked, Cause, Unjudged
from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.api.kinds import KINDS
from topospread.api.promises import Want
from topospread.base import Base, Bounds, Word, worst
from topospread.config.gates import PREVIEWS
from topospread.config.load import default_configuration
from topospread.config.show import SettingSides, differences
from topospread.controllers.planned import Workload
from topospread.controllers.scale import short_target
from topospread.errors import Place, UsageError
from topospread.lint.rule import Finding
from topospread.lint.settings import DeclaredPromise
from topospread.plan.changed_lines import ADMISSION_POLICIES, ChangedLine, ChangedLines
from topospread.plan.review import Review, only_in
from topospread.plan.rollouts import changed_templates, stuck_rollouts
from topospread.plan.version_changes import deciding_changes
from topospread.promise.compared import (
    Event,
    Ground,
    PromiseChange,
    default_changes,
    lost_promises,
    promise_changes,
    uncompared,
)
from topospread.promise.fresh import LISTS, POD_LISTS, Designed, without_placed_pods
from topospread.promise.orders import SearchBudget
from topospread.promise.simulated_losses import simulated_losses
from topospread.simulation.causes import with_causes
from topospread.simulation.comparison import (
    Comparison,
    PlacementChange,
    SpreadChange,
    compare,
    have_same_start,
    restricted,
)
from topospread.simulation.options import SimulationOptions
from topospread.simulation.outcome import IN_ONE_ORDER
from topospread.simulation.placing import Progress
from topospread.simulation.result import Simulation
from topospread.simulation.simulate import simulate
from topospread.simulation.unknown import merged
from topospread.sources.collection import is_of_replacement
from topospread.sources.folders import OTHER_AT_INSTALLATION

from .asked import about
from .finding import Finding as Problem
from .lint import LintFinding, lint_finding, not_placed
from .promise_check import PromiseRemedy, declared_wants, promise_check, wants_of_item
from .undeclared import UndeclaredPromise, undeclared
from .words import counted, joined, listed

_MOST_CAUSES = 3
_MOST_OWN = 5
_FEWER_LEFT = "nothing is proved to get worse, but a zone loss leaves fewer simulated pods of"
_FEWER_READY = "losses leave more pods, but fewer are ready afterwards:"
_MOST_FIXED = 3
"""Maximum number of workloads for which fixes are tried."""
_WRITTEN_BY_NODES = ("Node", "ResourceSlice", "CSINode", "CSIStorageCapacity")
"""Kinds with the room of nodes, which nodes and their drivers write."""
_COMPARED = frozenset({"Deployment", "StatefulSet", "HorizontalPodAutoscaler", "PodDisruptionBudget", "RuntimeClass"})
"""Kinds whose changes count in the comparison of promises."""
_DECIDING = (
    *ADMISSION_POLICIES,
    *("HorizontalPodAutoscaler", "PodDisruptionBudget"),
)
"""Kinds of which a new object may change the number of a workload's pods or their evictions."""
EVENT_WORDS: Mapping[Event, str] = {
    "zone-loss": "losing a zone leaves",
    "zone-rolled": "losing a zone after a rollout leaves",
    "zone-after": "a zone loss, simulated, ends with",
    "node-loss": "losing a node leaves",
    "node-rolled": "losing a node after a rollout leaves",
    "node-after": "a node loss, simulated, ends with",
    "drains": "draining nodes leaves",
    "rollout": "a rollout leaves",
    "rolled-out": "a rollout replaces",
    "skew": "the promised skew",
    "never-waits": "the promise never-waits",
}
"""Event of a promise → words that precede the number of pods."""


class ChangedField(Base, frozen=True, kw_only=True):
    """A changed field."""

    file: Annotated[str, Meta(description="File of the field; of an old revision `REVISION:FILE`.")]
    line: Annotated[int | None, Meta(description="Line in the file; null if it is not known.")]
    says: Annotated[str, Meta(description="The change in a few words.")]


class PromiseSides(Base, frozen=True, kw_only=True):
    """Pods that an event leaves of a workload, compared between the states before and after the change."""

    kind: Annotated[str, Meta(description="Kind of the workload.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    event: Annotated[
        Event,
        Meta(
            description="`zone-loss`, `node-loss`: pods that any loss leaves. `zone-rolled`, `node-rolled`: pods that "
            "a loss leaves after any rollout, if that differs. `zone-after`, `node-after`: pods that are ready once "
            "lost pods are replaced. `drains`: pods that budgets keep ready while nodes drain. `rollout`: pods that a "
            "rollout keeps ready. `rolled-out`: pods that a simulated rollout replaces. `skew`, `never-waits`: "
            "declared promises without a count."
        ),
    ]
    before: Annotated[Bounds, Meta(description="Pods before the change.")]
    after: Annotated[Bounds, Meta(description="Pods after the change.")]
    replicas: Annotated[tuple[int, int], Meta(description="Replicas before and after.")]
    ground: Annotated[
        Ground,
        Meta(
            description="`proved`: true in every order. `alone`: true in every order if the pods of other workloads "
            "take no room. `played`: one simulation. `none`: undecided."
        ),
    ]
    declared: Annotated[str, Meta(description="Declared promise that decides the verdict; empty without one.")]
    verdict: Annotated[
        Word,
        Meta(description="Whether the declared promise is kept; if none is declared, whether as many pods are left."),
    ]
    better: Annotated[bool, Meta(description="Whether more pods are left than before.")]
    blocks: Annotated[
        bool, Meta(description="Whether budgets let no pod be evicted, unlike before, so a drain does not end.")
    ] = False
    unblocks: Annotated[bool, Meta(description="Whether budgets let a pod be evicted, unlike before.")] = False
    lost_quorum: Annotated[
        int, Meta(description="Quorum of a StatefulSet of which fewer pods are left, unlike before; else 0.")
    ] = 0
    lines: Annotated[tuple[ChangedField, ...], Meta(description="Changed fields that make the result worse.")]


class MoveCause(Base, frozen=True, kw_only=True):
    """The filter or score that explains a pod's other node."""

    kind: Annotated[
        Literal["filter", "score", "tie", "unjudged"],
        Meta(description="What differs. `unjudged`: the pod is not judged on the side where it has no node."),
    ]
    plugin: Annotated[str, Meta(description="Plugin of the filter or score; else empty.")]
    says: Annotated[str, Meta(description="The cause in a sentence.")]
    points: Annotated[
        tuple[int, int] | None,
        Meta(description="For a score: points of the new node minus those of the old node, before and after."),
    ]


class MovedPod(Base, frozen=True, kw_only=True):
    """A pod that has another node, or has a node only before or only after the change."""

    namespace: Annotated[str, Meta(description="Namespace of the pod.")]
    name: Annotated[str, Meta(description="Name of the pod.")]
    workload: Annotated[str, Meta(description="`KIND/NAME` of its workload.")]
    exists: Annotated[tuple[bool, bool], Meta(description="Whether it exists before and after.")]
    nodes: Annotated[tuple[str | None, str | None], Meta(description="Node before and after; null without one.")]
    message: Annotated[str, Meta(description="kube-scheduler's message if it is pending after the change; else empty.")]
    why: Annotated[
        MoveCause | None, Meta(description="The cause; only for the first pods of each workload, or if it is unjudged.")
    ]


class SkewSides(Base, frozen=True, kw_only=True):
    """A constraint whose fields or counts changed."""

    kind: Annotated[str, Meta(description="Kind of the workload.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    topology_key: Annotated[str, Meta(description="Topology key of the constraint.")]
    when_unsatisfiable: Annotated[
        tuple[str | None, str | None], Meta(description="Before and after; null without the constraint.")
    ]
    max_skew: Annotated[
        tuple[int | None, int | None], Meta(description="maxSkew before and after; null without the constraint.")
    ]
    skew: Annotated[tuple[int | None, int | None], Meta(description="Skew before and after.")]
    domains: Annotated[
        tuple[dict[str, int] | None, dict[str, int] | None], Meta(description="Domain → pods, before and after.")
    ]
    exceeded: Annotated[bool, Meta(description="Whether the skew has grown beyond maxSkew.")]


class WorkloadSides(Base, frozen=True, kw_only=True):
    """A workload whose placement changed."""

    kind: Annotated[str, Meta(description="Kind of the workload.")]
    namespace: Annotated[str, Meta(description="Namespace of the workload.")]
    name: Annotated[str, Meta(description="Name of the workload.")]
    placed: Annotated[tuple[Bounds, Bounds], Meta(description="Pods with a node, before and after.")]
    moved: Annotated[tuple[MovedPod, ...], Meta(description="Pods that have another node, or exist on one side only.")]
    skews: Annotated[tuple[SkewSides, ...], Meta(description="Constraints whose fields or counts changed.")]


class Plan(Answer, frozen=True, kw_only=True):
    """The answer of `topospread plan`: does nothing get worse?"""

    PAGE: ClassVar[str] = "topospread.render.pages.plan:page"

    remedies: Annotated[
        tuple[PromiseRemedy, ...],
        Meta(description="For the first workload that breaks a declared promise: tried changes of the new state."),
    ] = ()
    names: Annotated[tuple[str, str], Meta(description="The two states.")]
    reasons: Annotated[tuple[str, ...], Meta(description="Reasons why the change is worse, a few words each.")]
    promises: Annotated[
        tuple[PromiseSides, ...],
        Meta(description="Pods left after losses, for workloads whose spread or replicas change."),
    ]
    undeclared: Annotated[
        tuple[UndeclaredPromise, ...], Meta(description="Promises that only the old state declares.")
    ] = ()
    workloads: Annotated[tuple[WorkloadSides, ...], Meta(description="Workloads whose placement changed.")]
    judged_once: Annotated[
        tuple[str, ...],
        Meta(
            description="Workloads with pods that have a node on one side and are not judged on the other, "
            "NAMESPACE/NAME. Pods of other workloads may move only because of them."
        ),
    ] = ()
    newly_pending: Annotated[tuple[str, ...], Meta(description="Pods that are pending only after the change.")]
    newly_placed: Annotated[tuple[str, ...], Meta(description="Pods that are pending only before the change.")]
    newly_gone: Annotated[
        tuple[str, ...], Meta(description="Pods that are evicted only after the change and not recreated.")
    ]
    new_findings: Annotated[tuple[LintFinding, ...], Meta(description="Findings that only the new state has.")]
    gone_findings: Annotated[tuple[LintFinding, ...], Meta(description="Findings that only the old state has.")]
    settings: Annotated[tuple[SettingSides, ...], Meta(description="Settings of the configuration that differ.")] = ()
    rules: Annotated[
        tuple[str, ...],
        Meta(
            description="For two versions: feature gates and rules that move pods, with their versions, oldest first. "
            "A gate alone restores the placement; rules belong to the plugins that moved pods in that version. "
            "Sentences name versions that were not searched in time."
        ),
    ] = ()
    warnings: Annotated[tuple[str, ...], Meta(description="Warnings about only one of the states.")] = ()
    notes: Annotated[
        tuple[str, ...],
        Meta(description="Notes on reading the new state alone, and promise annotations that are not valid."),
    ] = ()


_NEW_NODES = Unjudged(what="nodes of NEW", because="a manifest creates no machine")
_OTHER_CONFIG = Unjudged(
    what="changes of --config",
    because="the file differs in NEW, and plan reads it from OLD",
    to_know="topospread plan --config OLD --to-config NEW",
)
_ENDED_EARLY = Unjudged(what="budget", because="the search of all orders ended early (--seconds)")


def plan_answer(  # noqa: PLR0913 - keyword arguments
    review: Review,
    promises: Iterable[PromiseChange] = (),
    *,
    lines: ChangedLines | None = None,
    is_same_input: bool = False,
    told: Sequence[str] = (),
    dropped: Sequence[UndeclaredPromise] = (),
    unjudged: Sequence[Unjudged] = (),
) -> Plan:
    """Return the answer for a review.

    Args:
        review: the two states, simulated and linted.
        promises: guaranteed pods of changed workloads after losses and drains.
        lines: the changed lines of the manifests.
        is_same_input: whether both states have the same objects. Then unjudged parts affect both states equally.
        told: sentences on unjudged differences, for the first line.
        dropped: promises that only the old state declares.
        unjudged: differences between the states that are not judged, so the answer is not yes.
    """
    changes = tuple(promises)
    fields = {
        each: tuple(lines.of(each.key, each.parts) or lines.of_policies()) if lines and each.parts else ()
        for each in changes
    }
    comparison = review.comparison
    open_pods = {*comparison.before.open_pods, *comparison.after.open_pods}
    pending = [each for each in review.pending if _key(each) not in open_pods]
    kept_less, others = [*_promise_reasons(changes)], [*_undeclared_reasons(dropped), *_reasons(review, len(pending))]
    refused = [*lines.refused()] if lines else []
    denied = [
        f"the API server refuses the update of {namespace}/{name}: {path} is immutable"
        for (_, namespace, name), path, _ in refused[:_MOST_CAUSES]
    ]
    reasons = [*denied, *kept_less, *others]
    everything = merged(
        *(each.unjudged for each in (comparison.before, comparison.after)),
        *(each.unjudged or (_ENDED_EARLY,) for each in changes if each.verdict == "unknown"),
        tuple(not_placed(review.left_out)),
        tuple(unjudged),
    )
    words: list[Word] = ["no" if reasons else "yes", *(each.verdict for each in changes)]
    words += _open(review, is_same_input)
    verdict = worst([*words, "unknown"] if unjudged or (review.left_out and not is_same_input) else words)
    lowered = (
        f"{each.namespace}/{each.name} declares {each.weaker} instead of {each.promise}"
        for each in dropped
        if each.weaker
    )
    causes = (*_refusals(refused), *_undeclared_causes(dropped), *_causes(review, fields, lines))
    return Plan(
        kind="Plan",
        verdict=verdict,
        says="; ".join(
            [
                _says(verdict, [*denied, *_shortened(kept_less, others)], changes, everything, comparison),
                *lowered,
                *told,
            ]
        ),
        causes=causes[:_MOST_CAUSES] if verdict == "no" else (),
        unjudged=everything,
        on=Asked(nodes=comparison.after.nodes, pods=len(comparison.after.placements)),
        names=comparison.names,
        reasons=tuple(reasons),
        promises=tuple(_promise(each, fields[each]) for each in changes),
        undeclared=tuple(dropped),
        workloads=tuple(_workloads(review)),
        newly_pending=tuple(map(_key, pending)),
        newly_placed=tuple(map(_key, comparison.newly_placed)),
        newly_gone=tuple(f"{each.namespace}/{each.name}" for each in comparison.newly_gone),
        new_findings=tuple(map(lint_finding, review.new)),
        gone_findings=tuple(map(lint_finding, review.gone)),
        settings=comparison.settings,
        warnings=tuple(each for side in comparison.warnings for each in side),
        notes=(*review.notes, *(each for each in comparison.after.notes if IN_ONE_ORDER in each and review.pending)),
    )


def problems_of(answer: Plan) -> Iterator[Problem]:
    """Yield a plan's problems: its sentence, then each field that makes it worse, at its line."""
    if answer.verdict == "yes":
        return
    level: Literal["error", "warning"] = "error" if answer.verdict == "no" else "warning"
    yield Problem(level=level, rule="plan", says=answer.says, file="")
    rows = [(each, f"{each.kind} {each.namespace}/{each.name}") for each in answer.promises if each.verdict == "no"]
    found: dict[tuple[ChangedField, str], PromiseSides] = {}
    for each, name in rows:
        for field in each.lines:
            found.setdefault((field, name), each)
    revision = f"{answer.names[0]}:"
    lines = {(name, field.file): field.line for field, name in reversed(found)}
    for (field, name), each in found.items():
        says = f"{field.says}: {EVENT_WORDS[each.event]} {each.after} of {each.replicas[1]}, not {each.before}"
        says += f" of {each.replicas[0]}" if each.replicas[0] != each.replicas[1] else ""
        says += f"; breaks the promise {each.declared}" if each.declared else ""
        file = field.file.removeprefix(revision)
        line = field.line
        if file != field.file:  # the field is only in OLD
            says, line = f"{says} ({field.file}:{field.line})", lines.get((name, file))
        yield Problem(level="error", rule="keeps-less", says=says, file=file, line=line, object=name)
    yield from answer.new_findings
    for cause in answer.causes:
        if cause.code in ("newly-pending", "update-refused", "promise-undeclared"):
            yield Problem(level="error", rule=cause.code, says=cause.says, file="")


def plan(  # noqa: PLR0913 - keyword arguments
    inventories: tuple[Inventory, Inventory],
    sides: tuple[SimulationOptions, SimulationOptions],
    names: tuple[str, str] | None = None,
    *,
    namespace: str | None = None,
    rolled_out: bool = False,
    findings: tuple[Sequence[Finding], Sequence[Finding]] = ((), ()),
    left_out: tuple[str, ...] = (),
    ignored: int = 0,
    changed: Mapping[str, bool] | None = None,
    declared: Sequence[DeclaredPromise] = (),
    lines: ChangedLines | None = None,
    seconds: float = 5.0,
    source: str = "",
    progress: Progress | None = None,
) -> Plan:
    """Compare the states before and after a change of objects or of the control plane.

    Args:
        inventories: the objects before and after; one inventory twice for a change of the control plane alone.
        sides: the control planes before and after.
        names: names of both states; by default the difference between the control planes.
        namespace: the namespace that is shown.
        rolled_out: whether to place the pods of all workloads again in both states, if both have the same objects.
        findings: lint's findings before and after.
        left_out: workloads that lint did not place because that took too long.
        ignored: number of findings that comments and annotations of the new state ignore, and those of the old do not.
        changed: file that options name, read from the old state although the new one differs → whether it is the
            configuration.
        declared: promises of a project's settings.
        lines: the changed lines of the manifests.
        seconds: time limit in seconds for the count of each loss.
        source: name of the input; by default the files that were read.
        progress: receives the number of simulated pods.

    Raises:
        InputError: if the API server would refuse an object.
    """
    old, new = inventories
    rolled_out = rolled_out and old is new
    if rolled_out:
        old = new = without_placed_pods(old)
        inventories = old, new
    settings = differences(*(each.config or default_configuration(each.kube_version, each.gates) for each in sides))
    first, second = (simulate(one, by, progress=progress) for one, by in zip(inventories, sides, strict=True))
    comparison = compare(first, second, names or _names(sides), settings)
    comparison = with_causes(comparison, inventories, sides, progress)
    shown = comparison if namespace is None else restricted(comparison, namespace)
    review = Review(
        with_fields(shown, counts_new=old is not new),
        only_in(findings[1], findings[0]),
        only_in(findings[0], findings[1]),
        # An equal note may be about changed templates.
        notes=(
            *(each for each in new.notes if each not in old.notes or OTHER_AT_INSTALLATION in each),
            *(_replaced(old, new) if old is not new else _unaffected(new, settings)),
        ),
        left_out=left_out,
    )

    unreadable: dict[str, None] = {}

    def wants_of(workload: Workload, inventory: Inventory) -> Sequence[Want]:
        try:
            return [*declared_wants(inventory, workload, declared)]
        except UsageError as error:
            unreadable[str(error)] = None
            return ()

    def wants_at(inventory: Inventory, key: ObjectKey, item: Designed) -> Mapping[Want, Place]:
        return wants_of_item(inventory, key, item, item.spec.template.metadata.labels or {}, declared)

    def declares(inventory: Inventory, key: ObjectKey, item: Designed) -> bool:
        with suppress(UsageError):
            return bool(wants_at(inventory, key, item))
        return False

    unscaled = with_fields(sides[0], scale=None), with_fields(sides[1], scale=None)
    dropped: list[UndeclaredPromise] = []
    late: list[ObjectKey] = []
    budget, gone = SearchBudget(seconds=seconds), _gone(review, lines) if old is not new else {}
    if old is not new:
        both = undeclared(old, new, wants_at, gone, unreadable)
        dropped = [each for each in both if namespace in (None, each.namespace)]
    lost = [*lost_promises(old, [each for each in gone if each[0] in LISTS], unscaled[0], budget, wants_of)]
    uncounted = _uncounted(gone, lost, new)
    every_change = (
        default_changes(new, unscaled, wants_of)
        if old is new
        else promise_changes(old, new, unscaled[1], budget, wants_of, declares=declares, left_out=late)
    )
    rollouts = _Rollouts((), (), ()) if old is new else _rollouts(old, new, shown.before, unscaled[1], seconds)
    counted = (each for each in every_change if each.key not in uncounted)
    known = [each for each in (*counted, *lost, *rollouts.changes) if namespace in (None, each.key[1])]
    changes = [*known, *simulated_losses(shown, inventories, sides, known)]
    differing = [*_differing(old, new)]
    made = [f"{kind} {name}" for kind, name, how in differing if kind in _WRITTEN_BY_NODES and how != "removed"]
    deciding = [f"{kind} {name}" for kind, name, how in differing if kind in _DECIDING and how == "new"]
    told = [*_told(review, gone, [*made, *deciding])]
    told += [*_told_of_input(old, new, differing, ignored, changed or {}), *rollouts.told]
    # Without manifests, a session itself changed the nodes.
    unjudged = [
        *_unjudged(old, new, nodes=bool(made) and lines is not None, config=any((changed or {}).values())),
        *rollouts.unjudged,
        *_untried("losses", [each for each in late if namespace in (None, each[1])], seconds),
    ]
    answer = plan_answer(
        review,
        changes,
        lines=lines,
        is_same_input=old is new or [*old.objects()] == [*new.objects()],
        told=told,
        dropped=dropped,
        unjudged=unjudged,
    )
    remedies, untried = ((), ()) if old is new else _remedies(new, changes, unscaled[1], seconds)
    once = [each.pod for each in comparison.moved if (why := comparison.why.get(each.key)) and why.kind == "unjudged"]
    answer = replace(
        answer,
        notes=(*unreadable, *untried, *answer.notes),
        remedies=remedies,
        judged_once=tuple(dict.fromkeys(f"{each.namespace}/{each.workload.partition('/')[2]}" for each in once)),
    )
    if old is new and comparison.why and not _is_set(sides):
        answer = replace(answer, rules=tuple(deciding_changes(new, sides, seconds)))
    assumed = [
        *(["every workload is rolled out once on both sides"] if rolled_out else ()),
        *(
            ["in the table, pods that are not judged get no node"]
            if answer.workloads and (comparison.before.open_pods or comparison.after.open_pods)
            else ()
        ),
    ]
    if preview := sides[1].in_force[0].preview:
        assumed.append(f"{preview} is {PREVIEWS[preview]}")
        answer = replace(answer, says=f"{answer.says} ({preview})")
    return about(replace(answer, assumed=tuple(assumed)), new, sides[1], source)


class _Rollouts(NamedTuple):
    """Rollouts of changed templates: those that only the old template completes, sentences, and untried rollouts."""

    changes: Sequence[PromiseChange]
    told: Sequence[str]
    unjudged: Sequence[Unjudged]


def _rollouts(
    old: Inventory, new: Inventory, simulation: Simulation, options: SimulationOptions, seconds: float
) -> _Rollouts:
    """Simulate the rollout of each workload of a simulation with running pods whose template changes."""
    running = {(each.namespace, each.workload) for each in simulation.bound()}
    shown = {key_of(each) for each in simulation.workloads if (each.namespace, f"{each.kind}/{each.name}") in running}
    keys = [each for each in changed_templates(old, new) if each in shown]
    stuck, untried = stuck_rollouts(old, new, options, keys, seconds)
    changes, told = [], []
    for each in stuck:
        if each.old is not None and each.old.over:
            replicas = each.old.replicas, each.new.replicas
            was, now = (Bounds.exactly(side.updated) for side in (each.old, each.new))
            parts = ("spec.template",)
            changes.append(PromiseChange(each.key, "rolled-out", was, now, replicas, "played", parts=parts))
        else:
            name, pods = "/".join(each.key[1:]), f"{each.new.updated} of {each.new.replicas} pods"
            told.append(f"the rollout of {name} stops at {pods}, with and without the change")
    return _Rollouts(changes, told, [*_untried("rollouts", untried, seconds)])


def _untried(what: str, keys: Sequence[ObjectKey], seconds: float) -> Iterator[Unjudged]:
    """Yield what the time limit left out, if there are such workloads. ``what``: rollouts or losses."""
    if keys:
        names = listed(["/".join(each[1:]) for each in keys], _MOST_CAUSES)
        because = f"the time for {what} ended before {names} (--seconds {seconds:g})"
        yield Unjudged(
            what=f"{what} of {names}", because=because, to_know=f"topospread plan --seconds {max(60, 4 * seconds):g}"
        )


_Differing = tuple[str, str, Literal["new", "removed", "changed"]]
"""Kind and name of an object that differs between the states, and how."""


def _differing(old: Inventory, new: Inventory) -> Iterator[_Differing]:
    """Yield the objects that differ, without those of controllers."""
    for kind, how in KINDS.items():
        before, after = (
            {(each.namespace, each.name): each for each in getattr(side, how.attribute) if not each.metadata.controller}
            for side in (old, new)
        )
        for key in {**before, **after} if before != after else ():
            name = "/".join(key if how.namespaced else key[1:])
            if key not in before:
                yield kind, name, "new"
            elif key not in after:
                yield kind, name, "removed"
            elif before[key] != after[key]:
                yield kind, name, "changed"


def _unjudged(old: Inventory, new: Inventory, *, nodes: bool, config: bool) -> Iterator[Unjudged]:
    """Yield the differences between the states that are not judged."""
    if nodes:
        yield _NEW_NODES
    if config:
        yield _OTHER_CONFIG
    for each in () if old is new else uncompared(old, new):
        because = "plan compares the promises of Deployments and StatefulSets"
        yield Unjudged(what=f"promises of {each}", because=because, to_know="topospread promise check -f NEW")


def _remedies(
    new: Inventory, changes: Sequence[PromiseChange], options: SimulationOptions, seconds: float
) -> tuple[tuple[PromiseRemedy, ...], tuple[str, ...]]:
    """Return tried changes of workloads that break declared promises, and a note on those without tried changes.

    A change keeps the workload's other promises. It is tried without other changes.
    """
    keys = [*dict.fromkeys(each.key for each in changes if each.verdict == "no" and each.declared and each.replicas[1])]
    found: list[PromiseRemedy] = []
    for key in keys[:_MOST_FIXED]:
        want = " ".join(dict.fromkeys(each.declared for each in changes if each.key == key))
        found += promise_check(new, [short_target(key)], options, want=want, seconds=seconds / _MOST_FIXED).remedies
    left = ["/".join(each[1:]) for each in keys[_MOST_FIXED:]]
    return tuple(found), (f"no fix was tried for {listed(left, _MOST_CAUSES)}",) if left else ()


def _gone(review: Review, lines: ChangedLines | None) -> dict[ObjectKey, None]:
    """Return the workloads that have no pods after the change, or that only the old state's manifests have."""
    before, after = review.comparison.before.workloads, review.comparison.after.workloads
    left = {key_of(each) for each in after if each.placed or each.pending} - (lines.removed if lines else frozenset())
    return {key_of(each): None for each in before if each.placed and key_of(each) not in left}


def _uncounted(gone: Iterable[ObjectKey], lost: Sequence[PromiseChange], new: Inventory) -> set[ObjectKey]:
    """Return the workloads whose counts are not compared, because they have no pods after the change.

    A paused Deployment is compared, because it has pods once it goes on, unless `lost` already has its promise.
    """
    paused = {("Deployment", each.namespace or "default", each.name) for each in new.deployments if each.spec.paused}
    return {*gone} - (paused - {each.key for each in lost})


def _told(review: Review, gone: Collection[ObjectKey], made: Sequence[str]) -> Iterator[str]:
    """Yield sentences on workloads without pods, new workloads, and objects that only the new state has."""
    if gone:
        known = {key_of(each) for each in review.comparison.before.workloads}
        found = [key for each in review.comparison.after.workloads if (key := key_of(each)) not in known]
        for keys, words in ((gone, "without pods"), (found, "new")):
            if keys:
                yield f"{words}: {listed(['/'.join(each[1:]) for each in keys], _MOST_CAUSES)}"
    if made:
        yield f"counts what only NEW has: {listed(made, _MOST_CAUSES)}"


def _told_of_input(
    old: Inventory, new: Inventory, differing: Iterable[_Differing], ignored: int, changed: Collection[str]
) -> Iterator[str]:
    """Yield sentences on differing objects and files that do not count, and on findings that only NEW ignores."""
    both = {**new.unmodelled, **old.unmodelled}
    if unmodelled := [each for each in both if old.unmodelled.get(each) != new.unmodelled.get(each)]:
        yield f"not modelled, and other than in OLD: {listed(unmodelled, _MOST_CAUSES)}"
    placed = [
        f"{kind} {name}{'' if how == 'changed' else f' ({how})'}"
        for kind, name, how in differing
        if kind != "Node" and kind not in _COMPARED
        # Workloads without pods, new workloads and what only NEW has are told elsewhere.
        if how == "changed" or not (KINDS[kind].attribute in POD_LISTS or (how == "new" and kind in _DECIDING))
    ]
    if placed:
        yield f"changed, and compared only by where pods are placed: {listed(placed, _MOST_CAUSES)}"
    if ignored > 0:
        yield f"NEW ignores {counted(ignored, 'more finding')}"
    if changed:
        yield f"read from OLD, although NEW differs: {listed([*changed], _MOST_CAUSES)}"


def _replaced(old: Inventory, new: Inventory) -> Iterator[str]:
    """Yield one note on the objects of the cluster that manifests of both states replace."""
    if both := [each for each in new.notes if each in old.notes and is_of_replacement(each)]:
        names = listed([each.partition(" of ")[0] for each in both], _MOST_CAUSES)
        yield f"OLD and NEW replace what the cluster has: {names}"


def _unaffected(inventory: Inventory, settings: Iterable[SettingSides]) -> Iterator[str]:
    """Yield a note on the workloads with constraints of their own if the default constraints differ."""
    items = (each for attribute in LISTS.values() for each in getattr(inventory, attribute))
    own = [each for each in items if each.spec.template.spec.topology_spread_constraints]
    if own and any(each.setting == "default constraints" for each in settings):
        names = listed([f"{each.namespace or 'default'}/{each.name}" for each in own], _MOST_OWN)
        yield f"default constraints do not affect {counted(len(own), 'workload')} with own constraints: {names}"


def _is_set(sides: tuple[SimulationOptions, SimulationOptions]) -> bool:
    """Return whether the versions are equal, or a configuration or feature gates are also set."""
    return sides[0].kube_version == sides[1].kube_version or any(
        each.config is not None or each.in_force[0].overridden or each.in_force[0].preview for each in sides
    )


def _names(sides: tuple[SimulationOptions, SimulationOptions]) -> tuple[str, str]:
    """Return the difference between two control planes as words."""
    parts = [
        (
            f"Kubernetes {each.in_force[0].preview or each.kube_version}",
            (each.config.source or "a configuration") if each.config is not None else "the default configuration",
            "all nodes scored" if each.sampling == "all" else "nodes sampled",
        )
        for each in sides
    ]
    differing = [number for number, (one, other) in enumerate(zip(*parts, strict=True)) if one != other]
    old, new = (", ".join(each[number] for number in differing) for each in parts)
    return old or "before", new or "after"


def _key(change: PlacementChange) -> str:
    pod = change.after or change.pod
    return f"{pod.namespace}/{pod.name}"


def _reasons(review: Review, pending: int) -> Iterator[str]:
    """Yield why the change is worse, with the number of pods that are certainly pending."""
    for each in review.reasons:
        if "newly pending" not in each:
            yield each
        elif pending:
            yield f"{counted(pending, 'pod')} {'is' if pending == 1 else 'are'} newly pending"


def _promise_reasons(changes: Sequence[PromiseChange]) -> Iterator[str]:
    """Yield one reason for each workload: its first worse count, losses before other events."""
    first: dict[ObjectKey, PromiseChange] = {}
    for each in changes:
        if each.verdict == "no":
            first.setdefault(each.key, each)
    for each in first.values():
        name = f"{each.key[1]}/{each.key[2]}"
        if not each.replicas[1]:
            yield f"{name} has no pods for its promise {each.declared}"
            continue
        if each.kept is not None and each.kept[1] == "no":
            yield f"{name} does not keep its promise {each.declared}"
            continue
        if each.blocks:
            yield f"{name}: a drain does not end, because budgets keep all {each.replicas[1]} pods"
            continue
        is_exact = each.before.known and each.after.known
        least = "at least " if each.ground in ("proved", "alone") and is_exact else ""
        left = f"{least}{each.after} of {each.replicas[1]}, not {each.before}"
        left += f" of {each.replicas[0]}" if each.replicas[0] != each.replicas[1] else ""
        left += ", if other workloads leave room" if each.ground == "alone" else ""
        left += ", in the simulation" if _is_simulated_loss(each) else ""
        left += f"; its quorum is {each.lost_quorum}" if each.lost_quorum else ""
        yield f"{name} keeps less: {EVENT_WORDS[each.event]} {left}"


def _is_simulated_loss(change: PromiseChange) -> bool:
    return change.ground == "played" and change.event == "zone-loss"


def _undeclared_reasons(dropped: Sequence[UndeclaredPromise]) -> Iterator[str]:
    wants: dict[str, list[str]] = {}
    for each in dropped:
        if not each.weaker:
            wants.setdefault(f"{each.namespace}/{each.name}", []).append(each.promise)
    for name, some in [*wants.items()][:_MOST_CAUSES]:
        yield f"{name} no longer declares its promise{'s' * (len(some) > 1)} {' '.join(some)}"
    if len(wants) > _MOST_CAUSES:
        yield f"{counted(len(wants) - _MOST_CAUSES, 'more workload')} no longer declare promises"


def _undeclared_causes(dropped: Sequence[UndeclaredPromise]) -> Iterator[Cause]:
    lines: dict[tuple[str, str], list[str]] = {}
    for each in dropped:
        if not each.weaker:
            where = ":".join(map(str, filter(None, (each.file, each.line))))
            lines.setdefault((f"{each.kind}/{each.namespace}/{each.name}", where), []).append(each.promise)
    for (name, where), wants in lines.items():
        says = f"only OLD declares {' '.join(wants)} for {name.partition('/')[2]}"
        yield Cause(code="promise-undeclared", says=f"{where}  {says}" if where else says, objects=(name,))


def _shortened(kept_less: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the reasons for the first line, with a few of the workloads that keep less."""
    more = len(kept_less) - _MOST_CAUSES
    if more <= 1:
        return [*kept_less, *others]
    return [*kept_less[:_MOST_CAUSES], f"{more} more workloads keep less", *others]


def _open(review: Review, is_same_input: bool) -> Iterator[Word]:
    """Yield for each workload with unjudged pods whether as many pods have nodes as before."""
    before, after = review.comparison.before, review.comparison.after
    are_equal = before.open_pods == after.open_pods and before.bounds == after.bounds
    if are_equal and (is_same_input or (before.open_pods and have_same_start(before, after))):
        return
    touched = [_touched(each) for each in (before, after)]
    for key in dict.fromkeys((*touched[0], *touched[1])):
        was, now = before.bounds.get(key), after.bounds.get(key)
        if was is None or now is None:  # a new workload is judged by its pods, and a deleted workload needs no node
            if now is not None and not now.known:
                yield "unknown"
        elif now.most < was.least:
            yield "no"
        elif now.least < was.most:
            yield "unknown"


def _touched(simulation: Simulation) -> list[str]:
    opened = set(simulation.open_pods)
    found = (each for each in simulation.placements if f"{each.namespace}/{each.name}" in opened)
    return [f"{each.namespace}/{each.workload}" for each in found]


def _says(
    verdict: Word,
    reasons: Sequence[str],
    changes: Sequence[PromiseChange],
    unjudged: Sequence[Unjudged],
    comparison: Comparison,
) -> str:
    if verdict == "no":
        return "; ".join(reasons) or "fewer pods that are not judged can find nodes"
    if verdict == "yes":
        named: dict[str, list[str]] = {}
        for each in changes:
            if each.is_outweighed and each.after.most < each.before.least:
                words = _FEWER_LEFT if _is_simulated_loss(each) else _FEWER_READY
                name = f"{each.key[1]}/{each.key[2]} {each.after} of {each.replicas[1]}, not {each.before}"
                named.setdefault(words, []).append(name)
        says = (f"{words} {listed(names, _MOST_CAUSES)}" for words, names in named.items())
        return "; ".join(says) or "nothing gets worse"
    names = dict.fromkeys(f"{each.key[1]}/{each.key[2]}" for each in changes if each.verdict == "unknown")
    hangs = f"the pods that losses leave of {joined(names)} are undecided" if names else ""
    placements = (*comparison.before.placements, *comparison.after.placements)
    owners = {f"{each.namespace}/{each.name}": f"{each.namespace}/{each.workload.split('/')[1]}" for each in placements}
    whose = [dict.fromkeys(owners[pod] for pod in each.pods if pod in owners) for each in unjudged]
    whats = [
        f"{each.what} of {listed([*some], _MOST_CAUSES)}" if some else each.what
        for each, some in zip(unjudged, whose, strict=True)
        if each.what != "budget"
    ]
    parts = f"{joined(whats)} are not judged" if whats else ""
    before, after = comparison.before.bounds, comparison.after.bounds
    fewer = [
        f"at most {now.most} pods of {key.split('/')[0]}/{key.split('/')[2]} can find nodes, not {was.most}"
        for key, was in before.items()
        if (now := after.get(key)) is not None and now.most < was.most
    ]
    told = f"it is proved that {listed(fewer, _MOST_CAUSES)}, but not that fewer do" if fewer else ""
    open_parts = " and ".join(filter(None, (hangs, parts)))
    return "; ".join(filter(None, (told or "nothing is proved to get worse", open_parts)))


def _refusals(refused: Iterable[tuple[ObjectKey, str, ChangedLine]]) -> Iterator[Cause]:
    for key, _, line in refused:
        yield Cause(code="update-refused", says=str(line), objects=("/".join(key),))


def _causes(
    review: Review, fields: Mapping[PromiseChange, Sequence[ChangedLine]], changed: ChangedLines | None
) -> Iterator[Cause]:
    worse: dict[ObjectKey, dict[str, None]] = {}
    objects = set[str]()
    for each, lines in fields.items():
        if each.verdict == "no":
            parts = list(map(str, lines)) or [_allowed(each)]
            worse.setdefault(each.key, {}).update(dict.fromkeys(parts[:_MOST_CAUSES]))
            objects |= {f"{kind} {each.key[1]}/{name}" for kind, name in _named(each)}
    faults = [lint_finding(each) for each in review.new if each.severity != "hint"]
    own = [each for each in faults if each.object in objects]
    for found in own:  # the finding may be the reason for fewer pods, for example a misspelt field
        yield Cause(code="new-finding", says=f"{found.where} {found.rule}: {found.says}", objects=(found.object,))
    ranked = [(rank, key, each) for key, words in worse.items() for rank, each in enumerate(words)]
    same: dict[str, list[str]] = {}
    for _, key, said in sorted(ranked, key=lambda one: one[0]):  # the first cause of every workload comes first
        same.setdefault(said, []).append("/".join(key))
    lineless = {_allowed(each) for each in fields}
    less = {said: Cause(code="keeps-less", says=said, objects=tuple(keys)) for said, keys in same.items()}
    yield from (each for said, each in less.items() if said not in lineless)
    messages: dict[str, list[str]] = {}
    for pod in review.pending:
        if pod.after is not None:
            messages.setdefault(pod.after.message, []).append(_key(pod))
    for message, pods in messages.items():
        says = f"{listed(pods, 1)}: {message}"
        if where := changed.of_policies(message) if changed else []:
            says = f"{where[0]}; {says}"
        yield Cause(code="newly-pending", says=says, objects=tuple(pods))
    yield from (each for said, each in less.items() if said in lineless)
    for found in faults:
        if found not in own:
            yield Cause(code="new-finding", says=f"{found.where} {found.rule}: {found.says}", objects=(found.object,))


def _named(change: PromiseChange) -> Iterator[tuple[str, str]]:
    """Yield (kind, name) of the workload and of each budget whose change makes it worse."""
    yield change.key[0], change.key[2]
    for part in change.parts:
        kind, slash, name = part.partition("/")
        if slash:
            yield kind, name


def _allowed(change: PromiseChange) -> str:
    if not change.event.endswith("loss") or not change.replicas[1]:
        return f"{change.key[2]}: {EVENT_WORDS[change.event]} {change.after} of {change.replicas[1]}"
    what = change.event.removesuffix("-loss")
    if _is_simulated_loss(change):
        most = [str(of - left.least) for of, left in zip(change.replicas, (change.before, change.after), strict=True)]
        return f"{change.key[2]}: {most[1]} of {change.replicas[1]} simulated pods are in one zone, before {most[0]}"
    return (
        f"{change.key[2]}: filters let {change.replicas[1] - change.after.most} of {change.replicas[1]} pods into one "
        f"{what}, before at most {change.replicas[0] - change.before.least}"
    )


def _promise(change: PromiseChange, lines: Sequence[ChangedLine]) -> PromiseSides:
    kind, namespace, name = change.key
    return PromiseSides.like(
        change,
        kind=kind,
        namespace=namespace,
        name=name,
        better=change.is_better,
        lost_quorum=change.lost_quorum,
        lines=tuple(ChangedField(file=each.place.source, line=each.place.line, says=each.says) for each in lines),
    )


def _workloads(review: Review) -> Iterator[WorkloadSides]:
    comparison = review.comparison
    for each in comparison.workloads:
        kind, namespace, name = key_of(each.workload)
        sides = (comparison.before, comparison.after)
        bounds = [side.bounds.get(f"{namespace}/{kind}/{name}") for side in sides]
        placed = [found or Bounds.exactly(number) for found, number in zip(bounds, each.pods, strict=True)]
        yield WorkloadSides(
            kind=kind,
            namespace=namespace,
            name=name,
            placed=(placed[0], placed[1]),
            moved=tuple(_moved(one, review) for one in each.moved),
            skews=tuple(_skew(one, review) for one in each.spreads),
        )


def _moved(change: PlacementChange, review: Review) -> MovedPod:
    why = review.comparison.why.get(change.key)
    is_pending = change.after is not None and change.after.node is None
    return MovedPod(
        namespace=change.pod.namespace,
        name=change.pod.name,
        workload=change.pod.workload,
        exists=(change.before is not None, change.after is not None),
        nodes=change.nodes,
        message=change.after.message if is_pending and change.after is not None else "",
        why=MoveCause(kind=why.kind, plugin=why.plugin, says=why.sentence, points=why.points) if why else None,
    )


def _skew(change: SpreadChange, review: Review) -> SkewSides:
    was, now = change.before, change.after
    return SkewSides(
        kind=change.workload.kind,
        namespace=change.workload.namespace,
        name=change.workload.name,
        topology_key=change.spread.topology_key,
        when_unsatisfiable=(was.when_unsatisfiable if was else None, now.when_unsatisfiable if now else None),
        max_skew=(was.max_skew if was else None, now.max_skew if now else None),
        skew=(was.skew if was else None, now.skew if now else None),
        domains=(
            {each.name: each.after for each in was.domains} if was else None,
            {each.name: each.after for each in now.domains} if now else None,
        ),
        exceeded=change in review.exceeded,
    )
