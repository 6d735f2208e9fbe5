"""The rules that need only one object, written in CEL for the API server.

A policy sees an object after defaulting (``replicas: 1``). In a pod, ``matchLabelKeys`` are already merged into the
selector, since 1.34 (pkg/registry/core/pod/strategy.go: ``applyMatchLabelKeysInTopologySpread``). Rules about the
written selector remove these requirements, like `pod_source.own_selector`.

CEL: k8s.io/apiserver/pkg/cel/environment. ``dyn`` avoids type errors in policies for several kinds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from topospread.api.well_known_labels import HOSTNAME
from topospread.controllers.controller_accounts import CONTROLLER_MANAGER, CREATORS
from topospread.extender.declared import ANNOTATIONS
from topospread.lint.ignores import ANNOTATION
from topospread.lint.pod_source import ADDED_BY_CONTROLLERS, HASH
from topospread.lint.rules.constraint_fields import OF_ONE_POD, RENAMED
from topospread.lint.rules.pod_spec import PART_OF
from topospread.lint.rules.selectors import OF_ONE_WORKLOAD

SCALED: Final = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")
KINDS: Final = (*SCALED, "DaemonSet", "Job", "CronJob", "Pod")
"""Kinds that are pods or create pods."""

_SEVERAL_SEEN = "an autoscaler's maxReplicas, which lint uses instead of replicas, is not visible"
_DEFAULTED = "missing replicas are already 1; lint takes them as unknown, because an autoscaler may set them"


class Expressed(NamedTuple):
    """A rule's CEL expression.

    Attributes:
        finding: expression that is true for a finding; it may use `VARIABLES`.
        kinds: the kinds that it checks.
        note: what only the linter finds; may be empty.
    """

    finding: str
    kinds: tuple[str, ...] = KINDS
    note: str = ""


def _listed(words: Iterable[str]) -> str:
    return "[" + ", ".join(f"'{word}'" for word in words) + "]"


def _mapped(words: Mapping[str, Iterable[str]]) -> str:
    return "{" + ", ".join(f"'{key}': {_listed(values)}" for key, values in words.items()) + "}"


def _any(condition: str) -> str:
    return f"variables.constraints.exists(c, {condition})"


def _given_key(key: str) -> str:
    """Return CEL that is true if the constraint ``c`` has a label in matchLabelKeys."""
    return f"(has(c.matchLabelKeys) && {key} in c.matchLabelKeys)"


_LABELS = "variables.labels"
_HARD = "c.whenUnsatisfiable == 'DoNotSchedule'"


def _unmet(key: str) -> str:
    """Return CEL that is true if the pods' labels do not meet requirement ``e`` of matchExpressions. `key` is its
    prefix."""
    within = f"(e.key in {_LABELS} && {_LABELS}[e.key] in e.values)"
    there = f"e.key in {_LABELS}"
    by_operator = (
        f"(e.operator == 'In' ? !{within} : e.operator == 'NotIn' ? {within} : "
        f"e.operator == 'Exists' ? !({there}) : {there})"
    )
    return f"{key}{by_operator}"


def _not_matching(selector: str, left_out: str = "") -> str:
    """Return CEL that is true if a selector exists and does not match the pods' own labels."""
    but = f"!{left_out} && " if left_out else ""
    labels = f"{selector}.matchLabels"
    by_label = f"{labels}.exists(k, {but.replace('KEY', 'k')}!(k in {_LABELS} && {_LABELS}[k] == {labels}[k]))"
    by_expression = f"{selector}.matchExpressions.exists(e, {_unmet(but.replace('KEY', 'e.key'))})"
    return f"((has({labels}) && {by_label}) || (has({selector}.matchExpressions) && {by_expression}))"


_NOT_OWN = _not_matching("c.labelSelector", _given_key("KEY"))
_EMPTY = (
    "((!has(c.labelSelector.matchLabels) || size(c.labelSelector.matchLabels) == 0) && "
    f"(!has(c.labelSelector.matchExpressions) || c.labelSelector.matchExpressions.all(e, {_given_key('e.key')})))"
)
_COUNTS_ITSELF = f"has(c.labelSelector) && !{_NOT_OWN}"
_HARD_ALIKE = (
    "variables.constraints.exists(d, d.whenUnsatisfiable == 'DoNotSchedule' && d.topologyKey == c.topologyKey)"
)
_NAMESPACE = "object.metadata.namespace"


def _selects_itself(term: str) -> str:
    """Return CEL for `pod_source.selects_itself`: true if a pod affinity term selects the pods' own group."""
    every = f"{term}.namespaceSelector"
    everywhere = (
        f"(!has({every}.matchLabels) || size({every}.matchLabels) == 0) && "
        f"(!has({every}.matchExpressions) || size({every}.matchExpressions) == 0)"
    )
    named = f"!has({term}.namespaces) || size({term}.namespaces) == 0 || {_NAMESPACE} in {term}.namespaces"
    apart = f"has({term}.mismatchLabelKeys) && {term}.mismatchLabelKeys.exists(k, k in {_LABELS})"
    return (
        f"(has({every}) ? {everywhere} : {named}) && !({apart}) && has({term}.labelSelector) && "
        f"!{_not_matching(f'{term}.labelSelector')}"
    )


def _required(kind: str) -> str:
    """Return CEL for the list of required podAffinity or podAntiAffinity terms; it may be empty."""
    at = f"variables.spec.affinity.{kind}"
    terms = f"{at}.requiredDuringSchedulingIgnoredDuringExecution"
    return f"(has(variables.spec.affinity) && has({at}) && has({terms}) ? {terms} : [])"


def _in(key: str) -> str:
    """Return CEL for the ``In`` requirements of node selector term ``t`` that allow only one value of a label."""
    same = "e.values.all(v, v == e.values[0])"
    return f"t.matchExpressions.filter(e, e.key == {key} && e.operator == 'In' && size(e.values) > 0 && {same})"


def _one_value() -> str:
    required = "variables.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    terms = f"{required}.nodeSelectorTerms"
    there = f"has(variables.spec.affinity) && has(variables.spec.affinity.nodeAffinity) && has({required})"
    each = f"{terms}.all(t, has(t.matchExpressions) && size({_in('c.topologyKey')}) > 0)"
    values = f"{terms}.map(t, {_in('c.topologyKey')}[0].values[0])"
    selected = "has(variables.spec.nodeSelector) && c.topologyKey in variables.spec.nodeSelector"
    alike = f"{values}.all(v, v == {values}[0])"
    return f"({selected} || ({there} && size({terms}) > 0 && {each} && {alike}))"


def _nodes_alike() -> str:
    label, name = f"object.metadata.labels['{HOSTNAME}'].lowerAscii()", "object.metadata.name.lowerAscii()"
    there = f"has(object.metadata.labels) && '{HOSTNAME}' in object.metadata.labels"
    within = f"{label}.startsWith({name} + '.') || {name}.startsWith({label} + '.')"
    return f"{there} && !({label} == {name} || {within})"


_ADDED = _mapped({kind.__name__: sorted(labels) for kind, labels in ADDED_BY_CONTROLLERS.items()})
_ADDED_HERE = f"(object.kind in {_ADDED} ? {_ADDED}[object.kind] : [])"
_PARTS = _mapped(PART_OF)
_PART = f"(t.topologyKey in {_PARTS} && c.topologyKey in {_PARTS}[t.topologyKey])"
_TOGETHER = f"(t.topologyKey == c.topologyKey || {_PART})"
_GATHERED = f"{_required('podAffinity')}.exists(t, {_TOGETHER} && {_selects_itself('t')})"
_APART = f"{_required('podAntiAffinity')}.exists(t, t.topologyKey == '{HOSTNAME}' && {_selects_itself('t')})"

_ON_HOSTS = _any(f"c.topologyKey == '{HOSTNAME}'")
_OF_ONE_POD = f"k in {_listed(sorted(OF_ONE_POD))} && k in {_ADDED_HERE}"

VARIABLES: Final[Mapping[str, str]] = {
    "template": "object.kind == 'Pod' ? dyn(object) : object.kind == 'CronJob' ? "
    "dyn(object).spec.jobTemplate.spec.template : dyn(object).spec.template",
    "spec": "variables.template.spec",
    "labels": "has(variables.template.metadata) && has(variables.template.metadata.labels) ? "
    "variables.template.metadata.labels : {}",
    "constraints": "has(variables.spec.topologySpreadConstraints) ? variables.spec.topologySpreadConstraints : []",
    "replicas": f"object.kind in {_listed(SCALED)} && has(dyn(object).spec.replicas) ? dyn(object).spec.replicas : -1",
}
"""CEL variables of the findings, in order of dependency. ``replicas`` is -1 if the object has no such field."""


def not_spread(least: int, key: str) -> str:
    """Return CEL that is true for a workload without constraint and anti-affinity.

    Args:
        least: minimum number of replicas.
        key: topology key of the constraint or anti-affinity; "" for any.
    """
    affinity = "variables.spec.affinity.podAntiAffinity"
    constrained, apart = "size(variables.constraints) > 0", f"has(variables.spec.affinity) && has({affinity})"
    if key:
        constrained = _any(f"c.topologyKey == '{key}'")
        required, preferred = (
            f"{affinity}.{each}DuringSchedulingIgnoredDuringExecution" for each in ("required", "preferred")
        )
        apart += (
            f" && ((has({required}) && {required}.exists(t, t.topologyKey == '{key}')) || "
            f"(has({preferred}) && {preferred}.exists(t, t.podAffinityTerm.topologyKey == '{key}')))"
        )
    return f"variables.replicas >= {least} && !(({apart}) || {constrained})"


EXPRESSED: Final[Mapping[str, Expressed]] = {
    "selector-missing": Expressed(_any("!has(c.labelSelector)")),
    "selector-empty": Expressed(
        _any(
            f"has(c.labelSelector) && {_EMPTY} && "
            f"!(has(c.matchLabelKeys) && c.matchLabelKeys.exists(k, k in {_listed(OF_ONE_WORKLOAD)}))"
        )
    ),
    "selector-not-own": Expressed(_any(f"has(c.labelSelector) && {_NOT_OWN}")),
    "rollout-counts-old-pods": Expressed(
        "!(has(object.spec.strategy) && object.spec.strategy.type == 'Recreate') && variables.replicas > 1 && "
        + _any(
            f"{_HARD} && !{_given_key(repr(HASH))} && has(c.labelSelector) && "
            f"((has(c.matchLabelKeys) && size(c.matchLabelKeys) > 0) || !{_EMPTY})"
        ),
        ("Deployment",),
    ),
    "beta-topology-key": Expressed(
        _any(f"c.topologyKey in {_listed(RENAMED)}"), note="misspelt well-known keys are not seen"
    ),
    "hard-and-soft": Expressed(_any(f"c.whenUnsatisfiable != 'DoNotSchedule' && {_HARD_ALIKE}")),
    "max-skew-never-binds": Expressed(
        f"variables.replicas > 1 && {_any(f'{_HARD} && c.maxSkew >= variables.replicas')}", SCALED, _SEVERAL_SEEN
    ),
    "min-domains-over-replicas": Expressed(
        f"variables.replicas > 1 && {_any('has(c.minDomains) && c.minDomains > variables.replicas')}",
        SCALED,
        _SEVERAL_SEEN,
    ),
    "private-topology-key": Expressed(_any("c.topologyKey != '' && !c.topologyKey.contains('/')")),
    "match-label-key-missing": Expressed(
        _any(f"has(c.matchLabelKeys) && c.matchLabelKeys.exists(k, !(k in {_LABELS}) && !(k in {_ADDED_HERE}))")
    ),
    "match-label-key-of-one-pod": Expressed(
        _any(f"has(c.matchLabelKeys) && c.matchLabelKeys.exists(k, {_OF_ONE_POD})")
    ),
    "one-domain-selected": Expressed(
        _any(f"(!has(c.nodeAffinityPolicy) || c.nodeAffinityPolicy == 'Honor') && {_one_value()}")
    ),
    "affinity-against-spread": Expressed(
        _any(
            f"{_HARD} && (variables.replicas < 0 || variables.replicas > c.maxSkew) && {_COUNTS_ITSELF} && {_GATHERED}"
        ),
        note=_DEFAULTED,
    ),
    "anti-affinity-for-spread": Expressed(
        f"(variables.replicas < 0 || variables.replicas > 1) && !{_ON_HOSTS} && {_APART}",
        (*SCALED, "Job", "CronJob"),
        _DEFAULTED,
    ),
    "daemon-set-spread": Expressed("size(variables.constraints) > 0", ("DaemonSet",)),
    "node-name-in-template": Expressed(
        "has(variables.spec.nodeName) && variables.spec.nodeName != '' && size(variables.constraints) > 0",
        tuple(kind for kind in KINDS if kind != "Pod"),
    ),
    "extender-annotation-misplaced": Expressed(
        f"has(object.metadata.annotations) && {_listed(ANNOTATIONS)}.exists(a, a in object.metadata.annotations)",
        tuple(kind for kind in KINDS if kind != "Pod"),
    ),
    "no-spread": Expressed(
        not_spread(3, ""),
        SCALED,
        "an autoscaler's minReplicas and kube-scheduler's default constraints are not seen",
    ),
    "hostname-unlike-name": Expressed(_nodes_alike(), ("Node",)),
}
"""Rule → its CEL expression, in the order of the rules."""

_WORD = "[A-Za-z0-9_-]+"


def not_ignored(rule: str) -> str:
    """Return CEL that is true unless the object's annotation ignores the rule (`lint.ignores`)."""
    pattern = f"(^|[;\\n])[ \\t]*({_WORD}[ \\t]*,[ \\t]*)*{rule}([ \\t]*,[ \\t]*{_WORD})*([ \\t]*:|\\s|;|$)"
    annotations = "object.metadata.annotations"
    there = f"has({annotations}) && '{ANNOTATION}' in {annotations}"
    return f"!({there} && {annotations}['{ANNOTATION}'].matches(r'{pattern}'))"


_USER = "request.userInfo.username"
_CREATIONS = _listed(f"{owner}/{kind} {user}" for (kind, owner), user in CREATORS.items())
NOT_BY_CONTROLLER: Final = (
    f"!has(object.metadata.ownerReferences) || !has({_USER}) || !object.metadata.ownerReferences.exists(o, "
    f"has(o.controller) && o.controller && ({_USER} == '{CONTROLLER_MANAGER}' || "
    f"o.kind + '/' + object.kind + ' ' + {_USER} in {_CREATIONS}))"
)
"""CEL that is false for objects that a built-in controller creates: their template was checked before.

The owner reference alone is no proof because anyone can write one. Kyverno's background scans have no user.
"""

NOT_BEING_DELETED: Final = "oldObject == null || !has(oldObject.metadata.deletionTimestamp)"
"""CEL that is false while an object is being deleted: a denied removal of finalizers would block the deletion."""
