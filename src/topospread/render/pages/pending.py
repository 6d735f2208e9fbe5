"""Pending pods on a page: causes, unjudged parts, and kube-scheduler's messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from topospread.answer import Remedy, RemedyPart, Unjudged
from topospread.answers.causes import why_words
from topospread.answers.reasons import its_nodes, others
from topospread.answers.remedies import DrillRemedy, skew_words, tried_words
from topospread.answers.spread import PendingPods, SpreadSums
from topospread.answers.words import counted, listed, noun_of
from topospread.render.blocks import Code, Fact, Part, Section, Table
from topospread.text import shell_line

EMPTY: Mapping[str, str] = MappingProxyType({})
_MOST_CAUSES = 2
_MOST_SUMS = 20


def short(workload: str) -> str:
    """Return ``shop/web`` for ``shop/Deployment/web``."""
    namespace, _, name = workload.split("/", 2)
    return f"{namespace}/{name}"


def why_facts(pending: Sequence[PendingPods], earlier: Sequence[int] = ()) -> Iterator[Fact]:
    """Yield the causes with the most pods, at most two kinds.

    Args:
        earlier: number of pods of each group that are not counted, because they were pending before.
    """
    kinds: dict[str, list[tuple[PendingPods, int]]] = {}
    for each, old in zip(pending, earlier or [0] * len(pending), strict=True):
        if each.causes:
            kinds.setdefault(why_words(each.causes), []).append((each, old))
    order = sorted(kinds.items(), key=lambda kind: -_number(kind[1]))
    single = len(order) == 1
    for words, groups in order[:_MOST_CAUSES]:
        yield Fact("why", words if single else f"{_whose(groups)}: {words}")
    left = [each for _, groups in order[_MOST_CAUSES:] for each in groups]
    if left:
        pods = counted(_number(left), "pod")
        yield Fact("more", f"{pods} pending for {counted(len(order) - _MOST_CAUSES, 'other cause')}: -o wide")


def _number(groups: Sequence[tuple[PendingPods, int]]) -> int:
    return sum(len(each.pods) - old for each, old in groups)


def _whose(groups: Sequence[tuple[PendingPods, int]]) -> str:
    names = list(dict.fromkeys(f"{each.namespace}/{each.workload.partition('/')[2]}" for each, _ in groups))
    old = sum(old for _, old in groups)
    earlier = f"; {old} more {'was' if old == 1 else 'were'} already pending" if old else ""
    return f"{listed(names, 2)} ({counted(_number(groups), 'pod')}{earlier})"


def fix_facts(
    remedies: Sequence[Remedy], untried: int = 0, whose: Mapping[str, str] = EMPTY, *, searched: bool = False
) -> Iterator[Fact]:
    """Yield the first two remedies with their simulated results. Commands are shown verbatim, patches in words.

    Args:
        remedies: best first.
        untried: number of causes for which no change was simulated.
        whose: a remedy's words → workload whose pods its result counts.
    """
    for each in remedies[:2]:
        words = each.says if each.code == "rebalance" else _tried(each, whose.get(each.says, ""))
        if each.command and not each.further and "-p" not in each.command:
            yield Fact("fix", f"tried: {words}", shell_line(each.command))
        elif each.code == "rebalance":
            yield Fact("fix", f"session.rebalance() (tried: {words})")
        else:
            is_named = isinstance(each, DrillRemedy) or len(remedies) == 1 or not each.object.get("namespace")
            owner = "" if is_named else f"{each.object['namespace']}/{each.object['name']}: "
            yield Fact("fix", f"{owner}{each.says} (tried: {words})")
            if isinstance(each, DrillRemedy) and each.command and not each.further:
                yield Fact("run", "", shell_line(each.command))
    if untried and not remedies:
        yield Fact("fix", f"unknown: the limit on work was reached before {counted(untried, 'change')} could be tried")
    elif searched and not remedies:
        tried = "other constraints, requests and claims, a toleration, room on a node, a new node; up to three at once"
        yield Fact("fix", f"none found; tried: {tried}")


def fix_sections(remedies: Sequence[Remedy], title: str = "Fixes") -> Iterator[Section]:
    """Yield all remedies with their commands or patches, for ``-o wide``."""
    facts: list[Part] = []
    for each in remedies:
        facts.append(Fact("fix", f"{each.says} (tried: {_tried(each)})"))
        for part in each.parts:
            if part.command:
                facts.append(Fact("run", "", shell_line(part.command)))
            elif part.patch:
                facts += simulated_patch(part)
    if facts:
        yield Section(title, tuple(facts), wide=True)


def simulated_patch(part: Remedy | RemedyPart) -> tuple[Fact, Code]:
    """Return the object and the JSON patch of a change that no command makes."""
    name = "/".join(part.object[key] for key in ("namespace", "kind", "name") if part.object.get(key))
    return Fact("simulated patch", name), Code(json.dumps(list(part.patch), ensure_ascii=False), "json")


def _tried(remedy: Remedy, workload: str = "") -> str:
    """Return the result of a simulated remedy as words."""
    if isinstance(remedy, DrillRemedy):
        if not remedy.pending_without and not remedy.not_evicted:
            is_rollout = remedy.code == "matchLabelKeys"
            says = "the rollout leaves no skew over maxSkew" if is_rollout else "the drain evicts every pod"
            return says + skew_words(remedy.tried)
        pending = f"{counted(remedy.pending, 'pod')} newly pending instead of {remedy.pending_without}"
        if remedy.not_evicted:
            pending += f"; {counted(remedy.not_evicted, 'pod')} still not evicted"
        return pending + skew_words(remedy.tried)
    replaced = remedy.tried.replaces - remedy.tried.evicts
    replaces = f"; replaces {counted(replaced, 'running pod')}" if replaced > 0 else ""
    return tried_words(remedy.tried, workload) + replaces


def unjudged_facts(parts: Iterable[Unjudged], neighbours: Sequence[str] = (), rest: str = "") -> Iterator[Fact]:
    """Yield the unjudged parts, and the commands that help to judge them. `rest` ends each sentence."""
    for each in parts:
        yield Fact("not judged", f"{each.because} ({each.field}){rest}" if each.field else each.because + rest)
        if each.to_know:
            yield to_know_fact(each.to_know)
    if neighbours:
        yield Fact("depends on it", f"{counted(len(neighbours), 'other pod')}: {listed(neighbours, 3)}")


def unaffected_facts(parts: Iterable[Unjudged], workloads: Sequence[str] = ()) -> Iterator[Fact]:
    """Yield a line on the pods that are not judged, if no verdict depends on them. ``workloads``: names of theirs."""
    open_ = sorted({pod for each in parts for pod in each.pods})
    if open_:
        finds = "it finds a node" if len(open_) == 1 else "they find nodes"
        pods = f"{counted(len(open_), 'pod')} of {listed(workloads, 2)}" if workloads else listed(open_, 2)
        yield Fact("not judged", f"{pods}; the verdict is the same whether {finds} or not (-o wide)")


def to_know_fact(command: str) -> Fact:
    """Return the command that helps to judge a part. Objects that kubectl prints are read from a file."""
    return Fact("to judge it", "add its output: -f FILE" if command.startswith("kubectl get") else "", command)


def pending_sections(pending: Sequence[PendingPods]) -> Iterator[Section]:
    """Yield a section for each group of pending pods: kube-scheduler's message and the skew arithmetic."""
    for each in pending:
        name = f"{each.namespace}/{each.workload.partition('/')[2]}"
        sentence = f"{each.message.rstrip()} {each.preemption}".rstrip()
        parts: list[Fact | Table] = [Fact("kube-scheduler" if each.rejections else "why", sentence)]
        parts += [_sums(one) for one in each.constraints if one.domains]
        pods = "" if each.workload.startswith("Pod/") else f": {', '.join(each.pods)}"
        yield Section(f"Pending: {name}, {counted(len(each.pods), 'pod')}{pods}", tuple(parts), wide=True)


def _sums(one: SpreadSums) -> Table:
    """Return the skew arithmetic of a constraint. Equal domains share a row."""
    alike: dict[str, list[str]] = {}
    for each in one.domains:
        besides = its_nodes(others(each.rejected), each.nodes)
        says = each.arithmetic if not each.allowed else "admitted" + (f"; {besides}" if besides else "")
        alike.setdefault(says, []).append(each.name)
    rows = [
        (name, says) for says, names in alike.items() for name in (names if len(one.domains) <= _MOST_SUMS else [])
    ] or [(f"{len(names)}: {listed(names, 2)}", says) for says, names in alike.items()]
    return Table((noun_of(one.topology_key), "PODS + SELF − MINIMUM = SKEW"), tuple(rows), most=_MOST_SUMS)
