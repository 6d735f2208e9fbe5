"""What krew refuses in a plugin's manifest, written once more: its module is not to be had from every Go proxy.

From krew v0.5.0: ``ValidatePlugin`` of internal/index/validation/validate.go, versions of internal/installation/semver,
and what cmd/validate-krew-manifest asks besides: each platform's selector is of some platform, and no two of one.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

Json = dict[str, Any]

_RESERVED = {"CON", "PRN", "AUX", "NUL", *(f"{port}{number}" for port in ("COM", "LPT") for number in range(1, 10))}
_NUMBER = r"(0|[1-9][0-9]*)"
_PART = rf"({_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_WORDS = r"[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*"
_VERSION = re.compile(rf"v{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PART}(\.{_PART})*)?(\+{_WORDS})?\s*")
_ARCHITECTURES = {
    "windows": ("386", "amd64", "arm64"),
    "linux": ("386", "amd64", "arm", "arm64", "ppc64le"),
    "darwin": ("386", "amd64", "arm64"),
}
PLATFORMS = [{"os": os, "arch": arch} for os, known in _ARCHITECTURES.items() for arch in known]


def faults(name: str, plugin: Json) -> list[str]:
    """The fields of the manifest in ``NAME.yaml`` for which krew refuses it."""
    spec, found = plugin.get("spec") or {}, []
    if plugin.get("apiVersion") != "krew.googlecontainertools.github.com/v1alpha2" or plugin.get("kind") != "Plugin":
        found.append("apiVersion or kind")
    if not re.fullmatch(r"[0-9A-Za-z_-]+", name) or name.upper() in _RESERVED:
        found.append("name")
    if (plugin.get("metadata") or {}).get("name") != name:
        found.append("name")
    short = spec.get("shortDescription") or ""
    if not short or re.search(r"[\r\n]", short):
        found.append("shortDescription")
    if not _VERSION.fullmatch(spec.get("version") or ""):
        found.append("version")
    platforms = spec.get("platforms") or []
    if not platforms:
        found.append("platforms")
    of_each = [fault for platform in platforms for fault in _platform_faults(platform)]
    return found + (of_each or _overlaps(platforms))


def _platform_faults(platform: Json) -> list[str]:
    found = [field for field in ("uri", "sha256", "bin") if not platform.get(field)]
    if not re.fullmatch(r"[a-f0-9]{64}", platform.get("sha256") or ""):
        found.append("sha256")
    files = platform.get("files")
    if files is not None and not (files and all(each.get("from") and each.get("to") for each in files)):
        found.append("files")
    selector = platform.get("selector") or {}
    labels, expressions = selector.get("matchLabels"), selector.get("matchExpressions") or []
    keys = {*(labels or {}), *(each["key"] for each in expressions)}
    if labels == {} or not keys or not keys <= {"os", "arch"}:
        found.append("selector")
    elif not any(_selects(selector, each) for each in PLATFORMS):
        found.append("selector of no platform")
    return found


def _overlaps(platforms: list[Json]) -> list[str]:
    counted = Counter(
        f"{each['os']}/{each['arch']}"
        for each in PLATFORMS
        for platform in platforms
        if _selects(platform["selector"], each)
    )
    return ["two for one platform"] if max(counted.values(), default=0) > 1 else []


def _selects(selector: Json, platform: dict[str, str]) -> bool:
    """Whether a LabelSelector takes a platform."""
    if any(platform[key] != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    for each in selector.get("matchExpressions") or []:
        within = platform[each["key"]] in (each.get("values") or ())
        if not {"In": within, "NotIn": not within, "Exists": True}.get(each["operator"], False):
            return False
    return True
