"""A folder's kustomization: whether there is one, and what it refers to; builds nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from topospread.errors import InputError

from .files import Source, read_text
from .yaml import read_documents

KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""The names Kustomize knows (``RecognizedKustomizationFileNames`` in kustomize's api/konfig)."""

_GROUP: Final = "kustomize.config.k8s.io/"
FOLDER_FIELDS: Final = frozenset({"resources", "bases", "components", "generators", "transformers", "validators"})
"""Fields of a kustomization that list other kustomizations by their folders."""
_CHARTS: Final = ("helmCharts", "helmChartInflationGenerator")
_CHART_HOME: Final = "charts"


@dataclass(frozen=True, slots=True)
class Kustomization:
    """The files that a kustomization names. Folders and files are real paths.

    Attributes:
        folder: where it stands.
        file: the file itself.
        component: whether it is a part of others (``kind: Component``) and nothing of its own.
        folders: the folders it refers to: bases, components and the like.
        files: every file beside or below it that it names somewhere.
        chart_home: where the charts lie that it has Helm inflate; "" when it inflates none.
    """

    folder: str
    file: str
    component: bool = False
    folders: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    chart_home: str = ""


def kustomization_in(folder: str) -> Kustomization | None:
    """The kustomization of a folder; None when there is none, or a file of that name is something else.

    One that cannot be read is one all the same: whoever builds it says what is wrong with it.
    """
    real = os.path.realpath(folder)
    for name in KUSTOMIZATIONS:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            value = kustomization_value(path)
            # Flux's Kustomization often stands in a file of the same name.
            version = value.get("apiVersion")
            if isinstance(version, str) and version and not version.startswith(_GROUP):
                return None
            return Kustomization(
                real,
                os.path.realpath(path),
                value.get("kind") == "Component",
                frozenset(_folders(value, real)),
                frozenset(_files(value, real)),
                _chart_home(value, real),
            )
    return None


def kustomization_value(path: str) -> dict[str, Any]:
    """Return a kustomization's file as plain data; empty if it cannot be read."""
    try:
        documents = list(read_documents(read_text(Source(path, None))))
    except InputError:
        return {}
    value = documents[0].value if documents else None
    return value if isinstance(value, dict) else {}


def path_of(folder: str, given: str) -> str:
    """Return the path that kustomize takes a text for: it takes ``..`` out before it follows links.

    So ``missing/../file`` is a file beside the kustomization, and ``link/..`` the kustomization's folder.
    """
    return os.path.normpath(os.path.join(folder, given))


def _folders(value: dict[str, Any], folder: str) -> Iterator[str]:
    for name in sorted(FOLDER_FIELDS):
        listed = value.get(name)
        for each in listed if isinstance(listed, list) else ():
            # Whatever is no folder here is a file, a repository elsewhere, or written out in place.
            if isinstance(each, str) and "\n" not in each and os.path.isdir(path := path_of(folder, each)):
                yield os.path.realpath(path)


def _files(value: Any, folder: str) -> Iterator[str]:
    """Files that any text in the kustomization names, also as ``key=file``."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _files(each, folder)
    elif isinstance(value, str) and value and "\n" not in value and "\0" not in value:
        for name in {value, value.rpartition("=")[2]}:
            if name and os.path.isfile(path := path_of(folder, name)):
                yield os.path.realpath(path)


def _chart_home(value: dict[str, Any], folder: str) -> str:
    if not any(value.get(name) for name in _CHARTS):
        return ""
    settings = value.get("helmGlobals")
    home = settings.get("chartHome") if isinstance(settings, dict) else None
    return os.path.realpath(path_of(folder, home if isinstance(home, str) and home else _CHART_HOME))
