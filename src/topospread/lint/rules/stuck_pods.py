"""Rules that need a simulation: the pods are placed on the given nodes."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from topospread.api.well_known_labels import HOSTNAME
from topospread.api.workload import CronJob
from topospread.errors import InputError
from topospread.lint.examples import constraint, deployment
from topospread.lint.lint_input import LintInput, LintSubject
from topospread.lint.pod_source import keeping_apart, pod_source
from topospread.lint.problem import Problem
from topospread.lint.rule import Example, Rule

from .selectors import SPREAD

if TYPE_CHECKING:  # the engine is imported on demand: without nodes it is not needed
    from topospread.lint.template_on_nodes import ConstraintOnNodes, TemplateOnNodes
    from topospread.simulation.result import PendingGroup

_MOST_CONSTRAINTS = 16
"""Up to this many hard constraints, a workload is simulated without each of them. The cost grows with the cube."""


def _deadlocks(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    from topospread.lint.template_on_nodes import templates_on_nodes
    from topospread.lint.trial_placement import trials_of

    candidates = [each for each in templates_on_nodes(given) if _may_deadlock(each)]
    for template, pending in _pending(given, candidates):
        hard = _hard(template)
        if not trials_of(given).look_closer(template, simulations=len(hard)):
            continue
        guilty = [held for held in hard if not _pending_without(given, template, held)]
        if len(guilty) > 1:
            keys = " and ".join(held.counts.topology_key for held in guilty)
            wanted = f"{pending} of {template.pods.replicas} pods stay" if pending > 1 else "a pod stays"
            message = (
                f"{wanted} pending on these nodes: the constraints over {keys} block each other; "
                "without either one, all pods fit"
            )
            yield template.manifest, Problem(f"{template.pods.path}.topologySpreadConstraints", message)


def _hard(template: TemplateOnNodes) -> list[ConstraintOnNodes]:
    return [held for held in template.constraints if held.counts.hard]


def _may_deadlock(template: TemplateOnNodes) -> bool:
    from topospread.lint.trial_placement import MOST_PODS

    replicas = template.pods.replicas
    hard = _hard(template)
    several = len(hard) <= _MOST_CONSTRAINTS and len({held.counts.topology_key for held in hard}) > 1
    return several and not isinstance(template.pods.item, CronJob) and (replicas is None or replicas <= MOST_PODS)


def _pending(
    given: LintInput, candidates: Sequence[TemplateOnNodes], plugin: str = "PodTopologySpread"
) -> Iterator[tuple[TemplateOnNodes, int]]:
    """Yield workloads with pods that a plugin keeps pending, and their number. Each workload is placed alone."""
    from topospread.lint.trial_placement import simulated, trials_of

    trials = trials_of(given)
    for each in candidates:
        if trials.fit(each) or not trials.look_closer(each):
            continue
        try:
            pending = _kept_by(plugin, simulated(given, each.pods.item))
        except InputError:
            continue  # The rule `validation` reports the error.
        if pending:
            yield each, pending


def _kept_by(plugin: str, groups: Iterable[PendingGroup]) -> int:
    """Return the number of pending pods for which the plugin rejected a node."""
    return sum(
        len(group.pods)
        for group in groups
        if group.verdict is not None and any(each.plugin == plugin for each in group.verdict.rejections)
    )


def _pending_without(given: LintInput, template: TemplateOnNodes, left_out: ConstraintOnNodes) -> bool:
    """Return whether pods stay pending even without one of the constraints."""
    item = copy.deepcopy(template.pods.item)
    changed = pod_source(item)
    if changed is None:
        return True
    own = changed.spec.topology_spread_constraints or []
    changed.spec.topology_spread_constraints = [
        each for position, each in enumerate(own) if position != left_out.counts.position
    ]
    from topospread.lint.trial_placement import simulated

    try:
        return bool(simulated(given, item))
    except InputError:
        return True


def _stuck(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    from topospread.lint.rollouts import stuck_rollouts

    for template, held, replaced in stuck_rollouts(given):
        so_many = f"{replaced} of {template.pods.replicas} pods" if replaced else "no pod"
        message = f"a rolling update gets stuck on these nodes with {so_many} replaced: the old pods count as well"
        yield template.manifest, Problem(held.path, message)


def _kept_off(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    from topospread.lint.rollouts import kept_off

    for found in kept_off(given):
        replicas = found.template.pods.replicas
        so_many = f"{found.replaced} of {replicas} pods" if found.replaced else "no pod"
        message = f"a rolling update gets stuck on these nodes with {so_many} replaced: no {found.key} is free for a "
        message += "new pod next to the old pods, and the strategy deletes no old pod first"
        yield found.template.manifest, Problem(found.field, message)


def _too_many(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    from topospread.lint.rollouts import without_apart
    from topospread.lint.template_on_nodes import templates_on_nodes
    from topospread.lint.trial_placement import MOST_PODS, simulated, trials_of

    apart = [(each, list(keeping_apart(each.pods))) for each in templates_on_nodes(given)]
    candidates = {id(each): terms for each, terms in apart if terms and (each.pods.replicas or 0) <= MOST_PODS}
    asked = [each for each, _ in apart if id(each) in candidates and not isinstance(each.pods.item, CronJob)]
    for template, pending in _pending(given, asked, "InterPodAffinity"):
        if not trials_of(given).look_closer(template):
            continue
        try:
            guilty = not simulated(given, without_apart(template.pods.item))
        except InputError:
            continue  # The rule `validation` reports the error.
        if guilty:
            field, term = candidates[id(template)][0]
            still = f"{pending} of {template.pods.replicas} pods stay" if template.pods.replicas else f"{pending} stay"
            message = f"{still} pending on these nodes: the term lets one pod into each {term.topology_key} and no more"
            yield template.manifest, Problem(field, message)


_OWN = "labelSelector:\n  matchLabels: {app: web}\nmatchLabelKeys: [pod-template-hash]"
_ZONES = constraint(_OWN)
_BY_NODE = constraint(_OWN, key=HOSTNAME).removeprefix("topologySpreadConstraints:\n")
_UNEVEN = "zones=2,nodes=3+1"
_ALL_REVISIONS = constraint("labelSelector:\n  matchLabels: {app: web}", key=HOSTNAME)
_OF_ONE_REVISION = constraint(_OWN, key=HOSTNAME)
_ZONES_TOO = constraint("labelSelector:\n  matchLabels: {app: web}", when="ScheduleAnyway").removeprefix(
    "topologySpreadConstraints:\n"
)
_APART = f"""\
affinity:
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
    - topologyKey: {HOSTNAME}
      labelSelector: {{matchLabels: {{app: web}}}}
"""
_GOING_FIRST = deployment(_APART, replicas=3).replace(
    "  replicas: 3\n", "  replicas: 3\n  strategy:\n    rollingUpdate: {maxSurge: 0, maxUnavailable: 1}\n"
)
_THREE_NODES = "zones=3,nodes=3"
_CONTROL_PLANE = "nodes=4,taint=node-4:node-role.kubernetes.io/control-plane=:NoSchedule"

RULES = (
    Rule(
        id="constraints-deadlock",
        sentence="The hard constraints of a pod cannot all hold on these nodes.",
        why=(
            "If zones have different numbers of nodes, pods cannot be spread evenly over zones and over nodes at the "
            "same time. The zone constraint then admits only a zone whose nodes the hostname constraint rejects, so "
            "the pod stays pending."
        ),
        link=f"{SPREAD}#example-conflicting-topologyspreadconstraints",
        severity="error",
        check=_deadlocks,
        wrong=Example(deployment(_ZONES + _BY_NODE), cluster=_UNEVEN),
        right=Example(deployment(_ZONES + _BY_NODE.replace("DoNotSchedule", "ScheduleAnyway")), cluster=_UNEVEN),
        needs="simulation",
    ),
    Rule(
        id="rollout-gets-stuck",
        sentence="A rolling update gets stuck on these nodes.",
        why=(
            "Old pods count during the update. If a domain that takes no pods keeps the minimum low, no node takes the "
            "first new pod. No old pod is deleted until the new pod is ready. With pod-template-hash in "
            "matchLabelKeys, only pods of one revision count."
        ),
        link=f"{SPREAD}#spread-constraint-definition",
        severity="warning",
        check=_stuck,
        wrong=Example(deployment(_ALL_REVISIONS, replicas=3), cluster=_CONTROL_PLANE),
        right=Example(deployment(_OF_ONE_REVISION, replicas=3), cluster=_CONTROL_PLANE),
        needs="simulation",
    ),
    Rule(
        id="anti-affinity-stops-rollout",
        sentence="Required anti-affinity stops a rolling update on these nodes.",
        why=(
            "If every node has a pod, no node takes the surge pod. With maxUnavailable 0, no old pod is deleted until "
            "the surge pod is ready, so the rollout stops. The default, 25 %, is 0 for up to three replicas."
        ),
        link="https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment",
        severity="warning",
        check=_kept_off,
        wrong=Example(deployment(_APART, replicas=3), cluster=_THREE_NODES),
        right=Example(_GOING_FIRST, cluster=_THREE_NODES),
        needs="simulation",
    ),
    Rule(
        id="anti-affinity-over-nodes",
        sentence="There are more pods with required anti-affinity than nodes that take them.",
        why=(
            "Each further replica stays pending, and a rollout never finishes. A hard constraint over the "
            "hostname spreads the pods as widely, and accepts more pods than nodes."
        ),
        link=f"{SPREAD}#comparison-with-podaffinity-podantiaffinity",
        severity="error",
        check=_too_many,
        wrong=Example(deployment(_APART, replicas=4), cluster=_THREE_NODES),
        right=Example(deployment(_ALL_REVISIONS + _ZONES_TOO, replicas=4), cluster=_THREE_NODES),
        needs="simulation",
    ),
)
