"""Recognise objects of Argo CD, Flux and Fleet that fetch manifests from elsewhere. They are not fetched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from topospread.text import listed

from .locations import label_of

_KINDS: Final[Mapping[tuple[str, str], str]] = {
    ("argoproj.io", "Application"): "Argo CD",
    ("argoproj.io", "ApplicationSet"): "Argo CD",
    ("kustomize.toolkit.fluxcd.io", "Kustomization"): "Flux",
    ("helm.toolkit.fluxcd.io", "HelmRelease"): "Flux",
    ("helm.cattle.io", "HelmChart"): "K3s",
    ("fleet.cattle.io", "Bundle"): "Fleet",
    ("fleet.cattle.io", "GitRepo"): "Fleet",
}
_NAMES_SHOWN: Final = 3


def delivery_of(value: Mapping[str, Any], version: str, kind: str, namespace: str) -> str:
    """Return the name of a fetching object, ``Application shop/web (Argo CD)``; "" for other objects.

    Args:
        namespace: namespace of an object that names none.
    """
    program = _KINDS.get((version.partition("/")[0], kind))
    return f"{label_of(dict(value), kind, namespace) or kind} ({program})" if program else ""


def note_of_deliveries(named: Iterable[str]) -> list[str]:
    """Return a note on objects that fetch manifests; empty without any."""
    names = list(dict.fromkeys(named))
    if not names:
        return []
    says = "says where its manifests are and holds" if len(names) == 1 else "say where their manifests are and hold"
    return [f"{listed(names, _NAMES_SHOWN)} {says} none: give the chart or folder that is meant"]
