"""A plugin's answers in a profile that enables its Filter or Score but not its PreFilter or PreScore.

Most plugins pass data from PreFilter or PreScore to Filter or Score, and fail without it. Some plugins then compute the
data later: NodeAffinity, VolumeZone, NodeResourcesFit for its score, and NodeResourcesBalancedAllocation.

Source: ``getPreFilterState``, ``getPreScoreState`` and ``getStateData`` of each plugin. The text around the reason
comes from ``RunFilterPlugins`` and ``RunScorePlugins`` in pkg/scheduler/framework/runtime/framework.go.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from topospread.cluster import PodClass
from topospread.cluster.arrays import Ints, Rows
from topospread.config.api_versions import api_version
from topospread.config.gates import Gates
from topospread.config.profile import Profile
from topospread.config.registry import extension_points
from topospread.config.versions import KubeVersion

from .group_columns import GroupColumn
from .interface import PluginError, Scope, Status, length
from .volume_binding import scores_storage

_READ_SINCE = KubeVersion(1, 27)

FILTER_FAILS: Mapping[str, str] = {
    "NodePorts": 'reading "PreFilterNodePorts" from cycleState: not found',
    "NodeResourcesFit": 'error reading "PreFilterNodeResourcesFit" from cycleState: not found',
    "VolumeRestrictions": 'cannot read "PreFilterVolumeRestrictions" from cycleState',
    "VolumeBinding": "not found",
    "PodTopologySpread": 'reading "PreFilterPodTopologySpread" from cycleState: not found',
    "InterPodAffinity": 'error reading "PreFilterInterPodAffinity" from cycleState: not found',
    "NodeDeclaredFeatures": 'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found',
}
"""Plugin → why its Filter fails without PreFilter."""

SCORE_FAILS: Mapping[str, str] = {
    "TaintToleration": 'failed to read "PreScoreTaintToleration" from cycleState: not found',
    "PodTopologySpread": 'error reading "PreScorePodTopologySpread" from cycleState: not found',
    "InterPodAffinity": 'failed to read "PreScoreInterPodAffinity" from cycleState: not found',
    "SelectorSpread": 'reading "PreScoreSelectorSpread" from cycleState: not found',
    "DefaultPodTopologySpread": 'Error reading "PreScoreDefaultPodTopologySpread" from cycleState: not found',
}
"""Plugin → why its Score fails without PreScore."""

FAIL_ON_SCORED_PODS = ("SelectorSpread", "DefaultPodTopologySpread")
"""Plugins whose Score first checks whether it applies to the pod."""


def failing_filters(profile: Profile, gates: Gates) -> dict[str, str]:
    """Return plugin → kube-scheduler's message, for plugins whose Filter fails on every node that it is called for.

    Not among these are plugins without PreFilter in the profile's version, NodeDeclaredFeatures if its gate is off, and
    VolumeRestrictions before 1.27 or if ReadWriteOncePod is off.
    """
    pre_filtering = {*profile.enabled("pre_filter")}
    if not gates.enabled("NodeDeclaredFeatures"):
        pre_filtering.add("NodeDeclaredFeatures")
    if gates.kube_version < _READ_SINCE or not gates.enabled("ReadWriteOncePod"):
        pre_filtering.add("VolumeRestrictions")
    points = extension_points(api_version(profile.api_version).source_version(gates.kube_version))
    return {
        name: f'running "{name}" filter plugin: {FILTER_FAILS[name]}'
        for name in profile.enabled("filter")
        if name in FILTER_FAILS and name not in pre_filtering and "pre_filter" in points.get(name, ())
    }


def failing_scores(profile: Profile, gates: Gates) -> dict[str, str]:
    """Return plugin → kube-scheduler's message, for plugins that fail if a node is feasible, in execution order.

    VolumeBinding's PreScore and Score need its PreFilter.
    """
    pre_scoring = profile.enabled("pre_score")
    bare = "VolumeBinding" not in profile.enabled("pre_filter") and scores_storage(gates)
    failing = {}
    if bare and "VolumeBinding" in pre_scoring:
        failing["VolumeBinding"] = 'running PreScore plugin "VolumeBinding": not found'
    reasons = dict(SCORE_FAILS) | ({"VolumeBinding": "not found"} if bare else {})
    for name in profile.enabled("score"):
        if name in reasons and name not in pre_scoring:
            failing[name] = f'running Score plugins: plugin "{name}" failed with: {reasons[name]}'
    return failing


class FailingFilter:
    """The Filter of a plugin without its PreFilter: it fails on every node that earlier plugins accept."""

    scope = Scope.NODE
    may_fail = True

    def __init__(self, words: str) -> None:
        self._words = words

    def filter(self, rows: Rows) -> Ints:
        """Return 1 for every node, int64[rows]."""
        return np.ones(length(rows), dtype=np.int64)

    def status(self, code: int) -> Status:
        """Raise kube-scheduler's error.

        Raises:
            PluginError: always, with kube-scheduler's message.
        """
        raise PluginError(self._words)


class FailingScore:
    """A Score without its PreScore, and a watcher that prevents grouping of nodes.

    It fails only if a node is feasible. Therefore it has scope CLUSTER, so it runs after all filters.
    """

    scope = Scope.CLUSTER
    layout = 0

    def __init__(self, words: str) -> None:
        self._words = words

    def without_pre_score(self, plugin: str) -> FailingScore:
        """Return a copy without this plugin's PreScore."""
        prepares = f'running PreScore plugin "{plugin}": '
        scores = f'running Score plugins: plugin "{plugin}" failed with: '
        return FailingScore(self._words.replace(prepares, scores, 1))

    def score(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        """Fail if a node is feasible.

        Raises:
            PluginError: if a node is feasible, with kube-scheduler's message.
        """
        if length(rows):
            raise PluginError(self._words)
        return np.zeros(0, dtype=np.int64)

    def counts_pods_of(self, pod_class: PodClass) -> bool:
        """Return False: pods never count."""
        return False

    def on_nodes(self, rows: Collection[int]) -> None:
        """Do nothing."""

    def columns(self) -> list[GroupColumn] | None:
        """Return None: feasible nodes are not grouped."""
        return None
