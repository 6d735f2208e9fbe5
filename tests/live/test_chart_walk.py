"""docs/how-to/kind.md without containers: the chart's parts find their cluster as pods do, place pods and show them.

A real Prometheus scrapes the exporter as the chart runs it, and answers what the dashboard asks.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.live.api_server import free_port
from tests.live.conftest import ControlPlane
from tests.live.processes import TOPOSPREAD
from tests.live.prometheus_server import dashboard_is_answered, prometheus
from tests.live.running import node
from tests.live.test_chart import NAMESPACE, rendered
from tests.live.test_chart_services import answers, words_of
from tests.live.test_webhook import eventually

Json = dict[str, Any]
ROOT = Path(__file__).parents[2]
VALUES = ("--set", "image.repository=topospread,image.tag=latest,page.enabled=true")


def pod_environment(plane: ControlPlane, part: str, folder: Path) -> dict[str, str]:
    """What a pod has to find its API server by: address, token of its account, authority; no kubeconfig."""
    cluster = yaml.safe_load(plane.kubeconfig.read_text())["clusters"][0]["cluster"]
    reached = re.fullmatch(r"https://(.+):(\d+)", cluster["server"])
    assert reached is not None
    folder.mkdir()
    (folder / "token").write_text(plane.kubectl("-n", NAMESPACE, "create", "token", f"topospread-{part}").strip())
    (folder / "namespace").write_text(NAMESPACE)
    data = cluster.get("certificate-authority-data")
    authority = (
        base64.b64decode(data) if data else (plane.kubeconfig.parent / cluster["certificate-authority"]).read_bytes()
    )
    (folder / "ca.crt").write_bytes(authority)
    kept = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
    found = {"KUBERNETES_SERVICE_HOST": reached[1], "KUBERNETES_SERVICE_PORT": reached[2]}
    return kept | found | {"TOPOSPREAD_SERVICE_ACCOUNT": str(folder), "HOME": str(folder)}


@contextmanager
def process(words: list[str], log: Path, environment: dict[str, str]) -> Iterator[None]:
    with log.open("wb") as out:
        started = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment)
        try:
            yield
        finally:
            started.kill()
            started.wait()


def test_pods_of_a_deployment_are_placed_counted_and_on_the_dashboard(
    own_plane: ControlPlane, renderers: Path, tmp_path: Path
) -> None:
    plane = own_plane
    plane.kubectl("create", "namespace", NAMESPACE)
    plane.kubectl("label", "namespace", NAMESPACE, "pod-security.kubernetes.io/enforce=restricted")
    objects = rendered(renderers / "helm", *VALUES)
    listed = {"apiVersion": "v1", "kind": "List", "items": objects}
    plane.kubectl("apply", "--server-side", "--validate=strict", "-f", "-", given=listed)
    plane.create([node(f"kind-worker{zone}", f"zone-{zone}") for zone in "abc"])
    (settings,) = [each for each in objects if each["kind"] == "ConfigMap"]
    (tmp_path / "scheduler.yaml").write_text(settings["data"]["scheduler.yaml"])
    manager = [str(plane.programs / "kube-controller-manager"), "--kubeconfig", str(plane.kubeconfig)]
    manager += ["--leader-elect=false", "--controllers=deployment-controller,replicaset-controller"]
    ports, logs = {}, {}
    with ExitStack() as stack:
        words = [*manager, "--secure-port", str(free_port())]
        stack.enter_context(process(words, tmp_path / "manager.log", dict(os.environ)))
        for part in ("scheduler", "exporter", "page"):
            mine = [each for each in objects if each["metadata"]["name"] == f"topospread-{part}"]
            ports[part], logs[part] = free_port(), tmp_path / f"{part}.log"
            words = [str(TOPOSPREAD), *words_of(mine, ports[part], configuration=tmp_path)]
            words += [f"--secure-port={ports[part]}"] if part == "scheduler" else []
            environment = pod_environment(plane, part, tmp_path / part)
            stack.enter_context(process(words, logs[part], environment))
        for part in ("scheduler", "exporter"):
            eventually(lambda port=ports[part]: answers(f"http://127.0.0.1:{port}/readyz")[0] == 200)
        eventually(lambda: "?token=" in logs["page"].read_text())
        plane.kubectl("apply", "-f", str(ROOT / "docs/how-to/second-scheduler/web.yaml"))

        def where() -> list[str]:
            names = plane.kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.nodeName}")
            return sorted(names.split())

        eventually(lambda: where() == sorted([f"kind-worker{zone}" for zone in "abc"] * 2))
        skew = 'topospread_constraint_skew{namespace="default",topology_key="topology.kubernetes.io/zone"'
        eventually(lambda: f"{skew}," in answers(f"http://127.0.0.1:{ports['exporter']}/metrics")[1])
        with prometheus(ports["exporter"], tmp_path) as server:
            placed = 'topospread_workload_pods{namespace="default",workload="Deployment/web"}'
            eventually(lambda: [each["value"][1] for each in server.query(placed)] == ["6"])
            dashboard_is_answered(server)
