"""Node affinity, pod affinity and anti-affinity: weights, terms, namespaces, topology keys."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.api.validation.builders import pod, refusals

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
TERM = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}


def refused(**affinity: Any) -> list[str]:
    return refusals(pod(affinity=affinity))


def test_good_affinity():
    node_term = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
    assert (
        refused(
            nodeAffinity={
                REQUIRED: {"nodeSelectorTerms": [node_term]},
                PREFERRED: [{"weight": 100, "preference": node_term}],
            },
            podAffinity={REQUIRED: [TERM | {"namespaces": ["prod"], "namespaceSelector": {}}]},
            podAntiAffinity={PREFERRED: [{"weight": 1, "podAffinityTerm": TERM | {"mismatchLabelKeys": ["tier"]}}]},
        )
        == []
    )


@pytest.mark.parametrize("weight", [0, 101, -5])
def test_weights_go_from_1_to_100(weight):
    words = f"Invalid value: {weight}: must be in the range 1-100"
    assert refused(nodeAffinity={PREFERRED: [{"weight": weight, "preference": {}}]}) == [
        f"spec.affinity.nodeAffinity.{PREFERRED}[0].weight: {words}"
    ]
    assert refused(podAffinity={PREFERRED: [{"weight": weight, "podAffinityTerm": TERM}]}) == [
        f"spec.affinity.podAffinity.{PREFERRED}[0].weight: {words}"
    ]


def test_required_node_affinity_needs_a_term():
    assert refused(nodeAffinity={REQUIRED: {}}) == [
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms: Required value: "
        "must have at least one node selector term"
    ]


def test_a_topology_key_is_there_and_a_label_key():
    path = f"spec.affinity.podAntiAffinity.{REQUIRED}[0].topologyKey"
    missing = refused(podAntiAffinity={REQUIRED: [{"labelSelector": {}}]})
    assert f"{path}: Required value: can not be empty" in missing
    assert len(missing) == 3
    assert [
        message.partition(": ")[0] for message in refused(podAntiAffinity={REQUIRED: [{"topologyKey": "a b"}]})
    ] == [path]


def test_namespaces_are_named_in_the_singular():
    messages = refused(podAffinity={REQUIRED: [TERM | {"namespaces": ["ok", "a.b"]}]})
    assert messages == [
        f'spec.affinity.podAffinity.{REQUIRED}[0].namespace: Invalid value: "a.b": must not contain dots'
    ]


def test_the_pods_own_labels_are_merged_before_the_keys_are_compared():
    messages = refused(podAffinity={REQUIRED: [TERM | {"matchLabelKeys": ["app"]}]})
    assert messages == [
        f'spec.affinity.podAffinity.{REQUIRED}[0][0]: Invalid value: "app": '
        "exists in both matchLabelKeys and labelSelector"
    ]
    assert refused(podAffinity={REQUIRED: [TERM | {"mismatchLabelKeys": ["app"]}]}) == []
