"""The part of a simulation's result in one namespace. All namespaces took part."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from topospread.errors import UsageError

from .result import Simulation


def in_namespace(simulation: Simulation, namespace: str) -> Simulation:
    """The placements, workloads, pending pods, evictions and removals of one namespace.

    An eviction belongs to the namespace of the evicted pod and to that of the pod it made room for. What belongs to
    no namespace stays: skipped kinds, other schedulers' pods, warnings and notes.

    Raises:
        UsageError: there is nothing in the namespace.
    """
    known = {each.namespace for each in simulation.workloads} | {each.namespace for each in simulation.placements}
    if namespace not in known:
        there_are = f"there are {', '.join(sorted(known))}" if known else "there are no workloads at all"
        raise UsageError(f'-n {namespace}: there is no workload in the namespace "{namespace}"; {there_are}')

    def inside(key: str) -> bool:
        return key.partition("/")[0] == namespace

    return replace(
        simulation,
        placements=tuple(each for each in simulation.placements if each.namespace == namespace),
        workloads=tuple(each for each in simulation.workloads if each.namespace == namespace),
        pending=tuple(each for each in simulation.pending if each.namespace == namespace),
        evictions=tuple(each for each in simulation.evictions if namespace == each.namespace or inside(each.preemptor)),
        removed={pod: node for pod, node in simulation.removed.items() if inside(pod)},
        unjudged=tuple(
            msgspec.structs.replace(each, pods=pods)
            for each in simulation.unjudged
            if (pods := tuple(filter(inside, each.pods)))
        ),
        open_pods=tuple(filter(inside, simulation.open_pods)),
        bounds={workload: each for workload, each in simulation.bounds.items() if inside(workload)},
    )
