"""Changes that prevent newly pending pods at the end of a drill. Each change is simulated by a full drill.

The changes come from `suggest` and `cluster_changes`, for the rejections at the end. A change of a workload
that a step applies is made in the step's manifest. Any other change is applied before the steps and rolled out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace as with_fields

import msgspec
from msgspec.structs import replace

from topospread.answer import ExceededSkew
from topospread.api.inventory import Inventory, key_of
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject
from topospread.api.pod import Pod
from topospread.api.spread import DO_NOT_SCHEDULE
from topospread.api.workload import Deployment, StatefulSet
from topospread.controllers.draining import BLOCKED_BY_BUDGET
from topospread.controllers.planned import QueuedPod, Workload
from topospread.controllers.revisions import TEMPLATE_HASH_LABEL
from topospread.drill.drill import BegunDrill, play_runs, within
from topospread.drill.drill_run import DrillRun
from topospread.drill.patching import PatchedObject, patched, replaced
from topospread.drill.result import Drill, Harm, WorkloadState
from topospread.drill.steps import Apply, Rollout
from topospread.errors import TopospreadError
from topospread.simulation.changed_specs import with_specs

from .changes import Change, combined, go_together, strategy_change
from .correction_sets import smallest_sets
from .owner import exists, owned
from .rejections_per_node import RejectionsPerNode
from .result import Further, Json, Means, Suggestion
from .suggest import spec_changes
from .what_if import EFFORT, Baseline, OutOfEffortError, exceeded, looked_at, newly_counted

_WORKLOADS = 200
_CHANGES = 12
"""Maximum number of single changes to simulate."""
_IN_ALL = 40
"""Maximum number of changes and sets of changes to simulate."""
_TOGETHER = 3


class DrillFix(msgspec.Struct, frozen=True):
    """A change that was tried.

    Attributes:
        pending: number of newly pending pods at the end with the change, of all workloads.
        before: number of newly pending pods without the change.
        harm: the harm of the drill with it.
    """

    suggestion: Suggestion
    pending: int
    before: int
    harm: Harm


class DrillFixes(msgspec.Struct, frozen=True):
    """The changes that help, and the number of changes that were not tried because drills take too long."""

    fixes: tuple[DrillFix, ...] = ()
    untried: int = 0


def fixes_of(drill: Drill) -> DrillFixes:
    """Return the changes that leave fewer pods newly pending at the end of a drill.

    If no pod is newly pending, return the changes with which a drain evicts more pods, or a rollout leaves no skew.
    Changes that help newly pending pods are sorted by these pods, then by the excess over maxSkew.
    """
    if not isinstance(drill.begun, BegunDrill) or drill.partial:
        return DrillFixes()
    search = _Search(drill, drill.begun)
    return search.found() if drill.harm.pending else search.found_evictions()


def _pending(harm: Harm | None) -> int:
    return sum(each.pods for each in harm.pending) if harm is not None else 0


def _is_in(item: WorkloadState | Workload, workloads: Sequence[tuple[str, str]]) -> bool:
    return (item.namespace, f"{item.kind}/{item.name}") in workloads


class _Search:
    def __init__(self, drill: Drill, begun: BegunDrill) -> None:
        self._drill, self._begun = drill, begun
        self._before = _pending(drill.harm)
        pending = {(each.namespace, each.workload) for each in drill.pending}
        harmed = sorted(drill.harm.pending, key=lambda each: -each.pods) or drill.harm.not_evicted
        owners = dict.fromkeys((each.namespace, each.workload) for each in harmed)
        self._harmed = [each for each in owners if each in pending][:_WORKLOADS]
        """(namespace, workload) of newly pending pods, most first; else of pods that are not evicted."""
        given = begun.inventory
        self._cost = drill.runs * (
            20 + len(given.nodes) + len(given.pods) + sum(each.ready for each in drill.steps[:1])
        )
        self._spent = self._cost
        self._tried: dict[str, DrillFix | None] = {}
        self._stuck: dict[str, set[tuple[str, str, str]]] = {}
        """A change's title → (kind, namespace, name) of Deployments whose rollout gets stuck with it."""
        self._untried = 0

    def found(self) -> DrillFixes:
        if self._spent + self._cost > EFFORT:
            return DrillFixes(untried=1)
        items = sorted(self._items(), key=lambda each: each.size)
        fixes: list[DrillFix] = []
        for at, each in enumerate(items):  # try strategies only until the rollout completes with one
            if any(one.suggestion.kind == each.kind == "strategy" and not one.pending for one in fixes):
                continue
            tried = self._try(each)
            fewer = None if tried is not None else _without(each, self._stuck.get(each.title, set()))
            if fewer is not None:
                items[at], tried = fewer, self._try(fewer)
            if tried is not None:
                fixes.append(tried)
        if all(each.pending for each in fixes):
            fixes += self._sets(items)
        # If a change is sufficient, drop strategies with which the rollout still gets stuck.
        if not all(each.pending for each in fixes):
            fixes = [each for each in fixes if not (each.pending and each.suggestion.kind == "strategy")]
        fixes.sort(key=lambda each: each.suggestion.worse)
        return DrillFixes(tuple(fixes), self._untried)

    def found_evictions(self) -> DrillFixes:
        """Return the fixes of a drill without newly pending pods.

        These are spread constraints that count only new pods, if a rollout leaves skew. If budgets block a drain, these
        are changes that run pending pods of the blocked workloads. If none helps, these are budgets with room for one
        eviction, and workloads with one more pod.
        """
        drill, given = self._drill, self._begun.inventory
        fixes = list(self._tried_together(self._revision_changes()))
        running = sorted(self._items(), key=lambda each: each.size) if self._harmed else ()
        evicting = [*filter(None, map(self._try, running))]
        evicting.sort(key=lambda each: len(each.harm.not_evicted))
        for changes in (_budget_changes(drill, given), _scale_changes(drill, given)) if not evicting else ():
            fixes += self._tried_together(changes)
        return DrillFixes((*fixes, *evicting), self._untried)

    def _tried_together(self, changes: Iterable[Change]) -> Iterator[DrillFix]:
        parts = list(changes)
        fix = self._try(_of_workloads(parts, parts[0].title)) if parts else None
        yield from (fix,) if fix is not None else ()

    def _sets(self, items: Sequence[Change]) -> Iterator[DrillFix]:
        """Yield the smallest set of changes that leaves no pod newly pending."""

        def suffices(chosen: tuple[Change, ...]) -> bool:
            tried = self._try(combined(chosen), must=True)
            return tried is not None and not tried.pending

        try:
            for chosen in smallest_sets(items, suffices, go_together, _TOGETHER):
                tried = self._try(combined(chosen))
                if tried is not None:
                    yield tried
                    return
        except OutOfEffortError:
            return

    def _try(self, change: Change, *, must: bool = False) -> DrillFix | None:
        """Run the drill with a change; ``None`` if the change does not help or was not run.

        Raises:
            OutOfEffortError: if the budget is spent and ``must`` is set.
        """
        if change.title in self._tried:
            return self._tried[change.title]
        if len(self._tried) >= (_IN_ALL if must else _CHANGES) or self._spent + self._cost > EFFORT:
            self._untried += 1
            if must:
                raise OutOfEffortError
            return None
        self._spent += self._cost
        try:
            played = within(play_runs(self._with(change), self._drill.runs), self._drill.namespace)
        except TopospreadError:
            self._tried[change.title] = None  # the API server refuses the change, or a step finds no object any more
            return None
        harm = played.harm
        pending = _pending(harm)
        first = change.each[0]
        fix = DrillFix(
            Suggestion(
                kind=change.kind,
                title=change.title,
                object=first.object,
                patch=first.patch,
                means=first.means,
                placed=self._before - pending,
                wanted=self._before,
                lets_in=self._before - pending,
                exceeds=tuple(self._exceeded(played)),
                file=first.file,
                further=tuple(Further(each.kind, each.title, each.object, each.patch) for each in change.each[1:]),
            ),
            pending,
            self._before,
            harm,
        )
        stuck, before = ({key_of(each) for each in ended} for ended in (harm.stuck, self._drill.stuck))
        self._stuck[change.title] = stuck - before
        left, left_before = len(harm.not_evicted), len(self._drill.harm.not_evicted)
        helps = (pending, left) < (0, left_before) if not self._before else pending < self._before
        helps &= _pending(played.elsewhere) <= _pending(self._drill.elsewhere)
        if change.kind == "matchLabelKeys":
            helps = not pending and not played.left_skews and left <= left_before
        self._tried[change.title] = fix if helps and stuck <= before else None
        return self._tried[change.title]

    def _exceeded(self, played: Drill) -> Iterator[ExceededSkew]:
        """Yield constraints whose unchanged maxSkew the harmed workloads exceed, or others by more than without."""
        before = {
            (*key_of(state), each.arithmetic.position): each
            for state in self._drill.workloads
            for each in state.spread
            if each.hard
        }
        for state in sorted(played.workloads, key=lambda each: _is_in(each, self._harmed), reverse=True):
            is_own = _is_in(state, self._harmed)
            for each in state.spread:
                was = before.get((*key_of(state), each.arithmetic.position))
                if was is not None and (is_own or each.skew > was.skew):
                    name = "" if is_own else f"{state.namespace}/{state.name}"
                    found = exceeded([(was.max_skew, each.arithmetic)])
                    counted = {} if is_own else newly_counted(len(was.arithmetic.domains), each.arithmetic)
                    yield from (replace(one, workload=name, counted=counted) for one in found)

    def _with(self, change: Change) -> BegunDrill:
        """Return the drill's input with a change applied.

        Raises:
            TopospreadError: if the API server refuses the change.
        """
        begun, options = self._begun, self._begun.options
        inventory, manifests, steps = begun.inventory, dict(begun.manifests), list(begun.steps)
        restarts = any(isinstance(each, Rollout) for each in begun.steps)
        for number, part in enumerate(change.each):
            own = {path: each for path, each in begun.manifests.items() if any(_found(each, part))}
            rolled = part.of_pod is None or part.means in ("rollout", "new pods") or restarts
            if part.kind not in ("strategy", "matchLabelKeys") and part.of_pod is None:
                inventory = _applied(inventory, part)
            elif own:
                manifests |= {path: replaced(manifests[path], *_patched(manifests[path], part)) for path in own}
            elif rolled and any(_found(inventory, part)):
                manifests[f"fix {number}"] = _patched(inventory, part)[1]
                steps.insert(0, Apply(f"fix {number}"))
            else:
                inventory = _applied(inventory, part)
        if self._drill.assumed is not None:
            options = with_fields(options, assumes_unjudged=True)
        return with_fields(begun, inventory=inventory, manifests=manifests, steps=tuple(steps), options=options)

    def _items(self) -> Iterator[Change]:
        """Yield changes of all harmed workloads, by kind, and cluster changes for the first one."""
        by_kind: dict[str, list[Change]] = {}
        cluster: list[Change] = []
        there = {(each.namespace, each.name) for each in self._begun.inventory.pods}
        for number, (subject, obstacles) in enumerate(self._rejected()):
            inventories = [self._begun.inventory, *self._begun.manifests.values()]
            found = looked_at(Baseline(0, 1, frozenset()), obstacles, obstacles, [], older=False)
            has_pods = any((each.namespace, each.name) in there for each in subject.workload.existing)
            owners = (owned(each, subject, found.constraints, has_pods=has_pods) for each in inventories)
            owner = next(filter(None, owners), None)
            own: dict[str, list[Change]] = {}
            for each in spec_changes(owner, found) if owner is not None else ():
                same = own.setdefault(each.kind, [])
                if all(go_together(each, other) for other in same):
                    same.append(each)
            for kind, changes in own.items():
                one = combined(changes) if len(changes) > 1 else changes[0]
                same_field = {each.title.partition(" on ")[0] for each in changes}
                if len(changes) > 1 and len(same_field) == 1:
                    one = with_fields(one, title=f"{same_field.pop()} on every hard constraint")
                name = f"{one.object['namespace']}/{one.object['name']}"
                by_kind.setdefault(kind, []).append(with_fields(one, title=f"{one.title} of {name}", kind=kind))
            for stuck in self._drill.stuck:
                key = ("Deployment", subject.workload.namespace, subject.workload.name)
                if key_of(stuck) == key:
                    reference = {"apiVersion": "apps/v1", "kind": key[0], "namespace": key[1], "name": key[2]}
                    change = strategy_change(reference, f" of {key[1]}/{key[2]}")
                    cluster += [change, *self._with_fewer_ready(change, f" of {key[1]}/{key[2]}")]
            cluster += found.cluster_changes if not number else ()
        for changes in by_kind.values():
            yield _of_workloads(changes, changes[0].title) if len(changes) > 1 else changes[0]
        cordoned = {each.name for each in self._begun.inventory.nodes if each.spec.unschedulable}
        yield from (each for each in cluster if not each.kind.startswith("uncordon") or each.object["name"] in cordoned)

    def _revision_changes(self) -> Iterator[Change]:
        """Yield for each Deployment whose rollout leaves skew that its hard constraints count only new pods."""
        skewed = {key for key, _ in self._drill.left_skews}
        there = {
            key_of(one): one
            for each in (self._begun.inventory, *self._begun.manifests.values())
            for one in each.deployments
        }
        for key in sorted(skewed & there.keys()):
            item = there[key]
            reference = {"apiVersion": "apps/v1", "kind": key[0], "namespace": key[1], "name": key[2]}
            patch: list[Json] = []
            for at, each in enumerate(item.spec.template.spec.topology_spread_constraints or ()):
                keys = each.match_label_keys or []
                if each.when_unsatisfiable == DO_NOT_SCHEDULE and TEMPLATE_HASH_LABEL not in keys:
                    path = f"/spec/template/spec/topologySpreadConstraints/{at}/matchLabelKeys"
                    patch.append({"op": "add", "path": path, "value": [*keys, TEMPLATE_HASH_LABEL]})
            if patch:
                title = f"matchLabelKeys: [{TEMPLATE_HASH_LABEL}] of {key[1]}/{key[2]}"
                means: Means = "rollout" if exists(item) else "create"
                yield Change("matchLabelKeys", title, reference, tuple(patch), means)

    def _with_fewer_ready(self, change: Change, at: str) -> Iterator[Change]:
        """Yield the change to a rolling update that may delete a quarter of the old pods before it creates new ones."""
        inventories = [self._begun.inventory, *self._begun.manifests.values()]
        items = [item for each in inventories for item in _found(each, change) if isinstance(item, Deployment)]
        rolling = items[-1].spec.strategy.rolling_update if items and items[-1].spec.strategy else None
        surge = "25%" if rolling is None or rolling.max_surge is None else rolling.max_surge
        if items:
            yield strategy_change(change.object, at, surge, "25%")

    def _rejected(self) -> Iterator[tuple[QueuedPod, RejectionsPerNode]]:
        """Yield a pending pod of each harmed workload, in its final state."""
        begun = self._begun
        play = DrillRun(begun.inventory, begun.options, begun.manifests)
        play.says_how_spread = False
        play.play(begun.steps)
        waiting = play.state.pods.waiting.values()
        scheduler = play.state.run.scheduler
        for harmed in self._harmed:
            for each in waiting:
                workload = each.workload
                if workload is None or each.queued is None or not _is_in(workload, [harmed]):
                    continue
                verdict = scheduler.verdict(each.pod, each.name)
                if not verdict.error and not verdict.feasible:
                    pod_class = scheduler.cluster.shared_class(each.pod)
                    view = scheduler.view(pod_class)
                    yield each.queued, RejectionsPerNode(view, scheduler.framework_of(pod_class), verdict)
                    break


def _budget_changes(drill: Drill, given: Inventory) -> Iterator[Change]:
    """Yield a change of each budget that blocks a drain: one pod less is needed."""
    blocked = filter(None, (BLOCKED_BY_BUDGET.match(each.why) for each in drill.harm.not_evicted))
    needed = {each[1]: int(each[2]) for each in blocked}
    for each in given.pod_disruption_budgets:
        name = f"{each.namespace}/{each.name}"
        if needed.get(name, 0) < 1:
            continue
        spec, field, value = each.spec, "maxUnavailable", 1
        old = spec.max_unavailable
        if old is None:
            field, value, old = "minAvailable", needed[name] - 1, spec.min_available
            spec = replace(spec, min_available=value)
        else:
            spec = replace(spec, max_unavailable=value)
        reference = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"}
        reference |= {"namespace": each.namespace, "name": each.name}
        title = f"{field} {value} instead of {old} in the PodDisruptionBudget {name}"
        patch: tuple[Json, ...] = ({"op": "replace", "path": f"/spec/{field}", "value": value},)
        yield Change("budget", title, reference, patch, "cluster", (1.0,), objects=(replace(each, spec=spec),))


def _scale_changes(drill: Drill, given: Inventory) -> Iterator[Change]:
    """Yield one more replica of each workload with pods that a budget keeps on a drained node."""
    kept = {(each.namespace, each.workload) for each in drill.harm.not_evicted if BLOCKED_BY_BUDGET.match(each.why)}
    owners: tuple[Deployment | StatefulSet, ...] = (*given.deployments, *given.stateful_sets)
    for each in owners:
        kind, name = type(each).__name__, f"{each.namespace}/{each.name}"
        if (each.namespace, f"{kind}/{each.name}") in kept:
            replicas = 1 if each.spec.replicas is None else each.spec.replicas
            title = f"{replicas + 1} replicas instead of {replicas} of {name}"
            reference = {"apiVersion": "apps/v1", "kind": kind, "namespace": each.namespace, "name": each.name}
            patch: tuple[Json, ...] = ({"op": "replace", "path": "/spec/replicas", "value": replicas + 1},)
            scaled = replace(each, spec=replace(each.spec, replicas=replicas + 1))
            yield Change("replicas", title, reference, patch, "cluster", (2.0,), objects=(scaled,))


def _of_workloads(changes: Sequence[Change], title: str) -> Change:
    """Combine changes of one kind. `title`: title of the first change, which names its workload."""
    title += f" and {len(changes) - 1} more" if len(changes) > 1 else ""
    return with_fields(combined(changes), kind=changes[0].kind, title=title, size=changes[0].size)


def _without(change: Change, stuck: set[tuple[str, str, str]]) -> Change | None:
    """Return the change without parts for workloads whose rollout gets stuck; ``None`` if that drops none or all."""
    left = [
        each
        for each in change.parts
        if (each.object["kind"], each.object["namespace"], each.object["name"]) not in stuck
    ]
    if not left or len(left) == len(change.parts):
        return None
    where = f"{left[0].object['namespace']}/{left[0].object['name']}"
    kept = _of_workloads(left, f"{change.title.rpartition(' of ')[0]} of {where}")
    return with_fields(kept, kind=change.kind, size=change.size)


def _found(given: Inventory, change: Change) -> Iterator[KubeObject]:
    """Yield the object of a change, if the inventory has it."""
    kind = KINDS.get(change.object["kind"])
    asked = change.object["namespace"], change.object["name"]
    there: list[KubeObject] = getattr(given, kind.attribute) if kind is not None else []
    yield from (each for each in there if (each.namespace or "default", each.name) == asked)


def _patched(given: Inventory, change: Change) -> tuple[PatchedObject, Inventory]:
    found = next(_found(given, change))
    patch = PatchedObject(change.object["kind"], found.namespace, found.name, json.dumps(list(change.patch)))
    return patch, patched(given, patch)


def _applied(given: Inventory, change: Change) -> Inventory:
    of_pod = change.of_pod

    def changed(pod: Pod) -> Pod:
        assert of_pod is not None, "a change of the spec"
        try:
            return of_pod(pod)
        except IndexError:
            return pod  # a pod of an older revision may have fewer constraints

    key = change.object["kind"], change.object.get("namespace", ""), change.object["name"]
    made = with_fields(given) if of_pod is None else with_specs(given, [key], changed)
    if change.of_node is not None:
        made.nodes = [change.of_node(one) if one.name == change.object["name"] else one for one in made.nodes]
    made.nodes = [*made.nodes, *change.nodes]
    for item in change.objects:
        name = KINDS[type(item).__name__].attribute
        there: list[KubeObject] = getattr(made, name)
        kept = (one for one in there if (one.namespace, one.name) != (item.namespace, item.name))
        setattr(made, name, [*kept, item])
    return made
