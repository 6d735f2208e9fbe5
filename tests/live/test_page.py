"""The page about a real API server: it follows, keeps what it knows while nobody answers, and goes on by itself."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from tests.live.conftest import ControlPlane
from tests.live.fault_proxy import fault_proxy
from tests.live.running import eventually, node
from tests.live.test_scheduler_faults import address, with_server

Json = dict[str, Any]
COMMAND = (sys.executable, "-c", "import sys; from topospread.cli.main import main; sys.exit(main())")
PATIENCE = 120.0


@asynccontextmanager
async def served(kubeconfig: Path) -> AsyncIterator[str]:
    """The URL of a page about a cluster."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *("serve", "--port", "0", "--kubeconfig", str(kubeconfig)),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        found = None
        while found is None:
            line = (await process.stderr.readline()).decode()
            assert line, "it ended"
            found = re.search(r"http://\S+", line)
        yield found[0]
    finally:
        process.terminate()
        await process.communicate()


def test_it_follows_and_keeps_the_last_known_state(own_plane: ControlPlane, tmp_path: Path) -> None:
    own_plane.create([node(f"n{number}", zone="abc"[number]) for number in range(3)])

    async def scenario() -> None:
        async with fault_proxy(address(own_plane.kubeconfig)) as proxy:
            behind = with_server(own_plane.kubeconfig, tmp_path, proxy.url)
            async with served(behind) as url:

                async def becomes(check: Callable[[Json], bool]) -> None:
                    async def so() -> bool:
                        return check(await asyncio.to_thread(_state, url))

                    await eventually(so, PATIENCE)

                await becomes(lambda state: state["nodes"] == 3 and state["live"])
                await asyncio.to_thread(own_plane.create, [node("n3")])
                await becomes(lambda state: state["nodes"] == 4)

                proxy.faults.closed = True
                proxy.faults.cut_watches()
                await becomes(lambda state: state["trouble"] != "" and state["nodes"] == 4 and state["age"] > 1)

                proxy.faults.closed = False
                await asyncio.to_thread(own_plane.create, [node("n4")])
                await becomes(lambda state: state["trouble"] == "" and state["nodes"] == 5)

    asyncio.run(scenario())


def _state(url: str) -> Json:
    with urlopen(f"{url}api/state") as answer:
        found: Json = json.load(answer)
        return found
