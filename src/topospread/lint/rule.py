"""The types of rules and findings. `rules` lists the rules.

A rule is data and one function, which returns the problems in a `LintInput`::

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

A problem names a field by its path in the API server's syntax. Line and column are looked up for the report. A missing
field is reported at its nearest existing ancestor.
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
"""All severities, worst first."""

Needs = Literal["manifest", "manifests", "nodes", "simulation"]
"""Input that a rule needs: one object, all manifests, nodes, or nodes for a simulation."""


Check = Callable[[LintInput], Iterator[tuple[LintSubject, Problem]]]
"""Function from the lint input to (object, problem) pairs."""


class Example(NamedTuple):
    """A rule's example, used on its page and in its test.

    Attributes:
        manifests: YAML documents.
        cluster: a synthetic cluster for ``--on``.
        kube_version: the Kubernetes version; "" for any.
    """

    manifests: str
    cluster: str = ""
    kube_version: str = ""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A lint rule.

    Attributes:
        id: name in reports, in lower case with dashes; it names the problem.
        sentence: title that states the problem.
        why: effect of the problem on the user.
        link: page of the Kubernetes documentation.
        severity: ``error`` if the manifest cannot work, ``warning`` if it is probably a mistake, ``hint`` if it may be
            intended.
        check: function that finds the problems.
        wrong: example with a finding.
        right: corrected example, in which no rule finds more than a hint.
        needs: required input. With ``nodes`` or ``simulation`` the rule runs only if there are nodes.
        fix: the action of ``--fix`` as a sentence; "" without a fix.
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
    """Turn a check of one pod or pod template into a check of all pods of the input."""

    def check_all(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
        for manifest, pods in given.sources:
            for problem in check(pods):
                yield manifest, problem

    return check_all


@dataclass(frozen=True, slots=True)
class Finding:
    """A reported problem with its place and rule.

    Attributes:
        rule: the rule's id.
        severity: the rule's severity, or that of the settings.
        message: the problem.
        place: file, document, object, field, line and column.
        fix: the edits that ``--fix`` makes.
        suggestion: the edits that only ``--unsafe-fixes`` makes.
        rendered: for rendered objects, the place in the output of Helm or kustomize; its ``source`` is the chart or
            kustomization. ``place`` is then the place in the template or patch, if known.
        reason: the reason in the comment or annotation that suppresses it; "" without one.
    """

    rule: str
    severity: Severity
    message: str
    place: Place
    fix: tuple[FieldEdit, ...] = ()
    rendered: Place | None = None
    suggestion: tuple[FieldEdit, ...] = ()
    reason: str = ""

    @property
    def text(self) -> str:
        """The name of the text with the finding."""
        return (self.rendered or self.place).source

    def __str__(self) -> str:
        return f"{self.place}: {self.severity}: {self.message} [{self.rule}]"
