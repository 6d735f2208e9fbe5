"""PodDisruptionBudgets in preemption: the victims that a budget selects, and the evictions that violate one.

Source: pkg/scheduler/framework/preemption/util.go (``FilterPodsWithPDBViolation``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from topospread.api.label_index import SelectorIndex
from topospread.api.labels import InvalidSelectorError, Selector
from topospread.api.policy import PodDisruptionBudget, PodDisruptionBudgetSpec
from topospread.cluster import PodClass
from topospread.cluster.cluster import PodKey
from topospread.cluster.objects import ClusterObjects, Key, Reading


def budget_selector(budget: PodDisruptionBudget) -> Selector | None:
    """Return the budget's selector, or ``None`` if it matches nothing: missing, empty or invalid."""
    try:
        selector = Selector.from_label_selector(budget.spec.selector)
    except InvalidSelectorError:
        return None
    return None if selector.empty else selector


class _Indexed(msgspec.Struct, frozen=True, gc=False):
    """A budget in the index.

    Attributes:
        selector: the budget's selector; ``None`` if it matches nothing.
        number: the selector's number in the index.
    """

    spec: PodDisruptionBudgetSpec
    selector: Selector | None
    number: int


class DisruptionBudgets:
    """The budgets of a cluster, indexed by the labels that they select. Each selector is compiled once per spec.

    The budgets are read again only after one of them changed, because every pod that stays pending asks for them.
    """

    def __init__(self, objects: ClusterObjects) -> None:
        self._objects = objects
        self._budgets = objects.pod_disruption_budgets
        self._read: Reading | None = None
        self._names_matter = False
        self._indexed: dict[Key, _Indexed] = {}
        self._index: SelectorIndex[Key] = SelectorIndex()

    def allowed(self, *, counts_on: bool) -> AllowedDisruptions:
        """Return the evictions that the budgets allow now. ``counts_on``: see `AllowedDisruptions`."""
        if self._read is None or not self._read.unchanged():
            self._update()
            self._read = Reading(self._objects, [(PodDisruptionBudget, "")])
        return AllowedDisruptions(self._budgets, self._index, counts_on=counts_on, names_matter=self._names_matter)

    def _update(self) -> None:
        for key in [key for key in self._indexed if key not in self._budgets]:
            self._remove(key)
        for key, budget in self._budgets.items():
            known = self._indexed.get(key)
            if known is None or known.spec is not budget.spec:
                self._remove(key)
                self._add(key, budget)
        self._names_matter = any(each.status and each.status.disrupted_pods for each in self._budgets.values())

    def _add(self, key: Key, budget: PodDisruptionBudget) -> None:
        selector = budget_selector(budget)
        number = self._index.add(budget.namespace, selector, key) if selector is not None else 0
        self._indexed[key] = _Indexed(budget.spec, selector, number)

    def _remove(self, key: Key) -> None:
        known = self._indexed.pop(key, None)
        if known is not None and known.selector is not None:
            self._index.remove(key[0], known.selector, known.number)


class AllowedDisruptions:
    """The evictions that each budget still allows (``status.disruptionsAllowed``), for one preemption.

    kube-scheduler reads the budgets in random order (client-go's ``threadSafeMap.List``), topospread by name.

    Args:
        counts_on: if a victim breaks a budget, whether the budgets after it also count the victim.
        names_matter: whether a budget names pods that are being disrupted, which it does not count.
    """

    def __init__(
        self,
        budgets: Mapping[Key, PodDisruptionBudget],
        index: SelectorIndex[Key],
        *,
        counts_on: bool,
        names_matter: bool,
    ) -> None:
        self._budgets = budgets
        self._index = index
        self._counts_on = counts_on
        self._selecting: dict[PodClass, list[Key]] = {}
        self._violating: dict[tuple[PodClass, ...], tuple[bool, ...]] = {}
        self._names_matter = names_matter

    def violating(self, victims: Sequence[tuple[PodKey, PodClass]]) -> tuple[bool, ...]:
        """Return for each victim whether its eviction, in this order, breaks a budget."""
        if self._names_matter:
            return self._found(victims)
        classes = tuple([pod_class for _, pod_class in victims])
        known = self._violating.get(classes)
        if known is None:
            known = self._violating[classes] = self._found(victims)
        return known

    def _found(self, victims: Sequence[tuple[PodKey, PodClass]]) -> tuple[bool, ...]:
        counted: dict[Key, int] = {}
        return tuple([self._breaks(key, pod_class, counted) for key, pod_class in victims])

    def _breaks(self, victim: PodKey, pod_class: PodClass, counted: dict[Key, int]) -> bool:
        """Count a victim as an eviction of its budgets. Return whether any of them does not allow it."""
        name = victim.partition("/")[2]
        broken = False
        # Budgets that select pods of the class, by name. A pod without labels has none.
        known = self._selecting.get(pod_class)
        if known is None:
            labels = pod_class.labels
            known = sorted(self._index.matching(pod_class.namespace, labels)) if labels else []
            self._selecting[pod_class] = known
        for key in known:
            status = self._budgets[key].status
            if status is not None and name in (status.disrupted_pods or {}):
                continue
            counted[key] = counted.get(key, 0) + 1
            if counted[key] > ((status.disruptions_allowed or 0) if status is not None else 0):
                broken = True
                if not self._counts_on:
                    break
        return broken
