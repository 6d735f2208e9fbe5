"""Carry out a plan in a live cluster, one eviction at a time, until an outcome differs from the plan.

Differences are: a pod is on another node, an eviction is denied, or a new pod is pending, late, or on a worse node.
Nothing is undone, and pods are only evicted, never deleted. Needs the extra ``live``.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import msgspec
import numpy as np

from topospread.api.meta import OwnerReference
from topospread.api.pod import Pod
from topospread.drill.interruption import Interrupted
from topospread.live.api_error import ApiError, RequestError
from topospread.live.client import ApiClient

from .distance import distance
from .result import Applied, AppliedMove, ConstraintChange, PodMove, Rebalance

# Compare the outcome of each eviction with the plan.


class PredictedCounts:
    """Planned and actual counts of the constraints after each move."""

    def __init__(self, constraints: Iterable[ConstraintChange]) -> None:
        self._constraints: dict[tuple[str, str], list[_Counted]] = {}
        for each in constraints:
            key = each.namespace, f"{each.kind}/{each.name}"
            self._constraints.setdefault(key, []).append(_Counted(each))

    def surprise(self, move: PodMove, domains: dict[str, str]) -> str:
        """Count a move's outcome. Return why it is worse than planned; "" if it is not.

        ``domains``: topology key → domain of the new pod, for the move's keys.
        """
        own = self._constraints.get((move.namespace, move.workload), [])
        worse = [each for each in own if each.moves_worse(move, domains)]
        if not own:
            return next(self._elsewhere(move, domains), "")
        return next((self._said(each.key, move, domains) for each in worse), "")

    def _elsewhere(self, move: PodMove, domains: dict[str, str]) -> Iterator[str]:
        for key, (_, foretold) in move.domains.items():
            if domains[key] != foretold:
                yield self._said(key, move, domains)

    @staticmethod
    def _said(key: str, move: PodMove, domains: dict[str, str]) -> str:
        return f"{key} is {domains[key] or 'missing'} there, which helps less than {move.domains[key][1] or 'none'}"


class _Counted:
    def __init__(self, change: ConstraintChange) -> None:
        self.key = change.topology_key
        self._highest = change.highest
        self._foretold, self._real = Counter(change.before), Counter(change.before)
        self._eligible = list(change.before)

    def moves_worse(self, move: PodMove, domains: dict[str, str]) -> bool:
        """Count a move's outcome. Return whether the constraint is now further from holding than planned."""
        source, target = move.domains[self.key]
        for counts, to in ((self._foretold, target), (self._real, domains[self.key])):
            counts[source] -= 1
            counts[to] += 1
        return self._distance(self._real) > self._distance(self._foretold)

    def _distance(self, counts: Counter[str]) -> int:
        return distance(np.array([counts[each] for each in self._eligible], dtype=np.int64), self._highest)


_EVERY = 0.5
"""Seconds between two lists of a namespace's pods."""

Told = Callable[[AppliedMove], None]
DomainOf = Callable[[str, str], str]
"""Function (node, topology key) → domain of the node; "" without a domain."""


class _UnexpectedOutcomeError(Exception):
    """An outcome differs from the plan."""


async def apply_moves(client: ApiClient, plan: Rebalance, domains: DomainOf, patience: float, told: Told) -> Applied:
    """Evict pods one after another. Before each, wait until the previous replacement is ready.

    Args:
        patience: time limit in seconds until the new pod is ready and the old pod has disappeared.
        told: called after each eviction with the predicted result.

    Raises:
        Interrupted: on Ctrl-C, with the completed evictions.
    """
    found, foretold = Applied(), PredictedCounts(plan.constraints)
    names: dict[str, str] = {}
    for move in plan.moves:
        name = names.get(move.name, move.name)
        try:
            new = await _evicted(_NamespacePods(client, move.namespace, patience), move, name, found)
            where = new.spec.node_name or ""
            worse = foretold.surprise(move, {key: domains(where, key) for key in move.domains})
            if worse:
                raise _UnexpectedOutcomeError(f"its replacement {new.name} is on {where}: {worse}")
        except (_UnexpectedOutcomeError, RequestError) as error:
            found.surprise = f"{move.namespace}/{name}: {error}"
            return found
        except asyncio.CancelledError:
            found.partial = f"ended in eviction {len(found.done) + 1} of {len(plan.moves)}"
            raise Interrupted(found) from None
        names[move.created] = new.name
        done = AppliedMove(move, new.name, where)
        found.done.append(done)
        found.begun = ""
        told(done)
    return found


async def _evicted(cluster: _NamespacePods, move: PodMove, name: str, found: Applied) -> Pod:
    """Evict the pod of a move, and return its replacement once it is ready."""
    before = await cluster.pods()
    pod = before.get(name)
    if pod is None or pod.terminating:
        raise _UnexpectedOutcomeError("it no longer exists")
    uid, node = pod.metadata.uid or "", pod.spec.node_name or ""
    if name == move.name and (node != move.node or (move.uid and move.uid != uid)):
        raise _UnexpectedOutcomeError(f"it is not the pod that was on {move.node} when the plan was made")
    found.begun = f"{move.namespace}/{name}"
    await cluster.evict(name, uid)
    new = await cluster.successor(pod.metadata.controller, {each.metadata.uid for each in before.values()})
    await cluster.whole(new, uid)
    return new


class _PodList(msgspec.Struct):
    items: list[Pod] = msgspec.field(default_factory=list)


class _NamespacePods:
    def __init__(self, client: ApiClient, namespace: str, patience: float) -> None:
        self._client = client
        self._namespace = namespace
        self._path = f"/api/v1/namespaces/{namespace}/pods"
        self._patience = patience
        self._decoder = msgspec.json.Decoder(_PodList)

    async def pods(self) -> dict[str, Pod]:
        """Return name → pod."""
        found: dict[str, Pod] = {}
        async for page in self._client.list_pages(self._path):
            found.update((each.name, each) for each in self._decoder.decode(page).items)
        return found

    async def evict(self, name: str, uid: str) -> None:
        """Evict the pod with this uid. Retry while a PodDisruptionBudget denies it."""
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": self._namespace},
            "deleteOptions": {"preconditions": {"uid": uid}},
        }
        until = time.monotonic() + self._patience
        while True:
            try:
                await self._client.request("POST", f"{self._path}/{name}/eviction", body=body)
                return
            except ApiError as error:
                if error.status != 429 or time.monotonic() > until:
                    raise
            await asyncio.sleep(_EVERY)

    async def successor(self, owner: OwnerReference | None, known: set[str | None]) -> Pod:
        """Return the controller's replacement pod, once it has a node."""
        until = time.monotonic() + self._patience
        while time.monotonic() < until:
            for each in (await self.pods()).values():
                mine = owner is not None and each.metadata.controller is not None
                if not mine or each.metadata.uid in known or not _same(each.metadata.controller, owner):
                    continue
                if each.spec.node_name:
                    return each
                _check_schedulable(each)
            await asyncio.sleep(_EVERY)
        raise _UnexpectedOutcomeError(f"it has no replacement with a node within {self._patience:g} seconds")

    async def whole(self, new: Pod, uid: str) -> None:
        """Wait until the new pod is ready and the old pod has disappeared."""
        until = time.monotonic() + self._patience
        while time.monotonic() < until:
            there = await self.pods()
            now = there.get(new.name)
            if now is None or now.metadata.uid != new.metadata.uid:
                raise _UnexpectedOutcomeError(f"its replacement {new.name} was deleted again")
            if _is_ready(now) and all(each.metadata.uid != uid for each in there.values()):
                return
            await asyncio.sleep(_EVERY)
        raise _UnexpectedOutcomeError(
            f"{new.name} is not ready, or the old pod not gone, within {self._patience:g} seconds"
        )


def _same(one: OwnerReference | None, other: OwnerReference | None) -> bool:
    return one is not None and other is not None and one.uid == other.uid


def _check_schedulable(pod: Pod) -> None:
    for each in (pod.status.conditions if pod.status else None) or ():
        if each.type == "PodScheduled" and each.status == "False":
            raise _UnexpectedOutcomeError(f"its replacement {pod.name} stays pending: {each.reason}")


def _is_ready(pod: Pod) -> bool:
    conditions = (pod.status.conditions if pod.status else None) or ()
    return any(each.type == "Ready" and each.status == "True" for each in conditions)
