"""Policies for new pods: Pod Security levels of namespaces, and policies in CEL.

Sources: k8s.io/apiserver pkg/admission/plugin/policy/matching/matching.go,
pkg/admission/plugin/webhook/predicates/rules/rules.go, k8s.io/pod-security-admission api/helpers.go.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from topospread.api.admission_policy import (
    AdmissionPolicy,
    AdmissionPolicyBinding,
    MatchResources,
    RuleWithOperations,
)
from topospread.api.inventory import Inventory
from topospread.api.labels import InvalidSelectorError, LabelSelector, Selector
from topospread.api.meta import KubeObject
from topospread.api.pod import Pod
from topospread.api.served import is_off
from topospread.api.well_known_labels import NAMESPACE_NAME
from topospread.api.workload import Deployment
from topospread.config.gates import Gates
from topospread.config.versions import KubeVersion

from . import pod_security
from .new_objects import NewObject

if TYPE_CHECKING:
    from .mutating import Admitted, Invocation
    from .pod_admission import Admission
    from .validating import Decision, Request

_POD_SECURITY_SINCE = KubeVersion(1, 23)
_LEVELS_JUDGED_SINCE = KubeVersion(1, 36)
"""First version for which levels are evaluated. Before it, their checks depended on feature gates (ProcMountType,
UserNamespacesSupport).
"""
MUTATING: Final = "MutatingAdmissionPolicy "
"""Prefix that marks an unevaluated mutating policy in ``unjudged_admission``."""
_POLICIES_SINCE = KubeVersion(1, 30)
_MUTATING_SINCE = KubeVersion(1, 36)
_OF_CONTROLLERS: Final = ("statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index")
"""Labels that the StatefulSet controller adds to the labels of the pod template."""
_ENFORCE = "pod-security.kubernetes.io/enforce"
_OF_EVERY_CLUSTER: Final = ("default", "kube-system", "kube-public", "kube-node-lease")
"""Namespaces that the API server creates; their only label is their name."""
_is_version = re.compile(r"latest|v1\.(?:[0-9]|[1-9][0-9]*)", re.ASCII).fullmatch


class AdmissionPolicies:
    """An inventory's policies with a binding, and the labels of its namespaces.

    Args:
        gates: gates of the API server.
        admission: other admission plugins, which process pods again after a mutating policy changed them.

    Attributes:
        refused_workloads: (kind, namespace, name) of a new workload that a mutating policy refuses → the message.
    """

    def __init__(self, inventory: Inventory, gates: Gates, admission: Admission) -> None:
        version = gates.kube_version
        self._minor = version.minor
        self._has_levels = version >= _POD_SECURITY_SINCE
        self._evaluates = version >= _POLICIES_SINCE
        self._mutates = version >= _MUTATING_SINCE
        self._judges_levels = version >= _LEVELS_JUDGED_SINCE
        self._labels = {each.name: each.labels for each in inventory.namespaces}
        self._inventory = inventory
        self._mutating = list(_bound(inventory.mutating_policies, inventory.mutating_bindings))
        self._doubts: dict[str, str] = {}
        self._validating = sorted(
            _bound(inventory.validating_policies, inventory.validating_bindings), key=lambda each: each[0].name
        )
        if self._validating or self._mutating:
            from .mutating import MutatingPolicies
            from .requests import Requests
            from .validating import Parameters

            self._requests = Requests(inventory)
            self._parameters = Parameters(inventory.parameters)
            self._mutator = MutatingPolicies(self._requests, self._parameters, admission)
        self.refused_workloads: dict[tuple[str, str, str], str] = {}
        self._open_workloads: set[tuple[str, str, str]] = set()
        self._decided: dict[int, tuple[Pod, list[tuple[str, Decision]]]] = {}

    def __bool__(self) -> bool:
        """True if a policy or a Pod Security level may match a pod."""
        levels = self._has_levels and any(_ENFORCE in each for each in self._labels.values())
        return bool(self._mutating or self._validating or levels)

    def concerning(self, pod: Pod) -> list[str]:
        """Return texts that name the policies and Pod Security levels that match a new pod but cannot be evaluated."""
        found = [f"ValidatingAdmissionPolicy {name} ({each.open})" for name, each in self.decisions(pod) if each.open]
        level, version = self._level(pod)
        if level and not version:
            found.append(f"Pod Security level {level} of the namespace {pod.namespace}")
        return found

    def refusal(self, pod: Pod) -> tuple[str, str]:
        """Return the name of the level or policy that refuses a new pod, and the API server's message; both "" if none.

        Validating policies are not evaluated if a mutating policy may change the pod in an unknown way (`may_change`).
        """
        level, version = self._level(pod)
        words = pod_security.refusal(pod, level, version, self._minor) if version else ""
        if words:
            return f"Pod Security level of the namespace {pod.namespace}", words
        denials = ((name, each.denial) for name, each in self.decisions(pod) if each.denial)
        return next(((f"ValidatingAdmissionPolicy {name}", words) for name, words in denials), ("", ""))

    def decisions(self, pod: Pod) -> list[tuple[str, Decision]]:
        """Return (policy name, decision) for each validating policy that denies a new pod or has no known decision."""
        if not self._validating:
            return []
        if id(pod) not in self._decided:
            self._decided[id(pod)] = (
                pod,
                list(self._decide(_new(pod), lambda: self._requests.of_pod(pod), may_change(pod))),
            )
        return self._decided[id(pod)][1]

    def decisions_on_workload(self, kind: str, item: KubeObject) -> Iterator[tuple[NewObject, str, Decision]]:
        """Yield (object, policy name, decision) for each denial and each unknown decision on a new workload.

        The object is the workload, or the ReplicaSet of a Deployment.
        """
        made = NewObject(kind, item.namespace or "default", item.name, item.labels)
        is_open = (kind, made.namespace, item.name) in self._open_workloads
        for name, each in self._decide(made, lambda: self._requests.of_workload(kind, item), is_open):
            yield made, name, each
        if kind == "Deployment" and isinstance(item, Deployment):
            made = NewObject("ReplicaSet", made.namespace, "", item.spec.template.metadata.labels or {})
            is_open = is_open or bool(self._changing(made)[0])
            for name, each in self._decide(made, lambda: self._requests.of_replica_set(item), is_open):
                yield made, name, each

    def _decide(self, made: NewObject, request: Callable[[], Request], is_open: bool) -> Iterator[tuple[str, Decision]]:
        request = _once(request)
        for policy, bindings in self._validating:
            constrained = self._matched(policy.spec.match_constraints, made)
            if constrained is False:
                continue
            for binding in sorted(bindings, key=lambda each: each.name):
                bound = self._matched(binding.spec.match_resources, made)
                if bound is not False and _may_deny(policy, binding):
                    decision = self._decision(policy, binding, request, is_open)
                    if decision.denial and None in (constrained, bound):
                        decision = decision._replace(
                            denial="", open=f"the labels of namespace {made.namespace} are not in the input"
                        )
                    if decision.denial or decision.open:
                        yield policy.name, decision

    def _decision(
        self,
        policy: AdmissionPolicy,
        binding: AdmissionPolicyBinding,
        request: Callable[[], Request],
        is_open: bool,
    ) -> Decision:
        from .requests import NotWrittenError
        from .validating import Decision, decided

        if not self._evaluates:
            return Decision(open=f"before Kubernetes 1.{_POLICIES_SINCE.minor}")
        if doubt := self._doubt(policy, binding):
            return Decision(open=doubt)
        if is_open:
            return Decision(open="a mutating policy may change the object first")
        try:
            return decided(policy, binding, request(), self._parameters)
        except NotWrittenError as error:
            return Decision(open=str(error))

    def _doubt(self, policy: AdmissionPolicy, binding: AdmissionPolicyBinding) -> str:
        """Return why the API server may not have a policy or its binding; "" if it surely has both."""
        for each in (policy, binding):
            kind = type(each).__name__
            if not each.metadata.is_stored and is_off(each.api_version, kind):
                return f"{each.api_version} {kind} is served only if enabled"
        if policy.metadata.is_stored:
            return ""
        key = f"{type(policy).__name__}/{policy.name}"
        if key not in self._doubts:
            from .compiling import problems

            found = next(problems(policy), None)
            self._doubts[key] = f"the API server refuses {found[0]}: {found[1]}" if found else ""
        return self._doubts[key]

    def changed(self, pod: Pod, *, is_indexed: bool = False) -> Pod:
        """Return a new pod with the changes of mutating policies; its spec records a refusal or an unknown result.

        ``is_indexed``: whether the pod belongs to an indexed Job, whose controller changes each pod.
        """
        owner = pod.metadata.controller
        hidden = _OF_CONTROLLERS if owner is not None and owner.kind == "StatefulSet" and not pod.name else ()
        invocations, unsure = self._changing(_new(pod), hidden)
        if not invocations:
            return pod
        why = "the Job controller's changes to the pod are unknown" if is_indexed else unsure
        outcome = self._outcome(invocations, why, lambda: self._mutator.on_pod(pod, invocations), pod)
        if outcome.denial:
            return replace(pod, spec=replace(pod.spec, refused_admission=outcome.denial))
        if outcome.open:
            return not_judged(pod, *_named(invocations, outcome.open))
        assert isinstance(outcome.item, Pod), "a pod is made of a pod"
        return outcome.item

    def changed_workload(self, kind: str, item: KubeObject) -> tuple[KubeObject, list[str]]:
        """Return a new workload with the changes of mutating policies, and the policies whose result is unknown."""
        made = NewObject(kind, item.namespace or "default", item.name, item.labels)
        invocations, unsure = self._changing(made)
        if not invocations:
            opened = []
        else:
            outcome = self._outcome(
                invocations, unsure, lambda: self._mutator.on_workload(kind, item, invocations), item
            )
            item, opened = outcome.item, _named(invocations, outcome.open) if outcome.open else []
            if outcome.denial:
                self.refused_workloads[kind, made.namespace, item.name] = outcome.denial
                return item, []
        if kind == "Deployment" and isinstance(item, Deployment):
            replica_set = NewObject("ReplicaSet", made.namespace, "", item.spec.template.metadata.labels or {})
            invocations, unsure = self._changing(replica_set)
            if invocations:
                denial, why = self._mutator.on_replica_set(item, invocations)
                opened += _named(invocations, unsure or why) if unsure or why else []
                if denial:
                    head = f'ReplicaSetCreateError: Failed to create new replica set "{item.name}-…": '
                    self.refused_workloads[kind, made.namespace, item.name] = head + denial
        if opened:
            self._open_workloads.add((kind, made.namespace, item.name))
        return item, opened

    def _outcome(
        self, invocations: list[Invocation], unsure: str, outcome: Callable[[], Admitted], item: KubeObject
    ) -> Admitted:
        from .mutating import Admitted

        if not self._mutates:
            return Admitted(item, open=f"before Kubernetes 1.{_MUTATING_SINCE.minor}")
        return Admitted(item, open=unsure) if unsure else outcome()

    def _level(self, pod: Pod) -> tuple[str, str]:
        """Return the level that the pod's namespace enforces ("" for none), and its version ("" if not evaluable)."""
        labels = self._labels.get(pod.namespace, {})
        level = labels.get(_ENFORCE, "") if self._has_levels else ""
        if level in ("", "privileged"):
            return "", ""
        version = labels.get(f"{_ENFORCE}-version", "latest")
        annotations = pod.metadata.annotations
        is_readable = not (annotations and annotations.profiles) or annotations.profiles.startswith("{")
        known = level in ("baseline", "restricted") and _is_version(version) and is_readable
        return level, version if known and self._judges_levels else ""

    def _changing(self, made: NewObject, hidden: Iterable[str] = ()) -> tuple[list[Invocation], str]:
        """Return the mutating policies and bindings that match a new object, and why another match is unknown.

        The reason is "" if all matches are known. ``hidden``: keys of labels of the object with unknown values.
        """
        found: list[Invocation] = []
        unsure = ""
        for policy, bindings in self._mutating:
            of_policy = policy.spec.match_constraints
            constrained = self._matched(of_policy, made)
            for binding in bindings if constrained is not False or _selects_by(of_policy, hidden) else ():
                bound = self._matched(binding.spec.match_resources, made)
                reads_hidden = any(_selects_by(each, hidden) for each in (of_policy, binding.spec.match_resources))
                if bound is not False or reads_hidden:
                    found.append((policy, binding))
                    if doubt := self._doubt(policy, binding):
                        unsure = doubt
                    elif reads_hidden:
                        unsure = "the labels of the pod are unknown"
                    elif None in (constrained, bound):
                        unsure = f"the labels of namespace {made.namespace} are not in the input"
        return found, unsure

    @cached_property
    def _known(self) -> set[str]:
        """Names of the namespaces of which all labels are known."""
        labelled = {name for name, labels in self._labels.items() if labels.keys() - {NAMESPACE_NAME}}
        return {*_OF_EVERY_CLUSTER, *self._inventory.read_namespaces, *labelled}

    def _matched(self, resources: MatchResources | None, made: NewObject) -> bool | None:
        """Return whether a new object matches; None if that depends on labels of a namespace outside the input."""
        selector = resources.namespace_selector if resources is not None else None
        if resources is None or selector is None or made.namespace in self._known:
            return _matches(resources, made, self._labels.get(made.namespace, {}))
        keys = {*(selector.match_labels or ()), *(each.key for each in selector.match_expressions or ())}
        if keys <= {NAMESPACE_NAME}:
            return _matches(resources, made, {NAMESPACE_NAME: made.namespace})
        return None if _matches(replace(resources, namespace_selector=None), made, {}) else False


def may_change(pod: Pod) -> bool:
    """Return whether a policy that is not evaluated may change a new pod."""
    return any(each.startswith(MUTATING) for each in pod.spec.unjudged_admission or ())


def not_judged(pod: Pod, *who: str) -> Pod:
    """Return the pod, marked as not judged because each policy (or PodGroup) in ``who`` cannot be evaluated."""
    found = dict.fromkeys([*(pod.spec.unjudged_admission or ()), *who])
    return replace(pod, spec=replace(pod.spec, unjudged_admission=list(found) or None))


def _named(invocations: Iterable[Invocation], why: str) -> list[str]:
    return list(dict.fromkeys(f"{MUTATING}{policy.name} ({why})" for policy, _ in invocations))


def _selects_by(resources: MatchResources | None, keys: Iterable[str]) -> bool:
    """Return whether an object selector names one of the keys."""
    selector = resources.object_selector if resources is not None else None
    if selector is None:
        return False
    named = {*(selector.match_labels or ()), *(each.key for each in selector.match_expressions or ())}
    return not named.isdisjoint(keys)


def _bound(
    policies: Iterable[AdmissionPolicy], bindings: Iterable[AdmissionPolicyBinding]
) -> Iterator[tuple[AdmissionPolicy, list[AdmissionPolicyBinding]]]:
    by_policy: defaultdict[str, list[AdmissionPolicyBinding]] = defaultdict(list)
    for each in bindings:
        by_policy[each.spec.policy_name].append(each)
    return ((policy, by_policy[policy.name]) for policy in policies if policy.name in by_policy)


def _may_deny(policy: AdmissionPolicy, binding: AdmissionPolicyBinding) -> bool:
    return "Deny" in (binding.spec.validation_actions or ()) or bool(policy.spec.audit_annotations)


def _once(request: Callable[[], Request]) -> Callable[[], Request]:
    """Return a function that caches the result or error of ``request``, so an object is written only once."""
    from .requests import NotWrittenError

    kept: list[Request | NotWrittenError] = []

    def written() -> Request:
        if not kept:
            try:
                kept.append(request())
            except NotWrittenError as error:
                kept.append(error)
        if isinstance(kept[0], NotWrittenError):
            raise kept[0]
        return kept[0]

    return written


def _new(pod: Pod) -> NewObject:
    return NewObject("Pod", pod.namespace or "default", pod.name, pod.labels)


def _matches(given: MatchResources | None, made: NewObject, namespace: Mapping[str, str]) -> bool:
    """Return whether the rules match the creation of an object."""
    if given is None:
        return True
    if not (_selects(given.namespace_selector, namespace) and _selects(given.object_selector, made.labels)):
        return False
    if any(_creates(each, made) for each in given.exclude_resource_rules or ()):
        return False
    return not given.resource_rules or any(_creates(each, made) for each in given.resource_rules)


def _selects(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    try:
        return selector is None or Selector.from_label_selector(selector).matches(labels)
    except InvalidSelectorError:
        return True  # the API server denies such a policy, so treat it as a possible match


def _creates(rule: RuleWithOperations, made: NewObject) -> bool:
    """Return whether a rule matches the creation of an object; ``resourceNames`` never match a generated name."""
    group, version, resource = made.resource
    resources = (each.partition("/")[::2] for each in rule.resources or ())
    return (
        rule.scope in (None, "", "*", "Namespaced")
        and _has(rule.operations, "CREATE")
        and _has(rule.api_groups, group)
        and _has(rule.api_versions, version)
        and any(name in ("*", resource) and part in ("", "*") for name, part in resources)
        and (not rule.resource_names or made.name in rule.resource_names)
    )


def _has(items: list[str] | None, one: str) -> bool:
    return "*" in (items or ()) or one in (items or ())
