"""The answer of ``topospread why``: does the pod have a node, or would it find one?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict, replace

from topospread.answer import Answer, Cause, Remedy
from topospread.base import Base, Bounds, Word
from topospread.controllers.planned import is_refusal
from topospread.simulation.missed_selectors import missed_selectors
from topospread.why.attempts import Attempts
from topospread.why.result import ChoiceWithout, NearestNode, NodeScores, PluginVerdict

from .causes import causes_of, causes_of_node, causes_of_pod, core_of, why_words
from .remedies import remedy_of
from .spread import (
    ConstraintTerms,
    LeftOutNodes,
    Reasons,
    RejectedNodes,
    left_out_nodes,
    rejections_of,
    sum_in_words,
    terms_of,
)
from .words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from topospread.scheduling.verdict import Verdict
    from topospread.why.result import ConstraintTable, Explanation, PodSituation, Suggestion


class ReplicaCounts(Base, frozen=True, kw_only=True):
    """The pods of the workload."""

    wanted: Annotated[int, Meta(description="Desired pods of the workload.")]
    pending: Annotated[int, Meta(description="Pods of the workload without a node.")]
    placed: Annotated[Bounds, Meta(description="Least and most pods with a node; equal if every pod is judged.")]


class DomainForPod(Base, frozen=True, kw_only=True):
    """A domain of a constraint, for the explained pod."""

    name: Annotated[str, Meta(description="Value of the topology key.")]
    nodes: Annotated[int, Meta(description="Nodes that take part.")]
    matching: Annotated[int, Meta(description="Pods that the selector matches on nodes that take part.")]
    after: Annotated[int, Meta(description="`matching` with the pod placed here.")]
    skew: Annotated[int, Meta(description="`after` minus the global minimum in force.")]
    allowed: Annotated[bool, Meta(description="Whether the constraint admits the pod.")]
    holds_minimum: Annotated[bool, Meta(description="Whether no domain has fewer pods.")]
    open: Annotated[int, Meta(description="Counted nodes that every other plugin accepts.")]
    arithmetic: Annotated[str, Meta(description="The sum in words.")]
    rejected: Annotated[Reasons, Meta(description="Reason of another plugin → nodes of the domain that it rejects.")]


class ConstraintForPod(ConstraintTerms, frozen=True, kw_only=True):
    """A constraint in force, with its domains for the explained pod."""

    minimum: Annotated[int, Meta(description="Global minimum in force: 0 if there are fewer domains than minDomains.")]
    minimum_domains: Annotated[tuple[str, ...], Meta(description="Domains with the fewest pods.")]
    counted: Annotated[
        dict[str, int],
        Meta(description="`Deployment/web` → its pods that count; empty if only the workload's own pods count."),
    ]
    own: Annotated[str, Meta(description="Domain of the pod's node; empty if it has none.")]
    domains: Annotated[tuple[DomainForPod, ...], Meta(description="Eligible domains.")]
    left_out: Annotated[tuple[LeftOutNodes, ...], Meta(description="Nodes that do not count, by reason.")]


class TriedChange(Remedy, frozen=True, kw_only=True):
    """A change that was simulated for the pod."""

    means: Annotated[
        Literal["create", "rollout", "new pods", "recreate", "in place", "template", "cluster"],
        Meta(
            description="How the change takes effect. `create`: edit the manifest of a new object; `rollout`: replaces "
            "every pod; `new pods`: only new pods have it; `recreate`: delete and create the object; `in place`: edit "
            "the object; `template`: edit an owner of unknown kind; `cluster`: change nodes, claims or other objects."
        ),
    ]
    file: Annotated[str | None, Meta(description="File that holds the object; null if that is not known.")]
    lets_in: Annotated[int, Meta(description="Pods of the workload that are pending only without the change.")]


class Situation(Base, frozen=True, kw_only=True):
    """Pods of the workload that have nodes, or that are pending for the same reasons."""

    verdict: Annotated[Word, Meta(description="Whether the pods have nodes or find nodes.")]
    pods: Annotated[int, Meta(description="Number of pods.")]
    example: Annotated[str, Meta(description="Name of the first of them.")]
    says: Annotated[str, Meta(description="The situation in one sentence.")]
    causes: Annotated[tuple[Cause, ...], Meta(description="Why they are pending; empty if unjudged.")] = ()


class NodeForPod(Base, frozen=True, kw_only=True):
    """A node of the cluster, for the explained pod."""

    node: Annotated[str, Meta(description="Name of the node.")]
    verdict: Annotated[Word, Meta(description="Whether every filter accepts the node.")]
    plugin: Annotated[str | None, Meta(description="First filter plugin that rejects the node; null if none does.")]
    reasons: Annotated[tuple[str, ...], Meta(description="Its reasons, in kube-scheduler's words.")]
    total: Annotated[int | None, Meta(description="Sum of the weighted scores; null if the node is not feasible.")]
    points: Annotated[dict[str, int], Meta(description="Score plugin → weighted points.")]


class Why(Answer, frozen=True, kw_only=True):
    """Does the pod have a node, or would it find one?"""

    PAGE: ClassVar[str] = "topospread.render.pages.why:page"

    namespace: Annotated[str, Meta(description="Namespace of the pod.")]
    name: Annotated[str, Meta(description="Name of the pod.")]
    workload: Annotated[str, Meta(description="`Deployment/web`, or `Pod/NAME` for a bare pod.")]
    exists: Annotated[bool, Meta(description="Whether the pod exists in the API server.")]
    state: Annotated[
        Literal["pending", "placed", "bound", "waiting"],
        Meta(
            description="`pending`: no node takes it. `placed`: the simulation found it a node. `bound`: it was on a "
            "node before. `waiting`: kube-scheduler does not try it yet."
        ),
    ]
    created: Annotated[str | None, Meta(description="creationTimestamp of a pending pod; null if it has none.")] = None
    age: Annotated[
        float | None, Meta(description="Seconds from `created` to the latest timestamp in the input; null if unknown.")
    ] = None
    node: Annotated[str | None, Meta(description="Node of the pod; null while it has none.")]
    nodes: Annotated[int, Meta(description="Number of nodes of the cluster.")]
    admitted: Annotated[
        int | None, Meta(description="Number of nodes that all judged filters accept; null if every filter is judged.")
    ]
    message: Annotated[str, Meta(description="kube-scheduler's message on a pending pod, or why it waits.")]
    preemption: Annotated[str, Meta(description="kube-scheduler's addition about preemption.")]
    pods: Annotated[ReplicaCounts, Meta(description="The pods of the workload.")]
    situations: Annotated[
        tuple[Situation, ...],
        Meta(description="For a workload: all its pods, those with nodes first, then pending ones, most pods first."),
    ] = ()
    remedies: Annotated[
        tuple[TriedChange, ...], Meta(description="Changes that let pods in, fewest replaced pods first.")
    ]
    rejections: Annotated[
        tuple[RejectedNodes, ...], Meta(description="Nodes by their first rejection, most nodes first.")
    ]
    constraints: Annotated[tuple[ConstraintForPod, ...], Meta(description="Constraints in force, hard ones first.")]
    plugins: Annotated[tuple[PluginVerdict, ...], Meta(description="Each filter plugin's verdict on all nodes.")]
    nearest: Annotated[
        tuple[NearestNode, ...],
        Meta(
            description="Nodes with the fewest obstacles; for a bound pod, its own node if it would reject the pod now."
        ),
    ]
    core: Annotated[
        tuple[Cause, ...],
        Meta(description="The fewest obstacles that together reject every node; empty if more than four are needed."),
    ] = ()
    searched: Annotated[bool, Meta(description="Whether changes were tried.")]
    untried: Annotated[int, Meta(description="Changes that were not tried because of the limit on work.")]
    scores: Annotated[NodeScores | None, Meta(description="Scores, for a pod with a node.")]
    each_node: Annotated[
        tuple[NodeForPod, ...],
        Meta(
            description="Every node as the pod finds it, highest score first; empty unless `--each-node` asks for it. "
            "For a bound pod: if it were scheduled now."
        ),
    ] = ()
    without: Annotated[
        tuple[ChoiceWithout, ...], Meta(description="The choice without each of the first 32 constraints.")
    ]
    evictions: Annotated[tuple[str, ...], Meta(description="NAMESPACE/NAME of pods that were evicted for this pod.")]
    tries: Annotated[Attempts | UnsetType, Meta(description="Attempts of a live cluster's kube-scheduler.")] = UNSET
    warnings: Annotated[tuple[str, ...], Meta(description="Warnings for the user.")] = ()
    notes: Annotated[tuple[str, ...], Meta(description="Notes for the user.")] = ()


def why_answer(found: Explanation, *, most_domains: int | None = None, each_node: bool = False) -> Why:
    """Return the answer for a pod's explanation.

    Args:
        most_domains: limit on the listed domains of a constraint.
        each_node: whether to list every node.
    """
    verdict = _verdict(found)
    judged = found.verdict if found.verdict is not None and not found.verdict.error else None
    other = found.assumed if found.assumed is not None else found
    placed = sorted(each.wanted - each.pending for each in (found, other))
    return Why.like(
        found,
        kind="Why",
        verdict=verdict,
        says=_says(found, verdict, placed),
        causes=_causes(found, verdict),
        remedies=tuple(map(_remedy, found.suggestions)) if verdict == "no" else (),
        assumed=_ASSUMED if found.unjudged and verdict != "unknown" else (),
        created=found.created or None,
        admitted=len(found.verdict.feasible) if _is_open(found) and found.verdict is not None else None,
        pods=ReplicaCounts(wanted=found.wanted, pending=found.pending, placed=Bounds(least=placed[0], most=placed[-1])),
        situations=_merged(_situation(each, found) for each in found.situations),
        rejections=rejections_of(judged) if judged is not None else (),
        constraints=tuple(_constraint(each, most_domains) for each in found.constraints),
        each_node=tuple(_each_node(found.verdict)) if each_node and found.verdict is not None else (),
        core=core_of(found) if verdict == "no" else (),
        tries=UNSET if found.tries is None else found.tries,
        warnings=(
            *found.warnings,
            *missed_selectors([(f"{found.namespace}/{found.name}", (each.arithmetic for each in found.constraints))]),
        ),
    )


_ASSUMED = ("pods that are not judged take no node, or any node that judged filters admit",)


def _each_node(verdict: Verdict) -> Iterator[NodeForPod]:
    """Yield every node, the feasible ones first, highest score first."""
    total, is_judged = verdict.total, not verdict.error
    for node in sorted(total, key=lambda each: (-total[each], each)):
        yield NodeForPod(
            node=node,
            verdict="yes" if is_judged else "unknown",
            plugin=None,
            reasons=(),
            total=total[node] if is_judged else None,
            points=verdict.scores[node] if is_judged else {},
        )
    for node, at in sorted(zip(verdict.nodes, verdict.blame.tolist(), strict=True)):
        if at >= 0:
            by = verdict.rejections[at]
            yield NodeForPod(node=node, verdict="no", plugin=by.plugin, reasons=by.reasons, total=None, points={})


def _situation(each: PodSituation, found: Explanation) -> Situation:
    causes: tuple[Cause, ...] = ()
    if each.group is not None and each.verdict == "no":
        causes = causes_of_pod(found) if found.name in each.pods else causes_of(each.group)
    says = "have nodes" if len(each.pods) > 1 else "has a node"
    if each.group is not None:
        says = why_words(causes) if causes else each.group.message
    return Situation(verdict=each.verdict, pods=len(each.pods), example=each.pods[0], says=says, causes=causes)


def _merged(situations: Iterable[Situation]) -> tuple[Situation, ...]:
    """Merge situations with equal verdict and words."""
    found: dict[tuple[Word, str], Situation] = {}
    for each in situations:
        known = found.get((each.verdict, each.says))
        found[each.verdict, each.says] = replace(known, pods=known.pods + each.pods) if known else each
    return tuple(found.values())


def _verdict(found: Explanation) -> Word:
    """Return whether the pod has a node; unknown if unmodelled filters could change that."""
    if found.state == "bound":
        return "yes"
    if found.assumed is None:
        return "yes" if found.placed else "no"
    if found.placed and found.assumed.placed:
        return "yes"
    return "unknown" if _is_open(found) or found.placed or found.assumed.placed else "no"


def _is_open(found: Explanation) -> bool:
    """Return whether only unmodelled filters keep the pod from nodes."""
    return found.verdict is not None and bool(found.verdict.error and found.verdict.unjudged)


def _causes(found: Explanation, verdict: Word) -> tuple[Cause, ...]:
    if verdict == "no":
        return causes_of_pod(found)
    return causes_of_node(found) if verdict == "yes" else ()


def _says(found: Explanation, verdict: Word, placed: list[int]) -> str:
    pod = f"{found.namespace}/{found.name}"
    kind, _, name = found.workload.partition("/")
    several = kind != "Pod" and found.wanted > 1
    if verdict == "unknown":
        bounds = Bounds(least=placed[0], most=placed[-1])
        of = f"{bounds} of the {found.wanted} pods of {found.namespace}/{name} find nodes"
        return of if several else f"{pod} may find a node"
    match found.state:
        case "bound":
            return f"{pod} runs on {found.node}{_again(found)}"
        case "placed":
            is_first = any(each.pods[0] == found.name for each in found.situations)
            first = f", the first of {found.wanted} pods," if is_first and found.wanted > 1 else ""
            return f"{pod}{first} goes to {found.node}"
        case "waiting":
            said = f"{pod} is not tried: it {found.message}".replace("it not created", "it is not created")
            said = f"{pod} is not created: the API server refuses it" if is_refusal(found.message) else said
            if not found.situations:
                return said
        case _:
            said = f"{pod} finds no node"
    have, total = found.wanted - found.pending, found.wanted
    if found.situations:
        have = sum(len(each.pods) for each in found.situations if each.verdict == "yes")
        total = sum(len(each.pods) for each in found.situations)
    if total < 2 or kind == "Pod":
        return said
    what = "a node" if found.state == "waiting" else "one"
    return f"{said}; {have} of the {total} pods of {kind} {name} {'has' if have == 1 else 'have'} {what}"


def _again(found: Explanation) -> str:
    """Return where a placed pod would go if it were scheduled again now."""
    scores = found.scores
    if found.verdict is not None and found.verdict.error:
        return ""
    if scores is None or not scores.best:
        return "; scheduled now, it would find no node"
    if found.node in scores.best:
        return ", and would be placed there again" if len(scores.best) == 1 else "; other nodes are as good now"
    others = f" or {counted(len(scores.best) - 1, 'other node')}" if len(scores.best) > 1 else ""
    return f"; scheduled now, it would go to {scores.best[0]}{others}"


def _remedy(tried: Suggestion) -> TriedChange:
    return TriedChange(
        **asdict(remedy_of(tried)),
        means=tried.means,
        file=tried.file or None,
        lets_in=tried.lets_in,
    )


def _constraint(table: ConstraintTable, most: int | None) -> ConstraintForPod:
    arithmetic = table.arithmetic
    return ConstraintForPod(
        **terms_of(arithmetic),
        minimum=arithmetic.minimum,
        minimum_domains=tuple(arithmetic.minimum_domains),
        counted=dict(table.counted),
        own=table.own,
        domains=tuple(
            DomainForPod.like(each, arithmetic=sum_in_words(arithmetic, domain), rejected=dict(each.rejected))
            for each, domain in zip(table.domains[:most], arithmetic.domains[:most], strict=True)
        ),
        left_out=left_out_nodes(arithmetic),
    )
