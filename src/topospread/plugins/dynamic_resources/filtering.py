"""Nodes on which a pod's claims are allocated or can be allocated; cached for all pods with equal claims.

Source: plugins/dynamicresources/dynamicresources.go (``Filter``, ``Score``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import msgspec
import numpy as np

from topospread.api.device_claims import AllocationResult, DeviceClaim, ResourceClaim, ResourceClaimSpec
from topospread.api.devices import DeviceClass, DeviceTaintRule, ResourceSlice
from topospread.api.node import Node
from topospread.cel.values import CannotEvaluateError
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints, Rows, grown
from topospread.cluster.device_use import DeviceID, PoolID
from topospread.plugins.group_columns import GroupColumn
from topospread.plugins.interface import (
    UNRESOLVABLE,
    NotJudgedError,
    PluginError,
    Scope,
    Status,
    normalize_by_maximum,
    numbers,
)
from topospread.plugins.node_matching import matches_node

from .allocator import NODE_OPERATIONS, AllocationError, Allocator, InvalidPoolError, SearchTooLongError
from .claims import NAME, NOT_ALLOCATED, ON_ADDED_NODE, WHAT, ClaimsWanted, requests_of
from .pools import catalog_of
from .rules import DynamicResourcesRules

MOST_ALTERNATIVES: Final = 8
"""Maximum number of alternatives of one request (``FirstAvailableDeviceRequestMaxSize``)."""

CANNOT_ALLOCATE, NOT_HERE, INVALID, NO_RESOURCE, ADDED = 1, 2, 3, 4, 5
_FAILED: Final = 16
_UNKNOWN: Final = -1
_TOO_MANY: Final = "claims whose allocation takes too many search steps"
_WORDS: Final = {
    CANNOT_ALLOCATE: NOT_ALLOCATED,
    NOT_HERE: "resourceclaim not available on the node",
    INVALID: "invalid resource pools were encountered",
    NO_RESOURCE: "cannot fit resource",
    ADDED: ON_ADDED_NODE,
}


class Allocated(msgspec.Struct, frozen=True):
    """The answer for a node: the filter's code, and allocations for the claims that have none yet."""

    code: int
    allocations: tuple[AllocationResult, ...] = ()


class NodeAllocations:
    """Answers for pods with equal claims, updated as devices are allocated and released.

    Args:
        cluster: the cluster's nodes, claims and slices.
        wanted: the claims of one of these pods.
    """

    def __init__(self, cluster: Cluster, wanted: ClaimsWanted, rules: DynamicResourcesRules) -> None:
        self._cluster = cluster
        self._wanted = wanted
        self._rules = rules
        objects = cluster.objects
        self._catalog = catalog_of(objects, rules)
        self._read = _stamps(cluster)
        self._position = cluster.journal.join(self)
        self._numbering = cluster.nodes.numbering
        self._version = objects.devices.version
        self._allocator = Allocator(objects.devices, objects.device_classes, rules)
        self._codes: Ints = np.full(cluster.nodes.capacity, _UNKNOWN, dtype=np.int64)
        self._found: dict[int, Allocated] = {}
        self._rows_of: dict[PoolID, set[int]] = {}

    def catch_up(self) -> bool:
        """Drop the answers for changed nodes. Return False if all answers must be recomputed."""
        cluster = self._cluster
        if self._numbering != cluster.nodes.numbering or self._read != _stamps(cluster):
            return False
        rows = cluster.journal.nodes_since(self._position, self)
        if rows is None:
            return False
        if rows:
            self._position = cluster.journal.position
            self._forget(rows)
        devices = cluster.objects.devices
        if self._version != devices.version:
            for pool in devices.changed_since(self._version):
                self._forget(self._rows_of.pop(pool, ()))
            self._version = devices.version
        return True

    def rewind(self, position: int) -> None:
        """Set the position after the journal removed changes that this object had read and that cancel out."""
        self._position = position

    def _forget(self, rows: Iterable[int]) -> None:
        capacity = self._cluster.nodes.capacity
        if len(self._codes) < capacity:
            known = len(self._codes)
            self._codes = grown(self._codes, capacity)
            self._codes[known:] = _UNKNOWN
        for row in rows:
            self._codes[row] = _UNKNOWN
            self._found.pop(row, None)

    def codes(self, rows: Ints) -> Ints:
        """Return a code for each row, 0 if the claims are or can be allocated on the node, int64[rows]."""
        if len(self._codes) < self._cluster.nodes.capacity:
            self._forget(())
        codes = self._codes[rows]
        unknown = rows[codes == _UNKNOWN]
        if len(unknown):
            for row in unknown.tolist():
                self._codes[row] = self.of(row).code
            codes = self._codes[rows]
        return codes

    def of(self, row: int) -> Allocated:
        """Return the code and the allocations for a row."""
        found = self._found.get(row)
        if found is None:
            found = self._found[row] = self._allocated(row)
        return found

    def _allocated(self, row: int) -> Allocated:
        try:
            return self.tried(row, self._wanted)
        except AllocationError:
            return Allocated(_FAILED)
        except NotJudgedError:
            if self._rules.assumes_unjudged:
                return Allocated(0)
            raise

    def tried(self, row: int, wanted: ClaimsWanted) -> Allocated:
        """Allocate devices on a node for the claims of one of the pods.

        Raises:
            AllocationError: if kube-scheduler fails on the node.
            NotJudgedError: if an expression cannot be evaluated, or the search takes too long.
        """
        node = self._cluster.nodes.nodes[row]
        assert node is not None, "only nodes that exist are filtered"
        claims, missing = on_node(wanted, row, self._cluster)
        if missing:
            return Allocated(NO_RESOURCE)
        if not claims:
            return Allocated(0)
        new = tuple(each for each in claims if each.status.allocation is None)
        if new and not self._cluster.objects.devices.steps and not self._catalog.has_slices_for(node.name):
            raise NotJudgedError(WHAT, "spec.resourceClaims", _TOO_MANY)
        pools = self._catalog.pools(node)
        for pool in pools:
            self._rows_of.setdefault(pool.id, set()).add(row)
        elsewhere = [each for each in claims if not self._is_reached(each, node)]
        allocations: list[AllocationResult] | None = []
        if new:
            try:
                allocations = self._allocator.allocate(node, pools, new)
            except InvalidPoolError:
                return Allocated(INVALID)
            except CannotEvaluateError as error:
                raise NotJudgedError(
                    WHAT, "spec.resourceClaims", f"a device selector of the pod's ResourceClaims: {error}"
                ) from None
            except SearchTooLongError:
                raise NotJudgedError(WHAT, "spec.resourceClaims", _TOO_MANY) from None
            if allocations is None:
                is_open = not elsewhere and _is_added(node)
                return Allocated(CANNOT_ALLOCATE if not is_open else 0 if self._rules.assumes_unjudged else ADDED)
        if elsewhere:
            return Allocated(NOT_HERE)
        return Allocated(0, tuple(allocations or ()))

    def _is_reached(self, claim: ResourceClaim, node: Node) -> bool:
        """Return whether an allocated claim can be used on the node."""
        allocation = claim.status.allocation
        if allocation is None:
            return True
        if allocation.node_selector is not None and not matches_node(allocation.node_selector, node):
            return False
        results = allocation.devices.results or ()
        if any(each.skip_node_operations for each in results) and NODE_OPERATIONS not in (
            node.status.declared_features or ()
        ):
            return False
        return not (self._rules.binds_by_conditions and has_failed(claim))

    def unavailable(self, rows: Ints) -> list[int]:
        """Return the indexes of the claims that are allocated elsewhere for any of the rows (``unavailableClaims``)."""
        nodes = [self._cluster.nodes.nodes[row] for row in rows[self.codes(rows) == NOT_HERE].tolist()]
        return [
            place
            for place, each in enumerate(self._wanted.claims)
            if any(node is not None and not self._is_reached(each.claim, node) for node in nodes)
        ]


def _is_added(node: Node) -> bool:
    """Return whether topospread added the node (a pool's node, for example). Its devices are unknown."""
    annotations = node.metadata.annotations
    return annotations is not None and bool(annotations.added or annotations.pool)


def _stamps(cluster: Cluster) -> tuple[int, ...]:
    changed = cluster.objects.changed
    return tuple(changed.get((kind, ""), 0) for kind in (ResourceSlice, DeviceClass, DeviceTaintRule))


def has_failed(claim: ResourceClaim) -> bool:
    """Return whether a device of the claim reports that it cannot be bound (``isClaimReadyForBinding``)."""
    allocation = claim.status.allocation
    for result in (allocation.devices.results or ()) if allocation is not None else ():
        if not result.binding_conditions:
            continue
        id_ = (result.driver, result.pool, result.device)
        of = next((each for each in claim.status.devices or () if (each.driver, each.pool, each.device) == id_), None)
        conditions = {each.type: each.status for each in (of.conditions or ())} if of is not None else {}
        if any(conditions.get(each) == "True" for each in result.binding_failure_conditions or ()):
            return True
        if any(conditions.get(each) != "True" for each in result.binding_conditions):
            return False
    return False


def on_node(wanted: ClaimsWanted, row: int, cluster: Cluster) -> tuple[list[ResourceClaim], bool]:
    """Return the claims of a pod on a node, and whether the node lacks a requested resource without a DeviceClass.

    A resource with a DeviceClass is claimed only if the node's allocatable lacks it (``filterExtendedResources``).
    """
    claims = [each.claim for each in wanted.claims if each.entry]
    if not wanted.extended:
        return claims, False
    nodes = cluster.nodes
    node = nodes.nodes[row]
    allocatable = (node.status.allocatable or {}) if node is not None else {}
    if any(name not in allocatable for name in wanted.others):
        return claims, True
    columns = {name: nodes.resource(name) for name in wanted.extended}  # a new resource adds a column
    missing = {name: each for name, each in wanted.extended.items() if not nodes.allocatable[row, columns[name]]}
    special = next(each.claim for each in wanted.claims if not each.entry)
    if not missing and not claims:
        return [], False
    requests = requests_of(wanted.pod, missing)
    spec = ResourceClaimSpec(devices=DeviceClaim(requests=requests))
    return [*claims, msgspec.structs.replace(special, spec=spec)], False


class DeviceFilter:
    """The filter of a pod class. It is also its watcher.

    Args:
        wanted: the claims of the class.
    """

    scope = Scope.CLUSTER
    layout = 0
    may_fail = True

    def __init__(self, cluster: Cluster, wanted: ClaimsWanted, rules: DynamicResourcesRules) -> None:
        self._cluster = cluster
        self.wanted = wanted
        self._key = (NAME, rules, wanted.key)
        self._rules = rules
        self._holders: tuple[int, dict[DeviceID, str]] = (-1, {})
        self._shortage: tuple[int, str] = (-1, "")

    @property
    def allocations(self) -> NodeAllocations:
        """The allocations on each node, up to date."""
        return self._cluster.journal.shared(self._key, lambda: NodeAllocations(self._cluster, self.wanted, self._rules))

    def filter(self, rows: Rows) -> Ints:
        """Return 0 for nodes where the claims are or can be allocated, else a code, int64[rows]."""
        asked = numbers(rows)
        codes = self.allocations.codes(asked)
        failed = codes == _FAILED
        # Codes above _FAILED are per row, because each node has its own error.
        return np.where(failed, _FAILED + asked, codes) if failed.any() else codes

    def status(self, code: int) -> Status:
        """Return the reason.

        Raises:
            PluginError: if kube-scheduler fails on the node.
        """
        if code < _FAILED:
            return Status(UNRESOLVABLE, (_WORDS[code],))
        try:
            self.allocations.tried(code - _FAILED, self.wanted)
        except AllocationError as error:
            raise PluginError(f'running "{NAME}" filter plugin: {error}') from None
        raise AssertionError("it failed before")

    def shortage(self) -> str:
        """Return the result of `shortage_of` for the claims; "" if it is unknown."""
        from .evidence import shortage_of

        objects = self._cluster.objects
        new = [each.claim for each in self.wanted.claims if each.entry and each.claim.status.allocation is None]
        if self._shortage[0] != objects.devices.version:
            self._shortage = (objects.devices.version, shortage_of(objects, catalog_of(objects, self._rules), new))
        return self._shortage[1]

    def evidence(self, row: int) -> list[str]:
        """Return phrases on a node: why each request gets no device, or where the claims are allocated."""
        node = self._cluster.nodes.nodes[row]
        if node is None:
            return []
        from .evidence import DeviceEvidence, holders_of

        objects = self._cluster.objects
        if self._holders[0] != objects.devices.version:
            self._holders = (objects.devices.version, holders_of(objects))
        claims, _ = on_node(self.wanted, row, self._cluster)
        pools = catalog_of(objects, self._rules).pools(node)
        objects.devices.spend(sum(1 + len(devices) for pool in pools for devices in pool.slices) * len(claims))
        if not objects.devices.steps:
            return []
        elsewhere = [
            f"claim {each.name} is allocated on other nodes"
            for each in claims
            if (allocation := each.status.allocation) is not None
            and allocation.node_selector is not None
            and not matches_node(allocation.node_selector, node)
        ]
        return [*elsewhere, *DeviceEvidence(objects, node, pools, self._rules, self._holders[1]).of(claims)]

    def counts_pods_of(self, pod_class: PodClass) -> bool:
        """Return False: devices depend on claims, not on pods."""
        return False

    def on_nodes(self, rows: Collection[int]) -> None:
        """Do nothing: `NodeAllocations` reads changed nodes from the journal."""

    def columns(self) -> Sequence[GroupColumn] | None:
        """Return ``None``: each node has its own devices, so nodes cannot be grouped."""
        return None


class DeviceScore:
    """The score of a node by the alternatives that its allocation uses. The first alternative scores highest."""

    scope = Scope.CLUSTER

    def __init__(self, by: DeviceFilter) -> None:
        self._by = by

    def score(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        """Return raw scores, int64[rows]."""
        allocations = self._by.allocations
        return np.array(
            [_points(allocations.of(row), self._by.wanted) for row in numbers(rows).tolist()], dtype=np.int64
        )

    def normalize(self, raw: Ints, rows: Rows) -> Ints:
        """Return scores from 0 to 100, int64[rows]."""
        return normalize_by_maximum(raw)


def _points(allocated: Allocated, wanted: ClaimsWanted) -> int:
    """Return a node's raw score: 8 for each request that gets its first alternative, 7 for its second, and so on.

    Source: ``computeScore``.
    """
    if not allocated.allocations:
        return 0
    new = iter(allocated.allocations)
    points = 0
    for each in wanted.claims:
        allocation = each.claim.status.allocation
        if allocation is None:
            allocation = next(new, None)
        taken = {result.request for result in (allocation.devices.results or ())} if allocation is not None else set()
        for request in each.claim.spec.devices.requests or ():
            for place, alternative in enumerate(request.first_available or ()):
                if f"{request.name}/{alternative.name}" in taken:
                    points += MOST_ALTERNATIVES - place
    return points


def has_alternatives(wanted: ClaimsWanted) -> bool:
    """Return whether any request of the claims has alternatives."""
    return any(request.first_available for each in wanted.claims for request in each.claim.spec.devices.requests or ())
