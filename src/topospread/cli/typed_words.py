"""The words that give the same input to another command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from topospread.config.versions import NEWEST

from .inputs import file_words
from .live_options import live_words

_WITH_VALUE: Final = {
    "cluster": "--on",
    "config_path": "--config",
    "namespace": "-n",
    "kube_version": "--kube-version",
    "helm_release": "--helm-release",
    "feature_gates": "--feature-gates",
    "render": "--render",
}
_DEFAULTS: Final = {"kube_version": str(NEWEST), "render": "auto"}
_REPEATED: Final = {"helm_values": "--helm-values", "helm_set": "--helm-set"}
_FLAGS: Final = ("render_helm", "render_network", "with_hooks", "strict", "allow_empty")


def typed_words(given: Mapping[str, Any], *paths: str) -> list[str]:
    """Return the options that give the same input to another command.

    Args:
        given: the options of `input_options` and ``-n``.
        paths: files in place of the command line's.
    """
    words = [*file_words(*(paths or given["paths"])), *live_words(given)]
    for name, option in _WITH_VALUE.items():
        if given[name] and given[name] != _DEFAULTS.get(name):
            words += [option, given[name]]
    for name, option in _REPEATED.items():
        words += [word for each in given[name] for word in (option, each)]
    return words + [f"--{name.replace('_', '-')}" for name in _FLAGS if given[name]]
