"""The extension points of kube-scheduler's in-tree plugins, by Kubernetes version.

``extension_points.json`` has the table. `conformance/oracle/cmd/plugins` prints it from the methods of the plugins'
types (pkg/scheduler/framework/plugins) of every minor version from 1.18 to 1.37; 18 stands for 18 or earlier.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from topospread.api.shipped_table import shipped_table
from topospread.config.profile import EXTENSION_POINTS
from topospread.config.versions import KubeVersion


@cache
def _printed() -> Mapping[str, Mapping[str, str]]:
    """Return plugin → extension point (in the configuration) → ``first-last`` minor version, ``30-`` if present."""
    return shipped_table(__package__, "extension_points.json", dict[str, dict[str, str]])


_OURS = {camel: snake for snake, camel in EXTENSION_POINTS.items()}


def _within(span: str, version: KubeVersion) -> bool:
    first, _, last = span.partition("-")
    return int(first) <= version.minor <= (int(last) if last else version.minor)


@cache
def extension_points(version: KubeVersion) -> Mapping[str, frozenset[str]]:
    """Return in-tree plugin of a version → its extension points (keys of ``EXTENSION_POINTS``)."""
    points = {
        name: frozenset(_OURS[point] for point, span in spans.items() if _within(span, version))
        for name, spans in _printed().items()
    }
    return {name: found for name, found in points.items() if found}


def last_version_with(name: str) -> KubeVersion | None:
    """Return the last version that has a removed plugin; ``None`` for current or unknown plugins."""
    lasts = [span.partition("-")[2] for span in _printed().get(name, {}).values()]
    if not lasts or "" in lasts:
        return None
    return KubeVersion(1, max(int(last) for last in lasts))
