"""The internal form of a scheduling profile: ordered plugins, weights and typed arguments.

Every version of KubeSchedulerConfiguration is converted to this form. It does no I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from dataclasses import replace as with_fields
from typing import Any

import msgspec
from msgspec.structs import replace

from topospread.config.args import PluginArgs

EXTENSION_POINTS: Mapping[str, str] = {
    "pre_enqueue": "preEnqueue",
    "queue_sort": "queueSort",
    "pre_filter": "preFilter",
    "filter": "filter",
    "post_filter": "postFilter",
    "pre_score": "preScore",
    "score": "score",
    "reserve": "reserve",
    "permit": "permit",
    "pre_bind": "preBind",
    "bind": "bind",
    "post_bind": "postBind",
    "placement_generate": "placementGenerate",
    "placement_score": "placementScore",
    "pod_group_post_filter": "podGroupPostFilter",
}
"""topospread's name of an extension point → its field in KubeSchedulerConfiguration, in the order of execution."""


NOT_ASKED = "; --call-extenders asks it"
"""End of the warning about an extender that topospread does not call."""


class EnabledPlugin(msgspec.Struct, frozen=True):
    """A plugin at one extension point.

    Attributes:
        weight: at ``score`` and ``placement_score`` the weight in force, elsewhere 0.
        origin: path of the field that enabled it, ``profiles[0].plugins.multiPoint.enabled[1]``, or "" for a default.
        weight_origin: path of the field that set the weight, or "" for a default.
    """

    name: str
    weight: int = 0
    origin: str = ""
    weight_origin: str = ""


class Extender(msgspec.Struct, frozen=True):
    """An HTTP extender of the configuration, which applies to every profile.

    Attributes:
        url: its ``urlPrefix``.
        decides: verb that affects placements → its effect in words: ``filterVerb`` → "filter nodes".
        managed: kube-scheduler calls the extender only for pods that request one of these resources; empty for all
            pods.
        origin: path of the field, ``extenders[0]``.
        verbs: verb → its URL path: ``filterVerb`` → "filter".
        ignorable: whether kube-scheduler continues if a call fails.
        timeout: timeout of a call in seconds.
        asked: whether topospread may call the extender. If not, its answers are unknown.
    """

    url: str
    decides: Mapping[str, str]
    managed: frozenset[str]
    origin: str
    verbs: Mapping[str, str] = {}
    weight: int = 0
    ignorable: bool = False
    node_cache_capable: bool = False
    enable_https: bool = False
    tls: Mapping[str, Any] = {}
    timeout: float = 5.0
    asked: bool = False


class Profile(msgspec.Struct, frozen=True):
    """The plugins and arguments for the pods of one scheduler name.

    Attributes:
        scheduler_name: pods with this ``spec.schedulerName`` use the profile; "" if all pods use it.
        api_version: version of the configuration, ``kubescheduler.config.k8s.io/v1``; also set for the built-in
            default.
        plugins: extension point (a key of ``EXTENSION_POINTS``) → plugins in execution order.
        args: the arguments of every plugin, with defaults.
        percentage_of_nodes_to_score: 0 to 100; 0 and ``None`` both stand for kube-scheduler's adaptive share.
        origins: setting → path of the field in the file, such as ``PodTopologySpread.defaultingType``,
            ``percentageOfNodesToScore`` or ``schedulerName``. Settings that are missing here have their defaults.
        extenders: the configuration's extenders that affect placements.
        has_extenders: whether the configuration has any extenders, including those without an effect on placements.
    """

    scheduler_name: str
    api_version: str
    plugins: Mapping[str, tuple[EnabledPlugin, ...]]
    args: PluginArgs = msgspec.field(default_factory=PluginArgs)
    percentage_of_nodes_to_score: int | None = None
    origins: Mapping[str, str] = {}
    extenders: tuple[Extender, ...] = ()
    has_extenders: bool = False

    def enabled(self, extension_point: str) -> tuple[str, ...]:
        """Return the plugins' names at an extension point, in execution order."""
        return tuple(plugin.name for plugin in self.plugins.get(extension_point, ()))

    @property
    def weights(self) -> dict[str, int]:
        """Score plugin → weight, in the order of execution."""
        return {plugin.name: plugin.weight for plugin in self.plugins.get("score", ())}


@dataclass(frozen=True, slots=True)
class Configuration:
    """The parts of a KubeSchedulerConfiguration that affect placements.

    Attributes:
        api_version: version of the file, ``kubescheduler.config.k8s.io/v1beta3``.
        profiles: at least one, in the file's order; scheduler names are unique.
        percentage_of_nodes_to_score: default for profiles without their own value.
        warnings: a sentence for each setting that a simulation ignores.
        origins: top-level field → its path, only for fields that the file sets.
        source: the file's name; "" without a file.
    """

    api_version: str
    profiles: tuple[Profile, ...]
    percentage_of_nodes_to_score: int | None = None
    warnings: tuple[str, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)
    source: str = field(default="", compare=False)

    def profile_for(self, scheduler_name: str) -> Profile | None:
        """Return the profile of a scheduler name; None if there is none."""
        return next((profile for profile in self.profiles if profile.scheduler_name == scheduler_name), None)

    @property
    def with_extenders_asked(self) -> Configuration:
        """Return the configuration with extenders that topospread may call."""
        profiles = [
            replace(each, extenders=tuple(replace(one, asked=True) for one in each.extenders)) for each in self.profiles
        ]
        warnings = tuple(each for each in self.warnings if not each.endswith(NOT_ASKED))
        return with_fields(self, profiles=tuple(profiles), warnings=warnings)
