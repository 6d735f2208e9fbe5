"""What an answer is about: the input, its size and the Kubernetes version; and the words that give it again."""

from __future__ import annotations

from topospread.answer import Asked
from topospread.api.inventory import Inventory
from topospread.sources.load import ReadFrom


def asked_of(inventory: Inventory, kube_version: str) -> Asked:
    """Return the input's name and size, and the version that it is judged by."""
    return Asked(
        source=", ".join(_sources(inventory)),
        kube_version=kube_version,
        nodes=len(inventory.nodes),
        pods=len(inventory.pods),
    )


def input_words(inventory: Inventory) -> list[str]:
    """Return the words of a command line that give the same input; none if it was not read from files."""
    read = inventory.read_from
    if not isinstance(read, ReadFrom):
        return []
    return [*(word for path in read.paths for word in ("-f", path)), *(["--on", read.cluster] if read.cluster else [])]


def _sources(inventory: Inventory) -> list[str]:
    read = inventory.read_from
    if not isinstance(read, ReadFrom):
        return []
    named = [*read.paths, *([read.cluster] if read.cluster else [])]
    return named or ["the live cluster"]
