"""An explanation as text for people: the event, the constraints domain by domain, what rejects the nodes, what helps.

The numbers are the explanation's; what would let the pod in and why that node are written by the modules beside.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .explanation_domains import constraint_lines
from .explanation_scores import score_lines
from .explanation_suggestions import outcome_words, suggestion_lines
from .further import FurtherCommands, of_constrained, of_pending
from .layout import Layout
from .paragraphs import counted, hanging, together

if TYPE_CHECKING:
    from topospread.explanation import Explanation, NearNode, Obstacle, PluginRejections
    from topospread.explanation.tries import Tries

__all__ = ["Layout", "explanation_summary", "explanation_text"]


def explanation_text(explanation: Explanation, layout: Layout, further: FurtherCommands | None = None) -> str:
    """The whole explanation. ``further``: other commands for the same input."""
    blocks = [_heading(explanation, layout), *constraint_lines(explanation, layout)]
    if explanation.state == "pending":
        blocks += [_plugins(explanation, layout), _nearest(explanation, layout)]
        blocks.append(suggestion_lines(explanation, layout))
    elif explanation.placed:
        blocks += [score_lines(explanation, layout), _own_node(explanation, layout), _plugins(explanation, layout)]
    notes = [*explanation.notes, *(_adding(explanation, further) if further is not None else ())]
    blocks.append(layout.remarks(explanation.warnings, notes))
    texts = ["\n".join(lines) for lines in map(list, blocks)]
    return "\n\n".join(text for text in texts if text) + "\n"


def _adding(explanation: Explanation, further: FurtherCommands) -> Iterator[str]:
    """What other commands would add: how skew is mended, which node would help, how a rollout ends."""
    if _is_beyond(explanation):
        yield further.mending("the skew that is there")
    kind, slash, name = explanation.workload.partition("/")
    target = f"{explanation.namespace}/{kind.lower()}/{name}"
    if explanation.state == "pending":
        yield from of_pending(further, kind if slash else "", target)
    elif explanation.placed and any(each.arithmetic.hard for each in explanation.constraints):
        yield from of_constrained(further, kind if slash else "", target)


def _is_beyond(explanation: Explanation) -> bool:
    """Whether the pods there are beyond a hard constraint.

    A pod on a node is taken off to be explained: it is one too many where that constraint refuses it there.
    """
    arithmetic = [each.arithmetic for each in explanation.constraints]
    beyond = any(each.hard and each.skew > each.max_skew for each in arithmetic)
    if explanation.state == "bound" and explanation.verdict is not None:
        own = explanation.verdict.rejected.get(explanation.node or "")
        beyond = beyond or (own is not None and own.plugin == "PodTopologySpread")
    return beyond


def explanation_summary(explanation: Explanation, layout: Layout) -> str:
    """Who, where and kube-scheduler's sentence, the changes that let it in, and the warnings."""
    lines = list(_heading(explanation, layout))
    for number, each in enumerate(explanation.suggestions, 1):
        lines += hanging(f"  {number}  ", f"{each.title}: {outcome_words(each, explanation)}", layout.width, 5)
    lines += layout.remarks(explanation.warnings)
    return "\n".join(lines) + "\n"


def _heading(explanation: Explanation, layout: Layout) -> Iterator[str]:
    """Who, where, and what kube-scheduler says."""
    name = layout.style(f"{explanation.namespace}/{explanation.name}", "bold")
    yield from hanging(f"{name}  ", " · ".join(_facts(explanation, layout)), layout.width, 4)
    sentence = f"{explanation.message.rstrip()} {explanation.preemption}".strip()
    if sentence:
        yield from hanging("  ", sentence, layout.width, 4)
    if explanation.tries is not None:
        yield from hanging("  ", _tried(explanation.tries), layout.width, 4)
    if explanation.state == "bound":
        yield from hanging("  ", _anew(explanation), layout.width, 4)
    if explanation.evictions:
        yield from hanging("  evicted for it: ", layout.names(list(explanation.evictions)), layout.width, 4)


def _tried(tries: Tries) -> str:
    """Since when it waits, how often it was tried, and what kube-scheduler said last."""
    if not tries.at_least:
        return f"In the cluster it waits since {tries.since}; no event tells of an attempt."
    times = "once" if tries.at_least == 1 else f"at least {tries.at_least} times"
    return f"In the cluster it waits since {tries.since}; tried {times}, last at {tries.last}: {tries.message}"


def _facts(explanation: Explanation, layout: Layout) -> Iterator[str]:
    kind, _, name = explanation.workload.partition("/")
    if kind != "Pod":
        yield together(f"{kind} {name}")
    match explanation.state:
        case "bound":
            yield f"on {explanation.node}"
        case "placed":
            yield f"placed on {explanation.node}"
        case "pending":
            yield layout.style("pending", "bold", "red")
        case "waiting":
            yield layout.style("waiting", "bold", "red")
    if explanation.state == "pending" and explanation.wanted > 1:
        yield together(f"{explanation.pending} of {explanation.wanted} pods pending")
    if not explanation.exists:
        yield together("does not exist yet")


def _anew(explanation: Explanation) -> str:
    """What would become of a pod on a node if it were scheduled anew."""
    node, scores = explanation.node, explanation.scores
    beginning = "Taken off and scheduled anew on the cluster as it is"
    if scores is None or not scores.best:
        return f"{beginning} it would stay pending."
    best, total = scores.best, max((each.total for each in scores.nodes), default=0)
    others = f"one of {len(best) - 1} other nodes" if len(best) > 2 else "another node"
    if node in best:
        return f"{beginning} it would come back" + ("." if len(best) == 1 else f", or go to {others} as good.")
    where = best[0] if len(best) == 1 else f"{best[0]} or {others} as good"
    own = next((each.total for each in scores.nodes if each.node == node), None)
    why = f"{total} points, {node} has {own}"
    if own is None:
        why = f"{node} would refuse it" if explanation.nearest else f"{node} is not among the nodes that were given"
    return f"{beginning} it would go to {where}: {why}."


def _plugins(explanation: Explanation, layout: Layout) -> Iterator[str]:
    """What each plugin rejects, each asked about every node."""
    if not explanation.plugins:
        return
    title = "What rejects the node" if explanation.nodes == 1 else f"What rejects the {explanation.nodes} nodes"
    yield from hanging(layout.style(title, "bold") + "  ", "(each plugin asked about every node)", layout.width, 2)
    width = max(len(each.plugin) for each in explanation.plugins)
    for each in explanation.plugins:
        yield from hanging(f"  {each.plugin:<{width}}  ", _rejects(each), layout.width, min(width + 4, 24))


def _rejects(each: PluginRejections) -> str:
    alone = "by it alone" if each.alone == each.nodes else f"{each.alone} by it alone"
    if not each.alone:
        alone = "none by it alone"
    reasons = [f"{number} {reason}" for reason, number in each.reasons.items()]
    if list(each.reasons.values()) == [each.nodes]:
        reasons = [reason.removeprefix("node(s) ") for reason in each.reasons]
    text = f"{counted(each.nodes, 'node')}, {alone}: {', '.join(reasons)}"
    return text + (f" ({', '.join(each.details)})" if each.details else "")


def _nearest(explanation: Explanation, layout: Layout) -> Iterator[str]:
    if not explanation.nearest:
        return
    yield layout.style("Nodes nearest to fitting", "bold")
    for each in explanation.nearest:
        yield from _near(each, layout)


def _near(each: NearNode, layout: Layout) -> Iterator[str]:
    """A node and all that is against it."""
    domains = [value for key, value in each.domains.items() if value != each.node]
    text = each.node + (f" ({', '.join(dict.fromkeys(domains))})" if domains else "")
    if each.alike:
        text += f" and {counted(each.alike, 'node')} more"
    obstacles = list(each.obstacles)
    yield from hanging(f"  {text}: ", "; ".join(map(_against, obstacles)), layout.width, 6)


def _against(obstacle: Obstacle) -> str:
    """``NodeResourcesFit: 300m cpu short``."""
    said = ", ".join(obstacle.details) or ", ".join(reason.removeprefix("node(s) ") for reason in obstacle.reasons)
    return f"{obstacle.plugin}: {said}"


def _own_node(explanation: Explanation, layout: Layout) -> Iterator[str]:
    """What a pod's own node has against it."""
    for each in explanation.nearest:
        yield layout.style("Why its node would refuse it", "bold")
        yield from _near(each, layout)
