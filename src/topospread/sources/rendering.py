"""Render charts and kustomizations with Helm and kustomize. `folders` decides which folders to render."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import msgspec

from topospread.api.served import kinds_served
from topospread.config.versions import KubeVersion
from topospread.errors import InputError, Place

from .chart_schemas import NO_VALIDATION, PACKED, has_outside_references, may_forge_sources
from .files import Source, checked_utf8, read_text
from .git_folders import check_git_folder
from .helm_gate import PARTS_FILES, write_gate
from .kustomizations import Kustomization, Reached, check_reach
from .origins import Annotated, ChartOrigins, KustomizationOrigins
from .renderers import HELM, KUSTOMIZE, RENDER_HELM, find_renderer, scrubbed_environment
from .roots import GIT, check_inside_repository, check_links, check_name, is_of_git, real_path
from .text import Text, shown_path
from .yaml import read_documents

CHART: Final = "Chart.yaml"
_DETOUR: Final = 20.0
"""Time limit in seconds for a build with origin annotations, which can take minutes with hundreds of patches."""
_DETOURS: Final = 120.0
"""Time limit in seconds for all such builds of a path."""
_BETWEEN: Final = b"\n---\n"

_RELEASE: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LONGEST_RELEASE: Final = 53
_NAMELESS: Final = "release-name"
"""Helm's release name if none is given."""

_VERSION_AND_MORE: Final = re.compile(r"-\d.*")


def _annotation(name: str) -> re.Pattern[bytes]:
    """Return a pattern for a multi-line annotation in kustomize's output: (annotations before it, its text)."""
    key = re.escape(name).encode()
    return re.compile(rb"(?m)^metadata:\n  annotations:\n((?:    .*\n)*?)    " + key + rb": \|\n((?:      .*\n)+)")


_ORIGIN: Final = _annotation("config.kubernetes.io/origin")
_TRANSFORMATIONS: Final = _annotation("alpha.config.kubernetes.io/transformations")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """The options for rendering charts and kustomizations.

    Attributes:
        raw: read every file as is, without rendering.
        helm_values: values files of charts; later files override earlier ones.
        helm_set: single values of charts, ``name=value`` like Helm's ``--set``.
        helm_release: the release's name; by default the chart's.
        kube_version: the Kubernetes version that charts see, with its kinds; "" for Helm's default.
        helm_in_kustomizations: whether kustomize may run Helm for the charts of kustomizations.
        network: whether kustomize and Helm may fetch remote bases and charts.
        is_old: whether the manifests are an old state. Then a chart that could read ``.git`` causes a warning, not an
            error, because the new state may repair the chart.
    """

    raw: bool = False
    helm_values: tuple[str, ...] = ()
    helm_set: tuple[str, ...] = ()
    helm_release: str = ""
    namespace: str = "default"
    kube_version: str = ""
    helm_in_kustomizations: bool = False
    network: bool = False
    is_old: bool = False


NO_CHART_OPTIONS: Final[dict[str, Any]] = {"helm_values": (), "helm_set": (), "helm_release": ""}
"""Attribute of `Rendering` for charts → its default."""
RAW: Final = Rendering(raw=True)


def chart_options(rendering: Rendering) -> list[str]:
    """Return the options that are set and apply only to charts, by attribute."""
    return [each for each in NO_CHART_OPTIONS if getattr(rendering, each)]


@dataclass(slots=True, eq=False)
class SharedWork:
    """Work that the charts and kustomizations of a path share.

    Attributes:
        detours: seconds left for builds with origin annotations.
        links: real paths of folders whose links were checked.
    """

    detours: float = _DETOURS
    links: set[str] = field(default_factory=set)
    reached: Reached = field(default_factory=dict)


class ChartUnit(msgspec.Struct, frozen=True):
    """A chart: a folder with a Chart.yaml, or a packed chart from ``helm package``.

    Attributes:
        root: real path of the folder that its links must not leave.
    """

    noun: ClassVar[str] = "chart"
    path: str
    root: str
    rendering: Rendering = msgspec.field(default_factory=Rendering)
    shared: SharedWork = msgspec.field(default_factory=SharedWork)

    @property
    def _place(self) -> Place:
        return Place(shown_path(self.path))

    @property
    def reads_git(self) -> str:
        """A sentence on the missing line of ``.helmignore`` if Helm could read ``.git`` elsewhere; "" if it cannot."""
        if not os.path.lexists(own := os.path.join(self.path, GIT)) or _leaves_out_git(self.path):
            return ""
        words = f"Helm's templates could read {GIT}, which is hidden from them here"
        return f"{words}; add the line {GIT + '/' * os.path.isdir(own)} to .helmignore"

    def check(self) -> None:
        """Check that the chart can be rendered.

        Raises:
            InputError: if Helm is missing, a name is invalid, a link leaves the root, or Helm may read ``.git``.
        """
        check_name(self.path)
        find_renderer(HELM, self._place)
        if self.rendering.helm_release and not _is_release(self.rendering.helm_release):
            # The name may come from a Drill file, and Helm would read --set-file=a=/etc/passwd as an option.
            raise InputError(f"not a valid release name: {shown_path(self.rendering.helm_release)}", self._place)
        check_git_folder(self.root)
        check_links(self.path, self.root, beside_git=True, visited=self.shared.links)
        if self.reads_git and not self.rendering.is_old:
            raise InputError(self.reads_git, self._place)
        for each in self.rendering.helm_values:
            check_inside_repository(each)

    def render(self) -> Text:
        """Return the output of ``helm template``.

        Raises:
            InputError: if Helm is missing or fails, or the chart leaves the root.
        """
        self.check()
        how = self.rendering
        words = [f"--namespace={how.namespace}"]
        words += [f"--values={_as_csv(_plain(each))}" for each in how.helm_values]
        words += [f"--set={each}" for each in how.helm_set]
        words += _capabilities(how.kube_version)
        words += [NO_VALIDATION] if has_outside_references(self.path) else []
        with scrubbed_environment(network=how.network) as (home, environment):
            words = [how.helm_release or self._release(), _without_git(self.path, home), *words]
            data = find_renderer(HELM, self._place).run(words, self._place, environment)
        text = checked_utf8(data, Source(self.path, None))
        believed = b"" if may_forge_sources(self.path) else text.data
        return Text(text.name, text.data, ChartOrigins(self.path, believed, self.root))

    def _release(self) -> str:
        """The chart's name, in the form of a release name."""
        name = chart_field(self.path, "name")
        if self.path.endswith(PACKED):
            name = _VERSION_AND_MORE.sub("", os.path.basename(self.path))
        return name if _is_release(name) else _NAMELESS


class KustomizationUnit(msgspec.Struct, frozen=True):
    """A kustomization, which kustomize or kubectl builds.

    Attributes:
        root: real path of the folder that it and its bases must not leave.
    """

    noun: ClassVar[str] = "kustomization"
    path: str
    root: str
    kustomization: Kustomization
    rendering: Rendering = msgspec.field(default_factory=Rendering)
    shared: SharedWork = msgspec.field(default_factory=SharedWork)

    @property
    def _place(self) -> Place:
        return Place(shown_path(self.path))

    def check(self) -> None:
        """Check that the kustomization can be built.

        Raises:
            InputError: if a program is missing, Helm is needed but not allowed, a name is invalid, or the kustomization
                reads outside its root or from the network without permission.
        """
        self._allows_helm()

    def _allows_helm(self) -> bool:
        """Check the kustomization. Return whether kustomize may run Helm: on request, if all its parts were checked."""
        for path in (os.path.abspath(self.path), self.kustomization.folder):
            check_name(path)
        find_renderer(KUSTOMIZE, self._place)
        check_git_folder(self.root)
        is_whole = check_reach(self.path, self.root, network=self.rendering.network, checked=self.shared.reached)
        allows_helm = self.rendering.helm_in_kustomizations and is_whole
        if self.kustomization.charts and not allows_helm:
            raise InputError(RENDER_HELM, self._place)
        if allows_helm:
            find_renderer(HELM, self._place)
        return allows_helm

    def render(self) -> Text:
        """Return the output of ``kustomize build``.

        Raises:
            InputError: if kustomize is missing or fails, or `check` refuses the kustomization.
        """
        data, _ = self._build()
        text = checked_utf8(data, Source(self.path, None))
        origins = KustomizationOrigins(
            self.path,
            kustomization=self.kustomization,
            data=text.data,
            annotate=lambda: self._annotated(text.data),
            root=self.root,
        )
        return Text(text.name, text.data, origins)

    def _build(self, *, annotated: bool = False) -> tuple[bytes, str]:
        """Return kustomize's output, and the folder that was built. ``annotated`` requests origin annotations."""
        allows_helm = self._allows_helm()
        renderer = find_renderer(KUSTOMIZE, self._place)
        with scrubbed_environment(network=self.rendering.network) as (home, environment):
            options = self._helm_options(home) if allows_helm else []
            # kustomize never takes an absolute path for a repository.
            folder, seconds = self.kustomization.folder, None
            if annotated:
                folder = os.path.join(home, "build")
                os.mkdir(folder)
                with open(os.path.join(folder, "kustomization.yaml"), "w", encoding="utf-8") as file:
                    base = os.path.relpath(self.kustomization.folder, folder)
                    quoted = json.dumps(base, ensure_ascii=False)
                    file.write(f"buildMetadata: [originAnnotations, transformerAnnotations]\nresources:\n- {quoted}\n")
                seconds = self.shared.detours if self.rendering.network else min(_DETOUR, self.shared.detours)
            return renderer.run([folder, *options], self._place, environment, seconds), folder

    def _annotated(self, data: bytes) -> tuple[Sequence[Annotated], str]:
        """Build again with origin annotations. Return the annotations of each document, and the folder that was built.

        A kustomization can select by these annotations, which may change its output. In this case, or if the build
        fails, return no annotations.
        """
        begun = time.monotonic()
        try:
            built, folder = self._build(annotated=True) if self.shared.detours > 0 else (b"", "")
        except InputError:
            return [], ""
        finally:
            self.shared.detours -= time.monotonic() - begun
        (plain, _), (same, annotated) = without_origins(data), without_origins(built)
        # Only the kustomization that is built sorts its documents.
        wanted, found = (each.removesuffix(b"\n").split(_BETWEEN) for each in (plain, same))
        origins = dict(zip(found, annotated, strict=True))
        return ([origins[each] for each in wanted] if sorted(wanted) == sorted(found) else []), folder

    def _helm_options(self, folder: str) -> list[str]:
        """Return the options that make kustomize run Helm through `helm_gate`."""
        helm = find_renderer(HELM, self._place).program
        gate = write_gate(folder, helm, self.root, network=self.rendering.network)
        return ["--enable-helm", f"--helm-command={gate}"]


def without_origins(data: bytes) -> tuple[bytes, list[Annotated]]:
    """Return kustomize's output without the origin annotations, and these annotations."""
    plain, annotated = [], []
    for document in data.split(_BETWEEN):
        without, origin = _taken_out(document, _ORIGIN)
        without, transformations = _taken_out(without, _TRANSFORMATIONS)
        plain.append(without)
        annotated.append(Annotated(origin, transformations))
    return _BETWEEN.join(plain), annotated


def _taken_out(document: bytes, annotation: re.Pattern[bytes]) -> tuple[bytes, bytes]:
    """Return a document without an annotation, and the annotation's text; empty without one."""
    found = annotation.search(document + b"\n")
    if found is None:
        return document, b""
    before, behind = document[: found.start()], (document + b"\n")[found.end() : -1]
    kept = found[1] or behind.startswith(b"    ")
    return before + (b"metadata:\n  annotations:\n" if kept else b"metadata:\n") + found[1] + behind, found[2]


def is_chart(folder: str) -> bool:
    """Return whether a folder has a Chart.yaml, or a link of this name: rendering rejects an unusable link."""
    path = os.path.join(folder, CHART)
    return os.path.isfile(path) or os.path.islink(path)


def chart_field(folder: str, name: str) -> str:
    """Return a text field of a folder's Chart.yaml; "" if it is missing."""
    try:
        documents = list(read_documents(read_text(Source(os.path.join(folder, CHART), None))))
    except InputError:
        return ""
    value = documents[0].value if documents else None
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _capabilities(kube_version: str) -> list[str]:
    """Return Helm options with the cluster's API versions and kinds; ``helm template`` itself knows no kinds."""
    if not kube_version:
        return []
    kinds = kinds_served(KubeVersion.parse(kube_version).minor)
    return [f"--kube-version={kube_version}", *(f"--api-versions={each}" for each in kinds)]


def _is_release(name: str) -> bool:
    return _RELEASE.fullmatch(name) is not None and len(name) <= _LONGEST_RELEASE


def _as_csv(path: str) -> str:
    """Quote a path for Helm, which parses file names as CSV."""
    return '"' + path.replace('"', '""') + '"' if PARTS_FILES.search(path) else path


def _without_git(chart: str, home: str) -> str:
    """Return the chart, or a folder of links to its files without ``.git``, because Helm reads all files."""
    if not os.path.lexists(os.path.join(chart, GIT)):
        return _plain(chart)
    folder = os.path.join(home, "chart")
    os.mkdir(folder)
    for each in os.listdir(chart):
        if not is_of_git(each):
            os.symlink(os.path.join(real_path(chart), each), os.path.join(folder, each))
    return folder


def _leaves_out_git(chart: str) -> bool:
    """Return whether a line of the chart's ``.helmignore`` names ``.git``: Helm leaves out what any line matches."""
    try:
        text = read_text(Source(os.path.join(chart, ".helmignore"), None))
    except InputError:
        return False
    ends = ("", "/") if os.path.isdir(os.path.join(chart, GIT)) else ("",)
    wanted = {f"{begin}{GIT}{end}".encode() for begin in ("", "/") for end in ends}
    return any(line.strip(b" \t\r") in wanted for line in text.data.split(b"\n"))


def _plain(path: str) -> str:
    """Return a path that no program reads as an option, a URL or standard input."""
    is_odd = path.strip().startswith("-") or (":" in path and not os.path.isabs(path))
    return os.path.join(os.curdir, path) if is_odd else path
