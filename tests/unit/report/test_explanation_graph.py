"""The picture of an explanation: well-formed, legible on light and on dark, nothing outside of it or over another."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from tests.unit.explanation.builders import HOST, constraint, explained, node, pod, spec, workload, zones
from topospread.explanation import Explanation
from topospread.report.explanation_graph import explanation_svg

SVG = "{http://www.w3.org/2000/svg}"
CHARACTER = 7.8


def three_zones() -> Explanation:
    of = spec(constraint(maxSkew=2, minDomains=2), constraint(HOST, "ScheduleAnyway"))
    there = [pod(f"web-{i}", on, of) for i, on in enumerate("aab")]
    return explained("web", *zones(), *there, pod("web", of=of))


def many_nodes() -> Explanation:
    nodes = [node(f"node-{i}-of-a-pool-with-a-rather-long-name", f"zone-{i % 3}") for i in range(300)]
    return explained("deploy/web", *nodes, workload("Deployment", 100, spec(constraint(HOST))))


def no_domain() -> Explanation:
    return explained("web", *zones("a"), pod("web", of=spec(constraint("zone"))), suggest=False)


def no_constraint() -> Explanation:
    return explained("web", *zones("a"), pod("web"))


def closed() -> Explanation:
    nodes = [*zones("ab"), node("c", "zone-c", cordoned=True)]
    of = spec(constraint())
    there = [pod(f"web-{i}", on, of) for i, on in enumerate("ab")]
    return explained("web", *nodes, *there, pod("web", of=of), suggest=False)


EVERY = pytest.mark.parametrize("make", [three_zones, closed, many_nodes, no_domain, no_constraint])


def luminance(colour: str) -> float:
    """WCAG 2's relative luminance."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_every_domain_has_a_bar_and_its_numbers() -> None:
    root = ET.fromstring(explanation_svg(three_zones()))
    words = [each.text for each in root.iter(f"{SVG}text")]
    assert words[0] == "shop/web: on c"
    assert "topology.kubernetes.io/zone (hard, maxSkew 2, minDomains 2)" in words
    assert words[words.index("zone-a") + 1] == "2 → 3, skew 3 refused"
    assert words[words.index("zone-c") + 1] == "0 → 1, skew 1 allowed"
    assert words[words.index("a") + 1] == "2 → 3", "of a soft constraint nothing is refused"
    assert "dashed line: 0 pods (minimum: zone-c); solid line: at most 2 pods" in words


def test_the_pods_own_domain_is_marked_and_the_legend_says_what_signs_are() -> None:
    words = [each.text for each in ET.fromstring(explanation_svg(three_zones())).iter(f"{SVG}text")]
    assert words[words.index("zone-c") - 1] == "▸"
    assert words[words.index("c") - 1] == "▸"
    assert words.count("▸") == 2
    assert {"pods that count", "this pod, if it were there", "minimum", "most that maxSkew allows"} <= set(words)
    assert "▸ where it is" in words
    soft = explained("web", *zones(), pod("web", of=spec(constraint(when="ScheduleAnyway"))))
    assert "most that maxSkew allows" not in explanation_svg(soft), "nothing that is not drawn"


def test_what_other_plugins_refuse_is_drawn_and_one_pod_is_one_pod() -> None:
    words = [each.text or "" for each in ET.fromstring(explanation_svg(closed())).iter(f"{SVG}text")]
    assert words[words.index("zone-c") - 1] == "×"
    assert "× zone-c: its node is cordoned" in words
    assert "× no node of it takes the pod" in words
    assert "dashed line: 0 pods (minimum: zone-c); solid line: at most 1 pod" in words


def test_bars_of_all_constraints_begin_at_one_place() -> None:
    root = ET.fromstring(explanation_svg(three_zones()))
    bars = [each for each in root.iter(f"{SVG}rect") if each.get("class") == "bar"]
    assert len({each.get("x") for each in bars[1:]}) == 1, "the first is the legend's"


def test_the_bars_are_as_long_as_the_pods_are_many() -> None:
    root = ET.fromstring(explanation_svg(three_zones()))
    bars = [float(each.get("width", 0)) for each in root.iter(f"{SVG}rect") if each.get("class") == "bar"][1:]
    new = [float(each.get("width", 0)) for each in root.iter(f"{SVG}rect") if each.get("class") == "new"][1:]
    assert bars[0] == pytest.approx(2 * bars[1], abs=0.2)
    assert new[0] == pytest.approx(bars[1], abs=0.2)


@EVERY
def test_nothing_is_outside_of_the_picture(make: object) -> None:
    assert callable(make)
    root = ET.fromstring(explanation_svg(make()))
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for each in root.iter(f"{SVG}text"):
        right = float(each.get("x", 0)) + len(each.text or "") * CHARACTER
        assert right <= width + 1, each.text
        assert float(each.get("y", 0)) < height
    for each in root.iter(f"{SVG}rect"):
        assert float(each.get("x", 0)) + float(each.get("width", 0)) <= width
        assert float(each.get("y", 0)) + float(each.get("height", 0)) <= height


@EVERY
def test_no_line_and_no_bar_crosses_a_text(make: object) -> None:
    assert callable(make)
    root = ET.fromstring(explanation_svg(make()))
    for text in root.iter(f"{SVG}text"):
        left, base = float(text.get("x", 0)), float(text.get("y", 0))
        right = left + len(text.text or "") * CHARACTER
        for line in root.iter(f"{SVG}line"):
            beside = not left <= float(line.get("x1", 0)) <= right
            assert beside or base < float(line.get("y1", 0)) or base - 10 > float(line.get("y2", 0)), text.text
        for bar in root.iter(f"{SVG}rect"):
            x, y = float(bar.get("x", 0)), float(bar.get("y", 0))
            across = x < right and x + float(bar.get("width", 0)) > left and y < base < y + float(bar.get("height", 0))
            assert bar.get("class") == "back" or not across, text.text


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_texts_and_bars_stand_out_from_the_background(scheme: int) -> None:
    style = explanation_svg(no_constraint()).split("@media (prefers-color-scheme: dark)")[scheme]
    colours = dict(re.findall(r"([\w.]+) \{ (?:fill|stroke): (#\w{6})", style))
    assert contrast(colours["text"], colours[".back"]) >= 7
    assert contrast(colours["text.soft"], colours[".back"]) >= 4.5
    assert contrast(colours[".bar"], colours[".back"]) >= 3
    assert contrast(colours[".limit"], colours[".back"]) >= 3
    assert contrast(colours[".minimum"], colours[".back"]) >= 3


def test_of_many_domains_those_that_hold_most_and_least_are_drawn() -> None:
    words = [each.text or "" for each in ET.fromstring(explanation_svg(many_nodes())).iter(f"{SVG}text")]
    assert sum(" → " in each for each in words) == 40
    assert "the 40 domains that hold most and least; 260 domains between them are not drawn" in words


def test_names_are_escaped() -> None:
    found = no_constraint()
    object.__setattr__(found, "name", 'a<b>&"c"')
    assert ET.fromstring(explanation_svg(found)).get("aria-label") == 'Topology spread of shop/a<b>&"c"'
