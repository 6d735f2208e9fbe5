"""Rules about the targets of HorizontalPodAutoscalers."""

from __future__ import annotations

from collections.abc import Iterator

from topospread.api.kinds import KINDS
from topospread.api.workload import CrossVersionObjectReference, HorizontalPodAutoscaler
from topospread.controllers.autoscaling import group_of
from topospread.lint.examples import constraint, deployment
from topospread.lint.lint_input import LintInput, LintSubject, Manifest
from topospread.lint.problem import Problem
from topospread.lint.rule import Example, Rule

_LINK = "https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/"
_NOT_SCALED = frozenset({"DaemonSet", "Job", "CronJob", "Pod"})
"""Kinds without a scale subresource."""
_SCALED = frozenset({"Deployment", "StatefulSet", "ReplicaSet", "ReplicationController"})

_Target = tuple[str, str, str, str]
"""API group, kind, namespace and name."""


def _autoscalers(given: LintInput) -> Iterator[tuple[Manifest, HorizontalPodAutoscaler]]:
    for each in given.of_kind("HorizontalPodAutoscaler"):
        if isinstance(each.item, HorizontalPodAutoscaler) and not each.refused:
            yield each, each.item


def _target(item: HorizontalPodAutoscaler) -> _Target:
    reference = item.spec.scale_target_ref
    return group_of(reference), reference.kind, item.namespace, reference.name


def _known(given: LintInput) -> set[_Target]:
    """Return all known objects in the input, also of kinds that rules do not check."""
    found = {(_group(each.api_version), each.kind, each.namespace, each.name) for each in given.inventory.objects()}
    for subject in given.others:
        kind, _, name = subject.label.partition(" ")
        namespace, _, name = name.rpartition("/")
        found.add((_group(str(subject.value.get("apiVersion", ""))), kind, namespace, name))
    return found


def _group(api_version: str) -> str:
    group, slash, _ = api_version.rpartition("/")
    return group if slash else ""


def _without_target(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    autoscalers = list(_autoscalers(given))
    known = _known(given) if autoscalers else set()
    for manifest, item in autoscalers:
        target = _target(item)
        if target[1] in _NOT_SCALED:
            yield manifest, Problem("spec.scaleTargetRef.kind", f"a {target[1]} cannot be scaled")
        elif target not in known and _would_be_given(target[1], known):
            yield manifest, _missing(item.spec.scale_target_ref, item.namespace, known)


def _would_be_given(kind: str, known: set[_Target]) -> bool:
    """Return whether the target is expected in the input.

    A single linted file rarely contains its target, and objects of other kinds may be elsewhere.
    """
    kinds = {each[1] for each in known}
    return kind in kinds or (kind in KINDS and not kinds.isdisjoint(_SCALED))


def _missing(reference: CrossVersionObjectReference, namespace: str, known: set[_Target]) -> Problem:
    kind, name = reference.kind, reference.name
    alike = sorted(each for each in known if each[1] == kind and each[3] == name)
    here = [each for each in alike if each[2] == namespace]
    if here:
        wanted = (
            f"{reference.api_version or 'no apiVersion'}, where {kind} {name} is of the group {here[0][0] or 'core'}"
        )
        return Problem("spec.scaleTargetRef.apiVersion", f"scales nothing: it names {wanted}")
    words = f"scales nothing: {kind} {name} not found in namespace {namespace}"
    if alike:
        words += f", only in {alike[0][2]}"
    return Problem("spec.scaleTargetRef.name", words)


def _several(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    first: dict[_Target, str] = {}
    there = given.cluster.horizontal_pod_autoscalers if given.cluster is not None else ()
    judged = {(item.namespace, item.name) for _, item in _autoscalers(given)}
    for other in there:
        if (other.namespace, other.name) not in judged:
            first.setdefault(_target(other), other.name)
    for manifest, item in _autoscalers(given):
        other_name = first.setdefault(_target(item), item.name)
        if other_name != item.name:
            reference = item.spec.scale_target_ref
            message = f"the HorizontalPodAutoscaler {other_name} already scales {reference.kind} {reference.name}"
            yield manifest, Problem("spec.scaleTargetRef.name", f"{message}: now neither scales by its metrics")


def _autoscaler(target: str = "web", name: str = "web") -> str:
    head = f"---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata:\n  name: {name}\nspec:\n"
    reference = f"  scaleTargetRef:\n    apiVersion: apps/v1\n    kind: Deployment\n    name: {target}\n"
    return f"{head}{reference}  minReplicas: 3\n  maxReplicas: 9\n"


_WEB = deployment(constraint("labelSelector:\n  matchLabels: {app: web}\nmatchLabelKeys: [pod-template-hash]"))

RULES = (
    Rule(
        id="autoscaler-without-target",
        sentence="A HorizontalPodAutoscaler's target does not exist.",
        why=(
            "It matches API group, kind and name in its namespace. Without a target it scales no replicas, and "
            "only its status says so."
        ),
        link=f"{_LINK}#how-does-a-horizontalpodautoscaler-work",
        severity="warning",
        check=_without_target,
        wrong=Example(_WEB + _autoscaler("wep")),
        right=Example(_WEB + _autoscaler()),
        needs="manifests",
    ),
    Rule(
        id="several-autoscalers",
        sentence="Several HorizontalPodAutoscalers have the same target.",
        why="None of them scales by its metrics, and each enforces its own bounds.",
        link=f"{_LINK}#how-does-a-horizontalpodautoscaler-work",
        severity="warning",
        check=_several,
        wrong=Example(_WEB + _autoscaler() + _autoscaler(name="web-again")),
        right=Example(_WEB + _autoscaler()),
        needs="manifests",
    ),
)
