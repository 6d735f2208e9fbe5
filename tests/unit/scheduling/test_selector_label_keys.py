"""The label keys that selectors read."""

from __future__ import annotations

from typing import Any

import msgspec

from topospread.api.pod import Pod
from topospread.api.workload import ReplicaSet, ReplicationController, Service
from topospread.cluster import Cluster
from topospread.scheduling.selector_label_keys import keys_of, keys_of_owners, keys_read_by


def test_a_pod_reads_the_keys_of_its_constraints_and_terms() -> None:
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "tier", "operator": "Exists"}]},
        "matchLabelKeys": ["pod-template-hash"],
    }
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"db": "x"}}, "mismatchLabelKeys": ["tenant"]}
    terms = {"requiredDuringSchedulingIgnoredDuringExecution": [term | {"matchLabelKeys": ["shard"]}]}
    spec = {"topologySpreadConstraints": [constraint], "affinity": {"podAntiAffinity": terms}}
    made = msgspec.convert({"metadata": {"name": "p", "namespace": "d"}, "spec": spec}, Pod)
    assert list(keys_read_by(made)) == ["app", "tier", "pod-template-hash", "db", "shard", "tenant"]


def test_a_missing_selector_reads_no_keys() -> None:
    assert list(keys_of(None)) == []


def test_owners_are_read_in_one_namespace_or_in_all() -> None:
    def made(kind: Any, namespace: str, selector: Any) -> Any:
        metadata = {"name": "x", "namespace": namespace}
        return msgspec.convert({"metadata": metadata, "spec": {"selector": selector}}, kind)

    objects = Cluster().objects
    objects.add(
        [
            made(Service, "a", {"service": "x"}),
            made(Service, "b", None),
            made(ReplicationController, "a", {"controller": "x"}),
            made(ReplicaSet, "b", {"matchLabels": {"set": "x"}}),
        ]
    )
    assert set(keys_of_owners(objects)) == {"service", "controller", "set"}
    assert set(keys_of_owners(objects, "a")) == {"service", "controller"}
    assert set(keys_of_owners(objects, "b")) == {"set"}
