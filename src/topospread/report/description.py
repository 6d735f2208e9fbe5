"""What a workload is promised, as a text for people and as plain data (``docs/reference/describe.md``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from topospread.base import API_VERSION

from .layout import Layout
from .paragraphs import counted, hanging

if TYPE_CHECKING:
    from topospread.promises import Description, Statement

_HEADS = (("yes", "Promised"), ("no", "Not promised"), ("not decided", "Not decided"))


def description_text(found: Description, layout: Layout) -> str:
    """The whole report: what is promised, what is not, and what was not decided."""
    head = f"{found.kind} {found.namespace}/{found.name}, {counted(found.replicas, 'replica')}"
    blocks = ["\n".join([layout.style(f"{head} on {counted(found.nodes, 'node')}", "bold"), *_terms(found, layout)])]
    for held, title in _HEADS:
        statements = [each for each in found.statements if each.held == held]
        if statements:
            lines = [line for each in statements for line in _statement(each, layout)]
            blocks.append("\n".join([layout.style(f"{title}:", "bold"), *lines]))
    blocks.append("\n".join(layout.remarks(found.warnings, found.notes)))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _terms(found: Description, layout: Layout) -> Iterator[str]:
    for each in found.constraints:
        yield from hanging("  ", each, layout.width, 4)


def _statement(each: Statement, layout: Layout) -> Iterator[str]:
    yield from hanging("- ", f"{each.text[:1].upper()}{each.text[1:]}".rstrip(".") + ".", layout.width, 2)
    yield from hanging("  ", f"checked by {each.checked}:", layout.width, 4)
    yield f"    {each.command}"


def description_json(found: Description) -> dict[str, Any]:
    """All of it, keys always in the same order."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Description",
        "workload": {"kind": found.kind, "namespace": found.namespace, "name": found.name, "replicas": found.replicas},
        "nodes": found.nodes,
        "constraints": list(found.constraints),
        "statements": [
            {
                "about": each.about,
                "held": each.held,
                "text": each.text,
                "topologyKey": each.key or None,
                "figures": dict(each.figures),
                "checked": each.checked,
                "command": each.command,
            }
            for each in found.statements
        ],
        "warnings": list(found.warnings),
        "notes": list(found.notes),
    }
