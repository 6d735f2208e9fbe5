"""Replay a log on a snapshot. Explain each pod that the log reports as unschedulable, in the cluster at that time.

The log is kube-apiserver's audit log (`audit_log`) or a list of events (`event_list`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from topospread.api.inventory import Inventory
from topospread.errors import UsageError
from topospread.simulation.options import PLAIN, SimulationOptions

from .audit_log import read_audit_log
from .binding_order import BindingOrder
from .event_list import EventReplay, read_events
from .history import ClusterHistory, PodName
from .refused_pods import ToldRefusal, cause_of, judged, told_refusals
from .result import Incident, PodRefusal


def replay(
    inventory: Inventory,
    audit: str | os.PathLike[str] | None = None,
    options: SimulationOptions = PLAIN,
    *,
    events: str | os.PathLike[str] | None = None,
    since: str = "",
) -> Incident:
    """Return the rejected pods with times, skew arithmetic and the node changes that caused the rejections.

    Args:
        inventory: the cluster at the start of the log.
        audit: kube-apiserver's audit log, JSON lines; records at level RequestResponse are replayed.
        options: the control plane.
        events: instead of `audit`: a JSON list of events, whose changes of pods and nodes are replayed.
        since: time of the snapshot (RFC 3339, UTC); earlier records are ignored.

    Raises:
        InputError: if a file cannot be read, or a line is not an audit record.
        UsageError: unless exactly one of `audit` and `events` is given.
    """
    if (audit is None) == (events is None):
        raise UsageError("give either an audit log or a list of events")
    history = ClusterHistory(inventory)
    options = replace(options, preemption=False)
    refusals, order = _Refusals(history, options), BindingOrder(history, options)
    if events is None:
        log = _play_audit(audit or "", since, order, refusals)
    else:
        log = _play_events(events, since, history, refusals)
    placed = tuple((at, "/".join(pod), node) for at, pod, node in history.placed)
    return Incident(
        begins=log.begins,
        ends=log.ends,
        records=log.total,
        alterations=tuple(each.alteration for each in history.altered),
        refusals=tuple(_placed(each, placed) for each in refusals.found),
        placed=placed,
        warnings=(*inventory.warnings, *_warnings(history, inventory, of_events=events is not None)),
        unreplayed=history.unknown,
        over_skew=tuple(order.found),
    )


class _Played(NamedTuple):
    """A replayed log: its first and last time, and the number of its entries."""

    begins: str
    ends: str
    total: int


def _play_audit(path: str | os.PathLike[str], since: str, order: BindingOrder, refusals: _Refusals) -> _Played:
    records, total = read_audit_log(path)
    records = [each for each in records if each.at >= since]
    for record in records:
        refusals.see(record.at, told_refusals(record))
        if record.resource != "events":
            order.see(record)
    return _Played(records[0].at if records else "", records[-1].at if records else "", total)


def _play_events(path: str | os.PathLike[str], since: str, history: ClusterHistory, refusals: _Refusals) -> _Played:
    events, total = read_events(path)
    events = [each for each in events if each.at >= since]
    replayed = EventReplay(history, history.begin)
    for event in events:
        refusals.see(event.at, event.refusals())
        replayed.apply(event)
    return _Played(events[0].at if events else "", events[-1].at if events else "", total)


class _Refusals:
    """The rejections in a log, one for each pod and message until the pod has a node."""

    def __init__(self, history: ClusterHistory, options: SimulationOptions) -> None:
        self._history, self._options = history, options
        self._last: dict[PodName, int] = {}
        self.found: list[PodRefusal] = []

    def see(self, at: str, refusals: Iterable[ToldRefusal]) -> None:
        """Record rejections before their record changes the cluster."""
        for told in refusals:
            pod = self._history.pods.get(told.pod)
            if pod is not None and pod.spec.node_name:
                continue
            number = self._last.get(told.pod)
            if number is not None and self.found[number].said == told.message:
                self.found[number] = replace(self.found[number], last=at)
                continue
            self._last[told.pod] = len(self.found)
            self.found.append(self._judged(told.pod, told.message, at))

    def _judged(self, pod: PodName, said: str, at: str) -> PodRefusal:
        name = "/".join(pod)
        found = judged(self._history.inventory(), pod, self._options)
        if found is None or found.verdict.feasible:
            return PodRefusal(name, at, at, said, "", None, None)
        cause = cause_of(self._history, pod, self._options)
        return PodRefusal(name, at, at, said, found.verdict.message, found.group, cause)


def _placed(each: PodRefusal, placed: tuple[tuple[str, str, str], ...]) -> PodRefusal:
    then = next(((at, node) for at, pod, node in placed if pod == each.pod and at >= each.first), ("", ""))
    return replace(each, placed_at=then[0], placed_on=then[1])


def _warnings(history: ClusterHistory, given: Inventory, *, of_events: bool) -> list[str]:
    told = []
    if history.unknown and of_events:
        told.append(
            f"{history.unknown} events are not replayed: the snapshot has neither their pods and nodes nor the objects "
            "that created them"
        )
    elif history.unknown:
        told.append(
            f"{history.unknown} changes of nodes and pods are not replayed: the log lacks the objects (level Metadata) "
            "or the snapshot lacks the pods"
        )
    if not given.nodes and not history.nodes:
        told.append("neither the snapshot nor the log has a node")
    return told
