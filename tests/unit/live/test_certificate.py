"""A certificate that is replaced is the one that is shown."""

from __future__ import annotations

import asyncio
import hashlib
import ssl
import subprocess
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from topospread.errors import InputError
from topospread.live.certificate import Certificate
from topospread.live.extender_service import ExtenderService, WatchedDomains, extender_application


def make(folder: Path, kind: str = "ec") -> bytes:
    """A certificate in ``tls.crt`` and its key in ``tls.key``; its fingerprint."""
    keys = ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"] if kind == "ec" else ["rsa:2048"]
    words = ["openssl", "req", "-x509", "-nodes", "-subj", "/CN=webhook", "-days", "2", "-newkey", *keys]
    subprocess.run([*words, "-out", folder / "new.crt", "-keyout", folder / "new.key"], check=True, capture_output=True)
    (folder / "new.key").replace(folder / "tls.key")
    (folder / "new.crt").replace(folder / "tls.crt")
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert((folder / "tls.crt").read_text())).digest()


async def shown(certificate: Certificate, name: str | None) -> bytes:
    """The fingerprint of what a client is shown, with a server's name or without one."""

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=certificate.context)
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    host, port = server.sockets[0].getsockname()[:2]
    _, writer = await asyncio.open_connection(host, port, ssl=trusting, server_hostname=name or "127.0.0.1")
    given: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    server.close()
    return hashlib.sha256(given).digest()


@pytest.mark.parametrize("name", ["webhook.topospread.svc", None])
def test_a_new_certificate_is_shown_also_with_another_kind_of_key(tmp_path: Path, name: str | None) -> None:
    first = make(tmp_path)
    certificate = Certificate(str(tmp_path / "tls.crt"), str(tmp_path / "tls.key"))
    assert asyncio.run(shown(certificate, name)) == first
    second = make(tmp_path, "rsa")
    certificate.refresh()
    assert asyncio.run(shown(certificate, name)) == second


def test_what_cannot_be_used_is_not_taken(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = make(tmp_path)
    certificate = Certificate(str(tmp_path / "tls.crt"), str(tmp_path / "tls.key"))
    (tmp_path / "tls.crt").write_text("no certificate")
    certificate.refresh()
    (tmp_path / "tls.key").unlink()
    certificate.refresh()
    assert asyncio.run(shown(certificate, None)) == first
    assert "the old one is kept" in caplog.text


def test_an_authority_that_cannot_be_used_is_bad_input(tmp_path: Path) -> None:
    make(tmp_path)
    files = [str(tmp_path / name) for name in ("tls.crt", "tls.key", "ca.crt")]
    with pytest.raises(InputError, match=r"--client-ca-file: .*authority cannot be used"):
        Certificate(*files)


def test_files_that_cannot_be_used_at_the_start_are_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="certificate and key cannot be used"):
        Certificate(str(tmp_path / "tls.crt"), str(tmp_path / "tls.key"))


def signed(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate and its key, signed by the authority in ``ca.crt`` and ``ca.key``."""
    key, request, made = (folder / f"{name}.{end}" for end in ("key", "csr", "crt"))
    subject = ["-subj", f"/CN={name}", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request]
    subprocess.run(["openssl", "req", "-new", *subject], check=True, capture_output=True)
    authority = ["-CA", folder / "ca.crt", "-CAkey", folder / "ca.key", "-CAcreateserial", "-days", "2"]
    subprocess.run(
        ["openssl", "x509", "-req", "-in", request, "-out", made, *authority], check=True, capture_output=True
    )
    return made, key


def authority(folder: Path) -> None:
    subject = ["-subj", "/CN=authority", "-days", "2", "-keyout", folder / "ca.key", "-out", folder / "ca.crt"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject]
    subprocess.run(command, check=True, capture_output=True)


@pytest.mark.parametrize("renewed", [False, True])
def test_paths_that_need_a_client_certificate_refuse_clients_without_one(tmp_path: Path, renewed: bool) -> None:
    """Health is for everybody; another authority's certificate ends the handshake."""
    make(tmp_path)
    authority(tmp_path)
    mine = signed(tmp_path, "kube-scheduler")
    (tmp_path / "others").mkdir()
    authority(tmp_path / "others")
    foreign = signed(tmp_path / "others", "kube-scheduler")
    files = [str(tmp_path / name) for name in ("tls.crt", "tls.key", "ca.crt")]

    async def run() -> list[int]:
        application = extender_application(ExtenderService(WatchedDomains()), needs_certificate=True)
        certificate = Certificate(*files)
        if renewed:
            make(tmp_path, "rsa")
            certificate.refresh()
        runner = web.AppRunner(application)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=certificate.context)
        await site.start()
        url = f"https://127.0.0.1:{runner.addresses[0][1]}"
        found = []
        for shown, method, path in (
            (None, "GET", "/healthz"),
            (None, "POST", "/filter"),
            (mine, "POST", "/filter"),
            (foreign, "POST", "/filter"),
        ):
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            if shown is not None:
                context.load_cert_chain(*shown)
            async with aiohttp.ClientSession() as session:
                body = b'{"Pod": {}, "NodeNames": []}' if method == "POST" else None
                try:
                    async with session.request(method, url + path, ssl=context, data=body) as answer:
                        found.append(answer.status)
                except aiohttp.ClientError:
                    found.append(0)
        await runner.cleanup()
        return found

    assert asyncio.run(run()) == [200, 401, 200, 0]
