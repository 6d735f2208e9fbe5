"""Merge of matchLabelKeys and mismatchLabelKeys into label selectors, like the API server when it stores a pod.

The API server does so for spread constraints since 1.34, and for pod affinity and anti-affinity since 1.31. A
requirement that the selector already has is not added again. Source: pkg/registry/core/pod/strategy.go
(``mutatePodAffinity``, ``mutateTopologySpreadConstraints``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from topospread.api.labels import LabelSelector, LabelSelectorRequirement
from topospread.api.node_selection import Affinity, PodAffinity, PodAffinityTerm
from topospread.api.pod import PodSpec
from topospread.api.pod_defaults import label_key_requirements
from topospread.api.validation.field import FieldError, invalid
from topospread.api.validation.selectors import check_label_keys
from topospread.config.gates import Gates


def with_label_keys_merged(spec: PodSpec, labels: Mapping[str, str], gates: Gates) -> PodSpec:
    """Return the spec with the pod's label values merged into selectors (matchLabelKeys)."""
    constraints = spec.topology_spread_constraints
    if constraints and any(each.match_label_keys for each in constraints) and merges_spread_keys(gates):
        merged = [
            replace(each, label_selector=_merged(each.label_selector, labels, match=each.match_label_keys))
            for each in constraints
        ]
        if merged != constraints:
            spec = replace(spec, topology_spread_constraints=merged)
    if spec.affinity is not None and gates.enabled("MatchLabelKeysInPodAffinity"):
        affinity = _merged_affinity(spec.affinity, labels)
        if affinity is not spec.affinity:
            spec = replace(spec, affinity=affinity)
    return spec


def merges_spread_keys(gates: Gates) -> bool:
    """Return whether the API server merges the matchLabelKeys of spread constraints into their selectors."""
    return gates.enabled("MatchLabelKeysInPodTopologySpread") and gates.enabled(
        "MatchLabelKeysInPodTopologySpreadSelectorMerge"
    )


def invalid_label_keys(spec: PodSpec, gates: Gates, path: str = "spec") -> Iterator[FieldError]:
    """Yield the API server's errors for label keys that are also in the constraint's or term's selector.

    Merging does not change templates, so the API server admits such a template and denies its pods. If its version does
    not merge the keys of spread constraints, it also denies the template (``validateMatchLabelKeysInTopologySpread`` of
    Kubernetes 1.27 to 1.33).
    """
    for index, constraint in enumerate(spec.topology_spread_constraints or ()):
        at, selector = f"{path}.topologySpreadConstraints[{index}]", constraint.label_selector
        if not constraint.match_label_keys:
            continue
        if merges_spread_keys(gates):
            yield from check_label_keys(at, msgspec.to_builtins(constraint))
        elif gates.enabled("MatchLabelKeysInPodTopologySpread") and selector is not None:
            known = {*(selector.match_labels or ()), *(each.key for each in selector.match_expressions or ())}
            for number, key in enumerate(constraint.match_label_keys):
                if key in known:
                    words = "exists in both matchLabelKeys and labelSelector"
                    yield invalid(f"{at}.matchLabelKeys[{number}]", key, words)
    if spec.affinity is None or not gates.enabled("MatchLabelKeysInPodAffinity"):
        return
    affinities = {"podAffinity": spec.affinity.pod_affinity, "podAntiAffinity": spec.affinity.pod_anti_affinity}
    for name, affinity in affinities.items():
        if affinity is None:
            continue
        at = f"{path}.affinity.{name}"
        for index, term in enumerate(affinity.required_during_scheduling_ignored_during_execution or ()):
            field = f"{at}.requiredDuringSchedulingIgnoredDuringExecution[{index}]"
            yield from check_label_keys(field, msgspec.to_builtins(term))
        for index, each in enumerate(affinity.preferred_during_scheduling_ignored_during_execution or ()):
            if each.pod_affinity_term is not None:
                field = f"{at}.preferredDuringSchedulingIgnoredDuringExecution[{index}].podAffinityTerm"
                yield from check_label_keys(field, msgspec.to_builtins(each.pod_affinity_term))


def reads_own_labels(spec: PodSpec) -> Iterable[str]:
    """Return the label keys whose values on the pod are merged into its selectors."""
    for constraint in spec.topology_spread_constraints or ():
        yield from constraint.match_label_keys or ()
    for term in _terms(spec.affinity):
        yield from term.match_label_keys or ()
        yield from term.mismatch_label_keys or ()


def _terms(affinity: Affinity | None) -> Iterable[PodAffinityTerm]:
    for each in (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity else ():
        if each is not None:
            yield from each.required_during_scheduling_ignored_during_execution or ()
            for weighted in each.preferred_during_scheduling_ignored_during_execution or ():
                if weighted.pod_affinity_term is not None:
                    yield weighted.pod_affinity_term


def _merged_affinity(affinity: Affinity, labels: Mapping[str, str]) -> Affinity:
    if not any(term.match_label_keys or term.mismatch_label_keys for term in _terms(affinity)):
        return affinity
    merged = replace(
        affinity,
        pod_affinity=_merged_pod_affinity(affinity.pod_affinity, labels),
        pod_anti_affinity=_merged_pod_affinity(affinity.pod_anti_affinity, labels),
    )
    return affinity if merged == affinity else merged


def _merged_pod_affinity(affinity: PodAffinity | None, labels: Mapping[str, str]) -> PodAffinity | None:
    if affinity is None:
        return None
    required = affinity.required_during_scheduling_ignored_during_execution
    preferred = affinity.preferred_during_scheduling_ignored_during_execution
    return PodAffinity(
        required_during_scheduling_ignored_during_execution=required
        and [_merged_term(term, labels) for term in required],
        preferred_during_scheduling_ignored_during_execution=preferred
        and [
            replace(each, pod_affinity_term=each.pod_affinity_term and _merged_term(each.pod_affinity_term, labels))
            for each in preferred
        ],
    )


def _merged_term(term: PodAffinityTerm, labels: Mapping[str, str]) -> PodAffinityTerm:
    selector = _merged(term.label_selector, labels, match=term.match_label_keys, mismatch=term.mismatch_label_keys)
    return term if selector is term.label_selector else replace(term, label_selector=selector)


def _merged(
    selector: LabelSelector | None,
    labels: Mapping[str, str],
    *,
    match: Iterable[str] | None,
    mismatch: Iterable[str] | None = None,
) -> LabelSelector | None:
    """Return the selector with a requirement for each given key that the pod's labels have; None if it is None."""
    if selector is None:
        return None
    there = selector.match_expressions or []
    added: list[LabelSelectorRequirement] = []
    for key, operator, value in label_key_requirements(labels, match, mismatch):
        requirement = LabelSelectorRequirement(key=key, operator=operator, values=[value])
        if requirement not in there:
            added.append(requirement)
    return replace(selector, match_expressions=[*there, *added]) if added else selector
