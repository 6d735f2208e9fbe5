"""The table of metrics, the page that is written from it, and the rights that the exporter asks for."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import yaml

from topospread.exporter.following import FOLLOWED
from topospread.exporter.metric_families import BY_NAME, FAMILIES

ROOT = Path(__file__).parents[3]


def test_the_page_is_what_the_table_says() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "reference" / "write_metrics.py"))["page"]
    assert "".join(page()) == (ROOT / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")


def test_rules_and_dashboard_name_metrics_that_there_are() -> None:
    for name in ("rules.yaml", "dashboard.json"):
        text = (ROOT / "deploy" / "prometheus" / name).read_text(encoding="utf-8")
        assert set(re.findall(r"\btopospread_\w+", text)) <= set(BY_NAME)


def test_links_of_the_dashboard_are_addresses_of_the_page() -> None:
    text = (ROOT / "deploy" / "prometheus" / "dashboard.json").read_text(encoding="utf-8")
    links = re.findall(r'"\$\{page\}/\?(\w+)=([^"]*)"', text)
    figures = (ROOT / "src" / "topospread" / "web" / "static" / "overview.js").read_text(encoding="utf-8")

    assert {name for name, _ in links} == {"filter", "workload"}
    assert all(f"    {value}: [" in figures for name, value in links if name == "filter")
    panels = json.loads(text)["panels"]
    boxes = [each["gridPos"] for each in panels]
    assert all(
        one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        for one in boxes
        for other in boxes
        if one is not other and one["y"] == other["y"]
    ), "no panel stands over another"
    assert len({each["id"] for each in panels}) == len(panels)


def test_counters_end_in_total_and_nothing_else_does() -> None:
    assert all(each.name.endswith("_total") == (each.kind == "counter") for each in FAMILIES)


def test_the_rights_are_those_that_are_needed_and_no_more() -> None:
    documents = yaml.safe_load_all((ROOT / "deploy" / "prometheus" / "rbac.yaml").read_text(encoding="utf-8"))
    rules = next(each["rules"] for each in documents if each["kind"] == "ClusterRole")
    granted = {(group, resource) for rule in rules for group in rule["apiGroups"] for resource in rule["resources"]}
    groups = {each.name: each.path.split("/")[2] if each.path.startswith("/apis/") else "" for each in FOLLOWED}
    assert granted == {(group, name) for name, group in groups.items()}
    assert all(rule["verbs"] == ["list", "watch"] for rule in rules)
