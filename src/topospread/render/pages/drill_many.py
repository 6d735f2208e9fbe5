"""The pages of ``topospread drill --each`` and ``--check``."""

from __future__ import annotations

from topospread.answers.drill_many import DrillCheck, DrillEach
from topospread.answers.words import listed, noun_of
from topospread.drill.each import DrillOutcome
from topospread.drill.notes import STATEFUL_SETS_WAIT
from topospread.render.blocks import Fact, Page, Part, Role, Section, Span, Table, Verdict

from .drill import clock
from .pending import unaffected_facts, unjudged_facts

_HEADS = {"zone": "ZONE LOST", "node": "NODE LOST", "deploy": "ROLLOUT OF"}
_ROLES: dict[str, Role] = {"yes": "good", "no": "bad", "unknown": "unsure"}
_SHOWN = 20


def page_of_each(answer: DrillEach) -> Page:
    """Return the page of the drills of every zone, node or Deployment."""
    rows = tuple((each.target, each.lost, each.pending, clock(each.settled), _words(each)) for each in answer.outcomes)
    depends = any(each.verdict == "unknown" for each in answer.outcomes)
    open_ = unjudged_facts(answer.unjudged) if depends else unaffected_facts(answer.unjudged)
    parts: list[Part] = [Verdict(answer.verdict, answer.says), *open_]
    parts += [Fact("warning", each) for each in answer.warnings]
    if any(each.not_replaced for each in answer.outcomes):
        parts.append(Fact("not replaced", STATEFUL_SETS_WAIT))
    table = Table((_HEADS[answer.each], "PODS LOST", "PENDING", "DONE AFTER", ""), rows, most=_SHOWN)
    parts.append(Section("", (table,)))
    if answer.unjudged and not depends:
        parts.append(Section("", tuple(unjudged_facts(answer.unjudged)), wide=True))
    return Page("Drills", tuple(parts))


def _words(each: DrillOutcome) -> str:
    parts = [f"pending: {listed(each.pending_of, 3)}"] if each.pending_of else []
    if each.lost_quorum:
        parts.append(f"too few left: {listed([str(one) for one in each.lost_quorum], 3)}")
    if each.gone:
        parts.append(f"no pod left of {listed(each.gone, 3)}")
    if each.broken:
        parts.append(f"budgets broken: {listed(each.broken, 3)}")
    if each.stuck:
        parts.append("its rollout is stuck")
    if each.not_replaced:
        parts.append(f"not replaced: {listed(each.not_replaced, 3)}")
    parts += [f"{noun_of(one.topology_key)} skew up to {one.skew}, over maxSkew {one.max_skew}" for one in each.exceeds]
    if each.verdict == "unknown":
        parts.append(f"{each.unjudged} not judged")
    return "; ".join(parts)


def page_of_check(answer: DrillCheck) -> Page:
    """Return the page of Drill files, those with unmet expectations first."""
    rows = []
    for each in sorted(answer.drills, key=lambda each: ("no", "unknown", "yes").index(each.verdict)):
        rows.append((Span(each.verdict, _ROLES[each.verdict]), each.name, each.file))
        rows += [(Span(""), f"line {one.line or 1}", f"{one.message} ({one.path})") for one in each.shortfalls]
    table = Table(("MET", "DRILL", ""), tuple(rows), most=50)
    return Page("Drills of files", (Verdict(answer.verdict, answer.says), Section("", (table,))))
