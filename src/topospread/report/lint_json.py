"""Findings as JSON (``docs/reference/lint.md``) and as GitHub's workflow commands; finds nothing itself."""

from __future__ import annotations

from collections import Counter
from typing import Any

from topospread.base import API_VERSION
from topospread.errors import Place
from topospread.linting.rule import Finding, Rule
from topospread.linting.rules import BY_ID
from topospread.linting.run import LintReport

from .github import workflow_command

GITHUB_LEVELS = {"error": "error", "warning": "warning", "hint": "notice"}


def lint_json(outcome: LintReport) -> dict[str, Any]:
    """What ``topospread lint -o json`` writes."""
    findings = outcome.findings
    counts = Counter(finding.severity for finding in findings)
    return {
        "apiVersion": API_VERSION,
        "kind": "LintReport",
        "kubeVersion": str(outcome.given.version),
        "findings": [finding_json(each) for each in findings],
        "summary": {
            "files": len(outcome.read.texts),
            "objects": len(outcome.read.subjects),
            "errors": counts["error"],
            "warnings": counts["warning"],
            "hints": counts["hint"],
            "ignored": outcome.ignored,
            "fixable": sum(bool(each.fix) for each in findings),
        },
        "leftOut": [{"file": name, "why": why} for name, why in sorted(outcome.read.left_out.items())],
        "rules": sorted(outcome.asked),
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    """One finding."""
    place = finding.place
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        "file": place.source,
        "line": place.line,
        "column": place.column,
        "document": place.document,
        "object": place.object,
        "field": place.field,
        "rendered": _rendered(finding.rendered),
        "fix": [{"op": edit.op, "path": edit.path, "value": edit.value} for edit in finding.fix],
        "link": BY_ID[finding.rule].link,
    }


def _rendered(place: Place | None) -> dict[str, Any] | None:
    """Where something stands in what Helm or kustomize made."""
    if place is None:
        return None
    return {"of": place.source, "document": place.document, "line": place.line, "column": place.column}


def rule_json(rule: Rule) -> dict[str, Any]:
    """A rule as ``topospread explain rules -o json`` lists it."""
    return {
        "id": rule.id,
        "severity": rule.severity,
        "sentence": rule.sentence,
        "why": rule.why,
        "link": rule.link,
        "needs": rule.needs,
        "fix": rule.fix,
        "wrong": rule.wrong.manifests,
        "right": rule.right.manifests,
        "cluster": rule.wrong.cluster,
        "kubeVersion": rule.wrong.kube_version,
    }


def rules_json(rules: tuple[Rule, ...]) -> dict[str, Any]:
    """What ``topospread explain rules -o json`` writes."""
    return {"apiVersion": API_VERSION, "kind": "RuleList", "items": [rule_json(rule) for rule in rules]}


def github_commands(outcome: LintReport) -> str:
    """Findings as GitHub shows them beside the lines of a change."""
    return "".join(
        workflow_command(
            GITHUB_LEVELS[finding.severity],
            finding.place,
            f"{finding.rule} ({finding.place.object})" if finding.place.object else finding.rule,
            finding.message,
        )
        for finding in outcome.findings
    )
