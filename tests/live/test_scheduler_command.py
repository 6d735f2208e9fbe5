"""The command on a real API server: rights, the how-to's files, the mirror, what is served, and an end."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.live.api_server import free_port
from tests.live.conftest import ControlPlane
from tests.live.processes import RECOVERY, TOPOSPREAD, Process, all_bound, nodes, pods, recovered, scheduler, settle
from tests.live.running import Api, eventually, in_cluster, pod

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "second-scheduler"


def as_reader(plane: ControlPlane, folder: Path) -> Path:
    """A kubeconfig of a user who may do what is granted, and nothing else."""
    made = folder / "reader.kubeconfig"
    made.write_text(plane.kubeconfig.read_text().replace("current-context: local", "current-context: reader"))
    return made


def test_missing_rights_are_named_and_the_how_tos_file_grants_them(own_plane: ControlPlane, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        kubeconfig = as_reader(own_plane, tmp_path)
        config = ["--config", str(HOW_TO / "scheduler.yaml")]
        command = [TOPOSPREAD, "run", "scheduler", "--kubeconfig", kubeconfig, "--secure-port", "0", *config]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        for line in (
            "list, watch nodes",
            "create pods/binding",
            "create leases.coordination.k8s.io in namespace kube-system",
        ):
            assert f"\n  {line}\n" in done.stderr
        rbac = (HOW_TO / "rbac.yaml").read_text()
        user = "  - kind: User\n    name: reader\n    apiGroup: rbac.authorization.k8s.io\n"
        file = tmp_path / "rbac.yaml"
        file.write_text(
            re.sub(r"  - kind: ServiceAccount\n    name: topospread\n    namespace: kube-system\n", user, rbac)
        )
        own_plane.kubectl("apply", "-f", str(file))
        await api.create(*nodes())
        # Everything that is done besides binding needs its right, too: conditions, events, evictions, the lease.
        async with scheduler(kubeconfig, tmp_path, "--leader-elect=true", *config) as ours:
            await eventually(lambda: ours.leads)
            await api.create(*pods(12, schedulerName="topospread"), pod("huge", "100", schedulerName="topospread"))
            await eventually(lambda: has_condition(api, "huge"), RECOVERY)
            await eventually(lambda: has_event(api, "web-0000", "Scheduled"), RECOVERY)
            await eventually(lambda: has_event(api, "huge", "FailedScheduling"), RECOVERY)
            ours.signal(signal.SIGTERM)
            assert await ours.end() == 0
            assert "403 Forbidden" not in ours.log.read_text()
            assert ours.log.read_text().count("Successfully bound pod to node") == 12

    in_cluster(str(own_plane.kubeconfig), scenario)


async def has_condition(api: Api, name: str) -> bool:
    return (await api.condition(name)).get("reason") == "Unschedulable"


async def has_event(api: Api, name: str, reason: str) -> bool:
    return bool(await api.events(name, reason))


def test_the_mirror_binds_nothing_and_agrees_with_kube_scheduler(own_plane: ControlPlane, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes(9))
        kube = Process(
            [
                str(own_plane.programs / "kube-scheduler"),
                f"--kubeconfig={own_plane.kubeconfig}",
                "--secure-port=0",
                "--leader-elect=false",
            ],
            tmp_path / "kube.log",
            free_port(),
        )
        reader = as_reader(own_plane, tmp_path)
        own_plane.kubectl("create", "clusterrole", "see", "--verb=get,list,watch", "--resource=*.*")
        own_plane.kubectl("create", "clusterrolebinding", "see", "--clusterrole=see", "--user=reader")
        try:
            async with scheduler(reader, tmp_path, "--dry-run") as ours:
                for turn in range(30):
                    await api.create(*pods(1, f"one-{turn}"))
                    await eventually(lambda turn=turn: all_bound(api, turn + 1))  # type: ignore[misc]
                await eventually(lambda: ours.metric("topospread_mirrored_bindings_total") == 30, RECOVERY)
                assert ours.metric("topospread_mirrored_share") == 1, ours.log.read_text()
                # Somebody binds a pod to a node that has no room for it, and one to a node that is not the best.
                kube.signal(signal.SIGSTOP)
                await api.create(pod("wrong", "8"))
                await settle(0.5)
                binding = {"metadata": {"name": "wrong"}, "target": {"kind": "Node", "name": "node-0"}}
                path = "/api/v1/namespaces/default/pods/wrong/binding"
                await api.client.request("POST", path, body={"apiVersion": "v1", "kind": "Binding", **binding})
                await eventually(lambda: ours.metric("topospread_mirrored_bindings_total") == 31, RECOVERY)
                log = ours.log.read_text()
                assert '"bound to a node where it does not fit" pod="default/wrong" node="node-0"' in log
                assert "NodeResourcesFit: Insufficient cpu" in log
                assert ours.metric("rest_client_requests_total") > 0
                posts = [line for line in ours.get("/metrics")[1].splitlines() if 'method="POST"' in line]
                assert all('code="201"' in line for line in posts)
                assert ours.metric("scheduler_schedule_attempts_total") == 0
        finally:
            kube.signal(signal.SIGCONT)
            kube.stop()

    in_cluster(str(own_plane.kubeconfig), scenario)


def test_refusals_are_explained_in_events_where_that_is_asked_for(empty_plane: Path, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes(2), *[pod(f"full-{i}", "4", nodeName="node-1", schedulerName="x") for i in range(1)])
        async with scheduler(empty_plane, tmp_path, "--explain-events"):
            await api.create(*pods(3))
            await eventually(lambda: explained(api), RECOVERY)
            (found,) = [each for each in await events(api) if each["reason"] == "FailedSchedulingExplained"][:1]
            assert re.search(r"topology\.kubernetes\.io/zone .*: zone-0 \d \+ 1 − 0 = 2 > 1", found["note"]), found[
                "note"
            ]

    async def events(api: Api) -> list[dict[str, str]]:
        return await api.items("/apis/events.k8s.io/v1/namespaces/default/events")

    async def explained(api: Api) -> bool:
        return any(each["reason"] == "FailedSchedulingExplained" for each in await events(api))

    in_cluster(str(empty_plane), scenario)


def test_metrics_and_configz_are_those_of_kube_scheduler(own_plane: ControlPlane, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        port = free_port()
        kube = Process(
            [
                str(own_plane.programs / "kube-scheduler"),
                f"--kubeconfig={own_plane.kubeconfig}",
                f"--secure-port={port}",
                f"--authentication-kubeconfig={own_plane.kubeconfig}",
                f"--authorization-kubeconfig={own_plane.kubeconfig}",
                "--kube-api-qps=1000",
            ],
            tmp_path / "kube.log",
            port,
        )
        try:
            await api.create(*pods(12, "theirs"), pod("huge", "100"))
            await eventually(lambda: all_but_one_bound(api, 13))
            theirs, shown = scraped(own_plane, port, "/metrics"), scraped(own_plane, port, "/configz")
        finally:
            kube.stop()
        async with scheduler(own_plane.kubeconfig, tmp_path, "--leader-elect=true") as ours:
            await eventually(lambda: ours.leads)
            await api.create(*pods(12, "ours"))
            await eventually(lambda: all_but_one_bound(api, 25))
            compared = same_families(theirs, ours.get("/metrics")[1])
            assert {
                "scheduler_schedule_attempts",
                "scheduler_pod_scheduling_sli_duration_seconds",
                "scheduler_queue_incoming_pods",
                "rest_client_requests",
            } <= compared
            own, other = json.loads(ours.get("/configz")[1]), json.loads(shown)
            other["componentconfig"]["clientConnection"] |= {"kubeconfig": "", "qps": 1000}
            assert other["componentconfig"] | {"clientConnection": None} == own["componentconfig"] | {
                "clientConnection": None
            }

    in_cluster(str(own_plane.kubeconfig), scenario)


async def all_but_one_bound(api: Api, count: int) -> bool:
    listed = await api.items("/api/v1/namespaces/default/pods")
    return sum(1 for each in listed if each["spec"].get("nodeName")) == count - 1


def scraped(plane: ControlPlane, port: int, path: str) -> str:
    token = plane.kubeconfig.parent.joinpath("tokens.csv").read_text().partition(",")[0]
    command = ["curl", "-sk", "-H", f"Authorization: Bearer {token}", f"https://127.0.0.1:{port}{path}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def same_families(theirs: str, ours: str) -> set[str]:
    """The families that both have, after type, help, labels and buckets of each were compared."""
    other = {family.name: family for family in text_string_to_metric_families(theirs)}
    found = set()
    for family in text_string_to_metric_families(ours):
        same = other.get(family.name)
        if same is None or family.name.startswith(("process_", "python_")):
            continue
        assert (family.type, family.documentation) == (same.type, same.documentation)
        labels = [{name for sample in each.samples for name in sample.labels} for each in (family, same)]
        assert labels[0] == labels[1] or not same.samples, family.name
        bounds = [{s.labels["le"] for s in each.samples if "le" in s.labels} for each in (family, same)]
        as_numbers = [{float(bound) for bound in each} for each in bounds]
        assert as_numbers[0] == as_numbers[1], family.name
        found.add(family.name)
    return found


def test_an_end_finishes_what_is_being_bound(empty_plane: Path, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        async with scheduler(empty_plane, tmp_path, "--logging-format=json") as ours:
            await api.create(*pods(60))
            ours.signal(signal.SIGTERM)
            assert await ours.end() == 0
            lines = [json.loads(line) for line in ours.log.read_text().splitlines()]
            said = {each["pod"] for each in lines if each["msg"] == "Successfully bound pod to node"}
            listed = await api.items("/api/v1/namespaces/default/pods")
            bound = {f"default/{each['metadata']['name']}" for each in listed if each["spec"].get("nodeName")}
            assert said == bound
        async with scheduler(empty_plane, tmp_path, name="next"):
            await recovered(api, 60)

    in_cluster(str(empty_plane), scenario)


def test_a_scheduler_that_is_not_ready_says_so(empty_plane: Path, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        async with scheduler(empty_plane, tmp_path) as ours:
            assert ours.get("/readyz?verbose")[1].endswith("readyz check passed\n")
            assert ours.get("/livez") == (200, "ok")
            ours.signal(signal.SIGUSR2)
            await eventually(lambda: "Dump of cache and queue" in ours.log.read_text())

    in_cluster(str(empty_plane), scenario)
