"""What the loss of a zone or node leaves of a workload, before and after a change, by what filters force."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from topospread.answer import Unjudged
from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.base import Bounds, Word
from topospread.guarantees.orders import SearchBudget
from topospread.simulation.run import SimulationOptions

from .fresh import LISTS, Designed
from .kept import Fewest, WorkloadPromises

Loss = Literal["zone", "node"]
_KEYS: dict[Loss, str] = {"zone": ZONE, "node": HOSTNAME}


@dataclass(frozen=True, slots=True)
class PromiseChange:
    """The fewest pods that a loss leaves, on both sides of a change.

    Attributes:
        key: kind, namespace and name of the workload.
        replicas: before and after.
        is_scaled: whether only the number of replicas differs.
        unjudged: parts of the pods that topospread does not model.
    """

    key: ObjectKey
    loss: Loss
    before: Bounds
    after: Bounds
    replicas: tuple[int, int]
    is_scaled: bool = False
    unjudged: tuple[Unjudged, ...] = ()

    @property
    def verdict(self) -> Word:
        """Whether the change keeps as large a share of the replicas: `no` if it is worse in every case.

        Fewer replicas alone are worse only if nothing may be left of them.
        """
        was, now = self.replicas
        if self.is_scaled:
            if self.after.least or not self.before.most:
                return "yes"
            return "no" if self.before.least and not self.after.most else "unknown"
        if self.before.least * now > self.after.most * was:
            return "no"
        return "yes" if self.after.least * was >= self.before.most * now or self.before == self.after else "unknown"


def promise_changes(
    before: Inventory, after: Inventory, options: SimulationOptions, budget: SearchBudget
) -> Iterator[PromiseChange]:
    """Yield what losses leave of each workload whose spread the change touches, or which has fewer replicas.

    Args:
        before: the objects of the old state and the cluster.
        after: the objects of the new state and the cluster.
        options: the control plane.
        budget: the limits of each search.
    """
    options = replace(options, preemption=False)
    for kind, attribute in LISTS.items():
        old = {(each.namespace, each.name): each for each in getattr(before, attribute)}
        for new in getattr(after, attribute):
            was = old.get((new.namespace, new.name))
            is_scaled = was is not None and _terms(was) == _terms(new)
            if was is None or (is_scaled and (was.spec.replicas or 0) <= (new.spec.replicas or 0)):
                continue
            key = (kind, new.namespace or "default", new.name)
            judges = [WorkloadPromises(side, options, key, budget, {}) for side in (before, after)]
            replicas = judges[0].workload.replicas, judges[1].workload.replicas
            for loss, label in _KEYS.items() if all(replicas) else ():
                if any(label in each.labels for each in after.nodes):
                    sides = [_bounds(each.fewest(loss)) for each in judges]
                    parts = {each.what: each for judge in judges for each in judge.unjudged}
                    yield PromiseChange(key, loss, sides[0], sides[1], replicas, is_scaled, tuple(parts.values()))


def _terms(item: Designed) -> tuple[object, ...]:
    """Return what a promise of a workload depends on in its own object, its replicas apart."""
    pod = item.spec.template.spec
    return pod.topology_spread_constraints, pod.affinity, item.spec.template.metadata


def _bounds(fewest: Fewest) -> Bounds:
    parts = [fewest.orders, *([] if fewest.rolled is None else [fewest.rolled])]
    return Bounds(least=min(each.least for each in parts), most=min(each.most for each in parts))
