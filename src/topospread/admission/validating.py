"""ValidatingAdmissionPolicies: their decisions on new objects, in the API server's words.

Sources: k8s.io/apiserver pkg/admission/plugin/policy/{validating/dispatcher,validating/validator,
generic/policy_dispatcher}.go, pkg/admission/plugin/cel/{activation,condition,composition}.go,
pkg/admission/plugin/webhook/matchconditions/matcher.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from topospread.api.admission_policy import (
    AdmissionPolicy,
    AdmissionPolicyBinding,
    NamedExpression,
    ValidatingAdmissionPolicy,
    Validation,
)
from topospread.cel.evaluation import Budget, evaluate, weight_of
from topospread.cel.values import CannotEvaluateError, CelError, Lazy, Unknown, Value

from .patches import OPEN

Json = dict[str, Any]

_LONGEST_MESSAGE: Final = 5 * 1024


class Request(NamedTuple):
    """The creation of an object, as expressions see it.

    Attributes:
        alternatives: possible forms of the object as the API server writes it; several if its form is uncertain.
        request: value of the variable ``request``.
        namespace: value of the variable ``namespaceObject``.
    """

    alternatives: tuple[Json, ...]
    request: Json
    namespace: Json | None


class Decision(NamedTuple):
    """The decision of a policy and its binding. The object is admitted if ``denial`` and ``open`` are "".

    Attributes:
        denial: the API server's message; "" without a denial.
        open: why the decision is unknown; "" if it is known.
        may_be_error: for an unknown decision, whether the evaluation may also end with an error.
    """

    denial: str = ""
    open: str = ""
    may_be_error: bool = True


_MOST_STEPS: Final = 2_000_000
"""Maximum number of steps for all expressions of all objects."""


class Parameters:
    """The parameters of policies, and the remaining evaluation steps for their expressions.

    Args:
        parameters: ConfigMaps and custom resources of the input that bindings may name.
    """

    def __init__(self, parameters: Iterable[Json]) -> None:
        self._left = _MOST_STEPS
        self._parameters = {
            (each.get("apiVersion"), each.get("kind"), metadata.get("namespace") or "", metadata.get("name")): each
            for each in parameters
            if isinstance(metadata := each.get("metadata"), Mapping) and isinstance(metadata.get("name"), str)
        }

    @contextmanager
    def budget(self) -> Iterator[Budget]:
        """Yield the step limit for one object, and subtract the used steps at the end of the block.

        Raises:
            CannotEvaluateError: if no steps are left.
        """
        if not self._left:
            raise CannotEvaluateError("its expressions take too long")
        budget = Budget(min(self._left, Budget().steps))
        begun = budget.steps
        try:
            yield budget
        finally:
            self._left -= begun - max(budget.steps, 0)

    def names(self, policy: AdmissionPolicy, binding: AdmissionPolicyBinding, request: Json) -> dict[str, Value]:
        """Return the variables of the policy's expressions with their values, except ``object``.

        Raises:
            CannotEvaluateError: if the binding's parameter object is not in the input.
        """
        parameters = self._of(policy, binding, request)
        authorizer = Unknown("the user's permissions")
        return {"oldObject": None, "params": parameters, "request": request, "authorizer": authorizer}

    def _of(self, policy: AdmissionPolicy, binding: AdmissionPolicyBinding, request: Json) -> Json | None:
        kind, reference = policy.spec.param_kind, binding.spec.param_ref
        if kind is None:
            return None
        version_and_kind = (kind.api_version, kind.kind)
        if version_and_kind != ("v1", "ConfigMap") and all(key[:2] != version_and_kind for key in self._parameters):
            # If the API server does not serve the kind, the policy denies. The input does not show that.
            raise CannotEvaluateError(f"the input holds no parameters of the kind {kind.kind}")
        if reference is None:
            return None
        if not reference.name:
            raise CannotEvaluateError("its binding selects parameters by label, which topospread cannot evaluate")
        namespace = reference.namespace or request.get("namespace", "")
        for where in dict.fromkeys((namespace, "")):
            found = self._parameters.get((kind.api_version, kind.kind, where, reference.name))
            if found is not None:
                return found
        raise CannotEvaluateError(f"its parameters {kind.kind} {namespace}/{reference.name} are not in the input")


def decided(
    policy: AdmissionPolicy, binding: AdmissionPolicyBinding, request: Request, parameters: Parameters
) -> Decision:
    """Return the decision on a request that the policy and the binding match."""
    try:
        with parameters.budget() as budget:
            names = parameters.names(policy, binding, request.request)
            found = [
                Evaluation(policy, binding, {**names, "object": each}, request.namespace, budget).decision()
                for each in request.alternatives
            ]
    except CannotEvaluateError as error:
        found = [Decision(open=str(error))]
    denials = {each.denial for each in found}
    if len(set(found)) == 1:
        return found[0]
    if "" in denials:
        reasons = (each.open for each in found if each.open)
        return Decision(open=next(reasons, "it is unknown whether the service account's token is mounted"))
    return Decision(f"{_head(policy, binding)}{OPEN}")


class Evaluation:
    """The evaluation of one policy with one binding.

    Attributes:
        perhaps: why it is unknown whether the match conditions match; "" if it is known.
    """

    def __init__(
        self,
        policy: AdmissionPolicy,
        binding: AdmissionPolicyBinding,
        names: Mapping[str, Value],
        namespace: Json | None,
        budget: Budget,
    ) -> None:
        self._policy = policy
        self._binding = binding
        self._names = names
        self._namespace = namespace
        self._budget = budget
        self.perhaps = ""
        self.ignores = policy.spec.failure_policy == "Ignore"

    def decision(self) -> Decision:
        """Return the decision; if several expressions deny, the first denial."""
        conditions = self.matching(self._policy.spec.match_conditions or ())
        if conditions is not None:
            return conditions if self._denies or (conditions.open and not self.ignores) else Decision()
        opened = ""
        for each in self._denials(self.with_variables(self._namespace)):
            if each.denial and self.perhaps:
                return Decision(open=self.perhaps)
            if each.denial:
                # The API server reports the first expression that denies. It may be an earlier, unknown one.
                return Decision(_head(self._policy, self._binding) + OPEN) if opened else each
            opened = opened or each.open
        return Decision(open=opened)

    @property
    def _denies(self) -> bool:
        return "Deny" in (self._binding.spec.validation_actions or ())

    def _denials(self, names: Mapping[str, Value]) -> Iterator[Decision]:
        if self._denies:
            for each in self._policy.spec.validations or ():
                if self._budget.is_spent:
                    return
                decided = self._validated(each, names)
                if decided is not None:
                    yield decided
        if self.ignores:
            return
        for annotation in self._policy.spec.audit_annotations or ():
            if self._budget.is_spent:
                return
            # An error in an audit annotation denies the request, independent of the binding's actions.
            value = self.evaluated(annotation.value_expression, names)
            if isinstance(value, CelError):
                yield self.denied(resulted(annotation.value_expression, value))
            elif isinstance(value, Decision):
                yield value

    def _validated(self, validation: Validation, names: Mapping[str, Value]) -> Decision | None:
        value = self.evaluated(validation.expression, names)
        if isinstance(value, CelError):
            return None if self.ignores else self.denied(resulted(validation.expression, value))
        if isinstance(value, Decision):
            return value
        return None if value is True else self.denied(self._message(validation, names))

    def _message(self, validation: Validation, names: Mapping[str, Value]) -> str:
        if validation.message_expression:
            value = self.evaluated(validation.message_expression, names)
            if isinstance(value, Decision):
                return OPEN
            if isinstance(value, str):
                value = value.strip().encode(errors="replace").decode()
                if value and len(value.encode()) <= _LONGEST_MESSAGE and "\n" not in value:
                    return value
        return validation.message.strip() or f"failed expression: {validation.expression.strip()}"

    def matching(self, conditions: Iterable[NamedExpression]) -> Decision | None:
        """Return None if the conditions match or may match; otherwise the policy's decision without validations."""
        names = self.with_variables(None)
        errors: list[str] = []
        opened = ""
        for each in conditions:
            if self._budget.is_spent:
                break
            value = self.evaluated(each.expression, names)
            if value is False:
                return Decision()
            if isinstance(value, CelError):
                errors.append(resulted(each.expression, value))
            elif isinstance(value, Decision) and value.may_be_error:
                opened = opened or value.open
            elif isinstance(value, Decision):
                self.perhaps = self.perhaps or value.open
        if opened or not errors:
            return Decision(open=opened) if opened else None
        if self.ignores:
            return Decision()
        if self.perhaps:
            return Decision(open=self.perhaps)
        errors = list(dict.fromkeys(errors))
        return self.denied(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")

    def evaluated(self, expression: str, names: Mapping[str, Value]) -> Value:
        """Return the value of an expression, a CelError if it fails, or a Decision if the value is unknown."""
        try:
            value = evaluate(expression, names, self._budget)
        except CelError as error:
            return error
        except CannotEvaluateError as error:
            return Decision(open=str(error))
        if isinstance(value, Unknown):
            return Decision(open=f"not known: {value.what}", may_be_error=not value.is_sound)
        return value

    def with_variables(self, namespace: Json | None) -> Mapping[str, Value]:
        """Return the variables that an expression may use, by name; pass None for match conditions."""
        names = {**self._names, "namespaceObject": namespace}
        self._budget.spend(len(self._policy.spec.variables or ()))

        def maker(expression: str) -> Any:
            return lambda: evaluate(expression, names, self._budget)

        names["variables"] = Lazy({each.name: maker(each.expression) for each in self._policy.spec.variables or ()})
        return names

    def spend_on_change(self, target: Json, value: Value, *, merges: bool) -> None:
        """Subtract the steps of a mutation, for copying its object and value and comparing list items."""
        weight = weight_of(value, self._budget.steps + 1)
        self._budget.spend(2 * weight_of(target, self._budget.steps + 1) + weight)
        self._budget.spend(weight * weight // 1_000 if merges else 0)

    def denied(self, message: str) -> Decision:
        """Return a denial in the API server's words."""
        return Decision(_head(self._policy, self._binding) + message)


def _head(policy: AdmissionPolicy, binding: AdmissionPolicyBinding) -> str:
    kind = "ValidatingAdmissionPolicy" if isinstance(policy, ValidatingAdmissionPolicy) else "policy"
    return f"{kind} '{policy.name}' with binding '{binding.name}' denied request: "


def resulted(expression: str, error: CelError) -> str:
    """Return the API server's message for an expression that fails."""
    return f"expression '{expression}' resulted in error: {error}"
