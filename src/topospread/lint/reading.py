"""Read the manifests and configurations to lint, and note problems of single objects. Rules run later.

Other YAML files and templates are skipped and named, because folders often contain them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any, BinaryIO, Final, Literal

import msgspec
from msgspec.structs import replace as with_fields

from topospread.admission.label_keys import invalid_label_keys, with_label_keys_merged
from topospread.api.admission_policy import AdmissionPolicy
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject
from topospread.api.pod import Pod
from topospread.api.pools import NodePool
from topospread.api.validation import validate_decoded
from topospread.api.validation.field import FieldError, Options
from topospread.api.validation.schema import STRUCT_OF_ANY, WrongTypeError, decoded
from topospread.config.api_versions import KIND
from topospread.config.gates import Gates
from topospread.config.profile import Configuration
from topospread.config.versions import NEWEST, KubeVersion
from topospread.errors import ConfigError, DuplicateError, InputError, Place
from topospread.sources.admit import drop_stored_fields, is_stored, refused_version
from topospread.sources.deliveries import delivery_of
from topospread.sources.files import STANDARD_INPUT, Source, in_time, is_hidden, read_text
from topospread.sources.folders import PathContents, check_programs, look_into
from topospread.sources.json_text import too_deep
from topospread.sources.load import is_foreign
from topospread.sources.locations import Location, label_of
from topospread.sources.rendering import RAW, Rendering
from topospread.sources.roots import lies_in, real_path, repository_of
from topospread.sources.synthetic_cluster import is_synthetic
from topospread.sources.text import Text, may_hold_objects, printable, shown_path
from topospread.sources.versions import VERSIONS, NoMatchError, resolve_kind, to_current

from .configurations import GROUP, configurations_in, load_judged
from .custom_resources import custom_resource
from .documents import objects_in
from .layout import Layouts
from .lint_input import CustomManifest, LintSubject, Manifest, SchedulerConfiguration
from .pod_source import pod_source
from .problem import Problem
from .settings import Settings
from .unfinished import FolderContext, Unfinished

Progress = Callable[[int, int], None]
"""Receives the number of finished parts, and of all parts."""

WhyNotRead = Unfinished | Literal["other"]
"""Reason why a file was skipped: unfinished, or without Kubernetes objects."""

_MOST_RENDERED: Final = 30_000
"""How many objects all charts and kustomizations may render. A loop in a small chart can render any number."""
_MOST_ALIKE: Final = 20
"""How often a text may repeat an object's name. The rule object-twice already reports the second one."""
_ENCODER: Final = msgspec.json.Encoder(enc_hook=str)
_NOT_A_STRING: Final = tuple(f"expected a string, got {what}" for what in ("the number", "true", "false"))
_A_POD: Final = MappingProxyType({"apiVersion": "v1", "kind": "Pod"})
_VERSIONS: Final = frozenset(version for versions in VERSIONS.values() for version in versions)


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """The input of linting, and the cluster to compare with.

    Attributes:
        paths: YAML or JSON files, folders, ``-`` for standard input.
        cluster: the cluster to compare with: a synthetic cluster, or files.
        config: file with kube-scheduler's configuration, which is linted as well.
        kube_version: the target Kubernetes version.
        namespace: namespace of objects without ``metadata.namespace``.
        settings: selected rules and their severities.
        rendering: settings for rendering charts and kustomizations, except namespace and version.
        pools: node pools that can grow.
        applied: whether objects with a uid are also new to the API server. None: true with a cluster, and for files in
            a git repository, where anyone may write a uid.
    """

    paths: Sequence[str]
    cluster: str | None = None
    config: str | Configuration | None = None
    kube_version: str | KubeVersion = NEWEST
    namespace: str = "default"
    settings: Settings = msgspec.field(default_factory=Settings)
    rendering: Rendering = msgspec.field(default_factory=Rendering)
    pools: Sequence[NodePool] = ()
    applied: bool | None = None

    @property
    def how(self) -> Rendering:
        """Return the rendering settings for this version and namespace."""
        version = self.rendering.kube_version or str(self.kube_version).strip()
        return replace(self.rendering, namespace=self.namespace, kube_version=version)


@dataclass
class Read:
    """The manifests that were read.

    Attributes:
        gates: kube-scheduler's feature gates, used to read configurations.
        namespace: namespace of objects without ``metadata.namespace``.
        applied: whether the next manifests are applied to a cluster; see `topospread.sources.admit.Rules`.
        subjects: all objects.
        manifests: the objects of kinds that rules check, if they decode.
        configurations: the scheduler configurations, also inside ConfigMaps.
        refused: problems for which the API server or kube-scheduler rejects an object.
        unknown_plugins: unknown plugins in the configurations.
        unknown_fields: unknown fields in the pod templates of custom resources.
        texts: all texts, with their sources.
        layouts: positions of fields in the texts.
        surroundings: facts about the files' folders.
        broken: errors of files that cannot be read or parsed.
        left_out: name of each skipped text → the reason.
        notes: messages about rendering and skipped files.
        unread: number of files with manifests that charts and kustomizations leave out; templates and patches count
            only if the user named them.
        deliveries: objects that make a GitOps tool fetch manifests from elsewhere.
    """

    gates: Gates
    namespace: str = "default"
    applied: bool = False
    subjects: list[LintSubject] = field(default_factory=list)
    manifests: list[Manifest] = field(default_factory=list)
    configurations: list[SchedulerConfiguration] = field(default_factory=list)
    refused: list[tuple[LintSubject, Problem]] = field(default_factory=list)
    unknown_plugins: list[tuple[LintSubject, Problem]] = field(default_factory=list)
    unknown_fields: list[tuple[LintSubject, Problem]] = field(default_factory=list)
    texts: list[tuple[Source, Text]] = field(default_factory=list)
    layouts: Layouts = field(default_factory=Layouts)
    surroundings: FolderContext = field(default_factory=FolderContext)
    broken: list[InputError] = field(default_factory=list)
    left_out: dict[str, WhyNotRead] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    deliveries: list[str] = field(default_factory=list)
    unread: int = 0
    rendered: int = 0

    def take_source(self, source: Source, stdin: BinaryIO | None, instead: Text | None, *, is_named: bool) -> None:
        """Read all objects of a file. Skip files without Kubernetes objects, and note unreadable files.

        ``is_named``: whether the user named the file, not its folder.
        """
        plain = source.path != STANDARD_INPUT and source.unit is None
        unfinished = self.surroundings.of(source.path) if plain else None
        if unfinished is not None:
            self.left_out[source.name] = unfinished
        if unfinished in ("template", "patch"):
            self.unread += is_named
            return
        try:
            text = instead or read_text(source, stdin)
            foreign = plain and not is_named and is_hidden(source.path) and is_foreign(text)
            if foreign is None:
                self.left_out.setdefault(source.name, "other")
            if foreign is not False:
                return
        except InputError as error:
            self.broken.append(error)
            return
        if may_hold_objects(text):
            self.take_text(source, text)
        elif text.data.strip():
            self.left_out.setdefault(source.name, "other")

    def take_text(self, source: Source, text: Text) -> None:
        """Read all objects of a text."""
        self.texts.append((source, text))
        alike: Counter[bytes] = Counter()
        try:
            for value, location in objects_in(text, applied=self.applied):
                self.rendered += source.unit is not None
                if self.rendered > _MOST_RENDERED:
                    words = f"charts and kustomizations render more than {_MOST_RENDERED:,} objects; name fewer"
                    raise InputError(words, Place(source.name))
                if isinstance(value, Pod):
                    # A stored pod of a controller is counted but not linted.
                    value.metadata.namespace = value.metadata.namespace or self.namespace
                    label = printable(f"Pod {value.namespace}/{value.name}")
                    order = len(self.subjects)
                    manifest = Manifest(location, label, _A_POD, order, "Pod", value, False, True, pod_source(value))
                    self.subjects.append(manifest)
                    self.manifests.append(manifest)
                else:
                    self._check_number(alike, value, location)
                    self._take(value, location)
        except InputError as error:
            self.broken.append(error)
        self.notes += text.repeats

    def _check_number(self, alike: Counter[bytes], value: Any, location: Location) -> None:
        """Reject an object that a text repeats too often. A YAML alias repeats an object in three characters.

        Raises:
            DuplicateError: if an object with this name, or an equal object without a name, was read `_MOST_ALIKE`
                times.
        """
        metadata = value.get("metadata") if isinstance(value, dict) else None
        names = [metadata.get(each) for each in ("namespace", "name")] if isinstance(metadata, dict) else [None]
        key = _ENCODER.encode([value.get("apiVersion"), value.get("kind"), *names] if names[-1] else value)
        alike[key] += 1
        if alike[key] > _MOST_ALIKE:
            kind = value.get("kind") if isinstance(value, dict) else None
            label = label_of(value, kind, self.namespace) if isinstance(kind, str) else ""
            words = f"this object is given more than {_MOST_ALIKE} times in one text"
            raise DuplicateError(words, location.place(label))

    def add_configuration(self, path: str) -> Configuration | None:
        """Read the only configuration in a file, and no other object.

        Returns:
            The configuration; None if kube-scheduler rejects it.

        Raises:
            InputError: if the file cannot be read, or does not contain exactly one configuration.
        """
        own = read(Question(paths=[path], rendering=RAW), self.gates)
        for error in own.broken:
            raise error
        if len(own.configurations) != 1:
            number = len(own.configurations) or "none"
            raise ConfigError(f"expected one {KIND}, found {number}", Place(shown_path(path)))
        (configuration,) = own.configurations
        if all(text.name != configuration.location.text.name for _, text in self.texts):
            added = with_fields(configuration, order=len(self.subjects))
            self.subjects.append(added)
            self.configurations.append(added)
            self.refused += [(added, problem) for subject, problem in own.refused if subject is configuration]
            self.unknown_plugins += [(added, each) for subject, each in own.unknown_plugins if subject is configuration]
            self.texts += own.texts
        return configuration.loaded

    def _take(self, value: Any, location: Location) -> None:
        """Add a Kubernetes object; report a value that is not an object at its place."""
        if not _is_meant_as_object(value):
            self.left_out.setdefault(location.text.name, "other")
            return
        version, name = value.get("apiVersion"), value.get("kind")
        shown = name if isinstance(name, str) else "object"
        subject = LintSubject(location, label_of(value, shown, self.namespace), value, len(self.subjects))
        self.subjects.append(subject)
        for field_name, text in (("apiVersion", version), ("kind", name)):
            if not isinstance(text, str) or not text:
                words = "Required value" if not text else "expected a string"
                self.refused.append((subject, Problem(field_name, f"{field_name}: {words}")))
                return
        if str(version).startswith(GROUP):
            self._take_configuration(value, location)
            return
        delivery = delivery_of(value, str(version), shown, self.namespace)
        if delivery:
            self.deliveries.append(printable(delivery))
        try:
            kind = resolve_kind(str(version), shown)
            if kind is not None:
                self._take_kind(value, kind, subject)
            elif shown == "ConfigMap":
                for inner, at in configurations_in(value, location, self.layouts):
                    self._take_configuration(inner, at)
            elif not delivery:
                self._take_custom(subject)
        except NoMatchError as error:
            self.refused.append((subject, Problem("apiVersion", f"apiVersion: {error}")))
        except RecursionError:
            raise too_deep(location.rough(subject.label)) from None

    def _take_custom(self, subject: LintSubject) -> None:
        """Add a custom resource, which may contain pod templates."""
        found = custom_resource(subject, self.namespace)
        if found is None or self._is_base(subject):
            return
        item = found.pods[0].item if found.pods else KubeObject()
        kind = str(subject.value.get("kind"))
        known = (subject.location, subject.label, subject.value, subject.order)
        manifest = CustomManifest(*known, kind, item, True, False, None, found.pods)
        self.subjects[subject.order] = manifest
        self.refused += [(manifest, problem) for problem in found.refused]
        self.unknown_fields += [(manifest, problem) for problem in found.unknown]

    def _is_base(self, subject: LintSubject) -> bool:
        return self.left_out.get(subject.location.text.name) == "base"

    def _take_configuration(self, value: dict[str, Any], location: Location) -> None:
        loaded = load_judged(value, self.gates)
        found = SchedulerConfiguration(location, KIND, value, len(self.subjects), loaded.configuration)
        self.subjects.append(found)
        self.configurations.append(found)
        self.refused += [(found, problem) for problem in loaded.refused]
        self.unknown_plugins += [(found, problem) for problem in loaded.unknown]

    def _take_kind(self, value: dict[str, Any], kind: str, subject: LintSubject) -> None:
        how = KINDS[kind]
        current = to_current(value, kind)
        try:
            known = decoded(current, STRUCT_OF_ANY[kind])
            # A list is probably a dump of a cluster, whose objects are not applied again.
            words = refused_version(known) if self.applied and "items" not in subject.location.path else ""
            if self.applied:
                drop_stored_fields(known, kind)
            stored = is_stored(known)
            item = msgspec.json.decode(_ENCODER.encode(known), type=how.struct)
            rules = Options(True, self.gates.enabled("TaintTolerationComparisonOperators"))
            is_judged = not stored and not self._is_base(subject)
            errors = validate_decoded(kind, known, rules, self.namespace) if is_judged else []
            if isinstance(item, AdmissionPolicy) and is_judged:
                from topospread.admission.compiling import problems

                errors += [FieldError("FieldValueInvalid", path, f"{path}: {why}") for path, why in problems(item)]
            if words and is_judged and subject.location.text.name != STANDARD_INPUT:
                errors.append(FieldError("FieldValueInvalid", "metadata.resourceVersion", words))
        except WrongTypeError as error:
            hint = " (put it in quotes)" if error.words.startswith(_NOT_A_STRING) else ""
            self.refused.append((subject, Problem(error.path, f"{error}{hint}")))
            return
        except msgspec.ValidationError as error:
            self.refused.append((subject, Problem("", str(error))))
            return
        if not how.namespaced:
            item.metadata.namespace = None
        elif not item.metadata.namespace:
            item.metadata.namespace = self.namespace
        label = label_of(value, kind, self.namespace if how.namespaced else "")
        pods = pod_source(item)
        if pods is not None and is_judged and not errors:
            made = with_label_keys_merged(pods.spec, pods.labels, self.gates)
            errors = [
                # A version that does not merge the keys denies the workload itself, at the field matchLabelKeys.
                each
                if ".matchLabelKeys[" in each.field
                else with_fields(each, message=f"its pods are refused: {each.message}")
                for each in invalid_label_keys(made, self.gates, pods.path)
            ]
        manifest = Manifest(subject.location, label, value, subject.order, kind, item, bool(errors), stored, pods)
        self.subjects[subject.order] = manifest
        self.manifests.append(manifest)
        self.refused += [(manifest, Problem(error.field, error.message)) for error in errors]


def untold(done: int, total: int) -> None:
    """Ignore progress."""


def _is_meant_as_object(value: Any) -> bool:
    """Return whether a value is a Kubernetes object, even an incomplete one, rather than another tool's file."""
    if not isinstance(value, dict):
        return False
    version, kind = value.get("apiVersion"), value.get("kind")
    if version and kind:
        return True
    if not isinstance(value.get("metadata"), dict):
        return False
    return (isinstance(kind, str) and kind in KINDS) or (isinstance(version, str) and version in _VERSIONS)


def read(  # noqa: PLR0913 - one keyword
    question: Question,
    gates: Gates,
    stdin: BinaryIO | None = None,
    instead: Mapping[str, Text] | None = None,
    progress: Progress = untold,
    *,
    contents: Sequence[PathContents] = (),
) -> Read:
    """Read files and folders, except excluded files.

    Args:
        question: the lint options, including the paths.
        gates: kube-scheduler's feature gates.
        stdin: input for the path ``-``.
        instead: path → text to use instead of the file's content.
        progress: receives the number of read files, and of all files.
        contents: the sources of each path, if known.

    Raises:
        InputError: if a path is missing, or helm or kustomize is missing. Broken files are noted and skipped.
    """
    given = instead or {}
    paths = contents or [
        # An editor may have files that are not saved yet.
        PathContents([Source(path, None)])
        if path in given and not os.path.lexists(path)
        else look_into(path, question.how, allow_empty=True, ignored=question.settings.ignored_in)
        for path in question.paths
    ]
    found = Read(gates, question.namespace, notes=[note for each in paths for note in (*each.warnings, *each.notes)])
    found.surroundings = FolderContext(question.paths)
    found.unread = len({path for each in paths for path in each.unread})
    sources = {source.path: source for each in paths for source in each.sources}
    asked = [source for source in sources.values() if not question.settings.excludes(source.path)]
    check_programs([source for source in asked if source.path not in given])
    in_files = real_path(question.cluster) if question.cluster and not is_synthetic(question.cluster) else ""
    repository, named = cache(repository_of), frozenset(question.paths)
    for number, source in enumerate(in_time(asked)):
        progress(number, len(asked))
        applied = question.applied
        if applied is None:
            folder = os.path.dirname(source.path) if source.unit is None else source.path
            applied = source.path != STANDARD_INPUT and repository(folder) is not None
        found.applied = applied and not (in_files and lies_in(source.path, in_files))
        found.take_source(source, stdin, given.get(source.path), is_named=source.path in named)
    return found
