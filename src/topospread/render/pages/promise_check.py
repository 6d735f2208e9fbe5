"""The page of ``promise check``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from topospread.answers.promise_check import CheckedPromise, OrderedPod, PromiseCheck, PromiseRemedy
from topospread.answers.words import agreeing, listed
from topospread.promise.kept import told
from topospread.render.blocks import Fact, Page, Part, Role, Section, Span, Table, Verdict

from .pending import unjudged_facts

_KEPT: dict[str, tuple[str, Role]] = {
    "yes": ("kept", "good"),
    "no": ("not kept", "bad"),
    "unknown": ("not decided", "unsure"),
}


def page(answer: PromiseCheck) -> Page:
    """Return the page of a promise check."""
    broken = [each for each in answer.promises if each.verdict == "no" and each.order]
    parts: list[Part] = [Verdict(answer.verdict, answer.says)]
    parts += [Fact("why", each.says) for each in answer.causes[:2]]
    parts += tried_fixes(answer.remedies)
    if any(each.drill for each in broken):
        parts.append(
            Fact("next", "--save-drill FILE writes a counterexample as a drill, which fails until the promise is kept")
        )
    parts += unjudged_facts(answer.unjudged[:2])
    if answer.verdict == "unknown":
        parts.append(Fact("exit code", "4; --allow-unknown makes it 0"))
    order = {"no": 0, "unknown": 1, "yes": 2}
    rows = sorted(answer.promises, key=lambda each: order[each.verdict])
    heads = "WORKLOAD", "", "PROMISE", "REASON"
    parts.append(Section("", (Table(heads, tuple(map(_row, rows)), more="promises"),)))
    parts += [
        Section(f"{each.workload} {each.want}: the counterexample", (_steps(each),), wide=True) for each in broken
    ]
    parts += [Fact("warning", each) for each in answer.warnings]
    if answer.notes:
        parts.append(Section("", tuple(Fact("note", each) for each in answer.notes), wide=True))
    return Page(answer.says, tuple(parts))


def tried_fixes(remedies: Iterable[PromiseRemedy]) -> Iterator[Fact]:
    """Yield each change with the promises that it keeps."""
    for each in remedies:
        yield Fact("fix", f"{each.says}; tried: {' and '.join(each.keeps)} {agreeing('are kept', len(each.keeps))}")


def _row(each: CheckedPromise) -> tuple[Span, ...]:
    word, role = _KEPT[each.verdict]
    namespace, _, name = each.workload.split("/", 2)
    ground = told(each.when, each.says)
    if each.declared and each.verdict != "yes":
        ground += f" ({each.declared})"
    return Span(f"{namespace}/{name}", "name"), Span(word, role), Span(each.want), Span(ground)


def _steps(each: CheckedPromise) -> Table:
    rows = tuple((number, _happens(step)) for number, step in enumerate(each.order, 1))
    return Table(("", "STEP"), rows)


def _happens(step: OrderedPod) -> str:
    name = f"{step.namespace}/{step.workload.partition('/')[2]}"
    match step.does:
        case "ready":
            return f"a new pod of {name} is ready"
        case "deleted":
            return f"an old pod of {name} on {step.node} is deleted"
        case "gone":
            return f"the deleted pod of {name} on {step.node} is gone"
    others = f" (or {listed(step.equal, 3)})" if step.equal else ""
    if step.does == "stands":
        return f"an old pod of {name} runs on {step.node}{others}"
    return f"a pod of {name} is placed on {step.node}{others}" if step.node else f"a pod of {name} is pending"
