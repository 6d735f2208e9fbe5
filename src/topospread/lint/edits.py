"""Turn a change of an object into replaced characters of its text. Comments and formatting stay.

A change is not made if it would affect other text: at anchors and aliases, or for a mapping's only field.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple

from topospread.api.yaml_scalars import ScalarError, plain_scalar
from topospread.sources.json_layout import TextValue
from topospread.sources.positions import Path, parse_path

from .problem import FieldEdit

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_END_OF_LIST: Final = "-"


class Splice(NamedTuple):
    """Characters to replace. Offsets are those of the text's nodes."""

    start: int
    end: int
    text: str


def splice_of(edit: FieldEdit, root: TextValue, text: str, *, as_json: bool) -> Splice | None:
    """Return the replacement for a change; None if a local replacement is not possible.

    Args:
        edit: the change.
        root: the object's node.
        text: the text to which the nodes' offsets refer.
        as_json: whether the text is JSON rather than YAML with flow mappings.
    """
    path = parse_path(edit.path)
    parent = _find(root, path[:-1])
    if parent is None:
        return None
    writer = _Writer(text, as_json)
    step = path[-1]
    target = parent.child(step)
    if edit.op == "remove":
        return writer.removed(parent, target) if target is not None else None
    if target is not None:
        return writer.replaced(target, edit.value)
    if edit.op == "replace" or parent.form not in ("mapping", "list"):
        return None
    if parent.form == "list":
        return writer.appended(parent, edit.value) if step == _END_OF_LIST else None
    return writer.added(parent, str(step), edit.value)


def changed(value: Any, edit: FieldEdit) -> Any:
    """Return plain data with a change made: the expected content of the edited text."""
    path = parse_path(edit.path)
    holder = value
    for step in path[:-1]:
        holder = holder[step if isinstance(holder, list) or step in holder else str(step)]
    step = path[-1]
    if edit.op == "remove":
        del holder[step]
    elif isinstance(holder, list) and step == _END_OF_LIST:
        holder.append(edit.value)
    else:
        holder[step] = edit.value
    return value


def _find(root: TextValue, path: Path) -> TextValue | None:
    node: TextValue | None = root
    for step in path:
        node = node.child(step) if node is not None else None
    return node


class _Writer:
    """Creates replacements in one text."""

    def __init__(self, text: str, as_json: bool) -> None:
        self.text = text
        self.as_json = as_json
        first = text.find("\n")
        self.newline = "\r\n" if text.endswith("\r", 0, max(first, 0)) else "\n"

    def replaced(self, node: TextValue, value: Any) -> Splice | None:
        """Replace a value. None for block collections and block scalars, which need a human editor."""
        old = self.text[node.start : node.end]
        if node.form == "alias" or old[:1] in ("&", "!") or node.style in ("|", ">"):
            return None
        if node.form == "scalar" and not old:  # the value after the colon is empty
            return Splice(node.start, node.end, f" {self._flow(value)}")
        if node.form != "scalar" and not node.flow:
            return None
        quoted = self.as_json or node.style == '"'
        if isinstance(value, str) and quoted:
            return Splice(node.start, node.end, json.dumps(value, ensure_ascii=False))
        if isinstance(value, str) and node.style == "'":
            return Splice(node.start, node.end, "'" + value.replace("'", "''") + "'")
        return Splice(node.start, node.end, self._flow(value))

    def added(self, node: TextValue, key: str, value: Any) -> Splice | None:
        """Append a field to a mapping."""
        if node.flow:
            return self._added_in_brackets(node, f"{self._flow(key)}: {self._flow(value)}")
        last = list(node.children.values())[-1] if node.children else None
        if last is None or last.key is None:
            return None
        first = next(iter(node.children.values()))
        return self._behind(node, self._block(key, value, self._column(first.begin)))

    def appended(self, node: TextValue, value: Any) -> Splice | None:
        """Append an item to a list."""
        if node.flow:
            return self._added_in_brackets(node, self._flow(value))
        return self._behind(node, self._item(value, self._column(node.start)))

    def removed(self, parent: TextValue, node: TextValue) -> Splice | None:
        """Remove a field or an item; None if it is the only one."""
        siblings = list(parent.children.values())
        at = next(index for index, each in enumerate(siblings) if each is node)
        following = siblings[at + 1] if at + 1 < len(siblings) else None
        if len(siblings) == 1:
            return None
        if parent.flow:
            if following is not None:
                return Splice(node.begin, following.begin, "")
            return Splice(siblings[at - 1].end, node.end, "")
        begin = node.begin if node.key is not None else self.text.rfind("-", 0, node.start)
        line = self.text.rfind("\n", 0, begin) + 1
        if not self.text[line:begin].strip():
            return Splice(line, self._next_line(node.end), "")
        if following is None or following.key is None or "#" in self.text[node.end : following.key]:
            return None
        return Splice(begin, following.key, "")  # the first field after a list's dash

    def _added_in_brackets(self, node: TextValue, words: str) -> Splice:
        """Append an entry to a flow collection; on its own line if entries have their own lines."""
        last = list(node.children.values())[-1] if node.children else None
        if last is None:
            return Splice(node.start + 1, node.end - 1, words)
        line = self.text.rfind("\n", 0, last.begin) + 1
        alone = line > node.start and not self.text[line : last.begin].strip()
        gap = self.newline + " " * self._column(last.begin) if alone else " "
        return Splice(last.end, last.end, f",{gap}{words}")

    def _behind(self, node: TextValue, lines: list[str]) -> Splice:
        """Insert lines after the last line of a block collection."""
        end = node.end
        if self.text.endswith("\n", 0, end):  # a block scalar includes its line end
            return Splice(end, end, "".join(line + self.newline for line in lines))
        at = self.text.find("\n", end)
        at = len(self.text) if at < 0 else at - self.text.endswith("\r", 0, at)
        return Splice(at, at, "".join(self.newline + line for line in lines))

    def _next_line(self, offset: int) -> int:
        if self.text.endswith("\n", 0, offset):
            return offset
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end + 1

    def _column(self, offset: int) -> int:
        return offset - (self.text.rfind("\n", 0, offset) + 1)

    def _block(self, key: str, value: Any, indent: int) -> list[str]:
        """Return the lines of a field. Mappings and lists of mappings take several lines."""
        begin = f"{' ' * indent}{self._flow(key)}:"
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            return [begin, *(line for each in value for line in self._item(each, indent))]
        if not isinstance(value, dict) or not value:
            return [f"{begin} {self._flow(value)}"]
        return [begin, *(line for name, each in value.items() for line in self._block(name, each, indent + 2))]

    def _item(self, value: Any, indent: int) -> list[str]:
        """Return the lines of a block list item."""
        if not isinstance(value, dict) or not value:
            return [f"{' ' * indent}- {self._flow(value)}"]
        first, *others = (line for name, each in value.items() for line in self._block(name, each, indent + 2))
        return [f"{' ' * indent}- {first.lstrip()}", *others]

    def _flow(self, value: Any) -> str:
        """Return a value on one line."""
        if self.as_json:
            return json.dumps(value, ensure_ascii=False)
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self._flow(key)}: {self._flow(each)}" for key, each in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self._flow, value)) + "]"
        if isinstance(value, str) and _PLAIN.fullmatch(value) and _stays_text(value):
            return value
        return json.dumps(value, ensure_ascii=False)


def _stays_text(value: str) -> bool:
    """Return whether YAML reads the unquoted text as a string."""
    try:
        return plain_scalar(value) == value
    except ScalarError:
        return False
