"""Turn kube-scheduler's verdict on a pod into causes: why it is pending.

`causes_of` reads the pending pods of a simulation. `causes_of_pod` reads the explanation of one pod and names more
nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from topospread.admission.tolerations import NOT_READY, UNREACHABLE
from topospread.answer import Cause
from topospread.api.well_known_labels import HOSTNAME
from topospread.controllers.planned import is_refusal
from topospread.text import one_line

from .cause_codes import code_of
from .words import agreeing, counted, in_order, joined, listed, noun_of

if TYPE_CHECKING:
    from topospread.plugins.spread_arithmetic import ConstraintArithmetic, Domain
    from topospread.scheduling.verdict import Verdict
    from topospread.simulation.result import PendingGroup
    from topospread.why.result import (
        ConstraintTable,
        CoreObstacle,
        Explanation,
        NearestNode,
        NodeObstacle,
        NodeScores,
    )

SPREAD = "PodTopologySpread"
_RESOURCES = "NodeResourcesFit"
_MOST = 4
_NAMES = 3
_WAITS = {
    "waits for its scheduling gates": "scheduling-gate",
    "not created": "not-created",
}
_FULL = "spread-domain-full"
_OF_SPREAD = frozenset({_FULL, "zone-gone-counts", "min-domains", "topology-key-missing"})


def causes_of(group: PendingGroup) -> tuple[Cause, ...]:
    """Return up to four causes of pending pods; empty if topospread cannot judge them."""
    verdict = group.verdict
    if verdict is None or verdict.error or not verdict.nodes or verdict.pre_filter:
        return _without_filters(group.message, verdict)
    if group.unmatched:  # kube-scheduler names only the first plugin that rejects a node, for example a taint
        says = f"no node has {joined(group.unmatched)}"
        return (Cause(code="label-missing", says=says, nodes=len(verdict.nodes)),)
    reason = next((each.reasons for each in verdict.rejections if each.plugin == SPREAD), ())
    binding = [
        (arithmetic, domains)
        for arithmetic, domains in group.outcomes
        if reason
        and (not domains or any(not each.domain.allowed and _rejects(each.rejected, reason) for each in domains))
    ]
    causes = []
    for arithmetic, domains in binding:
        closed = {each.domain.name: all_tainted(each.rejected, each.domain.nodes) for each in domains}
        causes.append(_of_constraint(arithmetic, [each.domain for each in domains], closed))
    if binding:
        admitted = [each for each in binding[0][1] if each.domain.allowed]
        counts: dict[str, int] = {}
        for outcome in admitted:
            for each, nodes in outcome.rejected.items():
                counts[each] = counts.get(each, 0) + nodes
        scope = sum(each.domain.nodes for each in admitted)
    else:
        counts = _rejected_nodes(verdict)
        scope = len(verdict.nodes)
    plugin_of = {reason: each.plugin for each in verdict.rejections for reason in each.reasons}
    rejections = [(plugin_of.get(each, ""), each, nodes) for each, nodes in counts.items()]
    rest = list(_of_reasons((each for each in rejections if not binding or each[0] != SPREAD), scope, verdict))
    return _chosen(causes, _explained(rest, verdict), "any-of" if len(binding) == 1 else "")


def causes_of_pod(found: Explanation) -> tuple[Cause, ...]:
    """Return up to four causes for an explained pod; empty if topospread cannot judge it."""
    verdict = found.verdict
    if verdict is None or verdict.error or not verdict.nodes or verdict.pre_filter:
        return _without_filters(found.message, verdict)
    hard = [each for each in found.constraints if each.arithmetic.hard]
    alone = any(each.plugin == SPREAD and each.alone for each in found.plugins)
    binding = [
        each
        for each in hard
        if any(not row.allowed and row.open for row in each.domains)
        or not (each.domains or _is_narrowed(each.arithmetic))
    ]
    causes = [_of_table(each) for each in binding]
    if alone and not binding:
        causes += islice(_without_label(hard), 1)
    scope = sum(1 + each.alike for each in found.admitted)
    rest = list(_of_nodes(found, scope, everywhere=not causes))
    sets = {tuple(_code(each) for each in _told(near.obstacles)) for near in found.admitted}
    together: Literal["", "all-of", "any-of"] = ""
    if len(binding) < 2 and all(len(each) == 1 for each in sets):
        together = "any-of"
    elif len(sets) == 1 and not causes:
        together = "all-of"
    return _chosen(causes, _explained(rest, verdict), together)


def _explained(causes: Sequence[Cause], verdict: Verdict) -> list[Cause]:
    """Return the causes with the explanation that kube-scheduler's message lacks."""
    if not verdict.because:
        return [*causes]
    from topospread.plugins.dynamic_resources.claims import NOT_ALLOCATED

    words, because = f"({NOT_ALLOCATED})", f"({one_line(verdict.because)})"
    return [replace(each, says=each.says.replace(words, because)) for each in causes]


def core_of(found: Explanation) -> tuple[Cause, ...]:
    """Return a smallest set of obstacles that together reject every node."""
    return tuple(
        Cause(
            code="spread-domain-full" if each.topology_key else code_of(each.plugin, (each.reason,)),
            says=f"{counted(each.nodes, 'node')} {agreeing(_core_words(each), each.nodes)}",
            nodes=each.nodes,
            objects=(each.topology_key,) if each.topology_key else (),
            together="all-of" if len(found.core) > 1 else "",
        )
        for each in found.core
    )


def _core_words(each: CoreObstacle) -> str:
    if each.topology_key:
        return f"are excluded by maxSkew {each.max_skew} over {noun_of(each.topology_key)}s"
    return _many(each.plugin, (each.reason,))


def why_words(causes: Sequence[Cause]) -> str:
    """Return causes as one sentence without a full stop."""
    # Causes of spread lead. A full domain with a number of nodes is listed with the other rejected nodes instead.
    leading = [each.code in _OF_SPREAD and (each.code, each.nodes is None) != (_FULL, False) for each in causes]
    spread = [each.says for each, leads in zip(causes, leading, strict=True) if leads]
    nodes = [each.says for each, leads in zip(causes, leading, strict=True) if not leads]
    if any(each.code == "zone-gone-counts" for each in causes):
        nodes = [each for each in nodes if not each.endswith((_TAINT, f"nodes {_NOT_READY}"))]
        return "; ".join(filter(None, (", and ".join(spread), _clauses(nodes))))
    if spread and nodes:
        return f"{', and '.join(spread)}, where {_clauses(nodes)}"
    return ", and ".join(spread) or _clauses(nodes)


def _clauses(says: Sequence[str]) -> str:
    """Return clauses with a comma before each `and` between them, because a clause may list nodes with `and`."""
    return f"{', '.join(says[:-1])}, and {says[-1]}" if len(says) > 1 else "".join(says)


def _chosen(
    constraints: Sequence[Cause], nodes: Sequence[Cause], together: Literal["", "all-of", "any-of"]
) -> tuple[Cause, ...]:
    found = [*constraints[: _MOST - bool(nodes)], *nodes]
    if len(found) > _MOST:
        others = found[_MOST - 1 :]
        rest = sum(each.nodes or 0 for each in others)
        named = "; ".join(each.says for each in others[:_NAMES])
        says = f"{counted(rest, 'node')} {agreeing('are rejected for other reasons', rest)} ({named})"
        found[_MOST - 1 :] = [Cause(code="filter", says=says, nodes=rest)]
    return tuple(replace(each, together=together if len(found) > 1 else "") for each in found)


def _without_filters(message: str, verdict: Verdict | None) -> tuple[Cause, ...]:
    """Return the cause of a pod that was rejected before any filter ran."""
    if verdict is None:
        otherwise = "refused" if is_refusal(message) else "filter"
        code = next((code for begin, code in _WAITS.items() if message.startswith(begin)), otherwise)
        return (Cause(code=code, says=message),) if message else ()
    if verdict.error:
        return ()
    if not verdict.nodes:
        return (Cause(code="no-nodes", says="the cluster has no node", nodes=0),)
    rejection = verdict.rejections[0] if verdict.rejections else None
    code = code_of(rejection.plugin, rejection.reasons) if rejection is not None else "filter"
    says = one_line(verdict.pre_filter) + (f" ({one_line(verdict.because)})" if verdict.because else "")
    return (Cause(code=code, says=says, nodes=len(verdict.nodes)),)


def _of_table(table: ConstraintTable) -> Cause:
    closed = {row.name: not row.open and all_tainted(row.rejected, row.nodes) for row in table.domains}
    return _of_constraint(table.arithmetic, table.arithmetic.domains, closed)


def limit_words(arithmetic: ConstraintArithmetic) -> str:
    """Return the maxSkew of a constraint, marked if it is a default of the configuration or built in."""
    return f"{arithmetic.max_skew}{'' if arithmetic.origin == 'pod' else ' (default)'}"


def _of_constraint(arithmetic: ConstraintArithmetic, domains: Iterable[Domain], closed: Mapping[str, bool]) -> Cause:
    """Return the cause for a constraint.

    Args:
        closed: domain → whether all its nodes are tainted.
    """
    noun, key, limit = noun_of(arithmetic.topology_key), arithmetic.topology_key, limit_words(arithmetic)
    domains = list(domains)
    if not domains:
        why = ", ".join(f"{len(each.nodes)}: {each.reason}" for each in arithmetic.left_out)
        says = f"no node counts for maxSkew {limit} over {key}" + (f" ({why})" if why else "")
        return Cause(code="topology-key-missing", says=says, objects=(key,))
    admitted = in_order(each.name for each in domains if each.allowed)
    refused = [each for each in domains if not each.allowed]
    nearest = min(refused, key=lambda each: each.skew)
    least = "" if len({each.skew for each in refused}) == 1 else "at least "
    own = arithmetic.counts_itself
    sums = f"{nearest.matching} + {own} − {arithmetic.minimum} = {nearest.skew} > maxSkew {limit}"
    to = _domains(admitted)
    if arithmetic.lacks_domains:
        few = f"{counted(len(domains), noun)} {'is' if len(domains) == 1 else 'are'} fewer than minDomains"
        says = f"{few} {arithmetic.min_domains}, so the minimum counts as 0; "
        if admitted:
            says += f"maxSkew {limit} admits only {to}"
        else:
            says += f"in every {noun} the skew would be {least}{sums}"
        return Cause(code="min-domains", says=says, objects=tuple(admitted))
    gone = [each for each in domains if each.allowed and not each.matching and closed.get(each.name)]
    if gone and len(gone) == len(admitted):
        verb = "takes no pod, but its" if len(gone) == 1 else "take no pod, but their"
        says = (
            f"{listed(admitted, _NAMES)} {verb} 0 pods are still the minimum (nodeTaintsPolicy: Ignore); "
            f"in every other {noun} the skew would be {least}{sums}"
        )
        return Cause(code="zone-gone-counts", says=says, objects=tuple(admitted))
    says = f"maxSkew {limit} over {noun}s admits only {to}"
    return Cause(code="spread-domain-full", says=says, objects=tuple(admitted))


def _domains(domains: Sequence[str]) -> str:
    return joined(domains) if 0 < len(domains) <= _NAMES + 1 else listed(domains, _NAMES)


def _is_narrowed(arithmetic: ConstraintArithmetic) -> bool:
    """Return whether no node counts for a constraint because none matches the pod's node selector or affinity."""
    return bool(arithmetic.left_out) and all("nodeAffinityPolicy" in each.reason for each in arithmetic.left_out)


def _without_label(hard: Iterable[ConstraintTable]) -> Iterator[Cause]:
    """Yield a cause for nodes that were rejected only because they lack a topology key."""
    for table in hard:
        for each in table.arithmetic.left_out:
            if each.reason.startswith("no label "):
                verb = "has" if len(each.nodes) == 1 else "have"
                says = f"{_subject(each.nodes, len(each.nodes))} {verb} {each.reason}"
                names = tuple(in_order(each.nodes)) if len(each.nodes) <= _NAMES else ()
                yield Cause(code="topology-key-missing", says=says, nodes=len(each.nodes), objects=names)


def _rejected_nodes(verdict: Verdict) -> dict[str, int]:
    """Return reason → number of nodes that were rejected first for this reason."""
    counts: dict[str, int] = {}
    for number in verdict.blame.tolist():
        if number >= 0:
            for reason in verdict.rejections[number].reasons:
                counts[reason] = counts.get(reason, 0) + 1
    return counts


def _of_reasons(rejections: Iterable[tuple[str, str, int]], scope: int, verdict: Verdict) -> Iterator[Cause]:
    """Yield a cause for each kind of rejection, most nodes first. It names its nodes if there are at most three."""
    found: dict[tuple[str, str], list[str]] = {}
    nodes_of: dict[tuple[str, str], int] = {}
    for plugin, reason, nodes in rejections:
        key = (code_of(plugin, (reason,)), _many(plugin, (reason,)))
        found.setdefault(key, []).append(reason)
        nodes_of[key] = nodes_of.get(key, 0) + nodes
    # A constraint may not count all nodes of a domain. So "all nodes" is only said if there is one kind of rejection.
    if len(found) > 1 and all(len(each.reasons) == 1 for each in verdict.rejections):
        scope = 0
    for (code, many), reasons in sorted(found.items(), key=lambda each: -nodes_of[each[0]]):
        nodes = nodes_of[code, many]
        names: tuple[str, ...] = ()
        if nodes <= _NAMES:
            named = [node for node, each in verdict.rejected.items() if not set(each.reasons).isdisjoint(reasons)]
            names = tuple(in_order(named)) if len(named) == nodes else ()
        says = f"{_subject(names, nodes, scope)} {agreeing(many, nodes)}"
        says += ", too" if nodes < scope == max(nodes_of.values()) else ""
        if code == "label-missing" and nodes == scope > 1:
            says = "no node matches the pod's node selector or affinity"
        yield Cause(code=code, says=says, nodes=nodes, objects=names)


def _of_nodes(found: Explanation, scope: int, *, everywhere: bool) -> Iterator[Cause]:
    """Yield a cause for each kind of obstacle on nodes that the constraints admit, most nodes first.

    Each node counts once, under the first plugin that rejects it. An obstacle that all these nodes share comes first,
    followed by the most frequent other obstacle if every node has a second one. If there are at most three nodes, all
    obstacles are listed by node.
    """
    kinds = _kinds(found, every=True)
    large = next((each.details for each in found.plugins if each.plugin == _RESOURCES), ())
    if large:  # the request exceeds every node, so freed room does not help: merge the kinds of shortages
        of_fit = [kind for kind, members in kinds.items() if members[0][1].plugin == _RESOURCES]
        kinds[of_fit[0][0], ""] = [one for kind in of_fit for one in kinds.pop(kind)]
    named = scope <= _NAMES and len(found.admitted) == scope
    first: dict[tuple[str, str], list[str]] = {}
    if not named and found.verdict is not None and all(_nodes(each) < scope for each in kinds.values()):
        kinds = _kinds(found, every=False)
        for node, each in found.verdict.rejected.items():
            first.setdefault((code_of(each.plugin, each.reasons), _many(each.plugin, each.reasons)), []).append(node)
    order = sorted(kinds.items(), key=lambda kind: (-_nodes(kind[1]), kind[1][0][0].node))
    counted_before = 0
    for (code, many), members in order:
        nodes = _nodes(members)
        if large and nodes < scope:
            return
        names = tuple(in_order(near.node for near, _ in members)) if nodes == len(members) <= _NAMES else ()
        if not names and nodes == len(first.get((code, many), ())) <= _NAMES:
            names = tuple(in_order(first[code, many]))
        wanted = next((each.details for each in found.plugins if each.plugin == members[0][1].plugin), ())
        if code == "label-missing" and everywhere and nodes == scope and wanted:
            says = f"no node has {joined(wanted)}{_only(found, members[0][1].plugin)}"
        elif large and not many:
            says, names = f"the pod requests {joined(large)}", ()
        elif len(names) == 1:
            says = f"{names[0]} {_one(members[0][1])}"
        else:
            near, nearest = members[0]
            short = [each.removesuffix(" short") for each in nearest.details] if "short" in code else []
            least = f" ({near.node}: {joined(short)} missing)" if short else ""
            again = not names and nodes < scope <= counted_before
            subject = _subject(names, nodes, 0 if again else scope)
            says = f"{subject} {agreeing(many, nodes)}{', too' if again else ''}{least}"
        counted_before += nodes
        yield Cause(code=code, says=says, nodes=nodes, objects=names)
        if not named and nodes < scope < counted_before:
            return
        if nodes == scope and any(len(_told(near.obstacles)) == 1 for near, _ in members):
            return  # without it, a node is feasible


_Kinds = dict[tuple[str, str], list[tuple["NearestNode", "NodeObstacle"]]]
"""Code and words of a kind of obstacle → the nodes that have it."""


def _kinds(found: Explanation, *, every: bool) -> _Kinds:
    """Return the kinds of obstacles of admitted nodes: of ``every`` plugin, or of the first that rejects each node."""
    kinds: _Kinds = {}
    for near in found.admitted:
        for each in _told(near.obstacles) if every else near.obstacles[:1]:
            kinds.setdefault((_code(each), _many_of(each)), []).append((near, each))
    return kinds


def _nodes(members: Iterable[tuple[NearestNode, NodeObstacle]]) -> int:
    return sum(1 + near.alike for near, _ in members)


def _only(found: Explanation, plugin: str) -> str:
    alone = next((each.alone for each in found.plugins if each.plugin == plugin), 0)
    return f" ({alone} lack{'s' if alone == 1 else ''} nothing else)" if alone else ""


def _told(obstacles: Sequence[NodeObstacle]) -> list[NodeObstacle]:
    """Return the obstacles without the taint that belongs to a cordon."""
    cordoned = any(each.plugin == "NodeUnschedulable" for each in obstacles)
    return [
        each
        for each in obstacles
        if not (
            cordoned
            and each.plugin == "TaintToleration"
            and all(detail.startswith("node.kubernetes.io/unschedulable") for detail in each.details)
        )
    ]


def _code(obstacle: NodeObstacle) -> str:
    return code_of(obstacle.plugin, obstacle.reasons)


def _one(obstacle: NodeObstacle) -> str:
    """Return an obstacle as words about one node: ``lacks 700m cpu``."""
    code, details = _code(obstacle), obstacle.details
    if details:
        if obstacle.plugin == _RESOURCES:
            return f"lacks {joined([each.removesuffix(' short') for each in details])}"
        if code == "taint" and _many_of(obstacle) != _NOT_READY:
            return f"has the taint {joined(details)}"
        if code == "label-missing":
            return f"has {joined(details)}"
        if code == "spread-domain-full":
            return f"exceeds maxSkew ({joined(details)})"
    return agreeing(_many_of(obstacle), 1)


def _many_of(obstacle: NodeObstacle) -> str:
    """Return an obstacle as words about several nodes. Taints of NotReady nodes are named."""
    keys = {each.partition(":")[0] for each in obstacle.details}
    if _code(obstacle) != "taint" or keys.isdisjoint((NOT_READY, UNREACHABLE)):
        return _many(obstacle.plugin, obstacle.reasons)
    return _NOT_READY if keys <= {NOT_READY, UNREACHABLE} else f"{_NOT_READY} and have another {_TAINT}"


_NOT_READY = "are NotReady"
_TAINT = "taint that the pod does not tolerate"
_PHRASES = {
    "cordoned": "are cordoned",
    "taint": f"have a {_TAINT}",
    "pods-full": "have no room for another pod",
    "label-missing": "do not match the pod's node selector or affinity",
    "node-name": "are not the node that the pod names",
    "port-taken": "have the host port in use",
    "pod-affinity": "have no pod that the pod affinity asks for",
    "pod-anti-affinity": "are excluded by pod anti-affinity",
    "nominated": "are reserved for pods of the same or a higher priority",
    "spread-domain-full": "are excluded by topology spread",
}


def _many(plugin: str, reasons: Sequence[str]) -> str:
    """Return a rejection as words about several nodes: ``lack cpu``."""
    resources = [each.removeprefix("Insufficient ") for each in reasons if each.startswith("Insufficient ")]
    if resources:
        return f"lack {joined(resources)}"
    return _PHRASES.get(code_of(plugin, reasons)) or f"are rejected by {plugin} ({', '.join(reasons)})"


def _subject(names: Sequence[str], nodes: int, scope: int = 0) -> str:
    if names and len(names) <= _NAMES:
        return joined(names)
    if nodes == scope == 2:
        return "both nodes"
    if nodes == scope > 1:
        return f"all {counted(nodes, 'node')}"
    return counted(nodes, "node")


def _rejects(rejected: Mapping[str, int], reasons: Sequence[str]) -> bool:
    return any(each in rejected for each in reasons)


def all_tainted(rejected: Mapping[str, int], nodes: int) -> bool:
    """Return whether all nodes of a domain have untolerated taints other than a cordon's.

    ``rejected`` also has nodes that the constraint does not count; ``nodes`` is the number of counted nodes.
    """
    return 0 < nodes <= sum(rejected.values()) and all(
        each.startswith("node(s) had untolerated taint") for each in rejected
    )


def causes_of_node(found: Explanation) -> tuple[Cause, ...]:
    """Return up to four causes for a pod's node. For a placed pod: as if it were scheduled again now."""
    if found.verdict is None or found.verdict.error:
        return ()
    causes = [cause for table in found.constraints for cause in _narrowing(table)][:2]
    for near in found.nearest:
        words = joined([_one(each) for each in _told(near.obstacles)])
        causes.append(Cause(code="node-rejects", says=f"{near.node} would reject it now: it {words}", nodes=1))
    if found.scores is not None and found.scores.nodes:
        causes.append(_of_scores(found.scores, from_batch=found.from_batch))
    uneven = (cause for table in found.constraints for cause in _uneven(table, found.state))
    return (*causes[:3], *islice(uneven, 1))


def _narrowing(table: ConstraintTable) -> Iterator[Cause]:
    """Yield the domains that a hard constraint admits, if it rejects others."""
    arithmetic = table.arithmetic
    admitted = in_order(each.name for each in table.domains if each.allowed)
    if arithmetic.hard and 0 < len(admitted) < len(table.domains):
        noun = noun_of(arithmetic.topology_key)
        says = f"maxSkew {limit_words(arithmetic)} over {noun}s admits only {_domains(admitted)}"
        yield Cause(code="one-domain", says=says, objects=tuple(admitted) if len(admitted) <= _NAMES else ())


def _uneven(table: ConstraintTable, state: str) -> Iterator[Cause]:
    """Yield why a domain has at least two more pods than another: the constraint, the filters or the scores."""
    arithmetic, hard = table.arithmetic, table.arithmetic.hard
    counts = {each.name: each.matching + arithmetic.counts_itself * (each.name == table.own) for each in table.domains}
    taking = [counts[each.name] for each in table.domains if each.open or counts[each.name]]
    if arithmetic.topology_key == HOSTNAME or not taking or max(taking) - min(taking) < 2:
        return
    fullest = max(in_order(counts), key=counts.__getitem__)
    most, noun, skew = counts[fullest], noun_of(arithmetic.topology_key), arithmetic.max_skew
    limit = skew + (0 if arithmetic.lacks_domains else min(counts.values()))
    permits = (
        f"maxSkew {limit_words(arithmetic)} over {noun}s permits up to {limit}"
        if hard
        else f"ScheduleAnyway over {noun}s forbids nothing"
    )
    emptier = (each for each in table.domains if counts[each.name] < most - 1 and each.open)
    others = in_order(each.name for each in emptier if each.allowed or not hard)
    chose = f"filters close every emptier {noun}"
    if hard and most > limit:
        chose = "pods or nodes have changed since they were placed"
    elif others:
        chose = f"{listed(others, 2)} {'is' if len(others) == 1 else 'are'} open too, so scores chose"
        chose += "" if state == "placed" else " (or the cluster as it was)"
    says = f"{fullest} has {most} of {counted(sum(counts.values()), 'pod')}: {permits}; {chose}"
    yield Cause(code="uneven", says=says, objects=(fullest,))


def _of_scores(table: NodeScores, *, from_batch: bool) -> Cause:
    first = table.nodes[0]
    if table.feasible == 1:
        return Cause(code="only-node", says=f"{first.node} is the only feasible node", objects=(first.node,))
    of = f"of {counted(table.feasible, 'feasible node')}"
    best = max(table.nodes, key=lambda each: each.total)
    if table.chosen not in table.best:
        own = next((each for each in table.nodes if each.node == table.chosen), None)
        rest = f"; {own.node} scores {own.total}" if own is not None else ""
        if from_batch:
            rest += ", and earlier equal pods left it as their next best node (OpportunisticBatching)"
        says = f"{of}, {best.node} scores highest now: {best.total}{rest}"
        return Cause(code="lower-score", says=says, objects=(best.node,))
    if len(table.best) > 1:
        names = [table.chosen, *(each for each in in_order(table.best) if each != table.chosen)]
        takes = "draws one of them" if table.draws else "may take any of them"
        says = f"{of}, {listed(names, 3)} score highest: {first.total}; kube-scheduler {takes}"
        return Cause(code="tie", says=says, nodes=len(names), objects=tuple(names) if len(names) <= _NAMES else ())
    rival = table.nodes[1]
    leads = {plugin: first.points.get(plugin, 0) - rival.points.get(plugin, 0) for plugin in table.weights}
    plugin = max(leads, key=leads.__getitem__, default="")
    detail = f" ({plugin}: {first.points.get(plugin, 0)} against {rival.points.get(plugin, 0)})" if plugin else ""
    says = f"{of}, {first.node} scores highest: {first.total}; {rival.node} scores {rival.total}{detail}"
    return Cause(code="best-score", says=says, objects=(first.node, rival.node))
