"""ResourceQuotas: the new pods that the API server denies because their namespace would exceed a quota.

Sources: k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go (``CheckRequest``),
pkg/quota/v1/evaluator/core/pods.go, pkg/apis/core/v1/helper/qos/qos.go.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace as with_rules

from msgspec.structs import replace

from topospread.api.meta import ResourceList
from topospread.api.pod import FINISHED_PHASES, Pod, ResourceRequirements
from topospread.api.policy import ResourceQuota, ScopedResourceSelectorRequirement
from topospread.api.quantity import ZERO, Quantity, parse_quantity
from topospread.api.requests import RequestRules, is_extended_resource, requested_quantities
from topospread.api.running_resources import Requests, add, quantities
from topospread.api.timestamps import seconds

from .defaults import limits_as_requests

_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_MUST_BE_SET = frozenset(
    {"cpu", "memory", *(f"{part}.{each}" for part in ("requests", "limits") for each in _COMPUTE[:2])}
)
"""Resources that every container must set if a quota limits them, unless the pod-level resources set them."""
_OF_PODS = _MUST_BE_SET | {
    "pods",
    "count/pods",
    "ephemeral-storage",
    *(f"{p}.{_COMPUTE[2]}" for p in ("requests", "limits")),
}
_IMPLICIT = "requests.deviceclass.resource.kubernetes.io/"


class _Quota:
    def __init__(self, quota: ResourceQuota) -> None:
        self.name = quota.name
        self.hard = {name: amount for name, amount in quantities(quota.spec.hard).items() if _is_of_pods(name)}
        self.used = dict.fromkeys(self.hard, ZERO)
        selector = quota.spec.scope_selector
        exist = [
            ScopedResourceSelectorRequirement(scope_name=each, operator="Exists") for each in quota.spec.scopes or ()
        ]
        self.scopes = [*exist, *((selector.match_expressions if selector else None) or ())]


class Quotas:
    """The quotas of all namespaces, with the usage of existing pods.

    Args:
        quotas: all quotas of the input.
        pods: existing pods; a finished pod counts only towards ``count/pods``.
        rules: rules by which the API server counts requests.
        now: current time in seconds, if known. A terminating pod long after its deletion deadline does not count.
    """

    def __init__(
        self, quotas: Iterable[ResourceQuota], pods: Iterable[Pod], rules: RequestRules, now: float | None
    ) -> None:
        self._rules = rules
        self._by_namespace: defaultdict[str, list[_Quota]] = defaultdict(list)
        for quota in sorted(quotas, key=lambda each: each.name):
            one = _Quota(quota)
            if one.hard:
                self._by_namespace[quota.namespace].append(one)
        self._known: dict[int, tuple[Pod, Requests, list[_Quota], str]] = {}
        for pod in pods if self._by_namespace else ():
            self._charge(pod, self._usage(pod, now))

    def copy(self) -> Quotas:
        """Return an independent copy with the same quotas and usage."""
        made = copy(self)
        made._by_namespace, made._known = defaultdict(list), {}
        for namespace, quotas in self._by_namespace.items():
            for each in quotas:
                made._by_namespace[namespace].append(one := copy(each))
                one.used = dict(each.used)
        return made

    def release(self, pod: Pod) -> None:
        """Subtract the usage of a deleted pod."""
        freed = {
            name: Quantity(-amount.unscaled, amount.exponent, amount.format, wide=amount.wide)
            for name, amount in self._usage(pod, None).items()
        }
        self._charge(pod, freed)

    def _charge(self, pod: Pod, usage: Requests) -> None:
        for each in self.concerning(pod):
            _charge(each, usage)

    def concerning(self, pod: Pod) -> list[_Quota]:
        """Return the quotas of the pod's namespace that apply to the pod."""
        quotas = self._by_namespace.get(pod.namespace, ())
        return [each for each in quotas if all(_matches(pod, scope, self._rules) for scope in each.scopes)]

    def refusal(self, pod: Pod) -> str:
        """Return why a new pod exceeds a quota, in the API server's words; else charge the pod and return "".

        If several quotas are exceeded, kube-apiserver reports any of them; this method reports the first by name.
        """
        if pod.namespace not in self._by_namespace:
            return ""
        known = self._known.get(id(pod))
        if known is None:
            known = self._known[id(pod)] = (pod, *self._asked(pod))
        _, usage, concerned, failed = known
        if failed:
            return failed
        for quota in concerned:
            asked = {name: usage[name] for name in quota.hard if name in usage and usage[name] != ZERO}
            exceeded = [name for name in sorted(asked) if quota.used[name].add(asked[name]) > quota.hard[name]]
            if exceeded:
                parts = {"requested": asked, "used": quota.used, "limited": quota.hard}
                words = (f"{part}: {','.join(f'{name}={of[name]}' for name in exceeded)}" for part, of in parts.items())
                return f"exceeded quota: {quota.name}, {', '.join(words)}"
        for quota in concerned:
            _charge(quota, usage)
        return ""

    def lacking(self, namespace: str, pods: Iterable[Pod]) -> dict[str, dict[str, Quantity]]:
        """Return quota → resource → lowest limit that admits ``pods`` in addition to existing pods.

        Resources whose limit is high enough are omitted.
        """
        made = self.copy()
        for pod in pods:
            made._charge(pod, made._usage(pod, None))
        pairs = zip(self._by_namespace.get(namespace, ()), made._by_namespace.get(namespace, ()), strict=True)
        found = {
            new.name: {name: new.used[name] for name in new.hard if new.hard[name] < new.used[name] != old.used[name]}
            for old, new in pairs
        }
        return {name: limits for name, limits in found.items() if limits}

    def _asked(self, pod: Pod) -> tuple[Requests, list[_Quota], str]:
        """Return the usage of a pod, its quotas, and the message if a quota denies it independent of usage, else ""."""
        quotas = self.concerning(pod)
        for quota in quotas:
            missing = self._missing(pod, _MUST_BE_SET & quota.hard.keys())
            if missing:
                each = "; ".join(f"{name} for: {','.join(sorted(missing[name]))}" for name in sorted(missing))
                return {}, quotas, f"failed quota: {quota.name}: must specify {each}"
        return self._usage(pod, None), quotas, ""

    def _missing(self, pod: Pod, required: Iterable[str]) -> Mapping[str, set[str]]:
        """Return required resource → names of the containers that do not set it (``Constraints``)."""
        missing: defaultdict[str, set[str]] = defaultdict(set)
        if self._rules.pod_level and _pod_level_set(pod):
            return missing
        for container in (*(pod.spec.containers or ()), *(pod.spec.init_containers or ())):
            given = container.resources or ResourceRequirements()
            named = _masked(quantities(given.requests), quantities(given.limits))
            for name in required:
                if name not in named:
                    missing[name].add(container.name)
        return missing

    def _usage(self, pod: Pod, now: float | None) -> Requests:
        one = parse_quantity("1")
        deleted = seconds(pod.metadata.deletion_timestamp) if pod.terminating else None
        grace = pod.metadata.deletion_grace_period_seconds
        overdue = None not in (deleted, grace, now) and (now or 0) > (deleted or 0) + (grace or 0)
        if pod.phase in FINISHED_PHASES or overdue:
            return {"count/pods": one}
        requests = requested_quantities(pod, self._rules)
        return {"count/pods": one, "pods": one, **_masked(requests, limits_of(pod, self._rules))}


def is_new(pod: Pod) -> bool:
    """Return whether a pod does not exist yet: it was not read from an API server, and has no node."""
    return not pod.metadata.is_stored and not pod.spec.node_name


def _is_of_pods(name: str) -> bool:
    """Return whether a resource name in a quota is about pods (``MatchingResources``)."""
    if name in _OF_PODS or name.startswith(("hugepages-", "requests.hugepages-", _IMPLICIT)):
        return True
    return name.startswith("requests.") and "/" in name and "kubernetes.io/" not in name


def _masked(requests: Requests, limits: Requests) -> Requests:
    """Return amounts under the names that quotas use (``podComputeUsageHelper``)."""
    found: Requests = {}
    for name, amount in requests.items():
        if name in _COMPUTE or name.startswith("hugepages-"):
            found[name] = amount
        if (
            name in _COMPUTE
            or name.startswith(("hugepages-", "deviceclass.resource.kubernetes.io/"))
            or is_extended_resource(name)
        ):
            found[f"requests.{name}"] = amount
    return found | {f"limits.{name}": amount for name, amount in limits.items() if name in _COMPUTE}


def _charge(quota: _Quota, usage: Requests) -> None:
    for name in quota.hard:
        if name in usage:
            # The API server stores the amount as text and parses it again, so round it the same way.
            quota.used[name] = parse_quantity(str(quota.used[name].add(usage[name])))


def limits_of(pod: Pod, rules: RequestRules) -> Requests:
    """Return the pod's limits, aggregated like its requests; overhead is added to set limits only (``PodLimits``)."""
    spec = pod.spec
    level = ResourceRequirements(requests=spec.resources.limits) if spec.resources else None
    limited = replace(
        spec,
        containers=limits_as_requests(spec.containers),
        init_containers=limits_as_requests(spec.init_containers),
        resources=level,
    )
    found = requested_quantities(Pod(spec=limited), with_rules(rules, overhead=False, status="ignored"))
    overhead = quantities(spec.overhead) if rules.overhead else {}
    add(found, {name: amount for name, amount in overhead.items() if found.get(name, ZERO) != ZERO})
    return found


def _pod_level_set(pod: Pod) -> bool:
    given = pod.spec.resources
    names: set[str] = {*((given.requests if given else None) or ()), *((given.limits if given else None) or ())}
    return any(name in ("cpu", "memory") or name.startswith("hugepages-") for name in names)


def _matches(pod: Pod, scope: ScopedResourceSelectorRequirement, rules: RequestRules) -> bool:
    """Return whether a quota's scope includes a pod (``podMatchesScopeFunc``)."""
    deadline, name = pod.spec.active_deadline_seconds, pod.spec.priority_class_name or ""
    match scope.scope_name:
        case "Terminating" | "NotTerminating":
            return (deadline is not None and deadline >= 0) == (scope.scope_name == "Terminating")
        case "BestEffort" | "NotBestEffort":
            return _is_best_effort(pod, rules) == (scope.scope_name == "BestEffort")
        case "PriorityClass" if scope.operator in ("In", "NotIn"):
            return (name != "" and name in (scope.values or ())) == (scope.operator == "In")
        case "PriorityClass":
            return (name != "") == (scope.operator == "Exists")
    return scope.scope_name == "CrossNamespacePodAffinity" and any(_leaves_its_namespace(pod))


def _is_best_effort(pod: Pod, rules: RequestRules) -> bool:
    spec = pod.spec
    lists: list[ResourceList | None] = []
    if rules.pod_level and spec.resources is not None and _pod_level_set(pod):
        lists = [spec.resources.requests, spec.resources.limits]
    else:
        for each in (*(spec.containers or ()), *(spec.init_containers or ())):
            if each.resources is not None:
                lists += [each.resources.requests, each.resources.limits]
    amounts = ((name, amount) for each in lists for name, amount in quantities(each).items())
    return not any(name in ("cpu", "memory") and amount > ZERO for name, amount in amounts)


def _leaves_its_namespace(pod: Pod) -> Iterator[bool]:
    affinity = pod.spec.affinity
    for each in (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity is not None else ():
        terms = list((each.required_during_scheduling_ignored_during_execution if each else None) or ())
        weighted = (each.preferred_during_scheduling_ignored_during_execution if each else None) or ()
        for term in (*terms, *(one.pod_affinity_term for one in weighted)):
            yield term is not None and (bool(term.namespaces) or term.namespace_selector is not None)
