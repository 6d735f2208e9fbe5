"""Admission policies in CEL and their bindings."""

from __future__ import annotations

import msgspec

from .labels import LabelSelector
from .meta import KubeObject, KubeStruct


class RuleWithOperations(KubeStruct):
    """Rule that matches requests by operation (CREATE, UPDATE, …) and by API group, version and resource."""

    api_groups: list[str] | None = None
    api_versions: list[str] | None = None
    operations: list[str] | None = None
    resources: list[str] | None = None
    resource_names: list[str] | None = None
    scope: str | None = None


class MatchResources(KubeStruct):
    """The requests that a policy or a binding applies to."""

    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None
    resource_rules: list[RuleWithOperations] | None = None
    exclude_resource_rules: list[RuleWithOperations] | None = None


class NamedExpression(KubeStruct):
    """A match condition, or a variable that other expressions read."""

    name: str = ""
    expression: str = ""


class Validation(KubeStruct):
    """An expression that must be true, and the message if it is false."""

    expression: str = ""
    message: str = ""
    message_expression: str = ""


class AuditAnnotation(KubeStruct):
    """An annotation of audit events; read because an error in its expression denies the request."""

    value_expression: str = ""


class PatchExpression(KubeStruct):
    """An expression whose value is an object to merge, or a list of JSON patch operations."""

    expression: str = ""


class Mutation(KubeStruct):
    """A change of an object by one of its two expressions, which ``patch_type`` selects."""

    patch_type: str = ""
    apply_configuration: PatchExpression | None = None
    json_patch: PatchExpression | None = msgspec.field(default=None, name="jsonPatch")


class ParamKind(KubeStruct):
    """The kind of a policy's parameters."""

    api_version: str = ""
    kind: str = ""


class ParamRef(KubeStruct):
    """The object with a binding's parameters, by name or selector."""

    name: str = ""
    namespace: str = ""
    selector: LabelSelector | None = None


class AdmissionPolicySpec(KubeStruct):
    """``spec`` of a policy: the requests that it matches, and its expressions; mutating policies have ``mutations``."""

    match_constraints: MatchResources | None = None
    match_conditions: list[NamedExpression] | None = None
    variables: list[NamedExpression] | None = None
    validations: list[Validation] | None = None
    audit_annotations: list[AuditAnnotation] | None = None
    param_kind: ParamKind | None = None
    failure_policy: str | None = None
    mutations: list[Mutation] | None = None
    reinvocation_policy: str = ""


class AdmissionPolicyBindingSpec(KubeStruct):
    """``spec`` of either kind of binding; only a validating policy's binding has ``validationActions``."""

    policy_name: str = ""
    match_resources: MatchResources | None = None
    validation_actions: list[str] | None = None
    param_ref: ParamRef | None = None


class AdmissionPolicy(KubeObject):
    """Policy of either kind: validating or mutating."""

    spec: AdmissionPolicySpec = msgspec.field(default_factory=AdmissionPolicySpec)


class AdmissionPolicyBinding(KubeObject):
    """Binding of a validating or mutating policy. A policy without a binding has no effect."""

    spec: AdmissionPolicyBindingSpec = msgspec.field(default_factory=AdmissionPolicyBindingSpec)


class ValidatingAdmissionPolicy(AdmissionPolicy):
    """``admissionregistration.k8s.io/v1`` ValidatingAdmissionPolicy: it may deny an object."""


class ValidatingAdmissionPolicyBinding(AdmissionPolicyBinding):
    """``admissionregistration.k8s.io/v1`` ValidatingAdmissionPolicyBinding."""


class MutatingAdmissionPolicy(AdmissionPolicy):
    """``admissionregistration.k8s.io/v1`` MutatingAdmissionPolicy: it may change an object."""


class MutatingAdmissionPolicyBinding(AdmissionPolicyBinding):
    """``admissionregistration.k8s.io/v1`` MutatingAdmissionPolicyBinding."""
