"""The API server's defaults for a new pod, shared by the code for plain data and the code for typed objects.

`validation.defaults` uses them for plain data; `admission.defaults` and `admission.label_keys` for typed objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import TypeVar

Amount = TypeVar("Amount")


def label_key_requirements(
    labels: Mapping[str, str], match: Iterable[str] | None, mismatch: Iterable[str] | None = None
) -> Iterator[tuple[str, str, str]]:
    """Yield the requirements that matchLabelKeys and mismatchLabelKeys add: key, operator and the pod's own value.

    Keys that the pod lacks are dropped. Source: pkg/registry/core/pod/strategy.go.
    """
    for operator, keys in (("In", match), ("NotIn", mismatch)):
        for key in keys or ():
            if key in labels:
                yield key, operator, labels[key]


def complete_requests(requests: MutableMapping[str, Amount], limits: Mapping[str, Amount]) -> None:
    """Set missing requests to the limits (pkg/apis/core/v1/defaults.go, ``SetDefaults_Pod``)."""
    for name, amount in limits.items():
        requests.setdefault(name, amount)


def complete_pod_level(
    requests: MutableMapping[str, Amount],
    limits: MutableMapping[str, Amount],
    of_containers: Mapping[str, Amount],
    limits_of_containers: Mapping[str, Amount],
    *,
    needs_limits: bool = False,
) -> None:
    """Set missing pod-level requests, and huge page limits, from the containers' resources and the pod-level limits.

    ``needs_limits``: whether the containers' requests are used only if there are pod-level limits (until 1.36).

    Source: pkg/api/pod/util.go (``DefaultPodLevelResources``).
    """
    for name, amount in limits_of_containers.items():
        if is_huge_page(name) and name not in requests:
            limits.setdefault(name, amount)
    if limits or not needs_limits:
        complete_requests(requests, {name: of_containers[name] for name in of_containers if name in ("cpu", "memory")})
    complete_requests(requests, {name: limits[name] for name in limits if is_pod_level(name)})


def is_huge_page(name: str) -> bool:
    """Return whether the resource is huge pages of one size."""
    return name.startswith("hugepages-")


def is_pod_level(name: str) -> bool:
    """Return whether ``spec.resources`` may have the resource."""
    return name in ("cpu", "memory") or is_huge_page(name)
