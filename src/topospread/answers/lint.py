"""The answer of `lint`: are the manifests free of errors and warnings?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Annotated, ClassVar

from msgspec import Meta, field

from topospread.answer import Answer, Asked, Unjudged
from topospread.base import Base
from topospread.errors import Place
from topospread.lint.problem import FieldEdit
from topospread.lint.reading import Read, WhyNotRead
from topospread.lint.rule import SEVERITIES
from topospread.lint.rule import Finding as FoundProblem
from topospread.lint.rules import BY_ID
from topospread.lint.run import LintReport
from topospread.sources.text import Text, shown_path

from .finding import Finding
from .words import counted, listed

_NO_RULE = {
    "resourceClaims": ("the devices of resource claims", "spec.resourceClaims"),
    "podGroups": ("pod groups, except for their spread constraints", "spec.schedulingGroup"),
}
_NAMES = 3
_LONGEST_LINE = 200
"""Longest line, in characters, that an answer quotes. One line of JSON can be a whole cluster."""


class RenderedPlace(Base, frozen=True, kw_only=True):
    """A place in the output of Helm or kustomize."""

    of: Annotated[str, Meta(description="Chart or kustomization.")]
    document: Annotated[int | None, Meta(description="YAML document from 1.")] = None
    line: Annotated[int | None, Meta(description="Line from 1.")] = None
    column: Annotated[int | None, Meta(description="Column from 1.")] = None


class LintFinding(Finding, frozen=True, kw_only=True):
    """A finding of a lint rule."""

    document: Annotated[int | None, Meta(description="YAML document of the file, from 1.")] = None
    field_path: Annotated[str, Meta(description="Field path; empty for the whole object.")] = field(
        default="", name="field"
    )
    text: Annotated[str, Meta(description="The line, shortened; empty if it is not known.")] = ""
    rendered: Annotated[RenderedPlace | None, Meta(description="Place in the output of Helm or kustomize.")] = None
    fix: Annotated[tuple[FieldEdit, ...], Meta(description="What `--fix` changes; empty if a person must decide.")] = ()
    suggestion: Annotated[
        tuple[FieldEdit, ...],
        Meta(description="What only `--unsafe-fixes` changes; a person must confirm that it is meant."),
    ] = ()
    link: Annotated[str, Meta(description="Page of the Kubernetes documentation.")] = ""


class IgnoredFinding(Finding, frozen=True, kw_only=True):
    """A finding that a comment or an annotation suppresses."""

    reason: Annotated[str, Meta(description="Reason in the comment or annotation; empty without one.")]


class LintSummary(Base, frozen=True, kw_only=True):
    """Numbers of a lint run."""

    files: Annotated[int, Meta(description="Number of files, charts and kustomizations.")]
    objects: Annotated[int, Meta(description="Number of objects that were judged.")]
    errors: Annotated[int, Meta(description="Number of errors.")]
    warnings: Annotated[int, Meta(description="Number of warnings.")]
    hints: Annotated[int, Meta(description="Number of hints.")]
    ignored: Annotated[int, Meta(description="Number of findings that comments or settings ignore.")]
    fixable: Annotated[int, Meta(description="Number of findings that `--fix` fixes.")]


class LeftOut(Base, frozen=True, kw_only=True):
    """A file that was not linted."""

    file: Annotated[str, Meta(description="Name of the file.")]
    why: Annotated[WhyNotRead, Meta(description="Kind of reason.")]


class Lint(Answer, frozen=True, kw_only=True):
    """The answer of `topospread lint`. The verdict is no if a finding is a warning or an error."""

    PAGE: ClassVar[str] = "topospread.render.pages.lint:page"

    findings: Annotated[tuple[LintFinding, ...], Meta(description="Findings in the order of the input.")]
    summary: Annotated[LintSummary, Meta(description="Numbers.")]
    left_out: Annotated[tuple[LeftOut, ...], Meta(description="Files that were not linted, with the reason.")]
    rules: Annotated[tuple[str, ...], Meta(description="Rules that ran; some rules need nodes.")]
    ignored: Annotated[
        tuple[IgnoredFinding, ...], Meta(description="Findings that comments and annotations suppress.")
    ] = ()


def lint_answer(report: LintReport) -> Lint:
    """Return the answer of a report."""
    texts = {text.name: text for _, text in report.read.texts}
    counts = Counter(each.severity for each in report.findings)
    summary = LintSummary(
        files=len(report.read.texts),
        objects=len(report.read.subjects),
        errors=counts["error"],
        warnings=counts["warning"],
        hints=counts["hint"],
        ignored=len(report.ignored),
        fixable=sum(bool(each.fix) for each in report.findings),
    )
    return Lint(
        kind="Lint",
        verdict="no"
        if not report.passed
        else "unknown"
        if report.read.broken or report.given.effort.left_out
        else "yes",
        says=_says(report, summary),
        unjudged=tuple(_unjudged(report)),
        on=Asked(
            source=", ".join(dict.fromkeys(shown_path(source.path) for source, _ in report.read.texts)),
            kube_version=str(report.given.version),
            gates={name: report.given.gates.enabled(name) for name in sorted(report.given.gates.overridden)},
            config=report.given.configuration.source if report.given.configuration is not None else "",
            nodes=len(report.given.inventory.nodes),
            pods=len(report.given.inventory.pods),
        ),
        findings=tuple(lint_finding(each, texts.get(each.text)) for each in report.findings),
        summary=summary,
        left_out=tuple(LeftOut(file=name, why=why) for name, why in sorted(report.read.left_out.items())),
        rules=tuple(sorted(report.asked)),
        ignored=tuple(
            IgnoredFinding.like(
                each.place,
                level=each.severity,
                rule=each.rule,
                says=each.message,
                file=each.place.source,
                reason=each.reason,
            )
            for each in report.ignored
        ),
    )


def lint_finding(found: FoundProblem, text: Text | None = None) -> LintFinding:
    """Return a finding in the form of answers.

    Args:
        found: the finding.
        text: the file with the finding.
    """
    place = found.place
    return LintFinding.like(
        place,
        level=found.severity,
        rule=found.rule,
        says=found.message,
        file=place.source,
        field_path=place.field,
        text=_line(text, found.rendered or place),
        rendered=_rendered(found.rendered),
        fix=found.fix,
        suggestion=found.suggestion,
        link=BY_ID[found.rule].link,
    )


def cases(report: LintReport) -> dict[str, list[tuple[str, list[LintFinding]]]]:
    """Return file → (object, findings) pairs, for JUnit."""
    by_subject: dict[int | None, list[LintFinding]] = {}
    for each in report.judged:
        key = id(each.subject) if each.subject is not None else None
        by_subject.setdefault(key, []).append(lint_finding(each.finding))
    found: dict[str, list[tuple[str, list[LintFinding]]]] = {text.name: [] for _, text in report.read.texts}
    for subject in report.read.subjects:
        found[subject.location.text.name].append((subject.label or "document", by_subject.get(id(subject), [])))
    for name, objects in found.items():
        own = [each for each in by_subject.get(None, []) if (each.rendered.of if each.rendered else each.file) == name]
        if own:
            objects.append(("comments", own))
    return found


def _unjudged(report: LintReport) -> Iterator[Unjudged]:
    """Yield parts of pods that no rule checks, with the affected objects, and the workloads that were not placed."""
    yield from not_placed(report.given.effort.left_out)
    found: dict[str, list[str]] = {}
    for _, pods in report.given.sources:
        name = f"{pods.item.kind} {pods.item.namespace or 'default'}/{pods.item.name}"
        if pods.spec.resource_claims:
            found.setdefault("resourceClaims", []).append(name)
        if pods.spec.scheduling_group or pods.spec.workload_ref:
            found.setdefault("podGroups", []).append(name)
    for what, names in found.items():
        words, path = _NO_RULE[what]
        yield Unjudged(what=what, because=f"no rule looks at {words} ({listed(names, _NAMES)})", field=path)


def not_placed(labels: Iterable[str]) -> Iterator[Unjudged]:
    """Yield one entry if some workloads were not placed because that took too long."""
    if left_out := list(labels):
        words = f"placing {counted(len(left_out), 'workload')} on the nodes would take too long"
        yield Unjudged(what="placements", because=f"{words} ({listed(left_out, _NAMES)})")


def _says(report: LintReport, summary: LintSummary) -> str:
    """Return the number of findings and files, and how many findings `--fix` fixes."""
    numbers = zip((summary.errors, summary.warnings, summary.hints), SEVERITIES, strict=True)
    parts = [counted(number, level) for number, level in numbers if number]
    text = f"{', '.join(parts) or 'no findings'} in {_judged(report.read)}"
    text += f", {summary.ignored} ignored" if summary.ignored else ""
    text += f"; {counted(report.read.unread, 'file')} with manifests left out" if report.read.unread else ""
    text += f"; {counted(len(report.read.broken), 'file')} could not be read" if report.read.broken else ""
    suggested = sum(bool(each.suggestion) for each in report.findings)
    fixes = [f"--fix corrects {summary.fixable}"] if summary.fixable else []
    if suggested:
        fixes.append(f"--unsafe-fixes {suggested} more" if fixes else f"--fix --unsafe-fixes corrects {suggested}")
    return text + (f" ({', '.join(fixes)})" if fixes else "")


def _judged(read: Read) -> str:
    """Return ``3 files`` or ``98 objects of 1 chart``. Objects are not counted if each file has one."""
    kinds = Counter(source.unit.noun if source.unit is not None else "file" for source, _ in read.texts)
    of = ", ".join(counted(number, kind) for kind, number in kinds.items()) or counted(0, "file")
    objects = len(read.subjects)
    return of if objects == kinds["file"] == kinds.total() else f"{counted(objects, 'object')} of {of}"


def _line(text: Text | None, place: Place) -> str:
    """Return the line at a place; of a long line, the part around the column."""
    if text is None or place.line is None:
        return ""
    start, end = text.bounds(place.line)
    column = place.column or 1
    if end - start > _LONGEST_LINE and column > _LONGEST_LINE // 2:
        start += column - _LONGEST_LINE // 4
    # A cut may split a UTF-8 character of up to four bytes; drop its remains.
    part = text.data[start : min(end, start + 4 * _LONGEST_LINE)].rstrip()
    return part.decode("utf-8", "ignore").replace("\t", " ")[:_LONGEST_LINE]


def _rendered(place: Place | None) -> RenderedPlace | None:
    if place is None:
        return None
    return RenderedPlace(of=place.source, document=place.document, line=place.line, column=place.column)
