"""Print the documentation of spread constraints like ``kubectl explain``. ``field_docs.py`` has the texts.

Source of the layout: k8s.io/kubectl ``pkg/explain/v2/templates/plaintext.tmpl``.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence

from topospread.errors import UsageError
from topospread.text import did_you_mean

from .field_docs import TOPOLOGY_SPREAD_CONSTRAINTS, FieldDoc

__all__ = ["FIELDS", "TOPOLOGY_SPREAD_CONSTRAINTS", "FieldDoc", "explain", "paths"]

FIELDS: Mapping[str, FieldDoc] = {each.name: each for each in TOPOLOGY_SPREAD_CONSTRAINTS.fields}
"""The eight fields of a constraint, by name."""

_HEADER = "KIND:       Pod\nVERSION:    v1\n"
_ROOT = TOPOLOGY_SPREAD_CONSTRAINTS.name
_NARROWEST = 40
_INDEX = re.compile(r"\[[^]]*\]")


def explain(path: str = "", *, width: int = 80) -> str:
    """Return the documentation of a field and the fields below it, ending in a newline.

    Args:
        path: path of the field, ``topologySpreadConstraints.minDomains``, or the name of a constraint's field. It may
            start with ``pod.spec.``, and lists may have ``[0]`` or ``[*]``. Empty is the whole list.
        width: columns to wrap the text at.

    Raises:
        UsageError: if the field does not exist; with similar names.
    """
    doc = _find(path)
    columns = max(width, _NARROWEST)
    lines = [_HEADER, f"FIELD: {doc.name} <{doc.type}>"]
    lines += ["ENUM:", *(f"    {each}" for each in doc.enum), ""] if doc.enum else ["", ""]
    lines += ["DESCRIPTION:", *_wrapped(doc.text, 4, columns), ""]
    if doc.default:
        lines += ["DEFAULT:", *_wrapped([doc.default], 4, columns), ""]
    if doc.since:
        lines += ["SINCE:", *(line for each in doc.since for line in _hanging(f"{each[0]}  ", each[1], columns)), ""]
    if doc.notes:
        lines += ["NOTES:", *(line for note in doc.notes for line in _hanging("- ", note, columns)), ""]
    if doc.fields:
        lines += ["FIELDS:", *(line for each in doc.fields for line in _entry(each, columns))]
    return "\n".join(lines).rstrip("\n") + "\n"


def paths() -> list[str]:
    """Return every documented path, parents before children."""
    return [_ROOT, *_below(TOPOLOGY_SPREAD_CONSTRAINTS, _ROOT)]


def _below(doc: FieldDoc, path: str) -> list[str]:
    return [each for below in doc.fields for each in (f"{path}.{below.name}", *_below(below, f"{path}.{below.name}"))]


def _find(path: str) -> FieldDoc:
    names = [name for name in _INDEX.sub("", path.strip()).split(".") if name]
    if names and names[0].lower() in ("pod", "pods", "po"):
        del names[0]
    if names and names[0] == "spec":
        del names[0]
    doc = TOPOLOGY_SPREAD_CONSTRAINTS
    if names and names[0] == _ROOT:
        del names[0]
    elif names and names[0] not in FIELDS:
        raise UsageError(_unknown(names[0], [_ROOT, *FIELDS], _ROOT))
    for name in names:
        below = doc.field(name)
        if below is None:
            raise UsageError(_unknown(name, [each.name for each in doc.fields], doc.name))
        doc = below
    return doc


def _unknown(name: str, known: Sequence[str], parent: str) -> str:
    if not known:
        return f'field "{name}" does not exist: {parent} has no fields'
    lower = {each.lower(): each for each in known}
    hint = did_you_mean(name.lower(), lower, f"fields: {', '.join(known)}")
    return f'field "{name}" does not exist in {parent}{hint}'


def _entry(doc: FieldDoc, width: int) -> list[str]:
    lines = [f"  {doc.name}\t<{doc.type}>" + (" -required-" if doc.required else "")]
    if doc.enum:
        lines.append(f"  enum: {', '.join(doc.enum)}")
    lines += _wrapped(doc.text, 4, width)
    if doc.default:
        lines += ["", *_wrapped([f"Default: {doc.default}"], 4, width)]
    return [*lines, ""]


def _wrapped(paragraphs: Sequence[str], indent: int, width: int) -> list[str]:
    """Return paragraphs separated by empty lines; paragraphs that begin with a space are not wrapped."""
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += [""] if lines else []
        if paragraph.startswith(" "):
            lines += [" " * indent + line for line in paragraph.splitlines()]
        else:
            lines += _filled(" " * indent, " " * indent, paragraph, width)
    return lines


def _hanging(mark: str, text: str, width: int) -> list[str]:
    return _filled(f"    {mark}", "    " + " " * len(mark), text, width)


def _filled(first: str, rest: str, text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
