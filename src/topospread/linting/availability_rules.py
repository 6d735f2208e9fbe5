"""Rules about what keeps a workload there while nodes are drained: budgets, enough replicas, enough of an autoscaler's.

What evictions have to do with a skew that stays is `budget_rules`'.
"""

from __future__ import annotations

from collections.abc import Iterator

from topospread.api.autoscaling import HorizontalPodAutoscaler
from topospread.api.workload import DaemonSet, Job
from topospread.workloads.autoscaling import target_of

from .budget_rules import allowed, budget_example, selected, size_of, value_of
from .examples import constraint, deployment
from .given import Given, Subject
from .group_rules import counts_of_others
from .neighbours import autoscaled
from .placement_rules import explicit_replicas
from .pod_source import WITH_REPLICAS, PodSource
from .problem import Problem
from .rule import Example, Rule
from .selector_rules import SPREAD

_BUDGETS = "https://kubernetes.io/docs/tasks/run-application/configure-pdb/"
_DISRUPTIONS = "https://kubernetes.io/docs/concepts/workloads/pods/disruptions/"
_AUTOSCALING = "https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/"


def _blocks_drains(given: Given) -> Iterator[tuple[Subject, Problem]]:
    for manifest, budget, found in selected(given):
        evicted = [pods for pods in found if not isinstance(pods.item, DaemonSet | Job)]
        if manifest is None or not evicted:
            continue
        sizes = [size_of(given, pods) for pods in found]
        replicas = None if None in sizes else sum(size for size in sizes if size is not None)
        field, value = value_of(budget)
        spread = any(pods.spec.topology_spread_constraints for pods in found)
        if replicas is not None and replicas > len(found) and spread:
            continue  # The rule about rebalancing says so.
        everything = str(value) in (("0", "0%") if field == "maxUnavailable" else ("100%",))
        if everything if replicas is None else replicas and allowed(budget, replicas) == 0:
            of = "" if replicas is None else f" of {replicas} replica{'' if replicas == 1 else 's'}"
            message = f"{field} {value}{of} lets none be evicted: a node that runs one cannot be drained"
            yield manifest, Problem(f"spec.{field}", message)


def _selects_nothing(given: Given) -> Iterator[tuple[Subject, Problem]]:
    spaces = {pods.item.namespace for _, pods in given.sources}
    unknown = {_space(each) for each in given.others if "." in str(each.value.get("apiVersion", "")).partition("/")[0]}
    for manifest, budget, found in selected(given):
        here = budget.namespace
        if manifest is not None and not found and here in spaces and here not in unknown:
            yield manifest, Problem("spec.selector", "it selects the pods of nothing that is given: it protects none")


def _space(subject: Subject) -> str:
    return subject.label.partition(" ")[2].partition("/")[0]


def _without_budget(given: Given) -> Iterator[tuple[Subject, Problem]]:
    protected = {id(pods) for _, _, found in selected(given) for pods in found}
    for manifest, pods in given.sources:
        replicas = size_of(given, pods)
        if isinstance(pods.item, WITH_REPLICAS) and replicas is not None and replicas > 1 and id(pods) not in protected:
            message = f"no PodDisruptionBudget selects the {replicas} pods: drains may evict all of them at once"
            yield manifest, Problem("", message)


def _one_replica(given: Given) -> Iterator[tuple[Subject, Problem]]:
    alone = [
        (manifest, pods)
        for manifest, pods in given.sources
        if explicit_replicas(pods) == 1 and isinstance(pods.item, WITH_REPLICAS) and not autoscaled(given, pods.item)
    ]
    reaching = counts_of_others(given) if alone else {}
    for manifest, pods in alone:
        for path, each in pods.constraints():
            if path not in reaching.get(manifest.order, ()):
                message = f"1 replica: there is nothing to spread over {each.topology_key}"
                yield manifest, Problem(path, message)


def _least_under_domains(given: Given) -> Iterator[tuple[Subject, Problem]]:
    sources = {(type(pods.item).__name__, pods.item.namespace, pods.item.name): pods for _, pods in given.sources}
    known = _domains(given)
    for manifest in given.of_kind("HorizontalPodAutoscaler"):
        item = manifest.item
        target = target_of(item) if isinstance(item, HorizontalPodAutoscaler) and not manifest.refused else None
        pods = sources.get(target) if target is not None else None
        if pods is None or not isinstance(item, HorizontalPodAutoscaler):
            continue
        wanted = max(_wanted(pods, known), key=lambda each: each[0], default=(0, ""))
        if 0 < item.spec.least < wanted[0]:
            field = "spec" if item.spec.min_replicas is None else "spec.minReplicas"
            message = f"at {item.spec.least} replica{'' if item.spec.least == 1 else 's'} some of the {wanted[0]} "
            yield manifest, Problem(field, f"{message}domains of {wanted[1]} hold none")


def _wanted(pods: PodSource, known: dict[str, dict[str, int]]) -> Iterator[tuple[int, str]]:
    """How many domains each constraint is to spread over, as far as that is known."""
    for path, each in pods.constraints():
        key = each.topology_key or ""
        there = known.get(f"{type(pods.item).__name__} {pods.item.namespace}/{pods.item.name}", {}).get(path, 0)
        yield max(there, each.min_domains or 0), key


def _domains(given: Given) -> dict[str, dict[str, int]]:
    """Object → path of a constraint → its eligible domains, where there are nodes; a hostname's are left out."""
    if not given.nodes:
        return {}
    from .placement_rules import HOSTNAME
    from .standing import standings  # The engine is loaded by who needs it: without nodes nobody does.

    return {
        standing.manifest.label: {
            held.path: len(held.counts.domains) for held in standing.constraints if held.counts.topology_key != HOSTNAME
        }
        for standing in standings(given)
    }


_OWN = "labelSelector:\n  matchLabels: {app: web}\nmatchLabelKeys: [pod-template-hash]"
_PLAIN = deployment("", replicas=3)
_AUTOSCALER = """\
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: web
spec:
  minReplicas: {least}
  maxReplicas: 9
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}
"""
_SCALED = deployment(constraint(_OWN)).replace("  replicas: 6\n", "")

RULES = (
    Rule(
        id="budget-blocks-drain",
        sentence="A PodDisruptionBudget lets a pod be evicted.",
        why="kubectl drain and the cluster's autoscaler evict pods: with a budget that never lets one go a node is not "
        "drained until somebody deletes the pod or the budget.",
        link=f"{_BUDGETS}#think-about-how-your-application-reacts-to-disruptions",
        severity="warning",
        check=_blocks_drains,
        wrong=Example(_PLAIN + budget_example("maxUnavailable: 0")),
        right=Example(_PLAIN + budget_example("maxUnavailable: 1")),
        needs="manifests",
    ),
    Rule(
        id="budget-selects-nothing",
        sentence="A PodDisruptionBudget selects pods.",
        why="It protects nothing: its selector names labels that no pods of its namespace have.",
        link=f"{_BUDGETS}#specifying-a-poddisruptionbudget",
        severity="warning",
        check=_selects_nothing,
        wrong=Example(_PLAIN.replace("app: web", "app: shop") + budget_example("maxUnavailable: 1")),
        right=Example(_PLAIN + budget_example("maxUnavailable: 1")),
        needs="manifests",
    ),
    Rule(
        id="no-budget",
        sentence="Replicas have a PodDisruptionBudget.",
        why="Without one a drain of several nodes, or an upgrade of the cluster, may evict all replicas at once.",
        link=f"{_DISRUPTIONS}#pod-disruption-budgets",
        severity="hint",
        check=_without_budget,
        wrong=Example(_PLAIN),
        right=Example(_PLAIN + budget_example("maxUnavailable: 1")),
        needs="manifests",
    ),
    Rule(
        id="one-replica-to-spread",
        sentence="What is to be spread has more than one replica.",
        why="One pod stands in one domain, and what it serves is gone with that: a constraint changes nothing.",
        link=f"{SPREAD}#motivation",
        severity="hint",
        check=_one_replica,
        wrong=Example(deployment(constraint(_OWN), replicas=1)),
        right=Example(deployment(constraint(_OWN), replicas=3)),
        needs="manifests",
    ),
    Rule(
        id="autoscaler-under-domains",
        sentence="An autoscaler keeps at least as many replicas as there are domains to spread over.",
        why="At night, when it has scaled down, some domains hold none; whichever holds one takes a larger share along "
        "when it fails.",
        link=f"{_AUTOSCALING}#how-does-a-horizontalpodautoscaler-work",
        severity="hint",
        check=_least_under_domains,
        wrong=Example(_SCALED + _AUTOSCALER.format(least=2), cluster="zones=3,nodes=6"),
        right=Example(_SCALED + _AUTOSCALER.format(least=3), cluster="zones=3,nodes=6"),
        needs="manifests",
    ),
)
