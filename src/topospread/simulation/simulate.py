"""Simulation of an inventory: `controllers` creates the pods, and `scheduling` places them one by one."""

from __future__ import annotations

from dataclasses import replace

from topospread.api.inventory import Inventory
from topospread.simulation.final_inventory import inventory_after
from topospread.simulation.options import PLAIN, SimulationOptions
from topospread.simulation.outcome import result_of
from topospread.simulation.placing import Progress, place_all
from topospread.simulation.result import Simulation
from topospread.simulation.run import Run, prepare
from topospread.simulation.scaling import scaled_up
from topospread.simulation.unknown import bracketed, has_open_pods


def simulate(
    inventory: Inventory,
    options: SimulationOptions = PLAIN,
    *,
    keep_after: bool = False,
    progress: Progress | None = None,
) -> Simulation:
    """Place every pod that the inventory's workloads still lack. Return each pod's node, or why it is pending.

    Args:
        inventory: the input, which is not changed.
        options: the control plane, and how pods are placed.
        keep_after: whether to include the final cluster (`Simulation.after`).
        progress: receives the number of pods scheduled so far and the total.

    Raises:
        InputError: if the API server would deny an object.
        UsageError: if ``scale`` or ``run_cron_jobs`` names a missing object.
    """
    options = replace(options, tries_groups=True)
    run = prepare(inventory, options)
    result = _result(run, progress)
    result = judged(result, inventory, options, progress)
    result = replace(result, begun=(inventory, options))
    return replace(result, after=inventory_after(run)) if keep_after else result


def judged(
    result: Simulation, inventory: Inventory, options: SimulationOptions, progress: Progress | None = None
) -> Simulation:
    """Return the simulation with open pods and bounds (`unknown`) if topospread does not model a part of some pods."""
    if not has_open_pods(result):
        return result
    return bracketed(result, _result(prepare(inventory, replace(options, assumes_unjudged=True)), progress))


def _result(run: Run, progress: Progress | None) -> Simulation:
    """Place the pods of a run, with growing pools if it has any."""
    if run.options.pools:
        return scaled_up(run, progress)
    place_all(run, progress)
    return result_of(run)
