"""Rules about PodDisruptionBudgets: they exist, and allow evictions by drains and by rebalancing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from topospread.api.labels import InvalidSelectorError, Selector
from topospread.api.policy import PodDisruptionBudget
from topospread.api.workload import DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet
from topospread.lint.examples import constraint, deployment
from topospread.lint.lint_input import LintInput, LintSubject, Manifest, once_per_input
from topospread.lint.pod_source import WITH_REPLICAS, PodSource, explicit_replicas
from topospread.lint.pods_by_label import PodsByLabel
from topospread.lint.problem import MOST_ALIKE, Problem
from topospread.lint.related_objects import autoscaled, cluster_sources
from topospread.lint.rule import Example, Rule
from topospread.whole_number import scaled

_DISRUPTIONS = "https://kubernetes.io/docs/concepts/workloads/pods/disruptions/"
_BUDGETS = "https://kubernetes.io/docs/tasks/run-application/configure-pdb/"
_KNOWN_SIZE = (Deployment, ReplicaSet, StatefulSet, ReplicationController)


class SelectedPods(NamedTuple):
    """The pods that a selector matches. Budgets with one selector share it.

    Attributes:
        pods: the pods and templates.
        replicas: minimum number of pods; None if unknown.
        spread: whether any pod has constraints.
        evicted: whether drains evict any pod.
    """

    pods: list[PodSource]
    replicas: int | None
    spread: bool
    evicted: bool

    @classmethod
    def of(cls, given: LintInput, pods: list[PodSource]) -> SelectedPods:
        """Return the pods with the facts that the rules need."""
        sizes = [size_of(given, each) for each in pods]
        return cls(
            pods,
            None if None in sizes else sum(size for size in sizes if size is not None),
            any(each.spec.topology_spread_constraints for each in pods),
            any(not isinstance(each.item, DaemonSet | Job) for each in pods),
        )


class Selected(NamedTuple):
    """A budget, its selected pods and its manifest; None for a budget of the cluster."""

    manifest: Manifest | None
    budget: PodDisruptionBudget
    found: SelectedPods


@once_per_input
def selected(given: LintInput) -> list[Selected]:
    """Return all budgets with their selected pods, those of the cluster first."""
    return list(_selected(given))


def _selected(given: LintInput) -> Iterator[Selected]:
    budgets: dict[tuple[str, str], tuple[Manifest | None, PodDisruptionBudget]] = {}
    for there in given.cluster.pod_disruption_budgets if given.cluster is not None else ():
        budgets[there.namespace, there.name] = None, there
    for each in given.of_kind("PodDisruptionBudget"):
        if isinstance(each.item, PodDisruptionBudget) and not each.refused:
            budgets[each.item.namespace, each.item.name] = each, each.item
    known = [*cluster_sources(given), *(pods for _, pods in given.sources)] if budgets else []
    index = PodsByLabel((pods, pods) for pods in known)
    alike: dict[tuple[str, Selector], SelectedPods] = {}
    for manifest, budget in budgets.values():
        try:
            selector = Selector.from_label_selector(budget.spec.selector)
        except InvalidSelectorError:
            continue  # The rule `validation` reports the error.
        key = budget.namespace, selector
        if key not in alike:
            alike[key] = SelectedPods.of(given, index.selected(*key))
        yield Selected(manifest, budget, alike[key])


def size_of(given: LintInput, pods: PodSource) -> int | None:
    """Return the minimum number of pods; None if unknown."""
    bounds = autoscaled(given, pods.item)
    if bounds is not None:
        return bounds.least
    return explicit_replicas(pods) if isinstance(pods.item, _KNOWN_SIZE) else None


def allowed(budget: PodDisruptionBudget, replicas: int) -> int | None:
    """Return how many healthy pods may be evicted at once. Percentages round up (pkg/controller/disruption)."""
    spec = budget.spec
    if spec.max_unavailable is not None:
        return scaled(spec.max_unavailable, replicas)
    wanted = None if spec.min_available is None else scaled(spec.min_available, replicas)
    return None if wanted is None else max(0, replicas - wanted)


def value_of(budget: PodDisruptionBudget) -> tuple[str, int | str | None]:
    """Return the field that limits evictions, and its value."""
    if budget.spec.max_unavailable is None:
        return "minAvailable", budget.spec.min_available
    return "maxUnavailable", budget.spec.max_unavailable


def _blocks(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for manifest, budget, found in selected(given):
        replicas = found.replicas
        if manifest is None or not found.spread or replicas is None:
            continue
        if replicas >= len(found.pods) + 1 and allowed(budget, replicas) == 0:
            field, value = value_of(budget)
            message = f"{field} {value} of {replicas} replicas allows no eviction, so rebalancing cannot move a pod"
            yield manifest, Problem(f"spec.{field}", message)


def _several(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    first: dict[int, str] = {}
    noted: set[int] = set()
    for manifest, budget, found in selected(given):
        pods = found.pods
        if id(found) not in noted:  # every pod of a known selection already has a budget
            noted.add(id(found))
            pods = [each for each in pods if first.setdefault(id(each), budget.name) != budget.name]
        if manifest is None:
            continue
        more = len(pods) - MOST_ALIKE
        for number, each in enumerate(pods[:MOST_ALIKE], 1):
            what, other = f"{type(each.item).__name__} {each.item.name}", first[id(each)]
            message = f"the pods of {what} already have the budget {other}; pods with two budgets cannot be evicted"
            if more > 0 and number == MOST_ALIKE:
                message += f"; {more} more workloads have a budget already"
            yield manifest, Problem("spec.selector", message)


def _blocks_drains(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for manifest, budget, found in selected(given):
        if manifest is None or not found.evicted:
            continue
        replicas = found.replicas
        field, value = value_of(budget)
        everything = str(value) in (("0", "0%") if field == "maxUnavailable" else ("100%",))
        if everything if replicas is None else replicas and allowed(budget, replicas) == 0:
            of = "" if replicas is None else f" of {replicas} replica{'' if replicas == 1 else 's'}"
            message = f"{field} {value}{of} allows no eviction: a node with such a pod cannot be drained"
            if replicas is not None and replicas > 1:
                one = "maxUnavailable 1" if field == "maxUnavailable" else f"minAvailable {replicas - 1}"
                message += f"; {one} allows one eviction"
            yield manifest, Problem(f"spec.{field}", message)


def _selects_nothing(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    spaces = {pods.item.namespace for _, pods in given.sources}
    protected = {id(each) for _, _, found in selected(given) for each in found.pods}
    index = PodsByLabel((pods, pods) for _, pods in given.sources)
    unknown = {_space(each) for each in given.others if "." in str(each.value.get("apiVersion", "")).partition("/")[0]}
    for manifest, budget, found in selected(given):
        here = budget.namespace
        if manifest is None or found.pods or here in unknown:
            continue
        selector = Selector.from_label_selector(budget.spec.selector)
        elsewhere = (each for space in sorted(spaces) for each in index.selected(space, selector))
        item = next((each.item for each in elsewhere if id(each) not in protected), None)
        if item is not None and selector.requirements:
            it = f"{type(item).__name__} {item.namespace}/{item.name}"
            message = f"it selects no pod in its namespace {here}; are the pods of {it} meant, which have no budget?"
            yield manifest, Problem("metadata.namespace", message)
        elif here in spaces:
            yield manifest, Problem("spec.selector", "it selects no pod in the input, so it protects none")


def _space(subject: LintSubject) -> str:
    return subject.label.partition(" ")[2].partition("/")[0]


def _without_budget(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    distinct = {id(found): found.pods for _, _, found in selected(given)}
    protected = {id(each) for pods in distinct.values() for each in pods}
    for manifest, pods in given.sources:
        replicas = size_of(given, pods)
        if isinstance(pods.item, WITH_REPLICAS) and replicas is not None and replicas > 1 and id(pods) not in protected:
            message = f"no PodDisruptionBudget selects the {replicas} pods: drains may evict all of them at once"
            yield manifest, Problem("", message)


_OWN = "labelSelector:\n  matchLabels: {app: web}\nmatchLabelKeys: [pod-template-hash]"


def budget_example(spec: str, name: str = "web") -> str:
    """Return a PodDisruptionBudget for `deployment`'s pods, as a further YAML document."""
    head = f"---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata:\n  name: {name}\nspec:\n"
    return f"{head}  {spec}\n  selector:\n    matchLabels: {{app: web}}\n"


_WEB = deployment(constraint(_OWN), replicas=3)
_PLAIN = deployment("", replicas=3)

RULES = (
    Rule(
        id="budget-blocks-drain",
        sentence="A PodDisruptionBudget blocks every eviction.",
        why=(
            "kubectl drain and cluster-autoscaler evict pods, so no node is drained until the pod or the budget "
            "is deleted."
        ),
        link=f"{_BUDGETS}#think-about-how-your-application-reacts-to-disruptions",
        severity="warning",
        check=_blocks_drains,
        wrong=Example(_PLAIN + budget_example("maxUnavailable: 0")),
        right=Example(_PLAIN + budget_example("maxUnavailable: 1")),
        needs="manifests",
    ),
    Rule(
        id="budget-blocks-rebalance",
        sentence="A PodDisruptionBudget blocks every eviction of pods with a spread constraint.",
        why="Only evictions remove the skew that a scale-down or an outage leaves, and the budget denies them.",
        link=f"{_BUDGETS}#specifying-a-poddisruptionbudget",
        severity="warning",
        check=_blocks,
        wrong=Example(_WEB + budget_example("minAvailable: 3")),
        right=Example(_WEB + budget_example("minAvailable: 2")),
        needs="manifests",
    ),
    Rule(
        id="several-budgets",
        sentence="Several PodDisruptionBudgets select a pod.",
        why="The API server denies every eviction of such a pod.",
        link="https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/#how-api-initiated-eviction-works",
        severity="warning",
        check=_several,
        wrong=Example(_WEB + budget_example("minAvailable: 2") + budget_example("maxUnavailable: 1", "web-again")),
        right=Example(_WEB + budget_example("minAvailable: 2")),
        needs="manifests",
    ),
    Rule(
        id="budget-selects-nothing",
        sentence="A PodDisruptionBudget selects no pod.",
        why="Its selector names labels that no pod of its namespace has, so it protects no pod.",
        link=f"{_BUDGETS}#specifying-a-poddisruptionbudget",
        severity="warning",
        check=_selects_nothing,
        wrong=Example(_PLAIN.replace("app: web", "app: shop") + budget_example("maxUnavailable: 1")),
        right=Example(_PLAIN + budget_example("maxUnavailable: 1")),
        needs="manifests",
    ),
    Rule(
        id="no-budget",
        sentence="Replicas have no PodDisruptionBudget.",
        why="A drain of several nodes, or a cluster upgrade, may evict all replicas at once.",
        link=f"{_DISRUPTIONS}#pod-disruption-budgets",
        severity="hint",
        check=_without_budget,
        wrong=Example(_PLAIN),
        right=Example(_PLAIN + budget_example("maxUnavailable: 1")),
        needs="manifests",
    ),
)
