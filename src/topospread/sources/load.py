"""Paths, and a cluster made up or given as a file → the inventory a simulation starts from."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Final

from topospread.api.inventory import Inventory
from topospread.errors import DecodeError, InputError, UsageError

from .admit import Rules
from .collection import Collection
from .files import STANDARD_INPUT, Progress, Source, find_sources, read_text, total_size
from .json_text import looks_like_json, split_documents
from .made_up import is_made_up, made_up_nodes
from .objects import ObjectReader, ReadObject
from .snapshot import leave_out_stranded_pods, warn_of_missing_owners
from .spots import Spot
from .text import Text
from .yaml import read_documents

NO_NODES: Final = (
    "no nodes are given: name a file that holds them (`kubectl get nodes -o json`), or make a cluster up, "
    "for example with --cluster zones=3,nodes=12,cpu=8,memory=32Gi"
)
_LARGEST_JSON_READ_AS_YAML: Final = 16 << 20
"""YAML takes a hundred times as long as JSON: a larger text that is not JSON is broken JSON rather than YAML."""


def load(
    paths: Sequence[str],
    *,
    cluster: str | None = None,
    stdin: BinaryIO | None = None,
    strict: bool = False,
    namespace: str = "default",
    progress: Progress | None = None,
) -> Inventory:
    """Read everything that is given; nothing is decided, and no pod is made of a workload yet.

    Args:
        paths: files, folders and ``-``, applied in this order after ``cluster``.
        cluster: a made-up cluster (`GRAMMAR`), or a path of files that hold one.
        stdin: what ``-`` stands for.
        strict: refuse fields that Kubernetes does not know, as ``kubectl --validate=strict`` does.
        namespace: where objects go that name no namespace.
        progress: is told how many bytes are dealt with.

    Raises:
        InputError: something cannot be read or used; its place says where.
        UsageError: standard input is asked for twice, or there is none.
    """
    every = [find_sources(path) for path in _with_cluster_file(paths, cluster)]
    if sum(source.path == STANDARD_INPUT for sources in every for source in sources) > 1:
        raise UsageError("- is given twice, and standard input can be read once")
    meter = _Meter(progress, total_size([source for sources in every for source in sources]))
    reader = ObjectReader(Rules(strict, namespace))
    collection = Collection()
    with _no_garbage_collection():
        if cluster is not None and is_made_up(cluster):
            collection.add_path(ReadObject("Node", node, place) for node, place in made_up_nodes(cluster))
        for sources in every:
            collection.add_path(_read(sources, stdin, reader, meter))
        return _inventory(collection, reader)


def _with_cluster_file(paths: Sequence[str], cluster: str | None) -> list[str]:
    """The paths to read: a cluster that is given as a file comes first."""
    return [cluster, *paths] if cluster is not None and not is_made_up(cluster) else list(paths)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Decoding makes many objects and no cycles: the collector would only go through them again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@dataclass(slots=True)
class _Meter:
    """Adds up the bytes that are dealt with, over all sources."""

    progress: Progress | None
    total: int | None
    done: int = 0

    def at(self, inside: int) -> None:
        """``inside`` bytes of the source at hand are dealt with."""
        if self.progress is not None:
            self.progress(self.done + inside, self.total)

    def finish(self, size: int) -> None:
        """A source of so many bytes is dealt with."""
        self.done += size
        self.at(0)


def _read(
    sources: Sequence[Source], stdin: BinaryIO | None, reader: ObjectReader, meter: _Meter
) -> Iterator[ReadObject]:
    """The objects of one path, which may be a folder of sources."""
    for source in sources:
        text = read_text(source, stdin)
        yield from _read_text(text, reader, meter)
        meter.finish(source.size if source.size is not None else len(text.data))


def _read_text(text: Text, reader: ObjectReader, meter: _Meter) -> Iterator[ReadObject]:
    if looks_like_json(text):
        try:
            spans = split_documents(text)
        except DecodeError:
            # A flow mapping begins like JSON; whether it is YAML shows when it is read as YAML.
            if len(text.data) > _LARGEST_JSON_READ_AS_YAML or text.name.endswith((".json", ".json.gz")):
                raise
        else:
            for start, end in spans:
                yield from reader.read_json(text, start, end, lambda inside, start=start: meter.at(start + inside))
            return
    for document in read_documents(text, meter.at):
        spot = Spot(text, document=document.number, line=document.line)
        yield from reader.read_value(document.value, spot)


def _inventory(collection: Collection, reader: ObjectReader) -> Inventory:
    inventory = Inventory()
    collection.fill(inventory)
    inventory.skipped = reader.skipped
    inventory.notes += collection.notes()
    for configuration, place in reader.configurations:
        inventory.configurations.append(configuration)
        inventory.notes.append(f"the KubeSchedulerConfiguration at {place} is not applied; give it with --config")
    for (kind, similar), place in reader.suspects.items():
        inventory.warnings.append(f"{place}: {kind} is no kind that is read; is {similar} meant?")
    if not inventory.nodes:
        raise InputError(NO_NODES)
    leave_out_stranded_pods(inventory)
    warn_of_missing_owners(inventory)
    return inventory
