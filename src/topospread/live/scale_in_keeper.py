"""Write the pod deletion costs that `scale_in_plan` computes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Final

from topospread.live.api_error import ApiError, RequestError
from topospread.live.client import ApiClient
from topospread.live.followed_cluster import FollowedCluster
from topospread.live.lease import pause
from topospread.live.logs import facts, level
from topospread.live.scale_in_metrics import ScaleInMetrics
from topospread.live.scale_in_plan import Cost, Key, ReplicaSetPlan, ScaleInPlans

log = logging.getLogger(__name__)

COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_MERGE: Final = "application/merge-patch+json"
_GATHER: Final = 0.2
"""Pause in seconds in which changes can gather."""
_AGAIN: Final = 5.0
"""Seconds before a ReplicaSet is planned again after a failed write."""
_GONE: Final = (404, 409)
"""Statuses for a pod that was deleted or recreated."""


class ScaleInKeeper:
    """Updates the deletion costs of workloads that opted in.

    Args:
        client: client for writes, which limits their rate.
        followed: the watched cluster. No cost is written while it is outdated.

    Attributes:
        allowed: whether writes are allowed, because this candidate leads.
    """

    def __init__(
        self,
        client: ApiClient,
        plans: ScaleInPlans,
        followed: FollowedCluster,
        metrics: ScaleInMetrics,
        *,
        dry_run: bool = False,
    ) -> None:
        self.allowed: Callable[[], bool] = lambda: True
        self._client = client
        self._plans = plans
        self._followed = followed
        self._metrics = metrics
        self._dry_run = dry_run
        self._planned: dict[Key, ReplicaSetPlan] = {}
        metrics.figures = self._figures

    async def run(self, end: asyncio.Event) -> None:
        """Work until the event is set. Finish a write in flight."""
        while not end.is_set():
            await pause(end, _GATHER)
            for key in sorted(self._plans.changed):
                state = self._followed.state
                if end.is_set() or not (self.allowed() and state.ready and state.behind_since is None):
                    break
                if key in self._plans.changed:  # else it was deleted during an earlier write
                    self._plans.changed.discard(key)
                    await self._keep(key)

    async def _keep(self, key: Key) -> None:
        before, plan = self._planned.get(key), self._plans.plan(key)
        self._planned[key] = plan
        named = "/".join(key)
        if plan.problem and (before is None or before.problem != plan.problem):
            log.warning("Cannot order the pods for a scale-in", extra=facts(replicaSet=named, why=plan.problem))
        failed = False
        for cost in plan.costs:
            failed |= not await self._write(cost, named)
            if failed and self._followed.state.behind_since is not None:
                break
        if failed:
            asyncio.get_running_loop().call_later(_AGAIN, self._plans.change, key)

    async def _write(self, cost: Cost, replica_set: str) -> bool:
        """Write a cost. Return False if it failed and should be retried."""
        metadata = cost.pod.metadata
        said = {"pod": f"{metadata.namespace}/{metadata.name}", "replicaSet": replica_set, "cost": cost.cost}
        result = "dry-run" if self._dry_run else "written"
        if not self._dry_run:
            body = {"metadata": {"uid": metadata.uid, "annotations": {COST: str(cost.cost)}}}
            path = f"/api/v1/namespaces/{metadata.namespace}/pods/{metadata.name}"
            try:
                await self._client.request("PATCH", path, body=body, content_type=_MERGE, allowed=self.allowed)
            except RequestError as error:
                if isinstance(error, ApiError) and error.status in _GONE:
                    return error.status == 404
                self._metrics.costs[("failed",)] += 1
                log.warning("Failed to set a deletion cost", extra=facts(**said, err=str(error)))
                return False
        self._metrics.costs[(result,)] += 1
        self._plans.sent(cost)
        log.log(level(0 if self._dry_run else 2), f"Deletion cost {result}", extra=facts(**said))
        return True

    def _figures(self) -> Mapping[str, float]:
        kept = set(self._plans.kept)
        self._planned = {key: plan for key, plan in self._planned.items() if key in kept}
        return {
            "replica_sets": len(kept),
            "changed_replica_sets": len(self._plans.changed),
            "unordered_replica_sets": sum(bool(each.problem) for each in self._planned.values()),
            "exceeding_replica_sets": sum(each.excess > 0 for each in self._planned.values()),
        }
