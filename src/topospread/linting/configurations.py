"""A KubeSchedulerConfiguration, on its own or in a ConfigMap, as something to lint; asks no rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from topospread.config.api_versions import KIND
from topospread.config.gates import Gates
from topospread.config.load import load_configuration
from topospread.config.profile import Configuration
from topospread.errors import DecodeError, DuplicateError, InputError, InvalidError
from topospread.sources.spots import Spot
from topospread.sources.text import Text
from topospread.sources.yaml import YamlDocument, read_documents

from .layout import Layouts
from .problem import Problem

GROUP: Final = "kubescheduler.config.k8s.io/"


def load_judged(value: Mapping[str, Any], gates: Gates) -> tuple[Configuration | None, list[Problem]]:
    """The profiles of a configuration, or why kube-scheduler would not take it."""
    try:
        return load_configuration(dict(value), kube_version=gates.kube_version, gates=gates), []
    except InvalidError as error:
        return None, [Problem(words.partition(":")[0], words) for words in error.problems]
    except InputError as error:
        field = error.place.field
        return None, [Problem(field, f"{field}: {error.message}" if field else error.message)]


def configurations_in(value: Mapping[str, Any], spot: Spot, layouts: Layouts) -> Iterator[tuple[dict[str, Any], Spot]]:
    """The configurations that a ConfigMap holds, each with where it stands in the ConfigMap's text."""
    data = value.get("data")
    for key, text in data.items() if isinstance(data, dict) else ():
        if not isinstance(text, str) or KIND not in text:
            continue
        documents = _documents(Text(spot.text.name, text.encode()))
        shown = _in_place(spot, key, layouts)
        located = _documents(shown) if shown else []
        for number, document in enumerate(documents):
            if isinstance(document.value, dict) and document.value.get("kind") == KIND:
                if shown and number < len(located) and located[number].value == document.value:
                    yield document.value, Spot(shown, located[number].number, located[number].line)
                else:
                    yield document.value, replace(spot, path=(*spot.path, "data", key))


def _documents(text: Text) -> list[YamlDocument]:
    """The documents of a text; none when it is no YAML, as most of what ConfigMaps hold."""
    try:
        return list(read_documents(text))
    except (DecodeError, DuplicateError):
        return []


def _in_place(spot: Spot, key: str, layouts: Layouts) -> Text | None:
    """The whole text with everything blanked but one block scalar: positions in it are those in the file.

    None where the ConfigMap's text does not stand in the file as it is: quoted, folded, in JSON.
    """
    node, taken = layouts.nearest(spot, ("data", key))
    if spot.document is None or taken < 2 or node is None or node.style != "|":
        return None
    whole = spot.text.data.decode()
    begin = whole.find("\n", node.start) + 1
    blank = "".join(each if each in "\r\n" else " " for each in whole[:begin])
    return Text(spot.text.name, (blank + whole[begin : node.end]).encode())
