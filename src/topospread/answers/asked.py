"""Describe the subject of an answer: its input, the input's size, the Kubernetes version and the input's options."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from topospread.answer import Answer, Asked
from topospread.api.inventory import Inventory
from topospread.simulation.options import SimulationOptions
from topospread.sources.load import ReadFrom

Told = TypeVar("Told", bound=Answer)


def about(told: Told, inventory: Inventory, options: SimulationOptions, source: str = "") -> Told:
    """Return an answer with its input and control plane filled in.

    Args:
        told: the answer.
        inventory: its input.
        options: its control plane.
        source: name of the input; by default the files that were read.
    """
    on = asked_of(inventory, options)
    return replace(told, on=replace(on, source=source or on.source))


def asked_of(inventory: Inventory, options: SimulationOptions) -> Asked:
    """Return the input's name and size, and its control plane."""
    programs = zip(("", "apiserver:"), options.in_force, strict=True)
    return Asked(
        source=", ".join(_sources(inventory)),
        kube_version=options.in_force[0].preview or options.kube_version,
        gates={
            f"{program}{name}": gates.enabled(name) for program, gates in programs for name in sorted(gates.overridden)
        },
        config=options.config.source if options.config is not None else "",
        nodes=len(inventory.nodes),
        pods=len(inventory.pods),
        taken=inventory.read_from.taken if isinstance(inventory.read_from, ReadFrom) else "",
    )


def input_words(inventory: Inventory) -> list[str] | None:
    """Return the command-line words for the same input.

    Empty if the input was not read from files; ``None`` if it came from standard input.
    """
    read = inventory.read_from
    if not isinstance(read, ReadFrom):
        return []
    if "-" in (*read.paths, read.cluster):
        return None
    return [*(word for path in read.paths for word in ("-f", path)), *(["--on", read.cluster] if read.cluster else [])]


def _sources(inventory: Inventory) -> list[str]:
    read = inventory.read_from
    if not isinstance(read, ReadFrom):
        return []
    named = [*read.paths, *([read.cluster] if read.cluster else [])]
    return named or ["the live cluster"]
