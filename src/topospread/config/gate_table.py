"""The feature gates of kube-scheduler and the API server in every version, and which of them can change a placement.

``feature_gates.json`` holds the history of every gate; `conformance/oracle/cmd/gates` prints it from the sources of
every minor version from 1.18 to 1.37. This module holds the effect of each gate, and `gates` applies overrides.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Literal

import msgspec

from topospread.api.shipped_table import shipped_table
from topospread.config.versions import NEWEST, KubeVersion

Component = Literal["scheduler", "apiserver"]

ALPHA, BETA, GA = "ALPHA", "BETA", "GA"


class Span(msgspec.Struct, frozen=True):
    """The state of a gate from a version on: stage, default, and whether the default is locked."""

    since: KubeVersion
    stage: str
    default: bool
    locked: bool = False


class GateRow(msgspec.Struct, frozen=True):
    """One gate: its spans, oldest first, its last version, and its effect.

    ``components``: programs whose behaviour depends on the gate; all programs accept it on their command line.
    ``components`` is empty and ``effect`` is "" if the gate does not affect scheduling. ``needs``: gates that must also
    be on, which is checked since 1.35.
    """

    name: str
    spans: tuple[Span, ...]
    last: KubeVersion
    components: tuple[Component, ...]
    effect: str
    needs: tuple[str, ...] = ()

    def span_at(self, version: KubeVersion) -> Span | None:
        """Return the span of a version; ``None`` if the version does not know the gate."""
        if version > self.last:
            return None
        return next((span for span in reversed(self.spans) if span.since <= version), None)


class _Printed(msgspec.Struct):
    """A gate in the printed file; ``history``: ``1.24 ALPHA off, 1.27 BETA on, 1.30 GA on locked, last 1.31``.

    The history of an older gate starts at 1.18, the oldest supported version.
    """

    history: str
    needs: tuple[str, ...] = ()


@cache
def _printed() -> dict[str, _Printed]:
    return shipped_table(__package__, "feature_gates.json", dict[str, _Printed])


@lru_cache(maxsize=1024)  # bounded, because users may write any name
def gate_row(name: str) -> GateRow | None:
    """Return a gate of any version, also without an effect on scheduling; ``None`` if unknown."""
    printed = _printed().get(name)
    if printed is None:
        return None
    spans: list[Span] = []
    last = NEWEST
    for part in printed.history.split(", "):
        words = part.split()
        if words[0] == "last":
            last = KubeVersion.parse(words[1])
        else:
            spans.append(Span(KubeVersion.parse(words[0]), words[1], words[2] == "on", words[3:] == ["locked"]))
    return GateRow(name, tuple(spans), last, *_EFFECTS.get(name, ((), "")), printed.needs)


@cache
def dependents() -> tuple[GateRow, ...]:
    """Return gates without an effect on scheduling that need gates with an effect."""
    found = (gate_row(name) for name, each in _printed().items() if name not in _EFFECTS and each.needs)
    return tuple(row for row in found if row is not None and any(need in _EFFECTS for need in row.needs))


_BOTH: tuple[Component, ...] = ("scheduler", "apiserver")
_SCHEDULER: tuple[Component, ...] = ("scheduler",)
_APISERVER: tuple[Component, ...] = ("apiserver",)
_EFFECTS: Mapping[str, tuple[tuple[Component, ...], str]] = {
    "EvenPodsSpread": (
        _BOTH,
        "topologySpreadConstraints is stored in pods, and PodTopologySpread is in the default profile",
    ),
    "DefaultPodTopologySpread": (
        _SCHEDULER,
        "built-in default constraints (defaultingType System) in place of the SelectorSpread plugin",
    ),
    "MinDomainsInPodTopologySpread": (_BOTH, "minDomains of a spread constraint is stored and used"),
    "NodeInclusionPolicyInPodTopologySpread": (
        _BOTH,
        "nodeAffinityPolicy and nodeTaintsPolicy of a spread constraint are stored and used",
    ),
    "MatchLabelKeysInPodTopologySpread": (_BOTH, "matchLabelKeys of a spread constraint is stored and used"),
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": (
        _BOTH,
        "the API server writes a spread constraint's matchLabelKeys into its labelSelector",
    ),
    "MatchLabelKeysInPodAffinity": (
        _APISERVER,
        "matchLabelKeys and mismatchLabelKeys of pod affinity terms are stored, and written into the selectors",
    ),
    "PodAffinityNamespaceSelector": (_BOTH, "namespaceSelector of pod affinity terms is stored and used"),
    "PodTopologyLabelsAdmission": (
        _APISERVER,
        "a bound pod gets its node's labels topology.kubernetes.io/zone and topology.kubernetes.io/region",
    ),
    "TaintTolerationComparisonOperators": (_BOTH, "tolerations may use the operators Lt and Gt"),
    "SidecarContainers": (
        _BOTH,
        "restartPolicy of init containers is stored, and sidecars (restartPolicy: Always) count like containers",
    ),
    "PodLevelResources": (_BOTH, "pod-level resources are stored, and replace the sum of the containers"),
    "PodLevelResourcesFixDefaulting": (
        _APISERVER,
        "containers' requests are no longer derived from pod-level requests",
    ),
    "InPlacePodVerticalScaling": (
        _BOTH,
        "a resized pod counts with the largest of its requested, allocated and running resources",
    ),
    "InPlacePodLevelResourcesVerticalScaling": (
        _BOTH,
        "a pod resized at pod level counts with the largest of its requested, allocated and running resources",
    ),
    "InPlacePodVerticalScalingSchedulerPreemption": (
        _SCHEDULER,
        "the DeferredPodScheduling plugin is in the default profile: pods with a pending resize may preempt others",
    ),
    "PodOverhead": (_BOTH, "overhead of a pod is stored, and counts"),
    "NonPreemptingPriority": (_BOTH, "preemptionPolicy of a pod is stored and used"),
    "PodSchedulingReadiness": (
        _BOTH,
        "schedulingGates of a pod are stored, and the SchedulingGates plugin is in the default profile",
    ),
    "PodDisruptionConditions": (
        _BOTH,
        "a pod waits on its nominated node for preempted pods only, not for other terminating pods (since 1.27)",
    ),
    "NodeDeclaredFeatures": (_BOTH, "declaredFeatures is stored; NodeDeclaredFeatures is in the default profile"),
    "LocalStorageCapacityIsolation": (_BOTH, "ephemeral-storage of nodes and pods counts"),
    "BalanceAttachedNodeVolumes": (_SCHEDULER, "balanced allocation includes attached volumes"),
    "ResourceLimitsPriorityFunction": (_SCHEDULER, "the NodeResourceLimits plugin is in the default profile"),
    "PreferNominatedNode": (_SCHEDULER, "a pod's nominated node is checked before all other nodes"),
    "ReadWriteOncePod": (_BOTH, "claims with access mode ReadWriteOncePod exclude a second pod"),
    "CSIStorageCapacity": (_SCHEDULER, "published storage capacity limits where a volume can be provisioned"),
    "VolumeCapacityPriority": (_SCHEDULER, "VolumeBinding scores nodes by the capacity of their volumes"),
    "SchedulerQueueingHints": (
        _SCHEDULER,
        "queueing hints of the plugins decide which events make a pending pod schedulable again",
    ),
    "SchedulerPopFromBackoffQ": (
        _SCHEDULER,
        "pods in backoff are scheduled early if the active queue is empty",
    ),
    "OpportunisticBatching": (
        _SCHEDULER,
        "a pod equal to the previous pod may take that pod's next best node without new scores",
    ),
    "StorageCapacityScoring": (_SCHEDULER, "VolumeBinding scores nodes by storage capacity"),
    "VolumeAttributesClass": (
        _BOTH,
        "volumeAttributesClassName of claims and volumes is stored and must match; if off, claims with a class fail",
    ),
    "VolumeLimitScaling": (_SCHEDULER, "a node without its CSI driver takes no pod that needs the driver"),
    "DynamicResourceAllocation": (_BOTH, "resourceClaims is stored; DynamicResources is in the default profile"),
    "DRAExtendedResource": (
        _BOTH,
        "an extended resource may name a DeviceClass; nodes without the resource then allocate devices of the class",
    ),
    "DRAAdminAccess": (_BOTH, "requests may have adminAccess: their devices may be allocated to others"),
    "DRAPrioritizedList": (_BOTH, "requests may list alternatives (firstAvailable), and nodes are scored by them"),
    "DRAPartitionableDevices": (_BOTH, "devices consume counters of their pool, and each may name its own nodes"),
    "DRADeviceTaints": (_BOTH, "tainted devices are allocated only to requests that tolerate the taints"),
    "DRADeviceTaintRules": (_BOTH, "DeviceTaintRules taint devices"),
    "DRAConsumableCapacity": (_BOTH, "devices are allocated in shares, which consume the devices' capacity"),
    "DRAFractionalCapacityRange": (_BOTH, "capacity is rounded to fractions of a unit"),
    "DRAListTypeAttributes": (_BOTH, "attributes of devices may be lists"),
    "DRAOptionalNodeOperations": (_BOTH, "devices may skip operations; the node must then declare support for this"),
    "DRADerivedAttributes": (_BOTH, "requests may derive attributes of devices by expressions"),
    "DRADeviceCompatibilityGroups": (_BOTH, "devices share counters with devices of the same group only"),
    "DRANodeAllocatableResources": (_BOTH, "devices may be a node's cpu or memory: pods with claims are not judged"),
    "DRAWorkloadResourceClaims": (_BOTH, "pod groups may have claims"),
    "DRASchedulerFilterTimeout": (_SCHEDULER, "filterTimeout of DynamicResourcesArgs is allowed"),
    "DRADeviceBindingConditions": (
        _BOTH,
        "with DRAResourceClaimDeviceStatus, devices may have binding conditions, and bindingTimeout is allowed",
    ),
    "DRAResourceClaimDeviceStatus": (_BOTH, "needed by DRADeviceBindingConditions"),
    "GangScheduling": (_SCHEDULER, "the GangScheduling plugin is in the default profile"),
    "GenericWorkload": (
        _BOTH,
        "pods belong to pod groups; since 1.37 the GangScheduling plugin is in the default profile",
    ),
    "CompositePodGroup": (_BOTH, "pod groups may belong to a CompositePodGroup: then no group is judged"),
    "WorkloadWithJob": (_APISERVER, "the Job controller creates PodGroups: pods of new Jobs are not judged"),
    "PodGroupPreemptionPolicy": (_BOTH, "pod groups have a preemption policy"),
    "TopologyAwareWorkloadScheduling": (
        _SCHEDULER,
        "the TopologyPlacementGenerator and PodGroupPodsCount plugins are in the default profile",
    ),
    "RuntimeClass": (_APISERVER, "runtimeClassName of a pod is stored"),
    "GenericEphemeralVolume": (
        _BOTH,
        "ephemeral volumes have their own claim; if off, pods with one are rejected",
    ),
    "ImageVolume": (_APISERVER, "image volumes are stored"),
    "ContainerRestartRules": (_APISERVER, "restartPolicyRules of containers are stored"),
    "VolumeBindMountOptions": (_APISERVER, "bindMountOptions of volume mounts are stored"),
    "StatefulSetStartOrdinal": (_APISERVER, "ordinals of a StatefulSet are stored"),
    "IndexedJob": (_APISERVER, "completionMode of a Job is stored"),
    "SuspendJob": (_APISERVER, "suspend of a Job is stored; if off, a suspended Job runs"),
    "JobPodReplacementPolicy": (_APISERVER, "podReplacementPolicy of a Job is stored"),
    "MaxUnavailableStatefulSet": (
        _APISERVER,
        "maxUnavailable of a StatefulSet's rolling update is stored; if off, one pod is replaced at a time",
    ),
    "JobManagedBy": (_APISERVER, "managedBy of a Job is stored; if off, the Job controller runs Jobs of others too"),
}
"""Gate → the components that use it, and its effect."""

GATES: Mapping[str, GateRow] = {name: row for name in _EFFECTS if (row := gate_row(name)) is not None}
"""Every gate that can change a placement, by name."""
