"""Explain why evictions do not fix a constraint, and find changes that help, each simulated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from topospread.api.pod import Pod
from topospread.api.taints import with_taint_of_cordon
from topospread.controllers.revisions import TEMPLATE_HASH_LABEL
from topospread.plugins.interface import NotJudgedError
from topospread.scheduling.verdict import Verdict
from topospread.simulation.unknown import unjudged_of
from topospread.text import listed

from .goals import Goal, counts_of
from .result import MoveHelp, UnmetConstraint
from .search import code_of
from .trials import Movable, Trials, Tried

Evidence = Sequence[tuple[Movable, Tried]]
_TELLING = 3
"""Maximum number of returning pods to examine, to find one that returns only because of scores."""


def unmet_of(trials: Trials, stuck: Mapping[Goal, Evidence], refused: Mapping[str, str]) -> Iterator[UnmetConstraint]:
    """Yield the constraints that the plan does not fix.

    ``refused`` maps a pod key to the reason why it may not be evicted.
    """
    for goal in trials.unmet:
        evidence = stuck.get(goal, ())
        counts = counts_of(goal, trials.scheduler)
        every = [(one, other) for one, other in evidence if _returns(trials, goal, other)]
        returned, kept_out = _most_telling(trials, goal, every)
        pending = next((other for _, other in evidence if other.row is None), None)
        helps = [] if returned is None else list(_helps(trials, goal, returned[0]))
        yield UnmetConstraint(
            workload=str(goal.workload),
            topology_key=goal.topology_key,
            skew=counts.skew,
            highest=goal.highest,
            why=_why(goal, evidence, refused) if returned is None else _comes_back(trials, goal, *returned, kept_out),
            returns=returned is not None and pending is None,
            helps=tuple(each for each in helps if each.tried or not kept_out),
            unjudged=unjudged_of(_unjudged(trials, evidence)),
        )


def _unjudged(trials: Trials, evidence: Evidence) -> Iterator[tuple[NotJudgedError, str]]:
    """Yield the unmodelled parts that alone keep new pods pending, with the old pods."""
    for movable, tried in evidence:
        if tried.row is None:
            verdict = _verdict_without(trials, movable)
            yield from ((part, movable.key) for part in (verdict.unjudged if verdict.error else ()))


def _verdict_without(trials: Trials, movable: Movable) -> Verdict:
    """Return the verdict on the new pod without the old pod."""
    with trials.cluster.savepoint():
        trials.cluster.unbind(movable.key)
        return trials.scheduler.verdict(movable.successor, movable.key.partition("/")[2])


def _most_telling(trials: Trials, goal: Goal, returned: Evidence) -> tuple[tuple[Movable, Tried] | None, str]:
    """Return a pod that kube-scheduler puts back, preferably because of scores alone; None without one.

    Also return why filters keep it out of the domains that lack pods; "" if only scores do.
    """
    why = ""
    for each in returned[:_TELLING]:
        kept_out = _kept_out(trials, goal, each[0])
        if not kept_out:
            return each, ""
        why = why or kept_out
    return (returned[0], why) if returned else (None, "")


def _kept_out(trials: Trials, goal: Goal, movable: Movable) -> str:
    """Return why no node in the domains that lack pods accepts the replacement; "" if a node accepts it."""
    counts, nodes = counts_of(goal, trials.scheduler), trials.cluster.nodes
    receiving = set(counts.receiving().tolist())
    names = {nodes.names[row] for row in range(nodes.size) if code_of(counts, row) in receiving}
    verdict = _verdict_without(trials, movable)
    if verdict.error or not names.isdisjoint(verdict.feasible):
        return ""
    reasons = Counter(
        reason for name, rejection in verdict.rejected.items() if name in names for reason in rejection.reasons
    )
    domains = sorted(counts.counted.column.values[code] for code in receiving)
    said = ", ".join(f"{number} {reason.removeprefix('node(s) ')}" for reason, number in reasons.most_common())
    return f"no node of {listed(domains, 3)} takes it" + (f" ({said})" if said else "")


def _returns(trials: Trials, goal: Goal, tried: Tried) -> bool:
    """Return whether the new pod gets a node that does not help the goal."""
    return tried.row is not None and tried.after.get(goal, trials.distances[goal]) >= trials.distances[goal]


def _comes_back(trials: Trials, goal: Goal, movable: Movable, tried: Tried, kept_out: str) -> str:
    names = trials.cluster.nodes.names
    assert tried.row is not None, "it has a node"
    where = f"{names[tried.row]}{_in_domain(trials, goal, tried.row)}"
    again = "the same node" if tried.row == movable.row else where
    how = "the scores of kube-scheduler put" if not (goal.hard or kept_out) else "kube-scheduler puts"
    left = f"{names[movable.row]}{_in_domain(trials, goal, movable.row)}"
    return (
        f"an eviction does not help: if {movable.key} leaves {left}, "
        f"{how} its replacement on {again}{', because ' if kept_out else ''}{kept_out}"
    )


def _in_domain(trials: Trials, goal: Goal, row: int) -> str:
    node = trials.cluster.nodes.nodes[row]
    name = "" if node is None else node.labels.get(goal.topology_key, "")
    return f" ({name})" if name and name != trials.cluster.nodes.names[row] else ""


def _why(goal: Goal, evidence: Evidence, refused: Mapping[str, str]) -> str:
    if not evidence:
        own = {f"{each.namespace}/{each.name}" for each in goal.workload.existing}
        budget = next((why for key, why in refused.items() if key in own), "")
        return (
            f"no surplus pod may be evicted: {budget}"
            if budget
            else "no surplus pod may be evicted: no controller would replace it"
        )
    movable, tried = evidence[0]
    if tried.row is None:
        return f"the replacement of {movable.key} finds no node: {tried.message}"
    if tried.differs:
        return f"the node of {movable.key}'s replacement depends on whether the old pod has ended by then"
    return f"evicting {movable.key} would make another constraint worse, at least temporarily"


def _helps(trials: Trials, goal: Goal, movable: Movable) -> Iterator[MoveHelp]:
    hard = None if goal.hard else _hardened(movable.successor, goal)
    if hard is not None:
        tried = _helped(trials, goal, trials.look(movable, hard))
        says = f"whenUnsatisfiable: DoNotSchedule for {goal.topology_key}"
        yield MoveHelp("hard", f"{says} {'lets it go elsewhere' if tried else 'would leave it pending'}", tried)
    counts = counts_of(goal, trials.scheduler)
    names = [counts.counted.column.values[code] for code in counts.giving().tolist()]
    domains = listed(sorted(names), 3)
    if _helped(trials, goal, _look_while_cordoned(trials, goal, movable)):
        yield MoveHelp("cordon", f"cordon the nodes of {domains} while the pods move, and uncordon them after", True)
    hashes = {each.labels.get(TEMPLATE_HASH_LABEL) for each in goal.workload.existing}
    if len(hashes) > 1 and TEMPLATE_HASH_LABEL not in goal.constraint.selector.without_repeats():
        says = (
            f"matchLabelKeys: [{TEMPLATE_HASH_LABEL}] counts each revision separately, so that rollouts leave no skew"
        )
        yield MoveHelp("matchLabelKeys", says, False)


def _helped(trials: Trials, goal: Goal, tried: Tried) -> bool:
    return tried.row is not None and tried.after.get(goal, trials.distances[goal]) < trials.distances[goal]


def _hardened(pod: Pod, goal: Goal) -> Pod | None:
    """Return the pod with the constraint made hard; None if the pod has no such constraint itself."""
    own = list(pod.spec.topology_spread_constraints or ())
    position = goal.constraint.position
    if goal.constraint.origin != "pod" or position >= len(own):
        return None
    own[position] = replace(own[position], when_unsatisfiable="DoNotSchedule", max_skew=max(goal.highest, 1))
    return replace(pod, spec=replace(pod.spec, topology_spread_constraints=own))


def _look_while_cordoned(trials: Trials, goal: Goal, movable: Movable) -> Tried:
    counts = counts_of(goal, trials.scheduler)
    giving = set(counts.giving().tolist())
    cluster = trials.cluster
    rows = [row for row in range(cluster.nodes.size) if code_of(counts, row) in giving]
    with cluster.savepoint():
        for row in rows:
            node = cluster.nodes.nodes[row]
            if node is not None:
                cluster.put_node(with_taint_of_cordon(replace(node, spec=replace(node.spec, unschedulable=True))))
        return trials.look(movable)
