"""The plugins of a profile in their order, and their answers for one pod class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import msgspec

from topospread.api.pod import Pod
from topospread.api.pod_groups import PodGroup
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints, Rows
from topospread.cluster.objects import ObjectKey, Subject
from topospread.config.defaulting import DEFAULT_SCHEDULER_NAME
from topospread.config.gates import Gates
from topospread.config.profile import Extender, Profile
from topospread.config.version_rules import rules_for, since, until
from topospread.plugins.dynamic_resources import DynamicResources
from topospread.plugins.interface import (
    UNRESOLVABLE,
    UNSCHEDULABLE,
    Filter,
    Normalized,
    NotJudgedError,
    Plugin,
    PluginError,
    Prepared,
    RejectsAll,
    Reservation,
    Reserving,
    Score,
    Status,
    Watcher,
    numbers,
    offers,
)
from topospread.plugins.pod_volumes import pod_claims, unread_volumes, volume_reads
from topospread.plugins.registry import ASKED_ABOUT_CLAIMS, PLUGINS, PluginSettings
from topospread.plugins.without_pre_filter import (
    FAIL_ON_SCORED_PODS,
    FailingFilter,
    FailingScore,
    failing_filters,
    failing_scores,
)
from topospread.plugins.without_reserve import WithoutReserve, without_reserve

NOTHING_KNOWN: Mapping[str, Prepared] = MappingProxyType({})
_SKIPPED = Prepared()


class NamedFilter(msgspec.Struct, frozen=True):
    """A filter and its plugin."""

    plugin: str
    filter: Filter


class WeightedScore(msgspec.Struct, frozen=True):
    """A score, its plugin and weight. ``normalized`` is ``None`` if the score is not normalised, else ``score``."""

    plugin: str
    weight: int
    score: Score
    normalized: Normalized | None

    def points(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        """Return the weighted score of feasible rows, int64[rows]; ``nodes`` as in `Score.score`."""
        raw = self.score.score(rows, nodes)
        return self.weight * (raw if self.normalized is None else self.normalized.normalize(raw, numbers(rows)))


class PreparedPlugins(msgspec.Struct):
    """The answers of the profile's plugins for one pod class.

    Attributes:
        filters, scores: in the profile's order, without plugins that skip the pod.
        rejected: plugin and status with which PreFilter rejects the pod. The plugin is "" if several plugins leave no
            common node.
        narrowed: names of the nodes that PreFilter does not exclude; ``None`` for all nodes.
        narrowing: plugins whose PreFilter excluded nodes.
        names_left_out: whether kube-scheduler's message has a reason for the nodes that PreFilter excluded.
        reads: objects other than nodes and pods that the answers depend on.
        unjudged: parts of the pod that topospread does not model. They may make further nodes infeasible.
    """

    filters: list[NamedFilter] = []
    scores: list[WeightedScore] = []
    watchers: list[Watcher] = []
    prepared: dict[str, Prepared] = {}
    rejected: tuple[str, Status] | None = None
    narrowed: frozenset[str] | None = None
    narrowing: tuple[str, ...] = ()
    names_left_out: bool = True
    reads: set[Subject | ObjectKey] = msgspec.field(default_factory=set)
    unjudged: tuple[NotJudgedError, ...] = ()


@dataclass(frozen=True, slots=True)
class FrameworkRules:
    """The differences between Kubernetes versions in how plugins are called.

    Source: pkg/scheduler/framework/runtime/framework.go, pkg/scheduler/schedule_one.go (until 1.23
    generic_scheduler.go) and ``FitError``.
    """

    names_pre_filter_plugin: bool = until(
        "1.18", 'PreFilter\'s message does not begin with `rejected by "PLUGIN" at prefilter: `.'
    )
    reserves_by_plugin: bool = since(
        "1.19", "VolumeBinding binds volumes in Reserve and PreBind. In 1.18 the scheduler bound them."
    )
    counts_pre_filter: bool = until(
        "1.25",
        "A PreFilter rejection has no counts: `0/9 nodes are available: REASON.` Before, `0/9 nodes "
        "are available: 9 REASON.`",
    )
    missing_node_fails: bool = until(
        "1.26",
        "A missing node that a pod names is ignored. Before, it was an error.",
    )
    asks_every_pre_filter: bool = since(
        "1.30",
        "After a PreFilter rejection that evictions can fix, the next PreFilter plugins run too. A rejection "
        "that evictions cannot fix then overrides it.",
    )
    contradiction_unresolvable: bool = since(
        "1.30", "If the node lists of PreFilter plugins share no node, the pod is rejected without preemption."
    )
    scores_given_nodes: bool = since(
        "1.34",
        "Nodes that an extender gives back as objects (without `nodeCacheCapable`) are scored as if no pod "
        "were on them.",
    )
    names_left_out: bool = since(
        "1.32",
        "Nodes that PreFilter left out are in the message: `node(s) didn't satisfy plugin(s) [NodeAffinity]`.",
    )


class Framework:
    """The plugins of a profile (pkg/scheduler/framework/runtime/framework.go).

    Args:
        assumes_unjudged: whether to assume that filters that topospread does not model accept every node.
        tries_groups: whether pods of a PodGroup are scheduled together (`pod_groups`).

    Attributes:
        devices: plugin that allocates devices; ``None`` if the profile lacks one of its extension points.
    """

    def __init__(
        self, profile: Profile, gates: Gates, *, assumes_unjudged: bool = False, tries_groups: bool = False
    ) -> None:
        self.assumes_unjudged = assumes_unjudged
        self._tries_groups = tries_groups
        settings = PluginSettings(profile.args, gates)
        self._filter_names, self._pre_filters = profile.enabled("filter"), profile.enabled("pre_filter")
        used = {*self._filter_names, *profile.enabled("score"), *self._pre_filters}
        self.profile = profile
        self.gates = gates
        self.rules = rules_for(FrameworkRules, gates)
        self._has_pod_groups = gates.enabled("GenericWorkload")
        self._failing_filters = failing_filters(profile, gates)
        self._failing_scores = failing_scores(profile, gates)
        self.plugins: dict[str, Plugin] = {name: make(settings) for name, make in PLUGINS.items() if name in used}
        devices = self.plugins.get(DynamicResources.name)
        points = ("pre_filter", "filter", "reserve", "pre_bind")
        allocates = all(DynamicResources.name in profile.enabled(each) for each in points)
        if assumes_unjudged and isinstance(devices, DynamicResources):
            devices.rules = replace(devices.rules, assumes_unjudged=True)
        self.devices = devices if isinstance(devices, DynamicResources) and allocates else None
        reserves = self.rules.reserves_by_plugin
        self.without_reserve = without_reserve(profile, gates.kube_version) if reserves else WithoutReserve()
        reserving = [self.plugins.get(name) for name in self._reserving_names()]
        self._reserving = [each for each in reserving if isinstance(each, Reserving)]

    def without_scores(self) -> Framework:
        """Return a framework with the same filters and no scores."""
        plugins = {point: each for point, each in self.profile.plugins.items() if point not in ("pre_score", "score")}
        profile = msgspec.structs.replace(self.profile, plugins=plugins)
        return Framework(profile, self.gates, assumes_unjudged=self.assumes_unjudged, tries_groups=self._tries_groups)

    def reserve(self, pod_class: PodClass, cluster: Cluster, row: int) -> list[Reservation]:
        """Return the reservations for a pod that was just placed; `Reservation.bind` writes them.

        Only pods with volumes need reservations. A plugin reserves only if the profile also enables its PreBind.
        """
        if self.without_reserve:
            has_claims = any(True for _ in pod_claims(pod_class.pod, cluster.objects))
            return [self.without_reserve.refusal(cluster.nodes.names[row], has_claims=has_claims)]
        return [each.reserve(pod_class, cluster, row) for each in self._reserving] if pod_class.volumes else []

    def extenders(self, pod_class: PodClass, *verbs: str) -> tuple[NotJudgedError, ...]:
        """Return an error for each extender with one of these verbs that topospread does not call."""
        found = []
        for each in () if self.assumes_unjudged else self.interested(pod_class):
            does = " and ".join(each.decides[verb] for verb in verbs if verb in each.decides)
            who = f"extender {each.url}"
            if does and not (each.asked and "preemptVerb" not in verbs):
                found.append(NotJudgedError("extenders", each.origin, who, f"{who} is not asked: it may {does}"))
            elif each.asked and "preemptVerb" in verbs and "filterVerb" in each.verbs:
                why = f"{who} is not asked whether evictions make room"
                found.append(NotJudgedError("extenders", each.origin, who, why))
        return tuple(found)

    def asks(self, pod_class: PodClass) -> tuple[Extender, ...]:
        """Return the extenders that topospread calls for a pod."""
        if self.assumes_unjudged or not self.profile.extenders:
            return ()
        return tuple(each for each in self.interested(pod_class) if each.asked)

    def interested(self, pod_class: PodClass) -> tuple[Extender, ...]:
        """Return the extenders that kube-scheduler calls for a pod (``IsInterested``)."""
        if not self.profile.extenders:
            return ()
        spec = pod_class.pod.spec
        given = [each.resources for each in (*(spec.containers or ()), *(spec.init_containers or ())) if each.resources]
        named = {name for each in given for amounts in (each.requests, each.limits) for name in amounts or ()}
        return tuple(each for each in self.profile.extenders if not each.managed or each.managed & named)

    def _reserving_names(self) -> list[str]:
        """Return the plugins that Reserve and PreBind run."""
        profile = self.profile
        if not self.rules.reserves_by_plugin:
            return [name for name in profile.enabled("filter") if name == "VolumeBinding"]
        points = ("pre_filter", "filter", "pre_bind")
        return [name for name in profile.enabled("reserve") if all(name in profile.enabled(each) for each in points)]

    def prepare(
        self, pod_class: PodClass, cluster: Cluster, known: Mapping[str, Prepared] = NOTHING_KNOWN
    ) -> PreparedPlugins:
        """Prepare every plugin for a pod class.

        Args:
            known: plugin → its answer for another class that also holds for this class.

        Raises:
            PluginError: if kube-scheduler fails on the pod.
        """
        reads = volume_reads(pod_class.pod, cluster.objects) if pod_class.volumes else set()
        plugins = PreparedPlugins(names_left_out=self.rules.names_left_out, reads=reads)
        prepared = plugins.prepared
        failed: dict[str, PluginError] = {}
        unread = (
            unread_volumes(pod_class.pod, cluster.objects) if pod_class.volumes and cluster.objects.unread else None
        )
        if unread is not None and not self.assumes_unjudged:
            plugins.unjudged += (unread,)
        for name, plugin in self.plugins.items():
            if unread is not None and name in ASKED_ABOUT_CLAIMS:
                continue
            try:
                prepared[name] = known.get(name) or self.ask(plugin, pod_class, cluster)
            except NotJudgedError as error:
                if not self.assumes_unjudged:
                    plugins.unjudged += (error,)
                continue
            except PluginError as error:
                failed[name] = error
                continue
            plugins.reads.update(prepared[name].reads)
            watcher = prepared[name].watcher
            if watcher is not None:
                plugins.watchers.append(watcher)
        spec = pod_class.pod.spec
        if self._has_pod_groups and (spec.scheduling_group or spec.workload_ref) and not self.assumes_unjudged:
            plugins.unjudged += self._unjudged_group(pod_class.pod, cluster)
            reads.add((PodGroup, ""))
        if spec.unjudged_admission and not self.assumes_unjudged:
            plugins.unjudged += tuple(map(_unjudged_admission, spec.unjudged_admission))
        scheduler = spec.scheduler_name or DEFAULT_SCHEDULER_NAME
        if self.profile.scheduler_name not in ("", scheduler) and not self.assumes_unjudged:
            plugins.unjudged += (_other_scheduler(scheduler),)
        plugins.unjudged += self.extenders(pod_class, "filterVerb", "prioritizeVerb")
        self._pre_filter(plugins, failed)
        if self.rules.missing_node_fails:
            _check_all_there(plugins, cluster)
        self._filters(plugins)
        self._scores(plugins)
        return plugins

    def _unjudged_group(self, pod: Pod, cluster: Cluster) -> tuple[NotJudgedError, ...]:
        """Return the part of the pod's group that is not modelled; empty if all of it is modelled."""
        group, objects = pod.spec.scheduling_group, cluster.objects
        if group is not None and self._tries_groups:
            key = (pod.namespace, group.pod_group_name)
            if objects.whole_groups is None or key in objects.whole_groups:
                return ()
            found = objects.unjudged_groups.get(key)
            if isinstance(found, NotJudgedError):
                return (found,)
        if group is None:
            return (NotJudgedError("podGroups", "spec.workloadRef", "pod groups of Kubernetes before 1.37"),)
        words = "pod groups in this command"
        return (NotJudgedError("podGroups", "spec.schedulingGroup", words),)

    def ask(self, plugin: Plugin, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare one plugin for a pod class. Measurements override this method.

        Raises:
            PluginError: if kube-scheduler fails on the pod.
        """
        return plugin.prepare(pod_class, cluster)

    def _filters(self, plugins: PreparedPlugins) -> None:
        pre_filtering = self._pre_filters
        for name in self._filter_names:
            each = plugins.prepared.get(name, _SKIPPED)
            if name in self._failing_filters:
                plugins.filters.append(NamedFilter(name, FailingFilter(self._failing_filters[name])))
            elif each.rejected is not None and name not in pre_filtering:
                plugins.filters.append(NamedFilter(name, RejectsAll(each.rejected)))
            elif each.filter is not None:
                plugins.filters.append(NamedFilter(name, each.filter))

    def _scores(self, plugins: PreparedPlugins) -> None:
        filtering, weights = self.profile.enabled("filter"), self.profile.weights
        if not weights:
            return  # without Score plugins, PreScore does not run either (schedule_one.go, prioritizeNodes)
        pre_scoring, failing = self.profile.enabled("pre_score"), self._failing_scores
        for name in pre_scoring:  # every PreScore runs before the first Score
            score = plugins.prepared[name].score if name in plugins.prepared else None
            if name in failing:
                score = FailingScore(failing[name])
            if isinstance(score, FailingScore):
                self._add_failing(plugins, name, score)
        for name, weight in weights.items():
            each = plugins.prepared.get(name, Prepared())
            if name in failing and not (name in FAIL_ON_SCORED_PODS and each.score is None):
                self._add_failing(plugins, name, FailingScore(failing[name]))
            elif isinstance(each.score, FailingScore):
                if name not in pre_scoring:
                    self._add_failing(plugins, name, each.score.without_pre_score(name))
            elif each.score is not None and not (each.score_needs_filter and name not in filtering):
                normalized = each.score if offers(each.score, Normalized) else None
                plugins.scores.append(WeightedScore(name, weight, each.score, normalized))

    def _add_failing(self, plugins: PreparedPlugins, name: str, score: FailingScore) -> None:
        plugins.scores.append(WeightedScore(name, 0, score, None))
        plugins.watchers.append(score)

    def _pre_filter(self, plugins: PreparedPlugins, failed: dict[str, PluginError]) -> None:
        """Run PreFilter (``RunPreFilterPlugins``). Stop at an error or unresolvable rejection. Intersect node lists.

        If a plugin without PreFilter failed, raise its error first.
        """
        pre_filtering = self._pre_filters
        for name, error in failed.items():
            if name not in pre_filtering and name not in self._failing_filters:
                raise error
        narrowing: list[str] = []
        for name in pre_filtering:
            if name in failed:
                raise failed[name]
            each = plugins.prepared.get(name)
            if each is None:
                continue
            if each.rejected is not None:
                plugins.rejected = (name, self._worded(name, each.rejected))
                if each.rejected.code == UNRESOLVABLE or not self.rules.asks_every_pre_filter:
                    plugins.narrowed, plugins.narrowing = None, ()
                    return
                continue
            if each.narrowed is None:
                continue
            narrowing.append(name)
            plugins.narrowed = each.narrowed if plugins.narrowed is None else plugins.narrowed & each.narrowed
            plugins.narrowing = tuple(sorted(narrowing))
            if not plugins.narrowed:
                code = UNRESOLVABLE if self.rules.contradiction_unresolvable else UNSCHEDULABLE
                plugins.rejected = ("", Status(code, (_contradiction(plugins.narrowing),)))
                return

    def _worded(self, plugin: str, status: Status) -> Status:
        if not self.rules.names_pre_filter_plugin:
            return status
        words = f'rejected by "{plugin}" at prefilter: {", ".join(status.reasons)}'
        return Status(status.code, (words,), status.because)


def _check_all_there(plugins: PreparedPlugins, cluster: Cluster) -> None:
    for name in sorted(plugins.narrowed or ()):
        if name not in cluster.nodes.row_of and plugins.rejected is None:
            raise PluginError(f'nodeinfo not found for node name "{name}"')


def _contradiction(plugins: tuple[str, ...]) -> str:
    if len(plugins) == 1:
        return f"node(s) didn't satisfy plugin {plugins[0]}"
    return f"node(s) didn't satisfy plugin(s) [{' '.join(plugins)}] simultaneously"


def _other_scheduler(name: str) -> NotJudgedError:
    """Return the error for a pod whose schedulerName is in no profile."""
    words = f'schedulerName "{name}"'
    return NotJudgedError(words, "spec.schedulerName", words, f"{words} is in no profile", changes_pod=True)


def _unjudged_admission(who: str) -> NotJudgedError:
    """Return the error for an admission plugin, policy or quota (``who``) whose answer for a pod is unknown."""
    changes = who.startswith(("MutatingAdmissionPolicy ", "PodGroup "))
    because = f"{who} cannot be evaluated: it may {'change' if changes else 'refuse'} the pod"
    if who.startswith("ResourceQuota "):
        because = f"{who} is exceeded: whether it admits the pod later is unknown"
    return NotJudgedError(f"admission: {who}", "", who, because, changes_pod=changes)
