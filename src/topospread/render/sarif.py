"""Findings in the Static Analysis Results Interchange Format (SARIF), for GitHub code scanning.

Source: OASIS, SARIF Version 2.1.0; GitHub's documentation, "SARIF support for code scanning".
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, get_args
from urllib.parse import quote

from topospread.answers.finding import Finding as PromiseFinding
from topospread.api.promises import About
from topospread.errors import Place
from topospread.lint.rule import Finding, Rule
from topospread.lint.rules import RULES
from topospread.lint.run import LintReport
from topospread.sources.files import STANDARD_INPUT
from topospread.sources.text import path_shown_as
from topospread.version import __version__

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS: Final = {"error": "error", "warning": "warning", "hint": "note"}


def lint_sarif(outcome: LintReport) -> dict[str, Any]:
    """Return the output of ``topospread lint -o sarif``: one run with all rules and findings."""
    return _log([_rule(rule) for rule in RULES], outcome.findings, _invocation(outcome))


def promise_sarif(findings: Iterable[PromiseFinding]) -> dict[str, Any]:
    """Return the output of ``topospread promise check -o sarif``. The SARIF rules are the kinds of promises."""
    found = [
        Finding(
            re.split("[<>]", each.rule)[0],
            each.level,
            each.says,
            Place(each.file, object=each.object, line=each.line, column=each.column),
        )
        for each in findings
    ]
    return _log([_promise_rule(each) for each in get_args(About)], found, {"executionSuccessful": True})


def _log(rules: list[dict[str, Any]], findings: Iterable[Finding], invocation: dict[str, Any]) -> dict[str, Any]:
    driver = {"name": "topospread", "version": __version__, "semanticVersion": __version__, "rules": rules}
    seen: dict[str, int] = {}
    index = {rule["id"]: at for at, rule in enumerate(rules)}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "invocations": [invocation],
                "results": [_result(finding, index[finding.rule], seen) for finding in findings],
            }
        ],
    }


def _invocation(outcome: LintReport) -> dict[str, Any]:
    """Return the invocation: whether all files were read, and the unreadable files."""
    broken = [{"level": "error", "message": {"text": _no_link(str(error))}} for error in outcome.read.broken]
    if not broken:
        return {"executionSuccessful": True}
    return {"executionSuccessful": False, "toolExecutionNotifications": broken}


def _rule(rule: Rule) -> dict[str, Any]:
    text = f"{rule.why}" + (f" {rule.fix}" if rule.fix else "")
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.sentence},
        "fullDescription": {"text": f"{rule.sentence} {rule.why}"},
        "help": {"text": text, "markdown": f"{text} [Kubernetes documentation]({rule.link})"},
        "helpUri": rule.link,
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {"tags": ["kubernetes"]},
    }


def _promise_rule(about: str) -> dict[str, Any]:
    text = f"A workload keeps its declared promise: {about}."
    return {
        "id": about,
        "shortDescription": {"text": text},
        "fullDescription": {"text": text},
        "help": {"text": f"{text} `topospread promise check` shows the proof or the order that breaks it."},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["kubernetes"]},
    }


def _result(finding: Finding, index: int, seen: dict[str, int]) -> dict[str, Any]:
    place = finding.place
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": uri(place.source)},
            "region": {"startLine": place.line or 1, "startColumn": place.column or 1},
        }
    }
    names = [name for name in (place.object, place.field) if name]
    if names:
        location["logicalLocations"] = [{"fullyQualifiedName": ": ".join(names), "kind": "object"}]
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": LEVELS[finding.severity],
        "message": {"text": _no_link(finding.message)},
        "locations": [location],
        "partialFingerprints": {"topospread/v1": _fingerprint(finding, seen)},
    }


def _no_link(text: str) -> str:
    """Return a message without ``[text](address)``, which code scanning turns into a link even in plain text."""
    return text.replace("](", "] (")


def _fingerprint(finding: Finding, seen: dict[str, int]) -> str:
    """Return an identity that is stable when lines move: rule, object, field, and a number among equal findings."""
    place = finding.place
    parts = "\0".join((finding.rule, place.source, place.object, place.field or finding.message))
    number = seen[parts] = seen.get(parts, 0) + 1
    return hashlib.sha256(f"{parts}\0{number}".encode()).hexdigest()[:32]


def uri(source: str) -> str:
    """Return the percent-encoded path of a shown path: relative if it is in the working directory."""
    if source == STANDARD_INPUT:
        return "stdin"
    path = Path(os.path.abspath(path_shown_as(source)))
    here = Path.cwd()
    return quote(os.fsencode(path.relative_to(here))) if path.is_relative_to(here) else path.as_uri()
