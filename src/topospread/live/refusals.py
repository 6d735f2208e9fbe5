"""Turn the API server's errors into messages that name the problem and the remedy."""

from __future__ import annotations

from topospread.errors import InputError, Place

from .api_error import ApiError, RequestError
from .connection import Connection

_LOG_IN = (
    "log in again, or choose another context with --context or --kubeconfig "
    "(`kubectl config view --minify` shows what is used)"
)


def in_words(error: RequestError, connection: Connection, purpose: str = "answer") -> InputError:
    """Return an input error for a failed request, needed for the ``purpose`` ("answer", "snapshot")."""
    place = Place(source=connection.source)
    if not isinstance(error, ApiError):
        return InputError(f"{connection.server} cannot be reached: {error}", place)
    if error.status == 401:
        return InputError(f"{connection.server} does not accept these credentials (401 Unauthorized): {_LOG_IN}", place)
    if error.status == 403:
        return InputError(
            f"{error.message}; the {purpose} needs this right; docs/how-to/live-cluster.md has a role with all rights",
            place,
        )
    return InputError(f"{connection.server} answers {error}", place)
