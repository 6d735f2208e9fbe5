"""Object metadata shared by all kinds: the fields topospread uses, tolerant of ``null`` and unknown fields."""

from __future__ import annotations

from typing import Annotated

import msgspec

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
"""A 32-bit integer. Decoding fails for other numbers."""

Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""A 64-bit integer. Decoding fails for other numbers."""

RawQuantity = str | int | float
"""A resource quantity before `topospread.api.quantity.parse_quantity` parses it."""

ResourceList = dict[str, RawQuantity | None]
"""Resource name → quantity, as in ``requests`` and ``allocatable``."""


class KubeStruct(msgspec.Struct, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """Base class of the typed objects. Field names are camelCase in JSON, and unset fields are not written."""


class OwnerReference(KubeStruct):
    """An object that owns another (apimachinery ``meta/v1`` OwnerReference)."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class Annotations(KubeStruct):
    """The annotations that topospread reads. Decoding drops all other annotations."""

    pod_deletion_cost: str | None = msgspec.field(default=None, name="controller.kubernetes.io/pod-deletion-cost")
    mirror: str | None = msgspec.field(default=None, name="kubernetes.io/config.mirror")
    revision: str | None = msgspec.field(default=None, name="deployment.kubernetes.io/revision")
    desired_replicas: str | None = msgspec.field(default=None, name="deployment.kubernetes.io/desired-replicas")
    restarted_at: str | None = msgspec.field(default=None, name="kubectl.kubernetes.io/restartedAt")
    template_generation: str | None = msgspec.field(default=None, name="deprecated.daemonset.template.generation")
    completion_index: str | None = msgspec.field(default=None, name="batch.kubernetes.io/job-completion-index")
    is_default_class: str | None = msgspec.field(default=None, name="storageclass.kubernetes.io/is-default-class")
    beta_is_default_class: str | None = msgspec.field(
        default=None, name="storageclass.beta.kubernetes.io/is-default-class"
    )
    bind_completed: str | None = msgspec.field(default=None, name="pv.kubernetes.io/bind-completed")
    bound_by_controller: str | None = msgspec.field(default=None, name="pv.kubernetes.io/bound-by-controller")
    provisioned_by: str | None = msgspec.field(default=None, name="pv.kubernetes.io/provisioned-by")
    selected_node: str | None = msgspec.field(default=None, name="volume.kubernetes.io/selected-node")
    storage_class: str | None = msgspec.field(default=None, name="volume.beta.kubernetes.io/storage-class")
    migrated_plugins: str | None = msgspec.field(default=None, name="storage.alpha.kubernetes.io/migrated-plugins")
    topology_mode: str | None = msgspec.field(default=None, name="service.kubernetes.io/topology-mode")
    topology_aware_hints: str | None = msgspec.field(default=None, name="service.kubernetes.io/topology-aware-hints")
    helm_hook: str | None = msgspec.field(default=None, name="helm.sh/hook")
    helm_hook_delete_policy: str | None = msgspec.field(default=None, name="helm.sh/hook-delete-policy")
    extended_resource_claim: str | None = msgspec.field(
        default=None, name="resource.kubernetes.io/extended-resource-claim"
    )
    profiles: str | None = msgspec.field(default=None, name="topospread.dev/profiles")
    whole: str | None = msgspec.field(default=None, name="topospread.dev/whole")
    made_of: str | None = msgspec.field(default=None, name="topospread.dev/made-of")
    pool: str | None = msgspec.field(default=None, name="topospread.dev/pool")
    added: str | None = msgspec.field(default=None, name="topospread.dev/added")
    max_per_domain: str | None = msgspec.field(default=None, name="topospread.dev/max-per-domain")
    shares: str | None = msgspec.field(default=None, name="topospread.dev/shares")
    domain_hierarchy: str | None = msgspec.field(default=None, name="topospread.dev/hierarchy")
    counted: str | None = msgspec.field(default=None, name="topospread.dev/counted")
    promise: str | None = msgspec.field(default=None, name="topospread.dev/promise")
    quorum: str | None = msgspec.field(default=None, name="topospread.dev/quorum")
    misspelt: str | None = msgspec.field(default=None, name="topospread.dev/misspelt")
    scale_in: str | None = msgspec.field(default=None, name="topospread.dev/scale-in")
    fallback: str | None = msgspec.field(default=None, name="topospread.dev/fallback")

    @property
    def declares(self) -> bool:
        """True if an annotation for promises is set, even with a misspelt key."""
        return bool(self.promise or self.quorum or self.misspelt)


class ObjectMeta(KubeStruct):
    """apimachinery ``meta/v1`` ObjectMeta: identity, labels, annotations, owners, creation and deletion times."""

    name: str | None = None
    generate_name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    labels: dict[str, str] | None = None
    annotations: Annotations | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: Int64 | None = None
    owner_references: list[OwnerReference] | None = None

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages this object (``metav1.GetControllerOf``)."""
        for owner in self.owner_references or ():
            if owner.controller:
                return owner
        return None

    @property
    def is_stored(self) -> bool:
        """True if an API server has stored the object."""
        return bool(self.uid or self.resource_version)


class KubeObject(KubeStruct):
    """An API object: apiVersion, kind and metadata. Subclasses add ``spec`` and ``status``."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)

    @property
    def name(self) -> str:
        """``metadata.name``; "" if missing."""
        return self.metadata.name or ""

    @property
    def namespace(self) -> str:
        """``metadata.namespace``; "" if missing."""
        return self.metadata.namespace or ""

    @property
    def labels(self) -> dict[str, str]:
        """``metadata.labels``; empty if missing."""
        return self.metadata.labels or {}
