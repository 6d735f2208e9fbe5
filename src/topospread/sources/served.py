"""Which API versions of built-in kinds a Kubernetes version serves by default; nothing about what is in them.

Source: the paths in api/openapi-spec/swagger.json of k8s.io/kubernetes 1.18 to 1.37. Beta versions that came with 1.24
or later are off by default, as alpha ones are (KEP-3136), and are not listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class Served(NamedTuple):
    """The minor versions that serve an API version by default: from, and up to but not with."""

    since: int = 0
    until: int = 1000

    def by(self, minor: int) -> bool:
        """Whether Kubernetes 1.``minor`` does."""
        return self.since <= minor < self.until


_ALWAYS: Final = Served()
_NEVER: Final = Served(0, 0)
_UNTIL_22: Final = Served(0, 22)
_UNTIL_25: Final = Served(0, 25)
_RBAC: Final = "ClusterRole ClusterRoleBinding Role RoleBinding"
_WEBHOOKS: Final = "MutatingWebhookConfiguration ValidatingWebhookConfiguration"
_STORAGE: Final = "CSIDriver CSINode StorageClass VolumeAttachment"

_KINDS: Final[tuple[tuple[str, Served, str], ...]] = (
    ("v1", _ALWAYS, "ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod"),
    ("v1", _ALWAYS, "PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount"),
    ("apps/v1", _ALWAYS, "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet"),
    ("apps/v1beta1", _NEVER, "Deployment StatefulSet"),
    ("apps/v1beta2", _NEVER, "DaemonSet Deployment ReplicaSet StatefulSet"),
    ("extensions/v1beta1", _NEVER, "DaemonSet Deployment Job ReplicaSet"),
    ("extensions/v1beta1", _UNTIL_22, "Ingress"),
    ("batch/v1", _ALWAYS, "Job"),
    ("batch/v1", Served(21), "CronJob"),
    ("batch/v1beta1", _UNTIL_25, "CronJob"),
    ("batch/v2alpha1", _NEVER, "CronJob"),
    ("autoscaling/v1", _ALWAYS, "HorizontalPodAutoscaler"),
    ("autoscaling/v2", Served(23), "HorizontalPodAutoscaler"),
    ("autoscaling/v2beta2", Served(0, 26), "HorizontalPodAutoscaler"),
    ("autoscaling/v2beta1", _UNTIL_25, "HorizontalPodAutoscaler"),
    ("policy/v1", Served(21), "PodDisruptionBudget"),
    ("policy/v1beta1", _UNTIL_25, "PodDisruptionBudget PodSecurityPolicy"),
    ("policy/v1alpha1", _NEVER, "PodDisruptionBudget"),
    ("scheduling.k8s.io/v1", _ALWAYS, "PriorityClass"),
    ("scheduling.k8s.io/v1beta1", _UNTIL_22, "PriorityClass"),
    ("scheduling.k8s.io/v1alpha1", _NEVER, "PriorityClass"),
    ("storage.k8s.io/v1", _ALWAYS, _STORAGE),
    ("storage.k8s.io/v1", Served(24), "CSIStorageCapacity"),
    ("storage.k8s.io/v1", Served(34), "VolumeAttributesClass"),
    ("storage.k8s.io/v1beta1", _UNTIL_22, _STORAGE),
    ("storage.k8s.io/v1beta1", Served(21, 27), "CSIStorageCapacity"),
    ("node.k8s.io/v1", Served(20), "RuntimeClass"),
    ("node.k8s.io/v1beta1", _UNTIL_25, "RuntimeClass"),
    ("node.k8s.io/v1alpha1", _NEVER, "RuntimeClass"),
    ("networking.k8s.io/v1", _ALWAYS, "NetworkPolicy"),
    ("networking.k8s.io/v1", Served(19), "Ingress IngressClass"),
    ("networking.k8s.io/v1", Served(33), "IPAddress ServiceCIDR"),
    ("networking.k8s.io/v1beta1", _UNTIL_22, "Ingress IngressClass"),
    ("rbac.authorization.k8s.io/v1", _ALWAYS, _RBAC),
    ("rbac.authorization.k8s.io/v1beta1", _UNTIL_22, _RBAC),
    ("admissionregistration.k8s.io/v1", _ALWAYS, _WEBHOOKS),
    ("admissionregistration.k8s.io/v1", Served(30), "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io/v1", Served(36), "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io/v1beta1", _UNTIL_22, _WEBHOOKS),
    ("apiextensions.k8s.io/v1", _ALWAYS, "CustomResourceDefinition"),
    ("apiextensions.k8s.io/v1beta1", _UNTIL_22, "CustomResourceDefinition"),
    ("apiregistration.k8s.io/v1", _ALWAYS, "APIService"),
    ("apiregistration.k8s.io/v1beta1", _UNTIL_22, "APIService"),
    ("certificates.k8s.io/v1", Served(19), "CertificateSigningRequest"),
    ("coordination.k8s.io/v1", _ALWAYS, "Lease"),
    ("discovery.k8s.io/v1", Served(21), "EndpointSlice"),
    ("discovery.k8s.io/v1beta1", _UNTIL_25, "EndpointSlice"),
    ("flowcontrol.apiserver.k8s.io/v1", Served(29), "FlowSchema PriorityLevelConfiguration"),
    ("flowcontrol.apiserver.k8s.io/v1beta1", Served(20, 26), "FlowSchema PriorityLevelConfiguration"),
    ("flowcontrol.apiserver.k8s.io/v1beta2", Served(23, 29), "FlowSchema PriorityLevelConfiguration"),
    ("resource.k8s.io/v1", Served(34), "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice"),
)

_SERVED: Final[Mapping[tuple[str, str], Served]] = {
    (version, kind): when for version, when, kinds in _KINDS for kind in kinds.split()
}


def served(api_version: str, kind: str) -> Served | None:
    """Which Kubernetes versions serve a kind under an API version; ``None`` where nothing is known of the two."""
    return _SERVED.get((api_version, kind))


def kinds_served(minor: int) -> list[str]:
    """What Kubernetes 1.``minor`` serves, as a chart asks of a cluster: ``batch/v1/CronJob``."""
    return [f"{version}/{kind}" for (version, kind), when in _SERVED.items() if when.by(minor)]
