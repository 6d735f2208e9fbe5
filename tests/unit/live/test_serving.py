"""What is served, over HTTP and HTTPS."""

from __future__ import annotations

import asyncio
import socket
import ssl
import subprocess
from pathlib import Path

import aiohttp
import pytest

from topospread.config.gates import gates_for
from topospread.config.operation import operation
from topospread.errors import InputError
from topospread.live.metrics import Metrics
from topospread.live.serving import Address, ServedPages, serve


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def asked(*paths: str, why: str = "", certificate: Path | None = None) -> list[tuple[int, str]]:
    """Status and text of each path, while ``why`` is what is not ready."""

    async def run() -> list[tuple[int, str]]:
        served = ServedPages(
            Metrics("h", gates_for()), {}, {}, {"sched-handler-sync": lambda: why}, operation(None, gates_for()).shown
        )
        tls = (str(certificate), str(certificate.with_suffix(".key"))) if certificate else ("", "")
        port = free_port()
        (runner,) = await serve(served, Address("127.0.0.1", port, *tls))
        scheme = "https" if certificate else "http"
        trust: ssl.SSLContext | bool = ssl.create_default_context(cafile=str(certificate)) if certificate else True
        if isinstance(trust, ssl.SSLContext):
            trust.check_hostname = False
        found = []
        try:
            async with aiohttp.ClientSession() as session:
                for path in paths:
                    async with session.get(f"{scheme}://127.0.0.1:{port}{path}", ssl=trust) as answer:
                        found.append((answer.status, await answer.text()))
        finally:
            await runner.cleanup()
        return found

    return asyncio.run(run())


def test_health_is_ok_in_one_word() -> None:
    assert asked("/healthz", "/livez", "/readyz", "/healthz/ping") == [(200, "ok")] * 4


def test_verbose_lists_the_checks() -> None:
    assert asked("/readyz?verbose") == [(200, "[+]ping ok\n[+]sched-handler-sync ok\nreadyz check passed\n")]


def test_what_is_not_ready_is_named_and_may_be_excluded() -> None:
    whole, live, one, left_out, none = asked(
        "/readyz", "/livez", "/readyz/sched-handler-sync", "/readyz?exclude=sched-handler-sync", "/readyz/nothing",
        why="handlers are not fully synchronized",
    )  # fmt: skip
    assert whole == (500, "[+]ping ok\n[-]sched-handler-sync failed: reason withheld\nreadyz check failed\n")
    assert live == (200, "ok")
    assert one == (500, "internal server error: handlers are not fully synchronized\n")
    assert left_out == (200, "ok")
    assert none[0] == 404


def test_metrics_and_the_configuration_are_shown() -> None:
    metrics, configuration = asked("/metrics", "/configz")
    assert "scheduler_pending_pods" in metrics[1]
    assert '"schedulerName": "default-scheduler"' in configuration[1]
    assert asked("/metrics/none")[0][0] == 404


def test_https_with_files(tmp_path: Path) -> None:
    made = tmp_path / "tls.crt"
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-days", "2"]
    subprocess.run(
        ["openssl", *words, "-out", made, "-keyout", made.with_suffix(".key")], check=True, capture_output=True
    )
    assert asked("/healthz", certificate=made) == [(200, "ok")]


def test_a_certificate_that_is_replaced_is_shown(tmp_path: Path) -> None:
    files = tmp_path / "tls.crt", tmp_path / "tls.key"

    def make() -> str:
        words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-days", "2"]
        subprocess.run([*words, "-out", tmp_path / "new", "-keyout", files[1]], check=True, capture_output=True)
        (tmp_path / "new").replace(files[0])
        return files[0].read_text().strip()

    async def run() -> None:
        served, port = ServedPages(Metrics("h", gates_for()), {}, {}, {}), free_port()
        (runner,) = await serve(served, Address("127.0.0.1", port, *map(str, files)))
        second = await asyncio.to_thread(make)
        async with asyncio.timeout(60):
            while (await asyncio.to_thread(ssl.get_server_certificate, ("127.0.0.1", port))).strip() != second:
                await asyncio.sleep(0.1)
        await runner.cleanup()

    make()
    asyncio.run(run())


def refused(address: Address) -> str:
    async def run() -> None:
        for runner in await serve(ServedPages(Metrics("h", gates_for()), {}, {}, {}), address):
            await runner.cleanup()

    with pytest.raises(InputError) as caught:
        asyncio.run(run())
    return str(caught.value)


def test_a_port_that_is_taken_is_refused_with_a_word() -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        assert "--secure-port takes another" in refused(Address("127.0.0.1", one.getsockname()[1]))


def test_a_bad_certificate_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.write_text("x")
    assert "--tls-cert-file" in refused(Address("127.0.0.1", free_port(), str(bad), str(bad)))
    assert "No such file" in refused(Address("127.0.0.1", free_port(), str(tmp_path / "none"), str(bad)))


def test_port_0_serves_nothing() -> None:
    assert asyncio.run(serve(ServedPages(Metrics("h", gates_for()), {}, {}, {}), Address(port=0))) == []


def statuses(address: Address, *urls: str) -> list[int]:
    """The status of each path of a port."""

    async def run() -> list[int]:
        served = ServedPages(Metrics("h", gates_for()), {}, {}, {}, {"profiles": []})
        runners = await serve(served, address)
        try:
            async with aiohttp.ClientSession() as session:
                found = []
                for url in urls:
                    async with session.get(f"http://127.0.0.1:{url}") as answer:
                        found.append(answer.status)
                return found
        finally:
            for runner in runners:
                await runner.cleanup()

    return asyncio.run(run())


def test_metrics_and_the_configuration_are_not_on_an_address_that_others_reach() -> None:
    port = free_port()
    asked = [f"{port}{path}" for path in ("/healthz", "/metrics", "/configz")]
    assert statuses(Address("0.0.0.0", port), *asked) == [200, 404, 404]


def test_metrics_have_an_address_of_their_own_where_one_is_named() -> None:
    port, own = free_port(), free_port()
    asked = [f"{port}/metrics", f"{own}/metrics", f"{own}/configz", f"{own}/healthz"]
    for host in ("0.0.0.0", "127.0.0.1"):
        assert statuses(Address(host, port, metrics=("127.0.0.1", own)), *asked) == [404, 200, 200, 404]
    assert statuses(Address("0.0.0.0", port, metrics=("0.0.0.0", port)), *asked[:1]) == [200]


def test_a_taken_address_of_metrics_is_an_error_with_its_option() -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        address = Address("127.0.0.1", free_port(), metrics=("127.0.0.1", one.getsockname()[1]))
        assert "--metrics-bind-address takes another" in refused(address)
