"""A certificate that is replaced is the one that is shown."""

from __future__ import annotations

import asyncio
import hashlib
import ssl
import subprocess
from pathlib import Path

import pytest

from topospread.errors import InputError
from topospread.live.certificate import Certificate


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


def test_files_that_cannot_be_used_at_the_start_are_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="certificate and key cannot be used"):
        Certificate(str(tmp_path / "tls.crt"), str(tmp_path / "tls.key"))
