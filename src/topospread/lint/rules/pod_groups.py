"""Rules about PodGroups: spread constraints must admit the group's minimum number of pods at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from topospread.api.labels import InvalidSelectorError
from topospread.api.node import Node
from topospread.api.pod_groups import PodGroup
from topospread.api.spread import TopologySpreadConstraint
from topospread.lint.lint_input import LintInput, LintSubject, Manifest
from topospread.lint.pod_source import PodSource, own_selector
from topospread.lint.problem import Problem
from topospread.lint.related_objects import cluster_sources
from topospread.lint.rule import Example, Rule


def _deadlocks(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    """Yield constraints that admit fewer pods than the group needs, and the group's conflicting field."""
    groups = {(each.item.namespace, each.item.name): each for each in given.of_kind("PodGroup")}
    for manifest, pods in given.sources if groups else ():
        group = pods.spec.scheduling_group
        found = groups.get((pods.item.namespace, group.pod_group_name)) if group is not None else None
        gang = found.item.spec.scheduling_policy.gang if found and isinstance(found.item, PodGroup) else None
        if found is None or gang is None:
            continue
        for path, constraint in pods.constraints():
            key, field = _same_domain(found)
            most = _most(constraint, key, given.nodes)
            if most < gang.min_count and _counts_the_group_alone(given, pods, constraint):
                limit = f"maxSkew {constraint.max_skew} over {constraint.topology_key}"
                few = f"admits at most {most:g} of {gang.min_count} pods that"
                yield manifest, Problem(path, f"{limit} {few} {found.label} needs at once ({field})")
                yield found, Problem(field, f"{limit} of {manifest.label} {few} the group needs at once ({path})")


def _same_domain(group: Manifest) -> tuple[str, str]:
    """Return the label whose value all pods of a group must share, "" for none, and the conflicting field."""
    item = group.item
    constraints = item.spec.scheduling_constraints if isinstance(item, PodGroup) else None
    topology = constraints.topology if constraints is not None else None
    if topology:
        return topology[0].key, "spec.schedulingConstraints.topology[0]"
    return "", "spec.schedulingPolicy.gang.minCount"


def _most(constraint: TopologySpreadConstraint, key: str, nodes: Sequence[Node]) -> float:
    """Return the most pods of a group that a constraint admits at once, if it counts only the group's pods.

    With ``key``, all pods must be in one domain of this label. inf: no limit.

    The global minimum is 0 if a counted domain cannot get pods, or if there are fewer domains than minDomains. Then
    each domain admits maxSkew pods.
    """
    if constraint.when_unsatisfiable != "DoNotSchedule":
        return inf
    least, skew, over = constraint.min_domains or 1, constraint.max_skew or 1, constraint.topology_key or ""
    if key == over and least > 1:
        return skew
    inside: dict[str, set[str]] = {}
    for node in nodes:
        domain = node.labels.get(over)
        if domain is not None and (not key or key in node.labels):
            inside.setdefault(node.labels.get(key, "") if key else "", set()).add(domain)
    every = {node.labels[over] for node in nodes if over in node.labels}
    if not inside or constraint.node_affinity_policy == "Ignore" or constraint.node_taints_policy == "Honor":
        return inf
    bounds = (skew * len(own) if own != every or len(every) < least else inf for own in inside.values())
    return max(bounds)


def _counts_the_group_alone(given: LintInput, pods: PodSource, constraint: TopologySpreadConstraint) -> bool:
    """Return whether the constraint counts only the group's pods, and counts every node that they may use."""
    spec, own = pods.spec, pods.spec.scheduling_group
    if spec.node_selector or (spec.affinity is not None and spec.affinity.node_affinity is not None):
        return False
    try:
        selector = own_selector(constraint)
    except InvalidSelectorError:
        return False  # The rule `validation` reports the error.
    others = (*cluster_sources(given), *(each for _, each in given.sources))
    counted = [each for each in others if each.item.namespace == pods.item.namespace and selector.matches(each.labels)]
    return selector.matches(pods.labels) and all(each.spec.scheduling_group == own for each in counted)


def _gang(topology: str) -> Example:
    return Example(
        f"""\
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {{name: training}}
spec:
  schedulingPolicy: {{gang: {{minCount: 4}}}}
{topology}---
apiVersion: batch/v1
kind: Job
metadata: {{name: training}}
spec:
  parallelism: 4
  completions: 4
  template:
    metadata: {{labels: {{app: training}}}}
    spec:
      restartPolicy: Never
      schedulingGroup: {{podGroupName: training}}
      containers: [{{name: trainer, image: "registry.example/trainer:1.0", resources: {{requests: {{cpu: "1"}}}}}}]
      topologySpreadConstraints:
        - maxSkew: 1
          minDomains: 2
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {{matchLabels: {{app: training}}}}
"""
    )


RULES = (
    Rule(
        id="group-spread-deadlock",
        sentence="A spread constraint admits fewer pods than their PodGroup needs at once.",
        why=(
            "A gang gets nodes only if minCount of its pods fit at once. If it must stay in one domain, other "
            "domains have 0 of its pods. So the minimum stays 0, and its domain admits only maxSkew pods."
        ),
        link="https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/",
        severity="error",
        check=_deadlocks,
        wrong=_gang("  schedulingConstraints: {topology: [{key: topology.kubernetes.io/zone}]}\n"),
        right=_gang(""),
        needs="manifests",
    ),
)
