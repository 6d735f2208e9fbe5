"""Rules about keys, numbers and constraints that stand beside each other."""

from __future__ import annotations

from collections.abc import Iterator

from topospread.api.spread import DO_NOT_SCHEDULE

from .examples import constraint, deployment
from .given import Given, Manifest, Subject
from .neighbours import autoscaled
from .pod_source import PodSource
from .problem import Edit, Problem
from .rule import Example, Rule, of_pods
from .selector_rules import SPREAD

_RENAMED = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}


def _beta_key(pods: PodSource) -> Iterator[Problem]:
    for path, each in pods.constraints():
        current = _RENAMED.get(each.topology_key or "")
        if current:
            field = f"{path}.topologyKey"
            message = f"{each.topology_key} is deprecated, it is {current} now"
            yield Problem(field, message, (Edit("replace", field, current),))


def _hard_and_soft(pods: PodSource) -> Iterator[Problem]:
    hard = {each.topology_key for _, each in pods.constraints() if each.when_unsatisfiable == DO_NOT_SCHEDULE}
    for path, each in pods.constraints():
        if each.when_unsatisfiable != DO_NOT_SCHEDULE and each.topology_key in hard:
            yield Problem(path, f"{each.topology_key} has a DoNotSchedule constraint as well")


def _replicas(given: Given) -> Iterator[tuple[Manifest, PodSource, int]]:
    """Workloads with how many replicas they may have at most, where that is known and there are several."""
    for manifest, pods in given.sources:
        bounds = autoscaled(given, pods.item)
        replicas = pods.replicas if bounds is None else bounds.most
        if replicas is not None and replicas > 1:
            yield manifest, pods, replicas


def _never_binds(given: Given) -> Iterator[tuple[Subject, Problem]]:
    for manifest, pods, replicas in _replicas(given):
        for path, each in pods.constraints():
            skew = each.max_skew
            if each.when_unsatisfiable == DO_NOT_SCHEDULE and skew is not None and skew >= replicas:
                message = f"{skew} lets all {replicas} replicas stand in one domain"
                yield manifest, Problem(f"{path}.maxSkew", message)


def _min_domains(given: Given) -> Iterator[tuple[Subject, Problem]]:
    for manifest, pods, replicas in _replicas(given):
        for path, each in pods.constraints():
            if each.min_domains is not None and each.min_domains > replicas:
                message = f"{each.min_domains} domains are asked for, and there are {replicas} replicas"
                yield manifest, Problem(f"{path}.minDomains", message)


_OWN = "labelSelector:\n  matchLabels: {app: web}\nmatchLabelKeys: [pod-template-hash]"
_HARD = constraint(_OWN)
_SOFT = constraint(_OWN, when="ScheduleAnyway").removeprefix("topologySpreadConstraints:\n")
_GOOD = Example(deployment(_HARD))

RULES = (
    Rule(
        id="beta-topology-key",
        sentence="A topologyKey is a label that nodes still have.",
        why="Nodes without the label are left out: with no such node every pod of a hard constraint stays pending.",
        link="https://kubernetes.io/docs/reference/labels-annotations-taints/",
        severity="warning",
        check=of_pods(_beta_key),
        wrong=Example(deployment(constraint(_OWN, key="failure-domain.beta.kubernetes.io/zone"))),
        right=_GOOD,
        fix="Writes the label of today.",
    ),
    Rule(
        id="hard-and-soft",
        sentence="A topologyKey has one constraint, hard or soft.",
        why="kubectl apply merges constraints by topologyKey alone: a later change goes into the first of the two.",
        link=f"{SPREAD}#spread-constraint-definition",
        severity="hint",
        check=of_pods(_hard_and_soft),
        wrong=Example(deployment(_HARD + _SOFT)),
        right=_GOOD,
    ),
    Rule(
        id="max-skew-never-binds",
        sentence="A hard constraint's maxSkew is smaller than the number of replicas.",
        why="All replicas may stand in one domain: the constraint holds nothing back.",
        link=f"{SPREAD}#spread-constraint-definition",
        severity="hint",
        check=_never_binds,
        wrong=Example(deployment(_HARD.replace("maxSkew: 1", "maxSkew: 6"))),
        right=_GOOD,
    ),
    Rule(
        id="min-domains-over-replicas",
        sentence="minDomains is at most the number of replicas.",
        why="The replicas cannot stand in so many domains; in fewer, each holds at most maxSkew of them.",
        link=f"{SPREAD}#spread-constraint-definition",
        severity="hint",
        check=_min_domains,
        wrong=Example(deployment(_HARD + "  minDomains: 7\n")),
        right=Example(deployment(_HARD + "  minDomains: 3\n")),
    ),
)
