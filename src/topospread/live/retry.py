"""Retry a write after transient errors, like kube-scheduler.

Source: client-go/util/retry/util.go (``OnError``, ``DefaultBackoff``), pkg/scheduler/util/utils.go (``Retriable``,
``RetriableWithConflict``).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from .api_error import ApiError, ApiUnreachable, RequestError

T = TypeVar("T")

_PAUSES = (0.01, 0.05, 0.25)
"""Seconds between the four attempts of ``DefaultBackoff``."""
_JITTER = 0.1


def is_retriable(error: RequestError) -> bool:
    """Return whether kube-scheduler retries a write after this error (``Retriable``)."""
    if isinstance(error, ApiUnreachable):
        return error.refused
    return isinstance(error, ApiError) and error.reason in ("InternalError", "ServiceUnavailable")


def is_retriable_or_conflict(error: RequestError) -> bool:
    """Return whether kube-scheduler retries a status patch after this error (``RetriableWithConflict``)."""
    return is_retriable(error) or (isinstance(error, ApiError) and error.reason == "Conflict")


async def retry_on_error(is_retriable: Callable[[RequestError], bool], send: Callable[[], Awaitable[T]]) -> T:
    """Return the result of ``send``. Retry retriable errors three times; raise RequestError for the last or others."""
    for pause in _PAUSES:
        try:
            return await send()
        except RequestError as error:
            if not is_retriable(error):
                raise
        await asyncio.sleep(pause * random.uniform(1.0, 1.0 + _JITTER))
    return await send()
