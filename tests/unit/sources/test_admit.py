"""Objects besides pods and workloads that an API server would refuse are refused when they are read."""

from __future__ import annotations

from pathlib import Path

import pytest

import topospread
from topospread.errors import InputError
from topospread.sources.load import load

NODE = (
    "{apiVersion: v1, kind: Node, metadata: {name: a, labels: {%s}}, spec: {taints: [%s]}, status: {allocatable: {%s}}}"
)
BUDGET = (
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, "
    "spec: {minAvailable: 1, maxUnavailable: 1}}"
)
CLASS = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: c}, value: 1000000001}"
SERVICE = "{apiVersion: v1, kind: Service, metadata: {name: d}, spec: {selector: {a b: c}}}"
STORAGE = (
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: e}, provisioner: x, volumeBindingMode: Now}"
)

AUTOSCALER = (
    "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: f}, "
    "spec: {minReplicas: 4, maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: f}}}"
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (NODE % ("", "{key: a, effect: noschedule}", ""), "metadata.taints[0].effect: Unsupported value"),
        (NODE % ("", "{key: a, effect: NoExecute}, {key: a, effect: NoExecute}", ""), "Duplicate value"),
        (NODE % ("a: b c", "", ""), "metadata.labels: Invalid value"),
        (NODE % ("", "", "cpu: '-1'"), "status.allocatable.cpu: Invalid value"),
        (BUDGET, "minAvailable and maxUnavailable cannot be both set"),
        (CLASS, "value: Forbidden: maximum allowed value"),
        (SERVICE, "spec.selector: Invalid value"),
        (STORAGE, 'volumeBindingMode: Unsupported value: "Now"'),
        (AUTOSCALER, "spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`"),
    ],
)
def test_it_is_refused_in_the_api_servers_words(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "objects.yaml"
    file.write_text(text)
    with pytest.raises(InputError) as raised:
        topospread.load(str(file))
    assert words in str(raised.value)


def test_what_was_stored_is_taken_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "objects.yaml"
    file.write_text(CLASS.replace("name: c", "name: c, uid: u"))
    state = load([], cluster=str(file), needs_nodes=False)
    assert state.priority_classes[0].value == 1000000001
