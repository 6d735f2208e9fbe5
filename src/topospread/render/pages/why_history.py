"""The page of ``topospread why --audit`` and ``--events``: pending pods, and the events that caused and ended it."""

from __future__ import annotations

from collections.abc import Iterator

from topospread.answers.causes import why_words
from topospread.answers.why_history import WaitingPod, WhyHistory
from topospread.answers.words import counted, listed
from topospread.render.blocks import Bar, Fact, Hint, Page, Part, Section, Table, Verdict

_BAR = 24


def page(answer: WhyHistory) -> Page:
    """Return the page of a replayed log."""
    parts: list[Part] = [Verdict(answer.verdict, answer.says)]
    parts += [Fact("why", each.says) for each in answer.causes[:2]]
    if len(answer.refusals) == 1 and answer.refusals[0].cause is not None and answer.refusals[0].causes:
        parts.append(Fact("rejected", why_words(answer.refusals[0].causes)))
    ended = {f"{each.ended.words} at {each.ended.at}" for each in answer.refusals if each.ended is not None}
    parts += [Fact("ended", each) for each in sorted(ended)[:2]]
    if answer.over_skew:
        left = [each.pod for each in answer.over_skew if not each.explained]
        in_order = f"{counted(len(left), 'binding')} in every order: {listed(left, 3)}" if left else "none does in that"
        bindings = f"{len(answer.over_skew)} of {counted(len(answer.placed), 'binding')} exceeded maxSkew on arrival"
        parts.append(Fact("order", f"{bindings}; the decisions had another order, and {in_order}"))
    for each in answer.unjudged:
        parts.append(Fact("not judged", each.because + (f": {listed(each.pods, 3)}" if each.pods else "")))
    parts += [Fact("warning", each) for each in answer.warnings]
    if answer.refusals:
        parts.append(Section("", (_waited(answer),)))
    if answer.begins:
        parts.append(Hint("timeline and kube-scheduler's messages"))
    return Page("What happened", (*parts, *_details(answer)))


def _waited(answer: WhyHistory) -> Table:
    longest = max((each.seconds or 0.0 for each in answer.refusals), default=0.0) or 1.0
    rows = tuple(
        (
            each.pod,
            each.first,
            each.placed_on or "–",
            "to the end" if each.seconds is None else f"{each.seconds:g} s",
            Bar(_BAR if each.seconds is None else max(1, round(_BAR * each.seconds / longest))),
        )
        for each in answer.refusals
    )
    return Table(("POD", "PENDING SINCE", "PLACED ON", "PENDING FOR", ""), rows, may_drop=(4, 2))


def _details(answer: WhyHistory) -> Iterator[Section]:
    if not answer.begins:
        return
    happened = [(each.at, each.words) for each in answer.alterations]
    happened += [(each.first, f"pod {each.pod} rejected: {each.said}") for each in answer.refusals]
    happened += [(each.at, f"pod {each.pod} on node {each.node}") for each in answer.placed]
    happened += [
        (each.at, f"pod {each.pod} exceeds maxSkew on arrival: skew {each.skew} > {each.max_skew} in {each.domain}")
        for each in answer.over_skew
    ]
    rows = tuple(sorted(happened))
    title = f"{answer.begins} to {answer.ends}, {counted(answer.records, 'record')}"
    yield Section(title, (Table(("TIME", "WHAT"), rows),) if rows else (), wide=True)
    for each in answer.refusals:
        yield Section(f"{each.pod}, {each.first}", tuple(_refusal(each)), wide=True)


def _refusal(each: WaitingPod) -> Iterator[Fact | Table]:
    if each.causes:
        yield Fact("why", why_words(each.causes))
    if each.cause is not None:
        yield Fact("began with", f"{each.cause.words} at {each.cause.at}")
    elif each.causes:
        yield Fact("began with", "no change of a node in the log")
    yield Fact("kube-scheduler", each.said)
    if each.computed and not each.agrees:
        yield Fact("differs", f"computed for that moment is: {each.computed}")
    if each.sums:
        yield Table(("KEY", "DOMAIN", "SUM"), tuple((one.topology_key, one.domain, one.sum) for one in each.sums))
