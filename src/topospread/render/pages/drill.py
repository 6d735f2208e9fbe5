"""The page of ``topospread drill``: harm, cause, workloads before and after, and events."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from topospread.answers.drill import DrilledEvent, DrilledWorkload, DrillResult, DrillStep
from topospread.answers.remedies import DrillRemedy
from topospread.answers.spread import PendingPods
from topospread.answers.words import counted, in_order, listed, natural
from topospread.api.inventory import key_of
from topospread.api.promises import has_quorum
from topospread.base import Bounds
from topospread.drill.result import SkewRange
from topospread.render.blocks import Bar, Cell, Fact, Page, Part, Role, Section, Span, Table, Verdict

from .pending import fix_facts, fix_sections, pending_sections, short, unaffected_facts, unjudged_facts, why_facts
from .pools import pool_table
from .spread_table import Row, constraint_sections, legend, matrix, matrix_key
from .traffic import traffic_steps

_NAMES = 3
_ALL = 1 << 30
_EVENTS = 12
"""Maximum number of events in a step with their own rows. Beyond it, events of one kind share a row."""
_DRAWN = 10
"""Maximum number of workloads with bars."""
_DOMAINS = 20


def page(answer: DrillResult) -> Page:
    """Return the page of a drill."""
    end = answer.steps[-1]
    parts: list[Part] = [
        Verdict(answer.verdict, answer.says),
        *why_facts(*_newly_pending(answer)),
        *(Fact("why", each.says) for each in answer.causes if not answer.newly_pending),
        *fix_facts(_first_fixes(answer.remedies), answer.untried),
        *_displaced(answer),
        *(unjudged_facts(answer.unjudged) if answer.verdict == "unknown" else _unjudged(answer)),
        *_facts(answer),
    ]
    if gone := _evicted_before(answer):
        parts.append(Section("", (Table(("EVICTED BEFORE THE FIRST STEP", "PODS", "NEW NODES"), gone),)))
    rows = list(_workloads(answer))
    if rows:
        key = matrix_key(spread for _, spread, *_ in rows)
        heads = ("BEFORE", "WORST", "END", "PENDING" if any(each.pending for each in _last(answer)) else "")
        table = matrix(rows, heads, key)
        counts = ((each, one) for each in _last(answer) for one in each.constraints if one.topology_key == key)
        fewer = any(one.domains and sum(one.domains.values()) < each.ready for each, one in counts)
        parts.append(Section("", (table, *legend(table, fewer=fewer))))
    if answer.fallback:
        rows = [
            (
                f"{each.namespace}/{each.name}",
                each.constraints,
                (each.step, f"{each.ready_soft}/{each.replicas}", each.pending_soft),
                "",
            )
            for each in answer.fallback
        ]
        title = "If hard constraints become soft while a domain is lost:"
        key = matrix_key(spread for _, spread, *_ in rows)
        parts.append(Section(title, (matrix(rows, ("AFTER STEP", "READY", "PENDING"), key),)))
    timed = any(step.ends for step in answer.steps)
    if len(answer.steps) > 2 or answer.ranges:
        parts.append(Section("", (_steps(answer, timed=timed),)))
    for number, step in enumerate(answer.steps):
        if step.events:
            parts.append(Section("", (_events(number, step, timed=timed),), wide=not number))
    parts += _all_names(answer, timed=timed)
    if answer.pools:
        parts.append(Section("", (pool_table(answer.pools),)))
    moved = [
        (f"after {number}" if number else "beginning", step.traffic)
        for number, step in enumerate(answer.steps)
        if step.traffic is not None
    ]
    if moved:
        parts.append(traffic_steps([(name, traffic) for name, traffic in moved if traffic is not None]))
    remarks = {remark: number for number, step in enumerate(answer.steps) for remark in step.remarks}
    if remarks:
        parts.append(Section("", tuple(Fact("note", _after(each, at, answer)) for each, at in remarks.items())))
    parts += _mending(answer)
    if answer.unjudged and answer.verdict != "unknown":
        parts.append(Section("", tuple(unjudged_facts(answer.unjudged)), wide=True))
    parts += fix_sections(answer.remedies)
    parts += pending_sections(end.pending)
    parts += _drawn(answer)
    for each in _last(answer):
        at = max(number for number, step in enumerate(answer.steps) if each in step.workloads)
        moments = (f"before step {at}" if at else "at first", "at the end")
        parts += constraint_sections(each.constraints, f"{each.namespace}/{each.name}", moments)
    if answer.notes:
        parts.append(Section("", tuple(Fact("note", each) for each in answer.notes), wide=True))
    return Page("Drill", tuple(parts))


def _displaced(answer: DrillResult) -> Iterator[Fact]:
    """Yield why pods that were evicted before the first step have no node, and the first fix of each cause."""
    left = {f"{group.namespace}/{pod}" for group in answer.steps[-1].pending for pod in group.pods}
    for each in [one for one in answer.displaced if left.intersection(one.pods)][:2]:
        names = listed([short(one) for one in each.workloads], 2)
        yield Fact("why", f"{names} ({counted(len(each.pods), 'evicted pod')}): {each.says}")
        yield from fix_facts(each.remedies[:1], whose={one.says: short(each.workloads[0]) for one in each.remedies})


def _evicted_before(answer: DrillResult) -> tuple[tuple[Cell, ...], ...]:
    """Return each workload that loses pods before the first step, with the number and the new nodes of its pods."""
    events = answer.steps[0].events
    gone, new = Counter[tuple[str, str]](), defaultdict[tuple[str, str], list[str]](list)
    for event in events:
        for group in event.pods:
            key = group.namespace, group.workload
            if event.kind == "evicted":
                gone[key] += len(group.nodes)
            elif event.kind == "placed" and key in gone:
                new[key] += group.nodes.values()
    missing = {key: pods - len(new[key]) for key, pods in gone.items()}
    return tuple(
        (
            f"{namespace}/{workload.partition('/')[2]}",
            pods,
            listed(in_order(new[namespace, workload]), _NAMES)
            + (f"; {missing[namespace, workload]} without a node" if new[namespace, workload] else "none")
            * (missing[namespace, workload] > 0),
        )
        for (namespace, workload), pods in gone.items()
    )


def _unjudged(answer: DrillResult) -> Iterator[Fact]:
    """Yield the pods that are not judged in a line, if they do not matter for the verdict."""
    groups = [each for step in (answer.steps[0], answer.steps[-1]) for each in step.pending]
    open_ = {pod for each in answer.unjudged for pod in each.pods}
    names = (
        f"{each.namespace}/{each.workload.partition('/')[2]}"
        for each in groups
        if any(f"{each.namespace}/{pod}" in open_ for pod in each.pods)
    )
    return unaffected_facts(answer.unjudged, [*dict.fromkeys(names)])


def _newly_pending(answer: DrillResult) -> tuple[list[PendingPods], list[int]]:
    """Return the groups with newly pending pods, and the number of each group's pods that were pending before."""
    before = {(group.namespace, pod) for group in answer.steps[0].pending for pod in group.pods}
    left, found = dict(answer.newly_pending), []
    for group in answer.steps[-1].pending:
        name = f"{group.namespace}/{group.workload}"
        new = min(left.get(name, 0), sum((group.namespace, pod) not in before for pod in group.pods))
        if new and group.causes:
            left[name] -= new
            found.append((group, len(group.pods) - new))
    return [group for group, _ in found], [old for _, old in found]


def _first_fixes(remedies: Sequence[DrillRemedy]) -> list[DrillRemedy]:
    """Return the first fix, and the next one that exceeds maxSkew by less."""
    excess = [max((one.skew - one.max_skew for one in each.tried.exceeds), default=0) for each in remedies]
    others = zip(remedies[1:], excess[1:], strict=True)
    return [*remedies[:1], *(each for each, less in others if less < excess[0] or not each.pending_without)][:2]


def clock(seconds: float) -> str:
    """Return a drill time: ``5:50``, ``1:05:00``."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def _after(remark: str, number: int, answer: DrillResult) -> str:
    """Return a remark, preceded by the step after which it holds; unchanged after the last step."""
    if number == len(answer.steps) - 1:
        return remark
    return f"{f'after step {number}' if number else 'at the beginning'}: {remark}"


def _name(number: int, step: DrillStep) -> str:
    return f"{number} {step.step}" if number else "beginning"


def _last(answer: DrillResult) -> list[DrilledWorkload]:
    """Return the last state of each changed workload, most newly pending pods first."""
    states = {key_of(each): each for step in answer.steps for each in step.workloads}
    return sorted(
        states.values(),
        key=lambda each: (
            -_new_of(answer, each),
            -each.pending,
            each.ready - each.replicas,
            each.namespace,
            each.name,
        ),
    )


def _new_of(answer: DrillResult, each: DrilledWorkload) -> int:
    return answer.newly_pending.get(f"{each.namespace}/{each.kind}/{each.name}", 0)


def _workloads(answer: DrillResult) -> Iterator[Row]:
    for last in _last(answer):
        told = [(step, each) for step in answer.steps for each in step.workloads if key_of(each) == key_of(last)]
        begin = told[0][1] if not told[0][0].step else None
        states = told[1:] if begin is not None else told
        if not states:
            continue
        # All nodes of a failure fail at once, before replacements exist. So add the pods that were unjudged before it.
        most = min(
            each.fewest + (before.unjudged if _is_only_failure(step) else each.unjudged)
            for (_, before), (step, each) in pairwise([told[0], *states])
        )
        fewest = min(each.fewest for _, each in states)
        role: Role = "bad" if last.pending > last.unjudged else "unsure" if last.unjudged else ""
        judged, new = last.pending - last.unjudged, _new_of(answer, last)
        number = f"{judged or ''}"
        if answer.pending_before and new:
            number = f"+{new}" if new == judged else f"+{new}, {judged} in all"
        pending = f"{number}{f' ? {last.unjudged}' if last.unjudged else ''}".strip()
        counts: tuple[Cell, ...] = (
            _ready(states[0][1].ready_before, told[0][1].replicas, begin.unjudged if begin is not None else 0),
            _ready(fewest, last.replicas, most - fewest),
            Span(_ready(last.ready, last.replicas, last.unjudged), role),
            Span(pending, role),
        )
        held = next((each.only_domain for each in last.constraints if each.only_domain), "")
        yield f"{last.namespace}/{last.name}", last.constraints, counts, f"all in {held}" if held else ""


def _ready(ready: int, replicas: int, unjudged: int) -> str:
    """Return the ready pods of a workload; if pods are not judged, the fewest and the most: ``0–3/3``.

    Old pods and unjudged new pods of a rollout may be more than the replicas; then the most is the replicas.
    """
    most = max(min(ready + unjudged, replicas), ready)
    return f"{Bounds(least=ready, most=most)}/{replicas}"


def _is_only_failure(step: DrillStep) -> bool:
    preempts = any(each.kind == "evicted" and each.detail.startswith("preempted") for each in step.events)
    return step.step.startswith("fail ") and not preempts


_KEEPING = ("fail ", "recover ", "cordon ", "uncordon ", "drain ", "force-drain ", "wait ")
"""Prefixes of steps that do not change the replicas of workloads."""


def _balance(answer: DrillResult) -> Iterator[Fact]:
    """Yield the number of evicted pods, and how many of their replacements are placed or pending."""
    events = [each for step in answer.steps[1:] for each in step.events]
    first, end = answer.steps[0], answer.steps[-1]
    before = {(each.namespace, pod) for each in first.pending for pod in each.pods}
    evicted, placed = (
        sum(
            (group.namespace, pod) not in before or kind == "evicted"
            for each in events
            for group in each.pods
            for pod in group.nodes
            if each.kind == kind
        )
        for kind in ("evicted", "placed")
    )
    pending = sum((each.namespace, pod) not in before for each in end.pending for pod in each.pods)
    missing = evicted - placed - pending
    open_ = sum(each.unjudged for each in end.workloads) - sum(each.unjudged for each in first.workloads)
    pending -= open_
    if (
        evicted
        and min(missing, pending, open_) >= 0
        and all(each.step.startswith(_KEEPING) for each in answer.steps[1:])
    ):
        again = f"{placed} {'has' if placed == 1 else 'have'} a node again"
        left = f"{pending} {'is' if pending == 1 else 'are'} pending"
        left += f", {open_} {'is' if open_ == 1 else 'are'} not judged" if open_ else ""
        gone = f"{missing} {'is' if missing == 1 else 'are'} not replaced"
        yield Fact("evicted", f"{counted(evicted, 'pod')}; {again}, {left}, {gone}")


def _before(answer: DrillResult) -> Iterator[Fact]:
    """Yield the pods that were pending before the steps, and the evictions since the input was read."""
    begin = answer.steps[0]
    unjudged = sum(each.unjudged for each in begin.workloads)
    before = answer.pending_before
    evicted = [each for each in begin.events if each.kind == "evicted"]
    if evicted:
        pods = [node for each in evicted for group in each.pods for node in group.nodes.values()]
        why = listed([*dict.fromkeys(each.detail for each in evicted)], 1)
        are = "is" if len(pods) == 1 else "are"
        words = f"{counted(len(pods), 'pod')} of {listed(in_order({*pods}), 1)} {are} evicted ({why})"
        yield Fact("before", f"{words} before the first step, which is at {clock(begin.ends)}")
    if before > unjudged:
        was, them = ("pod was", "it") if before == 1 else ("pods were", "them")
        but = f", except {unjudged} that {'is' if unjudged == 1 else 'are'} not judged" if unjudged else ""
        yield Fact("before", f"{before} {was} already pending; the verdict does not count {them}{but}")


def _outages(answer: DrillResult) -> Iterator[Fact]:
    """Yield which workloads of several replicas have no ready pod at some moment, and which StatefulSets keep or lose
    their quorum or, without one, most of their pods.
    """
    found: dict[tuple[str, str], list[str]] = {}
    gone: list[str] = []
    for last in _last(answer):
        states = [one for step in answer.steps[1:] for one in step.workloads if key_of(one) == key_of(last)]
        least = min((one.fewest for one in states), default=last.replicas)
        if last.replicas > 1 and least == 0 and states and states[0].ready_before and not last.unjudged:
            gone.append(f"{last.namespace}/{last.name} (of {last.replicas})")
        if last.kind == "StatefulSet" and last.replicas > 2 and least < last.replicas:
            most = least + max(one.unjudged for one in states)
            said = Bounds(least=2 * least, most=2 * most).at_least(last.replicas)
            what = "quorum" if has_quorum(last.kind, last.replicas) else "most pods"
            name = f"{last.namespace}/{last.name} ({least} of {last.replicas} left)"
            words = {"yes": "kept by", "no": "lost by", "unknown": "not decided for"}[said]
            if what == "quorum" or said != "yes":
                found.setdefault((what, words), []).append(name)
    if gone:
        yield Fact("no ready pod", f"at some moment: {listed(gone, _NAMES)}")
    for (what, words), names in sorted(found.items(), reverse=True):
        yield Fact(what, f"{words} {listed(names, _NAMES)}")


def _facts(answer: DrillResult) -> Iterator[Fact]:
    if answer.elsewhere:
        yield Fact("elsewhere", f"{answer.elsewhere}; the verdict is about -n {answer.namespace}")
    yield from _before(answer)
    yield from _balance(answer)
    yield from _outages(answer)
    if answer.fallback is not None:
        best = max(answer.fallback, key=lambda each: each.pending - each.pending_soft, default=None)
        gain = "no workload would gain from soft constraints while a domain is lost"
        if best is not None and best.pending > best.pending_soft:
            fewer = f"{counted(best.pending_soft, 'pod')} of {best.namespace}/{best.name} instead of {best.pending}"
            gain = f"with soft constraints while a domain is lost, {fewer} would be pending after step {best.step}"
        yield Fact("fallback", gain)
    early = {each.budget: each.healthy for each in answer.steps[0].breaches}
    for each in answer.breaches:
        lacks = f"had {counted(each.healthy, 'healthy pod')} and needs {each.needed}"
        already = f"; it had only {early[each.budget]} before, so it does not count" if each.budget in early else ""
        yield Fact("budget", f"{each.budget} {lacks}, at {clock(each.at)}{already}")
    for each in (breach for step in answer.steps for breach in step.breaches if breach.by_rollout):
        healthy = f"{counted(each.healthy, 'pod')} {'is' if each.healthy == 1 else 'are'} healthy"
        needs = f"the PodDisruptionBudget {each.budget} needs {each.needed} and would block an eviction"
        yield Fact("budget", f"during the rollout {healthy}; {needs}")
    left: dict[str, list[str]] = {}
    for step in answer.steps:
        for pod in step.not_evicted:
            left.setdefault(pod.why, []).append(f"{pod.namespace}/{pod.name} on {pod.node}")
    for why, pods in left.items():
        yield Fact("not evicted", f"{listed(pods, _NAMES)}: {why}")
    yield from _rollouts(answer)
    yield from _ranges(answer)
    for each_warning in answer.warnings:
        yield Fact("warning", each_warning)


def _rollouts(answer: DrillResult) -> Iterator[Fact]:
    for rollout in answer.steps[-1].rollouts:
        name = f"{rollout.namespace}/{rollout.name}"
        if rollout.over:
            done = f"complete, {rollout.replicas} of {rollout.replicas} pods" if rollout.replicas else "replaces no pod"
            yield Fact("rollout", f"{name}: {done}")
        else:
            old = f", {counted(rollout.old, 'old pod')} left" if rollout.old else ""
            stuck = "may be stuck" if answer.verdict == "unknown" else "stuck"
            yield Fact("rollout", f"{name}: {stuck} at {rollout.updated} of {rollout.replicas} pods{old}")
    for step in answer.steps:
        scaled = step.autoscaled
        if scaled is not None:
            name = f"{scaled.namespace}/{scaled.name}"
            if scaled.fits >= scaled.most:
                yield Fact(
                    "autoscaler", f"{name}: {scaled.least} to {scaled.most} replicas of {scaled.target} all find nodes"
                )
            else:
                breaks = f"pods of {scaled.target} are pending from {scaled.fits + 1} of {scaled.most} replicas"
                yield Fact("autoscaler", f"{name}: {breaks}" + (f": {scaled.why}" if scaled.why else ""))


def _ranges(answer: DrillResult) -> Iterator[Fact]:
    for number, each_range in enumerate(answer.ranges):
        if each_range.stuck:
            is_stuck = "may be stuck" if answer.verdict == "unknown" else "is stuck"
            yield Fact("runs", f"a rollout {is_stuck} in {each_range.stuck} of {answer.runs} runs (step {number})")
        for skew in each_range.skews:
            if skew.least != skew.most:
                name = skew.workload.partition(" ")[2]
                yield Fact(
                    "runs", f"{name}: skew {skew.least}–{skew.most} on {skew.topology_key} in {answer.runs} runs"
                )


def _steps(answer: DrillResult, *, timed: bool) -> Table:
    """Return a row for each step: its ready and pending pods, and its begin and end if time passes."""
    rows: list[tuple[Cell, ...]] = []
    # A step lists only the workloads that it changes; the skew of others stays.
    latest: dict[tuple[str, ...], int] = {}
    spans: dict[tuple[str, ...], SkewRange] = {}
    for number, step in enumerate(answer.steps):
        fewest: Cell = ""  # events count the pods of all namespaces
        if answer.namespace is None:
            fewest = min((each.ready for each in step.events), default=step.ready)
        unjudged = sum(each.unjudged for each in step.workloads)
        least = most = sum(len(group.pods) for group in step.pending)
        for one in step.workloads:
            hard = [each.skew for each in one.constraints if each.hard]
            latest |= {key_of(one): max(hard)} if hard else {}
        skew = str(max(latest.values())) if latest else ""
        if answer.ranges and answer.ranges[number].skews:
            of_all = answer.ranges[number]
            least, most = of_all.pending
            spans |= {(each.workload, each.topology_key): each for each in of_all.skews}
            skew = _span(max(each.least for each in spans.values()), max(each.most for each in spans.values()))
        pending = _span(least, most) if least < most or not unjudged else f"{least - unjudged} ? {unjudged}"
        times = (clock(step.begins), clock(step.ends)) if timed else ()
        rows.append((_name(number, step), *times, step.ready, fewest, pending, skew))
    heads = "READY", "FEWEST READY" if answer.namespace is None else "", "PENDING", "SKEW"
    return Table(("STEP", *(("BEGINS", "ENDS") if timed else ()), *heads), tuple(rows), most=50)


def _span(least: int, most: int) -> str:
    return str(least) if least == most else f"{least}–{most}"


def _events(number: int, step: DrillStep, *, timed: bool) -> Table:
    groups = [[each] for each in step.events]
    if len(groups) > _EVENTS:
        alike: dict[tuple[str, str], list[DrilledEvent]] = {}
        for each in step.events:
            target = each.detail.partition("=")[0] if each.kind == "scaled" else each.detail
            alike.setdefault((each.kind, target), []).append(each)
        groups = list(alike.values())
    rows = tuple((*((_time(each),) if timed else ()), _said(each)) for each in groups)
    return Table((*(("TIME",) if timed else ()), _name(number, step)), rows, most=_EVENTS)


def _all_names(answer: DrillResult, *, timed: bool) -> Iterator[Section]:
    """Yield the events whose pods or nodes the default output does not all name."""
    for number, step in enumerate(answer.steps):
        events = [
            each
            for each in step.events
            if max(len(each.nodes), sum(len(group.nodes) for group in each.pods)) > _NAMES + 1
        ]
        rows = tuple((*((_time([each]),) if timed else ()), _said([each], _ALL)) for each in events)
        if rows:
            heads = (*(("TIME",) if timed else ()), _name(number, step))
            yield Section("All names", (Table(heads, rows, most=len(rows)),), wide=True)


def _time(events: Sequence[DrilledEvent]) -> str:
    first, last = clock(events[0].at), clock(events[-1].at)
    return first if first == last else f"{first}–{last}"


_OF_NODES = {"down": "stopped answering", "up": "ready again", "cordoned": "cordoned", "uncordoned": "uncordoned"}


def _said(events: Sequence[DrilledEvent], shown: int = _NAMES) -> str:
    event, last = events[0], events[-1]
    nodes = [name for each in events for name in each.nodes]
    pods = [pod for each in events for group in each.pods for pod in group.nodes.items()]
    count = counted(len(pods), "pod")
    match event.kind:
        case "scaled" if len(events) > 1:
            target, _, most = last.detail.rpartition("=")
            words = f"{target} scaled to {most} in {len(events)} steps"
        case "scaled" | "applied":
            words = f"{event.detail} {event.kind}"
        case "rollout":
            words = f"{event.detail}: rollout begins"
        case "placed":
            words = f"{count} placed: {listed([f'{name} → {node}' for name, node in pods], shown)}"
        case "lost":
            words = f"{counted(len(pods), 'terminating pod')} deleted: {listed([name for name, _ in pods], shown)}"
        case "evicted":
            why = event.detail
            done = why if why.startswith(("deleted", "preempted", "replaced")) else f"evicted ({why})"
            names = [f"{name} on {node}" if node else name for name, node in pods]
            words = f"{count} {done}: {listed(names, shown)}"
        case _:
            done = _OF_NODES.get(
                event.kind, f"{event.kind} {event.detail.removeprefix('node.kubernetes.io/')}".rstrip()
            )
            words = f"{counted(len(nodes), 'node')} {done}: {listed(in_order(nodes), shown)}"
    return words


def _mending(answer: DrillResult) -> Iterator[Section]:
    if answer.mending:
        rows = tuple((each.pod, each.node, each.to) for each in answer.mending)
        removes = "1 eviction removes" if len(rows) == 1 else f"{len(rows)} evictions remove"
        title = f"{removes} the remaining skew, in this order:"
        yield Section(title, (Table(("EVICT", "FROM", "NEW POD ON"), rows),))
        return
    left = [one for each in answer.steps[-1].workloads for one in each.constraints if one.hard]
    if any(one.skew > one.max_skew for one in left) and any(each.step.startswith("recover ") for each in answer.steps):
        words = "the steps with --save FILE, then topospread rebalance --on FILE"
        yield Section("", (Fact("next", f"evictions may remove the remaining skew: {words}"),))


def _drawn(answer: DrillResult) -> Iterator[Section]:
    """Yield each domain's pods after each step as bars."""
    for last in _last(answer)[:_DRAWN]:
        key = matrix_key([last.constraints])
        columns: list[dict[str, int]] = []
        for step in answer.steps:
            state = next(
                (one for one in step.workloads if key_of(one) == key_of(last)),
                None,
            )
            constraints = state.constraints if state is not None else ()
            found = next((each for each in constraints if each.topology_key == key), None)
            if found is not None and not columns and step.step:
                columns.append(found.before)
            columns.append(found.domains if found is not None else columns[-1] if columns else {})
        columns = columns[-len(answer.steps) :]
        names = sorted({name for each in columns for name in each}, key=natural)
        if names and len(names) <= _DOMAINS:
            heads = [head for number in range(len(answer.steps)) for head in (str(number) if number else "begin", "")]
            rows = tuple(
                (name, *(cell for each in columns for cell in (each.get(name, 0), Bar(each.get(name, 0)))))
                for name in names
            )
            title = f"{last.namespace}/{last.name}: pods by {key} after each step"
            yield Section(title, (Table(("", *heads), rows, most=_DOMAINS),), wide=True)
