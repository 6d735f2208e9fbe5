"""The check that the packages of an extra are installed; it imports none of them."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from topospread.errors import UsageError

NEEDED: Final = {
    "live": {
        "aiohttp": "aiohttp",
        "kubernetes_asyncio": "kubernetes-asyncio",
        "prometheus_client": "prometheus-client",
    },
    "lsp": {"lsprotocol": "lsprotocol", "pygls": "pygls"},
    "mcp": {"mcp": "mcp"},
    "web": {"starlette": "starlette", "uvicorn": "uvicorn", "jinja2": "Jinja2"},
}
"""Extra → module → the package that brings it."""


def missing_packages(extra: str) -> list[str]:
    """The packages of an extra that are not installed."""
    return [package for module, package in NEEDED[extra].items() if find_spec(module) is None]


def require(extra: str) -> None:
    """Say what is missing, before the first import fails.

    Raises:
        UsageError: the extra is not installed, or not whole.
    """
    missing = missing_packages(extra)
    if missing:
        raise UsageError(
            f"this command needs the extra '{extra}', and {', '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not installed: pip install 'topospread[{extra}]'"
        )
