"""The page of ``topospread why``: why a pod is pending and which changes would help, or why it has its node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from topospread.answer import Unjudged
from topospread.answers.causes import why_words
from topospread.answers.reasons import its_nodes
from topospread.answers.remedies import skew_words, tried_words
from topospread.answers.why import ConstraintForPod, DomainForPod, NodeForPod, Situation, TriedChange, Why
from topospread.answers.words import counted, in_order, joined, listed, natural, noun_of
from topospread.config.durations import format_duration
from topospread.render.blocks import Bar, Cell, Fact, Hint, Page, Part, Section, Span, Table, Verdict
from topospread.text import shell_line
from topospread.why.result import NodeScores, PluginVerdict, SpreadNodeScore

from .pending import fix_facts, simulated_patch, to_know_fact

_MOST = 11
"""Maximum number of domains with their own rows without ``-o wide``."""
_LONGEST_HEAD = 12
"""Longest heading in characters. Longer nouns are replaced by "domain"."""
_ORIGINS = {"profile": "a default of the profile", "system": "a built-in default"}
_INSTEAD = {"system": "the built-in defaults apply then", "profile": "the profile's defaults apply then"}


def page(answer: Why) -> Page:
    """Return the page of an explained pod."""
    parts: list[Part] = [Verdict(answer.verdict, answer.says)]
    if answer.causes:
        uneven = [each for each in answer.causes if each.code == "uneven"]
        placed = "; ".join(each.says for each in answer.causes if each not in uneven)
        if placed:
            parts.append(Fact("why", placed if answer.verdict == "yes" else why_words(answer.causes)))
        parts += [Fact("spread", each.says) for each in uneven]
    elif answer.verdict == "no" and answer.message and not answer.message.startswith("waits"):
        parts.append(Fact("why", answer.message))
    # If several causes each concern every node, none is the only one that blocks.
    also_alone = [each for each in answer.causes if each.nodes == answer.nodes]
    if 0 < len(answer.core) < len(answer.causes) and not (len(answer.core) == 1 and len(also_alone) > 1):
        together = len(answer.core) > 1
        says = joined([each.says for each in answer.core]) + f": together all {answer.nodes} nodes" * together
        parts.append(Fact("block together" if together else "blocks alone", says))
    # If the verdict does not depend on unjudged parts of other pods, show only the parts of this pod.
    depends = answer.verdict == "unknown" or any(each.verdict == "unknown" for each in answer.situations)
    own = [each for each in answer.unjudged if depends or f"{answer.namespace}/{answer.name}" in each.pods]
    parts += [*_fix(answer), *_unjudged(own, answer)]
    if answer.tries:
        parts.append(Fact("pending since", _attempts(answer)))
    elif answer.created:
        least = f", at least {format_duration(int(answer.age) * 10**9)} ago" if answer.age else ""
        parts.append(Fact("pending since", f"{answer.created}{least}"))
    if answer.evictions:
        parts.append(Fact("evicted for it", listed(answer.evictions, 3)))
    parts += [Fact("warning", each) for each in answer.warnings]
    situations = _situations(answer.situations)
    if situations.rows:
        parts.append(Section("", (situations,)))
    shows_constraints = answer.verdict == "no" and not situations.rows
    named = [each for each in answer.constraints if shows_constraints and _decides(each)]
    parts += [_constraint(each, answer) for each in named]
    others = [
        each
        for each in answer.constraints
        if (each not in named or len(each.domains) > _MOST) and (each.domains or each.origin != "system")
    ]
    if answer.each_node:
        parts.append(Section("Each node", (_each_node(answer.each_node),)))
    foreign = [each for each in answer.unjudged if each not in own]
    details = [*_details(answer, others)]
    if foreign:
        details.append(Section("", tuple(_unjudged(foreign, answer)), wide=True))
    if details:
        parts.append(Hint(_left_out(answer, sum(each not in named for each in others), foreign=bool(foreign))))
    return Page(f"{answer.namespace}/{answer.name}", (*parts, *details))


def _each_node(nodes: Sequence[NodeForPod]) -> Table:
    rows = tuple(
        (
            each.node,
            each.verdict,
            "" if each.total is None else each.total,
            "; ".join(reason.removeprefix("node(s) ") for reason in each.reasons) or each.plugin or "",
        )
        for each in nodes
    )
    return Table(("NODE", "FITS", "SCORE", "WHY NOT"), rows, most=len(rows))


def _situations(situations: Sequence[Situation]) -> Table:
    """Return a row for each group of a workload's pending pods with the same causes; empty for a single group."""
    several = sum(each.verdict != "yes" for each in situations) > 1
    rows = tuple(
        (Span(f"? {each.pods}", "unsure") if each.verdict == "unknown" else each.pods, each.says, each.example)
        for each in (situations if several else ())
    )
    return Table(("PODS", "SITUATION", "FOR EXAMPLE"), rows, more="situations")


def outcome_words(change: TriedChange, pending: int) -> str:
    """Return how to make a change, and its result; without it, ``pending`` pods of the workload are pending."""
    kind, name = change.object["kind"], change.object["name"]
    placed = f"it is placed{skew_words(change.tried)}" if change.tried.of == 1 else tried_words(change.tried)
    match change.means:
        case "create":
            how = f"in {change.file if change.file not in (None, '-') else 'its manifest'}: {placed}"
        case "template":
            how = f"in the pod template of {kind} {name}, which replaces its pods: {placed}"
        case "rollout" if kind == "StatefulSet":
            # Its controller waits for a pending pod of any revision before it replaces another pod.
            once = "once the pending one is deleted (unless managed in parallel)"
            how = f"a new revision of StatefulSet {name} replaces every pod, {once}: {placed}"
        case "rollout":
            how = f"a new revision of {kind} {name} replaces every pod: {placed}"
        case "new pods":
            how = f"{kind} {name} creates new pods from it once the pending pods are deleted: {placed}"
        case "recreate":
            how = f"cannot be changed in an existing {kind}: delete it and create it again: {placed}"
        case "in place":
            how = f"can be added to an existing pod: {placed}"
        case _:
            how = "the pod finds a node"
            if pending > 1:
                how = f"{change.lets_in} of {counted(pending, 'pending pod')} find nodes"
            if change.tried.evicts:
                how += f"; preemption evicts {counted(change.tried.evicts, 'pod')}"
            how += skew_words(change.tried)
    if change.tried.newly_pending:
        how += f"; but then pending: {listed(change.tried.newly_pending, 1)}"
    return how


def _fix(answer: Why) -> Iterator[Fact]:
    """Yield the first simulated change that helps."""
    if not answer.searched:
        if any(each.code == "refused" for each in answer.causes):
            yield Fact("fix", "none tried; if the pod exceeds a quota, raise the quota or request less")
        return
    if not answer.remedies:
        yield from fix_facts((), answer.untried, searched=True)
        return
    first = answer.remedies[0]
    words = outcome_words(first, answer.pods.pending)
    if first.command and "-p" not in first.command and not first.further:  # a JSON patch is long
        yield Fact("fix", f"tried: {words}", shell_line(first.command))
    else:
        yield Fact("fix", first.says)
        yield Fact("tried", words)


def _unjudged(unjudged: Sequence[Unjudged], answer: Why) -> Iterator[Fact]:
    for each in unjudged:
        yield Fact("not judged", _not_judged(each, answer))
        if each.to_know:
            yield to_know_fact(each.to_know)


def _not_judged(part: Unjudged, answer: Why) -> str:
    words = f"{part.because} ({part.field})" if part.field else part.because
    pod = f"{answer.namespace}/{answer.name}"
    if pod not in part.pods:
        return f"{words} of {listed(part.pods, 2)}"
    if answer.admitted is None:
        return words
    if answer.admitted == answer.nodes:
        return f"{words}; all other filters admit each of the {counted(answer.nodes, 'node')}"
    return f"{words}; all other filters admit {answer.admitted} of the {counted(answer.nodes, 'node')}"


def _attempts(answer: Why) -> str:
    tries = answer.tries
    assert tries
    if not tries.at_least:
        return f"{tries.since}; no event tells of an attempt"
    times = "once" if tries.at_least == 1 else f"at least {tries.at_least} times"
    return f"{tries.since}; tried {times}, last at {tries.last}: {tries.message}"


def _decides(constraint: ConstraintForPod) -> bool:
    """Return whether a constraint alone keeps the pod from a node that all other plugins admit."""
    if not constraint.hard:
        return False
    return not constraint.domains or any(each.open and not each.allowed for each in constraint.domains)


def _constraint(constraint: ConstraintForPod, answer: Why, *, wide: bool = False) -> Section:
    """Return a constraint by domain. Without ``-o wide``, equal domains share a row."""
    terms = [constraint.topology_key, constraint.when_unsatisfiable, f"maxSkew {constraint.max_skew}"]
    if constraint.min_domains > 1:
        terms.append(f"minDomains {constraint.min_domains}")
    terms.append(f"pods with {constraint.selector}" if constraint.selector else "no pods")
    if constraint.origin in _ORIGINS:
        terms.append(_ORIGINS[constraint.origin])
    rows = sorted(constraint.domains, key=lambda each: natural(each.name))
    parts: list[Part] = []
    if len(rows) > _MOST and not wide:
        parts.append(_summed_up(rows, constraint, answer))
    elif rows:
        heads = (_head(constraint), "PODS", "AFTER", f"SKEW, MAX {constraint.max_skew}", "", "")
        parts.append(Table(heads, tuple(_row(each, constraint, answer, wide=wide) for each in rows), most=_MOST))
    parts += _remarks(constraint, answer)
    return Section(", ".join(terms), tuple(parts), wide=wide)


def _head(constraint: ConstraintForPod) -> str:
    noun = noun_of(constraint.topology_key)
    return (noun if len(noun) < _LONGEST_HEAD else "domain").upper()


def _row(domain: DomainForPod, constraint: ConstraintForPod, answer: Why, *, wide: bool) -> tuple[Cell, ...]:
    bar = Bar(max(domain.skew, 0), constraint.max_skew)
    return (domain.name, domain.matching, domain.after, domain.skew, bar, _says(domain, constraint, answer, wide=wide))


def _says(domain: DomainForPod, constraint: ConstraintForPod, answer: Why, *, wide: bool) -> Span:
    """Return whether the constraint admits the pod to a domain, and why no node there is feasible."""
    trouble = "" if domain.open else its_nodes(domain.rejected, domain.nodes)
    here = ["its node is here"] if domain.name == constraint.own else []
    if not constraint.hard:
        return Span("; ".join(filter(None, [trouble, *here])))
    if not domain.allowed:
        return Span("; ".join(filter(None, ["rejected", trouble, *here])), "bad")
    if not domain.open:
        return Span(f"admitted; {trouble if wide or not trouble else 'no node takes it'}", "unsure")
    if answer.verdict == "no":
        return Span("admitted; another constraint rejects the pod", "unsure")
    return Span("; ".join(["admitted", *here]), "good")


def _summed_up(rows: list[DomainForPod], constraint: ConstraintForPod, answer: Why) -> Table:
    """Return a row for each group of domains with equal count and skew, largest group first."""
    alike: dict[tuple[int, int, Span], list[str]] = {}
    for row in rows:
        key = (row.matching, row.skew, _says(row, constraint, answer, wide=False))
        alike.setdefault(key, []).append(row.name)
    noun = _head(constraint).lower()
    cells = tuple(
        (counted(len(names), noun), matching, skew, says)
        for (matching, skew, says), names in sorted(alike.items(), key=lambda each: -len(each[1]))
    )
    return Table((f"{_head(constraint)}S", "PODS", "SKEW", ""), cells)


def _remarks(constraint: ConstraintForPod, answer: Why) -> Iterator[Fact]:
    if constraint.counted:
        owners = [
            f"{pods} {owner.partition('/')[2]}" if owner else counted(pods, "bare pod")
            for owner, pods in constraint.counted.items()
        ]
        yield Fact("counted", listed(owners, 3))
    if not constraint.counts_itself:
        why = "the pod does not match the constraint's labelSelector" if constraint.selector else "no labelSelector"
        yield Fact("self", f"{why}: it adds 0")
    if answer.verdict == "no" and constraint.hard and constraint.domains:
        yield Fact("skew", f"pods + {constraint.counts_itself} (self) − {constraint.minimum} ({_minimum(constraint)})")
    for each in constraint.left_out:
        yield Fact("not counted", f"{listed(in_order(each.nodes), 3)} ({each.reason})")


def _minimum(constraint: ConstraintForPod) -> str:
    if len(constraint.domains) < constraint.min_domains:
        noun = noun_of(constraint.topology_key)
        return f"{counted(len(constraint.domains), noun)}, fewer than minDomains {constraint.min_domains}"
    holders = constraint.minimum_domains
    if len(holders) == len(constraint.domains) > 1:
        return f"minimum of all {len(holders)}"
    return f"minimum: {listed(in_order(holders), 2)}"


def _left_out(answer: Why, constraints: int, *, foreign: bool) -> str:
    """Return the names of parts that only ``-o wide`` shows."""
    more = len(answer.remedies) - 1
    parts = [counted(more, "more fix") if more == 1 else f"{more} more fixes"] if more > 0 else []
    if not parts and answer.remedies and not answer.remedies[0].command:
        parts.append("the patch")
    parts += [counted(constraints, "other constraint")] if constraints and answer.verdict == "no" else []
    parts += [counted(constraints, "constraint")] if constraints and answer.verdict != "no" else []
    parts += ["the scores"] if answer.scores is not None else []
    parts += ["each plugin's verdict"] if answer.plugins else []
    parts += ["parts of other pods that are not judged"] if foreign else []
    parts += ["kube-scheduler's messages"] if _has_own_words(answer) else []
    return joined(parts) if parts else "notes"


def _has_own_words(answer: Why) -> bool:
    """Return whether kube-scheduler's message adds to the causes; a pod that is not created has no message."""
    return bool(answer.rejections and answer.message)


def _details(answer: Why, others: list[ConstraintForPod]) -> Iterator[Section]:
    for number, each in enumerate(answer.remedies, 1):
        words = outcome_words(each, answer.pods.pending)
        shown: list[Part] = [Fact("tried", words)]
        for one in each.parts:
            if one.command:
                shown.insert(-1, Fact("run", "", shell_line(one.command)))
            elif one.patch:
                shown += simulated_patch(one)
        yield Section(f"Fix {number}: {each.says}", tuple(shown), wide=True)
    if answer.untried:
        words = "the simulation would have to place too many pods"
        yield Section("", (Fact("not tried", f"{counted(answer.untried, 'more change')}: {words}"),), wide=True)
    yield from (_constraint(each, answer, wide=True) for each in others)
    if answer.plugins:
        title = f"Plugins that reject nodes, each evaluated on all {answer.nodes}"
        yield Section(title, tuple(Fact(each.plugin, _rejects(each)) for each in answer.plugins), wide=True)
    if answer.nearest:
        title = "The node would reject it now" if answer.state == "bound" else "Nodes nearest to fitting"
        near = tuple(
            Fact(
                each.node + (f" and {counted(each.alike, 'more node')}" if each.alike else ""),
                "; ".join(f"{one.plugin}: {', '.join(one.details or one.reasons)}" for one in each.obstacles),
            )
            for each in answer.nearest
        )
        yield Section(title, near, wide=True)
    if answer.scores is not None and answer.scores.nodes:
        yield from _scores(answer.scores)
    if answer.without:
        yield Section("Best node without one of the constraints", (_without(answer),), wide=True)
    if _has_own_words(answer):
        words = f"{answer.message.rstrip()} {answer.preemption}".strip()
        yield Section("", (Fact("kube-scheduler", words),), wide=True)
    if answer.notes:
        yield Section("", tuple(Fact("note", each) for each in answer.notes), wide=True)


def _without(answer: Why) -> Table:
    rows = []
    for each in answer.without:
        remarks = ["the same node"] if each.node is not None and each.node == answer.node else []
        remarks += [f"{each.equals} nodes are as good"] if each.equals > 1 else []
        remarks += [_INSTEAD[each.instead]] if each.instead else []
        node = each.node or "no node"
        rows.append((each.topology_key, each.when_unsatisfiable, node, each.total, "; ".join(remarks)))
    return Table(("WITHOUT", "WHEN UNSATISFIABLE", "BEST NODE", "SCORE", ""), tuple(rows))


def _rejects(each: PluginVerdict) -> str:
    alone = f"{f'{each.alone} of ' * (each.alone < each.nodes)}which no other plugin rejects"
    alone = alone if each.alone else "which other plugins reject too"
    reasons = [reason if nodes == each.nodes else f"{nodes} {reason}" for reason, nodes in each.reasons.items()]
    details = f" ({', '.join(each.details)})" if each.details else ""
    return f"{counted(each.nodes, 'node')}, {alone}: {', '.join(reasons)}{details}"


def _scores(scores: NodeScores) -> Iterator[Section]:
    letters = "ABCDEFGH"[: len(scores.nodes)]
    names = tuple(
        Fact(
            letter,
            "; ".join(
                filter(
                    None,
                    [
                        each.node,
                        "chosen" if each.node == scores.chosen else "",
                        f"and {counted(each.alike, 'more node')} with these points" if each.alike else "",
                    ],
                )
            ),
        )
        for letter, each in zip(letters, scores.nodes, strict=True)
    )
    rows: list[tuple[Cell, ...]] = [
        (plugin, weight, *(each.points.get(plugin, 0) for each in scores.nodes))
        for plugin, weight in scores.weights.items()
    ]
    total: tuple[Cell, ...] = ("total", "", *(each.total for each in scores.nodes))
    table = Table(("PLUGIN", "WEIGHT", *letters), (*rows, total), most=len(rows) + 1)
    yield Section(f"Weighted points of {counted(scores.feasible, 'feasible node')}", (*names, table), wide=True)
    if scores.spread and scores.feasible > 1:
        title = (
            "PodTopologySpread: pods × ln(domains with feasible nodes + 2) + maxSkew − 1, added up and rounded; fewer "
            "is better"
        )
        sums = tuple(Fact(letter, _sum(each)) for letter, each in zip(letters, scores.spread, strict=False))
        yield Section(title, sums, wide=True)


def _sum(score: SpreadNodeScore) -> str:
    points = f"{score.normalized} × {score.weight} = {score.normalized * score.weight}"
    if score.raw is None:
        return f"lacks a key: not scored; {points}"
    if not score.parts:
        return f"{score.raw} matching pods; {points}"
    parts = [
        f"{each.domain or 'no domain'}: {each.matching} × ln({each.domains} + 2) + {each.max_skew - 1} "
        f"= {each.points:.3f}"
        for each in score.parts
    ]
    total = sum(each.points for each in score.parts)
    normal = f"100 × ({score.highest} + {score.lowest} − {score.raw}) ÷ {score.highest} = " if score.highest else ""
    return f"{'; '.join(parts)}; {total:.3f} → {score.raw}; {normal}{points}"
