"""Run Helm for kustomize with restrictions: known calls, no plugins, charts and values inside the root.

kustomize passes texts of a kustomization to Helm as arguments, and lets it choose Helm's plugin folder.
Source: sigs.k8s.io/kustomize/api/types/helmchartargs.go and internal/builtins/HelmChartInflationGenerator.go.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from topospread.errors import InputError, UsageError

from .chart_schemas import NO_VALIDATION, has_outside_references
from .roots import check_links, check_name, is_of_git, is_within
from .text import shown_path

HELM_HOMES: Final = ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME")
NO_PLUGINS: Final = {"HELM_PLUGINS": os.devnull}
"""An unusable folder for Helm's plugins."""
NEEDS_NETWORK: Final = "the chart is not in the chart home, and fetching charts is off; add --render-network"
NO_TEMPLATE: Final = "a release's name cannot be a template, because it could read the environment; write a plain name"
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
PARTS_FILES: Final = re.compile(r'[,"\r\n]')
"""Characters that split or quote file names in ``-f`` or ``--values``, which Helm parses as CSV."""


def write_gate(folder: str, helm: str, root: str, *, network: bool) -> str:
    """Write the program that kustomize calls instead of Helm, and return its path.

    Args:
        folder: a temporary folder for Helm's home and kustomize's files.
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
    """Run an allowed Helm call and exit with its code; otherwise print the reason and exit with 1."""
    folder, helm, root, network, *words = sys.argv[1:]
    environment = {**os.environ, **{name: os.path.join(folder, name.lower()) for name in HELM_HOMES}, **NO_PLUGINS}
    try:
        words += check_call(words, (root, folder), network=bool(network))
        if words[0] == "pull":
            sys.exit(_fetch(helm, words, folder, environment))
    except (InputError, UsageError) as error:
        sys.exit(f"Error: {error}")
    os.execve(helm, [helm, *words], environment)


def _fetch(helm: str, words: Sequence[str], folder: str, environment: Mapping[str, str]) -> int:
    """Fetch a chart into a temporary folder first, and return Helm's exit code.

    The chart determines its folder's name, which could be ``.git``.
    """
    before, after = words[: words.index("--untardir") + 1], words[words.index("--untardir") + 1 :]
    with tempfile.TemporaryDirectory(dir=folder) as fetched:
        code = subprocess.call([helm, *before, fetched, *after[1:]], env=dict(environment))
        if any(is_of_git(name) for _, folders, files in os.walk(fetched) for name in (*folders, *files)):
            raise UsageError("the fetched chart contains a file of git's; use another version of it")
        os.makedirs(after[0], exist_ok=True)
        for name in os.listdir(fetched):
            wanted = os.path.join(after[0], name)
            if os.path.lexists(wanted):
                raise UsageError(f"{shown_path(wanted)} exists, and the fetched chart has the same name; remove it")
            shutil.move(os.path.join(fetched, name), wanted)
    return code


def check_call(words: Sequence[str], roots: Sequence[str], *, network: bool) -> list[str]:
    """Check a call of Helm, and return the options to add to it.

    Args:
        words: the arguments of ``helm``.
        roots: real paths of the folders for values. Charts and their links must be in the first folder. The other
            folders are temporary, and a remote base could write a chart into them.
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
    positions = []
    waiting = iter(rest)
    for word in waiting:
        if word in _WITH_VALUE[command]:
            _check_value(word, next(waiting, ""), roots)
        elif word.startswith("-"):
            if word not in _FLAGS[command]:
                raise UsageError(f"{shown_path(word)} is not allowed as an option of Helm in a kustomization")
        else:
            positions.append(word)
        if ".." in word.split("/") or (command == "pull" and os.path.isabs(word)):
            raise UsageError(f"{shown_path(word)}: the name of a chart cannot be an absolute path or contain ..")
    charts = positions[-1:] if command == "template" else []
    for chart in charts:
        if not is_within(chart, roots[0]):
            raise _outside(chart, roots)
        check_name(chart)
        check_links(chart, roots[0])
    return [NO_VALIDATION] if any(map(has_outside_references, charts)) else []


def _check_value(option: str, value: str, roots: Sequence[str]) -> None:
    if option == "-f":
        if PARTS_FILES.search(value):
            raise UsageError(f"{shown_path(value)}: Helm reads this as the names of several files; rename the file")
        if "://" in value:
            raise UsageError(f"{shown_path(value)}: Helm would fetch these values; name a file")
        if not any(is_within(value, each) for each in roots):
            raise _outside(value, roots)
    if option == "--untardir" and not is_within(value, roots[0]):
        raise _outside(value, roots)
    if option == "--name-template" and "{{" in value:
        # Unlike in a chart, functions of a name template read the environment and use DNS. So its result could depend
        # on whether topospread renders it.
        raise UsageError(f"nameTemplate: {NO_TEMPLATE}")


def _outside(path: str, roots: Sequence[str]) -> UsageError:
    return UsageError(f"{shown_path(path)} is outside {shown_path(roots[0])}; copy it there")
