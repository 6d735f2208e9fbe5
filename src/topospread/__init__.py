"""topospread: compute where Kubernetes pods land, and explain why, exactly like kube-scheduler.

    cluster = topospread.Session("cluster.json.gz")
    answer = cluster.why("deploy/web")

Each public name is imported at its first use, so that commands start fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from topospread.version import __version__

if TYPE_CHECKING:
    import os

    from topospread.answers.capacity import Capacity
    from topospread.answers.drill import DrillResult
    from topospread.answers.drill_many import DrillEach
    from topospread.answers.lint import Lint, LintFinding
    from topospread.answers.orders import Orders
    from topospread.answers.plan import Plan
    from topospread.answers.promise_check import PromiseCheck
    from topospread.answers.promise_design import PromiseDesign
    from topospread.answers.promise_show import PromiseShow
    from topospread.answers.rebalance import Rebalance
    from topospread.answers.simulation import Simulation
    from topospread.answers.status import Status
    from topospread.answers.why import Why
    from topospread.answers.why_history import WhyHistory
    from topospread.answers.why_pending import WhyPending
    from topospread.api.inventory import Inventory
    from topospread.api.spread import TopologySpreadConstraint, merge, merge_constraints
    from topospread.config.load import default_configuration, load_configuration
    from topospread.config.profile import Configuration
    from topospread.config.versions import KubeVersion
    from topospread.errors import InputError, TopospreadError, UnknownVerdictError, UsageError
    from topospread.lint.settings import Settings, find_settings, read_settings
    from topospread.session import Placing, Promises, Session
    from topospread.sources.configuration import read_configuration
    from topospread.sources.rendering import Rendering
    from topospread.sources.snapshot_file import save
    from topospread.traffic.result import ExpectedTraffic

_MODULES = {
    "Capacity": "topospread.answers.capacity",
    "Configuration": "topospread.config.profile",
    "DrillEach": "topospread.answers.drill_many",
    "DrillResult": "topospread.answers.drill",
    "ExpectedTraffic": "topospread.traffic.result",
    "InputError": "topospread.errors",
    "Inventory": "topospread.api.inventory",
    "KubeVersion": "topospread.config.versions",
    "Lint": "topospread.answers.lint",
    "LintFinding": "topospread.answers.lint",
    "Orders": "topospread.answers.orders",
    "Placing": "topospread.session",
    "Plan": "topospread.answers.plan",
    "PromiseCheck": "topospread.answers.promise_check",
    "PromiseDesign": "topospread.answers.promise_design",
    "PromiseShow": "topospread.answers.promise_show",
    "Promises": "topospread.session",
    "Rebalance": "topospread.answers.rebalance",
    "Rendering": "topospread.sources.rendering",
    "Session": "topospread.session",
    "Settings": "topospread.lint.settings",
    "Simulation": "topospread.answers.simulation",
    "Status": "topospread.answers.status",
    "TopologySpreadConstraint": "topospread.api.spread",
    "TopospreadError": "topospread.errors",
    "UnknownVerdictError": "topospread.errors",
    "UsageError": "topospread.errors",
    "Why": "topospread.answers.why",
    "WhyHistory": "topospread.answers.why_history",
    "WhyPending": "topospread.answers.why_pending",
    "default_configuration": "topospread.config.load",
    "find_settings": "topospread.lint.settings",
    "load_configuration": "topospread.config.load",
    "merge": "topospread.api.spread",
    "merge_constraints": "topospread.api.spread",
    "read_configuration": "topospread.sources.configuration",
    "read_settings": "topospread.lint.settings",
    "save": "topospread.sources.snapshot_file",
}

__all__ = [
    "Capacity",
    "Configuration",
    "DrillEach",
    "DrillResult",
    "ExpectedTraffic",
    "InputError",
    "Inventory",
    "KubeVersion",
    "Lint",
    "LintFinding",
    "Orders",
    "Placing",
    "Plan",
    "PromiseCheck",
    "PromiseDesign",
    "PromiseShow",
    "Promises",
    "Rebalance",
    "Rendering",
    "Session",
    "Settings",
    "Simulation",
    "Status",
    "TopologySpreadConstraint",
    "TopospreadError",
    "UnknownVerdictError",
    "UsageError",
    "Why",
    "WhyHistory",
    "WhyPending",
    "__version__",
    "default_configuration",
    "find_settings",
    "load",
    "load_configuration",
    "merge",
    "merge_constraints",
    "read_configuration",
    "read_settings",
    "save",
]


def load(  # noqa: PLR0913 - keyword arguments
    *paths: str | os.PathLike[str],
    cluster: str | None = None,
    strict: bool = False,
    namespace: str = "default",
    comparison_operators: bool = False,
    rendering: Rendering | None = None,
    with_hooks: bool = False,
    allow_empty: bool = False,
) -> Inventory:
    """Read files and folders, in the order given, into an inventory: the input of a simulation.

    Args:
        paths: YAML or JSON files, folders, ``-`` for standard input.
        cluster: a synthetic cluster, ``zones=3,nodes=12,cpu=8,memory=32Gi``, or a file with a cluster.
        strict: raise an error for fields that are not in the Kubernetes API.
        namespace: namespace of objects without ``metadata.namespace``.
        comparison_operators: accept the toleration operators Lt and Gt (feature gate
            TaintTolerationComparisonOperators).
        rendering: settings for rendering Helm charts and kustomizations.
        with_hooks: keep Helm hook Pods and Jobs, and workloads that only serve Helm tests.
        allow_empty: return an empty inventory if the paths contain no object; by default that is an error.

    Raises:
        InputError: if a file cannot be read or parsed, or no path contains an object.
    """
    import sys

    from topospread.sources.inputs import paths_of
    from topospread.sources.load import load as load_paths

    return load_paths(
        paths_of(paths),
        cluster=cluster,
        stdin=sys.stdin.buffer if sys.stdin is not None else None,
        strict=strict,
        namespace=namespace,
        comparison_operators=comparison_operators,
        rendering=rendering,
        with_hooks=with_hooks,
        allow_empty=allow_empty,
    )


def __getattr__(name: str) -> Any:
    if name == "steps":
        return import_module("topospread.drill.steps")
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'topospread' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
