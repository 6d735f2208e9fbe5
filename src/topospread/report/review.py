"""A change of manifests for people: as text, and as Markdown for a comment on a pull request; computes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from topospread.answers.lint import lint_finding
from topospread.linting.rule import Finding

from .comparison import comparison_text, restricted
from .layout import Layout
from .paragraphs import counted, hanging

if TYPE_CHECKING:
    from topospread.review.review import Review
    from topospread.simulation.comparison import Comparison, SpreadChange, WorkloadChange

_ROWS: Final = 30
"""Of so many workloads and findings a comment shows rows: GitHub takes 65,536 characters."""


def review_text(review: Review, layout: Layout, namespace: str | None = None) -> str:
    """What a change does, for a terminal.

    Raises:
        UsageError: there is nothing in the namespace.
    """
    blocks = [comparison_text(review.comparison, layout, namespace).rstrip("\n")]
    for title, findings in (("New findings", review.new), ("Findings that are gone", review.gone)):
        if findings:
            blocks.append("\n".join([layout.style(title, "bold"), *_findings(findings, layout)]))
    blocks.append("\n".join(hanging("", _verdict(review, layout), layout.width, 2)))
    return "\n\n".join(blocks) + "\n"


def _verdict(review: Review, layout: Layout) -> str:
    if not review.worse:
        return "nothing gets worse"
    return f"{layout.style('worse', 'bold', 'red')}: {', '.join(review.reasons)}"


def _findings(findings: Sequence[Finding], layout: Layout) -> Iterator[str]:
    shown = findings if layout.few(len(findings)) else findings[: layout.most]
    for each in shown:
        head = f"  {lint_finding(each).where}: {each.severity}: {each.rule}"
        yield from hanging(head + " ", f"({each.place.object})" if each.place.object else "", layout.width, 4)
        yield from hanging("    ", each.message, layout.width, 4)
    if len(shown) < len(findings):
        yield f"  and {len(findings) - len(shown)} more; -o wide lists them"


def review_markdown(review: Review, namespace: str | None = None) -> str:
    """What a change does, as GitHub's and GitLab's Markdown.

    Raises:
        UsageError: there is nothing in the namespace.
    """
    comparison = review.comparison if namespace is None else restricted(review.comparison, namespace)
    names = " → ".join(_code(each) for each in comparison.names)
    verdict = f"⚠️ worse: {', '.join(review.reasons)}" if review.worse else "✅ nothing gets worse"
    blocks = [f"### topospread plan: {names}", f"**{verdict}**"]
    changed = [each for each in comparison.workloads if each.moved or each.spreads]
    blocks.append(_table(changed, review) if changed else "Every pod stays where it was.")
    sections = (
        ("Newly pending", _pending(comparison)),
        ("New findings", [_finding(each) for each in review.new]),
        ("Findings that are gone", [_finding(each) for each in review.gone]),
    )
    for title, lines in sections:
        if lines:
            more = [f"- and {len(lines) - _ROWS} more"] if len(lines) > _ROWS else []
            blocks.append("\n".join([f"**{title}**", "", *lines[:_ROWS], *more]))
    return "\n\n".join(blocks) + "\n"


def _table(changed: Sequence[WorkloadChange], review: Review) -> str:
    rows = ["| workload | pods placed | on other nodes | skew | why |", "|---|---|---|---|---|"]
    rows += [_row(each, review) for each in changed[:_ROWS]]
    if len(changed) > _ROWS:
        rows.append(f"| and {len(changed) - _ROWS} more | | | | |")
    return "\n".join(rows)


def _row(change: WorkloadChange, review: Review) -> str:
    before, after = change.pods
    elsewhere = sum(None not in each.nodes for each in change.moved)
    own = {each.key for each in change.moved}
    why = next((cause.sentence for key, cause in review.comparison.why.items() if key in own), "")
    skews = [_skew(each, review) for each in change.spreads if _differs(each)]
    cells = (
        f"{_code(f'{change.workload.namespace}/{change.workload.name}')} {change.workload.kind}",
        str(after) if before == after else f"{before} → {after}",
        str(elsewhere or ""),
        "<br>".join(skews),
        _code(why) if why else "",
    )
    return f"| {' | '.join(cells)} |"


def _differs(change: SpreadChange) -> bool:
    return change.before is None or change.after is None or change.before.skew != change.after.skew


def _skew(change: SpreadChange, review: Review) -> str:
    sides = [str(side.skew) if side else "none" for side in (change.before, change.after)]
    mark = " ⚠️" if change in review.exceeded else ""
    return f"{_code(change.spread.topology_key)} {' → '.join(sides)} (maxSkew {change.spread.max_skew}){mark}"


def _pending(comparison: Comparison) -> list[str]:
    pods = {(each.pod.namespace, each.after.name) for each in comparison.newly_pending if each.after is not None}
    lines = []
    for group in comparison.after.pending:
        number = sum((group.namespace, name) in pods for name in group.pods)
        if number:
            name = f"{group.namespace}/{group.workload.rpartition('/')[2]}"
            lines.append(f"- {_code(name)}, {counted(number, 'pod')}: {_code(group.message)}")
    return lines


def _finding(finding: Finding) -> str:
    place = (
        f"{_code(lint_finding(finding).where)}, {_code(finding.place.object)}"
        if finding.place.object
        else _code(lint_finding(finding).where)
    )
    return f"- {finding.severity} {_code(finding.rule)} at {place}: {_code(finding.message)}"


def _code(text: str) -> str:
    """Return text of the input as a code span: GitHub and GitLab read no mention, link, image or HTML in it.

    A backtick would end the span and a bar the cell of a table, so that other signs take their places.
    """
    return f"`{' '.join(text.split()).replace('`', chr(39)).replace('|', '¦') or ' '}`"
