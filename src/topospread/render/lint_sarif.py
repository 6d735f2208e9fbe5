"""Findings in the Static Analysis Results Interchange Format, as GitHub code scanning takes them; finds nothing itself.

Source: OASIS, SARIF Version 2.1.0; GitHub's documentation, "SARIF support for code scanning".
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from topospread.linting.rule import Finding, Rule
from topospread.linting.rules import RULES
from topospread.linting.run import LintReport
from topospread.sources.files import STANDARD_INPUT
from topospread.version import __version__

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS: Final = {"error": "error", "warning": "warning", "hint": "note"}
_INDEX: Final = {rule.id: at for at, rule in enumerate(RULES)}


def lint_sarif(outcome: LintReport) -> dict[str, Any]:
    """Return the output of ``topospread lint -o sarif``: one run, every rule, every finding."""
    driver = {
        "name": "topospread",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in RULES],
    }
    seen: dict[str, int] = {}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "invocations": [_invocation(outcome)],
                "results": [_result(finding, seen) for finding in outcome.findings],
            }
        ],
    }


def _invocation(outcome: LintReport) -> dict[str, Any]:
    """Return the invocation: whether everything could be read, and what could not."""
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


def _result(finding: Finding, seen: dict[str, int]) -> dict[str, Any]:
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
        "ruleIndex": _INDEX[finding.rule],
        "level": LEVELS[finding.severity],
        "message": {"text": _no_link(finding.message)},
        "locations": [location],
        "partialFingerprints": {"topospread/v1": _fingerprint(finding, seen)},
    }


def _no_link(text: str) -> str:
    """Return a message without ``[text](address)``, which code scanning shows as a link also in plain text."""
    return text.replace("](", "] (")


def _fingerprint(finding: Finding, seen: dict[str, int]) -> str:
    """Return an identity that survives moved lines: the rule, the object, the field, and a number among equal ones."""
    place = finding.place
    parts = "\0".join((finding.rule, place.source, place.object, place.field or finding.message))
    number = seen[parts] = seen.get(parts, 0) + 1
    return hashlib.sha256(f"{parts}\0{number}".encode()).hexdigest()[:32]


def uri(source: str) -> str:
    """A path as code scanning wants it: relative to the working directory where it lies in it."""
    if source == STANDARD_INPUT:
        return "stdin"
    path = Path(os.path.abspath(source))
    here = Path.cwd()
    return quote(path.relative_to(here).as_posix()) if path.is_relative_to(here) else path.as_uri()
