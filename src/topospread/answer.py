"""The `Answer` struct: verdict, one sentence, causes, simulated remedies and unjudged parts of one command's question.

`Answer.to_json` writes the struct as it is. `topospread.render` draws the other formats.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, field

from topospread.base import API_VERSION, Base, Word
from topospread.errors import UnknownVerdictError
from topospread.text import escape_all, one_line

_REPR_LENGTH = 100


class Cause(Base, frozen=True, kw_only=True):
    """One reason for the verdict."""

    code: Annotated[str, Meta(description="Stable key, for example `spread-domain-full`.")]
    says: Annotated[str, Meta(description="The cause in one sentence, with its numbers.")]
    nodes: Annotated[int | None, Meta(description="Number of nodes that the cause concerns.")] = None
    objects: Annotated[tuple[str, ...], Meta(description="Nodes, domains or objects that the cause names.")] = ()
    together: Annotated[
        Literal["", "all-of", "any-of"],
        Meta(description="Whether all causes of the answer must be fixed, or any one; empty for a single cause."),
    ] = ""


class ExceededSkew(Base, frozen=True, kw_only=True):
    """A hard constraint whose skew after a remedy exceeds maxSkew. A remedy may raise maxSkew; the old value counts."""

    workload: Annotated[
        str, Meta(description="NAMESPACE/NAME of another workload whose skew grows so; empty for the pod's workload.")
    ] = ""
    topology_key: Annotated[str, Meta(description="Topology key of the constraint.")]
    max_skew: Annotated[int, Meta(description="maxSkew without the remedy.")]
    skew: Annotated[int, Meta(description="Skew with the remedy.")]
    counted: Annotated[
        dict[str, int],
        Meta(description="If the constraint counts more domains with the remedy: those with the fewest pods → pods."),
    ] = field(default_factory=dict)


class Tried(Base, frozen=True, kw_only=True):
    """The result of simulating a remedy."""

    verdict: Annotated[Word, Meta(description="Whether the remedy solves the whole problem.")]
    places: Annotated[int, Meta(description="Pods of the workload that have a node with the remedy.")]
    of: Annotated[int, Meta(description="Pods that the workload wants.")]
    evicts: Annotated[int, Meta(description="Pods that preemption evicts with the remedy.")] = 0
    replaces: Annotated[int, Meta(description="Pods with a node that the remedy deletes or evicts.")] = 0
    newly_pending: Annotated[
        tuple[str, ...], Meta(description="Other pods that are pending only with the remedy, NAMESPACE/NAME.")
    ] = ()
    exceeds: Annotated[
        tuple[ExceededSkew, ...],
        Meta(
            description="Hard constraints whose skew with the remedy exceeds the present maxSkew; the workload's first."
        ),
    ] = ()
    may_exceed: Annotated[
        tuple[ExceededSkew, ...],
        Meta(
            description="Hard constraints of the workload that exceed maxSkew after the remedy's rollout if old pods "
            "are deleted in an unfavourable order."
        ),
    ] = ()
    uncounted: Annotated[
        tuple[str, ...], Meta(description="Domains that the workload's hard constraints count only without the remedy.")
    ] = ()


_Says = Annotated[str, Meta(description="The change in words.")]
_Command = Annotated[tuple[str, ...], Meta(description="Command line that makes the change; empty if none does.")]
_Patch = Annotated[tuple[dict[str, Any], ...], Meta(description="The change as RFC 6902 operations.")]
_Object = Annotated[dict[str, str], Meta(description="Object that the patch applies to: apiVersion, kind, …")]


class RemedyPart(Base, frozen=True, kw_only=True):
    """One more change of a remedy, to another object."""

    says: _Says
    command: _Command = ()
    patch: _Patch = ()
    object: _Object = field(default_factory=dict)


class Remedy(Base, frozen=True, kw_only=True):
    """A change that was simulated, and its result."""

    code: Annotated[str, Meta(description="Stable key of the kind of change, for example `uncordon`.")]
    says: _Says
    command: _Command = ()
    patch: _Patch = ()
    object: _Object = field(default_factory=dict)
    further: Annotated[
        tuple[RemedyPart, ...], Meta(description="Changes of other objects, which are needed as well.")
    ] = ()
    tried: Annotated[Tried, Meta(description="The result of the simulation with the change.")]

    @property
    def parts(self) -> tuple[Remedy | RemedyPart, ...]:
        """The remedy's changes, one for each object. All are needed."""
        return (self, *self.further)


class Unjudged(Base, frozen=True, kw_only=True):
    """A part of the input that topospread cannot judge."""

    what: Annotated[str, Meta(description="Stable key: `resourceClaims`, `podGroups`, `extenders`, `budget`, …")]
    because: Annotated[str, Meta(description="Why it cannot be judged.")]
    pods: Annotated[tuple[str, ...], Meta(description="Pods that it concerns, NAMESPACE/NAME.")] = ()
    field: Annotated[str, Meta(description="Path of the field, for example `spec.resourceClaims`.")] = ""
    to_know: Annotated[str, Meta(description="Command that gives the missing information; empty if none does.")] = ""


class Asked(Base, frozen=True, kw_only=True):
    """The input of an answer, and the Kubernetes version."""

    source: Annotated[str, Meta(description="File, folder, context or synthetic cluster that holds the state.")] = ""
    kube_version: Annotated[
        str, Meta(description="Kubernetes version; `preview:KEP-…` is the newest version with a proposed change.")
    ] = ""
    gates: Annotated[
        dict[str, bool], Meta(description="Feature gates that were set; `apiserver:NAME` is a gate of the API server.")
    ] = field(default_factory=dict)
    config: Annotated[
        str, Meta(description="File of kube-scheduler's configuration; empty for the default configuration.")
    ] = ""
    nodes: Annotated[int, Meta(description="Number of nodes.")] = 0
    pods: Annotated[int, Meta(description="Number of pods in the input.")] = 0
    taken: Annotated[str, Meta(description="Time of the snapshot, RFC 3339; empty if it is not known.")] = ""


class Answer(Base, frozen=True, kw_only=True):
    """The answer to one command's question. Subclasses add the evidence of their command.

    ``bool(answer)`` is true for yes and false for no.

    Attributes:
        PAGE: ``module:function`` that builds the page of this kind of answer.

    Raises:
        UnknownVerdictError: if ``bool()`` is applied to an unknown verdict.
    """

    PAGE: ClassVar[str] = ""

    api_version: Annotated[str, Meta(description="Version of this format.")] = API_VERSION
    kind: Annotated[str, Meta(description="Kind of answer, for example `Why`.")] = ""
    verdict: Annotated[Word, Meta(description="The answer to the command's question.")]
    says: Annotated[str, Meta(description="The verdict in one sentence.")]
    causes: Annotated[tuple[Cause, ...], Meta(description="One to three reasons for the verdict.")] = ()
    remedies: Annotated[tuple[Remedy, ...], Meta(description="Changes that were simulated, best first.")] = ()
    unjudged: Annotated[tuple[Unjudged, ...], Meta(description="Parts of the input that were not judged.")] = ()
    assumed: Annotated[
        tuple[str, ...],
        Meta(description="Assumptions of the verdict, for example that pods with device claims take no node."),
    ] = ()
    on: Annotated[Asked, Meta(description="The input and the version.")] = Asked()

    def __bool__(self) -> bool:
        if self.verdict == "unknown":
            raise UnknownVerdictError(self)
        return self.verdict == "yes"

    def __repr__(self) -> str:
        text = one_line(f"<{type(self).__name__} {self.verdict}: {self.says}")
        return f"{text[: _REPR_LENGTH - 2]}…>" if len(text) >= _REPR_LENGTH else f"{text}>"

    def page(self) -> Any:
        """Return the `render.blocks.Page` that every format draws."""
        module, _, name = self.PAGE.partition(":")
        return getattr(import_module(module), name)(self)

    def text(self, *, wide: bool = False, width: int = 80) -> str:
        """Return what the command prints, without colours.

        Args:
            wide: whether everything is shown, as with ``-o wide``.
            width: columns of the screen.
        """
        return escape_all(import_module("topospread.render.text").text(self.page(), wide=wide, width=width))

    def markdown(self) -> str:
        """Return the answer as GitHub Markdown, as with ``-o md``."""
        return escape_all(import_module("topospread.render.markdown").markdown(self.page()))

    def svg(self) -> str:
        """Return the picture that ``-o svg`` draws.

        Raises:
            UsageError: if the answer has no bars to draw.
        """
        return str(import_module("topospread.render.svg").svg(self.page()))

    def frame(self, rows: str) -> Any:
        """Return one list of the answer as a data frame of pandas, or of polars if pandas is not installed.

        ``frame("workloads")`` has a row for each workload. ``frame("workloads.constraints")`` has a row for each
        constraint of each workload; the workload's columns come first, with the prefix ``workloads_``. The last name
        may be a mapping: ``frame("workloads.spread.domains")`` has a row for each domain, with the column ``value``.

        Args:
            rows: attribute that holds a list, or a dotted path of such attributes; the last may hold a mapping.

        Raises:
            UsageError: if the answer has no such list, or neither package is installed.
        """
        return import_module("topospread.frames").frame_of(self, rows)

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook displays."""
        return escape_all(import_module("topospread.render.html").fragment(self.page()))
