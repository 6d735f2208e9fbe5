"""Find bindings in an audit log that exceed maxSkew, and check whether another order of decisions explains them.

Schedulers send bindings asynchronously, so hard constraints hold in the order of decisions, while the log has the order
of arrival. A pod that was bound later may have been placed earlier if it already existed.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from topospread.api.labels import Selector
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.cluster.cluster import pod_key
from topospread.plugins.interface import PluginError
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import Run, prepare, spread_of

from .audit_log import AuditRecord
from .history import ClusterHistory, PodName, name_of
from .result import SkewedBinding


class _Open(msgspec.Struct):
    """A binding over maxSkew that later bindings may still explain.

    Attributes:
        number: its index among all such bindings.
        counts: pods by domain when it arrived, including later pods that may have been placed before it.
        most: allowed difference between its domain and the emptiest domain, not counting the pod itself.
    """

    number: int
    binding: SkewedBinding
    namespace: str
    selects: Selector
    counts: dict[str, int]
    most: int


class BindingOrder:
    """Checks each binding of a log against its pod's constraints."""

    def __init__(self, history: ClusterHistory, options: SimulationOptions) -> None:
        self._history, self._options = history, options
        self._run: Run | None = None
        self._created: dict[PodName, str] = {}
        self._open: list[_Open] = []
        self.found: list[SkewedBinding] = []

    def see(self, record: AuditRecord) -> None:
        """Apply the record to the history. If it is a binding, check it."""
        key = record.namespace, record.name or name_of(record.answer)
        before = self._history.pods.get(key) if record.subresource == "binding" else None
        bound = len(self._history.placed)
        if self._run is None and before is not None:
            self._run = prepare(self._history.inventory(), self._options, with_spreads=False)
        self._history.apply(record)
        if record.verb == "create" and not record.subresource:
            self._created.setdefault(key, record.at)
        if self._run is None:
            return
        if before is not None and not before.spec.node_name and len(self._history.placed) > bound:
            self._bound(before, self._history.placed[-1][2], record.at, self._run)
        if record.verb == "deletecollection":
            self._run = None  # many objects changed: prepare the cluster again at the next binding
        elif record.resource == "nodes":
            self._follow_node(key[1], self._run.cluster)
        else:
            self._follow_pod(key, self._run.cluster)

    def _follow_node(self, name: str, cluster: Cluster) -> None:
        node = self._history.nodes.get(name)
        if node is not None:
            cluster.put_node(node)
        else:
            cluster.delete_node(name)

    def _follow_pod(self, key: PodName, cluster: Cluster) -> None:
        pod = self._history.pods.get(key)
        if pod is not None:
            cluster.put_pod(pod)
        else:
            cluster.delete_pod(pod_key(*key))

    def _bound(self, pod: Pod, node: str, at: str, run: Run) -> None:
        there = self._history.nodes.get(node)
        labels = there.labels if there is not None else {}
        created = self._created.get((pod.namespace, pod.name), "")
        for each in list(self._open):
            domain = labels.get(each.binding.topology_key, "")
            matches = pod.namespace == each.namespace and each.selects.matches(pod.labels)
            if matches and created <= each.binding.at and domain != each.binding.domain and domain in each.counts:
                each.counts[domain] += 1
                if each.counts[each.binding.domain] - min(each.counts.values()) <= each.most:
                    self.found[each.number] = replace(each.binding, explained=True)
                    self._open.remove(each)
        try:
            spread = spread_of(run.scheduler, run.cluster.shared_class(pod))
        except PluginError:
            return  # the selector is invalid
        for arithmetic in spread:
            self._judge(arithmetic, labels.get(arithmetic.topology_key, ""), (pod, node, at))

    def _judge(self, arithmetic: ConstraintArithmetic, domain: str, binding: tuple[Pod, str, str]) -> None:
        pod, node, at = binding
        found = next((each for each in arithmetic.domains if each.name == domain), None)
        if found is None or found.allowed or arithmetic.selects is None:
            return
        skewed = SkewedBinding(
            at=at,
            pod=f"{pod.namespace}/{pod.name}",
            node=node,
            topology_key=arithmetic.topology_key,
            domain=domain,
            skew=found.skew,
            max_skew=arithmetic.max_skew,
            explained=False,
        )
        if not arithmetic.lacks_domains:
            counts = {each.name: each.matching for each in arithmetic.domains}
            most = arithmetic.max_skew - arithmetic.counts_itself
            self._open.append(_Open(len(self.found), skewed, pod.namespace, arithmetic.selects, counts, most))
        self.found.append(skewed)
