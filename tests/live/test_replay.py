"""A replay beside what really happened: kube-scheduler refuses, and the API server's own audit log says it all.

Or its events do, which kube-scheduler and the ReplicaSet controller wrote.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import topospread
from tests.live.api_server import api_server, free_port
from tests.live.conftest import ControlPlane
from tests.live.running import node, pod, spread
from topospread.replay.replay import replay

ZONE = "topology.kubernetes.io/zone"
POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
  - level: None
    verbs: [get, list, watch]
  - level: RequestResponse
    resources:
      - {group: "", resources: [pods, pods/binding, pods/status, nodes, nodes/status, events]}
      - {group: events.k8s.io, resources: [events]}
  - level: None
"""
SCHEDULER = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: %s}
"""
PATIENCE = 90.0


@contextmanager
def scheduled(plane: ControlPlane, folder: Path) -> Iterator[None]:
    """kube-scheduler at work."""
    (folder / "scheduler.yaml").write_text(SCHEDULER % plane.kubeconfig)
    command = [plane.programs / "kube-scheduler", "--config", folder / "scheduler.yaml", "--secure-port", free_port()]
    with at_work(command, folder / "scheduler.log"):
        yield


@contextmanager
def at_work(command: Sequence[object], said: Path) -> Iterator[None]:
    """A program that runs meanwhile, and where it writes what it says."""
    with said.open("w") as log:
        process = subprocess.Popen(list(map(str, command)), stdout=log, stderr=log)
        try:
            yield
        finally:
            process.kill()
            process.wait()


def until(check: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not check():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.2)


def test_the_audit_log_of_a_real_api_server_says_who_was_refused_and_what_began_it(
    kubectl: Path, tmp_path: Path
) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY)
    log = tmp_path / "audit.jsonl"
    flags = f"--audit-policy-file={tmp_path / 'policy.yaml'} --audit-log-path={log} --audit-log-mode=blocking"
    with api_server(kubectl, tmp_path / "plane", flags) as kubeconfig:
        plane = ControlPlane(kubeconfig, kubectl)
        plane.kubectl("create", "serviceaccount", "default")
        plane.create([node("a1", "a"), node("b1", "b"), node("c1", "c")])

        def state(name: str) -> str:
            conditions = json.loads(plane.kubectl("get", "pod", name, "-o", "json"))["status"].get("conditions", [])
            return next((each["status"] for each in conditions if each["type"] == "PodScheduled"), "")

        def create(*names: str) -> None:
            constraints = [spread(ZONE, 1, app="web")]
            made = [pod(each, labels={"app": "web"}, topologySpreadConstraints=constraints) for each in names]
            plane.create(made)

        before = tmp_path / "before.json"
        before.write_text(plane.kubectl("get", "nodes,pods", "-A", "-o", "json"))
        with scheduled(plane, tmp_path):
            create("web-0", "web-1")
            until(lambda: state("web-0") == state("web-1") == "True")
            free = next(
                each
                for each in ("a1", "b1", "c1")
                if each not in plane.kubectl("get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}")
            )
            plane.kubectl("cordon", free)
            create("web-2")
            until(lambda: state("web-2") == "False")
            # The event is written after the condition.
            until(lambda: "web-2" in plane.kubectl("get", "events.events.k8s.io", "-o", "name"))
            plane.kubectl("uncordon", free)
            until(lambda: state("web-2") == "True")
    if "REPLAY_LOG" in os.environ:
        shutil.copy(log, os.environ["REPLAY_LOG"])
        shutil.copy(before, f"{os.environ['REPLAY_LOG']}.before")
    found = replay(topospread.load(str(before)), log)
    (refused,) = found.refusals
    assert (refused.pod, refused.agrees) == ("default/web-2", True), (refused.said, refused.computed)
    assert "didn't match pod topology spread constraints" in refused.said
    assert refused.cause is not None
    assert (refused.cause.what, refused.cause.node) == ("cordoned", free)
    assert refused.placed_on == free


@contextmanager
def controlled(plane: ControlPlane, folder: Path) -> Iterator[None]:
    """The ReplicaSet controller at work."""
    command = [plane.programs / "kube-controller-manager", "--kubeconfig", plane.kubeconfig, "--leader-elect=false"]
    command += ["--controllers=replicaset-controller", "--secure-port", free_port()]
    with at_work(command, folder / "manager.log"):
        yield


def told_by_kubelet(plane: ControlPlane, name: str, reason: str) -> None:
    """The event that a kubelet writes of its node (pkg/kubelet/kubelet_node_status.go): none runs here."""
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": f"{name}.", "namespace": "default"},
        "involvedObject": {"kind": "Node", "name": name, "uid": name},
        "reason": reason,
        "message": f"Node {name} status is now: {reason}",
        "type": "Normal",
        "source": {"component": "kubelet", "host": name},
        "eventTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "reportingComponent": "kubelet",
        "reportingInstance": name,
        "action": "Told",
    }
    plane.kubectl("create", "-f", "-", given=event)


def test_events_that_the_real_controllers_wrote_say_who_was_refused_and_what_began_it(
    own_plane: ControlPlane, tmp_path: Path
) -> None:
    plane = own_plane
    plane.create([node("a1", "a"), node("b1", "b"), node("c1", "c")])
    template = pod("unnamed", labels={"app": "web"}, topologySpreadConstraints=[spread(ZONE, 1, app="web")])
    del template["spec"]["terminationGracePeriodSeconds"]
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": template["spec"]},
        },
    }

    def where() -> list[str]:
        listed = json.loads(plane.kubectl("get", "pods", "-o", "json"))["items"]
        return [each["spec"].get("nodeName", "") for each in listed]

    def listed() -> str:
        return plane.kubectl("get", "events", "-A", "-o", "json")

    before, events = tmp_path / "before.json", tmp_path / "events.json"
    with scheduled(plane, tmp_path), controlled(plane, tmp_path):
        plane.create([owner])
        until(lambda: len(where()) == 2 and all(where()))
        before.write_text(plane.kubectl("get", "nodes,pods,replicasets,services", "-A", "-o", "json"))
        (free,) = {"a1", "b1", "c1"} - set(where())
        told_by_kubelet(plane, free, "NodeNotSchedulable")
        plane.kubectl("cordon", free)
        plane.kubectl("scale", "replicaset", "web", "--replicas=3")
        until(lambda: "FailedScheduling" in listed())
        told_by_kubelet(plane, free, "NodeSchedulable")
        plane.kubectl("uncordon", free)
        until(lambda: len(where()) == 3 and all(where()))
        until(lambda: listed().count("Successfully assigned") == 3)
        events.write_text(listed())
    if "REPLAY_LOG" in os.environ:
        shutil.copy(events, os.environ["REPLAY_LOG"])
        shutil.copy(before, f"{os.environ['REPLAY_LOG']}.before")
    found = replay(topospread.load(str(before)), events=events)
    (refused,) = found.refusals
    assert refused.agrees, (refused.said, refused.computed)
    assert "didn't match pod topology spread constraints" in refused.said
    assert refused.cause is not None
    assert (refused.cause.what, refused.cause.node) == ("cordoned", free)
    assert refused.placed_on == free
