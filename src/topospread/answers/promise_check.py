"""The answer of ``topospread promise check``: is each promise kept? With a proof or a counterexample."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

from msgspec import Meta

from topospread.answer import Answer, Cause, Remedy, Tried, Unjudged
from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.api.promises import PROMISE, QUORUM, Want, read_declared, read_wants
from topospread.api.selector_text import parse_selector
from topospread.base import Base, Word, worst
from topospread.controllers.planned import Workload
from topospread.controllers.scale import the_workload
from topospread.drill.interruption import Interrupted
from topospread.drill.steps import TurnKind
from topospread.errors import Place, UsageError
from topospread.lint.settings import DeclaredPromise
from topospread.promise.fixes import Fix, fixes
from topospread.promise.fresh import LISTS, Designed, workload_of
from topospread.promise.grouped_pods import ORDERS
from topospread.promise.kept import Ground, Kept, WorkloadPromises, likeness_of, told
from topospread.promise.orders import SearchBudget
from topospread.promise.wants import default_wants
from topospread.simulation.options import PLAIN, SimulationOptions
from topospread.simulation.run import prepare
from topospread.text import did_you_mean

from .asked import asked_of
from .finding import Finding
from .words import PODS_ANYWHERE, agreeing, blocked_drains, counted

_OF_ANY_KIND = ("never-waits", "skew")
"""Promises that Jobs and bare pods can declare. The other promises count the pods that survive a loss."""
_FIX = SearchBudget(states=300, seconds=0.5)
"""Limits of a search with a changed workload, unless the check has lower limits."""
KINDS = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")
"""Kinds of workloads that have promises."""


class OrderedPod(Base, frozen=True, kw_only=True):
    """One event of a counterexample: a pod is placed, becomes ready, is deleted or ends."""

    namespace: Annotated[str, Meta(description="Namespace of the pod.")]
    workload: Annotated[str, Meta(description="KIND/NAME of the pod's workload.")]
    name: Annotated[str, Meta(description="Name of the pod; empty if it may be any new pod.")]
    node: Annotated[str | None, Meta(description="Node that the pod gets or leaves; null for a pending pod.")]
    equal: Annotated[tuple[str, ...], Meta(description="Other nodes that kube-scheduler may choose.")] = ()
    does: Annotated[TurnKind, Meta(description="What happens to the pod.")] = "placed"


class CheckedPromise(Base, frozen=True, kw_only=True):
    """A declared or requested promise with its verdict."""

    workload: Annotated[str, Meta(description="NAMESPACE/KIND/NAME.")]
    want: Annotated[str, Meta(description="The promise as it is declared, for example `zone-loss>=4`.")]
    declared: Annotated[str, Meta(description="Where the promise is declared; empty for a requested promise.")] = ""
    file: Annotated[str, Meta(description="File of the declaration, else of the workload; empty if not known.")] = ""
    line: Annotated[int | None, Meta(description="Line in the file; null if it is not known.")] = None
    column: Annotated[int | None, Meta(description="Column in the line; null if it is not known.")] = None
    verdict: Annotated[Word, Meta(description="Whether the promise is kept.")]
    ground: Annotated[
        Ground,
        Meta(
            description="`proved`: from all orders. `seen`: from the current state. `played`: from one simulation. "
            "`drawn`: from random orders."
        ),
    ]
    when: Annotated[
        str,
        Meta(
            description="State or order that decides: `now`, `in every order`, `in some order`, `in one simulation` or "
            "a rollout."
        ),
    ]
    says: Annotated[str, Meta(description="The proof, the problem at the end of the order, or why it is undecided.")]
    states: Annotated[int, Meta(description="States of the cluster that were searched.")] = 0
    ends: Annotated[int, Meta(description="Searched states in which no further pod can be placed.")] = 0
    drawn: Annotated[int, Meta(description="Random orders that were completed.")] = 0
    order: Annotated[tuple[OrderedPod, ...], Meta(description="The counterexample; empty if there is none.")] = ()
    drill: Annotated[str, Meta(description="The counterexample as a `kind: Drill` file; empty if there is none.")] = ""


class PromiseRemedy(Remedy, frozen=True, kw_only=True):
    """A simulated change: a workload's promises were checked again with it."""

    keeps: Annotated[tuple[str, ...], Meta(description="Broken promises that it keeps; it breaks no other.")]


class PromiseCheck(Answer, frozen=True, kw_only=True):
    """Is every promise kept? Without declared promises: does no single loss take all pods, or the quorum?"""

    PAGE: ClassVar[str] = "topospread.render.pages.promise_check:page"

    kind: Annotated[str, Meta(description="`PromiseCheck`.")] = "PromiseCheck"
    promises: Annotated[tuple[CheckedPromise, ...], Meta(description="Each promise of each workload.")]
    remedies: Annotated[
        tuple[PromiseRemedy, ...],
        Meta(description="The smallest tried change for each broken promise, smallest first."),
    ] = ()
    partial: Annotated[str, Meta(description="Why workloads are missing; empty if all were checked.")] = ""
    warnings: Annotated[tuple[str, ...], Meta(description="Warnings about the input.")] = ()
    notes: Annotated[tuple[str, ...], Meta(description="Notes about the input.")] = ()


def promise_check(  # noqa: PLR0913 - keyword arguments
    inventory: Inventory,
    targets: Sequence[str] = (),
    options: SimulationOptions = PLAIN,
    *,
    want: str = "",
    namespace: str | None = None,
    selector: str | None = None,
    states: int = 20_000,
    seconds: float = 60.0,
    sources: Mapping[str, object] | None = None,
    declared: Sequence[DeclaredPromise] = (),
) -> PromiseCheck:
    """Check promises of workloads in every order of pods. kube-scheduler may choose any node that its filters admit.

    Args:
        inventory: the input, which is not changed.
        targets: workloads, ``[NAMESPACE/]KIND/NAME``; by default all that have replicas.
        want: promises such as ``zone-loss>=66% never-waits``; by default the promises that workloads declare in the
            annotation ``topospread.dev/promise``, else that no single loss takes all pods.
        options: the control plane; nothing is evicted.
        namespace: namespace of targets without one.
        selector: without targets, workloads whose pods have these labels, as for ``kubectl get -l``.
        states: maximum number of cluster states searched for each promise.
        seconds: time limit of the search for each promise.
        sources: the fields ``cluster`` and ``manifests`` for the Drill file of a counterexample.
        declared: promises in the project's settings (`topospread.find_settings`), which select workloads by labels.

    Returns:
        the answer, with a proof or a counterexample for each promise.

    Raises:
        InputError: if an object is not valid.
        UsageError: if a target does not exist, a promise is not valid, or there is no workload.
        topospread.drill.interruption.Interrupted: on Ctrl-C, with the promises that were checked.
    """
    wants = read_wants(want)
    options = replace(options, preemption=False)
    plan = prepare(inventory, options, with_spreads=False).plan
    of_any_kind = bool(wants) and all(each.about in _OF_ANY_KIND for each in wants)
    chosen = chosen_workloads(plan.workloads, targets, namespace, selector, of_any_kind=of_any_kind)
    by_key = {} if wants else _declared(inventory, chosen, declared)
    if by_key:
        chosen = [each for each in chosen if key_of(each) in by_key]
    checking = _Checking(inventory, options, wants, by_key, SearchBudget(states, seconds), sources or {})
    if not wants and not targets and namespace is None and selector is None:
        checking.unselecting += _unselecting(inventory, plan.workloads, declared)
    ends = time.monotonic() + checking.budget.seconds_of_all
    for number, workload in enumerate(chosen, 1):
        if time.monotonic() > ends:
            return checking.answer(f"the time ended before workload {number} of {len(chosen)} (--seconds {seconds:g})")
        try:
            checking.check(workload)
        except KeyboardInterrupt:
            if not checking.promises:
                raise
            raise Interrupted(checking.answer(f"interrupted in workload {number} of {len(chosen)}")) from None
    return checking.answer()


def chosen_workloads(
    workloads: Iterable[Workload],
    targets: Sequence[str],
    namespace: str | None,
    selector: str | None = None,
    *,
    of_any_kind: bool = False,
) -> list[Workload]:
    """Return the target workloads; without targets, all with replicas whose pods match the selector.

    Raises:
        UsageError: if a target does not exist or its kind has no promises, or no workload is selected.
    """
    by_key: dict[ObjectKey, Workload] = {key_of(each): each for each in workloads}
    if targets:
        keys = dict.fromkeys(the_workload(each, list(by_key), namespace) for each in targets)
        wrong = next((each for each in keys if each[0] not in KINDS and not of_any_kind), None)
        if wrong:
            raise UsageError(
                f"{wrong[1]}/{wrong[0]}/{wrong[2]}: a {wrong[0]} cannot have promises; name a {' or '.join(KINDS)}"
            )
        return [by_key[each] for each in keys]
    found = [
        each
        for key, each in by_key.items()
        if (of_any_kind or key[0] in KINDS)
        and each.replicas
        and each.template is not None
        and namespace in (None, key[1])
    ]
    if found and selector is not None:
        labels = parse_selector(selector)
        found = [each for each in found if each.template is not None and labels.matches(each.template.labels)]
        if not found:
            raise UsageError(f"-l {selector} selects no workload")
    if not found:
        raise UsageError(f"no workload with replicas{f' in namespace {namespace}' if namespace else ''}")
    return found


_Declared = Mapping[ObjectKey, Mapping[Want, Place]]
"""Workload → its declared promises, each with the location of its declaration."""


def _declared(inventory: Inventory, chosen: Sequence[Workload], declared: Sequence[DeclaredPromise]) -> _Declared:
    """Return the declared promises of the chosen workloads.

    Raises:
        UsageError: if a declared promise is not valid.
    """
    found = {key_of(each): declared_wants(inventory, each, declared) for each in chosen}
    return {key: each for key, each in found.items() if each}


def declared_wants(
    inventory: Inventory, workload: Workload, declared: Sequence[DeclaredPromise]
) -> Mapping[Want, Place]:
    """Return promise → place of its declaration: annotations, and the first settings that select the workload.

    Neither an annotation nor labels that only the workload has can remove a promise of the settings. Otherwise the
    author of a manifest could choose the promises that are checked.

    Raises:
        UsageError: if a declared promise is not valid, or the annotation is misspelt or the pod template's.
    """
    key = key_of(workload)
    item = workload_of(inventory, key) if workload.kind in LISTS else None
    if item is not None:
        refuse_unread_annotations(inventory, key, item)
    return wants_of_item(inventory, key, item, workload.template.labels if workload.template else {}, declared)


def refuse_unread_annotations(inventory: Inventory, key: ObjectKey, item: Designed) -> None:
    """Raise UsageError if a workload declares promises by a misspelt annotation, or by one of its pod template."""
    annotations, of_pods = item.metadata.annotations, item.spec.template.metadata.annotations
    if annotations is not None and annotations.misspelt:
        where = inventory.declared.get(key, Place(field="annotation"))
        hint = did_you_mean(annotations.misspelt, (PROMISE, QUORUM))
        raise UsageError(f"{_place(where)}: {key[1]}/{key[2]}: unknown annotation {annotations.misspelt}{hint}")
    if of_pods is not None and of_pods.declares and not (annotations is not None and annotations.declares):
        where, name = inventory.places.get(key, Place(field="annotation")), PROMISE if of_pods.promise else QUORUM
        words = f"{name} belongs to the {key[0]}, not to its pod template"
        raise UsageError(f"{_place(where)}: {key[1]}/{key[2]}: {words}")


def wants_of_item(
    inventory: Inventory,
    key: ObjectKey,
    item: Designed | None,
    of_pods: Mapping[str, str],
    declared: Sequence[DeclaredPromise],
) -> Mapping[Want, Place]:
    """Return promise → place of its declaration, like `declared_wants`, without a check for unread annotations.

    Raises:
        UsageError: if a declared promise is not valid.
    """
    every = _labels(of_pods, item)
    chosen = [one for labels in (of_pods.items(), every) for one in declared if one.select.items() <= labels]
    given: list[tuple[str | None, str | None, Place]] = [(one.want, None, one.where) for one in chosen[:1]]
    annotations = None if item is None else item.metadata.annotations
    if annotations is not None and annotations.declares:
        where = inventory.declared.get(key, Place(field="annotation"))
        given.append((annotations.promise, annotations.quorum, where))
    found: dict[Want, Place] = {}
    for promise, quorum, where in given:
        try:
            found |= dict.fromkeys(read_declared(promise, quorum), where)
        except UsageError as error:
            raise UsageError(f"{_place(where)}: {key[1]}/{key[2]}: {error}") from None
    return found


def _labels(of_pods: Mapping[str, str], item: Designed | None) -> AbstractSet[tuple[str, str]]:
    """Return the labels of a workload and of its pods."""
    return {*of_pods.items(), *((item.metadata.labels if item else None) or {}).items()}


def _unselecting(
    inventory: Inventory, workloads: Iterable[Workload], declared: Sequence[DeclaredPromise]
) -> Iterator[str]:
    """Yield a warning for each entry of the settings that selects no workload."""
    items = (each for name in LISTS.values() for each in getattr(inventory, name)) if declared else ()
    own = {key_of(each): each for each in items}
    labels = [
        _labels(each.template.labels, own.get(key_of(each)))
        for each in workloads
        if each.template is not None and each.kind in KINDS
    ]
    for one in declared:
        if not any(one.select.items() <= each for each in labels):
            select = ",".join(f"{name}={value}" for name, value in one.select.items())
            yield f"{_place(one.where)}: no workload has the labels {select}, so {one.want} is not checked"


def _place(where: Place) -> str:
    return str(Place(where.source, line=where.line)) or where.field


@dataclass
class _Checking:
    inventory: Inventory
    options: SimulationOptions
    wants: tuple[Want, ...]
    declared: _Declared
    budget: SearchBudget
    sources: Mapping[str, object]
    promises: list[CheckedPromise] = field(default_factory=list)
    unjudged: list[Unjudged] = field(default_factory=list)
    remedies: list[PromiseRemedy] = field(default_factory=list)
    broken: int = 0
    fixed: int = 0
    fixing: float = 0.0
    worked: dict[Hashable, str] = field(default_factory=dict)
    starting: list[str] = field(default_factory=list)
    unselecting: list[str] = field(default_factory=list)
    blocking: list[str] = field(default_factory=list)

    def check(self, workload: Workload) -> None:
        key = key_of(workload)
        judge = WorkloadPromises(self.inventory, self.options, key, self.budget, self.sources)
        wants = self.declared.get(key, dict.fromkeys(self.wants, Place()))
        found = list(judge.kept_at_every_size([*wants] or default_wants(workload.kind, workload.replicas)))
        for each in found:
            where = wants.get(each.want, Place())
            place = where if where.source else self.inventory.places.get(key, Place())
            self.promises.append(_checked(f"{key[1]}/{key[0]}/{key[2]}", each, _place(where), place))
        self.unjudged += judge.unjudged
        if any(each.want.about == "drain" for each in found):
            self.blocking += [name for one in (judge, *judge.sized.values()) for name in one.blocking_budgets]
        if any(each.verdict == "no" and each.part.when == "now" for each in found) and (number := judge.starting):
            pods = (
                f"{counted(number, 'pod')} of {key[1]}/{key[2]} {agreeing('are', number)} not ready yet and not counted"
            )
            wait = (
                f"; wait for: kubectl rollout status -n {key[1]} {key[0].lower()}/{key[2]}" if key[0] in LISTS else ""
            )
            self.starting.append(f"{pods}{wait}")
        if any(each.verdict == "no" for each in found):
            self.broken += 1
            if not self.fixed or self.fixing < self.budget.seconds:
                begun, self.fixed = time.monotonic(), self.fixed + 1
                self._fix(workload, key, found)
                self.fixing += time.monotonic() - begun

    def _fix(self, workload: Workload, key: ObjectKey, found: Sequence[Kept]) -> None:
        """For each broken promise, add the first change that keeps it and every promise that was kept before."""
        budget = SearchBudget(min(self.budget.states, _FIX.states), min(self.budget.seconds, _FIX.seconds))
        kept = [each.want for each in found if each.verdict == "yes"]
        keeping: dict[str, tuple[Fix, list[str]]] = {}
        text = likeness_of(self.inventory, workload_of(self.inventory, key)) if key[0] in LISTS else ""
        for broken in (each for each in found if each.verdict == "no"):
            likeness = text, broken.want, broken.part.when, *kept
            known = self.worked.get(likeness)  # the fix of an equal workload is tried first
            every = fixes(self.inventory, key, broken, workload.replicas)
            for fix in sorted(every, key=lambda each: each.says != known) if known else every:
                judge = WorkloadPromises(fix.inventory, self.options, key, budget, {})
                if all(each.verdict == "yes" for each in judge.kept_at_every_size([broken.want, *kept])):
                    self.worked[likeness] = fix.says
                    keeping.setdefault(fix.says, (fix, []))[1].append(str(broken.want))
                    break
        for fix, keeps in keeping.values():
            number = fix.replicas or workload.replicas
            self.remedies.append(
                PromiseRemedy(
                    code=fix.code,
                    says=f"{key[1]}/{key[2]}: {fix.says}",
                    patch=fix.patch,
                    object={"kind": key[0], "namespace": key[1], "name": key[2]},
                    tried=Tried(verdict="yes", places=number, of=number),
                    keeps=tuple(keeps),
                )
            )

    def _not_fixed(self) -> Iterator[str]:
        if self.broken > self.fixed:
            first = f"the first {self.fixed} of {self.broken} workloads with broken promises"
            yield f"fixes were tried for {first} in {self.budget.seconds:g} s (--seconds); name others, or raise it"

    def answer(self, partial: str = "") -> PromiseCheck:
        promises, total = self.promises, len(self.promises)
        verdict = worst([each.verdict for each in promises] + (["unknown"] if partial else []))
        kept = "declared promise" if self.declared else "promise" if self.wants else "default promise"
        broken, unknown = (sum(each.verdict == word for each in promises) for word in ("no", "unknown"))
        says = f"all of {counted(total, kept)} are kept" if total > 1 else f"the {kept} is kept"
        if broken:
            says = f"{broken} of {counted(total, kept)} {'is' if broken == 1 else 'are'} not kept"
        elif unknown:
            says = f"{unknown} of {counted(total, kept)} {'is' if unknown == 1 else 'are'} not decided"
        else:
            says += blocked_drains(dict.fromkeys(self.blocking))
        parts = {each.what: each for each in self.unjudged if unknown or each.what != ORDERS}
        for each in promises:
            if each.verdict == "unknown" and each.says and not parts:
                parts["budget"] = Unjudged(what="budget", because=each.says)
        if partial and not parts:
            parts["budget"] = Unjudged(what="budget", because=partial)
        inventory = self.inventory
        return PromiseCheck(
            verdict=verdict,
            says="; ".join(filter(None, [says if promises else "", partial])),
            causes=tuple(map(_cause, [each for each in promises if each.verdict == "no"][:3])),
            remedies=tuple(sorted(self.remedies, key=lambda each: len(each.patch))),
            unjudged=tuple(parts.values()),
            assumed=(PODS_ANYWHERE,) if any(each.what != ORDERS for each in self.unjudged) else (),
            on=asked_of(inventory, self.options),
            promises=tuple(promises),
            partial=partial,
            warnings=(*inventory.warnings, *self.unselecting, *self.starting, *self._not_fixed()),
            notes=tuple(inventory.notes),
        )


def _cause(each: CheckedPromise) -> Cause:
    says = f"{_short(each.workload)} {each.want}: {told(each.when, each.says)}"
    return Cause(code="promise-broken", says=says, objects=(each.workload,))


def _short(workload: str) -> str:
    namespace, _, name = workload.split("/", 2)
    return f"{namespace}/{name}"


def _checked(workload: str, kept: Kept, where: str, place: Place) -> CheckedPromise:
    part, found = kept.part, kept.part.answer
    order = () if found is None or kept.verdict != "no" else found.order
    return CheckedPromise.like(
        part,
        workload=workload,
        want=str(kept.want),
        declared=where,
        file=place.source,
        line=place.line,
        column=place.column,
        verdict=kept.verdict,
        states=found.states if found else 0,
        ends=found.ends if found else 0,
        drawn=found.drawn if found else 0,
        order=tuple(OrderedPod.like(step, node=step.node or None) for step in order),
        drill=found.drill if found and kept.verdict == "no" else "",
    )


def finding_of(each: CheckedPromise) -> Finding | None:
    """Return an error for a broken promise, or a warning for an undecided promise; None if it is kept.

    The place is the declaration or the workload.
    """
    if each.verdict == "yes":
        return None
    namespace, kind, name = each.workload.split("/", 2)
    word = "kept" if each.verdict == "no" else "decided"
    return Finding(
        level="error" if each.verdict == "no" else "warning",
        rule=each.want,
        says=f"{namespace}/{name}: promise {each.want} is not {word}: {told(each.when, each.says)}",
        file=each.file or "-",
        line=each.line,
        column=each.column,
        object=f"{kind} {namespace}/{name}",
    )


def cases(answer: PromiseCheck) -> dict[str, list[tuple[str, list[Finding]]]]:
    """Return file → (promise, findings) pairs, for JUnit."""
    found: dict[str, list[tuple[str, list[Finding]]]] = {}
    for each in answer.promises:
        finding = finding_of(each)
        label = f"{each.workload} {each.want}"
        found.setdefault(each.file or "-", []).append((label, [finding] if finding else []))
    return found
