"""Runs Helm for kustomize: only the calls that kustomize makes, without plugins, on charts and values in the root.

kustomize passes texts of a kustomization to Helm as words, and a folder of its choice as the home of Helm's plugins.
Source: sigs.k8s.io/kustomize/api/types/helmchartargs.go and internal/builtins/HelmChartInflationGenerator.go.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from topospread.errors import InputError, UsageError

from .chart_schemas import NO_VALIDATION, has_outside_references
from .roots import check_links, is_within
from .text import shown_path

HELM_HOMES: Final = ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME")
NEEDS_NETWORK: Final = "the chart is not in the chart home, and fetching charts is off; add --render-network"
_FLAGS: Final = {
    "version": frozenset({"-c", "--short"}),
    "template": frozenset({"--generate-name", "--include-crds", "--skip-tests", "--no-hooks", "--debug", "--devel"}),
    "pull": frozenset({"--untar", "--devel"}),
}
_WITH_VALUE: Final = {
    "version": frozenset[str](),
    "template": frozenset({"--namespace", "--name-template", "-f", "--api-versions", "--kube-version"}),
    "pull": frozenset({"--untardir", "--repo", "--version"}),
}
_PATHS: Final = frozenset({"-f", "--untardir"})
PARTS_FILES: Final = re.compile(r'[,"\r\n]')
"""What parts or quotes names of files: Helm takes the value of ``-f``, or ``--values``, for a line of CSV."""
_ASKS_DNS: Final = "getHostByName"
"""The only function of a name's template that uses the network; charts have it only with an option of Helm."""


def write_gate(folder: str, helm: str, root: str, *, network: bool) -> str:
    """Write the program that kustomize calls as Helm, and return its path.

    Args:
        folder: a temporary folder, which holds the homes of Helm and the temporary files of kustomize.
        helm: path of the real Helm.
        root: the folder that charts and values must lie in.
        network: whether charts may be fetched.
    """
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r}); "
        "from topospread.sources.helm_gate import main; main()"
    )
    words = [sys.executable, "-I", "-c", code, folder, helm, root, "network" if network else ""]
    path = os.path.join(folder, "helm")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    os.chmod(path, 0o700)
    return path


def main() -> None:
    """Replace this process by Helm if the call is allowed; otherwise say why not and exit with 1."""
    folder, helm, root, network, *words = sys.argv[1:]
    try:
        words += check_call(words, (root, folder), network=bool(network))
    except (InputError, UsageError) as error:
        sys.exit(f"Error: {error}")
    homes = {name: os.path.join(folder, name.lower()) for name in HELM_HOMES}
    os.execve(helm, [helm, *words], {**os.environ, **homes})


def check_call(words: Sequence[str], roots: Sequence[str], *, network: bool) -> list[str]:
    """Refuse a call of Helm that a kustomization must not make, and return the options that it lacks.

    Args:
        words: the words after ``helm``.
        roots: real paths of the folders that charts and values must lie in; links of charts stay in the first.
        network: whether charts may be fetched.

    Raises:
        UsageError: if the command, an option or a path is not allowed.
        InputError: if a link of the chart leaves the root.
    """
    command, *rest = words or [""]
    if command not in _FLAGS:
        raise UsageError(f"helm {shown_path(command)} is not allowed in a kustomization")
    if command == "pull" and not network:
        raise UsageError(NEEDS_NETWORK)
    positions, paths = [], []
    waiting = iter(rest)
    for word in waiting:
        if word in _WITH_VALUE[command]:
            value = next(waiting, "")
            paths += [value] if word in _PATHS else []
            if word == "-f" and PARTS_FILES.search(value):
                raise UsageError(f"{shown_path(value)}: Helm reads this as the names of several files; rename the file")
            if word == "--name-template" and _ASKS_DNS in value and not network:
                raise UsageError(f"a name of a release calls {_ASKS_DNS}; add --render-network")
        elif word.startswith("-"):
            if word not in _FLAGS[command]:
                raise UsageError(f"{shown_path(word)} is not allowed as an option of Helm in a kustomization")
        else:
            positions.append(word)
    charts = positions[-1:] if command == "template" else []
    for path in (*paths, *charts):
        if not any(is_within(path, each) for each in roots):
            raise UsageError(f"{shown_path(path)} is outside {shown_path(roots[0])}")
    for chart in charts:
        check_links(chart, roots[0])
    return [NO_VALIDATION] if any(map(has_outside_references, charts)) else []
