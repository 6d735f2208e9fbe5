"""Which failed writes are repeated, and how often."""

from __future__ import annotations

import asyncio

import pytest

from topospread.live import retry
from topospread.live.api_error import ApiError, ApiUnreachable, RequestError, error_of
from topospread.live.retry import is_retriable, is_retriable_or_conflict, retry_on_error


@pytest.mark.parametrize(
    ("error", "retriable"),
    [
        (error_of(b"a proxy's page", 500), True),
        (error_of(b"a proxy's page", 502), True),
        (error_of(b"a proxy's page", 503), True),
        (error_of(b"a proxy's page", 504), False),
        (error_of(b"slow down", 429), False),
        (error_of(b'{"code": 500, "reason": "ServerTimeout"}', 500), False),
        (ApiUnreachable("connection refused", refused=True), True),
        (ApiUnreachable("the answer was lost"), False),
    ],
)
def test_internal_errors_and_refused_connections_are_retriable(error: RequestError, retriable: bool) -> None:
    assert is_retriable(error) is retriable


def test_a_conflict_is_retriable_for_status_patches_only() -> None:
    conflict = ApiError(409, "Conflict", "the object has been modified")
    assert (is_retriable(conflict), is_retriable_or_conflict(conflict)) == (False, True)


@pytest.mark.parametrize(("failures", "attempts"), [(0, 1), (3, 4), (9, 4)])
def test_a_write_has_four_attempts(failures: int, attempts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "_PAUSES", (0.0, 0.0, 0.0))
    sent = []

    async def send() -> str:
        sent.append(1)
        if len(sent) <= failures:
            raise error_of(b"", 500)
        return "written"

    if failures < 4:
        assert asyncio.run(retry_on_error(is_retriable, send)) == "written"
    else:
        with pytest.raises(ApiError):
            asyncio.run(retry_on_error(is_retriable, send))
    assert len(sent) == attempts
