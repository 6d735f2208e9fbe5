"""The rejected pods in a log, evaluated on the cluster at that time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from topospread.api.inventory import Inventory
from topospread.scheduling.cycle import Placement
from topospread.scheduling.verdict import Verdict
from topospread.simulation.options import SimulationOptions
from topospread.simulation.pending import pending_group
from topospread.simulation.result import PendingGroup
from topospread.simulation.run import PodOutcome, prepare
from topospread.text import one_line

from .audit_log import AuditRecord
from .history import ClusterHistory, PodName
from .result import NodeChange

_REASON = "FailedScheduling"


class ToldRefusal(NamedTuple):
    """A report that a pod found no node, with kube-scheduler's message."""

    pod: PodName
    message: str


class JudgedPod(NamedTuple):
    """A verdict on one pod, with its skew arithmetic as a `PendingGroup`."""

    verdict: Verdict
    group: PendingGroup


def told_refusals(record: AuditRecord) -> Iterator[ToldRefusal]:
    """Yield the rejections in a record: a FailedScheduling event, or the condition PodScheduled."""
    answer = record.answer or record.request
    if record.resource == "events" and answer.get("reason") == _REASON:
        about = answer.get("regarding") or answer.get("involvedObject")
        message = answer.get("note") or answer.get("message")
        if isinstance(about, dict) and isinstance(message, str):
            yield ToldRefusal((str(about.get("namespace", "")), str(about.get("name", ""))), one_line(message))
    elif record.resource == "pods" and record.subresource == "status":
        status = answer.get("status")
        conditions = status.get("conditions") if isinstance(status, dict) else None
        for each in conditions if isinstance(conditions, list) else ():
            refused = (
                isinstance(each, dict) and each.get("type") == "PodScheduled" and each.get("reason") == "Unschedulable"
            )
            if refused and isinstance(each.get("message"), str):
                yield ToldRefusal((record.namespace, record.name), one_line(each["message"]))


def judged(inventory: Inventory, name: PodName, options: SimulationOptions) -> JudgedPod | None:
    """Return the verdict on a pending pod, without placing other pods; None if it is not pending."""
    run = prepare(inventory, options, with_spreads=False)
    for queued in run.queue:
        if (queued.pod.namespace, queued.name) == name:
            verdict = run.scheduler.pending_verdict(queued.pod, queued.name)
            message = verdict.message
            outcome = PodOutcome(Placement("/".join(name), None, message=message), verdict)
            return JudgedPod(verdict, pending_group(queued.workload, (queued.name,), outcome, run.cluster))
    return None


def cause_of(history: ClusterHistory, name: PodName, options: SimulationOptions) -> NodeChange | None:
    """Return the last node change without which the pod would have found a node."""
    for number in reversed(range(len(history.altered))):
        nodes = history.without(number)
        found = judged(history.inventory(nodes), name, options) if nodes else None
        if found is not None and found.verdict.feasible:
            return history.altered[number].alteration
    return None
