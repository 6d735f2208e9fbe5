"""The types of rules and findings. `rules` lists the rules.

A rule is data and one function from everything that is given to the problems it sees::

    Rule(
        id="selector-empty",
        sentence="A constraint's labelSelector is empty.",
        why="It counts every pod of the namespace, also pods of other workloads.",
        link="https://kubernetes.io/docs/…",
        severity="warning",
        check=of_pods(_empty),
        wrong=Example(deployment('''…''')),
        right=Example(deployment('''…''')),
        fix="",
    )

A problem names the field by its path in the subject, as the API server writes paths; line and column are looked up
when it is reported. A field that is not there is reported at the nearest thing it would stand in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import msgspec

from topospread.errors import Place

from .lint_input import LintInput, LintSubject
from .pod_source import PodSource
from .problem import FieldEdit, Problem

Severity = Literal["error", "warning", "hint"]
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "hint")
"""Every severity, the worst first."""

Needs = Literal["manifest", "manifests", "nodes", "simulation"]
"""What a rule cannot do without: the one object, what else is given with it, nodes, or nodes to simulate on."""


Check = Callable[[LintInput], Iterator[tuple[LintSubject, Problem]]]
"""From everything that is given to the problems, each with what it is a problem of."""


class Example(NamedTuple):
    """The example of a rule on its page and in its test.

    Attributes:
        manifests: YAML documents.
        cluster: a made-up cluster, as ``--on`` takes it.
        kube_version: the version it is about; "" for any.
    """

    manifests: str
    cluster: str = ""
    kube_version: str = ""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule.

    Attributes:
        id: its name in reports, in lower case with dashes: what is wrong, not what would be right.
        sentence: title that states the problem.
        why: effect of the problem on the user.
        link: the page of the Kubernetes documentation.
        severity: how bad a finding is: ``error`` when what is meant cannot happen, ``warning`` when it is very
            probably not what is meant, ``hint`` when it may well be meant.
        check: finds the problems.
        wrong: what the rule finds something in.
        right: the same as it should be: this rule finds nothing in it, and no rule anything worse than a hint.
        needs: what it cannot do without; with ``nodes`` or ``simulation`` it is asked only when there are nodes.
        fix: what ``--fix`` does, as a sentence; "" when nothing.
    """

    id: str
    sentence: str
    why: str
    link: str
    severity: Severity
    check: Check
    wrong: Example
    right: Example
    needs: Needs = "manifest"
    fix: str = ""


def of_pods(check: Callable[[PodSource], Iterator[Problem]]) -> Check:
    """The check of one pod or pod template, made one of everything that is given."""

    def check_all(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
        for manifest, pods in given.sources:
            for problem in check(pods):
                yield manifest, problem

    return check_all


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem at its place, with the rule that found it.

    Attributes:
        rule: the rule's id.
        severity: the rule's, or what the settings make of it.
        message: what is wrong.
        place: file, document, object, field, line and column.
        fix: what ``--fix`` would do.
        rendered: of what was rendered, the place in what Helm or kustomize made, whose ``source`` is the chart or the
            kustomization; ``place`` is in a file then, as far as it can be told.
    """

    rule: str
    severity: Severity
    message: str
    place: Place
    fix: tuple[FieldEdit, ...] = ()
    rendered: Place | None = None

    @property
    def text(self) -> str:
        """The name of the text in which it was found."""
        return (self.rendered or self.place).source

    def __str__(self) -> str:
        return f"{self.place}: {self.severity}: {self.message} [{self.rule}]"
