"""Refusals of plugin arguments by version and gate."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.config.builders import with_args
from tests.unit.config.test_validation import messages

SHAPE = "shape: Invalid value: {}: unexpected field `shape`, remove it or turn on the feature gate {}"
TIMEOUTS = {"filterTimeout": "1s", "bindingTimeout": "5s"}
DISABLED = (
    "bindingTimeout: Forbidden: DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled",
    "filterTimeout: Forbidden: DRASchedulingFilterTimeout feature gate is disabled",
)


@pytest.mark.parametrize(
    ("plugin", "args", "kube_version", "gates", "found"),
    [
        (
            *("VolumeBinding", {"shape": [{"utilization": 5}]}, "1.36", {}),
            [SHAPE.format('[{"Utilization":5,"Score":0}]', "StorageCapacityScoring")],
        ),
        ("VolumeBinding", {"shape": []}, "1.32", {}, [SHAPE.format("[]", "VolumeCapacityPriority")]),
        ("VolumeBinding", {"shape": [{"utilization": 5}]}, "1.32", {"VolumeCapacityPriority": True}, []),
        ("DynamicResources", TIMEOUTS, "1.35", {"DRASchedulerFilterTimeout": False}, DISABLED),
    ],
)
def test_by_gate(
    plugin: str, args: dict[str, Any], kube_version: str, gates: dict[str, bool], found: list[str]
) -> None:
    expected = [f"profiles[0].pluginConfig[0].args.{each}" for each in found]
    assert messages(with_args(plugin, args), kube_version, **gates) == expected


@pytest.mark.parametrize(("kube_version", "refused"), [("1.21", False), ("1.22", True), ("1.37", True)])
def test_arguments_under_the_name_of_their_kind(kube_version: str, refused: bool) -> None:
    api_version = "v1" if kube_version == "1.37" else "v1beta1"
    data = with_args("NodeResourcesFitArgs", {"a": 1}, api_version)
    assert any("has to match plugin args" in each for each in messages(data, kube_version)) is refused
