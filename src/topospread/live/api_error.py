"""Exceptions for requests to the API server.

RequestError
├── ApiError          the server answered with an error
└── ApiUnreachable    no answer; the request may still have taken effect
"""

from __future__ import annotations

import os
import ssl

import msgspec

from topospread.errors import TopospreadError
from topospread.whole_number import whole_number


class RequestError(TopospreadError):
    """A failed request."""


class ApiError(RequestError):
    """An error response of the API server (``metav1.Status``).

    Attributes:
        status: the HTTP status, or the code of an ERROR event of a watch.
        reason: ``NotFound``, ``Conflict``, ``Expired`` …; "" if missing.
        retry_after: seconds to wait before a retry; None if not given.
    """

    def __init__(self, status: int, reason: str, message: str, retry_after: float | None = None) -> None:
        self.status = status
        self.reason = reason
        self.message = message
        self.retry_after = retry_after
        super().__init__(message)

    def __str__(self) -> str:
        return f"{self.status} {self.reason}: {self.message}" if self.reason else f"{self.status}: {self.message}"


class ApiUnreachable(RequestError):  # noqa: N818 - what is wrong is that it is not reached
    """No answer: timed out, broken, or, with ``refused``, the server never received the request."""

    def __init__(self, message: str, *, refused: bool = False) -> None:
        self.refused = refused
        super().__init__(message)


class _Status(msgspec.Struct):
    """``metav1.Status``."""

    code: int | None = None
    reason: str | None = None
    message: str | None = None


def error_of(body: bytes, status: int = 500, retry_after: float | None = None) -> ApiError:
    """Return the error in an answer's body, which is a Status or plain text."""
    try:
        told = msgspec.json.decode(body, type=_Status)
    except (msgspec.DecodeError, UnicodeDecodeError):
        told = _Status(message=body[:200].decode(errors="replace").strip())
    code = told.code or status
    # client-go gives an answer without a reason one (api/errors: NewGenericServerResponse).
    known = {409: "Conflict", 503: "ServiceUnavailable", 504: "Timeout"}
    reason = told.reason or known.get(code, "InternalError" if code >= 500 else "")
    return ApiError(code, reason, told.message or "", retry_after)


def unreachable(error: BaseException) -> ApiUnreachable:
    """Return the error for a request without an answer. Its message names the cause."""
    inner = getattr(error, "os_error", None) or error  # aiohttp wraps the system's error
    if isinstance(inner, ConnectionRefusedError):
        return ApiUnreachable("the connection was refused", refused=True)
    if isinstance(inner, TimeoutError):
        return ApiUnreachable("it does not answer")
    number = inner.errno if isinstance(inner, OSError) and not isinstance(inner, ssl.SSLError) else None
    if number and number > 0 and not str(inner).startswith("Cannot connect"):
        return ApiUnreachable(os.strerror(number))
    return ApiUnreachable(str(inner) or type(inner).__name__)


def whole_seconds(given: str) -> float | None:
    """Return the seconds in ``Retry-After``. Like client-go, only whole seconds are read."""
    return whole_number(given)
