"""The parts of a plan: workloads, present pods and pods to place, in kube-scheduler's order."""

from __future__ import annotations

from collections import Counter

import msgspec

from topospread.api.inventory import Inventory
from topospread.api.pod import Pod

from .autoscaling import Autoscaling
from .dropped_fields import UnusedField
from .quotas import Quotas


class Workload(msgspec.Struct, eq=False):
    """One row of a report: a Deployment, a StatefulSet, …, an owner that was not read, or a bare Pod.

    Attributes:
        replicas: how many pods it wants now: a Job those that may run at once, a DaemonSet one for each node it
            picks, a bare Pod one.
        template: a pod of the newest revision as kube-scheduler would see it, without a name; None for an owner that
            was not read. A DaemonSet's is not yet tied to a node.
        existing: its pods that are on nodes, neither finished nor terminating, of whatever revision.
        terminating: its pods on nodes that are being deleted; they hold resources and are not replicas any more.
        notes: what a person should know of this workload, a sentence each.
        autoscaling: what a HorizontalPodAutoscaler makes of its replicas, None where it has none.
    """

    kind: str
    namespace: str
    name: str
    replicas: int
    template: Pod | None = None
    existing: list[Pod] = []
    terminating: list[Pod] = []
    notes: list[str] = []
    autoscaling: Autoscaling | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


class QueuedPod(msgspec.Struct, eq=False):
    """A pod that waits for a node.

    Attributes:
        pod: after admission. All replicas of one template share one object as far as they are alike (its name is ""
            then); those that differ in labels, volumes or affinity have an object each.
        name: name of this very pod.
        priority: the pod's priority.
        created: creationTimestamp, "" for a pod that does not exist yet.
        refused: why its controller cannot create it, in the words of its event; "" if it can.
        after: the pod without which this one is not created: its predecessor in an OrderedReady StatefulSet.
    """

    pod: Pod
    name: str
    workload: Workload
    priority: int = 0
    created: str = ""
    after: QueuedPod | None = None
    refused: str = ""

    @property
    def waits(self) -> str:
        """The reason for which kube-scheduler is not asked about it."""
        gates = ", ".join(gate.name for gate in self.pod.spec.scheduling_gates or ())
        return self.refused or f"waits for its scheduling gates: {gates}"

    @property
    def namespace(self) -> str:
        """Namespace of the pod."""
        return self.workload.namespace


def is_refusal(message: str) -> bool:
    """Return whether a pending pod's message says that the API server refuses to create the pod."""
    return message.startswith(("FailedCreate: ", 'pods "'))


class Plan(msgspec.Struct):
    """The input of kube-scheduler.

    Attributes:
        inventory: what was read and what the cluster would make of it: namespaces, ReplicaSets of Deployments, claims
            of StatefulSets, Jobs of CronJobs; pods after admission.
        workloads: in input order.
        bound: pods on nodes, not finished, terminating ones included, without those that are removed.
        queue: pods to place, in kube-scheduler's order: priority, creation, input. A pod stands behind the one that
            it is created after.
        gated: pods with schedulingGates; they wait for somebody else.
        refused: pods that their controllers cannot create, as the API server refuses them.
        quotas: what is left of the ResourceQuotas beside the pods that are there or queued; None without any.
        removed: pods that their controllers would delete, as when a workload is scaled down.
        foreign: scheduler → pods that wait for it and are left alone.
        assumed_claims: (namespace, name) of claims that are added; where their StorageClass is not there they are taken
            as ones that can be provisioned anywhere.
        unused: fields that the API server drops or kube-scheduler ignores.
    """

    inventory: Inventory
    workloads: list[Workload] = []
    bound: list[Pod] = []
    queue: list[QueuedPod] = []
    gated: list[QueuedPod] = []
    refused: list[QueuedPod] = []
    quotas: Quotas | None = None
    removed: list[Pod] = []
    foreign: Counter[str] = msgspec.field(default_factory=Counter)
    assumed_claims: set[tuple[str, str]] = msgspec.field(default_factory=set)
    unused: list[UnusedField] = []
    warnings: list[str] = []
    notes: list[str] = []
