"""The input and settings in a Drill file. They correspond to the command's options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from topospread.api.inventory import Inventory
from topospread.config.gate_table import Component
from topospread.config.gates import Gates, gates_for
from topospread.config.versions import NEWEST, KubeVersion
from topospread.sources.custom_kinds import find_kinds
from topospread.sources.load import load
from topospread.sources.rendering import Rendering
from topospread.sources.synthetic_cluster import is_synthetic

from .file_fields import FileFields

FIELDS = (
    "cluster",
    "manifests",
    "namespace",
    "helm",
    "raw",
    "withHooks",
    "strict",
    "kubeVersion",
    "featureGates",
    "apiserverFeatureGates",
    "schedulerFeatureGates",
    "config",
    "pools",
    "seed",
    "runs",
    "preemption",
    "anyNode",
    "fresh",
    "placed",
)
"""Fields of ``spec`` other than ``steps`` and ``expect``."""
_MOST_RUNS = 100


@dataclass(frozen=True, slots=True)
class DrillInput:
    """The input of a drill; paths are relative to the working directory.

    Attributes:
        cluster: a synthetic cluster or a file; "" without one.
        paths: manifests, in the order of application.
        rendering: settings for rendering charts and kustomizations.
    """

    cluster: str = ""
    paths: tuple[str, ...] = ()
    namespace: str = "default"
    rendering: Rendering = field(default_factory=Rendering)
    with_hooks: bool = False
    strict: bool = False

    def read(self, cluster: str | None, apiserver: Gates) -> Inventory:
        """Read the initial cluster. ``cluster`` replaces the file's cluster.

        Raises:
            InputError: if the input cannot be read or used.
        """
        return load(
            self.paths,
            cluster=cluster or self.cluster or None,
            strict=self.strict,
            namespace=self.namespace,
            comparison_operators=apiserver.enabled("TaintTolerationComparisonOperators"),
            rendering=self.rendering,
            with_hooks=self.with_hooks,
            kinds=find_kinds(),
        )


@dataclass(frozen=True, slots=True)
class DrillSettings:
    """The settings of a drill.

    Attributes:
        gates, apiserver_gates: feature gates of kube-scheduler, and of the API server.
        config: kube-scheduler's configuration file.
        pools: files with node pools.
        seed, runs, preemption: see `topospread.drill`.
        any_node: whether kube-scheduler may choose any feasible node, without scores.
        fresh: workloads, ``NAMESPACE/KIND/NAME``, whose existing pods are dropped; all their pods are then new.
        placed: see `topospread.drill.drill.BegunDrill`.
    """

    kube_version: str
    gates: Gates
    apiserver_gates: Gates
    config: str | None = None
    pools: tuple[str, ...] = ()
    seed: int | None = None
    runs: int | None = None
    preemption: bool = True
    any_node: bool = False
    fresh: tuple[str, ...] = ()
    placed: tuple[tuple[str, str], ...] = ()


def read_manifests(fields: FileFields, spec: Mapping[str, Any], kube_version: str) -> DrillInput:
    """Read the input of a drill.

    Raises:
        InputError: if a field is invalid.
    """
    cluster = fields.string(spec.get("cluster", ""), "spec.cluster")
    helm = fields.mapping(spec.get("helm", {}), "spec.helm")
    fields.known(helm, ("values", "set", "release"), "spec.helm")
    raw = fields.flag(spec.get("raw", False), "spec.raw")
    if raw and helm:
        raise fields.error("raw and helm cannot be combined", "spec.helm")
    return DrillInput(
        cluster=cluster if not cluster or is_synthetic(cluster) else fields.path(cluster, "spec.cluster"),
        paths=fields.paths(spec.get("manifests", []), "spec.manifests"),
        namespace=fields.string(spec.get("namespace", "default"), "spec.namespace"),
        rendering=Rendering(
            raw=raw,
            helm_values=fields.paths(helm.get("values", []), "spec.helm.values"),
            helm_set=tuple(fields.strings(helm.get("set", []), "spec.helm.set")),
            helm_release=fields.string(helm.get("release", ""), "spec.helm.release"),
            kube_version=kube_version,
        ),
        with_hooks=fields.flag(spec.get("withHooks", False), "spec.withHooks"),
        strict=fields.flag(spec.get("strict", False), "spec.strict"),
    )


def read_settings(fields: FileFields, spec: Mapping[str, Any]) -> DrillSettings:
    """Read the settings of a drill.

    Raises:
        InputError: if a field is invalid, or the version has no such feature gate.
    """
    version = fields.string(spec.get("kubeVersion", str(NEWEST)), "spec.kubeVersion")
    KubeVersion.parse(version, fields.place("spec.kubeVersion"))
    config = spec.get("config")
    runs = fields.number(spec["runs"], "spec.runs") if "runs" in spec else None
    if runs is not None and not 0 < runs <= _MOST_RUNS:
        raise fields.error(f"runs must be a number from 1 to {_MOST_RUNS}", "spec.runs")
    return DrillSettings(
        kube_version=version,
        gates=_gates(fields, spec, version, "scheduler"),
        apiserver_gates=_gates(fields, spec, version, "apiserver"),
        config=None if config is None else fields.path(fields.string(config, "spec.config"), "spec.config"),
        pools=fields.paths(spec.get("pools", []), "spec.pools"),
        seed=fields.number(spec["seed"], "spec.seed") if "seed" in spec else None,
        runs=runs,
        preemption=fields.flag(spec.get("preemption", True), "spec.preemption"),
        any_node=fields.flag(spec.get("anyNode", False), "spec.anyNode"),
        fresh=tuple(
            _workload(fields, each, "spec.fresh") for each in fields.strings(spec.get("fresh", []), "spec.fresh")
        ),
        placed=tuple(_placed(fields, spec)),
    )


def _workload(fields: FileFields, text: str, where: str) -> str:
    if text.count("/") != 2:
        raise fields.error("write NAMESPACE/KIND/NAME, for example shop/Deployment/web", where)
    return text


def _placed(fields: FileFields, spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for each in fields.strings(spec.get("placed", []), "spec.placed"):
        workload, _, node = each.partition("=")
        if not node:
            raise fields.error("write NAMESPACE/KIND/NAME=NODE, for example shop/Deployment/web=node-1", "spec.placed")
        yield _workload(fields, workload, "spec.placed"), node


def _gates(fields: FileFields, spec: Mapping[str, Any], version: str, component: Component) -> Gates:
    """Return one component's gates: the common gates, overridden by its own."""
    said: dict[str, bool] = {}
    names = [name for name in ("featureGates", f"{component}FeatureGates") if name in spec]
    for name in names:
        where = f"spec.{name}"
        said |= {gate: fields.flag(on, f"{where}[{gate}]") for gate, on in fields.mapping(spec[name], where).items()}
    return gates_for(version, said, component, fields.place(f"spec.{names[-1]}") if names else None)
