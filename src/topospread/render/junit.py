"""JUnit XML for CI test reports: a suite for each file, a test for each object or check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from xml.etree import ElementTree

from topospread.answers.finding import Finding
from topospread.errors import InputError

Case = tuple[str, Sequence[Finding]]
"""Name of an object or check, and its findings."""


def junit(name: str, suites: Mapping[str, Iterable[Case]], unread: Iterable[InputError] = ()) -> str:
    """Return the JUnit report.

    A test without warnings and errors passes; its hints become output. Each warning or error is a failed test.

    Args:
        suites: file → its tests.
        unread: errors of unreadable files. Each becomes a test with an error.
    """
    root = ElementTree.Element("testsuites", name=name)
    broken = list(unread)
    taken: set[tuple[str, str]] = set()
    for file, cases in {**dict.fromkeys((each.place.source for each in broken), ()), **suites}.items():
        suite = ElementTree.SubElement(root, "testsuite", name=file)
        for label, findings in cases:
            _add(suite, label, findings, taken)
        for each in broken:
            if each.place.source == file:
                case = _case(suite, "read", taken)
                error = ElementTree.SubElement(case, "error", message=xml_safe(each.message), type="InputError")
                error.text = xml_safe(str(each))
    return junit_text(root)


def _add(suite: ElementTree.Element, label: str, findings: Sequence[Finding], taken: set[tuple[str, str]]) -> None:
    bad = [each for each in findings if each.level != "hint"]
    for finding in bad:
        name = label if label.endswith(f" {finding.rule}") else f"{label}: {finding.rule}"
        case = _case(suite, name, taken, f"line {finding.line or 1}")
        failure = ElementTree.SubElement(case, "failure", message=xml_safe(finding.says), type=finding.level)
        failure.text = xml_safe(str(finding))
    if not bad:
        case = _case(suite, label, taken)
        if findings:
            ElementTree.SubElement(case, "system-out").text = "\n".join(xml_safe(str(each)) for each in findings)


def _case(suite: ElementTree.Element, name: str, taken: set[tuple[str, str]], *details: str) -> ElementTree.Element:
    """Return a new test whose name no other test of the file has: with a detail or a number if necessary."""
    file = suite.get("name", "")
    names = chain([name], (f"{name} ({each})" for each in chain(details, count(2))))
    name = next(each for each in names if (file, each) not in taken)
    taken.add((file, name))
    return ElementTree.SubElement(suite, "testcase", name=name, classname=file)


def junit_text(root: ElementTree.Element) -> str:
    """Return a ``testsuites`` element as text, with the counts of tests, failures and errors."""
    total: Counter[str] = Counter()
    for suite in root:
        counts = Counter(tests=len(suite))
        counts |= Counter({f"{each}s": len(suite.findall(f"testcase/{each}")) for each in ("failure", "error")})
        _count(suite, counts)
        total += counts
    _count(root, total)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "\n")
    )


def _count(element: ElementTree.Element, counts: Counter[str]) -> None:
    for name in ("tests", "failures", "errors"):
        element.set(name, str(counts[name]))


def xml_safe(text: str) -> str:
    """Return text without control characters, which XML cannot contain. Surrogates may remain."""
    return text.encode("utf-8", "replace").decode()
