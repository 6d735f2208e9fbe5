"""Rules about which pods a constraint counts."""

from __future__ import annotations

from collections.abc import Iterator

from topospread.api.labels import InvalidSelectorError
from topospread.api.spread import DO_NOT_SCHEDULE
from topospread.api.workload import Deployment

from .manifest import HASH, PodSource, own_selector
from .rule import Problem, Rule

SPREAD = "https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/"


def _missing(pods: PodSource) -> Iterator[Problem]:
    for path, constraint in pods.constraints():
        if constraint.label_selector is None:
            yield Problem(path, "no labelSelector: the constraint counts no pod and spreads nothing")


def _empty(pods: PodSource) -> Iterator[Problem]:
    for path, constraint in pods.constraints():
        selector = constraint.label_selector
        if selector is not None and not selector.match_labels and not selector.match_expressions:
            yield Problem(f"{path}.labelSelector", "the empty labelSelector counts every pod of the namespace")


def _not_own(pods: PodSource) -> Iterator[Problem]:
    for path, constraint in pods.constraints():
        if constraint.label_selector is None:
            continue
        try:
            matches = own_selector(constraint).matches(pods.labels)
        except InvalidSelectorError:
            continue  # Validation says so.
        if not matches:
            yield Problem(f"{path}.labelSelector", "the pod's own labels do not match: it does not count itself")


def _old_revision(pods: PodSource) -> Iterator[Problem]:
    item = pods.item
    if not isinstance(item, Deployment) or (item.spec.strategy and item.spec.strategy.type == "Recreate"):
        return
    if pods.replicas is not None and pods.replicas < 2:
        return
    for path, constraint in pods.constraints():
        keys = constraint.match_label_keys or ()
        if constraint.when_unsatisfiable == DO_NOT_SCHEDULE and HASH not in keys and constraint.label_selector:
            message = f"without matchLabelKeys: [{HASH}] a rolling update counts the old revision's pods too"
            yield Problem(path, message)


RULES = (
    Rule(
        "selector-missing",
        "A constraint has a labelSelector.",
        "Without one no pod is counted, every domain seems empty, and nothing is spread.",
        f"{SPREAD}#spread-constraint-definition",
        "warning",
        _missing,
    ),
    Rule(
        "selector-empty",
        "A constraint's labelSelector says which pods it counts.",
        "An empty one counts every pod of the namespace, those of other workloads too.",
        f"{SPREAD}#spread-constraint-definition",
        "warning",
        _empty,
    ),
    Rule(
        "selector-not-own",
        "A constraint's labelSelector matches the pod's own labels.",
        "A pod that does not count itself leaves the counts as they were: its like are never spread.",
        f"{SPREAD}#implicit-conventions",
        "warning",
        _not_own,
    ),
    Rule(
        "rollout-counts-old-pods",
        "A hard constraint of a Deployment with rolling updates has matchLabelKeys with pod-template-hash.",
        "Pods of the old revision count while they are replaced: the rollout ends skewed, or is stuck.",
        f"{SPREAD}#known-limitations",
        "hint",
        _old_revision,
    ),
)
