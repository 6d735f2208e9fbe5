"""The API server is away for a whole minute: the page and the exporter keep what they knew, say so, and go on."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from tests.drawn import LONG
from tests.live.conftest import ControlPlane
from tests.live.processes import Process, nodes, part
from tests.live.running import eventually, node
from tests.live.test_export import ages, bound, errors, exporting, shown, up
from tests.live.test_page import ServedPage, served
from topospread.exporter.following import FOLLOWED

MINUTE = 60.0 if LONG > 1 else 30.0
"""Seconds that it is away: a whole minute at night."""
PATIENCE = 120.0


def test_a_minute_without_the_api_server_is_outlived_by_the_page_and_the_exporter(
    own_plane: ControlPlane, tmp_path: Path
) -> None:
    async def scenario(*_: object) -> None:
        async with (
            exporting(own_plane.kubeconfig, tmp_path) as exporter,
            served(own_plane.kubeconfig, tmp_path) as page,
        ):
            await page.becomes(lambda state: state["nodes"] == 6 and state["live"] and not state["trouble"])
            before = errors(exporter)
            with part(own_plane.kubeconfig, "apiserver") as server:
                command = server.kill()
                gone = time.monotonic()
                await said_while_away(page, exporter, gone)
                assert errors(exporter) > before
                server.start(command)
                await page.becomes(lambda state: state["trouble"] == "")
                await followed_again(page, exporter)
                await knows_what_comes_now(own_plane, page, exporter)

    own_plane.create([*nodes(), bound("web-0", "node-0")])
    asyncio.run(scenario())


async def said_while_away(page: ServedPage, exporter: Process, gone: float) -> None:
    """For a minute the last state is served with its age, both logs have a line, and metrics tell."""
    await eventually(lambda: max(up(exporter).values()) == 0, PATIENCE)
    while time.monotonic() - gone < MINUTE:
        assert ("default", "Pod/web-0") in shown(exporter)
        assert exporter.is_ready
        assert exporter.metric("topospread_nodes") == 6
        await page.becomes(lambda state: state["nodes"] == 6)
        await asyncio.sleep(5)
    await page.becomes(lambda state: state["age"] > MINUTE - 10 and state["trouble"] != "")
    assert len(ages(exporter)) == len(FOLLOWED)
    assert min(ages(exporter).values()) > MINUTE - 10
    assert exporter.log.read_text().count("a kind cannot be followed: its last known state is kept") == len(FOLLOWED)
    assert page.said("the cluster cannot be followed") >= 1
    assert page.metric("topospread_last_sync_age_seconds") > MINUTE - 10
    assert page.metric("topospread_watch_up") == 0


async def followed_again(page: ServedPage, exporter: Process) -> None:
    """By themselves: no kind is left behind, and both logs say so."""
    await eventually(lambda: min(up(exporter).values()) == 1, PATIENCE)
    await eventually(lambda: exporter.log.read_text().count("a kind is followed again") == len(FOLLOWED), PATIENCE)
    await eventually(lambda: page.said("the cluster is followed again") >= 1, PATIENCE)
    await eventually(lambda: page.metric("topospread_watch_up") == 1, PATIENCE)


async def knows_what_comes_now(plane: ControlPlane, page: ServedPage, exporter: Process) -> None:
    """What is created after the minute is seen by both."""
    await asyncio.to_thread(plane.create, [node("late"), bound("web-1", "late")])
    await page.becomes(lambda state: state["nodes"] == 7 and state["trouble"] == "")
    await eventually(lambda: ("default", "Pod/web-1") in shown(exporter), PATIENCE)
    assert exporter.ended is None
