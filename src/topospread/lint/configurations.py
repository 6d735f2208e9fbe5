"""Find and load KubeSchedulerConfigurations in manifests, also inside ConfigMaps."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from msgspec.structs import replace as with_fields

from topospread.config.api_versions import KIND
from topospread.config.gates import Gates
from topospread.config.load import load_configuration
from topospread.config.profile import Configuration
from topospread.errors import DecodeError, DuplicateError, InputError, InvalidError
from topospread.sources.locations import Location
from topospread.sources.text import Text
from topospread.sources.yaml import YamlDocument, read_documents

from .edits import changed
from .layout import Layouts
from .problem import FieldEdit, Problem

GROUP: Final = "kubescheduler.config.k8s.io/"
_LINE: Final = re.compile(r"[^\r\n]+")
_MOST_BLANKED: Final = 16 << 20
"""Maximum characters of all copies that `_in_place` makes. A copy is as long as its file up to the configuration's end.
"""
_UNKNOWN: Final = re.compile(r'\w+ ".*" does not exist', re.DOTALL)


class Loaded(NamedTuple):
    """The result of reading a configuration.

    Attributes:
        configuration: the profiles; None if kube-scheduler rejects the configuration.
        refused: the reasons for a rejection.
        unknown: plugins that kube-scheduler does not have, which are removed from the profiles.
    """

    configuration: Configuration | None
    refused: list[Problem]
    unknown: list[Problem]


def load_judged(value: Mapping[str, Any], gates: Gates) -> Loaded:
    """Load a configuration, or return why kube-scheduler rejects it.

    Unknown plugins may belong to a custom scheduler: the configuration is loaded without them.
    """
    try:
        return Loaded(load_configuration(dict(value), kube_version=gates.kube_version, gates=gates), [], [])
    except InvalidError as error:
        return Loaded(None, [Problem(words.partition(":")[0], words) for words in error.problems], [])
    except InputError as error:
        parts = error.parts or ((error.place.field, error.message),)
    unknown = [(path, words) for path, words in parts if ".enabled[" in path and _UNKNOWN.fullmatch(words)]
    if not unknown:
        return Loaded(None, [_problem(*each) for each in parts], [])
    known = copy.deepcopy(dict(value))
    for path, _ in reversed(unknown):  # from the end, so that earlier indices stay valid
        changed(known, FieldEdit("remove", path))
    rest = load_judged(known, gates)
    return Loaded(rest.configuration, rest.refused, [_problem(*each) for each in unknown] + rest.unknown)


def _problem(path: str, words: str) -> Problem:
    return Problem(path, f"{path}: {words}" if path else words)


def configurations_in(
    value: Mapping[str, Any], location: Location, layouts: Layouts
) -> Iterator[tuple[dict[str, Any], Location]]:
    """Yield the configurations in a ConfigMap, with their locations in its text."""
    data = value.get("data")
    for key, text in data.items() if isinstance(data, dict) else ():
        if not isinstance(text, str) or KIND not in text:
            continue
        documents = _documents(Text(location.text.name, text.encode()))
        shown = _in_place(location, key, layouts)
        located = _documents(shown) if shown else []
        for number, document in enumerate(documents):
            if isinstance(document.value, dict) and document.value.get("kind") == KIND:
                if shown and number < len(located) and located[number].value == document.value:
                    yield document.value, Location(shown, located[number].number, located[number].line)
                else:
                    yield document.value, with_fields(location, path=(*location.path, "data", key))


def _documents(text: Text) -> list[YamlDocument]:
    """Return the documents of a text; empty if it is not YAML, like most ConfigMap data."""
    try:
        return list(read_documents(text))
    except (DecodeError, DuplicateError):
        return []


def _in_place(location: Location, key: str, layouts: Layouts) -> Text | None:
    """Return a copy of the file in which the text before a ConfigMap's block scalar is blank.

    Positions in the copy are therefore positions in the file. Return None if the data is not literally in the file
    (quoted, folded, JSON or rendered), or if all copies would have more than `_MOST_BLANKED` characters.
    """
    node, taken = layouts.nearest(location, ("data", key))
    if location.text.origins or location.document is None or taken < 2 or node is None or node.style != "|":
        return None
    layouts.blanked += node.end
    if layouts.blanked > _MOST_BLANKED:
        return None
    whole = location.text.data.decode()
    begin = whole.find("\n", node.start) + 1
    blank = _LINE.sub(lambda line: " " * len(line[0]), whole[:begin])
    return Text(location.text.name, (blank + whole[begin : node.end]).encode())
