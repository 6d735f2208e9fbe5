"""HTTP connections to extenders: the status, the body, and the time that an answer may take."""

from __future__ import annotations

import base64
import time

import pytest

from conformance.generators.extenders import Stub, answering
from topospread.config.profile import Extender
from topospread.scheduling.extender_connection import opener_of, response_of


class Answers(Stub):
    """``/slow`` sends a byte every tenth of a second, ``/busy`` fails, any other path echoes the body."""

    def do_POST(self) -> None:  # noqa: N802 - http.server's own name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(503 if self.path == "/busy" else 200)
        self.end_headers()
        for each in body:
            time.sleep(0.1 if self.path == "/slow" else 0)
            self.wfile.write(bytes([each]))


@pytest.mark.parametrize(
    ("path", "seconds", "expected"),
    [("f", 5.0, (200, b"asked")), ("busy", 5.0, (503, b"")), ("slow", 0.25, (200, None))],
)
def test_a_body_is_read_if_the_status_is_200_and_it_is_whole_in_time(
    path: str, seconds: float, expected: tuple[int, bytes | None]
) -> None:
    with answering(stub=Answers) as url:
        opener = opener_of(Extender(url, {}, frozenset(), "extenders[0]"))
        assert response_of(opener, f"{url}/{path}", b"asked", seconds) == expected


def test_nobody_at_the_address_is_an_error_and_so_is_a_wrong_certificate() -> None:
    plain = Extender("", {}, frozenset(), "extenders[0]")
    with pytest.raises(OSError, match="refused"):
        response_of(opener_of(plain), "http://127.0.0.1:9", b"", 5.0)
    wrong = Extender("", {}, frozenset(), "", tls={"caData": base64.b64encode(b"no certificate").decode()})
    with pytest.raises(OSError):  # noqa: PT011 - OpenSSL's words differ by version
        opener_of(wrong)
