"""Paths → the manifests and configurations that are linted, and what is wrong with them as such; asks no rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

import msgspec

from topospread.api.kinds import KINDS
from topospread.api.validation import validate_object
from topospread.api.validation.schema import STRUCT_OF_ANY, WrongTypeError, decoded
from topospread.errors import DecodeError, InvalidError
from topospread.sources.admit import is_stored
from topospread.sources.files import find_sources, read_text
from topospread.sources.json_list import JsonList
from topospread.sources.json_text import looks_like_json, read_value, split_documents, too_deep
from topospread.sources.spots import Spot, label_of
from topospread.sources.text import Text, printable
from topospread.sources.versions import NoMatchError, resolve_kind, to_current
from topospread.sources.yaml import read_documents

from .given import Manifest, Subject
from .pod_source import pod_source
from .problem import Problem

_ENCODER: Final = msgspec.json.Encoder(enc_hook=str)


@dataclass
class Read:
    """What was read.

    Attributes:
        manifests: the objects that decode.
        refused: what the API server would refuse, each with what it is refused in.
        texts: everything that was read, by name.
    """

    namespace: str = "default"
    manifests: list[Manifest] = field(default_factory=list)
    refused: list[tuple[Subject, Problem]] = field(default_factory=list)
    subjects: list[Subject] = field(default_factory=list)
    texts: dict[str, Text] = field(default_factory=dict)

    def take(self, value: Mapping[str, Any], spot: Spot) -> None:
        """One object.

        Raises:
            InputError: it is no object of Kubernetes.
        """
        version, name = value.get("apiVersion"), value.get("kind")
        if not isinstance(version, str) or not isinstance(name, str):
            raise InvalidError(["expected an object with apiVersion and kind"], spot.place())
        plain = dict(value)
        subject = Subject(spot, label_of(plain, name, self.namespace), value, len(self.subjects))
        self.subjects.append(subject)
        try:
            kind = resolve_kind(version, name)
            if kind is not None:
                self._take_kind(plain, kind, subject)
        except NoMatchError as error:
            self.refused.append((subject, Problem("apiVersion", str(error))))
        except RecursionError:
            raise too_deep(spot.rough(subject.label)) from None

    def _take_kind(self, value: dict[str, Any], kind: str, subject: Subject) -> None:
        how = KINDS[kind]
        label = label_of(value, kind, self.namespace if how.namespaced else "")
        current = to_current(value, kind)
        try:
            known = decoded(current, STRUCT_OF_ANY[kind])
            stored = is_stored(known)
            errors = [] if stored else validate_object(current)
            item = msgspec.json.decode(_ENCODER.encode(known), type=how.struct)
        except WrongTypeError as error:
            self.refused.append((subject, Problem(error.path, error.words)))
            return
        except msgspec.ValidationError as error:
            self.refused.append((subject, Problem("", str(error))))
            return
        if not how.namespaced:
            item.metadata.namespace = None
        elif not item.metadata.namespace:
            item.metadata.namespace = self.namespace
        manifest = Manifest(
            subject.spot, label, value, subject.order, kind, item, bool(errors), stored, pod_source(item)
        )
        self.manifests.append(manifest)
        self.refused += [(manifest, Problem(error.field, error.message)) for error in errors]


def read(paths: Sequence[str], stdin: BinaryIO | None = None, namespace: str = "default") -> Read:
    """What files and folders hold.

    Raises:
        InputError: a path cannot be read, or what stands there is no object of Kubernetes.
    """
    found = Read(namespace)
    for path in paths:
        for source in find_sources(path):
            text = read_text(source, stdin)
            found.texts[text.name] = text
            for value, spot in _documents(text):
                for each, at in _objects(value, spot):
                    found.take(each, at)
    return found


def _documents(text: Text) -> Iterator[tuple[Any, Spot]]:
    if looks_like_json(text):
        try:
            spans = split_documents(text)
        except DecodeError:
            spans = []  # YAML may begin with a brace; if it is broken JSON, the YAML reader says so.
        if spans:
            for start, end in spans:
                yield read_value(text, start, end), Spot(text, start=start, end=end)
            return
    for document in read_documents(text):
        yield document.value, Spot(text, document.number, document.line)


def _objects(value: Any, spot: Spot) -> Iterator[tuple[dict[str, Any], Spot]]:
    if value is None:
        return
    if not isinstance(value, dict):
        raise DecodeError("expected an object with apiVersion and kind", spot.place())
    kind, items = value.get("kind"), value.get("items")
    if not (isinstance(kind, str) and kind.endswith("List") and isinstance(items, list)):
        yield value, spot
        return
    listed = JsonList.at(spot) if spot.document is None else None
    of = {"kind": kind.removesuffix("List"), "apiVersion": value.get("apiVersion")} if kind != "List" else {}
    for index, item in enumerate(items):
        typed = {**of, **item} if isinstance(item, dict) else item
        yield from _objects(typed, listed.spot_of(index) if listed else spot.item("items", index))


def message_of(problem: Problem) -> str:
    """A problem's words on one line."""
    return printable(problem.message)
