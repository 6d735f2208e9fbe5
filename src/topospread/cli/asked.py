"""What a command was asked: the input's name for the answer, and the words that give the same input again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .live_options import live_words

if TYPE_CHECKING:
    from topospread.answer import Asked
    from topospread.workloads.control_plane import ControlPlane


def asked(given: Mapping[str, Any], by: ControlPlane) -> Asked:
    """Return the name of the input and the Kubernetes version; nodes and pods are counted where they are known."""
    from topospread.answer import Asked

    named = [*given["paths"], *([given["cluster"]] if given["cluster"] else [])]
    source = ", ".join(named) or given.get("context") or "the context of kubectl"
    return Asked(source=source, kube_version=str(by.scheduler.kube_version))


def typed_words(given: Mapping[str, Any], *paths: str) -> list[str]:
    """Return the options that give the same input to another command.

    Args:
        given: the options of the command line.
        paths: files in place of the command line's.
    """
    words = [*(paths or given["paths"]), *live_words(given)]
    words += [] if given["cluster"] is None else ["--cluster", given["cluster"]]
    words += [] if given["config_path"] is None else ["--config", given["config_path"]]
    return words + ([] if given["namespace"] is None else ["-n", given["namespace"]])
