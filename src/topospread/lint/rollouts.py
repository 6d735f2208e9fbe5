"""Simulate rolling updates of Deployments on the given nodes, for the rules.

A rolling update can get stuck if constraints count old pods, or if anti-affinity keeps new pods off nodes with old
pods.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from topospread.api.meta import KubeObject
from topospread.api.pod import Pod
from topospread.api.rollout import strategy_of
from topospread.api.workload import Deployment
from topospread.errors import InputError
from topospread.lint.pod_source import keeping_apart
from topospread.simulation.placing import place_all
from topospread.simulation.run import Run, prepare
from topospread.why.repeated_simulation import RepeatedSimulation
from topospread.why.rolling_update import RollingUpdate

from .lint_input import LintInput
from .pod_source import HASH, pod_source
from .template_on_nodes import ConstraintOnNodes, TemplateOnNodes, templates_on_nodes
from .trial_placement import MOST_PODS, options_of, spend, trials_of, with_only


def stuck_rollouts(given: LintInput) -> Iterator[tuple[TemplateOnNodes, ConstraintOnNodes, int]]:
    """Yield Deployments whose rolling update gets stuck only because constraints count old pods.

    Each comes with the first such constraint, and the number of new pods when the update gets stuck.
    """
    if not given.gates.enabled("MatchLabelKeysInPodTopologySpread"):
        return
    trials = trials_of(given)
    for template in templates_on_nodes(given):
        item = template.pods.item
        held = _counting_old_pods(template)
        if held is None or not isinstance(item, Deployment):
            continue
        if trials.fit(template, more=1) or not trials.look_closer(template, simulations=2):
            continue
        try:
            stuck_at = _stuck_at(given, item)
            if stuck_at is not None and _stuck_at(given, _of_one_revision(item)) is None:
                yield template, held, stuck_at
        except InputError:
            continue  # The rule `validation` reports the error.


class BlockedRollout(NamedTuple):
    """A rolling update that gets stuck only because anti-affinity keeps new pods off nodes with old pods.

    Attributes:
        field: path of the required anti-affinity term.
        key: the term's topologyKey.
        replaced: number of new pods when the update gets stuck.
    """

    template: TemplateOnNodes
    field: str
    key: str
    replaced: int


def kept_off(given: LintInput) -> Iterator[BlockedRollout]:
    """Yield Deployments whose rolling update never completes because of required anti-affinity."""
    trials = trials_of(given)
    for template in templates_on_nodes(given):
        item, terms = template.pods.item, list(keeping_apart(template.pods))
        if not isinstance(item, Deployment) or not terms or not 0 < (template.pods.replicas or 0) <= MOST_PODS:
            continue
        if trials.fit(template, more=1) or not trials.look_closer(template, simulations=2):
            continue
        try:
            replaced = _stuck_at(given, item)
            if replaced is not None and _stuck_at(given, without_apart(item)) is None:
                yield BlockedRollout(template, terms[0][0], terms[0][1].topology_key, replaced)
        except InputError:
            continue  # The rule `validation` reports the error.


Owner = TypeVar("Owner", bound=KubeObject)


def without_apart(item: Owner) -> Owner:
    """Return the workload without anti-affinity against its own pods."""
    item = copy.deepcopy(item)
    pods = pod_source(item)
    affinity = pods.spec.affinity if pods is not None else None
    if pods is not None and affinity is not None and affinity.pod_anti_affinity is not None:
        own = {id(term) for _, term in keeping_apart(pods)}
        anti = affinity.pod_anti_affinity
        every = anti.required_during_scheduling_ignored_during_execution or ()
        anti.required_during_scheduling_ignored_during_execution = [each for each in every if id(each) not in own]
    return item


def _counting_old_pods(template: TemplateOnNodes) -> ConstraintOnNodes | None:
    """Return the first hard constraint that counts pods of all revisions; None if no update has to be simulated."""
    replicas = template.pods.replicas or 0
    if not 0 < replicas <= MOST_PODS or not isinstance(template.pods.item, Deployment):
        return None
    return next(
        (
            held
            for held in template.constraints
            if held.counts.hard and held.counts.counts_itself and HASH not in (held.given.match_label_keys or ())
        ),
        None,
    )


def _of_one_revision(item: Deployment) -> Deployment:
    """Return the Deployment with ``pod-template-hash`` in the matchLabelKeys of every constraint."""
    item = copy.deepcopy(item)
    spec = item.spec.template.spec
    spec.topology_spread_constraints = [
        each
        if each.label_selector is None or HASH in (each.match_label_keys or ())
        else replace(each, match_label_keys=[*(each.match_label_keys or ()), HASH])
        for each in spec.topology_spread_constraints or ()
    ]
    return item


def _stuck_at(given: LintInput, item: Deployment) -> int | None:
    """Return the number of new pods when a rolling update gets stuck; None if it completes or cannot be simulated.

    Raises:
        InputError: if the API server denies an object.
    """
    spend(given, item)
    strategy = strategy_of(item)
    run = prepare(with_only(given.inventory, item), options_of(given), with_spreads=False)
    place_all(run)
    workload = next((each for each in run.plan.workloads if each.kind == "Deployment"), None)
    if (
        strategy is None
        or workload is None
        or workload.template is None
        or any(outcome.pending for outcome in run.outcomes.values())
    ):
        return None
    workload.existing += _placed(run)
    run.queue.clear()
    return RollingUpdate(RepeatedSimulation(run), workload, strategy, workload.template).play()


def _placed(run: Run) -> Iterator[Pod]:
    """Yield the pods that a run placed, in their state at the end."""
    for queued in run.queue:
        pod = queued.pod
        metadata = replace(pod.metadata, name=queued.name)
        node = run.outcomes[id(queued)].placement.node
        yield replace(pod, metadata=metadata, spec=replace(pod.spec, node_name=node))
