"""Findings as JUnit XML, as pipelines show test results; finds nothing itself.

A file is a suite. An object without warnings and errors is a test that passes, with its hints as output; each warning
and error is a test that fails.
"""

from __future__ import annotations

from xml.etree import ElementTree

from topospread.linting.lint_input import LintSubject
from topospread.linting.rule import Finding
from topospread.linting.run import Judged, LintReport

from .junit import junit_text, xml_safe
from .lint_text import line_of


def lint_junit(outcome: LintReport) -> str:
    """What ``topospread lint -o junit`` writes."""
    root = ElementTree.Element("testsuites", name="topospread lint")
    by_subject: dict[LintSubject | None, list[Judged]] = {}
    for each in outcome.judged:
        by_subject.setdefault(each.subject, []).append(each)
    for _, text in outcome.read.texts:
        suite = ElementTree.SubElement(root, "testsuite", name=text.name)
        for subject in (each for each in outcome.read.subjects if each.location.text.name == text.name):
            _add_subject(suite, subject.label or "document", [each.finding for each in by_subject.get(subject, [])])
        own = [each.finding for each in by_subject.get(None, []) if each.finding.text == text.name]
        if own:
            _add_subject(suite, "comments", own)
    return junit_text(root)


def _add_subject(suite: ElementTree.Element, label: str, findings: list[Finding]) -> None:
    file = suite.get("name", "")
    bad = [each for each in findings if each.severity != "hint"]
    for finding in bad:
        case = ElementTree.SubElement(suite, "testcase", name=f"{label}: {finding.rule}", classname=file)
        failure = ElementTree.SubElement(case, "failure", message=xml_safe(finding.message), type=finding.severity)
        failure.text = xml_safe(line_of(finding))
    if not bad:
        case = ElementTree.SubElement(suite, "testcase", name=label, classname=file)
        if findings:
            ElementTree.SubElement(case, "system-out").text = "\n".join(xml_safe(line_of(each)) for each in findings)
