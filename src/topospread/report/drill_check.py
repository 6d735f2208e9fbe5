"""Drills held to what they expect, as a text for people, plain data, JUnit XML and GitHub's workflow commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from topospread.base import API_VERSION
from topospread.render.github import workflow_command
from topospread.render.junit import junit_text, xml_safe

from .drill_each import part_json
from .layout import Layout
from .paragraphs import counted, hanging

if TYPE_CHECKING:
    from topospread.drills.checking import CheckedDrill, DrillCheck


def check_text(check: DrillCheck, layout: Layout) -> str:
    """A line for each drill, below it what falls short."""
    lines = [line for each in check.drills for line in _lines(each, layout)]
    failed = sum(bool(each.shortfalls) for each in check.drills)
    total = f"{counted(len(check.drills), 'drill')}, {failed} short of what is expected"
    if check.part is not None:
        total += f"; part {check.part.shard} of {counted(check.part.targets, 'drill')}"
    total += f"; partial: {check.partial}" if check.partial else ""
    return "\n".join([*lines, "", layout.style(total, "bold")]) + "\n"


def _lines(each: CheckedDrill, layout: Layout) -> Iterator[str]:
    verdict = layout.style("short", "bold", "red") if each.shortfalls else "holds"
    yield from hanging(f"{verdict}  {layout.style(each.name, 'bold')}  ", each.file, layout.width, 7)
    for shortfall in each.shortfalls:
        place = each.place(shortfall)
        where = f"{place.source}:{place.line}" if place.line else place.source
        yield from hanging(f"       {shortfall.path}: ", f"{shortfall.message} ({where})", layout.width, 9)


def check_json(check: DrillCheck) -> dict[str, Any]:
    """The whole check, its keys always in the same order."""
    return {
        "apiVersion": API_VERSION,
        "kind": "DrillCheck",
        "passed": check.passed,
        "drills": [_drill(each) for each in check.drills],
        "partial": check.partial,
        "part": None if check.part is None else part_json(check.part),
    }


def _drill(each: CheckedDrill) -> dict[str, Any]:
    return {
        "name": each.name,
        "file": each.file,
        "document": each.document,
        "shortfalls": [
            {
                "path": shortfall.path,
                "line": shortfall.line,
                "message": shortfall.message,
                "column": shortfall.column,
            }
            for shortfall in each.shortfalls
        ],
        "result": each.result,
    }


def check_junit(check: DrillCheck) -> str:
    """A suite for each file, a test for each drill."""
    root = ElementTree.Element("testsuites", name="topospread drill")
    suites: dict[str, ElementTree.Element] = {}
    for each in check.drills:
        name = each.file
        if name not in suites:
            suites[name] = ElementTree.SubElement(root, "testsuite", name=name)
        case = ElementTree.SubElement(suites[name], "testcase", name=xml_safe(each.name), classname=name)
        if each.shortfalls:
            said = [xml_safe(f"{shortfall.path}: {shortfall.message}") for shortfall in each.shortfalls]
            ElementTree.SubElement(case, "failure", message=said[0], type="error").text = "\n".join(said)
    return junit_text(root)


def check_github(check: DrillCheck) -> str:
    """A line for each shortfall."""
    return "".join(
        workflow_command("error", each.place(shortfall), f"Drill {each.name}", shortfall.message)
        for each in check.drills
        for shortfall in each.shortfalls
    )
