"""Convert documents to typed objects. JSON lists of whole clusters take a fast path.

Stored JSON objects are decoded directly to structs. Hand-written, old, faulty or strictly checked objects are parsed to
plain data first. Of hand-written pods that differ only in names and label values, only one is validated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec

from topospread.api.inventory import ObjectKey
from topospread.api.kinds import KINDS, NOT_MODELLED
from topospread.api.label_syntax import label_key_problems, label_value_problems
from topospread.api.meta import Annotations, KubeObject, KubeStruct
from topospread.api.pod import Pod
from topospread.api.served import similar_kind
from topospread.api.spread import apply_constraints
from topospread.errors import DecodeError, InputError, InvalidError, Place

from .admit import Rules, admit, is_stored, refused_version, wrong_case
from .custom_kinds import MADE_OF, CustomKind, made_of, pod_parts, shipped_kinds
from .deliveries import delivery_of
from .files import STANDARD_INPUT
from .json_text import JsonList, no_list, read_value
from .line_breaks import MAY_HAVE_ONE, line_break_in
from .locations import Location, label_of
from .quantities import KnownQuantities
from .shared_parts import SharedParts
from .snapshot_facts import SnapshotFacts
from .text import described, printable
from .unknown_fields import fields_of_no_version, meant
from .versions import VERSIONS, NoMatchError, resolve_kind
from .yaml_list import YamlList

_TYPE: Final = re.compile(rb'\s*\{\s*"apiVersion"\s*:\s*"([^"\\]*)"\s*,\s*"kind"\s*:\s*"([^"\\]*)"')
_ITEMS_BETWEEN_REPORTS: Final = 1000
_MOST_MADE: Final = 5_000
"""Maximum number of objects created from all custom resources."""
_MOST_DROPPED: Final = 20
"""Maximum number of warnings about dropped fields."""
_SUBDOMAIN: Final = re.compile(r"(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_KEY: Final = msgspec.json.Encoder()
_PATCHED: Final = frozenset({"Deployment", "StatefulSet", "PodDisruptionBudget"})


class ReadObject(NamedTuple):
    """An object, its key in `KINDS`, and its location.

    Attributes:
        kind: key in `KINDS`.
        rough: its place as far as known without parsing, possibly without its name.
        location: its location in a text; None for synthetic objects.
        position: index in the list at the location; None if the location is the object itself.
    """

    kind: str
    item: KubeObject
    rough: Place
    location: Location | None = None
    position: int | None = None

    @property
    def place(self) -> Place:
        """The place with the object's name."""
        metadata = self.item.metadata
        return named(self.rough, self.item.kind, metadata.namespace, metadata.name or metadata.generate_name)

    def exact_place(self) -> Place:
        """The place with line and column."""
        location = self.location
        if location is None:
            return self.place
        if self.position is not None:
            if location.document is not None:
                location = location.item("items", self.position)
            elif (listed := JsonList.at(location)) is not None:
                location = listed.spot_of(self.position)
        return location.place(self.place.object)


class _Type(KubeStruct):
    """The apiVersion and kind of an object, if they are not its first fields."""

    kind: str | None = None
    api_version: str | None = None


class _Known(msgspec.Struct, frozen=True):
    """The way to read JSON objects of one type.

    Attributes:
        kind: key in `KINDS`; None for types without the fast path.
    """

    kind: str | None
    namespaced: bool
    decoder: msgspec.json.Decoder[KubeObject]


_TYPE_ALONE: Final = msgspec.json.Decoder(_Type)
_OF_NO_USE: Final = _Known(None, False, msgspec.json.Decoder(KubeObject))


class ObjectReader:
    """Reads documents, and collects facts about objects that it skips.

    Args:
        earlier: the objects of earlier paths, which patches change.

    Attributes:
        skipped: kind → number of ignored objects.
        unmodelled: ignored object of a kind of `NOT_MODELLED`, or with an unknown number of pods → hash of its content.
        misspelt: (unknown kind, similar kind) → place of its first object.
        deliveries: objects of GitOps tools that fetch manifests.
        custom: custom resources with known pods → the equivalent built-in kind.
        unknown_pods: custom resources with an unknown number of pods.
        repeats: notes on repeated keys in rendered charts.
        dropped: warnings of fields that the API does not have.
        parameters: objects with parameters of admission policies, as plain data.
        foreign: paths of other programs' files in folders.
        placed: keys, with the assigned namespace, of objects that name no namespace; without placed pods.
    """

    def __init__(self, rules: Rules, earlier: Mapping[ObjectKey, KubeObject] | None = None) -> None:
        self.rules = rules
        self._earlier = {} if earlier is None else earlier
        self.skipped: Counter[str] = Counter()
        self.unmodelled: dict[str, int] = {}
        self.configurations: list[tuple[dict[str, object], Place]] = []
        self.misspelt: dict[tuple[str, str], Place] = {}
        self.snapshots: list[tuple[SnapshotFacts, Place]] = []
        self.placed: dict[ObjectKey, None] = {}
        self.deliveries: list[str] = []
        self.custom: dict[str, str] = {}
        self.unknown_pods: list[str] = []
        self.repeats: list[str] = []
        self.dropped: list[str] = []
        self.more_dropped = 0
        self.parameters: list[dict[str, Any]] = []
        self.foreign: list[str] = []
        self._types: dict[tuple[bytes, bytes], _Known] = {}
        self._alike: set[bytes] = set()
        self._labels: set[tuple[str, str]] = set()
        self._quantities = KnownQuantities()
        self._parts = SharedParts()
        self._made = 0

    def read_json(self, location: Location) -> Iterator[ReadObject]:
        """Yield the objects of a JSON document: the items of a list, or the document itself."""
        listed = JsonList.at(location)
        if listed is not None:
            yield from self.read_json_list(listed, lambda done: None)
            return
        raw = location.text.data[location.start : location.end]
        single = None if _may_have_items(raw) else self._decoded(raw, _Type())
        if single is not None:
            yield ReadObject(single.kind, single, location.rough(), location)
        else:
            yield from self._look_closely(location, _Type())

    def read_json_list(self, listed: JsonList, progress: Callable[[int], None]) -> Iterator[ReadObject]:
        """Yield the objects of a list, decoded directly where possible.

        Args:
            listed: the list; its items are dropped once read.
            progress: receives the approximate number of processed bytes.
        """
        location, rules = listed.location, self.rules
        if listed.facts is not None:
            self.snapshots.append((listed.facts, location.rough()))
            if not rules.applied:
                # A snapshot holds the fields that topospread reads, and others only in the annotation.
                self.rules = msgspec.structs.replace(rules, parameters=None, from_snapshot=True)
        of, rough = _item_type(listed.kind, listed.api_version), location.rough()
        spots, count = None, len(listed.items)
        listed.items.reverse()
        for index in range(count):
            raw = listed.items.pop()
            item = self._decoded(raw, of)
            if item is not None:
                yield ReadObject(item.kind, item, rough, location, index)
            elif bytes(raw) != b"null":
                spots = spots or JsonList.at(location)
                assert spots is not None
                yield from self._look_closely(spots.spot_of(index), of)
            if index % _ITEMS_BETWEEN_REPORTS == 0:
                progress(location.start + (location.end - location.start) * index // count)
        self.rules = rules
        progress(location.end)

    def read_yaml_list(self, listed: YamlList, progress: Callable[[int], None]) -> Iterator[ReadObject]:
        """Yield the objects of a YAML list, decoded directly where possible; see `read_json_list` for `progress`."""
        location, of = listed.location, _item_type(listed.kind, listed.api_version)
        rough = location.rough()
        for index, found in enumerate(listed.items(progress)):
            if isinstance(found, bytes) and (item := self._decoded(found, of)) is not None:
                yield ReadObject(item.kind, item, rough, location, index)
            else:
                value = msgspec.json.decode(found) if isinstance(found, bytes) else found
                yield from self.read_value(value, location.item("items", index), of)

    def _look_closely(self, location: Location, of: _Type) -> Iterator[ReadObject]:
        """Yield the objects at a JSON location, parsed to plain data first."""
        yield from self.read_value(read_value(location.text, location.start, location.end), location, of)

    def _decoded(self, raw: bytes | msgspec.Raw, of: _Type) -> KubeObject | None:  # noqa: PLR0911 - the reasons for it
        """Return the typed object; None if it must be parsed to plain data first."""
        if self.rules.strict:
            return None
        try:
            known = self._known(raw, of)
            if known.kind is None:
                return None
            item = known.decoder.decode(raw)
        except (ValueError, RecursionError):
            return None
        metadata = item.metadata
        if item.kind != known.kind:
            if item.kind:
                return None
            item.kind = known.kind
            item.api_version = VERSIONS[known.kind][0]
        if self.rules.applied and _has_stored_fields(item):
            return None
        if not metadata.name or self.rules.keeps_whole(known.kind, item) or not self._needs_no_check(item):
            return None
        if _has_line_break(raw) or self._has_own_annotations(item, raw):
            return None
        if not metadata.is_stored and _may_have_items(raw):
            return None
        if not known.namespaced:
            metadata.namespace = None
        elif not metadata.namespace:
            metadata.namespace = self.rules.namespace
            self._note_placed(item)
        if type(item) is Pod:
            self._parts.share(item)
        return item

    def _note_placed(self, item: KubeObject) -> None:
        """Record an object that got the default namespace, but no placed pod: a snapshot has thousands."""
        if item.metadata.name and not (isinstance(item, Pod) and item.spec.node_name):
            self.placed[item.kind, item.namespace, item.metadata.name] = None

    def _has_own_annotations(self, item: KubeObject, raw: bytes | msgspec.Raw) -> bool:
        """Return whether the object may have annotations that `note_profiles` or `drop_own_annotations` changes."""
        if type(item) is not Pod:
            parts = b"apparmor.security", b"seccomp.security", b"topospread.dev", b"\\u00", b"\\/"
            return _has_one(raw, *parts)
        own = None if self.rules.from_snapshot else item.metadata.annotations
        return own is not None and any((own.whole, own.made_of, own.profiles, own.pool, own.added))

    def _known(self, raw: bytes | msgspec.Raw, of: _Type) -> _Known:
        found = _TYPE.match(raw)
        if found is not None:
            version, kind = found.groups()
        else:
            alone = _TYPE_ALONE.decode(raw)
            kind = (alone.kind or of.kind or "").encode()
            version = (alone.api_version or of.api_version or "").encode()
        known = self._types.get((version, kind))
        if known is None:
            known = self._types[version, kind] = _how_to_read(version.decode(), kind.decode())
        return known

    def _needs_no_check(self, item: KubeObject) -> bool:
        """Return whether the decoded object needs no validation: it was stored, or an equivalent pod was validated."""
        metadata = item.metadata
        if metadata.uid or metadata.resource_version:
            return self._quantities.all_valid(item)
        if not isinstance(item, Pod):
            return False
        spec = item.spec
        node_name, spec.node_name = spec.node_name, None
        labels = metadata.labels or {}
        key = _KEY.encode((metadata.namespace, list(labels), spec))
        spec.node_name = node_name
        if key in self._alike:
            names = (metadata.name or "", node_name or "a")
            return all(map(_SUBDOMAIN.fullmatch, names)) and all(map(self._is_label, labels.items()))
        self._alike.add(key)
        return False

    def _is_label(self, label: tuple[str, str]) -> bool:
        """Return whether a key and value form a valid label. Results are cached."""
        if label not in self._labels:
            if label_key_problems(label[0]) or label_value_problems(label[1]):
                return False
            self._labels.add(label)
        return True

    def read_value(self, value: Any, location: Location, of: _Type | None = None) -> Iterator[ReadObject]:
        """Yield the objects of a document that is plain data.

        Args:
            value: the document; None yields no object.
            of: for an item of a list, the default type of the list's items.

        Raises:
            InputError: if it is not a Kubernetes object, or the API server denies it.
        """
        if value is None:
            return
        if not isinstance(value, dict):
            words = f"expected an object with apiVersion and kind, got {described(value)}"
            raise DecodeError(words, location.place())
        version, kind = _type_of(value, location, of or _Type())
        items = value.get("items")
        has_items = "items" in value and (items is None or isinstance(items, list))
        if (kind == "List" and items is None) or (kind.endswith("List") and has_items):
            for index, item in enumerate(items or ()):
                yield from self.read_value(item, location.item("items", index), _item_type(kind, version))
        elif has_items:
            raise no_list(location.place())
        elif version.startswith("kubescheduler.config.k8s.io/"):
            self.configurations.append((value, location.rough()))
        else:
            if (version, kind) in (self.rules.parameters or ()):
                self.parameters.append(self._parameter({**value, "apiVersion": version, "kind": kind}))
            known = self._resolve(value, version, kind, location)
            if known is None:
                yield from self._read_custom({**value, "apiVersion": version, "kind": kind}, location)
            else:
                self._check_version(value, known, location)
                value = self._patched(value, known)
                item = admit({**value, "apiVersion": version, "kind": kind}, known, location, self.rules)
                if item.namespace and not value["metadata"].get("namespace"):
                    self._note_placed(item)
                if self.rules.applied or not is_stored(value):
                    self._note_dropped({**value, "apiVersion": version}, known, location)
                yield ReadObject(known, item, location.rough(), location)

    def _check_version(self, value: dict[str, Any], kind: str, location: Location) -> None:
        """Reject an applied object with another resourceVersion than the cluster's. ``kubectl get`` may be piped."""
        if not self.rules.applied or location.text.name == STANDARD_INPUT:
            return
        namespace = self.rules.namespace if KINDS[kind].namespaced else ""
        label = label_of(value, kind, namespace)
        metadata = value.get("metadata") or {}
        if isinstance(metadata, dict) and isinstance(name := metadata.get("name"), str):
            scope = metadata.get("namespace") or namespace
            earlier = self._earlier.get((kind, str(scope) if namespace else "", name))
            if words := refused_version(value, earlier):
                place = location.place(label, "metadata.resourceVersion")
                raise InvalidError([words], replace(place, field=""))

    def _patched(self, value: dict[str, Any], kind: str) -> dict[str, Any]:
        """Return the value, merged into the same object of an earlier path if it is a patch for server-side apply.

        A Deployment, StatefulSet or PodDisruptionBudget without a selector is such a patch.
        """
        metadata, spec = value.get("metadata"), value.get("spec", {})
        if kind not in _PATCHED or not isinstance(metadata, dict) or not isinstance(spec, dict) or "selector" in spec:
            return value
        earlier = self._earlier.get((kind, metadata.get("namespace") or self.rules.namespace, metadata.get("name", "")))
        if earlier is None:
            return value
        base: dict[str, Any] = msgspec.json.decode(_KEY.encode(earlier))
        return _merged(base, value)

    def _note_dropped(self, value: dict[str, Any], kind: str, location: Location) -> None:
        """Warn of the first `_MOST_DROPPED` fields that the API server drops, and count the rest; lint names all."""
        found = fields_of_no_version(value, kind)
        place = location.rough(label_of(value, kind, ""))
        for path in found[: max(_MOST_DROPPED - len(self.dropped), 0)]:
            self.dropped.append(f'{place}: unknown field "{printable(path)}" was dropped{printable(meant(kind, path))}')
            del found[0]
        self.more_dropped += len(found)

    def _parameter(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return an object with parameters, with its namespace if its kind is known to have one."""
        metadata = value.get("metadata")
        if value["kind"] != "ConfigMap" or not isinstance(metadata, dict) or metadata.get("namespace"):
            return value
        return {**value, "metadata": {**metadata, "namespace": self.rules.namespace}}

    def _custom(self, version: str, kind: str) -> Sequence[CustomKind]:
        """Return how a custom resource's pods are created; empty if unknown."""
        group = version.partition("/")[0]
        if "." not in group:
            return ()
        kinds = shipped_kinds() if self.rules.kinds is None else self.rules.kinds
        return kinds.get((group, kind), ())

    def _read_custom(self, value: dict[str, Any], location: Location) -> Iterator[ReadObject]:
        """Yield objects that create a custom resource's pods; record its name if they are unknown."""
        version, kind = value["apiVersion"], value["kind"]
        if "." not in version.partition("/")[0] or delivery_of(value, version, kind, self.rules.namespace):
            return
        label = printable(label_of(value, kind, self.rules.namespace) or kind)
        metadata = value.get("metadata") or {}
        if not isinstance(metadata, dict):
            raise DecodeError(f"expected an object, got {described(metadata)}", location.place(field="metadata"))
        namespace = metadata.get("namespace") or self.rules.namespace
        if not isinstance(namespace, str):
            place = location.place(label, "metadata.namespace")
            raise DecodeError(f"expected a string, got {described(namespace)}", place)
        every = (each for how in self._custom(version, kind) for each in made_of(value, how, namespace))
        made = list(islice(every, _MOST_MADE - self._made + 1))
        self._made += len(made)
        if self._made > _MOST_MADE:
            words = f"the custom resources make more than {_MOST_MADE:,} objects; give fewer at a time"
            raise InputError(words, location.place(label))
        if made:
            self.custom[label] = made[0]["kind"]
        elif pod_parts(value):
            self.unknown_pods.append(label)
            self.unmodelled[printable(label)] = hash(repr(value))
        elif self._custom(version, kind):
            self.skipped[_told_apart(kind, version)] += 1
        for each in made:
            # Keep no fields for policies: the operator may add fields to the pods.
            origin = each["metadata"].get("annotations", {}).get(MADE_OF)
            item = admit(each, each["kind"], location, msgspec.structs.replace(self.rules, parameters=None))
            if origin is not None:
                item.metadata.annotations = Annotations(made_of=origin)
            yield ReadObject(each["kind"], item, location.rough(), location)

    def _resolve(self, value: dict[str, Any], version: str, kind: str, location: Location) -> str | None:
        """Return the object's key in `KINDS`. Count ignored objects and return None for them."""
        try:
            known = resolve_kind(version, kind)
        except NoMatchError as error:
            raise InvalidError(
                [printable(str(error))], location.place(label_of(value, kind, self.rules.namespace))
            ) from None
        delivery = delivery_of(value, version, kind, self.rules.namespace) if known is None else ""
        if delivery:
            self.deliveries.append(printable(delivery))
        elif known is None and not self._custom(version, kind):
            similar = similar_kind(kind, version)
            if similar is None:
                self.skipped[_told_apart(kind, version)] += 1
                if kind in NOT_MODELLED:
                    self.unmodelled[printable(label_of(value, kind, self.rules.namespace))] = hash(repr(value))
            elif (kind, similar) not in self.misspelt:
                place = location.place()
                self.misspelt[kind, similar] = Place(place.source, line=place.line)
        return known


def _merged(base: dict[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(base)
    for name, new in patch.items():
        old = base.get(name)
        if name == "topologySpreadConstraints" and isinstance(old, list) and isinstance(new, list):
            found[name] = apply_constraints(old, new)
        elif isinstance(old, dict) and isinstance(new, dict) and name != "labelSelector":
            found[name] = _merged(old, new)
        else:
            found[name] = new
    return found


def _has_stored_fields(item: KubeObject) -> bool:
    """Return whether `drop_stored_fields` may change an object."""
    metadata = item.metadata
    times = metadata.creation_timestamp, metadata.deletion_timestamp, metadata.deletion_grace_period_seconds
    return metadata.is_stored or times != (None, None, None) or getattr(item, "status", None) is not None


def _has_line_break(raw: bytes | msgspec.Raw) -> bool:
    return MAY_HAVE_ONE(raw) is not None and line_break_in(msgspec.json.decode(raw)) != ""


def _may_have_items(raw: bytes | msgspec.Raw) -> bool:
    """Return whether the object may have a field ``items``, which kubectl applies in its place."""
    return _has_one(raw, b'"items"', b"\\u00")


def _has_one(raw: bytes | msgspec.Raw, *parts: bytes) -> bool:
    """Return whether a text has one of some parts, several times faster than a regular expression."""
    data = bytes(raw)
    return any(each in data for each in parts)


def _how_to_read(version: str, kind: str) -> _Known:
    try:
        known = resolve_kind(version, kind)
    except NoMatchError:
        known = None
    if known is None or version != VERSIONS[known][0]:
        return _OF_NO_USE
    how = KINDS[known]
    return _Known(known, how.namespaced, msgspec.json.Decoder(how.struct))


def _told_apart(kind: str, version: str) -> str:
    """Return an ignored kind, with its group if a built-in kind has the same name."""
    return f"{kind}.{version.partition('/')[0]}" if kind in KINDS else kind


def _item_type(kind: str, version: str) -> _Type:
    """Return the default type of list items: Pods in a PodList, unknown in a List."""
    item = kind.removesuffix("List")
    return _Type(kind=item, api_version=version) if item else _Type()


def _type_of(value: dict[str, Any], location: Location, of: _Type) -> tuple[str, str]:
    """Return the required fields ``apiVersion`` and ``kind`` of an object."""
    found = []
    for field, default in (("apiVersion", of.api_version), ("kind", of.kind)):
        text = value.get(field) or default
        if not text:
            written = next((each for each in value if isinstance(each, str) and each.lower() == field.lower()), None)
            if written is not None:
                raise wrong_case({written: field}, location)
            hint = _not_a_manifest(location.text.name)
            raise InvalidError([f"{field} is missing{hint}"], location.place(_unfinished_label(value)))
        if not isinstance(text, str):
            raise DecodeError(f"expected a string, got {described(text)}", location.place(field=field))
        found.append(text)
    return found[0], printable(found[1])


def _unfinished_label(value: dict[str, Any]) -> str:
    """Return the label of an object that lacks one of apiVersion and kind; "" if it lacks both."""
    version, kind = value.get("apiVersion"), value.get("kind")
    known_kind = isinstance(kind, str) and kind in KINDS
    known_version = isinstance(version, str) and any(version in each for each in VERSIONS.values())
    return label_of(value, str(kind) if known_kind else "object") if known_kind or known_version else ""


def _not_a_manifest(path: str) -> str:
    """Return a guess, based on its name, of the content of a file without kinds."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    if name.startswith("kustomization."):
        return ": this is Kustomize's file, give the folder it is in (without --render never)"
    if name in ("Chart.yaml", "values.yaml"):
        return ": this is a Helm chart's file, give the folder it is in (without --render never)"
    return ""


def named(place: Place, kind: str, namespace: str | None, name: str | None) -> Place:
    """Return the place of an object with the object's name, unless it has one."""
    if place.object:
        return place
    return replace(place, object=printable(f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"))
