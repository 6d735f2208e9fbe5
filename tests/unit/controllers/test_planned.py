"""Pods without a node, and why kube-scheduler does not try them."""

from __future__ import annotations

import pytest

from tests.unit.plugins.storage_builders import pod
from topospread.controllers.planned import QueuedPod, Workload, is_refusal

WEB = Workload("Deployment", "shop", "web", 1)


def test_a_pod_waits_for_its_gates_unless_it_is_denied() -> None:
    gated = QueuedPod(pod(schedulingGates=[{"name": "a"}, {"name": "b"}]), "p", WEB)
    assert (gated.waits, gated.namespace, str(WEB)) == (
        "waits for its scheduling gates: a, b",
        "shop",
        "Deployment shop/web",
    )
    gated.refused = "FailedCreate: no"
    assert gated.waits == "FailedCreate: no"


@pytest.mark.parametrize(
    ("message", "refused"),
    [
        ("FailedCreate: Create Pod x", True),
        ('ReplicaSetCreateError: Failed to create new replica set "web-…"', True),
        ('Pod "p" is invalid: spec', True),
        ('pods "p" is forbidden: exceeded quota', True),
        ("0/3 nodes are available: 3 Insufficient cpu.", False),
        ("", False),
    ],
)
def test_a_denial_of_the_api_server_is_no_rejection_of_kube_scheduler(message: str, refused: bool) -> None:
    assert is_refusal(message) == refused
