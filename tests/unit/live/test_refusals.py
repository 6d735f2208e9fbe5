"""What the API server did not answer, in words: why, and nothing of how it was asked."""

from __future__ import annotations

import pytest

from topospread.live.api_error import unreachable
from topospread.live.connection import Connection
from topospread.live.refusals import in_words


async def _no_headers() -> dict[str, str]:
    return {}


@pytest.mark.parametrize(
    ("cause", "why"),
    [
        (TimeoutError("Connection timeout to host https://server/api/v1/nodes?limit=500"), "it does not answer"),
        (ConnectionRefusedError(111, "Connect call failed"), "the connection was refused"),
    ],
)
def test_why_a_server_cannot_be_reached_is_said_in_words(cause: OSError, why: str) -> None:
    said = in_words(unreachable(cause), Connection("https://server", None, _no_headers))

    assert str(said).endswith(f"https://server cannot be reached: {why}")
