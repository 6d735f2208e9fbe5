"""Check that the packages of an optional extra are installed, without importing them."""

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
"""Extra → module → package that provides the module."""


def missing_packages(extra: str) -> list[str]:
    """Return the missing packages of an extra."""
    return [package for module, package in NEEDED[extra].items() if find_spec(module) is None]


def require(extra: str) -> None:
    """Raise an error that names the missing packages of an extra.

    Called before the first import that needs them.

    Raises:
        UsageError: if any package of the extra is missing.
    """
    missing = missing_packages(extra)
    if missing:
        raise UsageError(
            f"this command needs the extra '{extra}', and {', '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not installed: pip install 'topospread[{extra}]'"
        )
