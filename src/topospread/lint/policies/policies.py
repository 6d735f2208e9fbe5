"""Export rules as ValidatingAdmissionPolicies with bindings, or as Kyverno policies.

An error denies the request. A warning is sent to the client and to the audit log, a hint only to the audit log.
Kubernetes' own namespaces are excluded.

Fields: k8s.io/api/admissionregistration/v1/types.go; github.com/kyverno/kyverno api/kyverno/v1 (``validate.cel``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from topospread.api.well_known_labels import NAMESPACE_NAME
from topospread.lint.rule import SEVERITIES, Rule, Severity
from topospread.lint.rules import RULES
from topospread.lint.settings import Settings

from .cel import EXPRESSED, NOT_BEING_DELETED, NOT_BY_CONTROLLER, VARIABLES, Expressed, not_ignored, not_spread
from .not_in_cel import NOT_IN_CEL

Engine = Literal["vap", "kyverno"]
Json = dict[str, Any]

LEFT_OUT: Final = ("kube-node-lease", "kube-public", "kube-system")
"""Namespaces that are always excluded."""

_ACTIONS: Final[Mapping[Severity, list[str]]] = {"error": ["Deny"], "warning": ["Warn", "Audit"], "hint": ["Audit"]}
_GROUPS: Final[Mapping[str, tuple[str, str, str]]] = {
    "Deployment": ("apps", "v1", "deployments"),
    "ReplicaSet": ("apps", "v1", "replicasets"),
    "StatefulSet": ("apps", "v1", "statefulsets"),
    "DaemonSet": ("apps", "v1", "daemonsets"),
    "ReplicationController": ("", "v1", "replicationcontrollers"),
    "Job": ("batch", "v1", "jobs"),
    "CronJob": ("batch", "v1", "cronjobs"),
    "Pod": ("", "v1", "pods"),
    "Node": ("", "v1", "nodes"),
}
_OPERATIONS: Final = ["CREATE", "UPDATE"]


def exported(settings: Settings, level: Severity = "hint") -> list[tuple[Rule, Severity]]:
    """Return the selected rules that CEL can express, with their severities, in the order of the rules."""
    worst = SEVERITIES[: SEVERITIES.index(level) + 1]
    known = [(rule, settings.severity.get(rule.id, rule.severity)) for rule in RULES if rule.id in EXPRESSED]
    return [(rule, severity) for rule, severity in known if settings.asks(rule.id) and severity in worst]


def left_out(settings: Settings) -> list[tuple[str, str]]:
    """Return the selected rules that CEL cannot express, with the reasons."""
    return [(rule, why) for rule, why in NOT_IN_CEL.items() if settings.asks(rule)]


def policies(rules: Sequence[tuple[Rule, Severity]], engine: Engine, settings: Settings) -> list[Json]:
    """Return the objects to apply, in the order of the rules: a policy and a binding each, or one Kyverno policy."""
    if engine == "kyverno":
        return [_kyverno(rule, severity, settings) for rule, severity in rules]
    return [made for rule, severity in rules for made in (_policy(rule, severity, settings), _binding(rule, severity))]


def _expressed(rule: Rule, settings: Settings) -> Expressed:
    found = EXPRESSED[rule.id]
    if rule.id != "no-spread":
        return found
    return found._replace(finding=not_spread(settings.spread_from, settings.spread_over))


def _excluded(settings: Settings) -> list[str]:
    """Return the namespaces that the policies exclude."""
    return sorted({*LEFT_OUT, *settings.exclude_namespaces})


def name_of(rule: str) -> str:
    """Return the name of a rule's policy and binding."""
    return f"topospread-{rule}"


def _message(rule: Rule) -> str:
    return f"{rule.sentence} {rule.why} [{rule.id}]"


def _conditions(rule: str, severity: Severity) -> list[Json]:
    """Return the match conditions of a rule's policy. An ignore annotation cannot lift a denial."""
    found = [
        {"name": "not-by-controller", "expression": NOT_BY_CONTROLLER},
        {"name": "not-being-deleted", "expression": NOT_BEING_DELETED},
    ]
    return found if severity == "error" else [*found, {"name": "not-ignored", "expression": not_ignored(rule)}]


def _variables(expressed: Expressed) -> list[Json]:
    """Return the CEL variables that a finding uses, directly or through other variables."""
    wanted, needed = [], expressed.finding
    for name, expression in reversed(list(VARIABLES.items())):
        if f"variables.{name}" in needed:
            wanted.append({"name": name, "expression": expression})
            needed += expression
    return wanted[::-1]


def _policy(rule: Rule, severity: Severity, settings: Settings) -> Json:
    expressed = _expressed(rule, settings)
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name_of(rule.id), "annotations": {"topospread.dev/rule": rule.id}},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "namespaceSelector": {
                    "matchExpressions": [{"key": NAMESPACE_NAME, "operator": "NotIn", "values": _excluded(settings)}]
                },
                "resourceRules": _resource_rules(expressed.kinds),
            },
            "matchConditions": _conditions(rule.id, severity),
            "variables": _variables(expressed),
            "validations": [{"expression": f"!({expressed.finding})", "message": _message(rule)}],
        },
    }


def _resource_rules(kinds: Sequence[str]) -> list[Json]:
    groups: dict[tuple[str, str], list[str]] = {}
    for kind in kinds:
        group, version, plural = _GROUPS[kind]
        groups.setdefault((group, version), []).append(plural)
    return [
        {"apiGroups": [group], "apiVersions": [version], "operations": _OPERATIONS[:], "resources": plurals}
        for (group, version), plurals in groups.items()
    ]


def _binding(rule: Rule, severity: Severity) -> Json:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name_of(rule.id)},
        "spec": {"policyName": name_of(rule.id), "validationActions": _ACTIONS[severity]},
    }


def _kyverno(rule: Rule, severity: Severity, settings: Settings) -> Json:
    expressed = _expressed(rule, settings)
    kinds = ["/".join(filter(None, (*_GROUPS[kind][:2], kind))) for kind in expressed.kinds]
    return {
        "apiVersion": "kyverno.io/v1",
        "kind": "ClusterPolicy",
        "metadata": {
            "name": name_of(rule.id),
            "annotations": {
                "pod-policies.kyverno.io/autogen-controllers": "none",
                "policies.kyverno.io/description": rule.why,
                "policies.kyverno.io/title": rule.sentence,
                "topospread.dev/rule": rule.id,
            },
        },
        "spec": {
            "background": True,
            "emitWarning": severity != "hint",
            "rules": [
                {
                    "name": rule.id,
                    "match": {"any": [{"resources": {"kinds": kinds, "operations": _OPERATIONS[:]}}]},
                    "exclude": {"any": [{"resources": {"namespaces": _excluded(settings)}}]},
                    "celPreconditions": _conditions(rule.id, severity),
                    "validate": {
                        "failureAction": "Enforce" if severity == "error" else "Audit",
                        "cel": {
                            "variables": _variables(expressed),
                            "expressions": [{"expression": f"!({expressed.finding})", "message": _message(rule)}],
                        },
                    },
                }
            ],
        },
    }
