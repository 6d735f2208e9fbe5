"""Fields of ``plugins`` that an old version decodes but does not merge with its defaults, so they have no effect.

Source: ``mergePlugins`` in pkg/scheduler/apis/config/VERSION/default_plugins.go; `plugin_checks` has the fields.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace as with_fields

from topospread.config.api_versions import API_VERSIONS, ApiVersion
from topospread.config.plugin_checks import unmerged_points
from topospread.config.plugin_sets import PluginSet
from topospread.config.versions import KubeVersion

_NO_PLUGIN_HAS = {"v1alpha2": ("unreserve",)}
"""Removed extension points that kube-scheduler's own plugins never used."""
_MERGED_AT_ONCE = 22
"""First minor version that merges default plugins while decoding. Since then, v1beta2 and older configurations lose
their disabled plugins.
"""


def forgotten_points(api: ApiVersion, version: KubeVersion) -> tuple[str, ...]:
    """Return the extension points of an API version whose plugins kube-scheduler accepts but never runs."""
    return (*unmerged_points(api, version), *_NO_PLUGIN_HAS.get(api.name, ()))


def without_forgotten(sets: dict[str, PluginSet], api: ApiVersion, version: KubeVersion) -> Mapping[str, PluginSet]:
    """Return merged plugin sets; since 1.22 without disabled plugins, which v1beta2 and older lose."""
    if api.rank > API_VERSIONS["v1beta2"].rank or version.minor < _MERGED_AT_ONCE:
        return sets
    return {point: with_fields(plugins, disabled=()) for point, plugins in sets.items()}
