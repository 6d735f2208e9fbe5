"""Start rollouts, by ``kubectl rollout restart`` or by applying manifests. `rolling` continues them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.api.meta import Annotations
from topospread.api.workload import DaemonSet, Deployment, StatefulSet, StatefulSetStatus
from topospread.controllers.revisions import canonical, revision_hash
from topospread.controllers.scale import the_workload
from topospread.errors import UsageError
from topospread.sources.collection import applied
from topospread.whole_number import whole_number

from .drill_state import DrillState
from .result import DrillRollout
from .rolling import go_on, rollout_state, template_item
from .rollout_order import play_turns, stand
from .steps import Rollout

Rolled = Deployment | StatefulSet | DaemonSet
_LISTS = {"Deployment": "deployments", "StatefulSet": "stateful_sets", "DaemonSet": "daemon_sets"}


def roll_out(state: DrillState, step: Rollout, manifests: Inventory | None) -> None:
    """Start a rollout, like ``kubectl rollout restart`` or by applying manifests.

    Raises:
        InputError: if the API server denies an object.
        UsageError: if the workload is missing or cannot be rolled out, or a step of a given order is impossible.
    """
    before = state.inventory()
    key = the_workload(step.target, [key_of(each) for each in state.run.plan.workloads])
    if key[0] not in _LISTS:
        raise UsageError(f"{step}: Deployments, StatefulSets and DaemonSets are rolled out, not a {key[0]}")
    if manifests is not None:
        apply_and_roll(state, manifests, step.path)
        item = template_item(state, key)
        if item is not None and not _changed(before, item):
            raise UsageError(f"{step}: it does not change the template of {step.target}")
        return
    item = template_item(state, key)
    waits = " (OnDelete: old pods stay until somebody deletes them)"
    state.note("rollout", detail=step.target + (waits if item is not None and _is_left_to_people(item) else ""))
    if step.turns:
        stand(state, step, key)
    state.replan(lambda inventory: _restarted(inventory, key, f"in the drill, after {len(state.events)} events"))
    _begin(state, key)
    if step.turns:
        play_turns(state, step, key)


def apply_and_roll(state: DrillState, manifests: Inventory, path: str) -> None:
    """Apply manifests, and start rollouts of workloads whose templates change."""
    before = state.inventory()
    state.note("applied", detail=path)
    state.replan(lambda inventory: _revised(before, applied(inventory, manifests)))
    for item in _items(state.run.plan.inventory):
        if _changed(before, item):
            _begin(state, key_of(item))


def rollout_states(state: DrillState) -> list[DrillRollout]:
    """Return the states of the started rollouts, and forget the completed ones."""
    found = []
    for key in list(state.rollouts):
        status = rollout_state(state, key)
        if status is not None:
            found.append(status)
        if status is None or status.over:
            del state.rollouts[key]
    return found


def _begin(state: DrillState, key: ObjectKey) -> None:
    state.rollouts[key] = partial(go_on, state, key)


def _is_left_to_people(item: Rolled) -> bool:
    if isinstance(item, Deployment) or item.spec.update_strategy is None:
        return False
    return item.spec.update_strategy.type == "OnDelete"


def _items(inventory: Inventory) -> Iterator[Rolled]:
    yield from inventory.deployments
    yield from inventory.stateful_sets
    yield from inventory.daemon_sets


def _was(before: Inventory, item: Rolled) -> Rolled | None:
    key = key_of(item)
    return next((each for each in _items(before) if key_of(each) == key), None)


def _changed(before: Inventory, item: Rolled) -> bool:
    """Return whether an existing workload had another template."""
    was = _was(before, item)
    return was is not None and canonical(was.spec.template) != canonical(item.spec.template)


def _revised(before: Inventory, after: Inventory) -> Inventory:
    """Return the inventory with manifests applied and changed templates marked as new revisions."""

    def marked(item: Rolled) -> Rolled:
        was = _was(before, item)
        if was is None:
            return item
        kept = _with_generation(item, _generation(was)) if isinstance(item, DaemonSet) else item
        return _as_new_revision(kept) if _changed(before, item) else kept

    for attribute in _LISTS.values():
        setattr(after, attribute, [marked(each) for each in getattr(after, attribute)])
    return after


def _restarted(inventory: Inventory, key: ObjectKey, when: str) -> Inventory:
    """Return the cluster with the restart annotation in a workload's template (``kubectl rollout restart``)."""

    def changed(item: Rolled) -> Rolled:
        if (item.namespace, item.name) != key[1:]:
            return item
        template = item.spec.template
        annotations = replace(template.metadata.annotations or Annotations(), restarted_at=when)
        metadata = replace(template.metadata, annotations=annotations)
        made: Rolled = replace(item, spec=replace(item.spec, template=replace(template, metadata=metadata)))
        return _as_new_revision(made)

    attribute = _LISTS[key[0]]
    setattr(inventory, attribute, [changed(each) for each in getattr(inventory, attribute)])
    return inventory


def _as_new_revision(item: Rolled) -> Rolled:
    """Return a workload with a changed template as the API server and controller would update it.

    A StatefulSet's status gets a new revision; a DaemonSet's template generation is increased
    (pkg/registry/apps/daemonset/strategy.go, ``PrepareForUpdate``).
    """
    if isinstance(item, StatefulSet):
        current = item.status.current_revision if item.status else None
        name = f"{item.name}-{revision_hash(item.spec.template)}"
        return replace(item, status=StatefulSetStatus(current_revision=current, update_revision=name))
    if isinstance(item, DaemonSet):
        return _with_generation(item, _generation(item) + 1)
    return item


def _generation(item: Rolled) -> int:
    annotations = item.metadata.annotations
    text = annotations.template_generation if annotations is not None else None
    return whole_number(text) or 1


def _with_generation(item: DaemonSet, generation: int) -> DaemonSet:
    annotations = replace(item.metadata.annotations or Annotations(), template_generation=str(generation))
    return replace(item, metadata=replace(item.metadata, annotations=annotations))
