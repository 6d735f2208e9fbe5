"""The scheduling cycle of the Scheduling Framework, pod by pod; what a node is worth is the plugins' matter.

    PreFilter, PreScore          `Framework.prepare`, once for all pods of a class; a `View` keeps it up to date
    Filter                       `node_local` node by node, `View.feasible` for what rests on other nodes
    Score, NormalizeScore        `View.total`: every plugin's points, weighed and summed up
    selectHost                   `select_host`, on the nodes that `node_search` has to look at
    Reserve, PreBind             `Scheduler.reserve`
    Bind                         `Scheduler.bind`
    PostFilter                   `Scheduler.preemption`, for a pod that is left without a node

Source: pkg/scheduler/schedule_one.go (``scheduleOnePod``, ``schedulingCycle``, ``bindingCycle``).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import compress
from typing import Generic, TypeVar

import msgspec
import numpy as np

from topospread.api.pod import Pod
from topospread.cluster import Cluster, Journal, PodClass
from topospread.cluster.arrays import Ints
from topospread.cluster.cluster import PodKey, pod_key
from topospread.config.version_rules import rules_for
from topospread.plugins.dynamic_resources import DynamicResources
from topospread.plugins.interface import UNRESOLVABLE, PluginError, Status

from .eligible_to_preempt_others import EligibilityRules, why_not_eligible
from .evaluate import failed_verdict, verdict_of
from .extender_calls import totals
from .framework import Framework
from .node_search import NodeSearch
from .preemption import Candidate, Preemption, PreemptionRules, PreemptionSearch, SharedSearches, candidates_wanted
from .sampling import Sample, Sampler
from .select_host import among_equals, drawn
from .topology_labels import TopologyLabels
from .verdict import EXTENDER, Rejection, Verdict
from .view import View
from .view_cache import ViewCache

# Answers to pods that are left pending, remembered until anything happens to the cluster; not how they are found.

Answer = TypeVar("Answer")


class Momentary(Generic[Answer]):
    """Replicas that wait for the same reason share an answer."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._stamp = -1
        self._known: dict[Hashable, Answer] = {}

    def get(self, key: Hashable, found: Callable[[], Answer]) -> Answer:
        """The answer for a key, found when the cluster is not what it was."""
        if self._stamp != self._journal.stamp:
            self._known.clear()
            self._stamp = self._journal.stamp
        if key not in self._known:
            answer = found()
            if self._stamp != self._journal.stamp:
                return answer
            self._known[key] = answer
        return self._known[key]


class PendingAnswers:
    """The reasons of pending pods and what preemption finds for them, by class."""

    def __init__(self, journal: Journal) -> None:
        self.verdicts: Momentary[Verdict] = Momentary(journal)
        self.preemptions: Momentary[Preemption] = Momentary(journal)


class Placement(msgspec.Struct, frozen=True):
    """The node of a placed pod.

    Attributes:
        node: the chosen node, ``None`` when the pod stays pending.
        score: the node's total, ``None`` when there is no node.
        message: kube-scheduler's sentence for a pod that stays pending.
        unbound: it has a node to go to and cannot be bound there.
    """

    pod: str
    node: str | None
    score: int | None = None
    message: str = ""
    unbound: bool = False


class Scheduler:
    """Places pods on a cluster, one after another.

    Attributes:
        topology_labels: gives bound pods the labels of their node; ``None`` where nothing would select by them.

    Args:
        cluster: the state; binding changes it.
        frameworks: scheduler name → its profile's plugins.
        seed: draw as kube-scheduler does: among nodes whose victims are equally good, and until 1.34 among equally good
            nodes; ``None`` takes the first by name.
        sampled: look at as many nodes as kube-scheduler would, not at all of them, and where it draws no more, take the
            one among equals that follows from the order in which it looks at them.
        always_draws: draw among equal nodes also where it draws no more: for who asks what may come of it.

    Attributes:
        views: what is known of the classes that were placed.
        generated: names a claim for extended resources by its prefix.
        has_groups: whether pods may belong to pod groups.
    """

    def __init__(
        self,
        cluster: Cluster,
        frameworks: Mapping[str, Framework],
        seed: int | None = None,
        *,
        sampled: bool = False,
        always_draws: bool = False,
    ) -> None:
        self.cluster = cluster
        self.frameworks = frameworks
        self.views = ViewCache(cluster)
        self.shared = self.views.shared
        self.work = self.shared.work
        self.topology_labels: TopologyLabels | None = None
        self.generated: Callable[[str], str] = lambda prefix: f"{prefix}0"
        self._random = None if seed is None else random.Random(seed)
        self._binds_not = any(each.without_reserve for each in frameworks.values())
        gates = [each.gates for each in frameworks.values()]
        self.has_groups = any(each.enabled("GenericWorkload") for each in gates)
        among = among_equals(gates, cluster.nodes, self._random, sampled=sampled, always_draws=always_draws)
        sampler = Sampler(cluster) if sampled else None
        self._search = NodeSearch(cluster, self.view, self.work, among, sampler)
        self._search.drawn = None if self._random is None else drawn(self._random, cluster.nodes.ranks)
        self._pending = PendingAnswers(cluster.journal)
        self._searches = SharedSearches(cluster)

    def schedule(self, pod: Pod, name: str | None = None, nominated: str = "") -> Placement:
        """Choose a node for a pod and bind it there.

        ``name``: the pod's own, where it shares its object with others. ``nominated``: the node that preemption
        made room on; by default what the pod's status says.
        """
        pod_class = self.cluster.shared_class(pod)
        key = pod_key(pod.namespace, pod.name if name is None else name)
        try:
            host = self._search.best(pod_class, key, nominated or pod.nominated_node_name)
        except PluginError as error:
            return Placement(key, None, message=str(error))
        if host is None:
            verdict = self.pending_verdict(pod, name)
            return Placement(key, None, message=verdict.message or verdict.error)
        row, score = host
        self.bind(key, pod_class, row, pod.metadata.uid or key)
        if (pod_class.volumes or self._binds_not) and (failed := self.reserve(pod_class, row)):
            self.cluster.unbind(key)
            return Placement(key, None, message=failed, unbound=True)
        return Placement(key, self.cluster.nodes.names[row], score)

    def bind(self, key: PodKey, pod_class: PodClass, row: int, uid: str = "") -> None:
        """Put a pod on its node, with the devices it claims; it is not nominated for one any more."""
        if self.cluster.nominated:
            self.cluster.withdraw(key)
        labels = self.topology_labels
        self.cluster.bind(key, pod_class if labels is None else labels.bound(pod_class, row), row)
        if pod_class.may_need_devices:
            self._reserve_devices(pod_class, row, key, uid or key)

    def reserve(self, pod_class: PodClass, row: int) -> str:
        """Reserve and PreBind for a pod with volumes that was just placed; why that failed, "" where it did not.

        Here claims are bound at once; who has to wait for it does only what Reserve does.
        """
        reserved = self.framework_of(pod_class).reserve(pod_class, self.cluster, row)
        return next(filter(None, [each.bind() for each in reserved]), "")

    def _reserve_devices(self, pod_class: PodClass, row: int, key: PodKey, uid: str) -> None:
        """Reserve and PreBind of DynamicResources: claims are allocated and reserved for a pod that was just placed."""
        devices = self.framework_of(pod_class).devices
        found = devices.filter_of(pod_class, self.cluster) if devices is not None else None
        if found is not None:
            from topospread.plugins.dynamic_resources.reserving import Consumer, reserve

            reserve(self.cluster, found, row, Consumer(key.partition("/")[2], uid, self.generated)).bind()

    def release_claim(self, pod: Pod, name: str, verdict: Verdict) -> str:
        """PostFilter of DynamicResources: deallocate a claim that keeps the pod from every node; what is said of it."""
        pod_class = self.cluster.shared_class(pod)
        devices = self.framework_of(pod_class).devices
        rejects = any(each.plugin == DynamicResources.name for each in verdict.rejections)
        found = devices.filter_of(pod_class, self.cluster) if devices is not None and rejects else None
        if found is None or verdict.pre_filter:
            return ""
        blamed = [place for place, each in enumerate(verdict.rejections) if each.plugin == DynamicResources.name]
        rows = [self.cluster.nodes.row_of[node] for node in compress(verdict.nodes, np.isin(verdict.blame, blamed))]
        unavailable = found.allocations.unavailable(np.array(rows, dtype=np.int64))
        from topospread.plugins.dynamic_resources.reserving import release_elsewhere

        uid = pod.metadata.uid or pod_key(pod.namespace, name)
        released = release_elsewhere(self.cluster.objects, found, unavailable, uid)
        return "" if released is None else "deallocation of ResourceClaim completed"

    def verdict(self, pod: Pod, name: str | None = None) -> Verdict:
        """The whole answer for a pod: every node, every plugin. Binds nothing."""
        pod_class = self.cluster.shared_class(pod)
        key = pod_key(pod.namespace, pod.name if name is None else name)
        try:
            return self._verdict_of(key, pod_class)
        except PluginError as error:
            return failed_verdict(key, error, tuple(sorted(self.cluster.nodes.row_of)))

    def _verdict_of(self, key: PodKey, pod_class: PodClass, within: Ints | None = None) -> Verdict:
        """The verdict on a pod, with what extenders say that are asked."""
        framework, view = self.framework_of(pod_class), self.view(pod_class)
        verdict = verdict_of(key, view, framework, within)
        asked = framework.asks(pod_class)
        if not asked or verdict.error or not (verdict.blame < 0).any():
            return verdict
        calls, row_of = self._search.calls, self.cluster.nodes.row_of
        feasible = np.array(sorted(map(row_of.__getitem__, verdict.feasible), key=self.cluster.nodes.ranks.__getitem__))
        passed = calls.filtered(key, pod_class.pod, asked, feasible)
        blame, rejections, known = verdict.blame.copy(), [*verdict.rejections], dict[Status, int]()
        for place in np.flatnonzero(blame < 0).tolist():
            row = row_of[verdict.nodes[place]]
            if row not in passed.rows:
                status = passed.refused.get(row, Status(UNRESOLVABLE, ()))
                if status not in known:
                    known[status] = len(rejections)
                    rejections.append(Rejection(status.code, EXTENDER, status.reasons))
                blame[place] = known[status]
        passed.rows = np.array([row_of[name] for name in compress(verdict.nodes, blame < 0)], dtype=np.int64)
        if len(passed.rows) > 1:
            calls.scored(key, pod_class.pod, asked, passed)
        points = totals(view, passed, self.cluster) if len(passed.rows) else {}
        return replace(verdict, blame=blame, rejections=tuple(rejections), points=points)

    def preempts(self, pod: Pod) -> bool:
        """Return whether the pod's profile has preemption."""
        return "DefaultPreemption" in self.framework_of(self.cluster.shared_class(pod)).profile.enabled("post_filter")

    def pending_preemption(self, pod: Pod, verdict: Verdict) -> Preemption:
        """Return what preemption finds for a pod just left pending; replicas that wait for the same reason share it."""
        pod_class = self.cluster.shared_class(pod)
        if self.framework_of(pod_class).asks(pod_class):
            return self.preemption(pod, verdict)
        alike = (self.views.likenesses.key(pod_class), self.cluster.nominated_node(verdict.pod))
        return self._pending.preemptions.get(alike, lambda: self.preemption(pod, verdict))

    def pick(self, preemption: Preemption) -> Candidate | None:
        """The candidate to take: the first by name, or a draw among equals as kube-scheduler's."""
        if not preemption.picked:
            return None
        by_name = sorted(preemption.picked, key=lambda each: each.node)
        return by_name[self._random.randrange(len(by_name)) if self._random else 0]

    def preemption(self, pod: Pod, verdict: Verdict, *, exhaustive: bool = False) -> Preemption:
        """Find the pods to evict so that a pod fits that the verdict left without a node. Evicts nothing.

        ``exhaustive``: try every node; kube-scheduler is content with a share of them.
        """
        pod_class = self.cluster.shared_class(pod)
        framework, view = self.framework_of(pod_class), self.view(pod_class)
        eligibility = rules_for(EligibilityRules, framework.gates)
        ineligible = why_not_eligible(view, verdict, pod.nominated_node_name, eligibility)
        if ineligible:
            return Preemption(ineligible=ineligible, keeps_promise=True)
        wanted = None
        if not exhaustive:
            wanted = candidates_wanted(framework.profile.args.default_preemption, len(self.cluster.nodes))
        rules = rules_for(PreemptionRules, framework.gates)
        return PreemptionSearch(view, verdict, self._searches, wanted, rules).search()

    def sample(self, view: View, key: str, nominated: str = "") -> Sample:
        """The nodes that kube-scheduler would look at for a pod; the scheduler was made to sample."""
        return self._search.sample(view, key, nominated)

    def view(self, pod_class: PodClass) -> View:
        """The view of a class, up to date."""
        return self.views.of(self.framework_of(pod_class), pod_class)

    def framework_of(self, pod_class: PodClass) -> Framework:
        """The profile that a pod's ``spec.schedulerName`` names; the only one there is where it names none."""
        name = pod_class.pod.spec.scheduler_name
        return self.frameworks.get(name or "default-scheduler") or next(iter(self.frameworks.values()))

    @contextmanager
    def within(self, rows: Ints | None) -> Iterator[None]:
        """Look at some nodes alone for the pods that are tried in this context; ``None``: at all."""
        self._search.within = rows
        try:
            yield
        finally:
            self._search.within = None

    def finds_a_node(self, pod: Pod) -> bool:
        """Return whether some node is feasible for pods like this one, but for promised ones; no more is worked out."""
        try:
            view = self.view(self.cluster.shared_class(pod))
        except PluginError:
            return False
        return bool(view.node_local.open[: self.cluster.nodes.size].any())

    def pending_verdict(self, pod: Pod, name: str | None = None) -> Verdict:
        """The verdict on a pod that was just left pending; replicas that wait for the same reason share it."""
        key = pod_key(pod.namespace, pod.name if name is None else name)
        try:
            pod_class = self.cluster.shared_class(pod)
            if self._search.within is not None:
                return self._verdict_of(key, pod_class, self._search.within)
            if self.framework_of(pod_class).asks(pod_class):
                return self._verdict_of(key, pod_class)
            alike = (self.views.likenesses.key(pod_class), self.cluster.nominated_node(key))
            return self._pending.verdicts.get(
                alike, lambda: verdict_of(key, self.view(pod_class), self.framework_of(pod_class))
            )
        except PluginError as error:
            return failed_verdict(key, error, tuple(sorted(self.cluster.nodes.row_of)))
