"""Pods that a LimitRange makes invalid: the API server and the controllers report what topospread reports."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.live.api_server import free_port
from tests.live.conftest import ControlPlane
from topospread.simulation.simulate import simulate
from topospread.sources.load import load

Json = dict[str, Any]
LIMIT_RANGE: Json = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "bounds", "namespace": "default"},
    "spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}}]},
}
POD_SPEC: Json = {
    "containers": [
        {"name": "a", "image": "a", "resources": {"requests": {"cpu": "2"}}},
        {"name": "b", "image": "b", "resources": {"requests": {"cpu": "1500m"}}},
        {"name": "c", "image": "c", "resources": {"requests": {"cpu": "500m"}}},
    ]
}


def workload(kind: str) -> Json:
    labels = {"app": kind.lower()}
    spec: Json = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": POD_SPEC},
    }
    metadata = {"name": kind.lower(), "namespace": "default"}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}


POD: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"}, "spec": POD_SPEC}


def our_message(item: Json, folder: Path) -> str:
    path = folder / "manifests.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [LIMIT_RANGE, item]}))
    (pending,) = simulate(load([str(path)], cluster="nodes=3")).pending
    return pending.message


def without_generated_names(message: str) -> str:
    """Return the message with each generated pod name cut to the workload's name."""
    return re.sub(r"\b(deployment|statefulset|daemonset)-[\w…-]+", r"\1", message)


def events(plane: ControlPlane) -> dict[str, str]:
    """Return the message of the first FailedCreate event for each controller kind."""
    words = ("get", "events", "--field-selector=reason=FailedCreate", "-o", "json")
    listed = json.loads(plane.kubectl(*words))["items"]
    return {each["involvedObject"]["kind"]: each["message"] for each in reversed(listed)}


def test_a_default_limit_below_a_request(own_plane: ControlPlane, tmp_path: Path) -> None:
    node: Json = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    own_plane.create([LIMIT_RANGE, node])
    created = subprocess.run(
        [own_plane.programs / "kubectl", "create", "--raw", "/api/v1/namespaces/default/pods", "-f", "-"],
        input=json.dumps(POD),
        env=own_plane.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    # kubectl prints the list of errors as bullets.
    errors = [line.removeprefix("* ") for line in created.stderr.splitlines()[1:]]
    assert our_message(POD, tmp_path) == f'Pod "p" is invalid: [{", ".join(errors)}]'
    kinds = {"ReplicaSet": "Deployment", "StatefulSet": "StatefulSet", "DaemonSet": "DaemonSet"}
    own_plane.create([workload(kind) for kind in kinds.values()])
    manager = [str(own_plane.programs / "kube-controller-manager"), "--kubeconfig", str(own_plane.kubeconfig)]
    manager += ["--leader-elect=false", "--secure-port", str(free_port())]
    manager += ["--controllers=deployment-controller,replicaset-controller,statefulset-controller,daemonset-controller"]
    with (tmp_path / "manager.log").open("w") as log:
        running = subprocess.Popen(manager, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + 60
            while (found := events(own_plane)).keys() != kinds.keys() and time.monotonic() < deadline:
                time.sleep(0.5)
        finally:
            running.kill()
            running.wait()
    for controller, kind in kinds.items():
        expected = "FailedCreate: " + without_generated_names(found[controller])
        assert without_generated_names(our_message(workload(kind), tmp_path)) == expected
