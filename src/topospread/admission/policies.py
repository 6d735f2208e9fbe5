"""Policies for new pods: Pod Security levels of namespaces, and policies in CEL, which are not evaluated.

Of a policy in CEL is found out whether it concerns a pod, not what it says. Sources: k8s.io/apiserver
pkg/admission/plugin/policy/matching/matching.go, pkg/admission/plugin/webhook/predicates/rules/rules.go,
k8s.io/pod-security-admission api/helpers.go.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from topospread.api.admission_policy import (
    AdmissionPolicy,
    AdmissionPolicyBinding,
    MatchResources,
    MutatingAdmissionPolicy,
    RuleWithOperations,
)
from topospread.api.inventory import Inventory
from topospread.api.labels import InvalidSelectorError, LabelSelector, Selector
from topospread.api.pod import Pod
from topospread.config.gates import Gates
from topospread.config.versions import KubeVersion

from . import pod_security

_POD_SECURITY_SINCE = KubeVersion(1, 23)
_LEVELS_JUDGED_SINCE = KubeVersion(1, 36)
"""What a level refuses depended on feature gates before (ProcMountType, UserNamespacesSupport)."""
_ENFORCE = "pod-security.kubernetes.io/enforce"
_is_version = re.compile(r"latest|v1\.(?:[0-9]|[1-9][0-9]*)", re.ASCII).fullmatch


class AdmissionPolicies:
    """The policies of an inventory that are in force, and the labels of its namespaces."""

    def __init__(self, inventory: Inventory, gates: Gates) -> None:
        version = gates.kube_version
        self._minor = version.minor
        self._has_levels = version >= _POD_SECURITY_SINCE
        self._judges_levels = version >= _LEVELS_JUDGED_SINCE
        self._labels = {each.name: each.labels for each in inventory.namespaces}
        validating = [each for each in inventory.validating_bindings if "Deny" in (each.spec.validation_actions or ())]
        self._in_force = [
            *_bound(inventory.mutating_policies, inventory.mutating_bindings),
            *_bound(inventory.validating_policies, validating),
        ]

    def __bool__(self) -> bool:
        """True if any pod may be concerned."""
        return bool(self._in_force) or (self._has_levels and any(_ENFORCE in each for each in self._labels.values()))

    def concerning(self, pod: Pod) -> list[str]:
        """Return the policies and Pod Security levels, in words, that concern a new pod and are not evaluated."""
        found = [f"{type(policy).__name__} {policy.name}" for policy in self._concerning(pod)]
        level, version = self._level(pod)
        if level and not version:
            found.append(f"Pod Security level {level} of the namespace {pod.namespace}")
        return found

    def refusal(self, pod: Pod) -> str:
        """Return why the level of its namespace refuses a new pod, in the API server's words; "" if it does not."""
        level, version = self._level(pod)
        return pod_security.refusal(pod, level, version, self._minor) if version else ""

    def may_change(self, pod: Pod) -> bool:
        """Return whether a policy that is not evaluated may change a new pod."""
        return any(isinstance(policy, MutatingAdmissionPolicy) for policy in self._concerning(pod))

    def _level(self, pod: Pod) -> tuple[str, str]:
        """Return the level that a pod has to keep, "" for none, and its version, "" if it is not evaluated."""
        labels = self._labels.get(pod.namespace, {})
        level = labels.get(_ENFORCE, "") if self._has_levels else ""
        if level in ("", "privileged"):
            return "", ""
        version = labels.get(f"{_ENFORCE}-version", "latest")
        annotations = pod.metadata.annotations
        is_readable = not (annotations and annotations.profiles) or annotations.profiles.startswith("{")
        known = level in ("baseline", "restricted") and _is_version(version) and is_readable
        return level, version if known and self._judges_levels else ""

    def _concerning(self, pod: Pod) -> Iterator[AdmissionPolicy]:
        labels = self._labels.get(pod.namespace, {})
        for policy, bindings in self._in_force:
            if _matches(policy.spec.match_constraints, pod, labels) and any(
                _matches(each.spec.match_resources, pod, labels) for each in bindings
            ):
                yield policy


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
