"""Counts the pods of a batch that get a node, from a watch that is resumed where it breaks. Lines are not decoded."""

from __future__ import annotations

import asyncio
import json
import time

from topospread.live.api_error import ApiUnreachable
from topospread.live.client import ApiClient

PODS = "/api/v1/namespaces/default/pods"
BATCH_NAME = "pod-{}{:05}"
"""Name of a pod: the batch, one digit, and its number."""
_NAME, _VERSION = b'"name":"pod-', b'"resourceVersion":"'
_LENGTH = len(BATCH_NAME.format(0, 0))


class BoundPods:
    """Which pods of a batch have a node, and when the first and the last got theirs.

    The API server closes a watch whose client is too slow to read, which the one of a busy machine is: it goes on from
    the last version that was seen.

    Attributes:
        begun: set once what happens from now on is seen.
        done: set when all are bound.
    """

    def __init__(self, batch: int, wanted: int) -> None:
        self.names: set[bytes] = set()
        self.first = self.last = 0.0
        self.begun, self.done = asyncio.Event(), asyncio.Event()
        self._prefix = BATCH_NAME.format(batch, 0)[:5].encode()
        self._wanted = wanted

    async def watch(self, client: ApiClient) -> None:
        """Until all are bound."""
        listed = json.loads(await client.request("GET", PODS, params={"limit": "1"}))
        version = listed["metadata"]["resourceVersion"]
        self.begun.set()
        while not self.done.is_set():
            try:
                async for _, raw in client.watch(PODS, version, params={"fieldSelector": "spec.nodeName!="}):
                    line = bytes(raw)
                    version = _after(line, _VERSION, line.find(b'"', line.find(_VERSION) + len(_VERSION))).decode()
                    self._see(line)
            except ApiUnreachable:
                await asyncio.sleep(0.1)

    def _see(self, line: bytes) -> None:
        place = line.find(_NAME)
        name = line[place + 8 : place + 8 + _LENGTH]
        if place < 0 or not name.startswith(self._prefix) or name in self.names:
            return
        self.names.add(name)
        self.last = time.monotonic()
        self.first = self.first or self.last
        if len(self.names) >= self._wanted:
            self.done.set()


def _after(line: bytes, mark: bytes, end: int) -> bytes:
    """What stands between a mark and a place."""
    return line[line.find(mark) + len(mark) : end]
