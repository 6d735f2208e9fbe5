"""The page of `capacity`: how many more fit and why no more, then losses, nodes that were tried, or the domains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from topospread.answers.causes import why_words
from topospread.answers.reasons import its_nodes
from topospread.answers.words import counted, listed, natural, noun_of
from topospread.drills.remarks import STATEFUL_SETS_WAIT
from topospread.render.blocks import Bar, Fact, Page, Part, Section, Table, Verdict

from .pending import unjudged_facts

if TYPE_CHECKING:
    from topospread.answers.capacity import Capacity, DomainRoom, KeyRoom, Room


def page(answer: Capacity) -> Page:
    """Return the page of an answer."""
    room = answer.room
    tables = [*_losses(answer), *_nodes(answer), *map(_key, room.keys)]
    details = [Fact("next pod", room.message)] if room.message else []
    parts: list[Part] = [Verdict(answer.verdict, answer.says), *_facts(answer)]
    parts += [Section(each.title, each.parts, wide=at > 0) for at, each in enumerate(tables)]
    parts.append(Section("", (*details, *(Fact("note", each) for each in answer.notes)), wide=True))
    return Page(f"capacity: {answer.says}", tuple(parts))


def _facts(answer: Capacity) -> Iterator[Part]:
    room = answer.room
    if answer.causes:
        yield Fact("why" if answer.verdict == "no" else "ends", why_words(answer.causes))
    if answer.remedies:
        yield Fact("fix", f"{answer.remedies[0].says}; tried: all fit")
    elif answer.verdict == "no" and answer.purchases:
        best = answer.purchases[0]
        tried = f"none of the {counted(len(answer.purchases), 'node')} tried is enough alone"
        where = f" in {best.zone}" if best.zone else ""
        yield Fact("fix", f"{tried}; 1 {best.shape}{where} takes {best.gain} more" if best.gain > 0 else tried)
    yield from unjudged_facts(answer.unjudged, rest="; all other filters admit these pods to some node")
    if room.evicts:
        yield Fact("note", f"no pod is evicted here; preemption would evict {room.evicts} for the next one")
    if room.waiting:
        waiting = "other pods have" if room.waiting > 1 else "other pod has"
        yield Fact("note", f"{room.waiting} {waiting} no node, before and afterwards")
    if any(each.not_replaced for each in answer.losses):
        yield Fact("note", STATEFUL_SETS_WAIT)
    yield from (Fact("warning", each) for each in answer.warnings)


def _losses(answer: Capacity) -> Iterator[Section]:
    if not answer.losses:
        return
    left = any(each.not_replaced for each in answer.losses)
    rows = tuple(
        (
            each.target,
            each.targets[0].more if len(each.targets) == 1 else each.rounds,
            each.pending_after,
            listed(each.not_replaced, len(each.not_replaced)),
            _ends(each),
        )
        for each in answer.losses
    )
    fit = "MORE FIT" if len(answer.room.targets) == 1 else "ROUNDS FIT"
    yield Section("", (Table(("ZONE LOST", fit, "PENDING", "NOT REPLACED" if left else "", "WHAT ENDS IT"), rows),))


def _ends(room: Room) -> str:
    return why_words(room.ends) if room.ends else "the limit of the search" if room.limited else ""


def _nodes(answer: Capacity) -> Iterator[Section]:
    if answer.purchases:
        rows = tuple((each.shape, each.zone, each.gain) for each in answer.purchases)
        yield Section("", (Table(("ONE MORE NODE", "ZONE", "MORE FIT"), rows, more="nodes were tried"),))


def _key(key: KeyRoom) -> Section:
    limit = key.max_skew
    rule = f", DoNotSchedule, maxSkew {limit}" if limit is not None else ""
    noun = noun_of(key.topology_key)
    rows = tuple(
        (
            each.name or "(no label)",
            f"+{each.more}",
            each.nodes,
            each.matching if each.matching is not None else "",
            each.skew if each.skew is not None else "",
            Bar(each.skew, limit) if each.skew is not None else "",
            _next(each),
        )
        for each in sorted(key.domains, key=lambda each: natural(each.name))
    )
    heads = (noun, "more", "nodes", "pods", "skew", f"limit {limit}" if limit is not None else "", "the next one")
    return Section(f"{key.topology_key}{rule}", (Table(heads, rows, may_drop=(5, 2)),))


def _next(domain: DomainRoom) -> str:
    """Return what the next pod meets in a domain."""
    if domain.allowed is False:
        return "refused"
    nodes = its_nodes(domain.rejected, domain.nodes)
    return f"admitted; {nodes or 'no node takes it'}" if domain.allowed else nodes
