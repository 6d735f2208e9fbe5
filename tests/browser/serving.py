"""Pages that are served for the tests: `topospread serve` as its users start it, on a port that is free."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
DEMO = ["--on", str(ROOT / "examples/demo/cluster.yaml"), "-f", str(ROOT / "examples/demo/shop.yaml")]
COMMAND = (sys.executable, "-c", "import sys; from topospread.cli.main import main; sys.exit(main())")

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {note: evil}}
spec:
  replicas: 7
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
      containers: [{name: c, image: x, resources: {requests: {cpu: "1"}}}]
"""
"""A Deployment of which not all fit where one of three zones takes nobody."""
SHOP_CLUSTER = "zones=3,nodes=3,cpu=8,taint=zone-c:dedicated=x:NoSchedule"


TOKEN = "the-token-of-all-pages-here"
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}
"""Headers that `served` pages accept in place of their cookie."""


@contextmanager
def served(*words: str) -> Iterator[str]:
    """The URL of a page about an input, while it is served; without its token, which is `TOKEN`."""
    with served_with_token(*words, token=TOKEN) as url:
        yield url.partition("?")[0]


@contextmanager
def served_with_token(*words: str, token: str) -> Iterator[str]:
    """The URL of a page about an input, as the command prints it."""
    command = [*COMMAND, "serve", "--port", "0", *words]
    environment = os.environ | {"PYTHONUNBUFFERED": "1", "TOPOSPREAD_TOKEN": token}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        said = []
        try:
            for line in process.stderr:
                said.append(line)
                found = re.search(r"http://\S+", line)
                if found:
                    yield found[0]
                    break
            else:
                raise AssertionError("topospread serve ended: " + "".join(said))
        finally:
            process.terminate()
            process.wait(60)


def many_nodes(folder: Path, nodes: int = 5_000, workloads: int = 500, replicas: int = 200) -> list[str]:
    """Words for a cluster of so many nodes, with workloads that the command places, and a pod that fits nowhere."""
    path = folder / "workloads.yaml"
    made = [_deployment(f"app-{number:03}", replicas) for number in range(workloads)]
    nowhere = _deployment("nowhere", 1).replace("containers:", "nodeSelector: {nobody: has-this}\n      containers:")
    path.write_text("---\n".join([*made, nowhere]))
    return ["-f", str(path), "--on", f"zones=3,racks=10,nodes={nodes},cpu=16,memory=64Gi"]


def _deployment(name: str, replicas: int) -> str:
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {{matchLabels: {{app: {name}}}}}
      containers:
        - {{name: app, image: app, resources: {{requests: {{cpu: 100m, memory: 128Mi}}}}}}
"""


def named_nodes(path: Path, zones: list[str], nodes: int) -> list[str]:
    """Words for nodes in zones with such names, three racks in each, and a workload that is all in the first one."""
    label = "topology.kubernetes.io"
    items: list[dict[str, Any]] = []
    for number in range(nodes):
        zone = number % len(zones)
        rack = f"rack-of-row-{number // len(zones) % 3}.{zones[zone][:20]}"
        items.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {
                    "name": f"gke-production-default-pool-3f2a{number:04x}-x7kq",
                    "uid": f"n{number}",
                    "labels": {f"{label}/zone": zones[zone], f"{label}/rack": rack},
                },
                "status": {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"}},
            }
        )
    del items[-1]["metadata"]["labels"][f"{label}/zone"]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    workload = path.with_name(f"{path.stem}-workload.yaml")
    aside = f"nodeSelector: {{{label}/zone: {zones[0]}}}\n      containers:"
    soft = "ScheduleAnyway\n          nodeAffinityPolicy: Ignore"
    text = _deployment("recommendation-service-of-the-european-storefront", 2 * nodes)
    workload.write_text(text.replace("DoNotSchedule", soft).replace("containers:", aside))
    return ["-f", str(path), "-f", str(workload)]
