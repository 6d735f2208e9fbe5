"""Hashed names change no verdict: stored cases with every name replaced, judged beside the cases themselves."""

from __future__ import annotations

import copy
import re
from typing import Any

import msgspec
import pytest

from conformance.judging.cases import judge_case
from conformance.stored import stored
from tests.drawn import share
from topospread.api.kinds import KINDS
from topospread.sources.pseudonyms import Pseudonyms, size_bucket
from topospread.sources.snapshot_names import hashed

Json = dict[str, Any]
LISTS = {
    "nodes": "Node",
    "namespaces": "Namespace",
    "services": "Service",
    "replicaSets": "ReplicaSet",
    "statefulSets": "StatefulSet",
    "replicationControllers": "ReplicationController",
    "persistentVolumes": "PersistentVolume",
    "persistentVolumeClaims": "PersistentVolumeClaim",
    "storageClasses": "StorageClass",
    "csiNodes": "CSINode",
    "csiDrivers": "CSIDriver",
    "csiStorageCapacities": "CSIStorageCapacity",
    "volumeAttachments": "VolumeAttachment",
    "podDisruptionBudgets": "PodDisruptionBudget",
    "pods": "Pod",
    "nominated": "Pod",
    "incoming": "Pod",
}
QUOTED = re.compile(r'"[^"]*"|\{[^}]*\}|\S+/\S+|\S+(?= CSI driver is not installed)')


def renamed(case: Json, names: Pseudonyms) -> Json:
    result = dict(case)
    for field, kind in LISTS.items():
        if case.get(field):
            items = msgspec.convert(case[field], list[KINDS[kind].struct])  # type: ignore[misc]
            for item in items:
                item.kind = kind
            result[field] = [hashed(item, names) for item in items]
    return result


def with_sizes_in_buckets(case: Json) -> Json:
    """Return the case with image sizes as a snapshot has them; each score is then the same, not only within a point."""
    case = copy.deepcopy(case)
    for node in case["nodes"]:
        for image in node.get("status", {}).get("images") or ():
            image["sizeBytes"] = size_bucket(image.get("sizeBytes", 0))
    return case


def expected(value: Any, names: Pseudonyms, field: str = "") -> Any:
    """An answer with the words in place of the names of nodes and pods, and without the names in messages."""
    if isinstance(value, dict):
        keyed = field in ("rejected", "scores", "total", "candidates")
        return {
            names.node(key) if keyed else key: expected(each, names, "" if keyed else key)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [expected(each, names, field) for each in value]
    if isinstance(value, str) and field in ("feasible", "best", "picked", "chosen"):
        return names.node(value)
    if isinstance(value, str) and field in ("pod", "victims"):
        namespace, _, name = value.rpartition("/")
        return f"{names.namespace(namespace)}/{names.name(name, namespace)}"
    return plain(value)


def plain(value: Any) -> Any:
    """Messages name claims, classes and taints; what they say besides is compared."""
    if isinstance(value, dict):
        return {key: plain(each) if key not in ("pod", "victims") else each for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return QUOTED.sub("…", value) if isinstance(value, str) else value


@pytest.mark.parametrize("flavour", ["mixed", "spread", "volumes", "storage", "preemption", "replicas"])
def test_hashed_cases_are_judged_alike(flavour: str) -> None:
    cases, _ = stored(flavour)
    judged = 0
    for case in share(cases, 8):
        if case.get("config"):
            continue  # what a configuration names stays as it is named
        if any(
            "gcePersistentDisk" in each["spec"] and "__" in str(each) for each in case.get("persistentVolumes") or ()
        ):
            continue  # the parts of a zone's name, which say its region, are not kept
        names = Pseudonyms(b"key")
        names.know_nodes(node["metadata"]["name"] for node in case["nodes"])
        ours = judge_case(renamed(case, names))
        assert plain(ours) == expected(judge_case(with_sizes_in_buckets(case)), names), case["name"]
        judged += 1
    assert judged


def test_rounded_image_sizes_change_a_score_by_a_point_at_most() -> None:
    compared = changed = 0
    for flavour in ("mixed", "spread"):
        for case in share(stored(flavour)[0], 3):
            if case.get("config"):
                continue  # a weight multiplies the points
            exact, rounded = (judge_case(each)["verdicts"][0] for each in (case, with_sizes_in_buckets(case)))
            for node, points in (exact.get("scores") or {}).items():
                difference = abs(points["ImageLocality"] - rounded["scores"][node]["ImageLocality"])
                assert difference <= 1, (case["name"], node)
                compared += points["ImageLocality"] > 0
                changed += difference
    assert compared > 5
    assert changed > 0
