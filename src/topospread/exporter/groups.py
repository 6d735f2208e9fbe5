"""Groups of objects that are planned together: a controller, its ReplicaSets, pods and autoscaler.

A change costs as much as its group, not as the cluster. If a controller may adopt orphans
(pkg/controller/controller_ref_manager.go), the whole namespace is one group, because adoption depends on all its
objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from topospread.api.inventory import Inventory
from topospread.api.meta import KubeObject
from topospread.api.pod import Pod
from topospread.api.workload import (
    DaemonSet,
    Deployment,
    HorizontalPodAutoscaler,
    Job,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from topospread.controllers.controllers import controller
from topospread.errors import InvalidError, Place

PLANNED: dict[type[KubeObject], str] = {
    Deployment: "deployments",
    ReplicaSet: "replica_sets",
    ReplicationController: "replication_controllers",
    StatefulSet: "stateful_sets",
    DaemonSet: "daemon_sets",
    Job: "jobs",
    HorizontalPodAutoscaler: "horizontal_pod_autoscalers",
    Pod: "pods",
}
"""Kind of grouped objects → its list in an inventory."""


class PlanGroup(NamedTuple):
    """A group of objects that are planned together. ``kind`` is `WHOLE` for a whole namespace."""

    namespace: str
    kind: str
    name: str


WHOLE = "*"
_Owner = tuple[str, str]
"""Kind and name in a pod's controller reference; for an orphan, of the pod itself."""


class GroupedNamespace:
    """The objects of one namespace.

    Attributes:
        of: kind → name → object.
        adopts: whether a controller may adopt an orphan.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.of: dict[type[KubeObject], dict[str, Any]] = {kind: {} for kind in PLANNED}
        self.adopts = False
        self._pods: dict[_Owner, dict[str, Pod]] = {}
        self._sets: dict[PlanGroup, dict[str, None]] = {}
        self._autoscalers: dict[PlanGroup, dict[str, None]] = {}
        self._set_names: dict[str, dict[str, None]] = {}
        self._adoptable: dict[tuple[type[KubeObject], str], bool] = {}

    # Groups.

    def groups(self) -> set[PlanGroup]:
        """Return all groups."""
        return {self.group_of(kind, item) for kind, items in self.of.items() for item in items.values()}

    def group_of(self, kind: type[KubeObject], item: Any) -> PlanGroup:
        """Return the group of an object, even if the namespace does not contain it."""
        if self.adopts:
            return PlanGroup(self.name, WHOLE, "")
        if kind is Pod:
            owner, name = _owner_of(item)
            return self._group_of_set(name) if owner == "ReplicaSet" else PlanGroup(self.name, owner, name)
        return self._own_group(kind, item)

    def _own_group(self, kind: type[KubeObject], item: Any) -> PlanGroup:
        if kind is HorizontalPodAutoscaler:
            target = item.spec.scale_target_ref
            return PlanGroup(self.name, target.kind, target.name)
        owner = item.metadata.controller if kind is ReplicaSet else None
        return (
            PlanGroup(self.name, kind.__name__, item.name)
            if owner is None
            else PlanGroup(self.name, owner.kind, owner.name)
        )

    def _group_of_set(self, name: str) -> PlanGroup:
        """Return the group of a ReplicaSet's pods. An unread one may belong to a Deployment (`Hierarchy.missing`)."""
        known = self.of[ReplicaSet].get(name)
        if known is not None:
            return self._own_group(ReplicaSet, known)
        deployment = name.rpartition("-")[0]
        if deployment in self.of[Deployment]:
            return PlanGroup(self.name, "Deployment", deployment)
        return PlanGroup(self.name, "ReplicaSet", name)

    # Changes.

    def put(self, kind: type[KubeObject], item: Any) -> set[PlanGroup]:
        """Add or update an object. Return its old and new groups."""
        before = self.of[kind].get(item.name)
        touched = self._around(kind, before) if before is not None else set()
        touched |= self._around(kind, item)
        if before is not None:
            self._unlink(kind, before)
        self.of[kind][item.name] = item
        if kind is Pod:
            owner = _owner_of(item)
            self._pods.setdefault(owner, {})[item.name] = item
            if owner[0] == "ReplicaSet":
                self._set_names.setdefault(owner[1].rpartition("-")[0], {})[owner[1]] = None
        elif kind is ReplicaSet:
            self._sets.setdefault(self._own_group(kind, item), {})[item.name] = None
        elif kind is HorizontalPodAutoscaler:
            self._autoscalers.setdefault(self._own_group(kind, item), {})[item.name] = None
        if kind is not Pod:
            touched |= self._around(kind, item)
        return touched | self._adopted(kind, before, item)

    def delete(self, kind: type[KubeObject], name: str) -> set[PlanGroup]:
        """Delete an object. Return all groups that this may affect; nothing for an unknown object."""
        before = self.of[kind].get(name)
        if before is None:
            return set()
        touched = self._around(kind, before)
        self._unlink(kind, before)
        del self.of[kind][name]
        return touched | self._around(kind, before) | self._adopted(kind, before, None)

    def _around(self, kind: type[KubeObject], item: Any) -> set[PlanGroup]:
        """Return an object's group, and groups of pods whose unread ReplicaSets may belong to it."""
        found = {self.group_of(kind, item)}
        if kind is ReplicaSet and not self.adopts:
            found |= {
                PlanGroup(self.name, "ReplicaSet", item.name),
                PlanGroup(self.name, "Deployment", item.name.rpartition("-")[0]),
            }
        if kind is Deployment and not self.adopts:
            found |= {PlanGroup(self.name, "ReplicaSet", each) for each in self._set_names.get(item.name, ())}
        return found

    def _unlink(self, kind: type[KubeObject], item: Any) -> None:
        if kind is Pod:
            owner = _owner_of(item)
            _take_out(self._pods, owner, item.name)
            if owner[0] == "ReplicaSet" and owner not in self._pods:
                _take_out(self._set_names, owner[1].rpartition("-")[0], owner[1])
        elif kind is ReplicaSet:
            _take_out(self._sets, self._own_group(kind, item), item.name)
        elif kind is HorizontalPodAutoscaler:
            _take_out(self._autoscalers, self._own_group(kind, item), item.name)

    # Orphans.

    def _adopted(self, kind: type[KubeObject], before: Any, after: Any) -> set[PlanGroup]:
        """Update the possible adoptions. Return all groups if the namespace becomes one group, or no longer is."""
        if kind is HorizontalPodAutoscaler:
            return set()
        key = (kind, (after or before).name)
        self._adoptable.pop(key, None)
        if after is not None:
            self._look_at(kind, after)
        if kind is not Pod and (before is None or after is None or _selector(before) != _selector(after)):
            for orphan_kind, name in tuple(self._adoptable):
                self._look_at(orphan_kind, self.of[orphan_kind][name])
        if any(self._adoptable.values()) == self.adopts:
            return set()
        touched = self.groups()
        self.adopts = not self.adopts
        return touched | self.groups()

    def _look_at(self, kind: type[KubeObject], orphan: Any) -> None:
        if kind not in (Pod, ReplicaSet) or orphan.metadata.controller is not None:
            return
        self._adoptable[kind, orphan.name] = any(
            _selects(adopter, each, orphan.labels)
            for adopter in ((Deployment,) if kind is ReplicaSet else _ADOPT_PODS)
            for each in self.of[adopter].values()
        )

    # Members of groups.

    def inventory(self, group: PlanGroup) -> Inventory:
        """Return the objects of a group, in the API server's order."""
        found = Inventory()
        for kind, items in self._members(group):
            setattr(found, PLANNED[kind], [items[each] for each in sorted(items)])
        return found

    def _members(self, group: PlanGroup) -> Iterator[tuple[type[KubeObject], dict[str, Any]]]:
        if self.adopts != (group.kind == WHOLE):
            return
        if self.adopts:
            yield from self.of.items()
            return
        for kind in (Deployment, *_ADOPT_PODS):
            if kind.__name__ == group.kind and group.name in self.of[kind] and kind is not ReplicaSet:
                yield kind, {group.name: self.of[kind][group.name]}
        sets = self._sets.get(group, {})
        yield ReplicaSet, {each: self.of[ReplicaSet][each] for each in sets}
        autoscalers = self.of[HorizontalPodAutoscaler]
        yield HorizontalPodAutoscaler, {each: autoscalers[each] for each in self._autoscalers.get(group, ())}
        pods: dict[str, Any] = {}
        for owner in self._owners(group, sets):
            pods |= self._pods.get(owner, {})
        yield Pod, pods

    def _owners(self, group: PlanGroup, sets: Iterable[str]) -> Iterator[_Owner]:
        """Yield the owners in the controller references of a group's pods."""
        if group.kind != "ReplicaSet":
            yield group.kind, group.name
        names = dict.fromkeys(sets)
        if group.kind == "Deployment":
            names.update(dict.fromkeys(self._set_names.get(group.name, ())))
        elif group.kind == "ReplicaSet":
            names[group.name] = None
        yield from (("ReplicaSet", each) for each in names if self._group_of_set(each) == group)


_ADOPT_PODS = (ReplicaSet, ReplicationController, StatefulSet, DaemonSet, Job)


def _owner_of(pod: Pod) -> _Owner:
    owner = pod.metadata.controller
    return ("Pod", pod.name) if owner is None else (owner.kind, owner.name)


def _selector(item: Any) -> object:
    return item.spec.selector


def _selects(kind: type[KubeObject], item: Any, labels: Mapping[str, str]) -> bool:
    """Return whether a controller selects an object with these labels. A missing selector may match any object."""
    try:
        return controller(kind.__name__, item, Place()).selector.matches(labels)
    except InvalidError:
        return kind is ReplicationController


def _take_out(index: dict[Any, dict[str, Any]], key: Any, name: str) -> None:
    names = index.get(key)
    if names is not None:
        names.pop(name, None)
        if not names:
            del index[key]
