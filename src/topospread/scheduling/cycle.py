"""The scheduling cycle: bring the view up to date, choose the best node, bind.

    view of the pod's class → best of each bucket → best of all → bind the pod, and its claims

Reads like kube-scheduler's ``schedule_one.go``; what a node is worth is the plugins' matter.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from itertools import islice

import msgspec
import numpy as np

from topospread.api.pod import Pod
from topospread.cluster import Cluster, PodClass
from topospread.cluster.cluster import pod_key
from topospread.config.version_rules import rules_for
from topospread.plugins.interface import PluginError

from .evaluate import failed_verdict, first_failure, verdict_of, walkable
from .framework import Framework
from .momentary import Momentary
from .nominated_pods import blocked_by_nominated
from .preemption import Candidate, Preemption, PreemptionRules, Preemptor, candidates_wanted
from .sampling import Sample, Sampler
from .select_host import AmongEquals, ChoiceRules, best_of, best_of_heads, drawn, top_of_heap
from .topology_labels import TopologyLabels
from .verdict import Verdict
from .view import Shared, View

_VIEW_MEMORY = 3 << 29
_BYTES_PER_ROW = 80
_BYTES_PER_VIEW = 1 << 15
_MANY_VIEWS = 256
_LOOKED_AT = 4
"""So many views are looked at, in rounds, whenever there is a new one."""


class Placement(msgspec.Struct, frozen=True):
    """Where a pod went.

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
        views: by profile and class, those not used for the longest time first.
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
        self.shared = Shared()
        self.work = self.shared.work
        self.topology_labels: TopologyLabels | None = None
        self._random = None if seed is None else random.Random(seed)
        draws = always_draws or all(rules_for(ChoiceRules, each.gates).draws for each in frameworks.values())
        self._among: AmongEquals | None = None
        if not draws:
            self._among = top_of_heap if sampled else None
        elif self._random is not None:
            self._among = drawn(self._random, cluster.nodes.ranks)
        self._sampler = Sampler(cluster) if sampled else None
        self.views: OrderedDict[tuple[str, tuple[int, str]], View] = OrderedDict()
        self._round: Iterator[tuple[str, tuple[int, str]]] = iter(())
        self._preemptions: Momentary[Preemption] = Momentary(cluster.journal)
        self._pending: Momentary[Verdict] = Momentary(cluster.journal)

    def schedule(self, pod: Pod, name: str | None = None, nominated: str = "") -> Placement:
        """Choose a node for a pod and bind it there.

        ``name``: the pod's own, where it shares its object with others. ``nominated``: the node that preemption
        made room on; by default what the pod's status says.
        """
        pod_class = self.cluster.shared_class(pod)
        key = pod_key(pod.namespace, pod.name if name is None else name)
        try:
            chosen = self._choose_tied(pod_class) if pod_class.general else None
            if chosen is None:
                chosen = self._chosen(self.view(pod_class), key, nominated or pod.nominated_node_name)
        except PluginError as error:
            return Placement(key, None, message=str(error))
        if chosen is None:
            verdict = self.pending_verdict(pod, name)
            return Placement(key, None, message=verdict.message or verdict.error)
        row, score = chosen
        if self.cluster.nominated:
            self.cluster.withdraw(key)
        labels = self.topology_labels
        self.cluster.bind(key, pod_class if labels is None else labels.bound(pod_class, row), row)
        if pod_class.volumes and (failed := self.reserve(pod_class, row)):
            self.cluster.unbind(key)
            return Placement(key, None, message=failed, unbound=True)
        return Placement(key, self.cluster.nodes.names[row], score)

    def reserve(self, pod_class: PodClass, row: int) -> str:
        """Reserve and PreBind for a pod with volumes that was just placed; why that failed, "" where it did not.

        Here claims are bound at once; who has to wait for it does only what Reserve does.
        """
        reserved = self.framework_of(pod_class).reserve(pod_class, self.cluster, row)
        return next(filter(None, [each.bind() for each in reserved]), "")

    def _chosen(self, view: View, key: str, nominated: str) -> tuple[int, int] | None:
        """The node to take and its total, as (row, total); ``None`` when no node is feasible."""
        if self._sampler is not None:
            return self._choose_sampled(view, key, nominated)
        chosen = self._choose_nominated(view, key, nominated) if nominated else None
        if chosen is not None:
            return chosen
        blocked = blocked_by_nominated(key, view) if self.cluster.nominated else []
        if view.pod_class.volumes and (failure := first_failure(view, walkable(view), blocked)):
            raise failure.error
        return self._choose(view, blocked)

    def _choose_tied(self, tied: PodClass) -> tuple[int, int] | None:
        """The node that a DaemonSet's pod is for, where the view of all its pods together shows that it is feasible.

        That one view serves as many pods as there are nodes. ``None`` where the pod's own has to be asked: it is the
        one that says what is against the node, and counts for a hard constraint on that node alone.
        """
        row = self.cluster.nodes.row_of.get(tied.tied_to)
        if row is None or tied.general is None or self._sampler is not None or row in self.cluster.nominated:
            return None
        try:
            view = self.view(tied.general)
        except PluginError:
            return None
        points = view.own.worth[row]
        if points is None or not view.stands_for_tied:
            return None
        if view.pod_class.volumes and first_failure(view, np.array([row], dtype=np.int64)):
            return None
        return best_of_heads(view, [(-points, self.cluster.nodes.ranks[row], row)], [1])

    def _choose_nominated(self, view: View, key: str, node: str) -> tuple[int, int] | None:
        """The node the pod is nominated for, if it is feasible: the others are not looked at then."""
        row = self.cluster.nodes.row_of.get(node)
        if row is None or row in blocked_by_nominated(key, view):
            return None
        return best_of(view, np.array([row], dtype=np.int64), among=self._among) if view.own.open[row] else None

    def _choose(self, view: View, blocked: list[int]) -> tuple[int, int] | None:
        """The best of all nodes but the blocked rows."""
        buckets = view.buckets() if self._among is None and not blocked else None
        if buckets is None:
            return self._choose_among_all(view, blocked)
        entries, sizes = buckets.heads()
        self.work.heads += len(entries)
        return best_of_heads(view, entries, sizes) if entries else None

    def _choose_sampled(self, view: View, key: str, nominated: str) -> tuple[int, int] | None:
        """The best of the nodes that kube-scheduler would have looked at."""
        rows = self.sample(view, key, nominated).rows
        return best_of(view, rows, among=self._among) if len(rows) else None

    def sample(self, view: View, key: str, nominated: str = "") -> Sample:
        """Walk the nodes as kube-scheduler does, the one that the pod is nominated for first."""
        assert self._sampler is not None, "the scheduler was not made to sample"
        if nominated and (chosen := self._choose_nominated(view, key, nominated)):
            return Sample(np.array(chosen[:1], dtype=np.int64), 1)
        blocked = blocked_by_nominated(key, view) if self.cluster.nominated else []
        row = self.cluster.nodes.row_of.get(nominated, -1)
        return self._sampler.sample(view, self.framework_of(view.pod_class), blocked, row)

    def verdict(self, pod: Pod, name: str | None = None) -> Verdict:
        """The whole answer for a pod: every node, every plugin. Binds nothing."""
        pod_class = self.cluster.shared_class(pod)
        key = pod_key(pod.namespace, pod.name if name is None else name)
        try:
            return verdict_of(key, self.view(pod_class), self.framework_of(pod_class))
        except PluginError as error:
            return failed_verdict(key, error, tuple(sorted(self.cluster.nodes.row_of)))

    def preempts(self, pod: Pod) -> bool:
        """Whether the pod's profile has preemption."""
        return "DefaultPreemption" in self.framework_of(self.cluster.shared_class(pod)).profile.enabled("post_filter")

    def pending_preemption(self, pod: Pod, verdict: Verdict) -> Preemption:
        """What preemption finds for a pod just left pending; replicas that wait for the same reason share it."""
        pod_class = self.cluster.shared_class(pod)
        alike = (pod_class.key, self.cluster.nominated_node(verdict.pod))
        return self._preemptions.get(alike, lambda: self.preemption(pod, verdict))

    def pick(self, preemption: Preemption) -> Candidate | None:
        """The candidate to take: the first by name, or a draw among equals as kube-scheduler's."""
        if not preemption.picked:
            return None
        by_name = sorted(preemption.picked, key=lambda each: each.node)
        return by_name[self._random.randrange(len(by_name)) if self._random else 0]

    def preemption(self, pod: Pod, verdict: Verdict, *, exhaustive: bool = False) -> Preemption:
        """Which pods to evict so that a pod fits that the verdict left without a node. Evicts nothing.

        ``exhaustive``: try every node; kube-scheduler is content with a share of them.
        """
        pod_class = self.cluster.shared_class(pod)
        framework = self.framework_of(pod_class)
        wanted = None
        if not exhaustive:
            wanted = candidates_wanted(framework.profile.args.default_preemption, len(self.cluster.nodes))
        rules = rules_for(PreemptionRules, framework.gates)
        return Preemptor(verdict.pod, self.view(pod_class), verdict, wanted, rules).search(pod.nominated_node_name)

    def view(self, pod_class: PodClass) -> View:
        """The view of a class, up to date; the least recently used ones are dropped when there are many."""
        framework = self.framework_of(pod_class)
        key = (framework.profile.scheduler_name, pod_class.key)
        view = self.views.get(key)
        if view is None or not view.catch_up():
            view = self.views[key] = View(self.cluster, framework, pod_class, self.shared)
            self.views.move_to_end(key)
            self._drop_views()
        else:
            self.views.move_to_end(key)
        return view

    def framework_of(self, pod_class: PodClass) -> Framework:
        """The profile that a pod's ``spec.schedulerName`` names; the only one there is where it names none."""
        name = pod_class.pod.spec.scheduler_name
        return self.frameworks.get(name or "default-scheduler") or next(iter(self.frameworks.values()))

    def _choose_among_all(self, view: View, blocked: list[int]) -> tuple[int, int] | None:
        self.work.full += 1
        rows = np.flatnonzero(view.own.open[: self.cluster.nodes.size])
        if blocked:
            rows = rows[~np.isin(rows, blocked)]
        return best_of(view, rows, among=self._among) if len(rows) else None

    def finds_a_node(self, pod: Pod) -> bool:
        """Whether some node is feasible for pods like this one, but for promised ones; no more is worked out."""
        try:
            view = self.view(self.cluster.shared_class(pod))
        except PluginError:
            return False
        return bool(view.own.open[: self.cluster.nodes.size].any())

    def pending_verdict(self, pod: Pod, name: str | None = None) -> Verdict:
        """The verdict on a pod that was just left pending; replicas that wait for the same reason share it."""
        key = pod_key(pod.namespace, pod.name if name is None else name)
        try:
            return self._pending_verdict(self.cluster.shared_class(pod), key)
        except PluginError as error:
            return failed_verdict(key, error, tuple(sorted(self.cluster.nodes.row_of)))

    def _pending_verdict(self, pod_class: PodClass, key: str) -> Verdict:
        framework = self.framework_of(pod_class)
        alike = (pod_class.key, self.cluster.nominated_node(key))
        return self._pending.get(alike, lambda: verdict_of(key, self.view(pod_class), framework))

    def _drop_views(self) -> None:
        """Keep no more views than there is memory for, and of many none for long whose class has no pods."""
        while len(self.views) > self._views_kept():
            self.views.popitem(last=False)[1].forget_buckets()
        if len(self.views) <= _MANY_VIEWS:
            return
        keys = list(islice(self._round, _LOOKED_AT))
        for key in keys:
            view = self.views.get(key)
            if view is not None and not view.pod_class.occupancy:
                self.views.pop(key).forget_buckets()
        if len(keys) < _LOOKED_AT:
            self._round = iter(list(self.views)[:-1])

    def _views_kept(self) -> int:
        return max(8, _VIEW_MEMORY // (_BYTES_PER_VIEW + _BYTES_PER_ROW * self.cluster.nodes.size))
