"""Read a project's TOML settings as plain data: `topospread.toml`, or `[tool.topospread]` of `pyproject.toml`."""

from __future__ import annotations

import os
import re
import tomllib
from typing import Any, Final

from topospread.errors import DecodeError, Place

from .files import Source, read_text

_TEXT: Final = re.compile(
    r"""(?s:\"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z)|'{3}.*?(?:'{3}|\Z))|"(?:\\.|[^"\\\n])*+"|'[^'\n]*+'|\#[^\n]*+""",
    re.VERBOSE,
)
"""A TOML string or comment. A text that does not end is taken whole, so that it is searched only once."""
_MOST_PARTS: Final = 30
_MOST_BYTES: Final = 1 << 20


def read_table(path: str) -> tuple[str, Any]:
    """Return a file's text and its settings; the settings are None for a pyproject.toml without topospread.

    Raises:
        InputError: if the file cannot be read, or is not TOML.
    """
    data = read_text(Source(path, None)).data
    if len(data) > _MOST_BYTES:
        raise DecodeError(f"the settings have more than {_MOST_BYTES >> 20} MiB; shorten them", Place(path))
    text = data.decode()
    # The time and memory of tomllib grow with the product of the parts of a key and of its table's name.
    if any(part.count(".") > _MOST_PARTS for part in re.split(r"[=,{\n]", _TEXT.sub("", text))):
        raise DecodeError(f"a key has more than {_MOST_PARTS} parts; shorten it", Place(path))
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
