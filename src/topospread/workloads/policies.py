"""Admission of new pods that is not evaluated: policies in CEL, and Pod Security levels of namespaces.

What is found out is whether one concerns a pod, not what it says. Sources: k8s.io/apiserver
pkg/admission/plugin/policy/matching/matching.go, pkg/admission/plugin/webhook/predicates/rules/rules.go,
k8s.io/pod-security-admission api/helpers.go.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from topospread.api.admission_policy import (
    AdmissionPolicy,
    AdmissionPolicyBinding,
    MatchResources,
    RuleWithOperations,
)
from topospread.api.inventory import Inventory
from topospread.api.labels import InvalidSelectorError, LabelSelector, Selector
from topospread.api.pod import Pod
from topospread.config.versions import KubeVersion

_POD_SECURITY_SINCE = KubeVersion(1, 23)
_ENFORCE = "pod-security.kubernetes.io/enforce"
_PRIVILEGED = ("", "privileged")


class AdmissionPolicies:
    """The policies of an inventory that are in force, and the labels of its namespaces."""

    def __init__(self, inventory: Inventory, version: KubeVersion) -> None:
        self._levels = version >= _POD_SECURITY_SINCE
        self._labels = {each.name: each.labels for each in inventory.namespaces}
        validating = [each for each in inventory.validating_bindings if "Deny" in (each.spec.validation_actions or ())]
        self._in_force = [
            *_bound(inventory.mutating_policies, inventory.mutating_bindings),
            *_bound(inventory.validating_policies, validating),
        ]

    def __bool__(self) -> bool:
        """True if any pod may be concerned."""
        return bool(self._in_force) or (self._levels and any(_ENFORCE in each for each in self._labels.values()))

    def concerning(self, pod: Pod) -> list[str]:
        """Return the policies and Pod Security levels, in words, that concern a new pod and are not evaluated."""
        labels = self._labels.get(pod.namespace, {})
        level = labels.get(_ENFORCE, "") if self._levels else ""
        found = [
            f"{type(policy).__name__} {policy.name}"
            for policy, bindings in self._in_force
            if _matches(policy.spec.match_constraints, pod, labels)
            and any(_matches(each.spec.match_resources, pod, labels) for each in bindings)
        ]
        if level not in _PRIVILEGED:
            found.append(f"Pod Security level {level} of the namespace {pod.namespace}")
        return found


def _bound(
    policies: Iterable[AdmissionPolicy], bindings: Iterable[AdmissionPolicyBinding]
) -> Iterator[tuple[AdmissionPolicy, list[AdmissionPolicyBinding]]]:
    by_policy: defaultdict[str, list[AdmissionPolicyBinding]] = defaultdict(list)
    for each in bindings:
        by_policy[each.spec.policy_name].append(each)
    return ((policy, by_policy[policy.name]) for policy in policies if policy.name in by_policy)


def _matches(given: MatchResources | None, pod: Pod, namespace: Mapping[str, str]) -> bool:
    """Return whether the creation of a pod is meant; names of pods that are generated are not known."""
    if given is None:
        return True
    if not (_selects(given.namespace_selector, namespace) and _selects(given.object_selector, pod.labels)):
        return False
    excluded = (each for each in given.exclude_resource_rules or () if not each.resource_names)
    if any(map(_creates_pods, excluded)):
        return False
    return not given.resource_rules or any(map(_creates_pods, given.resource_rules))


def _selects(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    try:
        return selector is None or Selector.from_label_selector(selector).matches(labels)
    except InvalidSelectorError:
        return True  # The API server would not take the policy: nobody knows whom it means.


def _creates_pods(rule: RuleWithOperations) -> bool:
    resources = (each.partition("/")[::2] for each in rule.resources or ())
    return (
        rule.scope in (None, "", "*", "Namespaced")
        and _has(rule.operations, "CREATE")
        and _has(rule.api_groups, "")
        and _has(rule.api_versions, "v1")
        and any(name in ("*", "pods") and part in ("", "*") for name, part in resources)
    )


def _has(items: list[str] | None, one: str) -> bool:
    return "*" in (items or ()) or one in (items or ())
