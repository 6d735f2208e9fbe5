"""Signatures hold what the plugins of a profile read of a pod."""

from __future__ import annotations

import pytest

from tests.unit.scheduling.test_batching import NO_DEFAULTS, Json, config, pod, scheduler
from topospread.scheduling.pod_signature import Signer

TOLERATIONS = [{"key": "b", "operator": "Exists"}, {"key": "a", "operator": "Exists"}]
SOURCES = [{"name": "x", "emptyDir": {}}, {"name": "y", "configMap": {"name": "z"}}]


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ({}, {}, True),
        ({}, {"labels": {"app": "api"}}, False),
        ({}, {"priority": 5}, True),
        ({}, {"tolerations": TOLERATIONS}, False),
        ({"tolerations": TOLERATIONS[::-1]}, {"tolerations": TOLERATIONS}, True),
        ({"volumes": SOURCES[:1]}, {"volumes": SOURCES}, True),
        ({}, {"volumes": SOURCES[:1]}, False),
        ({}, {"nodeSelector": {"disk": "good"}}, False),
        ({}, {"affinity": {}}, False),
        ({}, {"hostNetwork": True}, True),
        ({}, {"hostNetwork": True, "hostUsers": False}, False),
        ({"containers": [{"image": "a"}]}, {"containers": [{"image": "a:latest"}]}, True),
        ({"containers": [{"image": "a"}]}, {"containers": [{"image": "b"}]}, False),
        *(
            (
                {"containers": [{"ports": [{"hostPort": 80, "protocol": "TCP"}]}]},
                {"containers": [{"ports": [{"hostPort": port, "protocol": "UDP"}]}]},
                port == 80,
            )
            for port in (80, 81)
        ),
    ],
)
def test_signatures_hold_what_the_plugins_read(one: Json, other: Json, equal: bool) -> None:
    made = scheduler(config(NO_DEFAULTS))
    signer = Signer(next(iter(made.frameworks.values())), made.cluster.objects)
    pods = [pod("p", **each) for each in (one, other)]
    signed = [signer.signature(each, made.cluster.shared_class(each)) for each in pods]
    assert signed[0] is not None
    assert (signed[0] == signed[1]) is equal


@pytest.mark.parametrize(
    "spec",
    [
        {"affinity": {"podAffinity": {}}},
        {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]},
        {"resourceClaims": [{"name": "gpu"}]},
    ],
)
def test_pods_that_read_others_have_no_signature(spec: Json) -> None:
    made = scheduler(config(NO_DEFAULTS))
    signer = Signer(next(iter(made.frameworks.values())), made.cluster.objects)
    given = pod("p", **spec)
    assert signer.signature(given, made.cluster.shared_class(given)) is None
