"""A design as a text whose YAML can be applied as it is, and as plain data (``docs/reference/design.md``)."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from topospread.base import API_VERSION

from .layout import Layout
from .paragraphs import counted

if TYPE_CHECKING:
    from topospread.designing import Design

Json = dict[str, Any]


def design_text(found: Design, layout: Layout) -> str:
    """YAML with everything that is not YAML in comments; with nothing to apply it is comments alone."""
    verdict = "promises" if found.promises else "cannot promise"
    head = f"{found.kind} {found.namespace}/{found.name}: this {verdict}"
    lines = [*_comments(head, layout), *(line for each in found.asked for line in _comments(f"- {each}", layout))]
    lines += _comments(f"checked ({counted(found.tried, 'design')} tried):", layout)
    lines += [line for each in found.checked for line in _comments(f"- {each}", layout)]
    if found.unmet:
        title = "not promised beside it:" if found.promises else "what stands against it:"
        lines += _comments(title, layout)
        lines += [line for each in found.unmet for line in _comments(f"- {each}", layout)]
    for warning in found.warnings:
        lines += _comments(f"warning: {warning}", layout)
    for note in found.notes:
        lines += _comments(f"note: {note}", layout)
    if found.promises and not found.manifest:
        lines += _comments("nothing has to be added", layout)
    if found.manifest:
        lines += _comments("apply: kubectl apply --server-side --force-conflicts -f FILE", layout)
    return "".join(f"{each}\n" for each in lines) + found.manifest


def _comments(text: str, layout: Layout) -> Iterator[str]:
    yield from textwrap.wrap(
        text,
        layout.width,
        initial_indent="# ",
        subsequent_indent="#   ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def design_json(found: Design) -> Json:
    """All of it, keys always in the same order."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Design",
        "workload": {"kind": found.kind, "namespace": found.namespace, "name": found.name, "replicas": found.replicas},
        "asked": list(found.asked),
        "promises": found.promises,
        "lines": [{"line": each.line, "reason": each.reason} for each in found.lines],
        "manifest": found.manifest,
        "checked": list(found.checked),
        "unmet": list(found.unmet),
        "tried": found.tried,
        "warnings": list(found.warnings),
        "notes": list(found.notes),
    }
