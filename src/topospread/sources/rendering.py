"""Charts and kustomizations → the manifests that Helm and kustomize make of them; not which folders those are."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from typing import ClassVar, Final

import msgspec

from topospread.api.served import kinds_served
from topospread.config.versions import KubeVersion
from topospread.errors import InputError, Place

from .files import Source, checked_utf8, read_text, shown_path
from .kustomizations import Kustomization
from .origins import Annotated, ChartOrigins, KustomizationOrigins
from .renderers import HELM, KUSTOMIZE, Renderer, find_renderer
from .text import Text
from .yaml import read_documents

CHART: Final = "Chart.yaml"
PACKED: Final = ".tgz"
"""How the file of a packed chart ends."""

_RELEASE: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LONGEST_RELEASE: Final = 53
_NAMELESS: Final = "release-name"
"""Helm's own word where no release is named."""

_ASKED: Final = "[originAnnotations, transformerAnnotations]"
_VERSION_AND_MORE: Final = re.compile(r"-\d.*")


def _annotation(name: str) -> re.Pattern[bytes]:
    """A text of several lines in an object's annotation, as kustomize prints it, and what stands before it there."""
    key = re.escape(name).encode()
    return re.compile(rb"(?m)^metadata:\n  annotations:\n((?:    .*\n)*?)    " + key + rb": \|\n((?:      .*\n)+)")


_ORIGIN: Final = _annotation("config.kubernetes.io/origin")
_TRANSFORMATIONS: Final = _annotation("alpha.config.kubernetes.io/transformations")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """How charts and kustomizations become manifests.

    Attributes:
        raw: they do not: every file is read as it stands.
        helm_values: files with values of charts, a later one above an earlier one.
        helm_set: single values of charts, ``name=value`` as Helm's ``--set`` takes them.
        helm_release: the release's name; by default the chart's.
        namespace: the namespace that the releases go to.
        kube_version: the Kubernetes version that charts are told, and the kinds that it serves; "" lets Helm say its
            own version.
    """

    raw: bool = False
    helm_values: tuple[str, ...] = ()
    helm_set: tuple[str, ...] = ()
    helm_release: str = ""
    namespace: str = "default"
    kube_version: str = ""


RAW: Final = Rendering(raw=True)


class ChartUnit(msgspec.Struct, frozen=True):
    """A chart: a folder with a Chart.yaml, or the file that ``helm package`` makes of one."""

    noun: ClassVar[str] = "chart"
    path: str
    rendering: Rendering = msgspec.field(default_factory=Rendering)

    @property
    def _place(self) -> Place:
        return Place(shown_path(self.path))

    def check(self) -> None:
        """Raise an InputError that says what to install when Helm is missing."""
        find_renderer(HELM, self._place)

    def render(self) -> Text:
        """What ``helm template`` makes of it.

        Raises:
            InputError: Helm is missing, or refuses.
        """
        how = self.rendering
        words = [how.helm_release or self._release(), _no_option(self.path), f"--namespace={how.namespace}"]
        words += [f"--values={each}" for each in how.helm_values]
        words += [f"--set={each}" for each in how.helm_set]
        words += _capabilities(how.kube_version)
        data = find_renderer(HELM, self._place).run(words, self._place)
        text = checked_utf8(data, Source(self.path, None))
        return Text(text.name, text.data, ChartOrigins(self.path, text.data))

    def _release(self) -> str:
        """The chart's name, as a release has to be named."""
        name = chart_field(self.path, "name")
        if self.path.endswith(PACKED):
            name = _VERSION_AND_MORE.sub("", os.path.basename(self.path))
        return name if _RELEASE.fullmatch(name) and len(name) <= _LONGEST_RELEASE else _NAMELESS


class KustomizationUnit(msgspec.Struct, frozen=True):
    """A kustomization, as kustomize or kubectl builds it."""

    noun: ClassVar[str] = "kustomization"
    path: str
    kustomization: Kustomization

    @property
    def _place(self) -> Place:
        return Place(shown_path(self.path))

    def check(self) -> None:
        """Raise an InputError that says what to install when kustomize or, for charts, Helm is missing."""
        find_renderer(KUSTOMIZE, self._place)
        if self.kustomization.chart_home:
            find_renderer(HELM, self._place)

    def render(self) -> Text:
        """What ``kustomize build`` makes of it.

        It is built as the only resource of a kustomization that asks for each object's origin and what changed it.

        Raises:
            InputError: kustomize is missing, or refuses.
        """
        renderer = find_renderer(KUSTOMIZE, self._place)
        with tempfile.TemporaryDirectory(prefix="topospread-") as given:
            folder = os.path.realpath(given)
            with open(os.path.join(folder, "kustomization.yaml"), "w", encoding="utf-8") as file:
                base = os.path.relpath(self.kustomization.folder, folder)
                file.write(
                    f"buildMetadata: [originAnnotations, transformerAnnotations]\nresources:\n- {_quoted(base)}\n"
                )
            try:
                data = self._built(renderer, folder)
            except InputError:
                # Its words would be about a folder that nobody knows; and it may go well without the detour.
                data = self._built(renderer, self.path)
        text = checked_utf8(data, Source(self.path, None))
        plain, annotated = without_origins(text.data)
        return Text(
            text.name, plain, KustomizationOrigins(self.path, self.kustomization.file, folder, plain, annotated)
        )

    def _built(self, renderer: Renderer, folder: str) -> bytes:
        words = ["--enable-helm"] if self.kustomization.chart_home else []
        return renderer.run([_no_option(folder), *words], self._place)


def without_origins(data: bytes) -> tuple[bytes, list[Annotated]]:
    """What ``kustomize build`` prints without the annotations that it was asked for, and what these say."""
    plain, annotated = [], []
    for document in data.split(b"\n---\n"):
        without, origin = _taken_out(document, _ORIGIN)
        without, transformations = _taken_out(without, _TRANSFORMATIONS)
        plain.append(without)
        annotated.append(Annotated(origin, transformations))
    return b"\n---\n".join(plain), annotated


def _taken_out(document: bytes, annotation: re.Pattern[bytes]) -> tuple[bytes, bytes]:
    """A document without an annotation, and what that says; empty for none."""
    found = annotation.search(document + b"\n")
    if found is None:
        return document, b""
    before, behind = document[: found.start()], (document + b"\n")[found.end() : -1]
    kept = found[1] or behind.startswith(b"    ")
    return before + (b"metadata:\n  annotations:\n" if kept else b"metadata:\n") + found[1] + behind, found[2]


def chart_field(folder: str, name: str) -> str:
    """A text field of a folder's Chart.yaml; "" when it is not there."""
    try:
        documents = list(read_documents(read_text(Source(os.path.join(folder, CHART), None))))
    except InputError:
        return ""
    value = documents[0].value if documents else None
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _capabilities(kube_version: str) -> list[str]:
    """What a chart is told of the cluster: by itself ``helm template`` knows versions of groups and no kinds."""
    if not kube_version:
        return []
    kinds = kinds_served(KubeVersion.parse(kube_version).minor)
    return [f"--kube-version={kube_version}", *(f"--api-versions={each}" for each in kinds)]


def _no_option(path: str) -> str:
    """A path that no program takes for an option."""
    return os.path.join(os.curdir, path) if path.startswith("-") else path


def _quoted(path: str) -> str:
    """A path as a YAML scalar."""
    return "'" + path.replace("'", "''") + "'"
