"""JUnit XML, as pipelines show test results: what all such reports share; which tests there are, they know."""

from __future__ import annotations

from xml.etree import ElementTree


def junit_text(root: ElementTree.Element) -> str:
    """A ``testsuites`` element with the numbers of its suites and its own, as a text."""
    tests = failures = 0
    for suite in root:
        failed = len(suite.findall("testcase/failure"))
        _count(suite, len(suite), failed)
        tests, failures = tests + len(suite), failures + failed
    _count(root, tests, failures)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "\n")
    )


def _count(element: ElementTree.Element, tests: int, failures: int) -> None:
    for name, number in (("tests", tests), ("failures", failures), ("errors", 0)):
        element.set(name, str(number))


def xml_safe(text: str) -> str:
    """Without what XML cannot hold; texts have no control characters, but half surrogates may be left."""
    return text.encode("utf-8", "replace").decode()
