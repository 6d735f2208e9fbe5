"""TaintToleration rejects or scores nodes by the taints that the pod does not tolerate (plugins/tainttoleration)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from topospread.api.node import Node
from topospread.api.node_selection import Taint, Toleration
from topospread.api.pod import Pod
from topospread.api.taints import DO_NOT_SCHEDULE_EFFECTS, untolerated
from topospread.cluster import Cluster, NodeTable, PodClass
from topospread.cluster.arrays import Ints, Rows
from topospread.config.version_rules import by_version, gated

from .cluster_event import ADD, NODE_TAINT, POD_TOLERATION, ClusterEvent, Registration
from .interface import UNRESOLVABLE, Prepared, Scope, Status, normalize_by_maximum


@dataclass(frozen=True, slots=True)
class TaintTolerationRules:
    """The differences between Kubernetes versions."""

    comparison_operators: bool = gated("TaintTolerationComparisonOperators")
    reason: str = by_version(
        {
            "1.18": "node(s) had taint {{{key}: {value}}}, that the pod didn't tolerate",
            "1.24": "node(s) had untolerated taint {{{key}: {value}}}",
            "1.34": "node(s) had untolerated taint(s)",
        },
        {
            "1.24": "The reason is `node(s) had untolerated taint {key: value}`; before, `node(s) had taint {key: "
            "value}, that the pod didn't tolerate`.",
            "1.34": "The reason no longer names the taint: `node(s) had untolerated taint(s)`.",
        },
    )


class TaintToleration:
    """Filter: NoSchedule and NoExecute taints. Score: fewer untolerated PreferNoSchedule taints score higher."""

    name = "TaintToleration"

    def __init__(self, rules: TaintTolerationRules | None = None) -> None:
        self._rules = rules or TaintTolerationRules()

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Filter and Score; kube-scheduler never skips this plugin."""
        tolerations = pod_class.pod.spec.tolerations or ()
        soft = [each for each in tolerations if each.effect in (None, "", "PreferNoSchedule")]
        return Prepared(
            filter=_Untolerated(self._reader(tolerations, DO_NOT_SCHEDULE_EFFECTS), cluster.nodes, self._reason),
            score=_Unpreferred(self._reader(soft, frozenset({"PreferNoSchedule"})), cluster.nodes),
        )

    def events_to_register(self, cluster: Cluster) -> Sequence[Registration]:
        """Register for nodes that lose untolerated taints or are added without any, and for new tolerations."""
        return (
            Registration(ClusterEvent("Node", ADD | NODE_TAINT), self._after_node_change),
            Registration(ClusterEvent("TargetPod", POD_TOLERATION)),
        )

    def _after_node_change(self, pod: Pod, old: Node | None, new: Node) -> bool:
        untolerated_of = self._reader(pod.spec.tolerations or (), DO_NOT_SCHEDULE_EFFECTS)
        was_rejected = old is None or bool(untolerated_of(tuple(old.spec.taints or ())))
        return was_rejected and not untolerated_of(tuple(new.spec.taints or ()))

    def _reader(
        self, tolerations: list[Toleration] | tuple[Toleration, ...], effects: frozenset[str]
    ) -> Callable[[tuple[Taint, ...]], list[Taint]]:
        operators = self._rules.comparison_operators
        return lambda taints: untolerated(taints, tolerations, effects, comparison_operators=operators)

    def _reason(self, taint: Taint) -> str:
        return self._rules.reason.format(key=taint.key, value=taint.value or "")


class _BySet:
    """A function that returns a number for each row's taints, computed once for each distinct tuple of taints."""

    def __init__(self, number: Callable[[tuple[Taint, ...]], int], nodes: NodeTable) -> None:
        self._number = number
        self._nodes = nodes
        self._numbers = np.zeros(0, dtype=np.int64)

    def __call__(self, rows: Rows) -> Ints:
        sets = self._nodes.taint_sets
        known = len(self._numbers)
        if known < len(sets):
            more = np.array([self._number(taints) for taints in sets[known:]], dtype=np.int64)
            self._numbers = np.concatenate([self._numbers, more])
        numbers: Ints = self._numbers[self._nodes.taints[rows]]
        return numbers


class _Untolerated:
    """The Filter extension point. A code is 1 + the index in `_seen` of the node's first untolerated taint."""

    scope = Scope.NODE

    def __init__(
        self,
        untolerated_of: Callable[[tuple[Taint, ...]], list[Taint]],
        nodes: NodeTable,
        reason: Callable[[Taint], str],
    ) -> None:
        self._untolerated_of = untolerated_of
        self._reason = reason
        self._seen: list[Taint] = []
        self._codes = _BySet(self._code, nodes)

    def _code(self, taints: tuple[Taint, ...]) -> int:
        found = self._untolerated_of(taints)
        if not found:
            return 0
        if found[0] not in self._seen:
            self._seen.append(found[0])
        return 1 + self._seen.index(found[0])

    def filter(self, rows: Rows) -> Ints:
        return self._codes(rows)

    def status(self, code: int) -> Status:
        return Status(UNRESOLVABLE, (self._reason(self._seen[code - 1]),))


class _Unpreferred:
    scope = Scope.NODE

    def __init__(self, untolerated_of: Callable[[tuple[Taint, ...]], list[Taint]], nodes: NodeTable) -> None:
        self._counts = _BySet(lambda taints: len(untolerated_of(taints)), nodes)

    def score(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        return self._counts(rows)

    def normalize(self, raw: Ints, rows: Rows) -> Ints:
        return normalize_by_maximum(raw, reverse=True)
