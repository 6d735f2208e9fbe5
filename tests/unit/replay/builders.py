"""Records of an audit log, and replays of them on a cluster with two nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.parted import parted
from tests.unit.drill.builders import inventory, node, spread
from topospread.replay.replay import replay
from topospread.replay.result import Incident

Json = dict[str, Any]
ROOT = Path(__file__).parents[3]
BEFORE = str(ROOT / "docs/how-to/replay/before.json")
REAL = str(ROOT / "docs/how-to/replay/audit.jsonl")
SAID = "0/2 nodes are available: 1 node(s) were unschedulable, 1 node(s) didn't match pod topology spread constraints."


def pod(name: str, where: str = "", cpu: str = "1") -> Json:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    spec: Json = {"containers": [container], "topologySpreadConstraints": [spread()]}
    spec |= {"nodeName": where} if where else {}
    metadata = {"name": name, "namespace": "shop", "labels": {"app": "web"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def refused(at: int, name: str, said: str = SAID) -> Json:
    about = {"namespace": "shop", "name": name}
    event = {"kind": "Event", "metadata": {"name": "e", "namespace": "shop"}, "reason": "FailedScheduling"}
    return record(at, "create", event | {"regarding": about, "note": said})


def replayed(path: Path, *records: Json, **options: Any) -> Incident:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    return replay(inventory(node("a1", "a"), node("b1", "b"), pod("web-0", "a1")), path, **parted(options))


def record(at: int, verb: str, obj: Json, resource: str = "", below: str = "", **more: Any) -> Json:
    metadata = obj["metadata"]
    reference = {"resource": resource or f"{obj['kind'].lower()}s", "name": metadata["name"]}
    reference |= {"namespace": metadata["namespace"]} if "namespace" in metadata else {}
    reference |= {"subresource": below} if below else {}
    return {
        "kind": "Event",
        "auditID": str(at),
        "stage": "ResponseComplete",
        "verb": verb,
        "objectRef": reference,
        "responseStatus": {"code": 200},
        "responseObject": obj,
        "stageTimestamp": f"2026-01-01T00:00:{at:02}Z",
    } | more


def bound(at: int, name: str, to: str) -> Json:
    answer = {"kind": "Status", "metadata": {"name": name, "namespace": "shop"}}
    return record(at, "create", answer, "pods", "binding", requestObject={"target": {"name": to}})
