"""Pods that say the same share what they say, and no pod says anything else for it."""

from __future__ import annotations

from typing import Any

import msgspec

from topospread.api.pod import Pod
from topospread.sources.shared_parts import SharedParts

LABELS = {"phase": "Running"}


def pod(name: str, node: str | None, image: str = "a", **more: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": image, "resources": {"requests": {"cpu": "1"}}}]}
    metadata = {"name": name, "namespace": "ns", "labels": dict(LABELS)}
    named = {"nodeName": node} if node else {}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec | named, **more}


PODS = [
    pod("a", "n1", status={"phase": "Running"}),
    pod("b", "n2", status={"phase": "Running"}),
    pod("c", None),
    pod("d", "n1", image="other", status={"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}),
]


def test_every_pod_says_what_it_said() -> None:
    parts = SharedParts()
    shared, plain = msgspec.convert(PODS, list[Pod]), msgspec.convert(PODS, list[Pod])
    for each in shared:
        parts.share(each)

    assert shared == plain


def test_a_part_with_a_number_beyond_64_bits_stays_as_it_is() -> None:
    parts, (one,) = SharedParts(), msgspec.convert(PODS[:1], list[Pod])
    one.spec.priority = 10**30
    parts.share(one)
    assert (one.spec.priority, one.spec.node_name) == (10**30, "n1")


def test_equal_parts_are_one() -> None:
    parts = SharedParts()
    first, second, unplaced, other = shared = msgspec.convert(PODS, list[Pod])
    for each in shared:
        parts.share(each)

    assert first.spec.containers is second.spec.containers is unplaced.spec.containers
    assert first.spec is not second.spec
    assert first.metadata.labels is other.metadata.labels
    assert first.status is second.status
    assert other.spec.containers is not first.spec.containers
    assert other.status is not first.status


def test_another_node_for_one_pod_leaves_the_others_where_they_are() -> None:
    parts = SharedParts()
    first, second = shared = msgspec.convert(PODS[:2], list[Pod])
    for each in shared:
        parts.share(each)
    first.spec.node_name = "n9"
    later = msgspec.convert(pod("e", "n3"), Pod)
    parts.share(later)

    assert (second.spec.node_name, later.spec.node_name) == ("n2", "n3")
