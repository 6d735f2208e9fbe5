"""What `explain` suggests, carried out as printed beside real controllers and kube-scheduler; there are no kubelets.

Pods that have a node are made ready as a kubelet would. Each corner of the cluster is one case; all are played at once.
"""

from __future__ import annotations

import json
import random
import shlex
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import topospread
from tests.drawn import LONG
from tests.live.api_server import free_port
from tests.live.conftest import ControlPlane
from tests.live.scenarios import POOL, corner
from tests.property.explained import apply_patch
from topospread.answers.remedies import remedy_of
from topospread.text import shell_line
from topospread.why.explain import explain
from topospread.why.result import Suggestion

Json = dict[str, Any]
CORNERS = 60 * LONG
LEAST = 20 * LONG
PATIENCE = 90.0
READ = "nodes,pods,deployments,replicasets,statefulsets,jobs"
TRIED = frozenset(
    {"maxSkew", "whenUnsatisfiable", "minDomains", "nodeTaintsPolicy", "toleration", "topologyKey", "antiAffinity"}
)
"""Changes that a command or a manifest brings about; more room or another node is no command."""
CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: %s, qps: 500, burst: 1000}
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 1
"""


@dataclass(frozen=True)
class Case:
    """A corner with the suggestion that is carried out there."""

    namespace: str
    suggestion: Suggestion
    command: str


@contextmanager
def controllers(plane: ControlPlane, folder: Path, *more: str) -> Iterator[None]:
    """The controllers and the scheduler, and kubelets that only say that pods run; ``more``: other controllers."""
    (folder / "scheduler.yaml").write_text(CONFIGURATION % plane.kubeconfig)
    which = "deployment-controller,replicaset-controller,statefulset-controller,job-controller"
    common = ["--secure-port", str(free_port()), "--kubeconfig", str(plane.kubeconfig)]
    manager = [plane.programs / "kube-controller-manager", *common, "--leader-elect=false", "--kube-api-qps=500"]
    manager += ["--kube-api-burst=1000", f"--controllers={','.join([which, 'garbage-collector-controller', *more])}"]
    scheduler = [plane.programs / "kube-scheduler", "--config", folder / "scheduler.yaml"]
    scheduler += ["--secure-port", str(free_port())]
    stop = threading.Event()
    kubelets = threading.Thread(target=_kubelets, args=(plane, stop))
    with (folder / "manager.log").open("w") as one, (folder / "scheduler.log").open("w") as other:
        running = [
            subprocess.Popen(list(map(str, command)), stdout=log, stderr=log)
            for command, log in ((manager, one), (scheduler, other))
        ]
        kubelets.start()
        try:
            yield
        finally:
            stop.set()
            kubelets.join()
            for each in running:
                each.kill()
                each.wait()


def _kubelets(plane: ControlPlane, stop: threading.Event) -> None:
    """Say of pods on nodes that they run and are ready."""
    ready = [{"type": "Ready", "status": "True"}, {"type": "PodScheduled", "status": "True"}]
    while not stop.wait(0.5):
        for each in _pods(plane):
            if each["spec"].get("nodeName") and each["status"].get("phase") != "Running":
                status = {"status": {"phase": "Running", "conditions": ready}}
                name, namespace = each["metadata"]["name"], each["metadata"]["namespace"]
                words = ["patch", "pod", name, "-n", namespace, "--subresource=status", "--type=merge", "-p"]
                _kubectl(plane, *words, json.dumps(status))


def _kubectl(plane: ControlPlane, *words: str, given: object = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [plane.programs / "kubectl", *words],
        input=None if given is None else json.dumps(given),
        env=plane.environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _pods(plane: ControlPlane) -> list[Json]:
    found: list[Json] = json.loads(plane.kubectl("get", "--raw", "/api/v1/pods?resourceVersion=0"))["items"]
    return found


def _is_decided(pod: Json) -> bool:
    conditions = pod["status"].get("conditions") or ()
    return bool(pod["spec"].get("nodeName")) or any(each["type"] == "PodScheduled" for each in conditions)


def settled(plane: ControlPlane, least: int) -> None:
    """Wait until every pod was decided on and nothing changes any more."""
    before: object = None
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        pods = _pods(plane)
        now = sorted((each["metadata"]["uid"], each["spec"].get("nodeName", ""), _is_decided(each)) for each in pods)
        if len(pods) >= least and now == before and all(decided for _, _, decided in now):
            return
        before = now
        time.sleep(2)
    raise AssertionError("the pods did not settle")


def read_corners(plane: ControlPlane, folder: Path) -> dict[str, Path]:
    """A file of each corner as it is now."""
    items = json.loads(plane.kubectl("get", READ, "-A", "-o", "json"))["items"]
    by_corner: dict[str, list[Json]] = {}
    for each in items:
        metadata = each["metadata"]
        at = metadata.get("labels", {}).get(POOL) if each["kind"] == "Node" else metadata["namespace"]
        by_corner.setdefault(at or "", []).append(each)
    made = {}
    for name, found in by_corner.items():
        made[name] = folder / f"{name}.json"
        made[name].write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": found}))
    return made


def chosen(draw: random.Random, path: Path, target: str) -> Case | None:
    """A suggestion of those that a person can carry out; ``None`` where there is none."""
    explained = explain(topospread.load(str(path)), target)
    fit = [
        each
        for each in explained.suggestions
        if set(each.kind.split("+")) <= TRIED and (each.complete or each.means != "rollout")
    ]
    if not fit:
        return None
    each = draw.choice(fit)
    return Case(target.partition("/")[0], each, shell_line(remedy_of(each).command))


def carry_out(plane: ControlPlane, case: Case) -> None:
    """What is printed, as a person does it: the command, or the patched object deleted and created again."""
    target = case.suggestion.object
    scope = ("-n", case.namespace)
    if case.command.startswith("kubectl "):
        done = _kubectl(plane, *shlex.split(case.command)[1:])
        assert done.returncode == 0, (case, done.stderr)
    if case.suggestion.means == "recreate":
        item = json.loads(plane.kubectl("get", target["kind"], target["name"], *scope, "-o", "json"))
        patched = apply_patch(item, case.suggestion.patch)
        plane.kubectl("delete", target["kind"], target["name"], *scope, "--cascade=foreground")
        time.sleep(4)  # the others that wait are there first
        plane.kubectl("create", "--validate=false", "-f", "-", given=_as_written(patched))
    elif case.suggestion.means == "new pods":
        waiting = plane.kubectl("get", "pods", *scope, "--field-selector=spec.nodeName=", "-l", "app=web", "-o", "name")
        plane.kubectl("delete", *scope, *waiting.split())
    elif case.suggestion.means == "rollout" and target["kind"] == "StatefulSet":
        waiting = plane.kubectl("get", "pods", *scope, "--field-selector=spec.nodeName=", "-l", "app=web", "-o", "name")
        _kubectl(plane, "delete", *scope, *waiting.split())


def _as_written(item: Json) -> Json:
    """The object without what the API server and its controllers add to it."""
    metadata = {name: item["metadata"][name] for name in ("name", "namespace", "labels") if name in item["metadata"]}
    spec = {name: value for name, value in item["spec"].items() if name not in ("selector", "nodeName")}
    for labels in (metadata.get("labels", {}), spec.get("template", {}).get("metadata", {}).get("labels", {})):
        for key in [each for each in labels if "controller-uid" in each or "job-name" in each]:
            del labels[key]
    return {"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": metadata, "spec": spec}


def came_true(plane: ControlPlane, cases: list[Case]) -> tuple[Callable[[], bool], dict[str, tuple[int, int]]]:
    """Asks whether each corner has as many pods of the workload on nodes as was said, and remembers what it has."""
    there: dict[str, tuple[int, int]] = {}

    def ask() -> bool:
        placed: Counter[str] = Counter()
        every: Counter[str] = Counter()
        for each in _pods(plane):
            if each["metadata"]["labels"].get("app") == "web" and "deletionTimestamp" not in each["metadata"]:
                every[each["metadata"]["namespace"]] += 1
                placed[each["metadata"]["namespace"]] += bool(each["spec"].get("nodeName"))
        there.update({each.namespace: (placed[each.namespace], every[each.namespace]) for each in cases})
        said = {each.namespace: (each.suggestion.placed, each.suggestion.wanted) for each in cases}
        return there == said

    return ask, there


@pytest.fixture
def cases(own_plane: ControlPlane, tmp_path: Path) -> Iterator[list[Case]]:
    draw = random.Random(20260)
    corners = [corner(draw, number) for number in range(CORNERS)]
    with controllers(own_plane, tmp_path):
        for index in (0, 1):
            given = [item for each in corners for item in each[index]]
            own_plane.kubectl("create", "--validate=false", "-f", "-", given=_list(given))
            settled(own_plane, CORNERS * index)
        files = read_corners(own_plane, tmp_path)
        found = [chosen(draw, files[target.partition("/")[0]], target) for *_, target in corners]
        yield [each for each in found if each is not None]


def _list(items: list[Json]) -> Json:
    return {"apiVersion": "v1", "kind": "List", "items": items}


def test_what_is_suggested_comes_true_when_it_is_carried_out_as_printed(
    own_plane: ControlPlane, cases: list[Case]
) -> None:
    assert len(cases) >= LEAST
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda each: carry_out(own_plane, each), cases))
    ask, there = came_true(own_plane, cases)
    until = time.monotonic() + PATIENCE
    while not ask() and time.monotonic() < until:
        time.sleep(1)
    wrong = [
        (each.namespace, each.suggestion, there[each.namespace])
        for each in cases
        if there[each.namespace] != (each.suggestion.placed, each.suggestion.wanted)
    ]
    assert wrong == [], f"{len(wrong)} of {len(cases)}"
