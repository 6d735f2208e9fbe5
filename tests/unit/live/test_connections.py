"""Connections of a server: how many there are, how long they may be idle, and what they may send."""

from __future__ import annotations

import asyncio
import gzip
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest

from topospread.live.extender_service import ExtenderService, WatchedDomains, extender_application
from topospread.live.serving import MOST_STRANGERS, Address, listen

from .test_certificate import authority, make, signed
from .test_serving import free_port

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"


@dataclass
class Served:
    """A server and the connections that a test opens."""

    port: int
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def connect(self, tls: ssl.SSLContext | None = None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, ssl=tls)
        self.writers.append(writer)
        return reader, writer

    async def close(self) -> None:
        for each in self.writers:
            each.close()
            with suppress(OSError):
                await each.wait_closed()


def serving(scenario: Callable[[Served], Awaitable[None]], files: tuple[str, str, str] = ("", "", "")) -> None:
    async def run() -> None:
        certificate, key, client_ca = files
        port = free_port()
        application = extender_application(ExtenderService(WatchedDomains()), needs_certificate=bool(client_ca))
        address = Address("127.0.0.1", port, certificate, key, client_ca=client_ca)
        runner = await listen(application, address)
        served = Served(port)
        try:
            async with asyncio.timeout(60):
                await scenario(served)
        finally:
            await served.close()
            await runner.cleanup()
        with pytest.raises(OSError, match="Connect call failed"):
            await asyncio.open_connection("127.0.0.1", port)

    asyncio.run(run())


async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Return whether a connection gets an answer."""
    writer.write(HEALTH)
    try:
        return (await reader.read(12)).startswith(b"HTTP/1.1 200")
    except ConnectionError:
        return False


def test_connections_beyond_the_bound_end_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("topospread.live.serving.MOST_CONNECTIONS", 3)

    async def scenario(served: Served) -> None:
        opened = [await served.connect() for _ in range(5)]
        assert [await answered(*each) for each in opened] == [True, True, True, False, False]
        opened[0][1].close()
        await opened[0][1].wait_closed()
        while not await answered(*await served.connect()):
            await asyncio.sleep(0.01)

    serving(scenario)


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: ", HEALTH])
def test_idle_connections_and_slow_headers_end(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("topospread.live.serving.IDLE_SECONDS", 0.05)

    async def scenario(served: Served) -> None:
        reader, writer = await served.connect()
        writer.write(sent)
        await reader.read()
        assert reader.at_eof()

    serving(scenario)


def test_compressed_bodies_are_not_unpacked() -> None:
    async def scenario(served: Served) -> None:
        body = gzip.compress(b'{"Pod": {}, "NodeNames": []}')
        async with aiohttp.ClientSession() as session:
            for headers, status in (({"Content-Encoding": "gzip"}, 400), ({}, 400)):
                url = f"http://127.0.0.1:{served.port}/filter"
                async with session.post(url, data=body, headers=headers) as answer:
                    assert answer.status == status

    serving(scenario)


def test_clients_without_a_certificate_keep_no_other_out(tmp_path: Path) -> None:
    make(tmp_path)
    authority(tmp_path)
    mine = signed(tmp_path, "kube-scheduler")
    files = str(tmp_path / "tls.crt"), str(tmp_path / "tls.key"), str(tmp_path / "ca.crt")

    async def scenario(served: Served) -> None:
        def trusting() -> ssl.SSLContext:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            return context

        opened = [await served.connect(trusting()) for _ in range(MOST_STRANGERS + 5)]
        found = [await answered(*each) for each in opened]
        assert found.count(True) == MOST_STRANGERS
        known = trusting()
        known.load_cert_chain(*mine)
        own = [await served.connect(known) for _ in range(MOST_STRANGERS + 5)]
        assert all([await answered(*each) for each in own])

    serving(scenario, files)


def test_a_handshake_that_never_begins_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("topospread.live.serving.HANDSHAKE_SECONDS", 0.05)
    make(tmp_path)

    async def scenario(served: Served) -> None:
        reader, _ = await served.connect()
        assert await reader.read() == b""

    serving(scenario, (str(tmp_path / "tls.crt"), str(tmp_path / "tls.key"), ""))
