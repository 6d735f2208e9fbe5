"""The page about a real API server: it follows, keeps what it knows on bad days, says so, and goes on by itself."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from tests.faults.fault_proxy import FaultProxy, fault_proxy
from tests.live.conftest import ControlPlane
from tests.live.running import eventually, node
from tests.live.test_scheduler_faults import address, with_server

Json = dict[str, Any]
COMMAND = (sys.executable, "-c", "import sys; from topospread.cli.main import main; sys.exit(main())")
PATIENCE = 120.0


@dataclass(frozen=True)
class ServedPage:
    """A page about a cluster: its address with the token, and what the command says."""

    url: str
    log: Path

    def _get(self, path: str) -> bytes:
        address, _, token = self.url.partition("?token=")
        with urlopen(Request(f"{address}{path}", headers={"Authorization": f"Bearer {token}"})) as answer:
            read: bytes = answer.read()
            return read

    async def becomes(self, check: Callable[[Json], bool]) -> None:
        """Wait for a state."""

        async def so() -> bool:
            return check(await asyncio.to_thread(self._state))

        await eventually(so, PATIENCE)

    def _state(self) -> Json:
        found: Json = json.loads(self._get("api/state"))
        return found

    def metric(self, name: str) -> float:
        """The least of a metric's series."""
        lines = self._get("metrics").decode().splitlines()
        return min(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"{name}{{"))

    def said(self, words: str) -> int:
        """In how many lines of the log these words stand."""
        return sum(words in line for line in self.log.read_text().splitlines())


@asynccontextmanager
async def served(kubeconfig: Path, folder: Path) -> AsyncIterator[ServedPage]:
    """The page about a cluster."""
    log = folder / "serve.log"
    words = [*COMMAND, "serve", "--port", "0", "--kubeconfig", str(kubeconfig)]
    with log.open("w") as file, subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=file) as process:
        try:
            await eventually(lambda: process.poll() is not None or "http://" in log.read_text(), PATIENCE)
            found = re.search(r"http://\S+", log.read_text())
            assert found, log.read_text()
            yield ServedPage(found[0], log)
        finally:
            process.terminate()


def test_on_bad_days_the_last_known_state_stays_and_it_goes_on_by_itself(
    own_plane: ControlPlane, tmp_path: Path
) -> None:
    own_plane.create([node(f"n{number}", zone="abc"[number]) for number in range(3)])

    async def scenario() -> None:
        async with fault_proxy(address(own_plane.kubeconfig)) as proxy:
            behind = with_server(own_plane.kubeconfig, tmp_path, proxy.url)
            async with served(behind, tmp_path) as page:
                await page.becomes(lambda state: state["nodes"] == 3 and state["live"] and not state["trouble"])
                await asyncio.to_thread(own_plane.create, [node("n3")])
                await page.becomes(lambda state: state["nodes"] == 4)
                for number, fault in enumerate(BAD_DAYS, 4):
                    await _through(page, proxy, fault, own_plane, number)

    asyncio.run(scenario())


BAD_DAYS: tuple[Json, ...] = (
    {"closed": True},
    {"status": 429, "retry_after": 1, "words": "429"},
    {"status": 410, "words": "410"},
    {"status": 403, "words": "403", "only": "/nodes"},
    {"status": 403, "words": "services: 403", "only": "/services"},
    {"halved": True, "words": "nodes", "only": "/nodes", "when_sent": True},
)


async def _through(page: ServedPage, proxy: FaultProxy, fault: Json, plane: ControlPlane, there: int) -> None:
    """Something goes wrong, a node comes meanwhile, and in the end it is on the page."""
    faults, lines = proxy.faults, page.said("the cluster cannot be followed")
    faults.matches = lambda method, path: path.endswith(fault.get("only", ""))
    for name in {"closed", "status", "retry_after", "halved"} & fault.keys():
        setattr(faults, name, fault[name])
    faults.cut_watches()
    if "when_sent" not in fault:
        await page.becomes(lambda state: fault.get("words", "") in state["trouble"] != "" and state["age"] > 1)
    await asyncio.to_thread(plane.create, [node(f"late-{there}")])
    await page.becomes(lambda state: state["nodes"] == there and fault.get("words", "") in state["trouble"] != "")
    assert page.said("the cluster cannot be followed") > lines

    again = page.said("the cluster is followed again")
    faults.closed, faults.status, faults.retry_after, faults.halved = False, 0, None, False
    await page.becomes(lambda state: state["nodes"] == there + 1 and state["trouble"] == "")
    await eventually(lambda: page.said("the cluster is followed again") > again, PATIENCE)
