"""Problems because of which the API server denies an admission policy, such as an expression that does not compile.

Only some of the API server's rules are checked. Sources: pkg/apis/admissionregistration/validation/validation.go;
k8s.io/apiserver pkg/admission/plugin/cel/{compile,composition}.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from topospread.api.admission_policy import AdmissionPolicy, MutatingAdmissionPolicy
from topospread.api.validation.names import label_key
from topospread.cel.checking import problem_of

_is_identifier = re.compile("[_a-zA-Z][_a-zA-Z0-9]*").fullmatch


def problems(policy: AdmissionPolicy) -> Iterator[tuple[str, str]]:
    """Yield (path of a field, why the API server denies the policy because of it)."""
    spec = policy.spec
    names = dict.fromkeys(("object", "oldObject", "request", "namespaceObject", "authorizer", "variables"), "dyn")
    if spec.param_kind is not None:
        names["params"] = "dyn"
    yield from _choices(policy)
    for index, each in enumerate(spec.variables or ()):
        path = f"spec.variables[{index}]"
        why, names_type = problem_of(each.expression, names)
        if why:
            yield f"{path}.expression", why
        if not _is_identifier(each.name) or f"variables.{each.name}" in names:
            yield f"{path}.name", "it is not a name of its own"
        names[f"variables.{each.name}"] = names_type
    seen: set[str] = set()
    for index, each in enumerate(spec.match_conditions or ()):
        if label_key(each.name) or each.name in seen:
            yield f"spec.matchConditions[{index}].name", "it is not a qualified name of its own"
        seen.add(each.name)
    for path, expression, wanted in _expressions(policy):
        why, _ = problem_of(expression, names, wanted)
        if why:
            yield path, why


def _choices(policy: AdmissionPolicy) -> Iterator[tuple[str, str]]:
    spec = policy.spec
    if spec.failure_policy not in (None, "Fail", "Ignore"):
        yield "spec.failurePolicy", "it is neither Fail nor Ignore"
    if spec.match_constraints is None or not spec.match_constraints.resource_rules:
        yield "spec.matchConstraints", "it has no resourceRules"
    if isinstance(policy, MutatingAdmissionPolicy):
        if spec.reinvocation_policy not in ("Never", "IfNeeded"):
            yield "spec.reinvocationPolicy", "it is neither Never nor IfNeeded"
        for index, each in enumerate(spec.mutations or ()):
            parts = {"JSONPatch": each.json_patch, "ApplyConfiguration": each.apply_configuration}
            if [name for name, part in parts.items() if part is not None] != [each.patch_type]:
                yield f"spec.mutations[{index}].patchType", "the mutation has not exactly the field of its type"


def _expressions(policy: AdmissionPolicy) -> Iterator[tuple[str, str, str]]:
    """Yield (path, expression, required type of its value) of all expressions except variables."""
    spec = policy.spec
    for index, condition in enumerate(spec.match_conditions or ()):
        yield f"spec.matchConditions[{index}].expression", condition.expression, "bool"
    for index, validation in enumerate(spec.validations or ()):
        yield f"spec.validations[{index}].expression", validation.expression, "bool"
        if validation.message_expression:
            yield f"spec.validations[{index}].messageExpression", validation.message_expression, "string"
    for index, annotation in enumerate(spec.audit_annotations or ()):
        yield f"spec.auditAnnotations[{index}].valueExpression", annotation.value_expression, "string"
    for index, mutation in enumerate(spec.mutations or ()):
        path = f"spec.mutations[{index}]"
        if mutation.json_patch is not None:
            yield f"{path}.jsonPatch.expression", mutation.json_patch.expression, "list(JSONPatch)"
        if mutation.apply_configuration is not None:
            yield f"{path}.applyConfiguration.expression", mutation.apply_configuration.expression, "Object"
