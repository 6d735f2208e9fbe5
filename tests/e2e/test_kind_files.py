"""The files of docs/how-to/kind.md fit the chart and each other; no container runs here."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
KIND = ROOT / "docs" / "how-to" / "kind"
BASE = ROOT / "deploy" / "kustomize" / "base"


def documents(path: Path) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(path.read_text()) if each]


def test_every_worker_has_a_zone_of_its_own() -> None:
    (cluster,) = documents(KIND / "cluster.yaml")
    workers = [each for each in cluster["nodes"] if each["role"] == "worker"]
    assert len({each["labels"]["topology.kubernetes.io/zone"] for each in workers}) == len(workers) == 3


def test_prometheus_scrapes_the_service_that_the_chart_makes() -> None:
    (given,) = documents(KIND / "prometheus.yml")
    (scraped,) = given["scrape_configs"]
    (service,) = [each for each in documents(BASE / "exporter.yaml") if each["kind"] == "Service"]
    name, space = service["metadata"]["name"], service["metadata"]["namespace"]
    assert scraped["static_configs"] == [{"targets": [f"{name}.{space}.svc:{service['spec']['ports'][0]['port']}"]}]
    assert scraped["honor_labels"]


@pytest.mark.parametrize("name", ["prometheus", "grafana"])
def test_services_select_pods_that_there_are(name: str) -> None:
    made = {each["kind"]: each for each in documents(KIND / "monitoring.yaml") if each["metadata"]["name"] == name}
    labels = made["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert made["Service"]["spec"]["selector"] == made["Deployment"]["spec"]["selector"]["matchLabels"] == labels


def test_the_files_of_the_config_map_are_those_that_are_named(tmp_path: Path) -> None:
    page = (KIND.parent / "kind.md").read_text()
    for path in ("docs/how-to/kind/prometheus.yml", "deploy/prometheus/rules.yaml"):
        assert f"--from-file={path}" in page
        shutil.copy(ROOT / path, tmp_path)
    (given,) = documents(tmp_path / "prometheus.yml")
    assert all((tmp_path / each).exists() for each in given["rule_files"])
    words = (made for made in documents(KIND / "monitoring.yaml") if made["metadata"]["name"] == "prometheus")
    args = next(words)["spec"]["template"]["spec"]["containers"][0]["args"]
    assert "--config.file=/etc/prometheus/prometheus.yml" in args
