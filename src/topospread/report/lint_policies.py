"""Policies as YAML documents to be applied, with what is not in them in comments; makes no policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from topospread.api.yaml_text import yaml_text


def policies_text(
    policies: Iterable[Mapping[str, Any]], notes: Iterable[tuple[str, str]], left_out: Iterable[tuple[str, str]]
) -> str:
    """The documents, below a comment that names what the linter finds besides.

    Args:
        policies: the objects.
        notes: rules that are in them, each with what the linter knows more.
        left_out: rules that are not, each with why.
    """
    head = ["# Made by: topospread policies"]
    for title, lines in (("Not the same where", notes), ("Not in these policies", left_out)):
        told = [f"#   {rule}: {why}" for rule, why in lines]
        head += [f"# {title}:", *told] if told else []
    return "\n".join(head) + "\n" + "".join(f"---\n{yaml_text(each)}" for each in policies)
