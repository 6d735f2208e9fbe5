"""What the functions of the public API are given: paths, or what was read of them before; nothing is read twice."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from topospread.api.inventory import Inventory
from topospread.config.gates import Gates, gates_for
from topospread.config.profile import Configuration
from topospread.errors import UsageError

from .configuration import read_configuration
from .load import load
from .rendering import Rendering

Path = str | os.PathLike[str]

Input = Inventory | Path | Sequence[Path]
"""What was read (`topospread.load`), or the paths to read: YAML or JSON files, folders, ``-`` for standard input."""


def paths_of(given: Path | Sequence[Path]) -> list[str]:
    """The paths as texts, in their order."""
    return [os.fspath(path) for path in ([given] if isinstance(given, str | os.PathLike) else given)]


def inventory_of(
    given: Input, cluster: str | None = None, apiserver: Gates | None = None, namespace: str | None = None
) -> Inventory:
    """What was read, or what is to be read, as the command reads it.

    Args:
        given: an inventory, which is returned as it is, or paths.
        cluster: beside paths: a made-up cluster, or a file that holds one.
        apiserver: the API server's gates, which decide what it lets in; by default the newest version's.
        namespace: where objects of paths go that name no namespace; by default to ``default``.

    Raises:
        InputError: something cannot be read or used; its place says where.
        UsageError: a cluster is named beside an inventory, which has its nodes.
    """
    if isinstance(given, Inventory):
        if cluster is not None:
            raise UsageError("cluster: what was read has its nodes; name a cluster where it is read (load)")
        return given
    apiserver = apiserver or gates_for(component="apiserver")
    return load(
        paths_of(given),
        cluster=cluster,
        stdin=sys.stdin.buffer if sys.stdin is not None else None,
        namespace=namespace or "default",
        comparison_operators=apiserver.enabled("TaintTolerationComparisonOperators"),
        rendering=Rendering(kube_version=str(apiserver.kube_version)),
    )


def configuration_of(given: Configuration | Path | None, gates: Gates) -> Configuration | None:
    """A configuration, or that of a file; ``None`` for none.

    Raises:
        InputError: it cannot be read, or kube-scheduler would refuse it.
    """
    return read_configuration(os.fspath(given), gates) if isinstance(given, str | os.PathLike) else given
