"""The page of `capacity`: how many more replicas fit, the limit, then losses, tested nodes or domains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from topospread.answers.causes import why_words
from topospread.answers.reasons import its_nodes
from topospread.answers.words import counted, listed, natural, noun_of
from topospread.drill.notes import STATEFUL_SETS_WAIT
from topospread.render.blocks import Bar, Fact, Page, Part, Section, Span, Table, Verdict

from .pending import unjudged_facts

if TYPE_CHECKING:
    from topospread.answers.capacity import Capacity, DomainRoom, KeyRoom, Sizing


def page(answer: Capacity) -> Page:
    """Return the page of a capacity answer."""
    room = answer.room
    tables = [
        *_losses(answer),
        *(_pools(answer) if answer.sizing is not None else _nodes(answer)),
        *(_key(each, is_judged=all(one.more.known for one in room.targets)) for each in room.keys),
    ]
    details = [Fact("next pod", room.message)] if room.message else []
    parts: list[Part] = [Verdict(answer.verdict, answer.says), *_facts(answer)]
    parts += [Section(each.title, each.parts, wide=at > 0) for at, each in enumerate(tables)]
    parts.append(Section("", (*details, *(Fact("note", each) for each in answer.notes)), wide=True))
    return Page(f"capacity: {answer.says}", tuple(parts))


def _facts(answer: Capacity) -> Iterator[Part]:
    room = answer.room
    if answer.causes:
        yield Fact("why" if answer.verdict == "no" else "limit", why_words(answer.causes))
    free = [each for each in answer.remedies if each.code == "nodeTaintsPolicy"]
    yield from (Fact("fix", f"{each.says}, without a new node; tried: all fit") for each in free)
    if answer.sizing is not None:
        yield from _sizing(answer.sizing, answer.next)
    elif len(answer.remedies) > len(free):
        yield Fact("fix", f"{answer.remedies[len(free)].says}; tried: all fit")
    elif answer.verdict == "no" and answer.purchases:
        best = answer.purchases[0]
        tried = f"no single node is enough ({len(answer.purchases)} tried)"
        where = f" in {best.zone}" if best.zone else ""
        pending, more = _gained(answer, best.gain)
        room_for = f"{counted(pending, 'current replica')} and {more}" if pending else str(more)
        yield Fact("fix", f"{tried}; 1 {best.shape}{where} makes room for {room_for} more" if best.gain > 0 else tried)
    if answer.unjudged:
        rest = "; all other filters admit the pods that are not judged to some node" if answer.sizing is None else ""
        yield from unjudged_facts(answer.unjudged, rest=rest)
    if room.evicts:
        yield Fact("note", f"no pod is evicted here; for the next pod, preemption would evict {room.evicts}")
    taken = answer.sizing.taken if answer.sizing is not None else {}
    if taken:
        pods = listed([f"{counted(number, 'pod')} of {name}" for name, number in taken.items()], 3)
        yield Fact("note", f"other pending pods take part of the new nodes: {pods}")
    left = room.waiting - sum(taken.values())
    if left:
        yield Fact("note", f"{left} {'other pods are' if left > 1 else 'other pod is'} pending, before and afterwards")
    if any(each.not_replaced for each in answer.losses):
        yield Fact("note", STATEFUL_SETS_WAIT)
    yield from (Fact("warning", each) for each in answer.warnings)


def _sizing(sizing: Sizing, command: str) -> Iterator[Fact]:
    """Yield the set of nodes, the domains of its pods, the basis of its price, and the command that drills it."""
    by_price = any(each.price is not None for each in sizing.pools)
    simulated = f"{counted(sizing.simulated, 'set')} of nodes {'was' if sizing.simulated == 1 else 'were'} simulated"
    if sizing.verdict == "yes":
        zones = listed([f"{each.name} +{each.more}" for each in sizing.zones if each.name], len(sizing.zones))
        price = f", price {sizing.price:g}" if sizing.price is not None else ""
        yield Fact("fix", f"{sizing.words}{price}; tried: all fit{f' ({zones})' if zones else ''}")
        rule = "by price, then by the number of nodes" if by_price else "by the number of nodes, as no pool has a price"
        ground = f"proved: {simulated}, and counting ruled out every cheaper set"
        if not sizing.cheapest:
            ground = f"not proved: {sizing.seconds:g} s (--seconds) ended after {simulated}{sizing.least_words}"
        yield Fact("cheapest", f"{rule} ({ground})")
        yield from (Fact("nodes", f"{each.name}: {each.takes}") for each in sizing.pools if each.takes)
        filled = [each for each in sizing.zones if each.more]
        if len(filled) == 1 and filled[0].more > 1 and len([each for each in sizing.zones if each.name]) > 1:
            yield Fact("note", f"all {filled[0].more} new pods are placed in {filled[0].name}")
        kept = listed([f"{each.nodes + each.add} for {each.name}" for each in sizing.pools if each.add], 3)
        if command:
            says = (
                f"set min {kept} in the pools file and the new replicas in the manifests; then drill each zone's loss"
            )
            yield Fact("next", says)
            yield Fact("run", "", command)
    elif sizing.verdict == "no":
        few = "the pools' limits (AT MOST) allow too few nodes; " if sizing.limited else ""
        ruled = f"{simulated}, counting ruled out every other" if sizing.simulated else "counting rules out every set"
        yield Fact("fix", f"none: {few}{ruled}")


def _pools(answer: Capacity) -> Iterator[Section]:
    if answer.sizing is not None:
        pools, by_shape = answer.sizing.pools, bool(answer.purchases)
        priced = any(each.price is not None for each in pools)
        rows = tuple(
            (
                Span(each.name, "name"),
                each.zone or "",
                "" if by_shape else each.nodes,
                f"+{each.add}" if each.add else 0,
                "" if by_shape else "–" if each.most is None else each.most,
                f"{each.price:g}" if each.price is not None else "",
                "" if each.add else each.why_not,
            )
            for each in pools
        )
        limit = "" if by_shape else "AT MOST"
        first = "NODE" if by_shape else "POOL"
        heads = (first, "ZONE", "" if by_shape else "NODES", "ADD", limit, "PRICE" if priced else "", "WHY NOT")
        yield Section("", (Table(heads, rows, more="pools"),))


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
            why_words(each.ends) if each.ends else "the limit of the search" if each.limited else "",
        )
        for each in answer.losses
    )
    fit = "MORE FIT" if len(answer.room.targets) == 1 else "ROUNDS FIT"
    yield Section("", (Table(("ZONE LOST", fit, "PENDING", "NOT REPLACED" if left else "", "LIMIT"), rows),))


def _nodes(answer: Capacity) -> Iterator[Section]:
    if answer.purchases:
        gains = [_gained(answer, each.gain) for each in answer.purchases]
        missing = sum(each.missing for each in answer.room.targets)
        rows = tuple(
            (each.shape, each.zone, f"{pending} of {missing}" if missing else "", more)
            for each, (pending, more) in zip(answer.purchases, gains, strict=True)
        )
        heads = ("ONE MORE NODE", "ZONE", "PENDING FIT" if missing else "", "MORE FIT")
        yield Section("", (Table(heads, rows, more="nodes were tried"),))


def _gained(answer: Capacity, gain: int) -> tuple[int, int]:
    """Return how many of the current pending replicas fit with a new node, and how many additional replicas."""
    pending = min(gain, sum(each.missing for each in answer.room.targets))
    return pending, gain - pending


def _key(key: KeyRoom, *, is_judged: bool) -> Section:
    limit = key.max_skew
    rule = f", DoNotSchedule, maxSkew {limit}" if limit is not None else ""
    noun = noun_of(key.topology_key)
    rows = tuple(
        (
            each.name or "(no label)",
            f"+{each.more}" if is_judged else "?",
            each.nodes,
            each.matching if each.matching is not None else "",
            each.skew if each.skew is not None else "",
            Bar(each.skew, limit) if each.skew is not None else "",
            _next(each) or ("" if is_judged else "not judged"),
        )
        for each in sorted(key.domains, key=lambda each: natural(each.name))
    )
    is_counted = any(each.matching is not None for each in key.domains)
    skew = f"NEXT SKEW, MAX {limit}" if limit is not None else "NEXT SKEW"
    heads = (noun.upper(), "MORE", "NODES", "PODS" if is_counted else "", skew if is_counted else "", "", "NEXT POD")
    return Section(f"{key.topology_key}{rule}", (Table(heads, rows, may_drop=(5, 2)),))


def _next(domain: DomainRoom) -> str:
    """Return what would happen to the next pod in a domain."""
    if domain.allowed is False:
        return "rejected"
    nodes = its_nodes(domain.rejected, domain.nodes)
    return f"admitted; {nodes or 'no node takes it'}" if domain.allowed else nodes
