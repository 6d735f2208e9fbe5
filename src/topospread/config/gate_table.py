"""Feature gates that can change where a pod lands: one row each, with version, stage and default.

Not here: gates of features that never touch scheduling or the fields it reads (``gate_names.py`` knows their names),
and what overriding a gate does (``gates.py``).
Source: pkg/features/*.go of every minor version from 1.18 to 1.37.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from topospread.config.versions import NEWEST, KubeVersion

Component = Literal["scheduler", "apiserver"]

ALPHA, BETA, GA = "ALPHA", "BETA", "GA"


@dataclass(frozen=True, slots=True)
class Span:
    """What a gate is from a version on: its stage, its default, and whether that can still be changed."""

    since: KubeVersion
    stage: str
    default: bool
    locked: bool = False


@dataclass(frozen=True, slots=True)
class GateRow:
    """One gate: its spans, oldest first, the last version that knows it, and what it decides.

    ``components``: which of the two programs acts on it; both accept it on their command line.
    ``needs``: gates without which it cannot be on, since 1.35.
    """

    name: str
    spans: tuple[Span, ...]
    last: KubeVersion
    components: tuple[Component, ...]
    effect: str
    needs: tuple[str, ...] = ()

    def span_at(self, version: KubeVersion) -> Span | None:
        """The span in force in a version; ``None`` where the version does not know the gate."""
        if version > self.last:
            return None
        return next((span for span in reversed(self.spans) if span.since <= version), None)


def _row(name: str, history: str, components: str, effect: str, *, needs: str = "") -> GateRow:
    """``history``: ``1.24 ALPHA off, 1.27 BETA on, 1.30 GA on locked, last 1.31``."""
    spans: list[Span] = []
    last = NEWEST
    for part in history.split(", "):
        words = part.split()
        if words[0] == "last":
            last = KubeVersion.parse(words[1])
        else:
            since = KubeVersion.parse(words[0])
            spans.append(Span(since, words[1], words[2] == "on", words[3:] == ["locked"]))
    parties: dict[str, tuple[Component, ...]] = {
        "both": ("scheduler", "apiserver"),
        "scheduler": ("scheduler",),
        "apiserver": ("apiserver",),
    }
    return GateRow(name, tuple(spans), last, parties[components], effect, tuple(needs.split()))


# A history starts at 1.18, the oldest version supported, when the gate is older than that.
_ROWS = (
    _row(
        "EvenPodsSpread",
        "1.18 BETA on, 1.19 GA on locked, last 1.20",
        "both",
        "topologySpreadConstraints is kept in pods, and PodTopologySpread is in the default profile",
    ),
    _row(
        "DefaultPodTopologySpread",
        "1.19 ALPHA off, 1.20 BETA on, 1.24 GA on locked, last 1.25",
        "scheduler",
        "built-in default constraints (defaultingType System) in place of the SelectorSpread plugin",
    ),
    _row(
        "MinDomainsInPodTopologySpread",
        "1.24 ALPHA off, 1.25 BETA off, 1.27 BETA on, 1.30 GA on locked, last 1.31",
        "both",
        "minDomains of a spread constraint is kept, and honoured",
    ),
    _row(
        "NodeInclusionPolicyInPodTopologySpread",
        "1.25 ALPHA off, 1.26 BETA on, 1.33 GA on locked",
        "both",
        "nodeAffinityPolicy and nodeTaintsPolicy of a spread constraint are kept, and honoured",
    ),
    _row(
        "MatchLabelKeysInPodTopologySpread",
        "1.25 ALPHA off, 1.27 BETA on",
        "both",
        "matchLabelKeys of a spread constraint is kept, and honoured",
    ),
    _row(
        "MatchLabelKeysInPodTopologySpreadSelectorMerge",
        "1.34 BETA on",
        "both",
        "the API server writes a spread constraint's matchLabelKeys into its labelSelector",
        needs="MatchLabelKeysInPodTopologySpread",
    ),
    _row(
        "MatchLabelKeysInPodAffinity",
        "1.29 ALPHA off, 1.31 BETA on, 1.33 GA on locked",
        "apiserver",
        "matchLabelKeys and mismatchLabelKeys of pod affinity terms are kept, and written into the selectors",
    ),
    _row(
        "PodAffinityNamespaceSelector",
        "1.21 ALPHA off, 1.22 BETA on, 1.24 GA on locked, last 1.25",
        "both",
        "namespaceSelector of pod affinity terms is kept, and honoured",
    ),
    _row(
        "PodTopologyLabelsAdmission",
        "1.33 ALPHA off, 1.35 BETA on",
        "apiserver",
        "a pod that is bound gets its node's topology.kubernetes.io/zone and region as labels",
    ),
    _row(
        "TaintTolerationComparisonOperators",
        "1.35 ALPHA off",
        "both",
        "tolerations may use the operators Lt and Gt",
    ),
    _row(
        "SidecarContainers",
        "1.28 ALPHA off, 1.29 BETA on, 1.33 GA on locked, last 1.36",
        "both",
        "restartPolicy of init containers is kept, and restartable ones count as running containers do",
    ),
    _row(
        "PodLevelResources",
        "1.32 ALPHA off, 1.34 BETA on",
        "both",
        "resources of a pod as a whole are kept, and take the place of its containers' sum",
    ),
    _row(
        "PodLevelResourcesFixDefaulting",
        "1.37 BETA on",
        "apiserver",
        "containers' requests are no longer made up from the requests of their pod as a whole",
        needs="PodLevelResources",
    ),
    _row(
        "InPlacePodVerticalScaling",
        "1.27 ALPHA off, 1.33 BETA on, 1.35 GA on locked",
        "both",
        "a running pod counts with the larger of what it asks for and what its status says is allocated",
    ),
    _row(
        "InPlacePodLevelResourcesVerticalScaling",
        "1.35 ALPHA off, 1.36 BETA on",
        "both",
        "the same for resources of a pod as a whole",
        needs="InPlacePodVerticalScaling PodLevelResources NodeDeclaredFeatures",
    ),
    _row(
        "InPlacePodVerticalScalingSchedulerPreemption",
        "1.37 ALPHA off",
        "scheduler",
        "the DeferredPodScheduling plugin is in the default profile: pods that wait to grow may preempt others",
        needs="InPlacePodVerticalScaling",
    ),
    _row(
        "PodOverhead",
        "1.18 BETA on, 1.24 GA on locked, last 1.25",
        "both",
        "overhead of a pod is kept, and counts",
    ),
    _row(
        "NonPreemptingPriority",
        "1.18 ALPHA off, 1.19 BETA on, 1.24 GA on locked, last 1.25",
        "both",
        "preemptionPolicy of a pod is kept, and honoured",
    ),
    _row(
        "PodSchedulingReadiness",
        "1.26 ALPHA off, 1.27 BETA on, 1.30 GA on locked",
        "both",
        "schedulingGates of a pod are kept, and the SchedulingGates plugin is in the default profile",
    ),
    _row(
        "PodDisruptionConditions",
        "1.25 ALPHA off, 1.26 BETA on, 1.31 GA on locked, last 1.33",
        "both",
        "a pod waits on its nominated node for pods that preemption ended, not for any that terminates (since 1.27)",
    ),
    _row(
        "NodeDeclaredFeatures",
        "1.35 ALPHA off, 1.36 BETA on, 1.37 GA on locked",
        "both",
        "the NodeDeclaredFeatures plugin is in the default profile",
    ),
    _row(
        "LocalStorageCapacityIsolation",
        "1.18 BETA on, 1.25 GA on locked, last 1.26",
        "both",
        "ephemeral-storage of nodes and pods counts",
    ),
    _row(
        "BalanceAttachedNodeVolumes",
        "1.18 ALPHA off, last 1.21",
        "scheduler",
        "balanced allocation looks at attached volumes as well",
    ),
    _row(
        "ResourceLimitsPriorityFunction",
        "1.18 ALPHA off, last 1.18",
        "scheduler",
        "the NodeResourceLimits plugin is in the default profile",
    ),
    _row(
        "PreferNominatedNode",
        "1.21 ALPHA off, 1.22 BETA on, 1.24 GA on locked, last 1.25",
        "scheduler",
        "a pod's nominated node is tried before all others",
    ),
    _row(
        "ReadWriteOncePod",
        "1.22 ALPHA off, 1.27 BETA on, 1.29 GA on locked, last 1.30",
        "both",
        "claims with access mode ReadWriteOncePod exclude a second pod",
    ),
    _row(
        "CSIStorageCapacity",
        "1.19 ALPHA off, 1.21 BETA on, 1.24 GA on locked, last 1.27",
        "scheduler",
        "published storage capacity limits where a volume can be provisioned",
    ),
    _row(
        "VolumeCapacityPriority",
        "1.21 ALPHA off, last 1.32",
        "scheduler",
        "VolumeBinding scores nodes by the capacity of their volumes",
    ),
    _row(
        "SchedulerPopFromBackoffQ",
        "1.33 BETA on",
        "scheduler",
        "pods that back off are tried before their time where nothing else is to be done",
    ),
    _row(
        "StorageCapacityScoring",
        "1.33 ALPHA off, 1.37 BETA on",
        "scheduler",
        "VolumeBinding scores nodes by storage capacity",
    ),
    _row(
        "VolumeAttributesClass",
        "1.29 ALPHA off, 1.31 BETA off, 1.34 GA on, 1.36 GA on locked",
        "both",
        "volumeAttributesClassName of claims and volumes is kept, and has to agree; off, claims that name one fail",
    ),
    _row(
        "VolumeLimitScaling",
        "1.35 ALPHA off, 1.37 BETA on",
        "scheduler",
        "a node without its CSI driver takes no pod that needs the driver",
    ),
    _row(
        "DynamicResourceAllocation",
        "1.26 ALPHA off, 1.32 BETA off, 1.34 GA on, 1.35 GA on locked",
        "both",
        "the DynamicResources plugin is in the default profile",
    ),
    _row(
        "DRAExtendedResource",
        "1.34 ALPHA off, 1.36 BETA on, 1.37 GA on locked",
        "both",
        "an extended resource may stand for a DeviceClass: pods that ask for one are not judged where nodes lack it",
        needs="DynamicResourceAllocation",
    ),
    _row(
        "DRASchedulerFilterTimeout",
        "1.34 BETA on",
        "scheduler",
        "filterTimeout of DynamicResourcesArgs is allowed",
        needs="DynamicResourceAllocation",
    ),
    _row(
        "DRADeviceBindingConditions",
        "1.34 ALPHA off, 1.36 BETA on",
        "both",
        "bindingTimeout of DynamicResourcesArgs is allowed",
        needs="DynamicResourceAllocation DRAResourceClaimDeviceStatus",
    ),
    _row(
        "DRAResourceClaimDeviceStatus",
        "1.32 ALPHA off, 1.33 BETA on, 1.37 GA on locked",
        "both",
        "bindingTimeout of DynamicResourcesArgs is allowed",
    ),
    _row(
        "GangScheduling",
        "1.35 ALPHA off, last 1.36",
        "scheduler",
        "the GangScheduling plugin is in the default profile",
        needs="GenericWorkload",
    ),
    _row(
        "GenericWorkload",
        "1.35 ALPHA off, 1.37 BETA off",
        "both",
        "pods belong to pod groups; since 1.37 the GangScheduling plugin is in the default profile",
    ),
    _row(
        "TopologyAwareWorkloadScheduling",
        "1.36 ALPHA off",
        "scheduler",
        "the TopologyPlacementGenerator and PodGroupPodsCount plugins are in the default profile",
        needs="GenericWorkload",
    ),
    _row(
        "RuntimeClass",
        "1.18 BETA on, 1.20 GA on locked, last 1.23",
        "apiserver",
        "runtimeClassName of a pod is kept",
    ),
    _row(
        "GenericEphemeralVolume",
        "1.19 ALPHA off, 1.21 BETA on, 1.23 GA on locked, last 1.24",
        "both",
        "volumes may be ephemeral, with a claim of their own; off, pods that have one are refused",
    ),
    _row(
        "ImageVolume",
        "1.31 ALPHA off, 1.33 BETA off, 1.35 BETA on, 1.36 GA on locked",
        "apiserver",
        "volumes that are images are kept",
    ),
    _row(
        "ContainerRestartRules",
        "1.34 ALPHA off, 1.35 BETA on",
        "apiserver",
        "restartPolicyRules of containers are kept",
    ),
    _row(
        "VolumeBindMountOptions",
        "1.37 ALPHA off",
        "apiserver",
        "bindMountOptions of volume mounts are kept",
    ),
    _row(
        "StatefulSetStartOrdinal",
        "1.26 ALPHA off, 1.27 BETA on, 1.31 GA on locked, last 1.33",
        "apiserver",
        "ordinals of a StatefulSet are kept",
    ),
    _row(
        "IndexedJob",
        "1.21 ALPHA off, 1.22 BETA on, 1.24 GA on locked, last 1.25",
        "apiserver",
        "completionMode of a Job is kept",
    ),
    _row(
        "SuspendJob",
        "1.21 ALPHA off, 1.22 BETA on, 1.24 GA on locked, last 1.25",
        "apiserver",
        "suspend of a Job is kept: off, a suspended Job runs",
    ),
    _row(
        "JobPodReplacementPolicy",
        "1.28 ALPHA off, 1.29 BETA on, 1.34 GA on locked, last 1.36",
        "apiserver",
        "podReplacementPolicy of a Job is kept",
    ),
    _row(
        "JobManagedBy",
        "1.30 ALPHA off, 1.32 BETA on, 1.35 GA on locked",
        "apiserver",
        "managedBy of a Job is kept: off, the Job controller runs Jobs of others",
    ),
)

GATES: Mapping[str, GateRow] = {row.name: row for row in _ROWS}
"""Every gate that can change a placement, by name."""
