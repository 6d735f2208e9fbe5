"""Preemption by pod groups beside what the real scheduler did in random cases (conformance/generators/groups.py)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from conformance.judging.whole import judge_whole

RECORDED = Path(__file__).parent / "group_preemption.json.gz"
_CHANCE = "varying"


def test_recorded_cases() -> None:
    differences, messages = [], 0
    for each in json.loads(gzip.decompress(RECORDED.read_bytes())):
        case, theirs = each["case"], each["verdict"]
        ours = judge_whole(case)
        for kind in ("pods", "podGroups"):
            differences += _differences(kind, theirs, ours, case["id"])
        messages += "found a placement for podgroup" in json.dumps(theirs)
    assert differences == []
    assert messages >= 3


def _differences(kind: str, theirs: dict[str, Any], ours: dict[str, Any], of: str) -> list[str]:
    expected, found = theirs.get(kind, {}), ours.get(kind, {})
    names = [name for name in {*expected, *found} if f"{kind} {name}" not in theirs.get(_CHANCE, {})]
    return [
        f"{of} {kind} {name}: {expected.get(name)} {found.get(name)}"
        for name in names
        if expected.get(name) != found.get(name)
    ]


def test_beside_a_group_with_a_parent_the_case_is_an_error() -> None:
    """Its pods are tried once the parent's groups are ready, here before there are minCount of them."""
    node = {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"pods": "1"}}}
    policy = {"gang": {"minCount": 2}}
    group = {
        "kind": "PodGroup",
        "metadata": {"name": "child"},
        "spec": {"parentCompositePodGroupName": "all", "schedulingPolicy": policy},
    }
    member = {"kind": "Pod", "metadata": {"name": "member"}, "spec": {"schedulingGroup": {"podGroupName": "child"}}}
    alone = {"kind": "Pod", "metadata": {"name": "alone"}, "spec": {}}
    gates = dict.fromkeys(("GenericWorkload", "TopologyAwareWorkloadScheduling"), True)
    case = {"objects": [node, group, member, alone], "featureGates": gates}
    assert judge_whole(case)["pods"]["default/alone"] == {"node": "n"}
    case["featureGates"] = {**gates, "CompositePodGroup": True}
    assert judge_whole(case) == {"id": "", "error": "not judged: composite pod groups"}
