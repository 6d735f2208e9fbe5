"""Search for the only KubeSchedulerConfiguration among objects, also in a ConfigMap. `document` decodes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import yaml

from topospread.config.api_versions import KIND
from topospread.errors import ConfigError, Place

FoundConfiguration = tuple[dict[str, Any], Place]
_MOST_ALIASES = 8
"""Maximum number of YAML aliases in a ConfigMap's text, because aliases can expand a few lines to gigabytes."""


def find_configuration(documents: Sequence[Any], place: Place | None = None) -> FoundConfiguration:
    """Return the configuration among a file's documents, and its place.

    The configuration is a document, an item of a list, or the text of a ConfigMap's key. The place gets the document's
    number and, for a ConfigMap, its name and key.

    Raises:
        ConfigError: if there is none or more than one; the message names the places.
    """
    place = place or Place()
    numbered = [replace(place, document=number) for number in range(1, len(documents) + 1)]
    found = [one for each, where in zip(documents, numbered, strict=True) for one in _configurations(each, where)]
    if not found:
        raise ConfigError(f"no {KIND} found, also not in a ConfigMap{_hint(documents)}", place)
    if len(found) > 1:
        places = "; ".join(str(where) for _, where in found)
        raise ConfigError(f"expected one {KIND}, found {len(found)}: {places}", place)
    return found[0]


def _hint(documents: Sequence[Any]) -> str:
    """Return advice if a document is a Policy, the format that kube-scheduler read until 1.22; else ""."""
    if not any(isinstance(each, dict) and each.get("kind") == "Policy" for each in documents):
        return ""
    return (
        "; a Policy (--policy-config-file, until Kubernetes 1.22) is another format: write its predicates and "
        "priorities as the filter and score plugins of a profile"
    )


def _configurations(document: Any, place: Place) -> Iterator[FoundConfiguration]:
    if not isinstance(document, dict):
        return
    kind = document.get("kind")
    if kind == KIND:
        yield document, place
    elif kind == "ConfigMap":
        yield from _wrapped(document, place)
    elif isinstance(document.get("items"), list):
        for item in document["items"]:
            yield from _configurations(item, place)


def _wrapped(config_map: dict[str, Any], place: Place) -> Iterator[FoundConfiguration]:
    metadata = _mapping(config_map, "metadata")
    name = "/".join(str(part) for part in (metadata.get("namespace"), metadata.get("name")) if part)
    for key, text in _mapping(config_map, "data").items():
        where = replace(place, object=f"ConfigMap {name} data[{key}]")
        for document in _parsed(text):
            if isinstance(document, dict) and document.get("kind") == KIND:
                yield document, where


def _mapping(config_map: dict[str, Any], field: str) -> dict[Any, Any]:
    """Return a field that should be a mapping; an empty mapping if it has another type."""
    value = config_map.get(field)
    return value if isinstance(value, dict) else {}


def _parsed(text: Any) -> Iterable[Any]:
    """Yield the YAML documents of a text; nothing if the text is not YAML, as in most ConfigMap keys."""
    if not isinstance(text, str) or KIND not in text:
        return []
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if sum(isinstance(each, yaml.AliasEvent) for each in yaml.parse(text, Loader=loader)) > _MOST_ALIASES:
            return []
        return list(yaml.load_all(text, Loader=loader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return []
