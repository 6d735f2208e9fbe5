"""Changes that prevent newly pending pods at the end of a drill. Each change is simulated by a full drill.

The changes come from `suggest` and `cluster_changes`, for the rejections at the end. A change of a workload in the
cluster is applied before the steps and rolled out from the present pods, one of an applied manifest in the manifest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace as with_fields

import msgspec
from msgspec.structs import replace

from topospread.answer import ExceededSkew
from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject
from topospread.api.pod import Pod
from topospread.api.workload import Deployment
from topospread.controllers.planned import QueuedPod
from topospread.drill.drill import BegunDrill, play_runs
from topospread.drill.drill_run import DrillRun
from topospread.drill.patching import PatchedObject, patched, replaced
from topospread.drill.result import Drill, Harm
from topospread.drill.steps import Apply, Rollout
from topospread.errors import TopospreadError

from .changes import Change, combined, go_together, strategy_change
from .correction_sets import smallest_sets
from .owner import owned
from .rejections_per_node import RejectionsPerNode
from .result import Further, Suggestion
from .suggest import spec_changes
from .what_if import EFFORT, Baseline, OutOfEffortError, exceeded, looked_at

_WORKLOADS = 200
_CHANGES = 12
"""Maximum number of single changes to simulate."""
_IN_ALL = 40
"""Maximum number of changes and sets of changes to simulate."""
_TOGETHER = 3
_WITH_TEMPLATE = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController", "Job")


class DrillFix(msgspec.Struct, frozen=True):
    """A change that was tried.

    Attributes:
        pending: pods that are newly pending at the end with it, of all workloads.
        before: the same without it.
        harm: the harm of the drill with it.
    """

    suggestion: Suggestion
    pending: int
    before: int
    harm: Harm


class DrillFixes(msgspec.Struct, frozen=True):
    """The changes that help, and how many were not tried, as drills of them would take too long."""

    fixes: tuple[DrillFix, ...] = ()
    untried: int = 0


def fixes_of(drill: Drill) -> DrillFixes:
    """Return the changes that leave fewer pods newly pending at the end of a drill, the best first.

    Changes that leave fewer pods pending come first, and of those the ones that exceed maxSkew by less.
    """
    if not isinstance(drill.begun, BegunDrill) or drill.partial or not drill.harm.pending:
        return DrillFixes()
    return _Search(drill, drill.begun).found()


class _Search:
    def __init__(self, drill: Drill, begun: BegunDrill) -> None:
        self._drill, self._begun = drill, begun
        self._before = sum(each.pods for each in drill.harm.pending)
        given = begun.inventory
        self._cost = drill.runs * (
            20 + len(given.nodes) + len(given.pods) + sum(each.ready for each in drill.steps[:1])
        )
        self._spent = self._cost
        self._tried: dict[str, DrillFix | None] = {}
        self._untried = 0

    def found(self) -> DrillFixes:
        if self._spent + self._cost > EFFORT:
            return DrillFixes(untried=1)
        items = sorted(self._items(), key=lambda each: each.size)
        fixes: list[DrillFix] = []
        for each in items:  # of the strategies, the first with which the rollout completes
            done = any(one.suggestion.kind == each.kind == "strategy" and not one.pending for one in fixes)
            if not done and (tried := self._try(each)) is not None:
                fixes.append(tried)
        if all(each.pending for each in fixes):
            fixes += self._sets(items)
        if not all(each.pending for each in fixes):  # a strategy with which the rollout stays stuck is no fix then
            fixes = [each for each in fixes if not (each.pending and each.suggestion.kind == "strategy")]
        fixes.sort(key=lambda each: each.suggestion.worse)
        return DrillFixes(tuple(fixes), self._untried)

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
            played = play_runs(self._with(change), self._drill.runs)
        except TopospreadError:
            self._tried[change.title] = None  # the API server refuses the change, or a step finds no object any more
            return None
        harm = played.harm
        pending = sum(each.pods for each in harm.pending)
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
        before = {(each.kind, each.namespace, each.name) for each in self._drill.stuck}
        gets_stuck = any((each.kind, each.namespace, each.name) not in before for each in harm.stuck)
        self._tried[change.title] = fix if pending < self._before and not gets_stuck else None
        return self._tried[change.title]

    def _exceeded(self, played: Drill) -> Iterator[ExceededSkew]:
        """Yield the constraints that harmed workloads exceed by their unchanged maxSkew."""
        harmed = {(each.namespace, each.workload) for each in self._drill.harm.pending}
        allowed = {
            (state.namespace, f"{state.kind}/{state.name}", each.arithmetic.position): each.max_skew
            for state in self._drill.workloads
            for each in state.spread
            if each.hard
        }
        for state in played.workloads:
            workload = state.namespace, f"{state.kind}/{state.name}"
            if workload in harmed:
                counted = (each.arithmetic for each in state.spread)
                yield from exceeded((allowed.get((*workload, each.position)), each) for each in counted)

    def _with(self, change: Change) -> BegunDrill:
        """Return the drill with a change carried out.

        Raises:
            TopospreadError: if the API server refuses the change.
        """
        begun, options = self._begun, self._begun.options
        inventory, manifests, steps = begun.inventory, dict(begun.manifests), list(begun.steps)
        restarts = any(isinstance(each, Rollout) for each in begun.steps)
        for number, part in enumerate(change.each):
            own = {path: each for path, each in begun.manifests.items() if any(_found(each, part))}
            rolled = part.of_pod is None or part.means in ("rollout", "new pods") or restarts
            if part.kind != "strategy" and part.of_pod is None:
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
        """Yield changes of one kind of all workloads with newly pending pods, and of the cluster for the first."""
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
                if (stuck.kind, stuck.namespace, stuck.name) == key:
                    reference = {"apiVersion": "apps/v1", "kind": key[0], "namespace": key[1], "name": key[2]}
                    change = strategy_change(reference, f" of {key[1]}/{key[2]}")
                    cluster += [change, *self._with_fewer_ready(change, f" of {key[1]}/{key[2]}")]
            cluster += found.cluster_changes if not number else ()
        for kind, changes in by_kind.items():
            first = changes[0]
            if len(changes) > 1:
                title = f"{first.title} and {len(changes) - 1} more"
                first = with_fields(combined(changes), kind=kind, title=title, size=first.size)
            yield first
        cordoned = {each.name for each in self._begun.inventory.nodes if each.spec.unschedulable}
        yield from (each for each in cluster if each.kind != "uncordon" or each.object["name"] in cordoned)

    def _with_fewer_ready(self, change: Change, at: str) -> Iterator[Change]:
        """Yield the change to a rolling update that may delete a quarter of the old pods before it creates new ones."""
        inventories = [self._begun.inventory, *self._begun.manifests.values()]
        items = [item for each in inventories for item in _found(each, change) if isinstance(item, Deployment)]
        rolling = items[-1].spec.strategy.rolling_update if items and items[-1].spec.strategy else None
        surge = "25%" if rolling is None or rolling.max_surge is None else rolling.max_surge
        if items:
            yield strategy_change(change.object, at, surge, "25%")

    def _rejected(self) -> Iterator[tuple[QueuedPod, RejectionsPerNode]]:
        """Yield a pending pod of each workload with newly pending pods, most pods first, in its final state."""
        begun = self._begun
        play = DrillRun(begun.inventory, begun.options, begun.manifests)
        play.says_how_spread = False
        play.play(begun.steps)
        waiting = play.state.pods.waiting.values()
        scheduler = play.state.run.scheduler
        for harmed in sorted(self._drill.harm.pending, key=lambda each: -each.pods)[:_WORKLOADS]:
            for each in waiting:
                workload = each.workload
                if workload is None or each.queued is None:
                    continue
                if (each.namespace, f"{workload.kind}/{workload.name}") != (harmed.namespace, harmed.workload):
                    continue
                verdict = scheduler.verdict(each.pod, each.name)
                if not verdict.error and not verdict.feasible:
                    pod_class = scheduler.cluster.shared_class(each.pod)
                    view = scheduler.view(pod_class)
                    yield each.queued, RejectionsPerNode(view, scheduler.framework_of(pod_class), verdict)
                    break


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
    """Return the objects as a change makes them."""
    made = with_fields(given)
    if change.of_node is not None:
        made.nodes = [change.of_node(one) if one.name == change.object["name"] else one for one in made.nodes]
    if change.of_pod is not None:
        _change_spec(made, change)
    made.nodes = [*made.nodes, *change.nodes]
    for item in change.objects:
        name = KINDS[type(item).__name__].attribute
        there: list[KubeObject] = getattr(made, name)
        key = item.namespace, item.name
        setattr(made, name, [*(one for one in there if (one.namespace, one.name) != key), item])
    return made


def _change_spec(made: Inventory, change: Change) -> None:
    kind, name, namespace = change.object["kind"], change.object["name"], change.object["namespace"]

    def is_of(item: KubeObject, owners: set[tuple[str, str]]) -> bool:
        by = item.metadata.controller
        here = (item.namespace or "default") == namespace
        return here and by is not None and (by.kind, by.name) in owners

    def changed(pod: Pod) -> Pod:
        assert change.of_pod is not None, "a change of the spec"
        try:
            return change.of_pod(pod)
        except IndexError:
            return pod  # a pod of an older revision may have fewer constraints

    sets = {("ReplicaSet", each.name) for each in made.replica_sets if is_of(each, {(kind, name)})}
    owners = {(kind, name), *sets}
    for each_kind in _WITH_TEMPLATE:
        attribute = KINDS[each_kind].attribute
        items = list(getattr(made, attribute))
        for at, item in enumerate(items):
            if (each_kind, item.name) in owners and (item.namespace or "default") == namespace:
                template = item.spec.template
                pod = changed(Pod(metadata=template.metadata, spec=template.spec))
                items[at] = replace(item, spec=replace(item.spec, template=replace(template, spec=pod.spec)))
        setattr(made, attribute, items)
    made.pods = [
        changed(each)
        if is_of(each, owners) or (kind == "Pod" and (each.name, each.namespace or "default") == (name, namespace))
        else each
        for each in made.pods
    ]
