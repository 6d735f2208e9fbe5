"""`lint`: every rule over what stands in some paths, and each problem at its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from topospread.config.gates import gates_for
from topospread.config.versions import NEWEST, KubeVersion
from topospread.errors import InputError, Place
from topospread.sources.load import load
from topospread.sources.text import printable

from .given import Given
from .object_rules import VALIDATION
from .reading import Read, read
from .rule import Finding, Rule
from .rules import RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is to be linted, and against what.

    Attributes:
        paths: YAML or JSON files, folders, ``-`` for standard input.
        cluster: what the manifests are held against: a made-up cluster, or files that hold one.
        config: a file with kube-scheduler's configuration, which is linted as well.
        kube_version: the Kubernetes version that the manifests are for.
        namespace: where objects are taken to go that name no namespace.
    """

    paths: Sequence[str]
    cluster: str | None = None
    config: str | None = None
    kube_version: str | KubeVersion = NEWEST
    namespace: str = "default"


def lint(  # noqa: PLR0913 - keyword arguments of the public API
    paths: Sequence[str],
    *,
    cluster: str | None = None,
    config: str | None = None,
    kube_version: str = str(NEWEST),
    stdin: BinaryIO | None = None,
    namespace: str = "default",
) -> list[Finding]:
    """What is wrong, or probably not meant, in the manifests of files and folders.

    Args:
        paths: YAML or JSON files, folders, ``-`` for standard input.
        cluster: what the manifests are held against: a made-up cluster, or files that hold one.
        config: a file with kube-scheduler's configuration, which is linted as well.
        kube_version: the Kubernetes version that the manifests are for.
        stdin: what ``-`` stands for.
        namespace: where objects are taken to go that name no namespace.

    Returns:
        The findings, in the order of the input.

    Raises:
        InputError: a path cannot be read, is neither YAML nor JSON, or no object of Kubernetes stands there.
    """
    question = Question(paths=paths, cluster=cluster, config=config, kube_version=kube_version, namespace=namespace)
    found, given = take_in(question, stdin)
    for error in found.broken:
        raise error
    if not found.subjects:
        raise InputError("no object of Kubernetes stands here", Place(", ".join(paths)))
    return judge(found, given)


def take_in(question: Question, stdin: BinaryIO | None = None) -> tuple[Read, Given]:
    """What was read, and what of it the rules may look at.

    Raises:
        InputError: a path cannot be read, or the cluster cannot be used.
    """
    gates = gates_for(question.kube_version)
    found = read(question.paths, gates, stdin, question.namespace)
    inventory = load((), cluster=question.cluster, namespace=question.namespace) if question.cluster else None
    given = Given(
        gates,
        found.manifests,
        found.configurations,
        cluster=inventory,
        configuration=found.add_configuration(question.config) if question.config else None,
        refused=found.refused,
    )
    return found, given


def judge(found: Read, given: Given, rules: Sequence[Rule] = RULES) -> list[Finding]:
    """What the rules find, in the order of the input."""
    findings = []
    for at, rule in enumerate(rules):
        if rule.needs in ("nodes", "simulation") and not given.nodes:
            continue
        for subject, problem in rule.check(given):
            place = found.layouts.place(subject.spot, subject.label, problem.field)
            if rule is VALIDATION:
                # The words begin with the field, so that the place need not name it.
                place = replace(place, field="")
            finding = Finding(rule.id, rule.severity, printable(problem.message), place, problem.fix)
            findings.append(((subject.order, place.line or 0, place.column or 0, at), finding))
    return [finding for _, finding in sorted(findings, key=lambda each: each[0])]
