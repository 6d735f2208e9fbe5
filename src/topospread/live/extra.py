"""The check that the packages of the extra ``live`` are installed; it imports none of them."""

from __future__ import annotations

from importlib.util import find_spec

from topospread.errors import UsageError

NEEDED = {"aiohttp": "aiohttp", "kubernetes_asyncio": "kubernetes-asyncio", "prometheus_client": "prometheus-client"}
"""Module → the package that brings it."""


def missing_packages() -> list[str]:
    """The packages that are not installed."""
    return [package for module, package in NEEDED.items() if find_spec(module) is None]


def require_extra() -> None:
    """Say what is missing, before the first import fails.

    Raises:
        UsageError: the extra is not installed, or not whole.
    """
    missing = missing_packages()
    if missing:
        raise UsageError(
            f"this command needs the extra 'live', and {', '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not installed: pip install 'topospread[live]'"
        )
