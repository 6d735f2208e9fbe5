"""`lint`: every rule over what stands in some paths, and each problem at its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import BinaryIO

from topospread.config.gates import gates_for
from topospread.config.versions import NEWEST

from .given import Given
from .object_rules import VALIDATION
from .reading import Read, message_of, read
from .rule import Finding, Rule
from .rules import RULES


def lint(
    paths: Sequence[str],
    *,
    cluster: str | None = None,
    kube_version: str = str(NEWEST),
    stdin: BinaryIO | None = None,
    namespace: str = "default",
) -> list[Finding]:
    """What is wrong, or probably not meant, in the manifests of files and folders.

    Args:
        paths: YAML or JSON files, folders, ``-`` for standard input.
        cluster: what the manifests are held against: a made-up cluster, or files that hold one.
        kube_version: the Kubernetes version they are for.
        stdin: what ``-`` stands for.
        namespace: where objects are taken to go that name no namespace.

    Returns:
        The findings, in the order of the input.

    Raises:
        InputError: a path cannot be read, or what stands there is no object of Kubernetes.
    """
    found = read(paths, stdin, namespace)
    return list(judge(_given(found, cluster, kube_version)))


def _given(found: Read, cluster: str | None, kube_version: str) -> Given:
    from topospread.sources.load import load

    inventory = None if cluster is None else load((), cluster=cluster, namespace=found.namespace)
    return Given(gates_for(kube_version), found.manifests, cluster=inventory, refused=found.refused)


def judge(given: Given, rules: Sequence[Rule] = RULES) -> Iterator[Finding]:
    """What the rules find, in the order of the input."""
    problems = [
        (subject.order, at, subject, problem)
        for at, rule in enumerate(rules)
        if rule.needs not in ("nodes", "simulation") or given.nodes
        for subject, problem in rule.check(given)
    ]
    for _, at, subject, problem in sorted(problems, key=lambda each: each[:2]):
        rule = rules[at]
        place = subject.spot.place(subject.label, problem.field)
        if rule is VALIDATION:
            # The words begin with the field, so that the place need not name it.
            place = replace(place, field="")
        yield Finding(rule.id, rule.severity, message_of(problem), place, problem.fix)
