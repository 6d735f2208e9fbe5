"""Rules about the fields of a constraint: topology keys, numbers, and fields without effect."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from topospread.api.spread import DO_NOT_SCHEDULE
from topospread.controllers.revisions import REVISION_HASH_LABEL
from topospread.lint.examples import constraint, deployment
from topospread.lint.lint_input import LintInput, LintSubject, Manifest
from topospread.lint.pod_source import ADDED_BY_CONTROLLERS, HASH, PodSource
from topospread.lint.problem import FieldEdit, Problem
from topospread.lint.related_objects import autoscaled
from topospread.lint.rule import Example, Rule, of_pods
from topospread.text import agreeing, counted

from .selectors import SPREAD

RENAMED = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}
"""Deprecated node label → its replacement."""


def _beta_key(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for manifest, path, each in ((m, *one) for m, pods in given.sources for one in pods.constraints()):
        key, field = each.topology_key or "", f"{path}.topologyKey"
        if current := RENAMED.get(key):
            message = f"{key} is deprecated; use {current}"
            yield manifest, Problem(field, message, (FieldEdit("replace", field, current),))
        elif key in _NODE_LABELS or given.nodes:  # topology-key-on-no-node reports it
            continue
        elif close := get_close_matches(key, _NODE_LABELS, 1, cutoff=_MISSPELT):
            current = RENAMED.get(close[0], close[0])
            message = f"no node has {key} by itself; is {current} meant?"
            yield manifest, Problem(field, message, (FieldEdit("replace", field, current),))


def _hard_and_soft(pods: PodSource) -> Iterator[Problem]:
    hard = {each.topology_key for _, each in pods.constraints() if each.when_unsatisfiable == DO_NOT_SCHEDULE}
    for path, each in pods.constraints():
        if each.when_unsatisfiable != DO_NOT_SCHEDULE and each.topology_key in hard:
            yield Problem(path, f"{each.topology_key} has a DoNotSchedule constraint as well")


def _replicas(given: LintInput) -> Iterator[tuple[Manifest, PodSource, int]]:
    """Yield workloads with their maximum number of replicas, if it is known and greater than 1."""
    for manifest, pods in given.sources:
        bounds = autoscaled(given, pods.item)
        replicas = pods.replicas if bounds is None else bounds.most
        if replicas is not None and replicas > 1:
            yield manifest, pods, replicas


def _never_binds(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for manifest, pods, replicas in _replicas(given):
        for path, each in pods.constraints():
            skew = each.max_skew
            if each.when_unsatisfiable == DO_NOT_SCHEDULE and skew is not None and skew >= replicas:
                message = f"{skew} allows all {replicas} replicas in one domain"
                yield manifest, Problem(f"{path}.maxSkew", message)


def _min_domains(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for manifest, pods, replicas in _replicas(given):
        for path, each in pods.constraints():
            if each.min_domains is not None and each.min_domains > replicas:
                there = f"{agreeing('are', replicas)} {counted(replicas, 'replica')}"
                message = f"{each.min_domains} domains are required, but there {there}"
                yield manifest, Problem(f"{path}.minDomains", message)


OF_ONE_POD = frozenset(
    {"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index"}
)
"""Labels whose value differs for each pod."""

_WELL_KNOWN = {
    "zone": "topology.kubernetes.io/zone",
    "region": "topology.kubernetes.io/region",
    "hostname": "kubernetes.io/hostname",
    "host": "kubernetes.io/hostname",
    "node": "kubernetes.io/hostname",
}
_NODE_LABELS = list(dict.fromkeys((*_WELL_KNOWN.values(), *RENAMED.values(), *RENAMED)))
_MISSPELT = 0.95
"""Minimum similarity, from 0 to 1, at which an unknown key counts as a misspelling of a known key."""


def _soft_min_domains(pods: PodSource) -> Iterator[Problem]:
    for path, each in pods.constraints():
        when = each.when_unsatisfiable
        if each.min_domains is not None and when is not None and when != DO_NOT_SCHEDULE:
            field = f"{path}.minDomains"
            yield Problem(
                field,
                f"the API server rejects minDomains with {when}; it needs DoNotSchedule",
                (FieldEdit("remove", field),),
            )


def _private_key(pods: PodSource) -> Iterator[Problem]:
    for path, each in pods.constraints():
        key = each.topology_key or ""
        if key and "/" not in key:
            known = _WELL_KNOWN.get(key.lower())
            hint = f": most clusters have {known}" if known else ", which not every cluster has"
            yield Problem(f"{path}.topologyKey", f"{key} is a private label key{hint}")


def _missing_key(pods: PodSource) -> Iterator[Problem]:
    added = ADDED_BY_CONTROLLERS.get(type(pods.item), frozenset())
    for path, each in pods.constraints():
        for index, key in enumerate(each.match_label_keys or ()):
            if key in pods.labels or key in added or pods.open_labels:
                continue
            field = f"{path}.matchLabelKeys[{index}]"
            fix = (
                (FieldEdit("replace", field, REVISION_HASH_LABEL),)
                if key == HASH and REVISION_HASH_LABEL in added
                else ()
            )
            message = f"the pods lack the label {key}, so kube-scheduler ignores the key"
            yield Problem(field, message + (f"; they have {REVISION_HASH_LABEL}" if fix else ""), fix)


def _key_of_one_pod(pods: PodSource) -> Iterator[Problem]:
    added = ADDED_BY_CONTROLLERS.get(type(pods.item), frozenset())
    for path, each in pods.constraints():
        for index, key in enumerate(each.match_label_keys or ()):
            if key in OF_ONE_POD & added:
                message = f"each pod has its own {key}, so it counts only itself"
                yield Problem(f"{path}.matchLabelKeys[{index}]", message)


def stateful_set(spec: str) -> str:
    """Return the StatefulSet counterpart of `deployment`."""
    kind = deployment(spec).replace("kind: Deployment", "kind: StatefulSet")
    return kind.replace("spec:\n  replicas", "spec:\n  serviceName: web\n  replicas", 1)


_LABELS = "labelSelector:\n  matchLabels: {app: web}\n"
_OWN = _LABELS + "matchLabelKeys: [pod-template-hash]"
_GOOD = Example(deployment(constraint(_OWN)))
_HARD = constraint(_OWN)
_SOFT = constraint(_OWN, when="ScheduleAnyway").removeprefix("topologySpreadConstraints:\n")

RULES = (
    Rule(
        id="beta-topology-key",
        sentence="A topologyKey is deprecated, or looks like a misspelt well-known label.",
        why="Nodes without the label are left out. If no node has it, every pod of a hard constraint stays pending.",
        link="https://kubernetes.io/docs/reference/labels-annotations-taints/",
        severity="warning",
        check=_beta_key,
        wrong=Example(deployment(constraint(_OWN, key="failure-domain.beta.kubernetes.io/zone"))),
        right=_GOOD,
        fix="Replaces it with the well-known label.",
    ),
    Rule(
        id="hard-and-soft",
        sentence="A topologyKey has both a hard and a soft constraint.",
        why=(
            "kubectl apply merges constraints by topologyKey alone, so a later change goes into the first of the two."
        ),
        link=f"{SPREAD}#spread-constraint-definition",
        severity="hint",
        check=of_pods(_hard_and_soft),
        wrong=Example(deployment(_HARD + _SOFT)),
        right=_GOOD,
    ),
    Rule(
        id="max-skew-never-binds",
        sentence="A hard constraint's maxSkew is at least the number of replicas.",
        why="All replicas fit in one domain, so the constraint has no effect.",
        link=f"{SPREAD}#spread-constraint-definition",
        severity="hint",
        check=_never_binds,
        wrong=Example(deployment(_HARD.replace("maxSkew: 1", "maxSkew: 6"))),
        right=_GOOD,
    ),
    Rule(
        id="min-domains-over-replicas",
        sentence="minDomains is larger than the number of replicas.",
        why="The replicas cannot use so many domains, and each domain takes at most maxSkew of them.",
        link=f"{SPREAD}#spread-constraint-definition",
        severity="hint",
        check=_min_domains,
        wrong=Example(deployment(_HARD + "  minDomains: 7\n")),
        right=Example(deployment(_HARD + "  minDomains: 3\n")),
    ),
    Rule(
        id="min-domains-soft",
        sentence="minDomains is set on a ScheduleAnyway constraint.",
        why=(
            "minDomains decides when the minimum counts as 0 for a hard constraint. The API server rejects it "
            "on a soft one."
        ),
        link=f"{SPREAD}#spread-constraint-definition",
        severity="error",
        check=of_pods(_soft_min_domains),
        wrong=Example(deployment(constraint(_OWN + "\nminDomains: 3", when="ScheduleAnyway"))),
        right=Example(deployment(constraint(_OWN + "\nminDomains: 3"))),
        fix="Removes minDomains.",
    ),
    Rule(
        id="private-topology-key",
        sentence="A topologyKey has no prefix.",
        why=(
            "No component sets such a label by itself. In a cluster without it the pods of a hard constraint "
            "stay pending."
        ),
        link=f"{SPREAD}#node-labels",
        severity="hint",
        check=of_pods(_private_key),
        wrong=Example(deployment(constraint(_OWN, key="zone"))),
        right=_GOOD,
    ),
    Rule(
        id="match-label-key-missing",
        sentence="matchLabelKeys names a label that the pods lack.",
        why="kube-scheduler ignores the key, so the constraint counts more pods than intended.",
        link=f"{SPREAD}#spread-constraint-definition",
        severity="warning",
        check=of_pods(_missing_key),
        wrong=Example(stateful_set(constraint(_OWN))),
        right=Example(stateful_set(constraint(_LABELS + "matchLabelKeys: [controller-revision-hash]"))),
        fix="Replaces pod-template-hash by controller-revision-hash, which pods of a StatefulSet have.",
    ),
    Rule(
        id="match-label-key-of-one-pod",
        sentence="matchLabelKeys names a label that differs between the pods.",
        why="Every pod counts only itself, so the constraint has no effect.",
        link=f"{SPREAD}#spread-constraint-definition",
        severity="warning",
        check=of_pods(_key_of_one_pod),
        wrong=Example(stateful_set(constraint(_LABELS + "matchLabelKeys: [statefulset.kubernetes.io/pod-name]"))),
        right=Example(stateful_set(constraint(_LABELS + "matchLabelKeys: [controller-revision-hash]"))),
    ),
)
