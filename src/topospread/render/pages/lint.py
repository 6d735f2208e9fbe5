"""The page of `lint`: findings by file, with source lines under ``-o wide``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from topospread.lint.rule import SEVERITIES
from topospread.render.blocks import Code, Fact, Page, Part, Section, Verdict

if TYPE_CHECKING:
    from topospread.answers.lint import Lint, LintFinding
    from topospread.lint.problem import FieldEdit


_CLAUSE = re.compile("[:,] (?:so )?")


def page(answer: Lint) -> Page:
    """Return the page of a lint answer."""
    parts: list[Part] = [Verdict(answer.verdict, answer.says)]
    parts += [Fact("not judged", each.because) for each in answer.unjudged]
    parts += [
        Section(file, tuple(part for alike in _of_one_mistake(found) for part in _finding(*alike)))
        for file, found in groupby(answer.findings, lambda each: each.file)
    ]
    if answer.findings:
        parts.append(Fact("why a rule", "", f"topospread explain {min(answer.findings, key=_rank).rule}"))
    ignored = tuple(
        Fact(f"{each.where} {each.level}", f"{each.rule}: {each.says} (reason: {each.reason or 'none given'})")
        for each in answer.ignored
    )
    parts += [Section("Ignored findings", ignored, wide=True)] if ignored else []
    return Page(f"lint: {answer.says}", tuple(parts))


def _rank(each: LintFinding) -> int:
    return SEVERITIES.index(each.level)


def _of_one_mistake(found: Iterable[LintFinding]) -> list[list[LintFinding]]:
    """Return the findings, worst first. Rules whose messages at one place begin with the same clause are together."""
    groups: dict[object, list[LintFinding]] = {}
    for each in sorted(found, key=_rank):
        is_plain = not (each.fix or each.suggestion)
        key = (each.line, each.column, each.document, each.object, each.level, _CLAUSE.split(each.says)[0])
        is_alone = not is_plain or any(one.rule == each.rule for one in groups.get(key, ()))
        groups.setdefault(id(each) if is_alone else key, []).append(each)
    return list(groups.values())


def _finding(each: LintFinding, *more: LintFinding) -> Iterator[Part]:
    rules = " and ".join(one.rule for one in (each, *more))
    says = "; ".join((each.says, *("".join(_CLAUSE.split(one.says, maxsplit=1)[1:]) for one in more)))
    of = f" ({each.object}{_document(each)})" if each.object else ""
    fix = " (--fix)" if each.fix else ""
    yield Fact(f"{each.line or 1}:{each.column or 1} {each.level}", f"{rules}{of}: {says}{fix}")
    if each.suggestion:
        yield Fact("suggested", f"{'; '.join(map(_edit, each.suggestion))} (--fix --unsafe-fixes)")
    if each.text:
        line = each.rendered.line if each.rendered is not None else each.line
        rendered = "rendered " if each.rendered is not None else ""
        yield Section("", (Code(f"{rendered}{line} | {each.text}"),), wide=True)


def _edit(edit: FieldEdit) -> str:
    field = edit.path.partition("].")[2] or edit.path
    return f"remove {field}" if edit.op == "remove" else f"{field}: {json.dumps(edit.value, ensure_ascii=False)}"


def _document(each: LintFinding) -> str:
    """Return the document's number for piped input, which has no file to open."""
    return f", document {each.document}" if each.file == "-" and each.document is not None else ""
