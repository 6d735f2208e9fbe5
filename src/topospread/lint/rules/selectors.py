"""Rules about which pods a constraint counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from topospread.api.labels import InvalidSelectorError, LabelSelector
from topospread.api.spread import DO_NOT_SCHEDULE
from topospread.api.workload import Deployment
from topospread.lint.examples import constraint, deployment
from topospread.lint.lint_input import LintInput, LintSubject
from topospread.lint.pod_source import ADDED_BY_CONTROLLERS, HASH, PodSource, own_selector
from topospread.lint.problem import FieldEdit, Problem
from topospread.lint.rule import Example, Rule, of_pods

SPREAD = "https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/"
_MATCH_LABEL_KEYS_SINCE = 27
_EMPTY_COUNTS_NONE_SINCE = 26
OF_ONE_WORKLOAD = (HASH, "controller-revision-hash", "controller-uid", "batch.kubernetes.io/controller-uid")
"""Labels that controllers set for the pods of a single workload."""


def _missing(pods: PodSource) -> Iterator[Problem]:
    for path, each in pods.constraints():
        if each.label_selector is None and not (pods.open_labels and not pods.labels):
            yield Problem(
                path, "no labelSelector: the constraint counts no pod and spreads nothing", _own_labels(pods, path)
            )


def _empty(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    """Find empty selectors that no matchLabelKeys entry narrows to the workload.

    Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go (``countPodsMatchSelector``).
    """
    counts_none = given.version.minor >= _EMPTY_COUNTS_NONE_SINCE
    for manifest, pods in given.sources:
        for path, each in pods.constraints():
            selector = each.label_selector
            if selector is None or not _is_empty(selector):
                continue
            keys = each.match_label_keys or [] if given.version.minor >= _MATCH_LABEL_KEYS_SINCE else []
            if any(key in OF_ONE_WORKLOAD for key in keys):
                continue
            message = "the empty labelSelector counts every pod of the namespace"
            if keys:
                message += f" with the same {', '.join(keys)}"
            elif counts_none:
                message = "the empty labelSelector counts no pod: the constraint spreads nothing"
            yield manifest, Problem(f"{path}.labelSelector", message)


def _is_empty(selector: LabelSelector) -> bool:
    return not selector.match_labels and not selector.match_expressions


def _own_labels(pods: PodSource, path: str) -> tuple[FieldEdit, ...]:
    """Return the edit that uses the pods' own controller's selector."""
    selector = getattr(getattr(pods.item, "spec", None), "selector", None)
    labels = getattr(selector, "match_labels", None)
    if not labels or getattr(selector, "match_expressions", None):
        return ()
    return (FieldEdit("add", f"{path}.labelSelector", {"matchLabels": dict(labels)}),)


def _as_own(pods: PodSource, path: str, written: Mapping[str, str]) -> Iterator[FieldEdit]:
    """Yield edits of matchLabels after which a constraint counts the pods, label by label to preserve the file's
    layout."""
    for edit in _own_labels(pods, path):
        field, own = f"{edit.path}.matchLabels", edit.value["matchLabels"]
        if not any(key in own for key in written):
            yield FieldEdit("replace", field, own)
            return
        for key, value in written.items():
            if key in own and own[key] != value:
                yield FieldEdit("replace", f"{field}[{key}]", own[key])
            elif pods.labels.get(key) != value:
                yield FieldEdit("remove", f"{field}[{key}]")


def _not_own(pods: PodSource) -> Iterator[Problem]:
    for path, each in pods.constraints():
        if each.label_selector is None:
            continue
        try:
            selector = own_selector(each)
        except InvalidSelectorError:
            continue  # The rule `validation` reports the error.
        unmet = next((one for one in selector.requirements if not one.matches(pods.labels)), None)
        later = pods.open_labels or (unmet and unmet.key in ADDED_BY_CONTROLLERS.get(type(pods.item), ()))
        if unmet is not None and not (later and unmet.key not in pods.labels):
            given = f"{unmet.key}={pods.labels[unmet.key]}" if unmet.key in pods.labels else f"no label {unmet.key}"
            field = f"{path}.labelSelector"
            if each.label_selector.match_labels and unmet.key in each.label_selector.match_labels:
                field += f".matchLabels[{unmet.key}]"
            message = f"the constraint does not count the pod itself: it wants {unmet}, the pod has {given}"
            # The constraint may count another workload's pods on purpose, so a person must confirm the edit.
            labels = each.label_selector.match_labels or {}
            is_evident = labels and not each.label_selector.match_expressions
            yield Problem(field, message, suggestion=tuple(_as_own(pods, path, labels)) if is_evident else ())


def _old_revision(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    if given.version.minor < _MATCH_LABEL_KEYS_SINCE:
        return
    for manifest, pods in given.sources:
        item = pods.item
        if not isinstance(item, Deployment) or (item.spec.strategy and item.spec.strategy.type == "Recreate"):
            continue
        if pods.replicas is not None and pods.replicas < 2:
            continue
        for path, each in pods.constraints():
            keys = each.match_label_keys or ()
            selector = each.label_selector
            counts = selector is not None and not (_is_empty(selector) and not keys)
            if each.when_unsatisfiable == DO_NOT_SCHEDULE and HASH not in keys and counts:
                message = f"without matchLabelKeys: [{HASH}] a rolling update counts the old revision's pods too"
                whole = FieldEdit("add", f"{path}.matchLabelKeys", [HASH])
                one = FieldEdit("add", f"{path}.matchLabelKeys[-]", HASH)
                yield manifest, Problem(path, message, (one if keys else whole,))


_OWN = "labelSelector:\n  matchLabels: {app: web}\nmatchLabelKeys: [pod-template-hash]"
_GOOD = Example(deployment(constraint(_OWN)))

RULES = (
    Rule(
        id="selector-missing",
        sentence="A constraint has no labelSelector.",
        why="It counts no pod, every domain seems empty, and it spreads no pod.",
        link=f"{SPREAD}#spread-constraint-definition",
        severity="warning",
        check=of_pods(_missing),
        wrong=Example(deployment(constraint())),
        right=_GOOD,
        fix="Adds the labels that the workload's own selector has.",
    ),
    Rule(
        id="selector-empty",
        sentence="A constraint's labelSelector is empty.",
        why=(
            "It counts no pod since 1.27. In older versions, or with matchLabelKeys, it also counts pods of "
            "other workloads."
        ),
        link=f"{SPREAD}#spread-constraint-definition",
        severity="warning",
        check=_empty,
        wrong=Example(deployment(constraint("labelSelector: {}"))),
        right=_GOOD,
    ),
    Rule(
        id="selector-not-own",
        sentence="A constraint's labelSelector does not match the pod's own labels.",
        why="A pod that does not count itself leaves the counts unchanged, so its replicas are never spread.",
        link=f"{SPREAD}#implicit-conventions",
        severity="warning",
        check=of_pods(_not_own),
        wrong=Example(deployment(constraint(_OWN.replace("web", "wbe")))),
        right=_GOOD,
    ),
    Rule(
        id="rollout-counts-old-pods",
        sentence="A hard constraint counts old pods during a rolling update.",
        why="Without pod-template-hash in matchLabelKeys, the rollout ends skewed or gets stuck.",
        link=f"{SPREAD}#known-limitations",
        severity="hint",
        check=_old_revision,
        wrong=Example(deployment(constraint("labelSelector:\n  matchLabels: {app: web}"))),
        right=_GOOD,
        fix="Adds pod-template-hash to matchLabelKeys.",
    ),
)
