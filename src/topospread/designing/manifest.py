"""A design as YAML, each line under the reason for it; what it holds is the rules' matter."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from topospread.api.yaml_text import yaml_text

from .result import ReasonedLine

_WIDTH = 100


def manifest_text(documents: Sequence[Mapping[str, Any]], lines: Sequence[ReasonedLine]) -> str:
    """For ``kubectl apply --server-side --force-conflicts -f -``; "" where nothing is to be changed."""
    if not documents:
        return ""
    comments = [comment for each in lines for comment in _comment(each)]
    return "".join(f"{each}\n" for each in comments) + "---\n".join(map(yaml_text, documents))


def _comment(each: ReasonedLine) -> list[str]:
    return textwrap.wrap(
        f"{each.line} - {each.reason}",
        _WIDTH,
        initial_indent="# ",
        subsequent_indent="#   ",
        break_long_words=False,
        break_on_hyphens=False,
    )
