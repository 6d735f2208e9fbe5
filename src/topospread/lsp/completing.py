"""Complete field values of spread constraints: the cluster's topology keys, and Kubernetes' allowed values."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from lsprotocol.types import CompletionItem, CompletionItemKind, Position, Range, TextEdit

from topospread.answers.words import counted
from topospread.api.fields import FIELDS
from topospread.api.node import Node
from topospread.api.well_known_labels import HOSTNAME, REGION, ZONE

from .lines import Lines

_KEY: Final = "topologyKey"
_FIELDS: Final = (_KEY, *(name for name, each in FIELDS.items() if each.enum))
_BEFORE: Final = re.compile(rf"""(?<![\w-])(?:{"|".join(_FIELDS)})["']?[ \t]*:[ \t]+["']?([\w./-]*)$""")
_AFTER: Final = re.compile(r"[\w./-]*")
_WELL_KNOWN: Final = {
    ZONE: "each zone is a domain",
    HOSTNAME: "each node is a domain",
    REGION: "each region is a domain",
}
_LONGEST: Final = 1000
"""Number of characters before the cursor that are read."""


def completions(lines: Lines, at: Position, nodes: Sequence[Node]) -> Iterator[CompletionItem]:
    """Yield the allowed values of the field at the cursor; nothing if any value is allowed.

    Args:
        nodes: nodes of the cluster, whose labels are offered as topology keys; without nodes, well-known keys are
            offered.
    """
    if at.line >= len(lines.lines):
        return
    line, column = lines.lines[at.line], lines.column(at)
    begin = max(0, column - _LONGEST)
    found = _BEFORE.search(line[begin:column])
    behind = _AFTER.match(line, column)
    if found is None or behind is None:
        return
    name = re.match(r"\w+", found[0])
    assert name is not None
    values = _topology_keys(nodes) if name[0] == _KEY else dict.fromkeys(FIELDS[name[0]].enum, "")
    replaced = Range(lines.position(at.line, begin + found.start(1)), lines.position(at.line, behind.end()))
    for number, (value, detail) in enumerate(values.items()):
        yield CompletionItem(
            label=value,
            detail=detail,
            kind=CompletionItemKind.EnumMember,
            sort_text=f"{number:04}",
            filter_text=value,
            text_edit=TextEdit(replaced, value),
        )


def _topology_keys(nodes: Sequence[Node]) -> dict[str, str]:
    """Return label key → its domains and nodes in words: well-known keys first, then keys on the most nodes."""
    if not nodes:
        return _WELL_KNOWN
    domains: defaultdict[str, set[str]] = defaultdict(set)
    having: defaultdict[str, int] = defaultdict(int)
    for node in nodes:
        for key, value in node.labels.items():
            domains[key].add(value)
            having[key] += 1
    first = [key for key in _WELL_KNOWN if key in having]
    keys = dict.fromkeys([*first, *sorted(having, key=lambda key: (-having[key], key))])
    return {key: f"{counted(len(domains[key]), 'domain')} of {counted(having[key], 'node')}" for key in keys}
