"""``topospread run exporter`` on a real API server: what it says, what a real Prometheus makes of it, and bad days."""

from __future__ import annotations

import asyncio
import re
import signal
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from tests.faults.fault_proxy import fault_proxy
from tests.live.api_server import free_port
from tests.live.conftest import ControlPlane
from tests.live.processes import TOPOSPREAD, Process, address, nodes, with_server
from tests.live.prometheus_server import DEPLOY, dashboard_is_answered, prometheus, promtool
from tests.live.running import Api, eventually, in_cluster, pod, spread
from topospread.answers.status import status
from topospread.exporter.metric_families import BY_NAME, FAMILIES
from topospread.live.access import Access
from topospread.live.read_cluster import live_objects
from topospread.sources.load import load

# Connections that are cut on purpose are closed when the loop that knew them is gone.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

PATIENCE = 90.0
ZONE = "topology.kubernetes.io/zone"
Series = dict[tuple[str, ...], float]


@asynccontextmanager
async def exporting(kubeconfig: Path, folder: Path, *flags: str) -> AsyncIterator[Process]:
    """The exporter, ready."""
    port = free_port()
    words = [str(TOPOSPREAD), "run", "exporter", "--kubeconfig", str(kubeconfig), "--port", str(port), *flags]
    process = Process(words, folder / "export.log", port)
    try:
        await eventually(lambda: process.is_ready, PATIENCE)
        yield process
    finally:
        process.stop()


def series(process: Process, name: str) -> Series:
    """The samples of a family: values of its labels, in its order → value."""
    labels = BY_NAME[name].labels
    text = process.get("/metrics")[1]
    return {
        tuple(sample.labels[label] for label in labels): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }


def bound(name: str, node: str, app: str = "web") -> dict[str, Any]:
    """A pod on a node, with a hard constraint over the zones."""
    return pod(name, labels={"app": app}, topologySpreadConstraints=[spread(ZONE, 1, app=app)], nodeName=node)


def expected(kubeconfig: Path) -> dict[str, Series]:
    """What `status` says of the cluster, read from nothing."""
    found: dict[str, Series] = {name: {} for name in BY_NAME}
    for each in status(load((), live=live_objects(Access(str(kubeconfig))))).workloads:
        workload = (each.namespace, f"{each.kind}/{each.name}")
        found["topospread_workload_pods"][workload] = each.existing
        found["topospread_workload_refused_pods"][workload] = len(each.refused)
        for constraint in each.constraints:
            labels = (*workload, constraint.topology_key, constraint.when_unsatisfiable)
            found["topospread_constraint_skew"][labels] = constraint.skew
            found["topospread_constraint_minimum_pods"][labels] = constraint.minimum
            found["topospread_constraint_domains"][labels] = constraint.eligible
            for domain in constraint.domains:
                found["topospread_domain_pods"][*labels, domain.name] = domain.matching
    return found


def says(process: Process, wanted: dict[str, Series]) -> bool:
    """Whether the exporter says of workloads what `status` says."""
    for name in ("topospread_workload_pods", "topospread_workload_refused_pods", "topospread_constraint_skew"):
        if series(process, name) != wanted[name]:
            return False
    told = series(process, "topospread_domain_pods")
    return {labels: value for labels, value in told.items() if value} == wanted["topospread_domain_pods"]


def test_a_real_prometheus_takes_the_figures_of_status_and_answers_every_query(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    async def scenario() -> None:
        async with exporting(control_plane.kubeconfig, tmp_path) as process:
            wanted = await asyncio.to_thread(expected, control_plane.kubeconfig)
            assert len(wanted["topospread_constraint_skew"]) > 1
            assert says(process, wanted)
            text = process.get("/metrics")[1]
            promtool("check", "metrics", given=text)
            assert {each.name for each in FAMILIES} <= set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
            assert is_open_metrics(process)
            with prometheus(process.port, tmp_path) as server:
                await eventually(lambda: bool(server.query("topospread_workload_pods")), PATIENCE)
                dashboard_is_answered(server)
                assert {each["name"] for group in server.get("rules")["groups"] for each in group["rules"]} == {
                    "TopospreadHardConstraintExceeded",
                    "TopospreadWorkloadInOneZone",
                    "TopospreadPodsPendingBecauseOfSpread",
                    "TopospreadFiguresAreOld",
                }
            process.signal(signal.SIGTERM)
            assert await process.end() == 0

    asyncio.run(scenario())


def is_open_metrics(process: Process) -> bool:
    """Whether OpenMetrics is served to who accepts it."""
    asked = urllib.request.Request(
        f"http://127.0.0.1:{process.port}/metrics", headers={"Accept": "application/openmetrics-text;version=1.0.0"}
    )
    with urllib.request.urlopen(asked, timeout=10) as answer:
        kind, text = answer.headers["Content-Type"], answer.read().decode()
    assert text.endswith("# EOF\n")
    return kind.startswith("application/openmetrics-text") and bool(list(openmetrics(text)))


def test_rules_do_what_they_say() -> None:
    promtool("check", "rules", "rules.yaml")
    promtool("test", "rules", "rules-test.yaml")
    promtool("check", "config", "scrape.yaml")


def test_promtool_takes_the_configuration_for_kind(tmp_path: Path) -> None:
    """As the ConfigMap of docs/how-to/kind.md has it: the configuration and the alerts in one folder."""
    for path in (DEPLOY.parents[1] / "docs" / "how-to" / "kind" / "prometheus.yml", DEPLOY / "rules.yaml"):
        (tmp_path / path.name).write_text(path.read_text())
    promtool("check", "config", "prometheus.yml", folder=tmp_path)


def test_changes_are_in_the_figures_and_series_of_what_is_gone_are_not(own_plane: ControlPlane, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        await api.create(bound("web-0", "node-0"))
        async with exporting(own_plane.kubeconfig, tmp_path) as process:
            of_web = ("default", "Pod/web-0", ZONE, "DoNotSchedule")
            assert series(process, "topospread_constraint_skew")[of_web] == 1
            await api.create(bound("web-1", "node-3"))
            await eventually(lambda: series(process, "topospread_constraint_skew").get(of_web) == 2, PATIENCE)
            assert series(process, "topospread_workload_refused_pods")["default", "Pod/web-1"] == 1
            await api.create(
                pod("web-2", labels={"app": "web"}, topologySpreadConstraints=[spread("rack", 1, app="web")])
            )
            blocked = ("default", "Pod/web-2", "rack", "DoNotSchedule")
            await eventually(lambda: series(process, "topospread_constraint_blocked_pods").get(blocked) == 1, PATIENCE)
            await api.delete_pod("web-0")
            await eventually(lambda: of_web not in series(process, "topospread_constraint_skew"), PATIENCE)

            async def agrees() -> bool:
                return says(process, await asyncio.to_thread(expected, own_plane.kubeconfig))

            await eventually(agrees, PATIENCE)

    in_cluster(str(own_plane.kubeconfig), scenario)


def test_bad_days_are_survived_with_the_last_known_state(own_plane: ControlPlane, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        await api.create(bound("web-0", "node-0"))
        async with fault_proxy(address(own_plane.kubeconfig)) as proxy:
            own = with_server(own_plane.kubeconfig, tmp_path, proxy.url)
            async with exporting(own, tmp_path, "-v", "2") as process:
                faults, number = proxy.faults, 0

                async def agrees() -> bool:
                    return says(process, await asyncio.to_thread(expected, own_plane.kubeconfig))

                async def survives(why: str) -> None:
                    """The state is shown meanwhile, what is missed is caught up with afterwards; the log says so."""
                    nonlocal number
                    number += 1
                    await api.create(bound(f"late-{number}", f"node-{number % 6}", "late"))
                    await eventually(lambda: why in process.log.read_text(), PATIENCE)
                    await eventually(lambda: min(up(process).values()) == 0, PATIENCE)
                    assert ("default", "Pod/web-0") in await asyncio.to_thread(shown, process)
                    assert process.is_ready
                    faults.closed, faults.status, faults.retry_after, faults.halved = False, 0, None, False
                    faults.matches = lambda method, path: True
                    await eventually(lambda: ("default", f"Pod/late-{number}") in shown(process), PATIENCE)
                    await eventually(lambda: min(up(process).values()) == 1, PATIENCE)
                    await eventually(agrees, PATIENCE)

                before = errors(process)
                faults.closed = True
                faults.cut_watches()
                await eventually(lambda: min(ages(process).values()) > 3, PATIENCE)
                await survives("a kind cannot be followed: its last known state is kept")
                assert errors(process) > before
                faults.status, faults.retry_after = 429, 1
                faults.cut_watches()
                await survives("429")
                faults.status = 410
                faults.cut_watches()
                await eventually(lambda: process.metric("topospread_watch_relists_total") > 0, PATIENCE)
                faults.status = 500
                await survives("listing a kind again")
                faults.status, faults.matches = 403, lambda method, path: path.endswith("/services")
                faults.cut_watches()
                await survives("403")
                faults.halved, faults.matches = True, lambda method, path: path.endswith("/pods")
                faults.cut_watches()
                await survives("the watch of /api/v1/pods broke")
                assert process.ended is None

    in_cluster(str(own_plane.kubeconfig), scenario)


def up(process: Process) -> Series:
    return series(process, "topospread_watch_up")


def shown(process: Process) -> Series:
    return series(process, "topospread_workload_pods")


def ages(process: Process) -> Series:
    return series(process, "topospread_last_sync_age_seconds")


def errors(process: Process) -> float:
    return sum(series(process, "topospread_watch_errors_total").values())


def test_the_scheduler_serves_the_same_beside_its_own(own_plane: ControlPlane, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        await api.create(*nodes())
        await api.create(bound("web-0", "node-0"))
        port = free_port()
        words = [str(TOPOSPREAD), "run", "scheduler", "--kubeconfig", str(own_plane.kubeconfig), "--leader-elect=false"]
        process = Process([*words, "--secure-port", str(port), "--export"], tmp_path / "scheduler.log", port)
        try:
            await eventually(lambda: process.is_ready, PATIENCE)
            await eventually(lambda: ("default", "Pod/web-0") in shown(process), PATIENCE)
            assert process.metric("scheduler_pending_pods") == 0
            promtool("check", "metrics", given=process.get("/metrics")[1])
        finally:
            process.stop()

    in_cluster(str(own_plane.kubeconfig), scenario)


def test_without_the_right_to_read_pods_it_says_so_and_ends(own_plane: ControlPlane, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        async with fault_proxy(address(own_plane.kubeconfig)) as proxy:
            proxy.faults.status = 401
            own = with_server(own_plane.kubeconfig, tmp_path, proxy.url)
            words = [str(TOPOSPREAD), "run", "exporter", "--kubeconfig", str(own), "--port", str(free_port())]
            started = time.monotonic()
            process = Process(words, tmp_path / "export.log", 0)
            assert await process.end(PATIENCE) == 2, time.monotonic() - started
            assert "does not accept these credentials (401 Unauthorized)" in process.log.read_text()

    in_cluster(str(own_plane.kubeconfig), scenario)
