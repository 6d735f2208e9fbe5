"""Rolling updates of Deployments played through on the given nodes; which way to write them is right, the rules say."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from msgspec.structs import replace

from topospread.api.pod import Pod
from topospread.api.rollout import strategy_of
from topospread.api.workload import Deployment
from topospread.errors import InputError
from topospread.explanation.rehearsal import Rehearsal
from topospread.explanation.rolling_update import RollingUpdate
from topospread.simulation.placing import place_all
from topospread.simulation.run import Run, prepare

from .given import Given
from .pod_source import HASH
from .standing import Held, Standing, standings
from .trials import MOST_PODS, Trials, options_of, with_only


def stuck_rollouts(given: Given) -> Iterator[tuple[Standing, Held, int]]:
    """Deployments whose rolling update gets stuck because old pods count, and ends where they do not.

    Each with the first constraint that counts old pods, and how many new pods there are when it gets stuck.
    """
    if not given.gates.enabled("MatchLabelKeysInPodTopologySpread"):
        return
    trials = Trials(given)
    for standing in standings(given):
        item = standing.pods.item
        held = _counting_old_pods(standing)
        if held is None or not isinstance(item, Deployment):
            continue
        if trials.fit(standing, more=1) or not trials.look_closer(standing):
            continue
        try:
            stuck_at = _stuck_at(given, item)
            if stuck_at is not None and _stuck_at(given, _of_one_revision(item)) is None:
                yield standing, held, stuck_at
        except InputError:
            continue  # Validation says so.


def _counting_old_pods(standing: Standing) -> Held | None:
    """The first hard constraint that counts the pods of all revisions; None where no rolling update is to be tried."""
    replicas = standing.pods.replicas or 0
    if not 0 < replicas <= MOST_PODS or not isinstance(standing.pods.item, Deployment):
        return None
    return next(
        (
            held
            for held in standing.constraints
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


def _stuck_at(given: Given, item: Deployment) -> int | None:
    """How many new pods a rolling update comes to, None where it ends, or where there is none to play.

    Raises:
        InputError: an object that the API server would refuse.
    """
    strategy = strategy_of(item)
    run = prepare(with_only(given.inventory, [item]), options_of(given), with_spreads=False)
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
    return RollingUpdate(Rehearsal(run), workload, strategy, workload.template).play()


def _placed(run: Run) -> Iterator[Pod]:
    """The pods that a run has placed, as they are then."""
    for queued in run.queue:
        pod = queued.pod
        metadata = replace(pod.metadata, name=queued.name)
        node = run.outcomes[id(queued)].placement.node
        yield replace(pod, metadata=metadata, spec=replace(pod.spec, node_name=node))
