"""The picture of a drill: every step and domain is there, what waits is red, and nothing is fetched."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from tests.unit.drills.builders import at, nodes, spread, told, workload
from topospread.drills.steps import Cordon, Drain, Fail, Recover, Step, Wait, read_scale
from topospread.report.drawing import CHARACTER, broken, shortened
from topospread.report.drawing import text as drawing_text
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


def on_nodes(zones: str, replicas: int, *constraints: dict[str, object], name: str = "web") -> list[dict[str, object]]:
    spec = {"topologySpreadConstraints": list(constraints)}
    return [*nodes(*zones), workload("Deployment", name, replicas, spec)]


def drawn(objects: list[dict[str, object]], *steps: Step) -> ElementTree.Element:
    return ElementTree.fromstring(drill_svg(told(objects, *steps)))


@pytest.mark.parametrize("kind", ["DoNotSchedule", "ScheduleAnyway"])
def test_many_nodes_are_a_row_from_the_fewest_to_the_most(kind: str) -> None:
    host = spread(topologyKey="kubernetes.io/hostname", whenUnsatisfiable=kind)
    svg = drawn(on_nodes("abc" * 10, 36, host), Fail(at("zone=a")))
    assert "30 nodes, each" in words(svg)
    assert "1–2" in words(svg, "soft")
    assert int(svg.get("height") or 0) < 300


def test_nodes_that_change_have_a_row_where_they_are_few() -> None:
    host = spread(topologyKey="kubernetes.io/hostname")
    svg = drawn(on_nodes("abc" * 10, 30, host), Drain(at("node=a1")))
    assert {"a1", "29 other nodes, each"} <= set(words(svg))
    assert "a2" not in words(svg)


def test_of_many_workloads_the_worst_are_whole_and_all_are_counted() -> None:
    objects: list[dict[str, object]] = [*nodes(*"abc")]
    for i in range(30):
        labels = {"matchLabels": {"app": f"w{i}"}}
        constraint = {"topologySpreadConstraints": [spread(labelSelector=labels)]}
        objects.append(workload("Deployment", f"w{i}", 1 if i < 29 else 5, constraint if i < 29 else {}))
    steps: list[Step] = [Fail(at("zone=a")), Wait(600)]
    happened = {each.name for step in told(objects, *steps).steps for each in step.changed}
    svg = drawn(objects, *steps)
    panels = words(svg, "title")
    assert panels[4] == "all workloads"
    assert panels[5].startswith("shop/w29 Deployment")
    assert int(svg.get("height") or 0) <= 1100
    more = next(each for each in panels if "workloads more" in each)
    whole = {each.partition(" ")[0] for each in panels if " Deployment, " in each}
    assert len(whole) + int(more.split()[0]) == len(happened)
    assert any(each.startswith("and ") for each in words(svg))


def test_long_heads_are_broken_over_lines_and_whole_in_their_title() -> None:
    name = "a-workload-with-a-name-that-is-longer-than-any-column"
    svg = drawn(on_nodes("abc", 3, spread(), name=name), read_scale(f"deploy/{name}=4", "--scale"))
    step = f"scale deploy/{name}=4"
    head = [each.text or "" for each in svg.iter(f"{SVG}text") if each.findtext(f"{SVG}title") == step]
    assert "".join(head).replace(" ", "") == step.replace(" ", "")
    assert len(head) > 2


def test_no_two_texts_overlap() -> None:
    host = spread(topologyKey="kubernetes.io/hostname")
    steps: list[Step] = [Fail(at("zone=a")), Wait(600), *[Cordon(at(f"node=b{i}")) for i in range(1, 8)]]
    svg = drawn(on_nodes("abc" * 10, 3000, host, spread()), *steps, read_scale("deploy/web=2000", "--scale"))
    boxes = []
    for each in svg.iter(f"{SVG}text"):
        x, y = float(each.get("x") or 0), float(each.get("y") or 0)
        boxes.append((x, x + CHARACTER * len(each.text or ""), y - 11, y + 3))
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert a[0] >= b[1] or b[0] >= a[1] or a[2] >= b[3] or b[2] >= a[3], (a, b)


def test_pods_of_nodes_that_are_back_are_ready_again() -> None:
    svg = drawn([*nodes(*"abc"), workload("DaemonSet", spec={})], Fail(at("zone=a")), Recover(at("zone=a")))
    at_ready = words(svg).index("ready")
    assert words(svg)[at_ready + 1 : at_ready + 4] == ["3", "2", "3"]


def test_names_are_escaped() -> None:
    drill = told(on_nodes("abc", 3, spread()), Fail(at("zone=a")))
    steps = (drill.steps[0], replace(drill.steps[1], step='fail <rack>=&"'))
    svg = ElementTree.fromstring(drill_svg(replace(drill, steps=steps)))
    assert 'fail <rack>=&"' in words(svg, "title")
    assert "<title>a &lt;&amp;&gt; b</title>" in drawing_text(0, 0, "a", "", "a <&> b")


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("recover zone=eu-west-1a", ["recover", "zone=eu-west-1a"]),
        ("rollout loki/deploy/loki-querier", ["rollout", "loki/deploy/", "loki-querier"]),
        ("x" * 40, ["x" * 16, "x" * 16, "x" * 8]),
        ("a b", ["a b"]),
        ("", [""]),
    ],
)
def test_heads_are_broken_at_spaces_then_behind_parts_of_names(words: str, lines: list[str]) -> None:
    assert broken(words, 16, 8) == lines


def test_a_head_of_very_many_lines_is_cut() -> None:
    assert broken("word " * 40, 4, 3) == ["word", "word", "wor…"]


def test_a_long_name_keeps_its_beginning_and_its_end() -> None:
    assert shortened("gke-a-very-long-pool-name-abcd1234-x7k2", 20) == "gke-a-very-lo…4-x7k2"


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
