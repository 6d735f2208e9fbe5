"""Rules about keys, numbers and constraints that stand beside each other."""

from __future__ import annotations

from collections.abc import Iterator

from topospread.api.spread import DO_NOT_SCHEDULE

from .manifest import PodSource
from .rule import Problem, Rule
from .selector_rules import SPREAD

_RENAMED = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}


def _beta_key(pods: PodSource) -> Iterator[Problem]:
    for path, constraint in pods.constraints():
        current = _RENAMED.get(constraint.topology_key or "")
        if current:
            yield Problem(f"{path}.topologyKey", f"{constraint.topology_key} is deprecated, it is {current} now")


def _hard_and_soft(pods: PodSource) -> Iterator[Problem]:
    hard = {each.topology_key for _, each in pods.constraints() if each.when_unsatisfiable == DO_NOT_SCHEDULE}
    for path, constraint in pods.constraints():
        if constraint.when_unsatisfiable != DO_NOT_SCHEDULE and constraint.topology_key in hard:
            yield Problem(path, f"{constraint.topology_key} has a DoNotSchedule constraint as well")


def _never_binds(pods: PodSource) -> Iterator[Problem]:
    replicas = pods.replicas
    if replicas is None or replicas < 2:
        return
    for path, constraint in pods.constraints():
        skew = constraint.max_skew
        if constraint.when_unsatisfiable == DO_NOT_SCHEDULE and skew is not None and skew >= replicas:
            yield Problem(f"{path}.maxSkew", f"{skew} lets all {replicas} replicas stand in one domain")


def _min_domains(pods: PodSource) -> Iterator[Problem]:
    replicas = pods.replicas
    if replicas is None or replicas < 2:
        return
    for path, constraint in pods.constraints():
        if constraint.min_domains is not None and constraint.min_domains > replicas:
            message = f"{constraint.min_domains} domains are asked for, and there are {replicas} replicas"
            yield Problem(f"{path}.minDomains", message)


RULES = (
    Rule(
        "beta-topology-key",
        "A topologyKey is a label that nodes still have.",
        "Nodes without the label are left out: with no such node every pod of a hard constraint stays pending.",
        "https://kubernetes.io/docs/reference/labels-annotations-taints/",
        "warning",
        _beta_key,
    ),
    Rule(
        "hard-and-soft",
        "A topologyKey has one constraint, hard or soft.",
        "kubectl apply merges constraints by topologyKey alone: a later change goes into the first of the two.",
        f"{SPREAD}#spread-constraint-definition",
        "hint",
        _hard_and_soft,
    ),
    Rule(
        "max-skew-never-binds",
        "A hard constraint's maxSkew is smaller than the number of replicas.",
        "All replicas may stand in one domain: the constraint holds nothing back.",
        f"{SPREAD}#spread-constraint-definition",
        "hint",
        _never_binds,
    ),
    Rule(
        "min-domains-over-replicas",
        "minDomains is at most the number of replicas.",
        "The replicas cannot stand in so many domains; in fewer, each holds at most maxSkew of them.",
        f"{SPREAD}#spread-constraint-definition",
        "hint",
        _min_domains,
    ),
)
