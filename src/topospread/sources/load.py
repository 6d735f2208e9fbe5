"""Load paths and a cluster into an inventory, the input of simulations."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from itertools import chain
from typing import BinaryIO, Final

import msgspec

from topospread.api.devices import DEVICE_KINDS
from topospread.api.inventory import ABSENT, Inventory, ObjectKey
from topospread.api.kinds import KINDS
from topospread.api.storage import default_classes
from topospread.errors import DecodeError, DuplicateError, InputError, Place, UsageError
from topospread.text import did_you_mean

from .admit import Rules
from .collection import Collection
from .custom_kinds import Kinds, notes_on_custom
from .deliveries import note_of_deliveries
from .duplicate_names import notes_on_namesakes
from .files import (
    STANDARD_INPUT,
    ReadingProgress,
    Source,
    in_time,
    is_hidden,
    listed_paths,
    no_object,
    read_text,
    total_size,
)
from .folders import PathContents, check_charts, check_programs, look_into
from .hooks import HooksLeftOut
from .json_text import JsonList, is_meant_as_json, is_named_json, looks_like_json, split_documents
from .locations import Location
from .objects import ObjectReader, ReadObject
from .rendering import Rendering
from .roots import check_inside_repository
from .snapshot import leave_out_stranded_pods, warn_of_missing_owners
from .snapshot_facts import SnapshotFacts, note_of, unread_kinds, warnings_of, warnings_when_read
from .synthetic_cluster import is_synthetic, is_unasked, synthetic_nodes, synthetic_storage_classes
from .text import Text, may_hold_objects, shown_path
from .yaml import read_documents
from .yaml_list import YamlList

NO_NODES: Final = (
    "the input has no nodes: add --on with a file that has some (`kubectl get nodes -o json`) or with a synthetic "
    "cluster, for example --on zones=3,nodes=12,cpu=8,memory=32Gi"
)
_LARGEST_JSON_READ_AS_YAML: Final = 16 << 20
"""YAML is about a hundred times slower than JSON, so larger texts that are not JSON are reported as broken JSON."""
_POINTER: Final = b"version https://git-lfs.github.com/spec/"
"""The beginning of a file whose content Git LFS keeps."""


class NoNodesError(InputError):
    """The input has no node; ``manifests``: but only manifests, which may be applied to a cluster."""

    def __init__(self, inventory: Inventory) -> None:
        found = list(inventory.objects())
        self.manifests = bool(found) and not any(each.metadata.is_stored for each in found)
        super().__init__(NO_NODES)


class LiveObjects(msgspec.Struct, frozen=True):
    """The objects read from a live cluster.

    Attributes:
        objects: each object once, sorted by kind.
        facts: time of reading, and missing kinds.
        place: the cluster, for notes and warnings.
    """

    objects: Sequence[ReadObject]
    facts: SnapshotFacts
    place: Place


LiveReading = Callable[[Sequence[ReadObject]], LiveObjects]
"""Reads a live cluster. It receives the applied manifests, so that it reads only the needed kinds."""


class ReadFrom(msgspec.Struct, frozen=True):
    """The sources of an inventory: the arguments of `load`.

    Attributes:
        live: whether a live cluster was read, too.
        taken: time of the first snapshot, RFC 3339; "" without a snapshot.
        applied: see `load`.
        own: kind, namespace and name of each object that the paths apply to a cluster; empty without a cluster.
    """

    paths: tuple[str, ...]
    cluster: str | None
    namespace: str
    rendering: Rendering
    live: bool = False
    taken: str = ""
    applied: int = 0
    own: frozenset[ObjectKey] = frozenset()


def load(  # noqa: PLR0913 - keyword arguments
    paths: Sequence[str],
    *,
    cluster: str | None = None,
    stdin: BinaryIO | None = None,
    strict: bool = False,
    namespace: str = "default",
    comparison_operators: bool = False,
    rendering: Rendering | None = None,
    with_hooks: bool = False,
    kinds: Kinds | None = None,
    live: LiveObjects | LiveReading | None = None,
    needs_nodes: bool = True,
    allow_empty: bool = False,
    progress: ReadingProgress | None = None,
    keeps_whole: bool = False,
    applied: int = 0,
) -> Inventory:
    """Read all input into an inventory. Workloads have no pods yet.

    Args:
        paths: files, folders and ``-``, applied in this order after ``cluster``. Without a cluster, they are the
            cluster's state.
        cluster: a synthetic cluster (`synthetic_cluster.GRAMMAR`), or a path of files.
        stdin: input for the path ``-``.
        strict: reject unknown fields, like ``kubectl --validate=strict``.
        namespace: namespace of objects without ``metadata.namespace``.
        comparison_operators: accept the toleration operators Lt and Gt (feature gate
            TaintTolerationComparisonOperators).
        rendering: settings for rendering charts and kustomizations. Releases get the namespace ``namespace``.
        with_hooks: keep Helm hook Pods and Jobs, and workloads that only serve Helm tests.
        kinds: custom resources whose pods are known; by default the built-in table.
        live: a live cluster, or a function that reads it, to which the paths are applied instead of ``cluster``.
        needs_nodes: raise an error if there are no nodes.
        allow_empty: accept paths without any object.
        progress: receives the number of processed bytes.
        keeps_whole: keep all fields of pods and templates, for policies that are not in the paths.
        applied: if there is no cluster: number of paths, from the end, that are applied to the state in the other
            paths.

    Raises:
        InputError: if a file cannot be read or used, or no path contains an object.
        UsageError: if standard input is named twice or closed, or options for charts are given without a chart.
    """
    paths_read = _with_cluster_file(paths, cluster)
    has_cluster = cluster is not None or live is not None
    state = len(paths_read) - (len(paths) if has_cluster else applied)
    rendered = replace(rendering or Rendering(), namespace=namespace)
    found = _found(paths_read, rendered, allow_empty=allow_empty)
    every = [each.sources for each in found]
    stdin = _rereadable(stdin, every)
    pipes: dict[str, Text] = {}
    rules = Rules(strict, namespace, comparison_operators, kinds, frozenset() if keeps_whole else None)
    with no_garbage_collection():
        while True:
            meter = _Meter(progress, total_size([source for sources in every for source in sources]))
            if isinstance(stdin, BytesIO):
                stdin.seek(0)
            collection = Collection()
            reader = ObjectReader(rules, collection.objects)
            hooks = HooksLeftOut()
            read: list[Iterable[ReadObject]] = [
                _read(path, sources, stdin, reader, meter, pipes=pipes, applied=number >= state)
                for number, (path, sources) in enumerate(zip(paths_read, every, strict=True))
            ]
            if live is not None:
                if callable(live):
                    read = [list(objects) for objects in read]
                    live = live([each for objects in read for each in objects])
                collection.add_path(live.objects)
                reader.snapshots.insert(0, (live.facts, live.place))
            _add_synthetic(collection, cluster)
            empty, own = [], set[ObjectKey]()
            for number, (path, objects) in enumerate(zip(paths_read, read, strict=True)):
                begun = iter(objects)
                first = next(begun, None)
                if first is None:
                    empty.append(path)
                else:
                    whole = chain([first], begun)
                    keys = collection.add_path(whole if with_hooks else hooks.without(whole))
                    if has_cluster and number >= state:
                        own |= keys
            # With a cluster, too, manifests without an object are a mistake.
            judged = list(paths) or paths_read
            if judged and not allow_empty and set(judged) <= set(empty):
                raise _without_objects(judged, reader)
            inventory = _inventory(collection, reader, needs_nodes=needs_nodes)
            if rules.parameters is not None or not (inventory.validating_bindings or inventory.mutating_bindings):
                break
            # Policies in CEL read every field of new pods: read all once more, and keep them.
            rules = msgspec.structs.replace(rules, parameters=_parameter_kinds(inventory))
        inventory.read_from = ReadFrom(
            tuple(paths),
            cluster,
            namespace,
            rendering or Rendering(),
            live=live is not None,
            taken=next((facts.taken for facts, _ in reader.snapshots), ""),
            applied=applied,
            own=frozenset(own),
        )
        inventory.parameters += reader.parameters
        inventory.warnings += [warning for each in found for warning in each.warnings]
        inventory.notes += [*hooks.notes(), *(note for each in found for note in each.notes)]
        if reader.foreign:
            inventory.notes.append(f"{listed_paths(reader.foreign)}: not a Kubernetes object, skipped")
        _settle_classes(inventory, cluster, reader)
        return inventory


def _rereadable(stdin: BinaryIO | None, every: Iterable[Sequence[Source]]) -> BinaryIO | None:
    """Return standard input as a stream that can be read twice; unchanged if no source reads it."""
    if stdin is None or not any(source.path == STANDARD_INPUT for sources in every for source in sources):
        return stdin
    return BytesIO(stdin.read())


def _add_synthetic(collection: Collection, cluster: str | None) -> None:
    if cluster is not None and is_synthetic(cluster):
        collection.add_path(ReadObject("Node", node, place) for node, place in synthetic_nodes(cluster))
        classes = synthetic_storage_classes(cluster)
        collection.add_path(ReadObject("StorageClass", item, place) for item, place in classes)


def _parameter_kinds(inventory: Inventory) -> frozenset[tuple[str, str]]:
    kinds = (each.spec.param_kind for each in (*inventory.validating_policies, *inventory.mutating_policies))
    return frozenset((each.api_version, each.kind) for each in kinds if each is not None)


def _with_cluster_file(paths: Sequence[str], cluster: str | None) -> list[str]:
    """Return the paths in the order of application, with the cluster's file first."""
    if cluster is None or is_synthetic(cluster):
        return list(paths)
    if cluster != STANDARD_INPUT:
        check_inside_repository(cluster)
    if cluster != STANDARD_INPUT and not os.path.exists(cluster):
        raise InputError(
            f"--on {shown_path(cluster)}: file not found"
            + (_near(cluster) or "; a synthetic cluster is written as zones=3,nodes=6 (topospread explain clusters)")
        )
    return [cluster, *paths]


_CLOSE = 0.75


def _near(path: str) -> str:
    """Return ``; did you mean cluster.json?`` for a file of the same folder whose name is similar."""
    folder, name = os.path.split(path)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return ""
    return did_you_mean(name, {each: shown_path(os.path.join(folder, each)) for each in names}, cutoff=_CLOSE)


def _without_objects(paths: Sequence[str], reader: ObjectReader) -> InputError:
    """Return the error for paths without any object that topospread reads."""
    if reader.misspelt:
        (kind, similar), place = next(iter(reader.misspelt.items()))
        return InputError(f"kind {kind} is unknown; did you mean {similar}?", place)
    if reader.configurations:
        _, place = reader.configurations[0]
        return InputError("a KubeSchedulerConfiguration is not applied; give it with --config", place)
    skipped = ", ".join(f"{count} {kind}" for kind, count in sorted(reader.skipped.items()))
    which = f" that topospread reads, only {skipped}" if skipped else ""
    return no_object(paths, which, [*note_of_deliveries(reader.deliveries), *notes_on_custom({}, reader.unknown_pods)])


def _found(paths: Sequence[str], rendering: Rendering, *, allow_empty: bool) -> list[PathContents]:
    """Return the sources of each path, after checking that all can be read."""
    found = [look_into(path, rendering, to_apply=True, allow_empty=allow_empty) for path in paths]
    check_charts(rendering, lambda: any(each.has_chart for each in found))
    sources = [source for each in found for source in each.sources]
    if sum(source.path == STANDARD_INPUT for source in sources) > 1:
        raise UsageError("- is given twice; standard input can be read only once")
    check_programs(sources)
    return found


class _Meter(msgspec.Struct):
    """Reports progress over the bytes of all sources.

    Attributes:
        total: bytes of all sources; None if unknown.
        before: bytes of the finished sources.
        weight: bytes of the current source on disk.
        size: bytes of its decompressed text.
    """

    report: ReadingProgress | None
    total: int | None
    before: int = 0
    weight: int = 0
    size: int = 0

    def begin(self, weight: int, size: int) -> None:
        """Start a source whose text was read."""
        self.weight, self.size = weight, max(size, 1)
        self.advance(0)

    def advance(self, done: int) -> None:
        """Report the number of processed bytes in the current text."""
        if self.report is not None:
            self.report(self.before + self.weight * done // self.size, self.total)

    def end(self) -> None:
        """Finish the current source."""
        self.before += self.weight
        self.weight = 0
        self.advance(0)


def _read(  # noqa: PLR0913 - the parts of one reading
    path: str,
    sources: Sequence[Source],
    stdin: BinaryIO | None,
    reader: ObjectReader,
    meter: _Meter,
    *,
    pipes: dict[str, Text],
    applied: bool,
) -> Iterator[ReadObject]:
    """Yield the objects of one path. Record files in folders that belong to other programs.

    ``pipes`` keeps the texts of files that can be read only once. ``applied``: see `Rules`.
    """
    reader.rules = msgspec.structs.replace(reader.rules, applied=applied)
    for source in in_time(sources):
        text = pipes.get(source.path) or read_text(source, stdin)
        if source.unit is None and source.path != STANDARD_INPUT and not os.path.isfile(source.path):
            pipes[source.path] = text
        meter.begin(len(text.data) if source.size is None else source.size, len(text.data))
        foreign = False if source.path == path else is_foreign(text)
        if foreign is not False:
            reader.foreign += [] if foreign and is_hidden(source.path) else [source.path]
        else:
            yield from read_objects(text, reader, meter.advance)
        reader.repeats += text.repeats
        meter.end()


def is_foreign(text: Text) -> bool | None:
    """Return whether a file in a folder belongs to another program than Kubernetes.

    JSON does if it has neither apiVersion nor kind, such as package.json. A hidden file does if it lacks one of them,
    such as .drone.yml. Return None for a hidden file that cannot be parsed and does not contain both words.

    Raises:
        InputError: if any other file cannot be parsed.
    """
    data, number = text.data, 2 if is_hidden(text.name) else 1
    if number == 1 and (not is_named_json(text) or b'"apiVersion"' in data or b'"kind"' in data or not data.strip()):
        return False
    if data.startswith(_POINTER):
        return False
    try:
        return not may_hold_objects(text, number) or not any(
            isinstance(each, dict) and len(each.keys() & {"apiVersion", "kind"}) >= number for each in _values(text)
        )
    except InputError:
        if number == 1 or (b"apiVersion" in data and b"kind" in data):
            raise
        return None


def _values(text: Text) -> Iterator[object]:
    try:
        yield msgspec.json.decode(text.data)
    except (ValueError, RecursionError):
        yield from (each.value for each in read_documents(text))


def read_objects(text: Text, reader: ObjectReader, progress: Callable[[int], None]) -> Iterator[ReadObject]:
    """Yield the objects of a JSON or YAML text. JSON is tried first, like in kubectl.

    Raises:
        InputError: if the text is neither, or an object is unusable.
    """
    if looks_like_json(text):
        listed = JsonList.at(Location(text, start=0, end=len(text.data)))
        if listed is not None:
            yield from reader.read_json_list(listed, progress)
            return
        spans = _json_documents(text)
        if spans is not None:
            for start, end in spans:
                yield from reader.read_json(Location(text, start=start, end=end))
                progress(end)
            return
    written_by_line = YamlList.at(text)
    if written_by_line is not None:
        yield from reader.read_yaml_list(written_by_line, progress)
        return
    for document in read_documents(text, progress):
        yield from reader.read_value(document.value, Location(text, document.number, document.line))


def _json_documents(text: Text) -> list[tuple[int, int]] | None:
    """Return the positions of JSON documents; None if the text is YAML that starts with a brace."""
    try:
        return split_documents(text)
    except DecodeError as error:
        if len(text.data) > _LARGEST_JSON_READ_AS_YAML or not is_yaml(text):
            raise error
        return None


def is_yaml(text: Text) -> bool:
    """Return whether a text that is not JSON is YAML, or looks like YAML."""
    try:
        for _ in read_documents(text):
            pass
    except DecodeError:
        return not is_meant_as_json(text)
    except DuplicateError:
        return True
    return True


def _inventory(collection: Collection, reader: ObjectReader, *, needs_nodes: bool) -> Inventory:
    """Return the inventory, without objects that kube-scheduler ignores, and with notes for the user."""
    inventory = Inventory(skipped=reader.skipped, unmodelled=reader.unmodelled)
    collection.fill(inventory)
    if needs_nodes and not inventory.nodes:
        raise NoNodesError(inventory)
    inventory.warnings += [*reader.repeats, *reader.dropped]
    if reader.more_dropped:
        inventory.warnings.append(f"{reader.more_dropped} more unknown fields were dropped: topospread lint names them")
    inventory.notes += collection.notes()
    inventory.notes += note_of_deliveries(reader.deliveries)
    inventory.notes += notes_on_custom(reader.custom, reader.unknown_pods)
    for configuration, place in reader.configurations:
        inventory.configurations.append(configuration)
        inventory.notes.append(f"{place}: this KubeSchedulerConfiguration is not applied; give it with --config")
    for (kind, similar), place in reader.misspelt.items():
        inventory.warnings.append(f"{place}: kind {kind} is unknown, its objects are skipped; did you mean {similar}?")
    for facts, place in reader.snapshots:
        inventory.notes.append(f"{place}: {note_of(facts)}")
        inventory.warnings += [
            f"{place}: {warning}" for warning in (warnings_of if facts.live else warnings_when_read)(facts)
        ]
        inventory.unread |= unread_kinds(facts)
    if not reader.snapshots and not inventory.persistent_volume_claims:
        inventory.unread["PersistentVolumeClaim"] = ABSENT
    read = {
        kind
        for facts, _ in reader.snapshots
        if facts.taken and not facts.simulated
        for kind in (*facts.counts, *facts.missing)
    }
    for kind in DEVICE_KINDS:
        if kind not in read and not getattr(inventory, KINDS[kind].attribute):
            inventory.unread[kind] = ABSENT
    inventory.notes += notes_on_namesakes(inventory.objects(), reader.placed)
    leave_out_stranded_pods(inventory)
    known = any(facts.live or "Service" in facts.counts for facts, _ in reader.snapshots)
    told = {kind for facts, _ in reader.snapshots if facts.live for kind in facts.missing}
    warn_of_missing_owners(inventory, services_known=known, told=told)
    return inventory


def _settle_classes(inventory: Inventory, cluster: str | None, reader: ObjectReader) -> None:
    """Remove a synthetic cluster's default StorageClass if the manifests have a default.

    Without a synthetic cluster and without any StorageClass, record that StorageClasses are unknown, unless they were
    read from a cluster.
    """
    classes = inventory.storage_classes
    if cluster is None or not is_synthetic(cluster):
        if not classes and all(facts.simulated for facts, _ in reader.snapshots):
            inventory.unread["StorageClass"] = ABSENT
        return
    unasked = [each for each in classes if is_unasked(cluster, each)]
    if unasked and default_classes(each for each in classes if each not in unasked):
        for each in unasked:
            classes.remove(each)
            del inventory.places["StorageClass", "", each.name]


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Disable garbage collection.

    Loading creates millions of objects that all stay, so collecting would waste most of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
