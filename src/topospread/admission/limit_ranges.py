"""The bounds that LimitRanges set for new pods of their namespace.

`pod_admission` applies the defaults of LimitRanges. Source: plugin/pkg/admission/limitranger/admission.go.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

import msgspec
from msgspec.structs import replace as with_fields

from topospread.api.meta import ResourceList
from topospread.api.pod import Container, Pod, ResourceRequirements
from topospread.api.policy import LimitRange, LimitRangeItem
from topospread.api.quantity import ZERO, Quantity
from topospread.api.requests import RequestRules, requested_quantities
from topospread.api.running_resources import Requests, quantities
from topospread.api.validation.defaults import default_pod_level
from topospread.api.validation.field import report
from topospread.api.validation.resources import check_resources
from topospread.api.validation.schema import decoded

from .defaults import rounded
from .pod_admission import container_defaults
from .quotas import limits_of

_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_MAX_MILLI = (2**63 - 1) // 1000


class LimitRanges:
    """The LimitRanges of all namespaces. ``rules``: rules by which the API server sums a pod's requests."""

    def __init__(self, limit_ranges: Iterable[LimitRange], rules: RequestRules) -> None:
        self._rules = replace(rules, overhead=False, status="ignored", pod_level_huge_pages=False)
        self._by_namespace: defaultdict[str, list[LimitRange]] = defaultdict(list)
        self._with_defaults: set[str] = set()
        for each in limit_ranges:
            self._by_namespace[each.namespace].append(each)
            defaults = container_defaults(each)
            if defaults.requests or defaults.limits:
                self._with_defaults.add(each.namespace)

    def refusal(self, pod: Pod) -> str:
        """Return the API server's message of the first LimitRange that a new pod violates; "" if none."""
        for each in self._by_namespace.get(pod.namespace, ()):
            said = dict.fromkeys(word for item in each.spec.limits or () for word in self._said(item, pod))
            if said:
                return ", ".join(said) if len(said) == 1 else f"[{', '.join(said)}]"
        return ""

    def invalid_resources(self, pod: Pod) -> list[str]:
        """Return the API server's errors for a new pod whose resources are invalid because of a LimitRange's defaults.

        Resources that are invalid without the defaults were reported when the manifest was validated.
        """
        if pod.namespace not in self._with_defaults:
            return []
        spec = pod.spec
        if spec.resources is not None:
            requests, limits = (_canonical(each) for each in (spec.resources.requests, spec.resources.limits))
            spec = with_fields(spec, resources=ResourceRequirements(requests=requests, limits=limits))
        whole = decoded(msgspec.to_builtins(spec, enc_hook=str), "PodSpec")
        default_pod_level(whole)
        return [each.message for each in report(check_resources("spec", whole))]

    def _said(self, item: LimitRangeItem, pod: Pod) -> Iterator[str]:
        if item.type == "Container":
            for each in (*(pod.spec.containers or ()), *(pod.spec.init_containers or ())):
                yield from _out_of_bounds(item, *_amounts(each))
        elif item.type == "Pod":
            limits = limits_of(pod, self._rules)
            yield from _out_of_bounds(item, requested_quantities(pod, self._rules), limits)


def _canonical(amounts: ResourceList | None) -> ResourceList:
    """Return amounts in the notation of the API server's sums: 8388608 bytes as 8Mi."""
    found = dict(rounded(amounts) or {})
    for name, text in found.items():
        number, power = int(text) if isinstance(text, str) and text.isdigit() else 0, 0
        while number and number % 1024 == 0 and power < len(_BINARY):
            number, power = number // 1024, power + 1
        if power:
            found[name] = f"{number}{_BINARY[power - 1]}"
    return found


def _amounts(container: Container) -> tuple[Requests, Requests]:
    given = container.resources
    return quantities(given.requests if given else None), quantities(given.limits if given else None)


def _out_of_bounds(item: LimitRangeItem, requests: Requests, limits: Requests) -> Iterator[str]:
    """Yield the violations of bounds. kube-apiserver reports several resources in random order."""
    for name, low in _sorted(item.min):
        request, limit, least = _comparable(requests.get(name), limits.get(name), low)
        words = f"minimum {name} usage per {item.type} is {low}"
        if name not in requests:
            yield f"{words}.  No request is specified"
        elif request < least:
            yield f"{words}, but request is {requests[name]}"
        elif name in limits and limit < least:
            yield f"{words}, but limit is {limits[name]}"
    for name, high in _sorted(item.max):
        request, limit, most = _comparable(requests.get(name), limits.get(name), high)
        words = f"maximum {name} usage per {item.type} is {high}"
        if name not in limits:
            yield f"{words}.  No limit is specified"
        elif limit > most:
            yield f"{words}, but limit is {limits[name]}"
        elif name in requests and request > most:
            yield f"{words}, but request is {requests[name]}"
    yield from _beyond_ratio(item, requests, limits)


def _beyond_ratio(item: LimitRangeItem, requests: Requests, limits: Requests) -> Iterator[str]:
    for name, ratio in _sorted(item.max_limit_request_ratio):
        request, limit, _ = _comparable(requests.get(name), limits.get(name), ratio)
        words = f"{name} max limit to request ratio per {item.type} is {ratio}"
        if not request:
            yield f"{words}, but no request is specified or request is 0"
        elif not limit:
            yield f"{words}, but no limit is specified or limit is 0"
        else:
            fine = ratio.value() <= _MAX_MILLI
            if limit / request * (1000 if fine else 1) > float(ratio.milli_value() if fine else ratio.value()):
                yield f"{words}, but provided ratio is {limit / request:f}"


def _sorted(bounds: ResourceList | None) -> Iterable[tuple[str, Quantity]]:
    return sorted(quantities(bounds).items())


def _comparable(*amounts: Quantity | None) -> Iterator[int]:
    """Yield amounts in thousandths, or in units if one is too large (``requestLimitEnforcedValues``)."""
    given = [each or ZERO for each in amounts]
    fine = all(each.value() <= _MAX_MILLI for each in given)
    return (each.milli_value() if fine else each.value() for each in given)
