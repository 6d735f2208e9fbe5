"""The one configuration among the objects of a file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.config.builders import configuration
from topospread.config.find import find_configuration
from topospread.errors import ConfigError, Place

PLAIN = configuration(parallelism=3)
TEXT = (
    "# the scheduler's\napiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 3\n"
)
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}


def config_map(**data: Any) -> dict[str, Any]:
    """A ConfigMap kube-system/scheduler."""
    metadata = {"name": "scheduler", "namespace": "kube-system"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


WRAPPED = config_map(config=TEXT, readme="Nothing: [ to see", port="8080")
IN_MAP = "f.yaml: document 1: ConfigMap kube-system/scheduler data[config]"


@pytest.mark.parametrize(
    ("documents", "place"),
    [
        ([PLAIN], "f.yaml: document 1"),
        ([None, NODE, PLAIN], "f.yaml: document 3"),
        ([WRAPPED], IN_MAP),
        ([config_map(config=json.dumps(PLAIN))], IN_MAP),
        ([config_map(config=f"---\nkind: Other\n---\n{TEXT}")], IN_MAP),
        ([{"kind": "List", "items": [NODE, WRAPPED]}], IN_MAP),
        ([{"kind": "ConfigMapList", "items": [WRAPPED]}], IN_MAP),
    ],
    ids=["plain", "third", "wrapped", "json", "two-documents", "list", "config-maps"],
)
def test_finds(documents: list[Any], place: str) -> None:
    found, where = find_configuration(documents, Place("f.yaml"))
    assert found == PLAIN
    assert str(where) == place


@pytest.mark.parametrize(
    "documents",
    [
        [],
        [NODE, None, "text", []],
        [config_map()],
        [config_map(config="kind: KubeSchedulerConfiguration: broken")],
        [config_map(config=5)],
        [{"kind": "ConfigMap", "data": None, "metadata": None}],
        [{"kind": "ConfigMap", "data": TEXT, "metadata": ["name"]}],
        [{"kind": "ConfigMap", "data": {1: f"{TEXT}since: 2026-99-99"}, "metadata": {"name": 7, "namespace": 8}}],
        [config_map(config=f"{TEXT}deep: {'[' * 5000}")],
    ],
)
def test_none(documents: list[Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        find_configuration(documents, Place("f.yaml"))
    assert str(caught.value) == "f.yaml: no KubeSchedulerConfiguration found, also not in a ConfigMap"


def test_several() -> None:
    with pytest.raises(ConfigError) as caught:
        find_configuration([PLAIN, config_map(config=TEXT)], Place("f.yaml"))
    assert caught.value.message == (
        "expected one KubeSchedulerConfiguration, found 2: f.yaml: document 1; "
        "f.yaml: document 2: ConfigMap kube-system/scheduler data[config]"
    )


def test_policy_is_told_what_it_is() -> None:
    with pytest.raises(ConfigError, match=r"until Kubernetes 1\.22"):
        find_configuration([{"kind": "Policy", "apiVersion": "v1"}])
