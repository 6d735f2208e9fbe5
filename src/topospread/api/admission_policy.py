"""Policies in CEL that the API server evaluates when objects are created: which objects are meant (data only)."""

from __future__ import annotations

import msgspec

from .labels import LabelSelector
from .meta import KubeObject, KubeStruct


class RuleWithOperations(KubeStruct):
    """Operations on resources."""

    api_groups: list[str] | None = None
    api_versions: list[str] | None = None
    operations: list[str] | None = None
    resources: list[str] | None = None
    resource_names: list[str] | None = None
    scope: str | None = None


class MatchResources(KubeStruct):
    """The requests that a policy or a binding is for."""

    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None
    resource_rules: list[RuleWithOperations] | None = None
    exclude_resource_rules: list[RuleWithOperations] | None = None


class AdmissionPolicySpec(KubeStruct):
    """``spec`` of a policy without what it says."""

    match_constraints: MatchResources | None = None


class AdmissionPolicyBindingSpec(KubeStruct):
    """``spec`` of a binding; ``validationActions`` is only a validating policy's."""

    policy_name: str = ""
    match_resources: MatchResources | None = None
    validation_actions: list[str] | None = None


class AdmissionPolicy(KubeObject):
    """A policy of either kind."""

    spec: AdmissionPolicySpec = msgspec.field(default_factory=AdmissionPolicySpec)


class AdmissionPolicyBinding(KubeObject):
    """A binding of either kind, without which a policy does nothing."""

    spec: AdmissionPolicyBindingSpec = msgspec.field(default_factory=AdmissionPolicyBindingSpec)


class ValidatingAdmissionPolicy(AdmissionPolicy):
    """``admissionregistration.k8s.io/v1`` ValidatingAdmissionPolicy: it may refuse an object."""


class ValidatingAdmissionPolicyBinding(AdmissionPolicyBinding):
    """``admissionregistration.k8s.io/v1`` ValidatingAdmissionPolicyBinding."""


class MutatingAdmissionPolicy(AdmissionPolicy):
    """``admissionregistration.k8s.io/v1`` MutatingAdmissionPolicy: it may change an object."""


class MutatingAdmissionPolicyBinding(AdmissionPolicyBinding):
    """``admissionregistration.k8s.io/v1`` MutatingAdmissionPolicyBinding."""
