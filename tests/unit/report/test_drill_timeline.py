"""The picture of a drill: every step and domain is there, what waits is red, and nothing is fetched."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from tests.unit.drills.builders import at, nodes, spread, told, workload
from topospread.drills.steps import Cordon, Fail, Recover
from topospread.report.drill_timeline import drill_svg

SVG = "{http://www.w3.org/2000/svg}"


def picture(*steps: Fail | Recover | Cordon) -> ElementTree.Element:
    spec = {"topologySpreadConstraints": [spread()]}
    drill = told([*nodes("a", "a", "b", "c"), workload("Deployment", replicas=6, spec=spec)], *steps)
    return ElementTree.fromstring(drill_svg(drill))


def words(svg: ElementTree.Element, kind: str | None = None) -> list[str]:
    return [each.text or "" for each in svg.iter(f"{SVG}text") if kind is None or each.get("class") == kind]


def test_rows_are_domains_and_columns_are_steps() -> None:
    svg = picture(Fail(at("zone=a")), Recover(at("zone=a")))
    assert [each for each in words(svg) if each in "abc"] == ["a", "b", "c"]
    assert {"beginning", "fail zone=a", "recover zone=a"} <= set(words(svg, "title"))
    assert words(svg, "soft")[-9:] == ["2", "0", "2", "2", "2", "2", "2", "2", "2"]


def test_what_waits_is_in_red_below_its_domains() -> None:
    svg = picture(Fail(at("zone=a")))
    assert words(svg, "missing") == ["pending", "2"]
    red = [each for each in svg.iter(f"{SVG}rect") if each.get("class") == "missing"]
    assert len(red) == 2  # one is the legend's


def test_it_is_whole_by_itself_and_follows_light_and_dark() -> None:
    spec = {"topologySpreadConstraints": [spread()]}
    text = drill_svg(told([*nodes("a"), workload("Deployment", spec=spec)], Cordon(at("node=a1"))))
    assert "prefers-color-scheme: dark" in text
    assert re.findall(r"(?:href|src|url)\s*[=(]|@import", text) == []
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]


def test_where_nothing_happened_it_says_so() -> None:
    svg = picture(Cordon(at("node=a1")))
    assert words(svg).count("beginning") == 1
    empty = ElementTree.fromstring(drill_svg(told([*nodes("a")], Cordon(at("node=a1")))))
    assert "nothing happened to any workload" in words(empty)


def test_nothing_is_outside_of_the_picture() -> None:
    svg = picture(Fail(at("zone=a")), *[Cordon(at("node=b1"))] * 7)
    width, height = int(svg.get("width") or 0), int(svg.get("height") or 0)
    for each in svg.iter():
        assert float(each.get("x") or 0) + float(each.get("width") or 0) <= width
        assert float(each.get("y") or 0) < height
