"""Rolling updates of Deployments played through on the given nodes; which way to write them is right, the rules say.

They stop where old pods are counted by a constraint, or keep new ones off their nodes.
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
from topospread.explanation.repeated_simulation import RepeatedSimulation
from topospread.explanation.rolling_update import RollingUpdate
from topospread.linting.pod_source import keeping_apart
from topospread.simulation.placing import place_all
from topospread.simulation.run import Run, prepare

from .lint_input import LintInput
from .pod_source import HASH, pod_source
from .template_on_nodes import ConstraintOnNodes, TemplateOnNodes, templates_on_nodes
from .trial_placement import MOST_PODS, options_of, spend, trials_of, with_only


def stuck_rollouts(given: LintInput) -> Iterator[tuple[TemplateOnNodes, ConstraintOnNodes, int]]:
    """Deployments whose rolling update gets stuck because old pods count, and ends where they do not.

    Each with the first constraint that counts old pods, and how many new pods there are when it gets stuck.
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
            continue  # Validation says so.


class KeptOff(NamedTuple):
    """A rolling update that gets stuck as old pods keep new ones off, and ends where they do not.

    Attributes:
        field: path of the term of required anti-affinity.
        key: its topologyKey.
        replaced: how many new pods there are when it gets stuck.
    """

    template: TemplateOnNodes
    field: str
    key: str
    replaced: int


def kept_off(given: LintInput) -> Iterator[KeptOff]:
    """Deployments whose rolling update never ends because of required anti-affinity."""
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
                yield KeptOff(template, terms[0][0], terms[0][1].topology_key, replaced)
        except InputError:
            continue  # Validation says so.


Owner = TypeVar("Owner", bound=KubeObject)


def without_apart(item: Owner) -> Owner:
    """The workload with pods that do not keep apart from their like."""
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
    """The first hard constraint that counts the pods of all revisions; None where no rolling update is to be tried."""
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
    """The Deployment with ``pod-template-hash`` among the matchLabelKeys of every constraint."""
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
    """Return how many new pods a rolling update reaches; None if it ends, or if there is none to play.

    Raises:
        InputError: an object that the API server would refuse.
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
    """The pods that a run has placed, as they are then."""
    for queued in run.queue:
        pod = queued.pod
        metadata = replace(pod.metadata, name=queued.name)
        node = run.outcomes[id(queued)].placement.node
        yield replace(pod, metadata=metadata, spec=replace(pod.spec, node_name=node))
