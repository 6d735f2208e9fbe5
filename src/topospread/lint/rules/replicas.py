"""Rules about the number of replicas: enough to be spread, also at an autoscaler's minimum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.api.workload import Deployment, HorizontalPodAutoscaler
from topospread.controllers.autoscaling import target_of
from topospread.lint.examples import constraint, deployment
from topospread.lint.lint_input import LintInput, LintSubject
from topospread.lint.pod_source import HASH, WITH_REPLICAS, PodSource, explicit_replicas, keeping_apart, selects_itself
from topospread.lint.problem import FieldEdit, Problem
from topospread.lint.related_objects import autoscaled
from topospread.lint.rule import Example, Rule

from .disruption_budgets import size_of
from .selectors import SPREAD
from .shared_selectors import counts_of_others, listed_defaults

_AUTOSCALING = "https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/"


def _one_replica(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
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


def _least_under_domains(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
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
    """Yield (wanted number of domains, topology key) of each constraint; 0 domains if unknown."""
    for path, each in pods.constraints():
        key = each.topology_key or ""
        there = known.get(f"{type(pods.item).__name__} {pods.item.namespace}/{pods.item.name}", {}).get(path, 0)
        yield max(there, each.min_domains or 0), key


def _domains(given: LintInput) -> dict[str, dict[str, int]]:
    """Return object → path of a constraint → number of eligible domains. Hostname constraints are excluded."""
    if not given.nodes:
        return {}
    from topospread.lint.template_on_nodes import templates_on_nodes

    return {
        template.manifest.label: {
            held.path: len(held.counts.domains) for held in template.constraints if held.counts.topology_key != HOSTNAME
        }
        for template in templates_on_nodes(given)
    }


_OWN = "labelSelector:\n  matchLabels: {app: web}\nmatchLabelKeys: [pod-template-hash]"
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


def _not_spread(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    zones = {each.labels.get(ZONE) for each in given.nodes}
    for manifest, pods in given.sources:
        replicas, key = size_of(given, pods), given.spread_over
        if replicas is None or replicas < given.spread_from or not isinstance(pods.item, WITH_REPLICAS):
            continue
        over = _spread_over(given, pods)
        if key in over if key else over:
            continue
        domain = f" over {key}: one domain" if key else ": one node or zone"
        message = f"{replicas} replicas and nothing that spreads them{domain} may hold all of them"
        # Without nodeTaintsPolicy: Honor, a hard constraint keeps the pods of a lost zone pending.
        honors = given.gates.enabled("NodeInclusionPolicyInPodTopologySpread")
        hard = len(zones) > 1 and None not in zones and honors
        fix = _spreading(given, pods, hard=hard) if key in ("", ZONE) else ()
        if fix:
            why = f"the nodes of --on are in {len(zones)} zones" if hard else _why_soft(given, honors=honors)
            message += f"; --fix adds a {'hard' if hard else 'soft'} constraint over zones, because {why}"
        yield manifest, Problem("", message, fix)


def _spread_over(given: LintInput, pods: PodSource) -> set[str]:
    """Return the topology keys of the pods' constraints, or defaults, and of anti-affinity to each other.

    If there is such anti-affinity, "" is also in the result.
    """
    constraints = pods.spec.topology_spread_constraints or listed_defaults(given, pods)
    found = {each.topology_key or "" for each in constraints}
    own = {term.topology_key for _, term in keeping_apart(pods)}
    apart = pods.spec.affinity.pod_anti_affinity if pods.spec.affinity is not None else None
    for each in (apart.preferred_during_scheduling_ignored_during_execution if apart is not None else None) or ():
        if each.pod_affinity_term is not None and selects_itself(each.pod_affinity_term, pods):
            own.add(each.pod_affinity_term.topology_key)
    return found | own | ({""} if own else set())


def _why_soft(given: LintInput, *, honors: bool) -> str:
    if not given.nodes:
        return "no nodes are given"
    return "not every node is in one of several zones" if honors else "nodeTaintsPolicy is off in this version"


def _spreading(given: LintInput, pods: PodSource, *, hard: bool) -> tuple[FieldEdit, ...]:
    """Return the edit that spreads pods over zones: hard if every node has a zone and there are several."""
    selector = getattr(pods.item.spec, "selector", None)  # type: ignore[attr-defined]
    labels = selector if isinstance(selector, dict) else getattr(selector, "match_labels", None) or pods.labels
    if not labels or pods.spec.topology_spread_constraints is not None:
        return ()
    made: dict[str, Any] = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        **({"nodeTaintsPolicy": "Honor"} if hard else {}),
        "labelSelector": {"matchLabels": dict(labels)},
    }
    if isinstance(pods.item, Deployment) and given.gates.enabled("MatchLabelKeysInPodTopologySpread"):
        made["matchLabelKeys"] = [HASH]
    return (FieldEdit("add", f"{pods.path}.topologySpreadConstraints", [made]),)


RULES = (
    Rule(
        id="no-spread",
        sentence="A workload of several replicas is not spread.",
        why=(
            "kube-scheduler's own defaults are soft, so one node or zone may hold all replicas, and its loss takes all "
            "of them. Three replicas are several; the setting `spread-from` changes that, and `spread-over` names the "
            "topology key that a constraint or anti-affinity must have."
        ),
        link=f"{SPREAD}#motivation",
        severity="hint",
        check=_not_spread,
        wrong=Example(deployment("", replicas=3)),
        right=Example(deployment(constraint(_OWN, when="ScheduleAnyway"), replicas=3)),
        needs="manifests",
        fix=(
            "Adds a constraint over zones: hard with `nodeTaintsPolicy: Honor` if nodes are given and each is in one "
            "of several zones, else soft."
        ),
    ),
    Rule(
        id="one-replica-to-spread",
        sentence="A workload with a spread constraint has one replica.",
        why="One pod is always in one domain, so the constraint has no effect.",
        link=f"{SPREAD}#motivation",
        severity="hint",
        check=_one_replica,
        wrong=Example(deployment(constraint(_OWN), replicas=1)),
        right=Example(deployment(constraint(_OWN), replicas=3)),
        needs="manifests",
    ),
    Rule(
        id="autoscaler-under-domains",
        sentence="An autoscaler may leave fewer replicas than there are domains.",
        why="After a scale-down some domains are empty, so the loss of another domain takes more pods.",
        link=f"{_AUTOSCALING}#how-does-a-horizontalpodautoscaler-work",
        severity="hint",
        check=_least_under_domains,
        wrong=Example(_SCALED + _AUTOSCALER.format(least=2), cluster="zones=3,nodes=6"),
        right=Example(_SCALED + _AUTOSCALER.format(least=3), cluster="zones=3,nodes=6"),
        needs="manifests",
    ),
)
