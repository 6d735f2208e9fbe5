"""The rules of Kubernetes versions and the feature gates that make a difference between two versions."""

from __future__ import annotations

import importlib
import pkgutil
import time
from collections.abc import Iterator
from dataclasses import is_dataclass, replace
from types import ModuleType
from typing import Any

import topospread.plugins
from topospread.api.inventory import Inventory
from topospread.config import request_rules
from topospread.config.gate_table import GATES
from topospread.config.gates import gates_for
from topospread.config.version_rules import changes
from topospread.config.versions import KubeVersion
from topospread.scheduling import (
    batching,
    eligible_to_preempt_others,
    framework,
    pod_groups,
    pod_signature,
    preemption,
    requeueing,
    sampling,
    select_host,
)
from topospread.simulation.causes import with_causes
from topospread.simulation.comparison import compare
from topospread.simulation.options import SimulationOptions
from topospread.simulation.result import Simulation
from topospread.simulation.simulate import simulate

WHERE = {
    "FrameworkRules": "all plugins",
    "VersionedRequestRules": "requests of pods",
    "PreemptionRules": "DefaultPreemption",
    "EligibilityRules": "DefaultPreemption",
    "BatchingRules": "Batches of equal pods",
    "SignatureRules": "Batches of equal pods",
    "ChoiceRules": "Choice among equal nodes",
    "RequeueingRules": "Pending pods",
    "PodGroupRules": "Pod groups",
    "NodeEventRules": "Pending pods",
    "SamplingRules": "`--sampling kube`",
    "StrategyRules": "scores by resources",
    "BalancedAllocationRules": "NodeResourcesBalancedAllocation",
    "BalanceOfTwoRules": "NodeResourcesBalancedAllocation",
    "AffinityHintRules": "InterPodAffinity",
    "NodeVolumeLimitsRules": "NodeVolumeLimits",
}
"""Class of rules → its topic; other classes are named by their topic."""
_GENERAL = frozenset({"all plugins", "requests of pods", "scores by resources", "DefaultPreemption"})


def kinds_of_rules() -> Iterator[type[Any]]:
    """Yield the classes of rules of the scheduling framework and of all plugins."""
    plugins = (
        importlib.import_module(each.name)
        for each in pkgutil.walk_packages(topospread.plugins.__path__, "topospread.plugins.")
    )
    scheduling = [framework, select_host, batching, eligible_to_preempt_others, pod_groups, pod_signature, preemption]
    modules: list[ModuleType] = [*scheduling, requeueing, sampling, request_rules, *plugins]
    for module in modules:
        for name, kind in vars(module).items():
            if name.endswith("Rules") and is_dataclass(kind) and kind.__module__ == module.__name__:
                assert isinstance(kind, type)
                yield kind


def where(kind: type[Any]) -> str:
    """Return the plugin, or the topic, of a class of rules."""
    return WHERE.get(kind.__name__, kind.__name__.removesuffix("Rules"))


def deciding_changes(
    inventory: Inventory, sides: tuple[SimulationOptions, SimulationOptions], seconds: float
) -> Iterator[str]:
    """Yield the changes of versions between two sides that move pods, oldest first.

    Every version between the sides is simulated. Where pods move, each changed feature gate is switched back alone. If
    none of them restores the placement, the changed rules of the plugins that moved pods in that version are named.

    Args:
        seconds: time limit; sentences name the versions that were not searched.
    """
    first, last = sorted(KubeVersion.parse(each.kube_version) for each in sides)
    until, ended = time.monotonic() + seconds, f"{seconds:g} s (--seconds) ended"
    options, unknown = _options(sides[0], first), None
    before = simulate(inventory, options)
    moves = []
    for minor in range(first.minor + 1, last.minor + 1):
        version = KubeVersion(1, minor)
        if time.monotonic() > until:
            unknown = f"since {version} not known: {ended} before the versions were simulated"
            break
        older, options = options, _options(sides[0], version)
        after = simulate(inventory, options)
        if _nodes(after) != _nodes(before):
            moves.append((version, (older, options), compare(before, after, ("", ""))))
        before = after
    for version, neighbours, comparison in moves:
        if time.monotonic() > until:
            yield f"since {version} pods move, by a rule that is not known: {ended} before it was found"
        elif own := list(_gates(inventory, sides[0], version, comparison.before)):
            yield from own
        else:
            why = with_causes(comparison, (inventory, inventory), neighbours).why
            yield from _rules(version, {*_GENERAL, *(each.plugin for each in why.values())})
    if unknown:
        yield unknown


def _gates(inventory: Inventory, side: SimulationOptions, version: KubeVersion, before: Simulation) -> Iterator[str]:
    """Yield the gates that restore the earlier placement if they alone are switched back."""
    older = KubeVersion(1, version.minor - 1)
    for name, row in GATES.items():
        spans = row.span_at(older), row.span_at(version)
        states = [each is not None and each.default for each in spans]
        if states[0] == states[1]:
            continue
        if _nodes(simulate(inventory, _options(side, version, {name: states[0]}))) == _nodes(before):
            yield f"since {version} the gate {name} is {'on' if states[1] else 'off'}: {row.effect}"


def _rules(version: KubeVersion, named: set[str]) -> Iterator[str]:
    found = [(where(kind), each) for kind in kinds_of_rules() for each in changes(kind) if each.version == version]
    for subject, each in sorted(found, key=lambda one: one[0]):
        if subject in named and not each.what.startswith("Queueing hints"):
            yield f"since {version}, {subject}: {each.what}"


def _options(side: SimulationOptions, version: KubeVersion, gates: dict[str, bool] | None = None) -> SimulationOptions:
    """Return the options with the defaults of a version."""
    made = [gates_for(version, component=each) for each in ("apiserver", "scheduler")]
    made = [replace(each, values={**each.values, **(gates or {})}) for each in made]
    return replace(side, kube_version=str(version), gates=made[1], apiserver_gates=made[0], config=None)


def _nodes(simulation: Simulation) -> dict[tuple[str, str], str | None]:
    return {(each.namespace, each.name): each.node for each in simulation.placements}
