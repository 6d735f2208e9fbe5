"""Convert one YAML document to plain data and back, with scalars resolved like in Kubernetes' tools.

`yaml_scalars` resolves scalars, also for whole files (`sources.yaml`).
"""

from __future__ import annotations

import math
from typing import Any

import yaml
from yaml.constructor import ConstructorError
from yaml.events import CollectionEndEvent, CollectionStartEvent
from yaml.nodes import MappingNode, Node, ScalarNode

from topospread.errors import DecodeError, DuplicateError, Place
from topospread.text import escape_commands, one_line

from .yaml_scalars import Scalar, ScalarError, key_text, plain_scalar, tagged_scalar, whole_number

MAX_DEPTH = 256

_TAG = "tag:yaml.org,2002:"
_TAGS = {bool: f"{_TAG}bool", int: f"{_TAG}int", float: f"{_TAG}float", type(None): f"{_TAG}null"}


def _resolved(text: str) -> str:
    return f"{_TAG}merge" if text == "<<" else _TAGS.get(type(plain_scalar(text)), f"{_TAG}str")


class _Loader(yaml.CSafeLoader):
    """PyYAML's safe loader with Kubernetes' scalars in place of its own."""

    def resolve(self, kind: type[Node], value: str | None, implicit: Any) -> str:
        if kind is ScalarNode and implicit[0]:
            return _resolved(value or "")
        return str(super().resolve(kind, value, (False, False) if kind is ScalarNode else implicit))  # type: ignore[no-untyped-call]

    def construct_mapping(self, node: MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the mapping with its keys as text; fail on duplicate keys."""
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, ScalarNode) and key.tag != f"{_TAG}merge":
                if key.value in seen:
                    raise DuplicateError(f"the key {key.value!r} occurs twice in one mapping", _place(key.start_mark))
                seen.add(key.value)
        self.flatten_mapping(node)
        return {
            _key(self.construct_object(key, deep=True), key): self.construct_object(value, deep=deep)
            for key, value in node.value
        }


class _Dumper(yaml.CSafeDumper):
    """PyYAML's safe dumper, which quotes texts that PyYAML or Kubernetes would not read as a string."""

    def resolve(self, kind: type[Node], value: str | None, implicit: Any) -> str:
        """Return the tag that a YAML reader infers for a node."""
        read = str(super().resolve(kind, value, implicit))  # type: ignore[no-untyped-call]
        plain = kind is ScalarNode and implicit[0] and read == f"{_TAG}str"
        return _resolved(value or "") if plain else read


def _scalar(_: _Loader, node: ScalarNode) -> Scalar:
    try:
        value = tagged_scalar(node.tag, node.value)
    except ScalarError as error:
        raise ConstructorError(None, None, str(error), node.start_mark) from None
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        raise ConstructorError(None, None, f"{node.value} is no number that JSON can hold", node.start_mark)
    return whole_number(value)


def _key(value: object, node: Node) -> str:
    try:
        return key_text(value)
    except ScalarError as error:
        raise ConstructorError(None, None, str(error), node.start_mark) from None


for _name in ("bool", "int", "float", "null", "timestamp", "binary", "merge"):
    _Loader.add_constructor(f"{_TAG}{_name}", _scalar)


def parse_yaml(text: str | bytes, place: Place | None = None) -> object:
    """Return the plain data of one document (None for an empty one).

    Raises:
        DecodeError: if it is not YAML, or has several documents.
        DuplicateError: if a mapping has a duplicate key.
    """
    try:
        # Limit the nesting: libyaml's composer is recursive, so deep nesting overflows its stack.
        depth = 0
        for event in yaml.parse(text, _Loader):
            if isinstance(event, CollectionStartEvent):
                depth += 1
                if depth > MAX_DEPTH:
                    raise yaml.YAMLError(f"more than {MAX_DEPTH} levels of nesting")
            elif isinstance(event, CollectionEndEvent):
                depth -= 1
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        where = _place(error.problem_mark)
        raise DecodeError(f"not YAML: {error.problem or error.context}", _joined(place, where)) from None
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise DecodeError(f"not YAML: {' '.join(str(error).split())}", place) from None
    except DuplicateError as error:
        raise DuplicateError(error.message, _joined(place, error.place)) from None


def _text(dumper: _Dumper, text: str) -> Node:
    """Return the YAML node of a text, in double quotes if the text needs escapes or has several lines."""
    style = '"' if "\n" in text or escape_commands(one_line(text)) != text else None
    return dumper.represent_scalar(f"{_TAG}str", text, style)


_Dumper.add_representer(str, _text)


def yaml_text(data: object) -> str:
    """Return plain data as one YAML document in block style; keys keep their order.

    Long texts are not wrapped, so no text of the data can start a line of the output.
    """
    return str(yaml.dump(data, Dumper=_Dumper, sort_keys=False, default_flow_style=False, allow_unicode=True, width=-1))


def _place(mark: yaml.Mark | None) -> Place:
    """Return a YAML mark (from 0) as a place (from 1)."""
    return Place(line=mark.line + 1, column=mark.column + 1) if mark else Place()


def _joined(place: Place | None, where: Place) -> Place:
    """Return the document's place with a line and column in it."""
    given = place or Place()
    return Place(given.source, given.document, given.object, given.field, where.line, where.column)
