"""The interface of a scheduling plugin: its extension points, and the data on which an answer depends.

A plugin is configured once (arguments, feature gates) and prepared for each pod class that is to be placed. What
it prepared is asked about rows of the node table, many at a time; each formula is written once, on arrays, and a
row that changed is a slice of one. Who rests on the whole cluster is told of every change (`Watcher`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from enum import IntEnum
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
"""The best a plugin gives a node before its weight (k8s.io/kube-scheduler/framework, ``MaxNodeScore``)."""

Offered = TypeVar("Offered")

_OFFERS: Final[WeakKeyDictionary[type, dict[object, bool]]] = WeakKeyDictionary()

StatusCode = Literal["Unschedulable", "UnschedulableAndUnresolvable"]
UNSCHEDULABLE: StatusCode = "Unschedulable"
UNRESOLVABLE: StatusCode = "UnschedulableAndUnresolvable"


def offers(value: object, protocol: Callable[..., Offered]) -> TypeGuard[Offered]:
    """``isinstance`` for the protocols below, by type: Python itself goes through a protocol's members each time."""
    of = _OFFERS.setdefault(type(value), {})
    known = of.get(protocol)
    if known is None:
        known = of[protocol] = isinstance(value, protocol)  # type: ignore[arg-type]
    return known


class PluginError(Exception):
    """A plugin cannot judge the pod at all, as where a selector does not compile: kube-scheduler's Error status."""


class NotJudgedError(PluginError):
    """kube-scheduler judges a part of the pod that topospread does not model.

    Attributes:
        what: stable key of the part, for example ``resourceClaims``.
        field: field path that asks for it, for example ``spec.resourceClaims[0]``.
        message: the part in words, for example ``resource claims``.
        because: why it is not judged, in one sentence.
        changes_pod: it may change the pod, so that what rejects the pod now is not sure to.
    """

    def __init__(self, what: str, field: str, message: str, because: str = "", *, changes_pod: bool = False) -> None:
        self.changes_pod = changes_pod
        self.what = what
        self.field = field
        self.message = message
        self.because = because or f"topospread does not model {message}"
        super().__init__(f"not judged: {because or message}")


class Status(msgspec.Struct, frozen=True):
    """The reason why a node is rejected: kube-scheduler's code and the plugin's reasons, in its order."""

    code: StatusCode
    reasons: tuple[str, ...]


class Scope(IntEnum):
    """On what a plugin's answer for one node rests; wider scopes change more often."""

    NODE = 0
    """The node object alone."""
    USAGE = 1
    """Also the sums of what its pods take."""
    PODS = 2
    """Also which pods are on it."""
    CLUSTER = 3
    """Also pods on other nodes: counts of domains."""


class Filter(Protocol):
    """Says of each node whether the pod may run there."""

    @property
    def scope(self) -> Scope:
        """On what the answer rests."""

    def filter(self, rows: Rows) -> Ints:
        """0 for a node that passes, else a code, int64[rows]."""

    def status(self, code: int) -> Status:
        """Return the status for a code."""


class Score(Protocol):
    """Gives each feasible node points."""

    @property
    def scope(self) -> Scope:
        """On what the raw points rest."""

    def score(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        """Raw points, int64[rows].

        ``rows`` are all the feasible nodes, or one of each group of nodes that look alike to every plugin of
        scope CLUSTER; then ``nodes`` says how many each stands for.
        """


@runtime_checkable
class Normalized(Score, Protocol):
    """A score whose points are set against those of the other feasible nodes."""

    def normalize(self, raw: Ints, rows: Rows) -> Ints:
        """Points from 0 to MAX_NODE_SCORE, int64[rows]."""


@runtime_checkable
class CanBeIdle(Protocol):
    """A filter or score of scope CLUSTER that may have nothing to say, whatever it is asked."""

    @property
    def idle(self) -> bool:
        """True if every node passes, or gets 0, as things stand."""


@runtime_checkable
class CanFail(Protocol):
    """A filter that cannot judge some nodes: a pod for which it fails on one is placed on none."""

    @property
    def may_fail(self) -> bool:
        """True if there may be such a node as things stand."""


@runtime_checkable
class CrossNodeScore(Protocol):
    """A score of scope NODE whose points for a node may change with another node."""

    @property
    def depends_on_other_nodes(self) -> bool:
        """True if they do as things stand."""


@runtime_checkable
class FilterEach(Filter, Protocol):
    """A filter that can also go node by node, which is faster for a handful of nodes than arrays are."""

    def filter_each(self, rows: Sequence[int]) -> list[int]:
        """Return the codes of `filter` as a list."""


@runtime_checkable
class ScoreEach(Normalized, Protocol):
    """A score that can also go node by node, which is faster for a handful of nodes than arrays are."""

    def score_each(self, rows: Sequence[int], nodes: Sequence[int] | None = None) -> list[int]:
        """Return the points of `score` as a list."""

    def normalize_each(self, raw: Sequence[int]) -> list[int]:
        """Return the points of `normalize` as a list."""


Listener = Callable[[int, int], None]
"""Called when a pod is placed on a node (row, +1) or removed from it (row, −1)."""


class Watcher(Protocol):
    """The counts behind a filter or score of scope CLUSTER, and the columns by which they tell nodes apart."""

    @property
    def layout(self) -> int:
        """Changes when `columns` changes, or when ``idle`` of the filter or score changes."""

    def concerned(self, since: int = 0) -> Iterable[PodClass]:
        """Return the classes for which there may be a listener, of those with at least this index."""

    def listener(self, pod_class: PodClass) -> Listener | None:
        """Return what counts pods of a class; ``None`` if the pods change nothing or the cluster counts them."""

    def counts_pods_of(self, pod_class: PodClass) -> bool:
        """Return whether the cluster counts pods of a class for this plugin."""

    def on_nodes(self, rows: Collection[int]) -> None:
        """Follow nodes that were added, changed or removed."""

    def columns(self) -> Sequence[GroupColumn] | None:
        """Return columns by which nodes are grouped: nodes that agree in all of them look alike to this plugin.

        ``None`` if no group is coarser than single nodes: all nodes are evaluated then.
        """


@runtime_checkable
class Assuming(Protocol):
    """A watcher that counts pods differently in PreFilter than in AddPod and RemovePod, which a dry run calls."""

    def assume(self, row: int, pod_class: PodClass, delta: int) -> bool:
        """Count a pod that a dry run adds to the node (+1) or removes (−1). Return whether a count changed."""


@runtime_checkable
class Settling(Protocol):
    """A watcher that holds something which PreFilter settles for as long as a trial lasts."""

    def begin_dry_run(self) -> None:
        """Keep what is settled, whatever pods are added or removed."""

    def end_dry_run(self) -> None:
        """All is as it was before the trial."""


class Prepared(msgspec.Struct):
    """A plugin's say about one pod class; what is ``None`` it skips, as kube-scheduler skips it.

    Attributes:
        filter: the Filter extension point.
        score: the Score extension point.
        score_needs_filter: the score rests on what Filter finds, and is 0 where the profile has that off.
        watcher: told of changes; must be there when ``filter`` or ``score`` has scope CLUSTER.
        narrowed: names of the only nodes that PreFilter leaves.
        rejected: PreFilter rejects the pod as a whole.
        counts_own_nodes: what the filter counts, it counts on those nodes alone that the pod's own affinity means.
        reads: objects that were looked up: when one of them changes, the plugin is prepared anew.
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
    """The resources that a plugin reserved for a pod on a node, before anything is written."""

    def bind(self) -> str:
        """PreBind: make it so; why that failed, "" where it did not: the pod is not bound then."""


class Plugin(Protocol):
    """A configured plugin."""

    @property
    def name(self) -> str:
        """Kubernetes' name."""

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """The plugin's say about pods of a class.

        Raises:
            PluginError: the pod cannot be judged.
        """


@runtime_checkable
class Requeues(Protocol):
    """A plugin that can tell which events may make a pod schedulable that it rejected (``EnqueueExtensions``)."""

    @property
    def name(self) -> str:
        """Kubernetes' name."""

    def events_to_register(self, cluster: Cluster) -> Sequence[Registration]:
        """The events, each with a hint that looks at the pod and at what changed (``EventsToRegister``)."""


@runtime_checkable
class Reserving(Plugin, Protocol):
    """A plugin with the extension points Reserve and PreBind."""

    def reserve(self, pod_class: PodClass, cluster: Cluster, row: int) -> Reservation:
        """Set aside what a pod of the class that was just placed there needs on the node of the row."""


class RejectsAll:
    """A filter that rejects every node."""

    scope = Scope.NODE

    def __init__(self, status: Status) -> None:
        self._status = status

    def filter(self, rows: Rows) -> Ints:
        """1 for every node, int64[rows]."""
        return np.ones(length(rows), dtype=np.int64)

    def status(self, code: int) -> Status:
        """Return the reason."""
        return self._status


class ConstantScore:
    """A score that gives every node the same points."""

    scope = Scope.NODE

    def __init__(self, points: int) -> None:
        self._points = points

    def score(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        """The points, int64[rows]."""
        return np.full(length(rows), self._points, dtype=np.int64)


def length(rows: Rows) -> int:
    """Return the number of rows; a slice has the form ``slice(0, n)``."""
    return int(rows.stop) if isinstance(rows, slice) else len(rows)


def numbers(rows: Rows) -> Ints:
    """The rows by number."""
    return np.arange(rows.stop, dtype=np.int64) if isinstance(rows, slice) else rows


def normalize_by_maximum(raw: Ints, *, reverse: bool = False) -> Ints:
    """Points relative to the highest raw score (plugins/helper/normalize_score.go, ``DefaultNormalizeScore``)."""
    highest = int(raw.max(initial=0))
    if highest == 0:
        return np.full(len(raw), MAX_NODE_SCORE, dtype=np.int64) if reverse else raw
    points: Ints = (MAX_NODE_SCORE * raw / highest).astype(np.int64)  # towards zero, as Go divides
    return MAX_NODE_SCORE - points if reverse else points
