"""The parts of a plan: workloads, existing pods, and pods to place in kube-scheduler's order."""

from __future__ import annotations

import msgspec

from topospread.admission.dropped_fields import UnusedField
from topospread.admission.new_pods import NewPodRules
from topospread.admission.quotas import Quotas
from topospread.api.inventory import Inventory
from topospread.api.pod import Pod

from .autoscaling import Autoscaling


class Workload(msgspec.Struct, eq=False):
    """One row of a report: a Deployment, StatefulSet or other controller, an owner outside the input, or a bare pod.

    Attributes:
        replicas: desired number of pods. For a Job, the pods that may run at once; for a DaemonSet, the number of
            eligible nodes; for a bare pod, 1.
        template: a pod of the newest revision as kube-scheduler would receive it, without a name; ``None`` for an owner
            outside the input. A DaemonSet's template does not require a node yet.
        existing: its pods on nodes, of any revision, neither finished nor terminating.
        terminating: its terminating pods on nodes. They use resources but are not replicas.
        notes: notes for the user, a sentence each.
        autoscaling: effect of a HorizontalPodAutoscaler, ``None`` without one.
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
    """A pod without a node.

    Attributes:
        pod: the pod after admission. Equal replicas share one object with the name "". Replicas that differ in labels,
            volumes or affinity have their own objects.
        name: name of this pod.
        priority: priority of the pod.
        created: creationTimestamp, "" for a pod that does not exist yet.
        refused: message of the controller's event if the API server denies the pod; "" if it admits the pod.
        after: the pod's predecessor in an OrderedReady StatefulSet, which must have a node before the pod is created.
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
        """The reason why kube-scheduler does not try the pod; "" if it does."""
        gates = ", ".join(gate.name for gate in self.pod.spec.scheduling_gates or ())
        return self.refused or f"waits for its scheduling gates: {gates}"

    @property
    def namespace(self) -> str:
        """Namespace of the pod."""
        return self.workload.namespace


def is_refusal(message: str) -> bool:
    """Return whether a pending pod's message says that the API server denied the pod."""
    return message.startswith(("FailedCreate: ", "ReplicaSetCreateError: ", 'Pod "')) or '" is forbidden: ' in message


class Plan(msgspec.Struct):
    """The input of kube-scheduler.

    Attributes:
        inventory: the input with the objects that the cluster would create: namespaces, ReplicaSets of Deployments,
            claims of StatefulSets, Jobs of CronJobs; pods after admission.
        workloads: workloads in input order.
        bound: unfinished pods on nodes, including terminating pods, without removed pods.
        unbound: other pods of the input, without removed pods: pending, finished, or terminating without a node.
        queue: pods to place, in kube-scheduler's order: by priority, creation time and position in the input. A pod
            follows the pod in its ``after``.
        gated: pods with schedulingGates.
        refused: pods that the API server denies.
        new_pods: rules for new pods, such as LimitRanges and policies; ``None`` until the plan is finished.
        quotas: ResourceQuotas with the usage of existing and queued pods; ``None`` without any.
        removed: pods that their controllers would delete, for example after scaling down.
        assumed_claims: (namespace, name) of claims added to ``inventory``. If their StorageClass is missing, their
            volumes can be provisioned anywhere.
        unused: fields that the API server drops or kube-scheduler ignores.
    """

    inventory: Inventory
    workloads: list[Workload] = []
    bound: list[Pod] = []
    unbound: list[Pod] = []
    queue: list[QueuedPod] = []
    gated: list[QueuedPod] = []
    refused: list[QueuedPod] = []
    new_pods: NewPodRules | None = None
    quotas: Quotas | None = None
    removed: list[Pod] = []
    assumed_claims: set[tuple[str, str]] = msgspec.field(default_factory=set)
    unused: list[UnusedField] = []
    warnings: list[str] = []
    notes: list[str] = []
