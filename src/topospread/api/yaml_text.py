"""One YAML document ↔ plain data, scalars resolved as Kubernetes' tools resolve them; no files, no document streams.

Source: go.yaml.in/yaml/v2 ``resolve.go`` (y and n are booleans, 0o17 is octal, nothing is sexagesimal) and what
sigs.k8s.io/yaml makes of it on the way to JSON (timestamps are strings, 1.0 is 1).
"""

from __future__ import annotations

import re
from typing import Any

import yaml
from yaml.constructor import ConstructorError
from yaml.events import CollectionEndEvent, CollectionStartEvent
from yaml.nodes import MappingNode, Node, ScalarNode

from topospread.errors import DecodeError, DuplicateError, Place

MAX_DEPTH = 256

_TAG = "tag:yaml.org,2002:"
_SCALARS = (
    ("bool", r"(y|yes|true|on|n|no|false|off|Y|Yes|True|On|N|No|False|Off|YES|TRUE|ON|NO|FALSE|OFF)\Z", "yYtToOnNfF"),
    ("null", r"(~|null|Null|NULL|)\Z", ("~", "n", "N", "")),
    ("int", r"[-+]?(0[bB][01_]+|0[oO]?[0-7_]+|0[xX][0-9a-fA-F_]+|0|[1-9][0-9_]*)\Z", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?\Z", "-+.0123456789"),
    ("float", r"([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))\Z", "-+."),
    ("merge", r"<<\Z", "<"),
)


class _Loader(yaml.CSafeLoader):
    """PyYAML's safe loader with Kubernetes' scalars in place of its own."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - PyYAML's registry: emptied here, filled below

    def construct_mapping(self, node: MappingNode, deep: bool = False) -> dict[Any, Any]:
        """The mapping, its keys as text, unless it has a key twice."""
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, ScalarNode) and key.tag != f"{_TAG}merge":
                if key.value in seen:
                    raise DuplicateError(f"the key {key.value!r} stands twice in one mapping", _place(key.start_mark))
                seen.add(key.value)
        self.flatten_mapping(node)
        return {
            _key_text(self.construct_object(key, deep=True), key): self.construct_object(value, deep=deep)
            for key, value in node.value
        }


class _Dumper(yaml.CSafeDumper):
    """PyYAML's safe dumper; quotes what PyYAML or Kubernetes would read as something other than a string."""


def _int(_: _Loader, node: ScalarNode) -> int:
    text = node.value.replace("_", "").lower()
    digits = text.lstrip("-+")
    base = {"0x": 16, "0b": 2, "0o": 8}.get(digits[:2]) or (8 if digits[0] == "0" else 10)
    return int(text, base)


def _float(_: _Loader, node: ScalarNode) -> float:
    if node.value[-1] in "fFnN":
        raise ConstructorError(None, None, f"{node.value} is no number that JSON can hold", node.start_mark)
    number = float(node.value.replace("_", ""))
    return int(number) if number.is_integer() and abs(number) < 1e21 else number


def _bool(_: _Loader, node: ScalarNode) -> bool:
    return node.value.lower() in ("y", "yes", "true", "on")


def _text(_: _Loader, node: ScalarNode) -> str:
    return str(node.value)


def _key_text(key: object, node: Node) -> str:
    """A key as JSON has it: numbers and booleans in quotes (sigs.k8s.io/yaml convertToJSONableObject)."""
    if isinstance(key, str):
        return key
    if isinstance(key, bool):
        return str(key).lower()
    if isinstance(key, int | float):
        return f"{key:g}" if isinstance(key, float) else str(key)
    raise ConstructorError(None, None, "a key must be text, a number or a boolean", node.start_mark)


for _name, _pattern, _first in _SCALARS:
    _Loader.add_implicit_resolver(f"{_TAG}{_name}", re.compile(_pattern), list(_first))
    _Dumper.add_implicit_resolver(f"{_TAG}{_name}", re.compile(_pattern), list(_first))
_Loader.add_constructor(f"{_TAG}int", _int)
_Loader.add_constructor(f"{_TAG}float", _float)
_Loader.add_constructor(f"{_TAG}bool", _bool)
_Loader.add_constructor(f"{_TAG}merge", _text)


def parse_yaml(text: str | bytes, place: Place | None = None) -> object:
    """The plain data of one document (None for an empty one).

    Raises:
        DecodeError: not YAML, or more than one document.
        DuplicateError: a key twice in one mapping.
    """
    try:
        _check_depth(text)
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        where = _place(error.problem_mark)
        raise DecodeError(f"not YAML: {error.problem or error.context}", _joined(place, where)) from None
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise DecodeError(f"not YAML: {' '.join(str(error).split())}", place) from None
    except DuplicateError as error:
        raise DuplicateError(error.message, _joined(place, error.place)) from None


def _check_depth(text: str | bytes) -> None:
    """Refuses nesting that would overflow the stack of libyaml's composer, which calls itself for every level."""
    depth = 0
    for event in yaml.parse(text, _Loader):
        if isinstance(event, CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise yaml.YAMLError(f"more than {MAX_DEPTH} levels of nesting")
        elif isinstance(event, CollectionEndEvent):
            depth -= 1


def yaml_text(data: object) -> str:
    """Plain data as one YAML document in block style, keys in the order they have."""
    return str(
        yaml.dump(data, Dumper=_Dumper, sort_keys=False, default_flow_style=False, allow_unicode=True, width=1000)
    )


def _place(mark: yaml.Mark | None) -> Place:
    """A YAML mark (from 0) as a place (from 1)."""
    return Place(line=mark.line + 1, column=mark.column + 1) if mark else Place()


def _joined(place: Place | None, where: Place) -> Place:
    """The place of the document, at the line and column found in it."""
    given = place or Place()
    return Place(given.source, given.document, given.object, given.field, where.line, where.column)
