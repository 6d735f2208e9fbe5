"""topospread: where Kubernetes pods land, and why, decided exactly as kube-scheduler decides it.

    cluster = topospread.load("nodes.json", "app.yaml")
    result = topospread.simulate(cluster)

Names are imported when they are first used, so that a command starts fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from topospread.version import __version__

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.api.spread import TopologySpreadConstraint, merge, merge_constraints
    from topospread.config.load import load_configuration
    from topospread.errors import InputError, TopospreadError
    from topospread.explanation import Explanation
    from topospread.explanation.explain import explain
    from topospread.linting.rule import Finding
    from topospread.linting.run import lint
    from topospread.simulation import Simulation
    from topospread.simulation.simulate import simulate
    from topospread.sources.rendering import Rendering
    from topospread.sources.snapshot_save import save
    from topospread.spread_status import Status
    from topospread.spread_status.status import status

_MODULES = {
    "Explanation": "topospread.explanation",
    "Finding": "topospread.linting.rule",
    "Inventory": "topospread.api.inventory",
    "InputError": "topospread.errors",
    "Rendering": "topospread.sources.rendering",
    "Simulation": "topospread.simulation",
    "Status": "topospread.spread_status",
    "TopologySpreadConstraint": "topospread.api.spread",
    "TopospreadError": "topospread.errors",
    "explain": "topospread.explanation.explain",
    "lint": "topospread.linting.run",
    "load_configuration": "topospread.config.load",
    "merge": "topospread.api.spread",
    "merge_constraints": "topospread.api.spread",
    "save": "topospread.sources.snapshot_save",
    "simulate": "topospread.simulation.simulate",
    "status": "topospread.spread_status.status",
}

__all__ = [
    "Explanation",
    "Finding",
    "InputError",
    "Inventory",
    "Rendering",
    "Simulation",
    "Status",
    "TopologySpreadConstraint",
    "TopospreadError",
    "__version__",
    "explain",
    "lint",
    "load",
    "load_configuration",
    "merge",
    "merge_constraints",
    "save",
    "simulate",
    "status",
]


def load(  # noqa: PLR0913 - keyword arguments
    *paths: str,
    cluster: str | None = None,
    strict: bool = False,
    namespace: str = "default",
    comparison_operators: bool = False,
    rendering: Rendering | None = None,
    with_hooks: bool = False,
) -> Inventory:
    """Read files and folders, in their order; what they hold is what a simulation starts from.

    Args:
        paths: YAML or JSON files, folders, ``-`` for standard input.
        cluster: a made-up cluster, ``zones=3,nodes=12,cpu=8,memory=32Gi``, or a file that holds one.
        strict: refuse fields that Kubernetes does not know.
        namespace: where objects go that name no namespace.
        comparison_operators: let tolerations use the operators Lt and Gt, as an API server does whose feature gate
            TaintTolerationComparisonOperators is on.
        rendering: how folders that are charts and kustomizations become manifests.
        with_hooks: keep the Pods and Jobs that Helm runs as hooks, and workloads that are there for tests alone.

    Raises:
        InputError: something cannot be read or used; its place says where.
    """
    import sys

    from topospread.sources.load import load as load_paths

    return load_paths(
        paths,
        cluster=cluster,
        stdin=sys.stdin.buffer,
        strict=strict,
        namespace=namespace,
        comparison_operators=comparison_operators,
        rendering=rendering,
        with_hooks=with_hooks,
    )


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'topospread' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
