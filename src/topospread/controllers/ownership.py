"""Owners of pods: by controller reference, else by selector.

A pod with a controller reference belongs to that controller if the controller's selector matches the pod. An orphan is
adopted by the first controller whose selector matches. Source: pkg/controller/controller_ref_manager.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from topospread.admission.names import parent_and_ordinal
from topospread.api.inventory import ObjectKey
from topospread.api.labels import Selector
from topospread.api.meta import KubeObject, OwnerReference
from topospread.api.pod import Pod
from topospread.api.workload import Deployment, ReplicaSet

from .controller_accounts import CREATORS
from .controllers import API_VERSIONS, Controller
from .removal import is_active
from .revisions import TEMPLATE_HASH_LABEL

_ADOPTS_ACTIVE_ONLY = frozenset({"ReplicaSet", "ReplicationController"})
_GROUPS = {"apps": "apps", "extensions": "apps"}


class Claims(msgspec.Struct):
    """The pods that belong to no controller of the input, and the number of adopted pods.

    Attributes:
        strangers: (kind, namespace, name) of an owner that is not in the input → its pods.
        bare: pods without an owner.
        adopted: key of a controller → number of orphans that it adopts.
    """

    strangers: dict[ObjectKey, list[Pod]] = {}
    bare: list[Pod] = []
    adopted: dict[ObjectKey, int] = {}


class Owners:
    """Finds the object of a controller reference by kind, API group and name, and by uid if both have one."""

    def __init__(self, objects: Iterable[tuple[str, KubeObject]]) -> None:
        self._objects = {(kind, each.namespace, each.name): each for kind, each in objects}

    def find(self, reference: OwnerReference, namespace: str) -> ObjectKey | None:
        """Return the object's key; None if the input lacks it, or has another object of this name (by uid)."""
        if reference.api_version and _group(reference.api_version) != _group(API_VERSIONS.get(reference.kind, "?/")):
            return None
        key = reference.kind, namespace, reference.name
        found = self._objects.get(key)
        if found is None:
            return None
        uid = found.metadata.uid
        return key if not uid or not reference.uid or uid == reference.uid else None

    def created(self, item: KubeObject) -> bool:
        """Return whether the controller that an object refers to is in the input and created it.

        Anyone can write a reference in a manifest. In a manifest, only a ReplicaSet's reference to a Deployment with
        the same template is trusted.
        """
        owner = item.metadata.controller
        if owner is None or (type(item).__name__, owner.kind) not in CREATORS:
            return False
        key = self.find(owner, item.namespace)
        return key is not None and (item.metadata.is_stored or _has_template_of(self._objects[key], item))


def _has_template_of(owner: KubeObject, item: KubeObject) -> bool:
    if not isinstance(owner, Deployment) or not isinstance(item, ReplicaSet):
        return False
    of, own = owner.spec.template, item.spec.template
    labels = {key: value for key, value in (own.metadata.labels or {}).items() if key != TEMPLATE_HASH_LABEL}
    return own.spec == of.spec and labels == (of.metadata.labels or {})


def _group(api_version: str) -> str:
    group, slash, _ = api_version.partition("/")
    return _GROUPS.get(group, group) if slash else ""


def matcher(selector: Selector) -> Callable[[Mapping[str, str]], bool]:
    """Return a function like ``selector.matches`` that is faster if the selector has only equalities."""
    if not selector.selects_nothing and all(each.operator == "=" for each in selector.requirements):
        required = {each.key: each.values[0] for each in selector.requirements}.items()
        return lambda labels: required <= labels.items()
    return selector.matches


def claim(
    pods: Iterable[Pod],
    controllers: Mapping[ObjectKey, Controller],
    missing: Callable[[OwnerReference, Pod], Controller | None],
) -> Claims:
    """Assign every pod to its controller (`Controller.pods`). Return the other pods.

    Args:
        pods: in input order.
        controllers: the controllers that own pods.
        missing: called once for each reference to an unknown controller; may return one.
    """
    owners = Owners((each.kind, each.object) for each in controllers.values())
    claims = Claims()
    orphans: list[Pod] = []
    resolved: dict[tuple[str | None, str, str, str, str], tuple[list[Pod], Callable[[Mapping[str, str]], bool]]] = {}
    for pod in pods:
        metadata = pod.metadata
        reference = metadata.controller
        if reference is None:
            orphans.append(pod)
            continue
        who = (metadata.namespace, reference.api_version, reference.kind, reference.name, reference.uid)
        found = resolved.get(who)
        if found is None:
            key = owners.find(reference, pod.namespace)
            owner = controllers[key] if key else missing(reference, pod)
            if owner is not None:
                found = owner.pods, matcher(owner.selector)
            elif reference.kind == "Node":  # a static pod, owned by its kubelet's node
                found = claims.bare, _anything
            else:
                found = claims.strangers.setdefault((reference.kind, pod.namespace, reference.name), []), _anything
            resolved[who] = found
        theirs, matches = found
        (theirs if matches(metadata.labels or {}) else claims.bare).append(pod)
    if orphans:
        _adopt(orphans, [each for each in controllers.values() if not each.object.metadata.deletion_timestamp], claims)
    return claims


def _anything(_labels: Mapping[str, str]) -> bool:
    return True


def _adopt(orphans: list[Pod], controllers: list[Controller], claims: Claims) -> None:
    """Assign each orphan to the first controller that may adopt it, found by a label that its selector requires."""
    by_label: dict[tuple[str, str, str], list[Controller]] = {}
    by_anything: dict[str, list[Controller]] = {}
    for each in controllers:
        exact = next((r for r in each.selector.requirements if r.operator == "="), None)
        if exact is not None:
            by_label.setdefault((each.namespace, exact.key, exact.values[0]), []).append(each)
        else:
            by_anything.setdefault(each.namespace, []).append(each)
    for pod in orphans:
        candidates = list(by_anything.get(pod.namespace, ()))
        for key, value in pod.labels.items():
            candidates += by_label.get((pod.namespace, key, value), ())
        owner = next((each for each in candidates if _adopts(each, pod)), None)
        if owner is None:
            claims.bare.append(pod)
        else:
            owner.pods.append(pod)
            claims.adopted[owner.key] = claims.adopted.get(owner.key, 0) + 1


def _adopts(controller: Controller, pod: Pod) -> bool:
    if pod.terminating or not controller.selector.matches(pod.labels):
        return False
    if controller.kind in _ADOPTS_ACTIVE_ONLY:
        return is_active(pod)
    return controller.kind != "StatefulSet" or parent_and_ordinal(pod.name)[0] == controller.name
