"""Tables of the extension points at which kube-scheduler checks plugins, and of plugins that it rejects or ignores.

``plugin_checks.json`` has the tables. `conformance/oracle/cmd/plugins` prints it from every minor version's
pkg/scheduler/framework/runtime/framework.go (``getExtensionPoints``), apis/config/validation/validation.go and
apis/config/VERSION/default_plugins.go (``mergePlugins``).
"""

from __future__ import annotations

from functools import cache

import msgspec

from topospread.api.shipped_table import in_force, shipped_table
from topospread.config.api_versions import ApiVersion
from topospread.config.profile import EXTENSION_POINTS
from topospread.config.versions import KubeVersion


class _PrintedChecks(msgspec.Struct):
    """The tables, by first minor version; some also by configuration version.

    ``refused``: the innermost dict maps the configuration version that the message names to the rejected plugins.
    """

    order: dict[int, list[str]]
    stages: dict[int, list[str]]
    refused: dict[str, dict[int, dict[str, list[str]]]]
    forgotten: dict[str, dict[int, list[str]]]


@cache
def _printed() -> _PrintedChecks:
    return shipped_table(__package__, "plugin_checks.json", _PrintedChecks)


def checked_points(version: KubeVersion) -> tuple[str, ...]:
    """Return extension points (keys of ``EXTENSION_POINTS``) in the order of kube-scheduler's checks."""
    ours = {field: point for point, field in EXTENSION_POINTS.items()}
    return tuple(ours[field] for field in in_force(_printed().order, version.minor) if field in ours)


def refusing_points(version: KubeVersion) -> list[str]:
    """Return the configuration's extension points at which a version checks for removed plugins."""
    return in_force(_printed().stages, version.minor)


def refused_plugins(api: ApiVersion, version: KubeVersion) -> dict[str, str]:
    """Return rejected plugin → version in the message ``was removed in version …``."""
    listed = in_force(_printed().refused[api.name], version.minor)
    return {name: since for since, names in listed.items() for name in names}


def unmerged_points(api: ApiVersion, version: KubeVersion) -> tuple[str, ...]:
    """Return fields of ``plugins`` that a version decodes but does not merge with its defaults."""
    return tuple(in_force(_printed().forgotten[api.name], version.minor))
