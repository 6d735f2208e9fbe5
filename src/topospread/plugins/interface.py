"""The interface of a scheduling plugin: its extension points, and the data on which an answer depends.

A plugin is configured once (arguments, feature gates) and prepared once for each pod class. A prepared plugin answers
for many rows of the node table at once. A plugin that reads counts over the cluster has a `Watcher`, which keeps the
counts up to date.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from enum import IntEnum
from functools import partial
from typing import Final, Literal, Protocol, TypeGuard, TypeVar, runtime_checkable
from weakref import WeakKeyDictionary

import msgspec
import numpy as np

from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints, Rows
from topospread.cluster.objects import ObjectKey, Subject

from .cluster_event import Registration
from .group_columns import GroupColumn

MAX_NODE_SCORE = 100
"""Highest score of a node from one plugin, before its weight (k8s.io/kube-scheduler/framework, ``MaxNodeScore``)."""

Offered = TypeVar("Offered")

_OFFERS: Final[WeakKeyDictionary[type, dict[object, bool]]] = WeakKeyDictionary()

StatusCode = Literal["Unschedulable", "UnschedulableAndUnresolvable"]
UNSCHEDULABLE: StatusCode = "Unschedulable"
UNRESOLVABLE: StatusCode = "UnschedulableAndUnresolvable"


def offers(value: object, protocol: Callable[..., Offered]) -> TypeGuard[Offered]:
    """Return ``isinstance(value, protocol)``, cached by type. Python's own check of a protocol is slow."""
    of = _OFFERS.get(type(value))
    if of is None:
        of = _OFFERS[type(value)] = {}
    known = of.get(protocol)
    if known is None:
        known = of[protocol] = isinstance(value, protocol)  # type: ignore[arg-type]
    return known


class PluginError(Exception):
    """The plugin failed: kube-scheduler's Error status, for example for an invalid selector."""


class NotJudgedError(PluginError):
    """topospread does not model a part of the pod that kube-scheduler considers.

    Attributes:
        what: stable key of the part, for example ``resourceClaims``.
        field: path of the field, for example ``spec.resourceClaims[0]``.
        message: name of the part in words, for example ``resource claims``.
        because: reason in one sentence.
        changes_pod: whether the part may change the pod, so that even a rejection by modelled filters is unknown.
    """

    def __init__(self, what: str, field: str, message: str, because: str = "", *, changes_pod: bool = False) -> None:
        self.changes_pod = changes_pod
        self.what = what
        self.field = field
        self.message = message
        self.because = because or f"topospread does not model {message}"
        super().__init__(f"not judged: {because or message}")

    def __reduce__(self) -> tuple[Callable[..., NotJudgedError], tuple[str, ...]]:
        """Return the class and arguments from which pickle restores an equal error."""
        make = partial(NotJudgedError, changes_pod=self.changes_pod)
        return make, (self.what, self.field, self.message, self.because)


OWN_NAME: Final = "\0"
"""Placeholder for the pod's ``namespace/name`` in a `Status`, because pods of one class share the `Status`."""


class Status(msgspec.Struct, frozen=True):
    """The reason why a node is rejected: kube-scheduler's code, and the plugin's reasons in the plugin's order.

    ``because``: an explanation that kube-scheduler's message lacks; "" without one.
    """

    code: StatusCode
    reasons: tuple[str, ...]
    because: str = ""

    def of(self, pod: str) -> tuple[str, ...]:
        """Return the reasons for the pod ``namespace/name``, in place of `OWN_NAME`."""
        return tuple(each.replace(OWN_NAME, pod) for each in self.reasons)


class Scope(IntEnum):
    """The data that a plugin's answer for one node depends on. Wider scopes change more often."""

    NODE = 0
    """The node object alone."""
    USAGE = 1
    """The node object and the summed requests of its pods."""
    PODS = 2
    """Also the pods on the node."""
    CLUSTER = 3
    """Also pods on other nodes, such as counts of domains."""


class Filter(Protocol):
    """The Filter extension point for one pod class."""

    @property
    def scope(self) -> Scope:
        """Data that the answer depends on."""

    def filter(self, rows: Rows) -> Ints:
        """Return 0 for a node that passes, else a code, int64[rows]."""

    def status(self, code: int) -> Status:
        """Return the status for a code."""


class Score(Protocol):
    """The Score extension point for one pod class."""

    @property
    def scope(self) -> Scope:
        """Data that the raw score depends on."""

    def score(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        """Return raw scores, int64[rows].

        Args:
            rows: all feasible nodes, or one node for each group of nodes that are equal for plugins of scope CLUSTER.
            nodes: number of nodes for which each row stands, int64[rows]; ``None`` if each row is one node.
        """


@runtime_checkable
class Normalized(Score, Protocol):
    """A score that is normalised over the feasible nodes (NormalizeScore)."""

    def normalize(self, raw: Ints, rows: Rows) -> Ints:
        """Return scores from 0 to MAX_NODE_SCORE, int64[rows]."""


@runtime_checkable
class CanBeIdle(Protocol):
    """A filter or score of scope CLUSTER that has no effect in some states of the cluster, and is then skipped."""

    @property
    def idle(self) -> bool:
        """True if currently every node passes, or every node scores 0."""


@runtime_checkable
class CanFail(Protocol):
    """A filter that can fail with an error on single nodes. kube-scheduler then places the pod on no node."""

    @property
    def may_fail(self) -> bool:
        """True if the filter may currently fail on a node."""


@runtime_checkable
class CrossNodeScore(Protocol):
    """A score of scope NODE whose value for one node may depend on other nodes."""

    @property
    def depends_on_other_nodes(self) -> bool:
        """True if the score currently depends on other nodes."""


@runtime_checkable
class FilterEach(Filter, Protocol):
    """A filter that can also run node by node, which is faster than arrays for a few nodes."""

    def filter_each(self, rows: Sequence[int]) -> list[int]:
        """Return the codes of `filter` as a list."""


@runtime_checkable
class ScoreEach(Normalized, Protocol):
    """A score that can also run node by node, which is faster than arrays for a few nodes."""

    def score_each(self, rows: Sequence[int], nodes: Sequence[int] | None = None) -> list[int]:
        """Return the scores of `score` as a list."""

    def normalize_each(self, raw: Sequence[int]) -> list[int]:
        """Return the scores of `normalize` as a list."""


Listener = Callable[[int, int], None]
"""Function that counts a pod of one class: (row of its node, +1 if placed or −1 if removed)."""


class Watcher(Protocol):
    """The counts that a filter or score of scope CLUSTER reads, and the columns that distinguish nodes for it."""

    @property
    def layout(self) -> int:
        """Number that changes when `columns` changes, or ``idle`` of the filter or score."""

    def counts_pods_of(self, pod_class: PodClass) -> bool:
        """Return whether this plugin's counts in ``cluster.selections`` include pods of the class."""

    def on_nodes(self, rows: Collection[int]) -> None:
        """Update the counts after nodes were added, changed or removed."""

    def columns(self) -> Sequence[GroupColumn] | None:
        """Return the columns that group nodes: nodes with equal values are equal for this plugin.

        Return ``None`` if nodes cannot be grouped, so that all nodes are evaluated.
        """


@runtime_checkable
class Listening(Protocol):
    """A watcher with its own counts, which listeners update."""

    def concerned(self, since: int = 0) -> Iterable[PodClass]:
        """Return the classes with at least index ``since`` that may have a listener."""

    def listener(self, pod_class: PodClass) -> Listener | None:
        """Return the function that counts pods of a class; ``None`` if they change no count."""


@runtime_checkable
class Assuming(Protocol):
    """A watcher that counts pods differently in PreFilter than in AddPod and RemovePod, which a dry run calls."""

    def assume(self, row: int, pod_class: PodClass, delta: int) -> bool:
        """Count a pod that a dry run adds to the node (+1) or removes from it (−1). Return whether a count changed."""


@runtime_checkable
class Settling(Protocol):
    """A watcher whose PreFilter result is kept in a dry run, because kube-scheduler does not repeat PreFilter.

    Attributes:
        skipped: whether PreFilter skipped the pod in the current dry run.
    """

    skipped: bool

    def begin_dry_run(self) -> None:
        """Compute the PreFilter result and keep it while pods are added and removed."""

    def end_dry_run(self) -> None:
        """Drop the kept PreFilter result."""


class Prepared(msgspec.Struct):
    """A plugin prepared for one pod class. It skips an extension point that is ``None``, as kube-scheduler does.

    Attributes:
        filter: the Filter extension point.
        score: the Score extension point.
        score_needs_filter: whether the score reads results of Filter, so it is 0 if the profile disables Filter.
        watcher: receives changes of the cluster; required if ``filter`` or ``score`` has scope CLUSTER.
        narrowed: names of the nodes that PreFilter does not exclude; ``None`` for all nodes.
        rejected: status with which PreFilter rejects the pod on all nodes.
        counts_own_nodes: whether the filter counts pods only on nodes that the pod's own node affinity matches.
        reads: objects whose change invalidates the prepared plugin.
    """

    filter: Filter | None = None
    score: Score | None = None
    score_needs_filter: bool = False
    watcher: Watcher | None = None
    narrowed: frozenset[str] | None = None
    rejected: Status | None = None
    counts_own_nodes: bool = False
    reads: Collection[Subject | ObjectKey] = ()


class Reservation(Protocol):
    """The resources that a plugin reserved for a pod on a node, before they are written."""

    def assume(self) -> str:
        """Run Reserve without PreBind. Return why it failed, or ""."""

    def bind(self) -> str:
        """Run PreBind. Return why it failed, in which case the pod is not bound, or ""."""


class Plugin(Protocol):
    """A configured plugin."""

    @property
    def name(self) -> str:
        """Kubernetes' name."""

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare the plugin for a pod class.

        Raises:
            PluginError: if kube-scheduler fails on the pod, or topospread does not model a part of it.
        """


@runtime_checkable
class Requeues(Protocol):
    """A plugin that registers the events that may make its rejected pods schedulable (``EnqueueExtensions``)."""

    @property
    def name(self) -> str:
        """Kubernetes' name."""

    def events_to_register(self, cluster: Cluster) -> Sequence[Registration]:
        """Return the events, each with a queueing hint (``EventsToRegister``)."""


@runtime_checkable
class Reserving(Plugin, Protocol):
    """A plugin with the extension points Reserve and PreBind."""

    def reserve(self, pod_class: PodClass, cluster: Cluster, row: int) -> Reservation:
        """Return the reservation for a pod that was just placed on the node of the row."""


class RejectsAll:
    """A filter that rejects every node."""

    scope = Scope.NODE

    def __init__(self, status: Status) -> None:
        self._status = status

    def filter(self, rows: Rows) -> Ints:
        """Return 1 for every node, int64[rows]."""
        return np.ones(length(rows), dtype=np.int64)

    def status(self, code: int) -> Status:
        """Return the same status for every code."""
        return self._status


class ConstantScore:
    """A score that is the same for every node."""

    scope = Scope.NODE

    def __init__(self, points: int) -> None:
        self._points = points

    def score(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        """Return the score for every node, int64[rows]."""
        return np.full(length(rows), self._points, dtype=np.int64)


def length(rows: Rows) -> int:
    """Return the number of rows. A slice must have the form ``slice(0, n)``."""
    return int(rows.stop) if isinstance(rows, slice) else len(rows)


def numbers(rows: Rows) -> Ints:
    """Return the rows as numbers, int64[rows]."""
    return np.arange(rows.stop, dtype=np.int64) if isinstance(rows, slice) else rows


def normalize_by_maximum(raw: Ints, *, reverse: bool = False) -> Ints:
    """Return scores relative to the highest raw score (``DefaultNormalizeScore``)."""
    highest = int(raw.max(initial=0))
    if highest == 0:
        return np.full(len(raw), MAX_NODE_SCORE, dtype=np.int64) if reverse else raw
    points: Ints = (MAX_NODE_SCORE * raw / highest).astype(np.int64)  # Go truncates towards zero
    return MAX_NODE_SCORE - points if reverse else points
