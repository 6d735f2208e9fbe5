"""The scheduling cycle of the Scheduling Framework for one pod after another.

    PreFilter, PreScore          `Framework.prepare`, once for all pods of a class; a `View` keeps it up to date
    Filter                       `node_local` for each node, `View.feasible` for plugins that read other nodes
    Score, NormalizeScore        `View.total`: the weighted sum of every plugin's score
    selectHost                   `select_host`, on the nodes that `node_search` considers
    Reserve, PreBind             `Scheduler.reserve`
    Bind                         `Scheduler.bind`
    PostFilter                   `Scheduler.preemption`, for a pod without a feasible node

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
from topospread.plugins.dynamic_resources.claims import PodDeviceClaim
from topospread.plugins.interface import UNRESOLVABLE, PluginError, Status

from .batching import Batch
from .disruption_budgets import AllowedDisruptions
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
from .victim_units import UnitSearch, has_grouped_pods
from .view import View
from .view_cache import ViewCache

Answer = TypeVar("Answer")


class SharedRejectionCache(Generic[Answer]):
    """A cache of answers for pending pods. Replicas share a key. Any change of the cluster clears the cache."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._stamp = -1
        self._known: dict[Hashable, Answer] = {}

    def get(self, key: Hashable, found: Callable[[], Answer]) -> Answer:
        """Return the cached answer of a key, else the result of ``found()``, which is then cached."""
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
    """Cached verdicts of pending pods, and cached results of preemption for them, by class."""

    def __init__(self, journal: Journal) -> None:
        self.verdicts: SharedRejectionCache[Verdict] = SharedRejectionCache(journal)
        self.preemptions: SharedRejectionCache[Preemption] = SharedRejectionCache(journal)


class Placement(msgspec.Struct, frozen=True):
    """The result for one pod.

    Attributes:
        node: the chosen node, ``None`` if the pod stays pending.
        score: total score of the node, ``None`` without a node.
        message: kube-scheduler's message for a pending pod.
        unbound: whether a node was chosen, but binding the pod to it failed.
        hinted: whether the node comes from a batch: the next best node by an earlier pod's scores (`batching`).
    """

    pod: str
    node: str | None
    score: int | None = None
    message: str = ""
    unbound: bool = False
    hinted: bool = False


class Scheduler:
    """A scheduler that places pods on a cluster one after another.

    Args:
        cluster: the state; binding changes it.
        frameworks: scheduler name → plugins of its profile.
        seed: seed of random draws among equal nodes; ``None`` takes the first node by name.
        sampled: whether to consider only as many nodes as kube-scheduler does. If the version does not draw among nodes
            with equal totals, the search order decides between them.
        always_draws: whether to draw among nodes with equal totals even if the version does not, to explore possible
            results.

    Attributes:
        topology_labels: copies a node's zone and region labels to bound pods; ``None`` if no selector reads them.
        views: views of the classes that were scheduled.
        generated: function that returns a generated name for a prefix, used for claims for extended resources.
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
        batches = {each: Batch(each, cluster, self.view, among) for each in frameworks.values()}
        self._search.batches = {each: batch for each, batch in batches.items() if batch.signs}
        self._search.drawn = None if self._random is None else drawn(self._random, cluster.nodes.ranks)
        self._pending = PendingAnswers(cluster.journal)
        self._searches = SharedSearches(cluster)

    def schedule(self, pod: Pod, name: str | None = None, nominated: str = "", *, binds: bool = True) -> Placement:
        """Choose a node for a pod and bind the pod to it.

        Args:
            name: the pod's name, if replicas share the pod object.
            nominated: the pod's nominated node; by default from its status.
            binds: whether to bind the pod's claims to volumes; otherwise the volumes are only assumed.
        """
        pod_class = self.cluster.shared_class(pod)
        key = pod_key(pod.namespace, pod.name if name is None else name)
        try:
            host = self._search.best(pod, pod_class, key, nominated or pod.nominated_node_name)
        except PluginError as error:
            return Placement(key, None, message=str(error))
        if host is None:
            verdict = self.pending_verdict(pod, name)
            return Placement(key, None, message=verdict.message or verdict.error)
        row, score = host
        self.bind(key, pod_class, row, pod.metadata.uid or key, names_claims=binds)
        if (pod_class.volumes or self._binds_not) and (failed := self.reserve(pod_class, row, binds=binds)):
            self.cluster.unbind(key)
            placement = Placement(key, None, message=failed, unbound=True)
        else:
            placement = Placement(key, self.cluster.nodes.names[row], score)
        return self._settled(placement) if self._search.batches else placement

    def _settled(self, placement: Placement) -> Placement:
        """Report a completed binding to the batches. Return the placement with `hinted` set."""
        for batch in self._search.batches.values():
            batch.settled()
        hinted = self._search.hinted and placement.node is not None
        return msgspec.structs.replace(placement, hinted=hinted)

    def runs_by(self, clock: Callable[[], int]) -> None:
        """Let batches expire by a clock, which returns nanoseconds (`batching`)."""
        for batch in self._search.batches.values():
            batch.clock = clock

    def passed_over(self, pods: int) -> None:
        """Count attempts of pods for which `schedule` was not called because their outcome was known."""
        self._search.attempts += pods

    def bind(self, key: PodKey, pod_class: PodClass, row: int, uid: str = "", *, names_claims: bool = True) -> None:
        """Place a pod on a node, allocate the devices it claims, and clear its nomination.

        ``names_claims``: whether `generated` names the claim for its extended resources.
        """
        if self.cluster.nominated:
            self.cluster.withdraw(key)
        labels = self.topology_labels
        self.cluster.bind(key, pod_class if labels is None else labels.bound(pod_class, row), row)
        if pod_class.may_need_devices:
            self._reserve_devices(pod_class, row, key, uid or key, names_claims=names_claims)

    def reserve(self, pod_class: PodClass, row: int, *, binds: bool = True) -> str:
        """Run Reserve and PreBind for a pod with volumes that was just placed. Return the error, or "".

        ``binds``: whether to run PreBind. Here PreBind binds the claims immediately.
        """
        reserved = self.framework_of(pod_class).reserve(pod_class, self.cluster, row)
        return next(filter(None, [each.bind() if binds else each.assume() for each in reserved]), "")

    def _reserve_devices(self, pod_class: PodClass, row: int, key: PodKey, uid: str, *, names_claims: bool) -> None:
        """Run Reserve and PreBind of DynamicResources: allocate and reserve the claims of a placed pod."""
        devices = self.framework_of(pod_class).devices
        found = devices.filter_of(pod_class, self.cluster) if devices is not None else None
        if found is not None:
            from topospread.plugins.dynamic_resources.reserving import Consumer, reserve

            named = (self.generated,) if names_claims else ()
            reserve(self.cluster, found, row, Consumer(key.partition("/")[2], uid, *named)).bind()

    def release_claim(self, pod: Pod, name: str, verdict: Verdict) -> str:
        """Run PostFilter of DynamicResources: deallocate a claim that makes every node infeasible.

        Return the plugin's message, or "".
        """
        from topospread.plugins.dynamic_resources.reserving import release_elsewhere

        uid = pod.metadata.uid or pod_key(pod.namespace, name)
        released = release_elsewhere(self.cluster.objects, self.unavailable_claims(pod, verdict), uid)
        return "" if released is None else "deallocation of ResourceClaim completed"

    def unavailable_claims(self, pod: Pod, verdict: Verdict) -> list[PodDeviceClaim]:
        """Return the pod's device claims that are allocated elsewhere, as Filter found on at least one node."""
        pod_class = self.cluster.shared_class(pod)
        devices = self.framework_of(pod_class).devices
        blamed = [place for place, each in enumerate(verdict.rejections) if each.plugin == DynamicResources.name]
        found = devices.filter_of(pod_class, self.cluster) if devices is not None and blamed else None
        if found is None or verdict.pre_filter:
            return []
        rows = [self.cluster.nodes.row_of[node] for node in compress(verdict.nodes, np.isin(verdict.blame, blamed))]
        places = found.allocations.unavailable(np.array(rows, dtype=np.int64))
        return [known for place in places if (known := found.wanted.claims[place]).entry]

    def verdict(self, pod: Pod, name: str | None = None) -> Verdict:
        """Return the verdict on a pod: every plugin's answer on every node. Bind nothing."""
        pod_class = self.cluster.shared_class(pod)
        key = pod_key(pod.namespace, pod.name if name is None else name)
        try:
            return self._verdict_of(key, pod_class, self._search.within)
        except PluginError as error:
            return failed_verdict(key, error, tuple(sorted(self.cluster.nodes.row_of)))

    def _verdict_of(self, key: PodKey, pod_class: PodClass, within: Ints | None = None) -> Verdict:
        """Return the verdict on a pod, with the answers of extenders that the user allowed to call."""
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
        """Return the result of preemption for a pending pod. Replicas pending for the same reason share the result."""
        pod_class = self.cluster.shared_class(pod)
        if self.framework_of(pod_class).asks(pod_class):
            return self.preemption(pod, verdict)
        alike = (self.views.equivalence_classes.key(pod_class), self.cluster.nominated_node(verdict.pod))
        return self._pending.preemptions.get(alike, lambda: self.preemption(pod, verdict))

    def pick(self, preemption: Preemption) -> Candidate | None:
        """Return one of the equally good candidates: the first by name, or a random one if there is a seed."""
        if not preemption.picked:
            return None
        by_name = sorted(preemption.picked, key=lambda each: each.node)
        return by_name[self._random.randrange(len(by_name)) if self._random else 0]

    def preemption(self, pod: Pod, verdict: Verdict, *, exhaustive: bool = False) -> Preemption:
        """Find the pods to evict so that a pending pod fits. Evict nothing.

        ``exhaustive``: consider every node; kube-scheduler considers only a share of them.
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
        searching = UnitSearch if self.has_groups and has_grouped_pods(self.cluster) else PreemptionSearch
        return searching(view, verdict, self._searches, wanted, rules).search()

    def allowed_disruptions(self) -> AllowedDisruptions:
        """Return the evictions that budgets allow now, counted by the rules of Kubernetes 1.37."""
        return self._searches.budgets.allowed(counts_on=False)

    def sample(self, view: View, key: str, nominated: str = "") -> Sample:
        """Return the nodes that kube-scheduler would consider for a pod. Requires ``sampled``."""
        return self._search.sample(view, key, nominated)

    def view(self, pod_class: PodClass) -> View:
        """Return the view of a class, up to date."""
        return self.views.of(self.framework_of(pod_class), pod_class)

    def framework_of(self, pod_class: PodClass) -> Framework:
        """Return the profile that ``spec.schedulerName`` names, or the first profile if none matches."""
        name = pod_class.pod.spec.scheduler_name
        return self.frameworks.get(name or "default-scheduler") or next(iter(self.frameworks.values()))

    @contextmanager
    def within(self, rows: Ints | None) -> Iterator[None]:
        """Consider only some rows for pods that are scheduled in this context; ``None`` considers all."""
        self._search.within = rows
        try:
            yield
        finally:
            self._search.within = None

    def finds_a_node(self, pod: Pod) -> bool:
        """Return whether any node passes the filters of scopes NODE, USAGE and PODS, without nominated pods."""
        try:
            view = self.view(self.cluster.shared_class(pod))
        except PluginError:
            return False
        return bool(view.node_local.open[: self.cluster.nodes.size].any())

    def pending_verdict(self, pod: Pod, name: str | None = None) -> Verdict:
        """Return the verdict of a pending pod. Replicas that are pending for the same reason share it."""
        key = pod_key(pod.namespace, pod.name if name is None else name)
        try:
            pod_class = self.cluster.shared_class(pod)
            if self._search.within is not None:
                return self._verdict_of(key, pod_class, self._search.within)
            if self.framework_of(pod_class).asks(pod_class):
                return self._verdict_of(key, pod_class)
            alike = (self.views.equivalence_classes.key(pod_class), self.cluster.nominated_node(key))
            return self._pending.verdicts.get(
                alike, lambda: verdict_of(key, self.view(pod_class), self.framework_of(pod_class))
            )
        except PluginError as error:
            return failed_verdict(key, error, tuple(sorted(self.cluster.nodes.row_of)))
