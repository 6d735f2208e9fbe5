"""The pods that a workload keeps after the loss of a zone or node, before and after a change, by what filters force.

A workload whose own object, budgets and autoscalers are the same on both sides is not compared. If an autoscaler's
minimum differs, both sides are compared at their smallest number of replicas. A declared promise is the yardstick for
its event: a count that still satisfies the promise is not worse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any, Literal

from msgspec.structs import replace as with_fields

from topospread.answer import Unjudged
from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.pod import Container, PodSpec
from topospread.api.spread import DO_NOT_SCHEDULE
from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.base import Bounds, Word
from topospread.config.args import DefaultConstraint
from topospread.config.load import default_configuration
from topospread.controllers.autoscaling import AutoscaleChoice, target_of
from topospread.controllers.planned import Workload
from topospread.drill.drill import drill
from topospread.drill.result import Drill
from topospread.drill.steps import Fail, NodeChoice
from topospread.simulation.options import SimulationOptions

from .counted import CountedWorkloads
from .fresh import LISTS, Designed, workload_of
from .kept import Fewest, WorkloadPromises, budgets_over
from .orders import SearchBudget
from .wants import Want

Event = Literal[
    "zone-loss", "zone-rolled", "zone-after", "node-loss", "node-rolled", "node-after", "drains", "rollout", "skew",
    "never-waits",
]  # fmt: skip
"""Measures of a workload: pods left after the loss of a zone or node, in every order and after any rollout, pods ready
again after that, pods that budgets keep ready during drains, and pods that a rollout keeps ready. "skew" and
"never-waits" have no count and are compared only if they are declared."""
Ground = Literal["none", "played", "proved"]
_KEYS: Mapping[str, str] = {"zone": ZONE, "node": HOSTNAME}
_MOST_DRILLS = 5
"""Number of domains of each key whose failure is simulated, those with most nodes first."""
_COVERS: Mapping[str, tuple[Event, ...]] = {
    "zone-loss": ("zone-loss", "zone-rolled", "node-loss", "node-rolled"),
    "node-loss": ("node-loss", "node-rolled"),
    "quorum": ("zone-loss", "zone-rolled", "node-loss", "node-rolled"),
    "drain": ("drains",),
    "rollout": ("rollout",),
    "skew": ("skew",),
    "never-waits": ("never-waits",),
}
"""Promise → events whose count decides it. A node's loss leaves at least as many pods as its zone's loss."""
WantsOf = Callable[[Workload, Inventory], Sequence[Want]]
_UNCOUNTED: tuple[Event, ...] = ("skew", "never-waits")
_WORST_FIRST: tuple[Word, ...] = ("no", "unknown", "yes")
_NONE = Bounds.exactly(0)
_OF_SPREAD = ("topology_spread_constraints", "affinity")


@dataclass(frozen=True, slots=True)
class PromiseChange:
    """One count of a workload on both sides of a change.

    Attributes:
        key: kind, namespace and name of the workload.
        replicas: before and after.
        scaled: the count that the old spread gives with the new number of replicas, if that is larger.
        declared: the declared promise on the event; empty if the workload declares none.
        kept: verdicts on the declared promise before and after.
        unjudged: parts of the pods that topospread does not model.
        is_outweighed: whether the loss itself leaves more pods than before, which outweighs what follows it.
        parts: fields of the workload, or budgets, that make the count worse.
    """

    key: ObjectKey
    event: Event
    before: Bounds
    after: Bounds
    replicas: tuple[int, int]
    ground: Ground = "proved"
    scaled: Bounds | None = None
    declared: str = ""
    kept: tuple[Word, Word] | None = None
    unjudged: tuple[Unjudged, ...] = ()
    is_outweighed: bool = False
    parts: tuple[str, ...] = ()

    @property
    def verdict(self) -> Word:
        """Verdict: yes if the declared promise is kept or the count is not worse; no if it is worse in every case."""
        if self.kept is not None and (self.kept[1] == "yes" or self.event in _UNCOUNTED or self.kept[0] == "yes"):
            return "yes" if self.kept[0] == "no" else self.kept[1]
        if self.is_outweighed:
            return "yes"
        return min(map(self._compared, filter(None, (self.before, self.scaled))), key=_WORST_FIRST.index)

    def _compared(self, before: Bounds) -> Word:
        # With fewer replicas a drain or rollout may keep proportionally fewer; a loss must leave as many as before.
        is_loss = self.event.endswith(("loss", "rolled"))
        was, now = self.replicas if self.replicas[1] < self.replicas[0] and not is_loss else (1, 1)
        if self.after.most * was < before.least * now:
            return "no"
        return "yes" if self.after.least * was >= before.most * now or before == self.after else "unknown"

    @property
    def is_better(self) -> bool:
        """True if the count is better after the change in every case."""
        return self.after.least > self.before.most


@dataclass
class _Side:
    """One side of the change, with the drills of its zones and nodes, which all workloads share."""

    inventory: Inventory
    options: SimulationOptions
    budget: SearchBudget
    _drills: dict[tuple[str, str], Drill] = field(default_factory=dict)

    def judge(self, key: ObjectKey) -> WorkloadPromises:
        return WorkloadPromises(self.inventory, self.options, key, self.budget, {})

    def ready_after(self, key: ObjectKey, label: str) -> int:
        """Return the fewest pods of a workload that are ready in the end after the failure of a domain."""
        sizes = Counter(each.labels[label] for each in self.inventory.nodes if label in each.labels)
        names = sorted(sizes, key=lambda name: (-sizes[name], name))[:_MOST_DRILLS]
        return min(
            each.ready
            for name in names
            for each in self._failed(label, name).workloads
            if (each.kind, each.namespace, each.name) == key
        )

    def _failed(self, label: str, name: str) -> Drill:
        found = self._drills.get((label, name))
        if found is None:
            step = Fail(NodeChoice("zone" if label == ZONE else label, name))
            found = self._drills[label, name] = drill(self.inventory, [step], self.options.answered_by)
        return found


def promise_changes(
    before: Inventory,
    after: Inventory,
    options: SimulationOptions,
    budget: SearchBudget,
    wants_of: WantsOf = lambda *_: (),
) -> Iterator[PromiseChange]:
    """Yield promises before and after, for workloads in both states whose object, budgets or autoscalers differ.

    Args:
        before: the objects of the old state and the cluster.
        after: the objects of the new state and the cluster.
        options: the control plane.
        budget: the limits of each search.
        wants_of: gives the declared promises of a workload.
    """

    def sides(autoscale: AutoscaleChoice) -> tuple[_Side, _Side]:
        by = replace(options, preemption=False, autoscale=autoscale)
        return _Side(before, by, budget), _Side(after, by, budget)

    given, smallest = sides(options.autoscale), sides("min")
    least = _least_replicas(before), _least_replicas(after)
    for kind, attribute in LISTS.items():
        old = {(each.namespace, each.name): each for each in getattr(before, attribute)}
        for new in getattr(after, attribute):
            was = old.get((new.namespace, new.name))
            if was is None:
                continue
            key = (kind, new.namespace or "default", new.name)
            is_rescaled = least[0].get(key) != least[1].get(key)
            if is_rescaled or _budgets(before, was) != _budgets(after, new) or _terms(was) != _terms(new):
                old_side, new_side = smallest if is_rescaled else given
                yield from _Comparison(old_side, new_side, key, wants_of).changes()


def default_changes(
    inventory: Inventory,
    options: tuple[SimulationOptions, SimulationOptions],
    wants_of: WantsOf = lambda *_: (),
) -> Iterator[PromiseChange]:
    """Yield the pods that losses leave of workloads without own constraints, if the hard defaults of two control planes
    differ.

    Args:
        inventory: the objects.
        options: the control planes before and after.
        wants_of: gives the declared promises of a workload.
    """
    if _hard_defaults(options[0]) == _hard_defaults(options[1]):
        return
    sides = [CountedWorkloads(inventory, each) for each in options]
    losses = [loss for loss, label in _KEYS.items() if any(label in each.labels for each in inventory.nodes)]
    items = [(kind, each) for kind, attribute in LISTS.items() for each in getattr(inventory, attribute)]
    for kind, item in items if all(each.is_enough for each in sides) else ():
        if item.spec.template.spec.topology_spread_constraints or item.spec.replicas == 0:
            continue
        key = (kind, item.namespace or "default", item.name)
        with sides[0].judge(key) as before, sides[1].judge(key) as after:
            wants = wants_of(after.workload, inventory)
            of = after.workload.replicas
            for change in (each for loss in losses for each in _lost((before, after), loss, (of, of))):
                want = next((each for each in wants if change.event in _COVERS[each.about]), None)
                kept = [next(iter(each.kept([want]))).verdict for each in (before, after)] if want else []
                yield replace(change, declared=str(want or ""), kept=(kept[0], kept[1]) if kept else None)


def _hard_defaults(options: SimulationOptions) -> dict[str, list[DefaultConstraint]]:
    configuration = options.config or default_configuration(options.kube_version, options.gates)
    return {
        profile.scheduler_name: [
            each
            for each in profile.args.pod_topology_spread.constraints_in_force
            if each.when_unsatisfiable == DO_NOT_SCHEDULE
        ]
        for profile in configuration.profiles
    }


@dataclass
class _Comparison:
    before: _Side
    after: _Side
    key: ObjectKey
    wants_of: WantsOf
    _verdicts: dict[Want, tuple[Word, Word]] = field(default_factory=dict)

    @cached_property
    def _judges(self) -> tuple[WorkloadPromises, WorkloadPromises]:
        return self.before.judge(self.key), self.after.judge(self.key)

    def changes(self) -> Iterator[PromiseChange]:
        judges, replicas = self._judges, (self._judges[0].workload.replicas, self._judges[1].workload.replicas)
        if not all(replicas):
            return
        # Only promises that OLD declares count: otherwise a change could choose what it is judged by.
        wants = self.wants_of(judges[0].workload, self.before.inventory)
        counted = [*self._counted(replicas)]
        rolled = {each.event.replace("rolled", "loss") for each in counted if each.event.endswith("rolled")}
        for change in counted:
            want = next((each for each in wants if change.event in _COVERS[each.about]), None)
            kept = None if want is None else self._kept(want)
            if kept is not None and kept[1] == "no" and change.event in rolled:
                want = kept = None  # the lower count after a rollout breaks the promise
            declared = "" if want is None else str(want)
            parts = tuple({each.what: each for judge in judges for each in judge.unjudged}.values())
            found = replace(change, declared=declared, kept=kept, unjudged=parts)
            yield replace(found, parts=self._parts(found)) if found.verdict == "no" else found
        for want in wants:
            if want.about in ("skew", "never-waits"):
                kept = self._kept(want)
                found = PromiseChange(self.key, want.about, _NONE, _NONE, replicas, declared=str(want), kept=kept)
                yield replace(found, parts=self._differ) if found.verdict == "no" else found

    def _kept(self, want: Want) -> tuple[Word, Word]:
        """Return whether a promise is kept before and after. A promise on zones also decides the count for nodes."""
        if want not in self._verdicts:
            before, after = (next(iter(judge.kept([want]))).verdict for judge in self._judges)
            self._verdicts[want] = before, after
        return self._verdicts[want]

    def _counted(self, replicas: tuple[int, int]) -> Iterator[PromiseChange]:
        there = {label for each in self.after.inventory.nodes for label in each.labels}
        is_scaled = replicas[1] > replicas[0] and len(self._differ) > 1
        scaled = self._with_old("spec.replicas", others=True) if is_scaled else None
        for loss, label in _KEYS.items():
            if label in there:
                losses = [*_lost(self._judges, loss, replicas, scaled)]
                yield from losses
                follows: Event = "zone-after" if loss == "zone" else "node-after"
                was, now = (Bounds.exactly(side.ready_after(self.key, label)) for side in (self.before, self.after))
                outweighed = any(each.is_better for each in losses)
                yield PromiseChange(self.key, follows, was, now, replicas, "played", is_outweighed=outweighed)
        floors = [Bounds.exactly(judge.budget_least) for judge in self._judges]
        yield PromiseChange(self.key, "drains", floors[0], floors[1], replicas)
        rolled = [Bounds.exactly(judge.rolling_least()) for judge in self._judges]
        yield PromiseChange(self.key, "rollout", rolled[0], rolled[1], replicas)

    @cached_property
    def _items(self) -> tuple[Designed, Designed]:
        return workload_of(self.before.inventory, self.key), workload_of(self.after.inventory, self.key)

    @cached_property
    def _differ(self) -> tuple[str, ...]:
        """Fields, budgets and autoscalers that differ."""
        old, new = self._items
        found = [each for each in _FIELDS if _value(old, each) != _value(new, each)]
        budgets = _budgets(self.before.inventory, old), _budgets(self.after.inventory, new)
        least = (_least_replicas(side.inventory).get(self.key, {}) for side in (self.before, self.after))
        for kind, (was, now) in ((BUDGETS, budgets), (AUTOSCALERS, least)):
            found += [f"{kind}{each}" for each in sorted({*was, *now}) if was.get(each) != now.get(each)]
        return tuple(found)

    def _parts(self, change: PromiseChange) -> tuple[str, ...]:
        """Return the fields without whose change the count is not worse, or all if no single one decides."""
        if change.event == "drains":
            return tuple(each for each in self._differ if each.startswith((BUDGETS, *_NUMBERS)))
        if change.event == "rollout":
            found = tuple(each for each in self._differ if "trategy" in each or each.startswith(_NUMBERS))
            return found or self._differ
        groups = tuple(each for each in self._differ if not each.startswith(BUDGETS))
        if len(groups) < 2:
            return groups
        return tuple(each for each in groups if not self._still_worse(change, each)) or groups

    def _still_worse(self, change: PromiseChange, group: str) -> bool:
        """Return whether the count is worse although one field has its old value."""
        if change.event.endswith("after"):
            return False
        after = _left(self._with_old(group).fewest(change.event.partition("-")[0]), change.event)
        return replace(change, after=after, kept=None, scaled=None).verdict == "no"

    def _with_old(self, group: str, *, others: bool = False) -> WorkloadPromises:
        """Return the judge of the new state if a field or autoscaler, or every other one, had its old value."""
        old, new = self._items
        made = new
        for path in (path for each in self._differ if (each == group) != others for path in _FIELDS.get(each, ())):
            made = _taken(made, path, old)
        attribute = LISTS[self.key[0]]
        inventory = replace(self.after.inventory)
        listed = [made if each is new else each for each in getattr(inventory, attribute)]
        setattr(inventory, attribute, listed)
        if group.startswith(AUTOSCALERS) != others:
            inventory.horizontal_pod_autoscalers = self.before.inventory.horizontal_pod_autoscalers
        return WorkloadPromises(inventory, self.after.options, self.key, self.after.budget, {})


BUDGETS, AUTOSCALERS = "PodDisruptionBudget/", "HorizontalPodAutoscaler/"
_NUMBERS = ("spec.replicas", AUTOSCALERS)
"""What the number of replicas depends on."""
_POD = ("spec", "template", "spec")
_FIELDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "spec.replicas": (("spec", "replicas"),),
    "spec.template.spec.topologySpreadConstraints": ((*_POD, "topology_spread_constraints"),),
    "spec.template.spec.affinity": ((*_POD, "affinity"),),
    "spec.template.metadata.labels": (("spec", "template", "metadata", "labels"), ("spec", "selector")),
    "spec.strategy": (("spec", "strategy"),),
    "spec.updateStrategy": (("spec", "update_strategy"),),
    "spec.template.spec": tuple((*_POD, each) for each in PodSpec.__struct_fields__ if each not in _OF_SPREAD),
}
"""Field of a manifest → the attributes of the object that counts depend on."""


def _value(item: Designed, field_path: str) -> object:
    return [_plain(reduce(_attribute, path, item)) for path in _FIELDS[field_path]]


def _attribute(item: Any, name: str) -> Any:
    return getattr(item, name, None)


def _plain(value: Any) -> Any:
    """Return a value without fields that no filter reads: container names and images. `None` becomes an empty list."""
    if isinstance(value, list):
        return [with_fields(each, image=None, name="") if isinstance(each, Container) else each for each in value]
    return value or []


def _taken(item: Any, path: Sequence[str], old: Any) -> Any:
    """Return an object with the old object's value at a path."""
    name, *rest = path
    if not hasattr(item, name):
        return item
    value = getattr(old, name) if not rest else _taken(getattr(item, name), rest, getattr(old, name))
    return with_fields(item, **{name: value})


def _terms(item: Designed) -> tuple[object, ...]:
    """Return the parts of a workload's own object on which its counts depend."""
    annotations = item.metadata.annotations
    declared = None if annotations is None else (annotations.promise, annotations.quorum)
    return (*(_value(item, each) for each in _FIELDS), declared)


def _budgets(inventory: Inventory, item: Designed) -> dict[str, object]:
    namespace, labels = item.metadata.namespace or "default", item.spec.template.metadata.labels or {}
    return {each.metadata.name or "": each.spec for each, _ in budgets_over(inventory, namespace, labels)}


def _least_replicas(inventory: Inventory) -> dict[ObjectKey, dict[str, int]]:
    """Return workload → name of its autoscaler → the smallest number of replicas that it allows."""
    found: dict[ObjectKey, dict[str, int]] = {}
    for each in inventory.horizontal_pod_autoscalers:
        key = target_of(each)
        if key is not None:
            found.setdefault(key, {})[each.metadata.name or ""] = each.spec.least
    return found


def _lost(
    judges: tuple[WorkloadPromises, WorkloadPromises],
    loss: str,
    replicas: tuple[int, int],
    scaled: WorkloadPromises | None = None,
) -> Iterator[PromiseChange]:
    """Yield the pods that a loss leaves in every order, and after any rollout if that differs.

    Args:
        judges: before and after.
        loss: zone or node.
        replicas: before and after.
        scaled: the judge of the old spread with the new number of replicas, if that is compared.
    """
    before, after = (judge.fewest(loss) for judge in judges)
    grown = scaled.fewest(loss) if scaled is not None else None
    events: tuple[Event, Event] = ("zone-loss", "zone-rolled") if loss == "zone" else ("node-loss", "node-rolled")
    is_one = all(each.bounds == each.orders for each in (before, after))
    for event in events[: 1 if is_one else 2]:
        was, now = _left(before, event), _left(after, event)
        ground: Ground = "proved" if was.known and now.known else "none"
        more = None if grown is None else _left(grown, event)
        yield PromiseChange(judges[0].key, event, was, now, replicas, ground, more)


def _left(found: Fewest, event: Event) -> Bounds:
    return found.bounds if event.endswith("rolled") else found.orders
