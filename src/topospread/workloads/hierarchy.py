"""ReplicaSets by Deployment, and the ReplicaSets that only their pods name.

Source: pkg/controller/controller_ref_manager.go (``ClaimReplicaSets``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from topospread.api.inventory import ObjectKey
from topospread.api.meta import OwnerReference
from topospread.api.pod import Pod

from .controllers import Controller, controller
from .ownership import Owners
from .planned import Plan
from .replica_sets import missing_replica_set


class Hierarchy:
    """The controllers of an inventory.

    Attributes:
        of_deployment: key of a Deployment → its ReplicaSets.
        pod_owners: the controllers that own pods, which is all but Deployments.
    """

    def __init__(self, plan: Plan, controllers: Mapping[ObjectKey, Controller]) -> None:
        self._plan = plan
        self._all = controllers
        self._deployments = {
            (each.namespace, each.name): each for each in controllers.values() if each.kind == "Deployment"
        }
        self._managed: set[ObjectKey] = set()
        self.of_deployment: dict[ObjectKey, list[Controller]] = {each.key: [] for each in self._deployments.values()}
        self.pod_owners = {key: each for key, each in controllers.items() if each.kind != "Deployment"}
        owners = Owners((each.kind, each.object) for each in self._deployments.values())
        for each in list(self.pod_owners.values()):
            owner = self._deployment_of(each, owners) if each.kind == "ReplicaSet" else None
            if owner is not None:
                self._manage(owner, each)

    def planned(self) -> list[Controller]:
        """Return the controllers that are workloads of their own: all but the ReplicaSets of Deployments."""
        return [each for key, each in self._all.items() if key not in self._managed]

    def siblings(self, each: Controller) -> list[Controller]:
        """The ReplicaSets of a ReplicaSet's own controller, itself included (``getReplicaSetsWithSameController``).

        ReplicationControllers have none: the index that is asked holds ReplicaSets alone.
        """
        reference = each.object.metadata.controller
        return [] if reference is None else self._by_owner.get((each.kind, each.namespace, reference.uid), [])

    @cached_property
    def _by_owner(self) -> dict[ObjectKey, list[Controller]]:
        """Kind, namespace and owner's uid → ReplicaSets."""
        found: dict[ObjectKey, list[Controller]] = {}
        for each in self._all.values():
            reference = each.object.metadata.controller
            if reference is not None and each.kind == "ReplicaSet":
                found.setdefault((each.kind, each.namespace, reference.uid), []).append(each)
        return found

    def missing(self, reference: OwnerReference, pod: Pod) -> Controller | None:
        """The ReplicaSet of a Deployment that was read without it; the inventory gets it."""
        if ("ReplicaSet", pod.namespace, reference.name) in self._all:
            return None  # it was read and is another one: the pod's is gone
        owner = self._deployments.get((pod.namespace, reference.name.rpartition("-")[0]))
        made = missing_replica_set(owner, reference, pod) if owner else None
        if owner is None or made is None:
            return None
        self._plan.inventory.replica_sets.append(made)
        self._plan.notes.append(
            f"ReplicaSet {made.namespace}/{made.name} was not read: its pods are taken as Deployment {owner.name}'s"
        )
        found = controller("ReplicaSet", made, owner.place)
        self._manage(owner, found)
        return found

    def _deployment_of(self, each: Controller, owners: Owners) -> Controller | None:
        """By reference, as long as the selector matches; an orphan's by selector."""
        reference = each.object.metadata.controller
        labels = each.object.labels
        if reference is not None:
            key = owners.find(reference, each.namespace)
            owner = self._deployments[key[1:]] if key else None
            return owner if owner is not None and owner.selector.matches(labels) else None
        for owner in self._deployments.values():
            deleting = owner.object.metadata.deletion_timestamp is not None
            if owner.namespace == each.namespace and not deleting and owner.selector.matches(labels):
                self._plan.notes.append(
                    f"ReplicaSet {each.namespace}/{each.name} has no controller and is adopted by "
                    f"Deployment {owner.name}, whose selector matches"
                )
                return owner
        return None

    def _manage(self, owner: Controller, replica_set: Controller) -> None:
        self.of_deployment[owner.key].append(replica_set)
        self._managed.add(replica_set.key)
