"""A design as YAML, each line under the reason for it; what it holds is the rules' matter."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from topospread.api.yaml_text import yaml_text
from topospread.promises.fresh import Designed
from topospread.text import one_line

from .result import ReasonedLine
from .rules import DesignRules, manifest_data

_WIDTH = 100


def manifest_text(item: Designed, rules: DesignRules, replicas: int, lines: Sequence[ReasonedLine]) -> str:
    """For ``kubectl apply --server-side --force-conflicts -f -``; "" where nothing is to be changed."""
    documents = [yaml_text(each) for each in manifest_data(item, rules, replicas)]
    if not documents:
        return ""
    comments = [comment for each in lines for comment in _comment(each)]
    return "".join(f"{each}\n" for each in comments) + "---\n".join(documents)


def _comment(each: ReasonedLine) -> list[str]:
    return textwrap.wrap(
        one_line(f"{each.line} - {each.reason}"),
        _WIDTH,
        initial_indent="# ",
        subsequent_indent="#   ",
        break_long_words=False,
        break_on_hyphens=False,
    )
