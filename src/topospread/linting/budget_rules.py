"""Rules about PodDisruptionBudgets that forbid the evictions by which replicas are spread anew."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from topospread.api.labels import InvalidSelectorError, Selector
from topospread.api.policy import PodDisruptionBudget
from topospread.api.workload import Deployment, ReplicaSet, ReplicationController, StatefulSet

from .examples import constraint, deployment
from .given import Given, Manifest, Subject
from .label_index import LabelIndex
from .neighbours import autoscaled, cluster_sources
from .placement_rules import explicit_replicas
from .pod_source import PodSource
from .problem import Problem
from .rule import Example, Rule

_BUDGETS = "https://kubernetes.io/docs/tasks/run-application/configure-pdb/"
_KNOWN_SIZE = (Deployment, ReplicaSet, StatefulSet, ReplicationController)


def selected(given: Given) -> Iterator[tuple[Manifest | None, PodDisruptionBudget, list[PodSource]]]:
    """Every budget with the pods that it is about; without a manifest those of the cluster, which come first."""
    budgets: dict[tuple[str, str], tuple[Manifest | None, PodDisruptionBudget]] = {}
    for there in given.cluster.pod_disruption_budgets if given.cluster is not None else ():
        budgets[there.namespace, there.name] = None, there
    for each in given.of_kind("PodDisruptionBudget"):
        if isinstance(each.item, PodDisruptionBudget) and not each.refused:
            budgets[each.item.namespace, each.item.name] = each, each.item
    known = [*cluster_sources(given), *(pods for _, pods in given.sources)] if budgets else []
    index = LabelIndex((pods, pods) for pods in known)
    for manifest, budget in budgets.values():
        try:
            selector = Selector.from_label_selector(budget.spec.selector)
        except InvalidSelectorError:
            continue  # Validation says so.
        yield manifest, budget, index.selected(budget.namespace, selector)


def size_of(given: Given, pods: PodSource) -> int | None:
    """How many pods there are at least; None where that is not known."""
    bounds = autoscaled(given, pods.item)
    if bounds is not None:
        return bounds.least
    return explicit_replicas(pods) if isinstance(pods.item, _KNOWN_SIZE) else None


def allowed(budget: PodDisruptionBudget, replicas: int) -> int | None:
    """How many of so many healthy pods may be evicted at once (pkg/controller/disruption: percentages round up)."""
    spec = budget.spec
    if spec.max_unavailable is not None:
        return _scaled(spec.max_unavailable, replicas)
    wanted = None if spec.min_available is None else _scaled(spec.min_available, replicas)
    return None if wanted is None else max(0, replicas - wanted)


def value_of(budget: PodDisruptionBudget) -> tuple[str, int | str | None]:
    """The field that says how many may be evicted, and what it says."""
    if budget.spec.max_unavailable is None:
        return "minAvailable", budget.spec.min_available
    return "maxUnavailable", budget.spec.max_unavailable


def _scaled(value: int | str, replicas: int) -> int | None:
    if isinstance(value, int):
        return value
    number = value.removesuffix("%")
    return ceil(int(number) * replicas / 100) if value.endswith("%") and number.isdecimal() else None


def _blocks(given: Given) -> Iterator[tuple[Subject, Problem]]:
    for manifest, budget, found in selected(given):
        sizes = [size_of(given, pods) for pods in found]
        spread = [pods for pods in found if pods.spec.topology_spread_constraints]
        if manifest is None or not spread or None in sizes:
            continue
        replicas = sum(size for size in sizes if size is not None)
        if replicas >= len(found) + 1 and allowed(budget, replicas) == 0:
            field, value = value_of(budget)
            message = f"{field} {value} of {replicas} replicas lets none be evicted, so that none can be moved"
            yield manifest, Problem(f"spec.{field}", message)


def _several(given: Given) -> Iterator[tuple[Subject, Problem]]:
    first: dict[int, str] = {}
    for manifest, budget, found in selected(given):
        for pods in found:
            other = first.setdefault(id(pods), budget.name)
            if other != budget.name and manifest is not None:
                what = f"{type(pods.item).__name__} {pods.item.name}"
                message = f"the pods of {what} have the budget {other} already: with two they cannot be evicted at all"
                yield manifest, Problem("spec.selector", message)


_OWN = "labelSelector:\n  matchLabels: {app: web}\nmatchLabelKeys: [pod-template-hash]"


def budget_example(spec: str, name: str = "web") -> str:
    """A PodDisruptionBudget of `deployment`'s pods, to stand behind it."""
    head = f"---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata:\n  name: {name}\nspec:\n"
    return f"{head}  {spec}\n  selector:\n    matchLabels: {{app: web}}\n"


_WEB = deployment(constraint(_OWN), replicas=3)

RULES = (
    Rule(
        id="budget-blocks-rebalance",
        sentence="A PodDisruptionBudget of replicas that are spread lets one of them be evicted.",
        why="A skew that a scale-down or an outage leaves is mended by evicting pods, with a descheduler or by a "
        "drain: a budget without room refuses every eviction.",
        link=f"{_BUDGETS}#specifying-a-poddisruptionbudget",
        severity="warning",
        check=_blocks,
        wrong=Example(_WEB + budget_example("minAvailable: 3")),
        right=Example(_WEB + budget_example("minAvailable: 2")),
        needs="manifests",
    ),
    Rule(
        id="several-budgets",
        sentence="A pod has one PodDisruptionBudget.",
        why="The API server refuses to evict a pod that several budgets select, whatever they allow.",
        link="https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/#how-api-initiated-eviction-works",
        severity="warning",
        check=_several,
        wrong=Example(_WEB + budget_example("minAvailable: 2") + budget_example("maxUnavailable: 1", "web-again")),
        right=Example(_WEB + budget_example("minAvailable: 2")),
        needs="manifests",
    ),
)
