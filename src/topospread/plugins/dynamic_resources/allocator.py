"""Device allocation for claims on one node: the first solution in kube-scheduler's search order.

The search over claims, requests and devices is depth-first with backtracking. Source:
k8s.io/dynamic-resource-allocation structured/internal/experimental/allocator_experimental.go; the stable and the
incubating allocator are the same with fewer features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, cast

import msgspec

from topospread.api.device_claims import (
    ALL,
    EXACT_COUNT,
    AllocatedDevice,
    AllocationResult,
    DeviceAllocationResult,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaim,
)
from topospread.api.devices import DeviceAttribute, DeviceClass, DeviceSelector, DeviceTaint
from topospread.api.node import Node
from topospread.api.node_selection import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from topospread.api.quantity import Quantity
from topospread.cel import evaluation
from topospread.cel.evaluation import Budget
from topospread.cel.values import CannotEvaluateError, CelError, SemanticVersion
from topospread.cluster.device_use import DeviceID, DeviceUse

from .capacity import CapacityError, consumed_capacity, is_left
from .constraints import AttributeConstraint, attribute_of
from .partitions import Partitions
from .pools import DevicePool, PoolDevice, reaches
from .rules import DynamicResourcesRules
from .selectors import evaluated

MOST_DEVICES: Final = 32
"""Maximum number of devices of one claim (``AllocationResultsMaxSize``)."""
NODE_OPERATIONS: Final = "DRAOptionalNodeOperations"
SHARE: Final = "share"
"""Placeholder for a share's ID, which Reserve generates."""
_HINT: Final = (
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() "
    "for optional fields"
)
_MOST_TRIED: Final = 100_000
"""Maximum number of steps of one search, in addition to steps for the node's own devices."""
_MOST_VALUES: Final = 128
"""Maximum number of expressions whose values are cached for a device."""

Undo = Callable[[], None]
_Found = Literal["yes", "no", "too many"]
"""``too many``: the claim would hold more than `MOST_DEVICES`."""


class AllocationError(Exception):
    """An error of kube-scheduler's allocator, with its message. The pod is then placed on no node."""


class InvalidPoolError(Exception):
    """The node is rejected because of an invalid pool."""


class SearchTooLongError(Exception):
    """The search has too many combinations."""


class _Request(msgspec.Struct):
    """A request, or an alternative of one, prepared for a node.

    Attributes:
        claim: namespace and name of its claim.
        parent: for an alternative, name of the request that has it; "" for a request.
        count: number of devices to allocate.
        every: all matching devices if the allocation mode is All.
        alternatives: the request's alternatives in order of preference.
    """

    claim: str
    name: str
    request: ExactDeviceRequest
    device_class: DeviceClass | None = None
    parent: str = ""
    count: int = 0
    every: list[PoolDevice] | None = None
    derived: dict[str, str] = {}
    matched: dict[DeviceID, bool] = {}
    alternatives: list[_Request] = []

    @property
    def where(self) -> str:
        return f"claim {self.claim}, request {self.name}"

    @property
    def full_name(self) -> str:
        return f"{self.parent}/{self.name}" if self.parent else self.name


class _Chosen(msgspec.Struct):
    device: PoolDevice
    request: _Request
    share: str | None = None
    consumed: dict[str, Quantity] | None = None


class Allocator:
    """Allocates devices for the claims of a pod, on one node after another.

    Args:
        use: devices that allocated claims use, and the remaining steps of searches.
        rules: features that gates switch.
    """

    def __init__(self, use: DeviceUse, classes: Mapping[str, DeviceClass], rules: DynamicResourcesRules) -> None:
        self.use = use
        self.classes = classes
        self.rules = rules

    def allocate(
        self, node: Node, pools: Sequence[DevicePool], claims: Sequence[ResourceClaim]
    ) -> list[AllocationResult] | None:
        """Return an allocation for each claim, ``None`` if the node's devices do not suffice.

        Raises:
            AllocationError: if kube-scheduler fails on the node.
            InvalidPoolError: if no allocation was found and a pool is invalid.
            CannotEvaluateError: if an expression cannot be evaluated here.
            SearchTooLongError: if the search takes too long.
        """
        return _Search(self, node, pools, claims).run()


class _Search:
    """The search for an allocation of all claims of a pod on one node."""

    def __init__(self, by: Allocator, node: Node, pools: Sequence[DevicePool], claims: Sequence[ResourceClaim]) -> None:
        self._use, self._rules, self._classes = by.use, by.rules, by.classes
        self._node = node
        self._pools = pools
        self._claims = claims
        self._requests: list[list[_Request]] = []
        self._constraints: list[list[AttributeConstraint]] = []
        self._chosen: list[list[_Chosen]] = [[] for _ in claims]
        self._taken: dict[DeviceID, set[int]] = {}
        self._sharing: dict[DeviceID, dict[str, int]] = {}
        self._partitions = Partitions(pools, by.use, groups=by.rules.compatibility_groups)
        self._left = 0

    def run(self) -> list[AllocationResult] | None:
        found = self._searched()
        if found == "too many":
            raise AllocationError("allocation max size exceeded")
        if found == "no":
            if any(pool.invalid for pool in self._pools):
                raise InvalidPoolError
            return None
        return [self._result(index) for index in range(len(self._claims))]

    # What is to be allocated.

    def _prepare(self, claim: ResourceClaim) -> None:
        least = 0
        prepared = []
        for request in claim.spec.devices.requests or ():
            alternatives = request.first_available or []
            if alternatives and not self._rules.prioritized_list:
                words = "has subrequests, but the DRAPrioritizedList feature is disabled"
                raise AllocationError(f"claim {_key(claim)}, request {request.name}: {words}")
            if not self._rules.consumable_capacity:
                self._refuse_capacity(claim, request.name, request.exactly, alternatives)
            if alternatives:
                made = [self._request(claim, each.name, each, request.name) for each in alternatives]
                prepared.append(_Request(_key(claim), request.name, ExactDeviceRequest(), alternatives=made))
                count = min(each.count for each in made)
            else:
                assert request.exactly is not None, "PreFilter has prepared it"
                prepared.append(self._request(claim, request.name, request.exactly))
                count = prepared[-1].count
            if count > MOST_DEVICES - least:
                limit = f"exceeds the claim limit of {MOST_DEVICES}, with {least} already accounted for"
                raise AllocationError(f"claim {_key(claim)}, request {request.name}: adding {count} devices {limit}")
            least += count
        self._requests.append(prepared)
        constraints = []
        for number, each in enumerate(claim.spec.devices.constraints or ()):
            if each.match_attribute is None and each.distinct_attribute is None:
                words = "empty constraint (unsupported constraint type?)"
                raise AllocationError(f"claim {_key(claim)}, constraint #{number}: {words}")
            constraints.append(AttributeConstraint(each, lists=self._rules.list_attributes))
        self._constraints.append(constraints)

    def _refuse_capacity(
        self, claim: ResourceClaim, name: str, exactly: ExactDeviceRequest | None, others: Sequence[DeviceSubRequest]
    ) -> None:
        words = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
        if exactly is not None and exactly.capacity is not None:
            raise AllocationError(f"claim {_key(claim)}, request {name}: {words}")
        for each in others:
            if each.capacity is not None:
                raise AllocationError(f"claim {_key(claim)}, subrequest {each.name}: {words}")

    def _request(self, claim: ResourceClaim, name: str, request: ExactDeviceRequest, parent: str = "") -> _Request:
        """Return a request prepared for the node (``validateDeviceRequest``).

        Raises:
            AllocationError: if the request is invalid or needs a disabled feature.
        """
        where = f"claim {_key(claim)}, request {name}"
        if request.derived_attributes and not self._rules.derived_attributes:
            raise AllocationError(f"{where}: cannot handle request with derived attributes, the feature is disabled")
        for number, selector in enumerate(request.selectors or ()):
            if selector.cel is None:
                words = "CEL expression empty (unsupported selector type?)"
                raise AllocationError(f"{where}, selector #{number}: {words}")
        if not self._rules.admin_access and request.admin_access is not None:
            raise AllocationError(f"{where}: admin access is requested, but the feature is disabled")
        if not request.device_class_name:
            raise AllocationError(f"{where}: missing device class name (unsupported request type?)")
        device_class = self._classes.get(request.device_class_name)
        if device_class is None:
            name = request.device_class_name
            words = f'deviceclass.resource.k8s.io "{name}" not found'
            raise AllocationError(f"{where}: could not retrieve device class {name}: {words}")
        derived = {each.name: each.expression for each in request.derived_attributes or ()}
        made = _Request(_key(claim), name, request, device_class, parent, derived=derived, matched={})
        if request.allocation_mode == EXACT_COUNT:
            made.count = request.devices
        elif request.allocation_mode == ALL:
            made.every = self._every(made)
            made.count = len(made.every)
        else:
            raise AllocationError(f"{where}: unsupported count mode {request.allocation_mode}")
        return made

    def _every(self, made: _Request) -> list[PoolDevice]:
        found = []
        for pool in self._pools:
            name = "/".join(pool.id)
            if pool.is_incomplete:
                words = f"asks for all devices, but resource pool {name} is currently being updated"
                raise AllocationError(f"{made.where}: {words}")
            if pool.invalid:
                raise AllocationError(
                    f"{made.where}: asks for all devices, but resource pool {name} is currently invalid"
                )
            for device in (device for devices in pool.slices for device in devices):
                self._spend(_work(made, device))
                if not self._selectable(made, device):
                    continue
                if self._rules.consumable_capacity and not self._has_capacity(made, device, alone=True):
                    continue
                found.append(device)
        return found

    # The search: claims, requests, devices.

    def _searched(self) -> _Found:
        slices = [devices for pool in self._pools for devices in pool.slices if devices]
        own = sum(len(devices) for devices in slices if devices[0].slice.spec.node_name)
        requests = (each for claim in self._claims for each in claim.spec.devices.requests or ())
        free = 2 * (own + 1) * sum(1 + len(each.first_available or ()) for each in requests)
        given = self._left = free + min(self._use.steps, _MOST_TRIED)
        try:
            self._spend((sum(map(len, slices)) + 4 * len(slices)) // 8)
            for claim in self._claims:
                self._prepare(claim)
            return self._claim(0)
        except RecursionError:
            raise SearchTooLongError from None
        finally:
            self._use.spend(given - max(self._left, 0) - free)

    def _spend(self, steps: int = 1) -> None:
        self._left -= steps
        if self._left < 0:
            raise SearchTooLongError

    def _claim(self, index: int) -> _Found:
        if index == len(self._claims):
            return "yes"
        found = self._next_request(index, 0)
        # With other devices for an earlier claim, this claim may need fewer devices.
        return "no" if found == "too many" and index else found

    def _next_request(self, claim: int, number: int) -> _Found:
        requests = self._requests[claim]
        if number == len(requests):
            return self._claim(claim + 1)
        request = requests[number]
        if not request.alternatives:
            return self._devices((claim, number), request, 0, (0, 0, 0))
        exceeded = True
        for alternative in request.alternatives:
            found = self._devices((claim, number), alternative, 0, (0, 0, 0))
            if found == "yes":
                return found
            exceeded = exceeded and found == "too many"
        return "too many" if exceeded else "no"

    def _devices(self, at: tuple[int, int], request: _Request, have: int, start: tuple[int, int, int]) -> _Found:
        """Choose devices until the request has enough. Skip permutations of the same devices.

        Args:
            at: index of the claim, and index of the request in it.
            have: number of devices chosen for the request so far.
            start: position (pool, slice, device) of the first device to try.
        """
        claim, number = at
        self._spend()
        if request.every is not None and not request.every:
            return "no"
        if have >= request.count:
            return self._next_request(claim, number + 1)
        if request.count - have > MOST_DEVICES - len(self._chosen[claim]):
            return "too many"
        for undo, after in self._candidates(claim, request, have, start):
            found = self._devices(at, request, have + 1, after)
            if found == "yes":
                return found
            undo()
            if found == "too many":
                return found
        return "no"

    def _candidates(
        self, claim: int, request: _Request, have: int, start: tuple[int, int, int]
    ) -> Iterator[tuple[Undo, tuple[int, int, int]]]:
        """For each usable device, choose it and yield (function that undoes the choice, next position)."""
        if request.every is not None:
            undo = self._choose(claim, request, request.every[have], must=True)
            if undo is not None:
                yield undo, (0, 0, 0)
            return
        for place, device in self._from(start):
            self._spend(_work(request, device))
            undo = self._tried(claim, request, device)
            if undo is not None:
                yield undo, (place[0], place[1], place[2] + 1)

    def _from(self, start: tuple[int, int, int]) -> Iterator[tuple[tuple[int, int, int], PoolDevice]]:
        """Yield (position, device) from a position on. A position is (pool, slice, device)."""
        for pool_number in range(start[0], len(self._pools)):
            pool = self._pools[pool_number]
            if pool.is_incomplete or pool.invalid:
                continue
            first_slice = start[1] if pool_number == start[0] else 0
            for slice_number in range(first_slice, len(pool.slices)):
                devices = pool.slices[slice_number]
                first = start[2] if (pool_number, slice_number) == start[:2] else 0
                for place in range(first, len(devices)):
                    yield (pool_number, slice_number, place), devices[place]

    def _tried(self, index: int, request: _Request, device: PoolDevice) -> Undo | None:
        admin = bool(request.request.admin_access)
        if index in self._taken.get(device.id, ()) if admin else self._in_use(device.id):
            return None
        if not self._selectable(request, device):
            return None
        if self._rules.consumable_capacity and not self._has_capacity(request, device):
            return None
        return self._choose(index, request, device)

    def _in_use(self, device: DeviceID) -> bool:
        if device in self._use.dedicated or self._taken.get(device):
            return True
        return not self._rules.consumable_capacity and device in self._use.shares

    def _has_capacity(self, request: _Request, device: PoolDevice, *, alone: bool = False) -> bool:
        """Return whether a device has enough capacity for a share. ``alone``: whether to ignore shares in use."""
        name = device.device.name if alone else "/".join(device.id)
        used: Mapping[str, int] = {} if alone else self._use.consumed.get(device.id, {})
        here = {} if alone else self._sharing.get(device.id, {})
        fractional = self._rules.fractional_range
        try:
            consumed = consumed_capacity(device.device, request.request.capacity, fractional=fractional)
        except CapacityError as error:
            raise AllocationError(f"{request.where}: checking capacity for device {name}: {error}") from None
        return consumed is not None and is_left(device.device, consumed, used, here, fractional)

    def _choose(self, index: int, request: _Request, device: PoolDevice, *, must: bool = False) -> Undo | None:
        """Choose a device for a request. Return a function that undoes it; ``None`` if the device cannot be used.

        Source: ``allocateDevice``.
        """
        rules, device_id = self._rules, device.id
        shared = rules.consumable_capacity and bool(device.device.allow_multiple_allocations)
        if not self._is_usable(index, request, device, shared=shared):
            return None
        undo: list[Undo] = []

        def take_back() -> None:
            for each in reversed(undo):
                each()

        # Another share of a device that is in use consumes no further counters.
        fits = (shared and self._is_shared(device_id)) or not device.device.consumes_counters
        if not fits:
            self._spend(self._partitions.counters(device) // 8)
            fits = self._partitions.draw(device, undo)
        if fits and rules.device_taints:
            fits = not is_repelled(device.taints, request.request.tolerations or ())
        if not (fits and self._constrained(index, request, device, undo)):
            take_back()
            if fits and must:
                words = f"cannot add device {'/'.join(device_id)} because a claim constraint would not be satisfied"
                raise AllocationError(f"{request.where}: {words}")
            return None
        if not shared:
            taken = self._taken.setdefault(device_id, set())
            taken.add(index)
            undo.append(lambda: taken.discard(index))
        chosen = _Chosen(device, request)
        if rules.consumable_capacity and not self._share(chosen, shared, undo):
            take_back()
            return None
        self._chosen[index].append(chosen)
        undo.append(lambda: _pop(self._chosen[index]))
        return take_back

    def _is_usable(self, index: int, request: _Request, device: PoolDevice, *, shared: bool) -> bool:
        """Return whether the device is free, and the gates and the node allow the features that it needs."""
        admin = bool(request.request.admin_access)
        if admin and not shared and index in self._taken.get(device.id, ()):
            return False
        if not admin and self._in_use(device.id):
            return False
        if device.slice.spec.skip_node_operations:
            declared = self._node.status.declared_features or ()
            if not self._rules.optional_node_operations or NODE_OPERATIONS not in declared:
                return False
        return self._rules.partitionable_devices or not device.counters

    def _is_shared(self, device: DeviceID) -> bool:
        return device in self._use.shares or device in self._use.consumed or device in self._sharing

    def _constrained(self, index: int, request: _Request, device: PoolDevice, undo: list[Undo]) -> bool:
        """Add the device to the claim's constraints; return whether all of them hold."""
        for constraint in self._constraints[index]:
            if not constraint.concerns(request.name, request.parent):
                continue
            self._spend()
            if not constraint.add(device, lambda each, name: self._attribute(request, each, name)):
                return False
            undo.append(constraint.remove)
        return True

    def _share(self, chosen: _Chosen, shared: bool, undo: list[Undo]) -> bool:
        """Take a share of the device's capacity. Return False if not enough capacity is left."""
        device = chosen.device
        if not self._has_capacity(chosen.request, device):
            return False
        if not shared:
            return True
        wanted, here = chosen.request.request.capacity, self._sharing.get(device.id)
        chosen.consumed = consumed_capacity(device.device, wanted, fractional=self._rules.fractional_range) or {}
        chosen.share = SHARE
        sums = dict(here or {})
        for each, amount in chosen.consumed.items():
            sums[each] = sums.get(each, 0) + int(amount.unscaled * 10 ** (amount.exponent + 9))
        self._sharing[device.id] = sums
        sharing = self._sharing

        def put_back() -> None:
            if here is None:
                del sharing[device.id]
            else:
                sharing[device.id] = here

        undo.append(put_back)
        return True

    # Selectors and attributes.

    def _selectable(self, request: _Request, device: PoolDevice) -> bool:
        """Return whether class and request select a device that the node reaches (``isSelectable``)."""
        if not self._rules.binds_by_conditions and device.device.binding_conditions:
            return False
        known = request.matched.get(device.id)
        if known is None:
            known = request.matched[device.id] = self._selects(request, device)
        return known

    def _selects(self, request: _Request, device: PoolDevice) -> bool:
        device_class = request.device_class
        assert device_class is not None, "it was looked up"
        if not _all_match(device_class.spec.selectors or (), device, f"class {device_class.name}"):
            return False
        if not _all_match(request.request.selectors or (), device, f"claim {request.claim}"):
            return False
        if not device.slice.spec.per_device_node_selection:
            return True
        of = device.device
        return reaches(self._node, of.node_name, of.all_nodes, of.node_selector)

    def _attribute(self, request: _Request, device: PoolDevice, name: str) -> DeviceAttribute | None:
        expression = request.derived.get(name)
        if expression is None:
            return attribute_of(device, name)
        value = device_value(expression, device)
        if isinstance(value, CelError):
            words = f"evaluate derived attribute {name} on device {'/'.join(device.id)} failed: {value}"
            raise AllocationError(words)
        return _derived(value)

    # The result.

    def _result(self, index: int) -> AllocationResult:
        chosen = self._chosen[index]
        devices = [
            AllocatedDevice(
                request=each.request.full_name,
                driver=each.device.id[0],
                pool=each.device.id[1],
                device=each.device.id[2],
                admin_access=True if each.request.request.admin_access else None,
                tolerations=each.request.request.tolerations,
                binding_conditions=each.device.device.binding_conditions,
                binding_failure_conditions=each.device.device.binding_failure_conditions,
                share_id=each.share,
                consumed_capacity={name: str(amount) for name, amount in each.consumed.items()}
                if each.consumed
                else None,
                skip_node_operations=each.device.slice.spec.skip_node_operations,
            )
            for each in chosen
        ]
        selector = self._node_selector([each.device for each in chosen])
        return AllocationResult(devices=DeviceAllocationResult(results=devices), node_selector=selector)

    def _node_selector(self, devices: Sequence[PoolDevice]) -> NodeSelector | None:
        """Return the nodes that reach all devices of a claim (``createNodeSelector``)."""
        fields: list[NodeSelectorRequirement] = []
        expressions: list[NodeSelectorRequirement] = []
        for each in devices:
            spec = each.slice.spec
            by = each.device if spec.per_device_node_selection else spec
            if by.node_name is not None or each.device.binds_to_node:
                only = NodeSelectorRequirement(key="metadata.name", operator="In", values=[self._node.name])
                return NodeSelector(node_selector_terms=[NodeSelectorTerm(match_fields=[only])])
            for term in (by.node_selector.node_selector_terms or ())[:1] if by.node_selector is not None else ():
                _extend(fields, term.match_fields or ())
                _extend(expressions, term.match_expressions or ())
        if not fields and not expressions:
            return None
        term = NodeSelectorTerm(match_fields=fields or None, match_expressions=expressions or None)
        return NodeSelector(node_selector_terms=[term])


def tolerates(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    """Return whether a request tolerates a device's taint (``ToleratesTaint``)."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def is_repelled(taints: Sequence[DeviceTaint], tolerations: Sequence[DeviceToleration]) -> bool:
    """Return whether a device has a taint that a request does not tolerate and that prevents its allocation."""
    return any(
        taint.effect in ("NoExecute", "NoSchedule") and not any(tolerates(each, taint) for each in tolerations)
        for taint in taints
    )


def device_value(expression: str, device: PoolDevice) -> object:
    """Return the cached value of an expression for a device, or its error.

    Raises:
        CannotEvaluateError: if the expression cannot be evaluated here.
    """
    value = device.matched.get(expression, device)
    if value is device:
        given = min(device.use.steps, evaluation.MOST_STEPS)
        budget = Budget(given)
        try:
            value = evaluated(expression, device.id[0], device.device, budget)
        except (CelError, CannotEvaluateError) as error:
            if isinstance(error.__context__, RecursionError):
                raise  # not cached: in another search, the recursion may be less deep
            if budget.is_spent and given < evaluation.MOST_STEPS:
                raise CannotEvaluateError("the limit of steps for the devices of a cluster is reached") from None
            value = error.with_traceback(None)
        finally:
            device.use.spend(given - max(budget.steps, 0))
        if len(device.matched) >= _MOST_VALUES:
            device.matched.clear()
        device.matched[expression] = value
    if isinstance(value, CannotEvaluateError):
        raise value.with_traceback(None)
    return value


def _work(request: _Request, device: PoolDevice) -> int:
    """Estimate the number of steps to check a device for a request."""
    class_selectors = request.device_class.spec.selectors if request.device_class is not None else None
    selectors = len(request.request.selectors or ()) + len(class_selectors or ())
    return (
        1
        + (selectors + 2 * len(device.capacity) + len(device.taints) * (1 + len(request.request.tolerations or ())))
        // 8
    )


def _all_match(selectors: Sequence[DeviceSelector], device: PoolDevice, where: str) -> bool:
    for number, selector in enumerate(selectors):
        value = device_value(selector.cel.expression if selector.cel is not None else "", device)
        if value is False:
            return False
        if value is not True:
            name = "/".join(device.id)
            words = f"CEL result of type {_type(value)} could not be converted to bool"
            words = str(value) if isinstance(value, CelError) else words
            words += _HINT if "no such key:" in words else ""
            raise AllocationError(f"{where}: selector #{number} on device {name}: CEL runtime error: {words}")
    return True


def _type(value: object) -> str:
    return {int: "int", str: "string", float: "double", list: "list"}.get(type(value), "map")


def _derived(value: object) -> DeviceAttribute:
    """Return the attribute with the value of a derived attribute's expression (``valToDeviceAttribute``)."""
    one, first = not isinstance(value, list), value[0] if isinstance(value, list) and value else value
    if isinstance(first, bool):
        name = "bool" if one else "bools"
    elif isinstance(first, int):
        name = "int" if one else "ints"
    elif isinstance(first, SemanticVersion):
        name, value = ("version", str(first)) if one else ("versions", list(map(str, cast("list[object]", value))))
    else:
        name = "string" if one else "strings"
    try:
        return msgspec.convert({name: value}, DeviceAttribute)
    except msgspec.ValidationError:
        raise CannotEvaluateError("a derived attribute of this type cannot be evaluated") from None


def _extend(to: list[NodeSelectorRequirement], found: Sequence[NodeSelectorRequirement]) -> None:
    for each in found:
        values = set(each.values or ())
        if not any((o.key, o.operator) == (each.key, each.operator) and set(o.values or ()) == values for o in to):
            to.append(each)


def _pop(items: list[_Chosen]) -> None:
    items.pop()


def _key(claim: ResourceClaim) -> str:
    return f"{claim.namespace}/{claim.name}" if claim.namespace else claim.name
