"""The nodes and pods of a cluster, updated step by step from a log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from msgspec.structs import replace as with_fields

from topospread.api.decoding import decode
from topospread.api.inventory import Inventory
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.errors import DecodeError
from topospread.sources.quantities import KnownQuantities

from .audit_log import AuditRecord, Json
from .result import Alteration, NodeChange

PodName = tuple[str, str]
Item = TypeVar("Item", Node, Pod)


@dataclass(frozen=True, slots=True)
class AlteredNode:
    """A node change, with the node before the change; None for a new node."""

    alteration: NodeChange
    before: Node | None


@dataclass
class ClusterHistory:
    """A cluster while a log is replayed on it.

    Attributes:
        begin: the snapshot. Only nodes and pods change. No controller is simulated, because the log has their actions.
        altered: all node changes so far.
        placed: (time, pod, node) of each binding in the log, in the log's order.
        unknown: number of changes without details.
    """

    begin: Inventory
    nodes: dict[str, Node] = field(default_factory=dict)
    pods: dict[PodName, Pod] = field(default_factory=dict)
    altered: list[AlteredNode] = field(default_factory=list)
    placed: list[tuple[str, PodName, str]] = field(default_factory=list)
    unknown: int = 0

    def __post_init__(self) -> None:
        self.nodes = {each.name: each for each in self.begin.nodes}
        self.pods = {(each.namespace, each.name): each for each in self.begin.pods}

    def apply(self, record: AuditRecord) -> None:
        """Apply the change that a record reports."""
        if record.verb == "deletecollection":
            self._delete_all(record)
        elif record.resource == "nodes":
            self._node(record)
        elif record.subresource == "binding":
            target = record.request.get("target")
            node = target.get("name") if isinstance(target, dict) else None
            if isinstance(node, str):
                self.bind(record.at, (record.namespace, record.name), node)
            else:
                self.unknown += 1
        elif record.subresource == "eviction":
            self.pods.pop((record.namespace, record.name), None)
        else:
            self._pod(record)

    def inventory(self, nodes: Mapping[str, Node] | None = None) -> Inventory:
        """Return the current cluster. ``nodes`` replaces its nodes."""
        return replace(
            self.begin,
            nodes=list((self.nodes if nodes is None else nodes).values()),
            pods=list(self.pods.values()),
            replication_controllers=[],
            replica_sets=[],
            deployments=[],
            stateful_sets=[],
            daemon_sets=[],
            jobs=[],
            cron_jobs=[],
            horizontal_pod_autoscalers=[],
        )

    def without(self, number: int) -> dict[str, Node]:
        """Return the nodes without one change, and without later changes of the same node."""
        name, before = self.altered[number].alteration.node, self.altered[number].before
        nodes = {other: node for other, node in self.nodes.items() if other != name}
        return nodes if before is None else nodes | {name: before}

    def _node(self, record: AuditRecord) -> None:
        name = record.name or name_of(record.answer)
        after = None if record.verb == "delete" else _typed(record.answer, "Node", Node)
        if after is None and record.verb != "delete":
            self.unknown += 1
            return
        self.alter(record.at, name, after)

    def alter(self, at: str, name: str, after: Node | None) -> None:
        """Replace or delete (None) a node."""
        before = self.nodes.get(name)
        for what, detail in _alterations(before, after):
            self.altered.append(AlteredNode(NodeChange(at, name, what, detail), before))
        if after is None:
            self.nodes.pop(name, None)
        else:
            self.nodes[name] = after

    def bind(self, at: str, key: PodName, node: str) -> None:
        """Place a pod on its node."""
        pod = self.pods.get(key)
        if pod is None:
            self.unknown += 1
            return
        self.pods[key] = with_fields(pod, spec=with_fields(pod.spec, node_name=node))
        self.placed.append((at, key, node))

    def _pod(self, record: AuditRecord) -> None:
        key = record.namespace, record.name or name_of(record.answer)
        pod = _typed(record.answer, "Pod", Pod)
        ends = record.verb == "delete" and not (pod is not None and _is_kept(record.answer))
        if ends:
            self.pods.pop(key, None)
        elif pod is None:
            self.unknown += 1
        else:
            self.pods[key] = pod

    def _delete_all(self, record: AuditRecord) -> None:
        items = record.answer.get("items")
        if not isinstance(items, list):
            self.unknown += 1
            return
        verb = "delete"
        for each in (item for item in items if isinstance(item, dict)):
            self.apply(replace(record, verb=verb, name=name_of(each), answer=each))


def _alterations(before: Node | None, after: Node | None) -> Iterator[tuple[Alteration, str]]:
    """Yield (kind of change, details) for differences in fields that kube-scheduler reads."""
    if before is None or after is None:
        if before is not after:
            yield ("deleted", "") if after is None else ("added", "")
        return
    if bool(before.spec.unschedulable) != bool(after.spec.unschedulable):
        yield ("cordoned", "") if after.spec.unschedulable else ("uncordoned", "")
    taints = [{f"{each.key}:{each.effect}" for each in node.spec.taints or ()} for node in (before, after)]
    if taints[0] != taints[1]:
        yield "taints", f"{_listed(taints[0])} → {_listed(taints[1])}"
    if before.labels != after.labels:
        keys = sorted(key for key, _ in before.labels.items() ^ after.labels.items())
        yield "labels", ", ".join(dict.fromkeys(keys))
    if before.status.allocatable != after.status.allocatable:
        yield "allocatable", ""


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _typed(data: Json, kind: str, struct: type[Item]) -> Item | None:
    """Return the object; None if a field has the wrong type or a quantity is invalid."""
    if data.get("kind", kind) != kind or "spec" not in data:
        return None
    try:
        item = decode(data, struct)
    except DecodeError:
        return None
    return item if KnownQuantities().all_valid(item) else None


def name_of(data: Json) -> str:
    """Return the name of an object; "" if missing."""
    metadata = data.get("metadata")
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""


def _is_kept(data: Json) -> bool:
    """Return whether a deleted pod stays until its kubelet has ended it."""
    metadata = data.get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("deletionGracePeriodSeconds"))
