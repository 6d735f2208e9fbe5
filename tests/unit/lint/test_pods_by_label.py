"""What a selector selects, found by label: the same as asking every one."""

from __future__ import annotations

import pytest

from topospread.api.labels import LabelSelector, LabelSelectorRequirement, Selector
from topospread.api.meta import ObjectMeta
from topospread.api.pod import Pod, PodSpec
from topospread.lint.pod_source import PodSource
from topospread.lint.pods_by_label import PodsByLabel

LABELS: dict[str, dict[str, str]] = {"a": {"app": "web", "tier": "front"}, "b": {"app": "web"}, "c": {"tier": "front"}}


def source(name: str, labels: dict[str, str], namespace: str = "default") -> PodSource:
    item = Pod(metadata=ObjectMeta(name=name, namespace=namespace, labels=labels))
    return PodSource(item, "spec", labels, PodSpec(), 1)


def selector(*expressions: tuple[str, str, list[str] | None], **labels: str) -> Selector:
    made = [
        LabelSelectorRequirement(key=key, operator=operator, values=values) for key, operator, values in expressions
    ]
    return Selector.from_label_selector(LabelSelector(match_labels=labels or None, match_expressions=made or None))


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (selector(app="web"), ["a", "b"]),
        (selector(app="web", tier="front"), ["a"]),
        (selector(("app", "In", ["web"])), ["a", "b"]),
        (selector(("app", "In", ["web", "api"])), ["a", "b"]),
        (selector(("tier", "Exists", None)), ["a", "c"]),
        (selector(("tier", "NotIn", ["front"]), app="web"), ["b"]),
        (selector(("app", "DoesNotExist", None)), ["c"]),
        (selector(app="api"), []),
        (Selector.everything(), ["a", "b", "c"]),
        (Selector.nothing(), []),
    ],
)
def test_what_matches_is_found_in_order(wanted: Selector, names: list[str]) -> None:
    index = PodsByLabel((source(name, labels), name) for name, labels in LABELS.items())
    assert index.selected("default", wanted) == names
    assert index.selected("other", wanted) == []


def test_of_one_name_the_last_counts() -> None:
    index = PodsByLabel([(source("a", {"app": "old"}), 1), (source("a", {"app": "new"}), 2)])
    assert list(index) == [2]
    assert index.selected("default", selector(app="old")) == []
