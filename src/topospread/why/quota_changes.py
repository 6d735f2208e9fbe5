"""The least ResourceQuota with which the API server creates the pods that it refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from msgspec.structs import replace as with_fields

from topospread.api.inventory import Inventory, key_of
from topospread.controllers.planned import QueuedPod, Workload
from topospread.simulation.run import Run, prepare

from .changes import pointer
from .repeated_simulation import RepeatedSimulation
from .result import Further, Suggestion
from .what_if import Baseline, Baselines

_PLANS = 8
"""Maximum number of limits to try. Several may be needed, because other workloads' pods may use the quota first."""
_Limits = dict[str, dict[str, str]]


def raised_quotas(inventory: Inventory, run: Run, workload: Workload, before: Baseline) -> Iterator[Suggestion]:
    """Yield the lowest quotas that refuse no pod of a workload, if more of its pods then find nodes.

    Args:
        inventory: the input, which is not changed.
        run: the prepared run, in which pods of the workload are refused.
        before: the result of the run.
    """
    limits: _Limits = {}
    made, own, refused = run, workload, _refused(run, workload)
    for _ in range(_PLANS):
        if made.plan.quotas is None:
            return
        lacking = made.plan.quotas.lacking(workload.namespace, [each.pod for each in refused])
        if not lacking:
            return  # the API server refuses the pods for another reason
        for name, amounts in lacking.items():
            limits.setdefault(name, {}).update((resource, str(amount)) for resource, amount in amounts.items())
        made = prepare(_limited(inventory, workload.namespace, limits), run.options, with_spreads=False)
        own = next(each for each in made.plan.workloads if key_of(each) == key_of(workload))
        refused = _refused(made, own)
        if not refused:
            break
    after = Baselines(RepeatedSimulation(made).carry_out()).of(own)
    if refused or after.placed <= before.placed:
        return
    names = {f"{each.namespace}/{each.name}" for each in made.queue if each.workload is own}
    first, *others = _parts(inventory, workload.namespace, limits)
    yield Suggestion(
        kind=first.kind,
        title=first.title,
        object=first.object,
        patch=first.patch,
        means="cluster",
        placed=after.placed,
        wanted=after.wanted,
        lets_in=after.placed - before.placed,
        newly_pending=tuple(sorted(before.nodes - after.nodes - names)),
        further=tuple(others),
    )


def _refused(run: Run, workload: Workload) -> Sequence[QueuedPod]:
    return [each for each in run.plan.refused if each.workload is workload]


def _limited(inventory: Inventory, namespace: str, limits: Mapping[str, Mapping[str, str]]) -> Inventory:
    """Return the inventory with other limits of a namespace's quotas."""
    quotas = [
        with_fields(each, spec=with_fields(each.spec, hard={**(each.spec.hard or {}), **limits[each.name]}))
        if each.namespace == namespace and each.name in limits
        else each
        for each in inventory.resource_quotas
    ]
    return replace(inventory, resource_quotas=quotas)


def _parts(inventory: Inventory, namespace: str, limits: Mapping[str, Mapping[str, str]]) -> Iterator[Further]:
    """Yield the change of each quota."""
    for quota in inventory.resource_quotas:
        if quota.namespace == namespace and (amounts := limits.get(quota.name)):
            hard = quota.spec.hard or {}
            words = " and ".join(f"{name} {amount} instead of {hard[name]}" for name, amount in amounts.items())
            patch = tuple(
                {"op": "add", "path": f"/spec/hard/{pointer(name)}", "value": amount}
                for name, amount in amounts.items()
            )
            reference = {"apiVersion": "v1", "kind": "ResourceQuota", "namespace": namespace, "name": quota.name}
            yield Further("quota", f"hard {words} in ResourceQuota {quota.name}", reference, patch)
