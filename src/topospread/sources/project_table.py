"""Read a project's TOML settings as plain data: `topospread.toml`, or `[tool.topospread]` of `pyproject.toml`."""

from __future__ import annotations

import os
import re
import tomllib
from typing import Any, Final

from topospread.errors import DecodeError, Place

from .files import Source, read_text

_TEXT: Final = re.compile(
    r"""(?s:\"{3}(?:\\.|[^\\])*?\"{3}|'{3}.*?'{3})|"(?:\\.|[^"\\\n])*+"|'[^'\n]*+'|\#[^\n]*+""", re.VERBOSE
)
"""A TOML string or comment."""


def read_table(path: str) -> tuple[str, Any]:
    """Return a file's text and its settings; the settings are None for a pyproject.toml without topospread.

    Raises:
        InputError: if the file cannot be read, or is not TOML.
    """
    text = read_text(Source(path, None)).data.decode()
    # The time and memory of tomllib grow with the square of a key's parts.
    if any(part.count(".") > 200 for part in re.split(r"[=,{\n]", _TEXT.sub("", text))):
        raise DecodeError("a key has more than 200 parts; shorten it", Place(path))
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DecodeError(f"not TOML: {error}", Place(path)) from None
    except (ValueError, RecursionError):
        raise DecodeError("not TOML: a number is too long, or lists are nested too deep", Place(path)) from None
    if os.path.basename(path) == "topospread.toml":
        return text, table
    tools = table.get("tool")
    return text, tools.get("topospread") if isinstance(tools, dict) else None
