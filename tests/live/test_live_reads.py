"""Commands that read a real API server, and a copy of it that is followed through bad days."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

import topospread as library
from tests.faults.fault_proxy import FaultProxy, fault_proxy
from tests.live.conftest import ControlPlane
from tests.live.processes import address, nodes, part, with_server
from tests.live.running import eventually
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject
from topospread.api.pod import Pod
from topospread.live.access import Access
from topospread.live.followed_cluster import FollowedCluster, follow

Json = dict[str, Any]
TOPOSPREAD = Path(sys.executable).parent / "topospread"
PATIENCE = 90.0


def topospread(control_plane: ControlPlane, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TOPOSPREAD, *words],
        env=control_plane.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@contextmanager
def pod(control_plane: ControlPlane, name: str, **spec: Any) -> Iterator[Json]:
    """A pod of the shop for as long as the block runs."""
    container = {"name": "c", "image": "i"}
    item = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "labels": {"app": name}},
        "spec": {"containers": [container]} | spec,
    }
    control_plane.create([item])
    try:
        yield json.loads(control_plane.kubectl("get", "pod", name, "-n", "shop", "-o", "json"))
    finally:
        control_plane.kubectl("delete", "pod", name, "-n", "shop", "--force", "--grace-period=0")


@pytest.mark.parametrize(
    "words", [("status",), ("simulate", "--scale", "shop/deploy/web=40")], ids=lambda words: words[0]
)
def test_the_cluster_gives_the_answers_of_its_snapshot(
    words: tuple[str, ...], control_plane: ControlPlane, tmp_path: Path
) -> None:
    path = tmp_path / "cluster.json.gz"
    assert topospread(control_plane, "dump", str(path)).returncode == 0
    found = []
    for given in ([], ["-f", str(path)]):
        done = topospread(control_plane, *words, *given, "-o", "json")
        assert done.returncode in (0, 1), done.stderr
        answer = json.loads(done.stdout)
        assert answer["on"].pop("source") in ("", str(path) if given else "the live cluster")
        assert answer["on"].pop("taken")
        for each in answer["remedies"]:
            command = each["command"]
            each["command"] = command[: len(command) - len(given)]
            assert command == each["command"] + given
        # A snapshot has the PodGroups, and a cluster is not asked for them while their gate is off.
        answer["warnings"] = [each for each in answer["warnings"] if "a PodGroup has no effect" not in each]
        found.append({key: value for key, value in answer.items() if key != "notes"})
    assert found[0] == found[1]


def test_a_followed_copy_holds_what_the_snapshot_holds(control_plane: ControlPlane, tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    assert topospread(control_plane, "dump", str(path)).returncode == 0
    snapshot = library.load(str(path))

    async def scenario() -> None:
        async with follow(Access(str(control_plane.kubeconfig))) as followed:
            await eventually(lambda: followed.state.ready, PATIENCE)
            found = followed.inventory()
        for kind in KINDS.values():
            ours, theirs = getattr(found, kind.attribute), getattr(snapshot, kind.attribute)
            assert [read_again(each) for each in ours] == [read_again(each) for each in theirs]

    asyncio.run(scenario())


def read_again(item: KubeObject) -> bytes:
    """An object as a snapshot gives it: a stored pod has no resourceVersion there."""
    if isinstance(item, Pod):
        item = msgspec.structs.replace(item, metadata=msgspec.structs.replace(item.metadata, resource_version=None))
    return msgspec.json.encode(item)


@pytest.mark.parametrize("group", ["events.k8s.io/v1", "v1"])
def test_explain_tells_how_often_a_pod_that_waits_was_tried(group: str, control_plane: ControlPlane) -> None:
    name = f"waits-{group.replace('/', '-').replace('.', '-')}"
    with pod(control_plane, name, nodeSelector={"nobody": "has-this"}) as waiting:
        about = {
            "kind": "Pod",
            "namespace": "shop",
            "name": name,
            "uid": waiting["metadata"]["uid"],
            "apiVersion": "v1",
        }
        at = "2026-01-01T10:00:00.000000Z"
        event: Json = {"apiVersion": group, "kind": "Event", "metadata": {"name": name, "namespace": "shop"}}
        event |= {"reason": "FailedScheduling", "type": "Warning", "eventTime": at, "action": "Scheduling"}
        event["series"] = {"count": 7, "lastObservedTime": at.replace("10:00", "10:30")}
        if group == "v1":
            event |= {"involvedObject": about, "message": "0/6 nodes", "reportingComponent": "default-scheduler"}
            event["reportingInstance"] = "here"
        else:
            event |= {"regarding": about, "note": "0/6 nodes", "reportingController": "default-scheduler"}
            event["reportingInstance"] = "here"
        control_plane.create([event])
        done = topospread(control_plane, "why", name, "-n", "shop", "-o", "json")
        assert done.returncode == 1, done.stderr
        assert json.loads(done.stdout)["tries"] == {
            "since": waiting["metadata"]["creationTimestamp"],
            "atLeast": 7,
            "last": "2026-01-01T10:30:00Z",
            "message": "0/6 nodes",
        }
        shown = topospread(control_plane, "why", name, "-n", "shop")
        assert "tried at least 7 times, last at 2026-01-01T10:30:00Z: 0/6 nodes" in " ".join(shown.stdout.split())


def test_status_is_shown_again_when_the_cluster_changes(control_plane: ControlPlane, tmp_path: Path) -> None:
    shown = tmp_path / "shown.json"

    async def scenario() -> None:
        await eventually(lambda: shown.read_text().endswith("}\n"), PATIENCE)
        with pod(control_plane, "comes", nodeName="node-0"):
            await eventually(lambda: '"comes"' in shown.read_text(), PATIENCE)

    with shown.open("w") as file:
        running = subprocess.Popen(
            [TOPOSPREAD, "status", "--watch", "-o", "json", "-n", "shop"],
            env=control_plane.environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.DEVNULL,
        )
        try:
            asyncio.run(scenario())
        finally:
            running.terminate()
            running.wait()
    first, end = json.JSONDecoder().raw_decode(shown.read_text())
    assert first["kind"] == "Status"
    assert shown.read_text()[end:].strip()


def test_who_watches_is_told_that_the_api_server_stands_still(own_plane: ControlPlane, tmp_path: Path) -> None:
    own_plane.create(nodes())
    for before in (True, False):
        _watched_while_it_stands_still(own_plane, tmp_path / f"{before}.err", before=before)


def _watched_while_it_stands_still(plane: ControlPlane, told: Path, *, before: bool) -> None:
    """It stands still from before the command begins, or from when a status is there; it says nothing to anybody."""
    shown = told.with_suffix(".out")

    async def scenario() -> None:
        if before:
            await eventually(lambda: "no answer from the API server yet, for " in told.read_text(), PATIENCE)
        else:
            await eventually(lambda: "up to date" in shown.read_text(), PATIENCE)
            server.signal(signal.SIGSTOP)
            await eventually(lambda: "Z; API server: it does not answer" in told.read_text(), PATIENCE)
        server.signal(signal.SIGCONT)
        await eventually(lambda: "up to date" in (shown if before else told).read_text().split("not up")[-1], PATIENCE)

    with part(plane.kubeconfig, "apiserver") as server, shown.open("w") as out, told.open("w") as err:
        if before:
            server.signal(signal.SIGSTOP)
        command = [str(TOPOSPREAD), "status", "--watch"]
        running = subprocess.Popen(command, env=plane.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            asyncio.run(scenario())
        finally:
            server.signal(signal.SIGCONT)
            running.terminate()
            running.wait()


def test_on_bad_days_the_last_state_stays_with_its_age_and_it_recovers(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    async def scenario() -> None:
        async with fault_proxy(address(control_plane.kubeconfig)) as proxy:
            kubeconfig = with_server(control_plane.kubeconfig, tmp_path, proxy.url)
            async with follow(Access(str(kubeconfig))) as followed:
                await eventually(lambda: followed.state.ready and len(proxy.faults.watches) == len(KINDS), PATIENCE)
                for number, fault in enumerate(({"closed": True}, {"status": 429, "retry_after": 1}, {"status": 403})):
                    await _through(followed, proxy, fault, control_plane, f"after-{number}")
                await _through(followed, proxy, {"status": 410}, control_plane, "after-gone", behind=False)

    asyncio.run(scenario())


async def _through(
    followed: FollowedCluster,
    proxy: FaultProxy,
    fault: Json,
    control_plane: ControlPlane,
    name: str,
    *,
    behind: bool = True,
) -> None:
    """Something goes wrong with pods, something happens meanwhile, and in the end it is known."""
    faults, nodes = proxy.faults, len(followed.inventory().nodes)
    faults.matches = lambda method, path: path.endswith("/pods")
    for field, value in fault.items():
        setattr(faults, field, value)
    faults.cut_watches()
    if behind:
        await eventually(lambda: "pods" in followed.state.problems, PATIENCE)
        assert followed.state.behind_since is not None
    with pod(control_plane, name):
        assert len(followed.inventory().nodes) == nodes
        assert name not in {each.name for each in followed.inventory().pods}
        faults.closed, faults.status, faults.retry_after = False, 0, None
        await eventually(lambda: name in {each.name for each in followed.inventory().pods}, PATIENCE)
        await eventually(lambda: followed.state.behind_since is None, PATIENCE)
    await eventually(lambda: name not in {each.name for each in followed.inventory().pods}, PATIENCE)
    await eventually(lambda: len(faults.watches) == len(KINDS), PATIENCE)
