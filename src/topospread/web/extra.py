"""The check that the packages of the extra ``web`` are installed; it imports none of them."""

from __future__ import annotations

from importlib.util import find_spec

from topospread.errors import UsageError

NEEDED = {"starlette": "starlette", "uvicorn": "uvicorn", "jinja2": "Jinja2"}
"""Module → the package that brings it."""


def require_web() -> None:
    """Say what is missing, before the first import fails.

    Raises:
        UsageError: the extra is not installed, or not whole.
    """
    missing = [package for module, package in NEEDED.items() if find_spec(module) is None]
    if missing:
        raise UsageError(
            f"this command needs the extra 'web', and {', '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not installed: pip install 'topospread[web]'"
        )
