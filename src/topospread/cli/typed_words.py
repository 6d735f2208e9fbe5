"""The words that give the same input to another command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .inputs import file_words
from .live_options import live_words


def typed_words(given: Mapping[str, Any], *paths: str) -> list[str]:
    """Return the options that give the same input to another command.

    Args:
        given: the options of the command line.
        paths: files in place of the command line's.
    """
    words = [*file_words(*(paths or given["paths"])), *live_words(given)]
    words += [] if given["cluster"] is None else ["--on", given["cluster"]]
    words += [] if given["config_path"] is None else ["--config", given["config_path"]]
    return words + ([] if given["namespace"] is None else ["-n", given["namespace"]])
