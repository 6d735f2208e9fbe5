"""Read a scheduler configuration from a file, also from a ConfigMap. `config` interprets it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, BinaryIO

from topospread.config.find import find_configuration
from topospread.config.gates import Gates, gates_for
from topospread.config.load import load_configuration
from topospread.config.profile import Configuration
from topospread.errors import ConfigError, DecodeError, InvalidError, Place

from .files import find_sources, read_text
from .positions import locate, parse_path
from .text import Text
from .yaml import read_documents


class RefusedConfigurationError(InvalidError):
    """Raised if kube-scheduler rejects a configuration. ``listed`` holds every reason with its field's place."""

    def __init__(self, listed: Sequence[tuple[str, Place]]) -> None:
        self.listed = tuple(listed)
        super().__init__([problem for problem, _ in listed], listed[0][1])


def read_configuration(path: str, gates: Gates | None = None, stdin: BinaryIO | None = None) -> Configuration:
    """Read a configuration with the defaults of its API version.

    Args:
        path: a YAML or JSON file with one KubeSchedulerConfiguration, perhaps in a ConfigMap; ``-`` for ``stdin``.
        gates: kube-scheduler's feature gates and version; by default those of the newest version.
        stdin: input for the path ``-``.

    Raises:
        InputError: if it cannot be read, or kube-scheduler rejects it.
    """
    gates = gates or gates_for()
    text, documents = read_single_file(path, stdin)
    data, place = find_configuration(documents, Place(source=path))
    try:
        found = load_configuration(data, place=place, kube_version=gates.kube_version, gates=gates)
    except InvalidError as error:
        problems = [(each, _place_of_problem(each, place, text)) for each in error.problems]
        raise RefusedConfigurationError(problems) from None
    return replace(found, source=path)


def _place_of_problem(problem: str, place: Place, text: Text) -> Place:
    """Return the place of the field whose path starts the message. Text in a ConfigMap has no line numbers."""
    position = None if place.object else locate(text.data, place.document or 1, parse_path(problem.partition(": ")[0]))
    return place if position is None else Place(place.source, line=position.line, column=position.column)


def read_single_file(path: str, stdin: BinaryIO | None = None) -> tuple[Text, list[Any]]:
    """Return a file's text, and its documents as plain data. Raise InputError for a folder, or an empty file."""
    sources = find_sources(path)
    if len(sources) != 1:
        raise ConfigError("this is a folder; name one file", Place(source=path))
    text = read_text(sources[0], stdin)
    found = [document.value for document in read_documents(text)]
    if not any(found):
        raise DecodeError("this file is empty; name another file", Place(source=path))
    return text, found
