"""The steps of a drill as data, and how they are written; what comes of them is not told here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from topospread.api.well_known_labels import BETA_REGION, BETA_ZONE, REGION, ZONE
from topospread.config.durations import parse_duration
from topospread.errors import UsageError
from topospread.workloads import scale

_NANOSECONDS = 1_000_000_000
_AUTOSCALERS = frozenset({"hpa", "horizontalpodautoscaler", "horizontalpodautoscalers"})
_ALIASES = {
    "zone": (ZONE, BETA_ZONE),
    "region": (REGION, BETA_REGION),
    "node": ("",),
    "pool": (
        "karpenter.sh/nodepool",
        "eks.amazonaws.com/nodegroup",
        "alpha.eksctl.io/nodegroup-name",
        "cloud.google.com/gke-nodepool",
        "kubernetes.azure.com/agentpool",
        "agentpool",
        "doks.digitalocean.com/node-pool",
        "node.kubernetes.io/instancegroup",
    ),
}
"""What may stand in place of a label's key; ``node`` means the name."""


@dataclass(frozen=True, slots=True)
class NodeChoice:
    """Nodes by a label, or one by its name.

    Attributes:
        key: a label, or ``node``, ``zone``, ``region`` or ``pool``; empty if the value alone says which.
    """

    key: str
    value: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}" if self.key else self.value

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that are meant, the first that any node has; "" for the name."""
        return _ALIASES.get(self.key, (self.key,))


@dataclass(frozen=True, slots=True)
class _ToNodes:
    """Something that happens to nodes; it is written as its class is called."""

    nodes: NodeChoice

    def __post_init__(self) -> None:
        if not isinstance(self.nodes, NodeChoice):
            key, _, value = str(self.nodes).partition("=")
            name = type(self).__name__
            raise UsageError(f'{name}({self.nodes!r}): write {name}(NodeChoice("{key}", "{value}"))')

    def __str__(self) -> str:
        return f"{type(self).__name__.lower()} {self.nodes}"


@dataclass(frozen=True, slots=True)
class Fail(_ToNodes):
    """Nodes fall silent."""


@dataclass(frozen=True, slots=True)
class Recover(_ToNodes):
    """Silent nodes tell of themselves again."""


@dataclass(frozen=True, slots=True)
class Cordon(_ToNodes):
    """Nodes take no new pods."""


@dataclass(frozen=True, slots=True)
class Uncordon(_ToNodes):
    """Nodes take new pods again."""


@dataclass(frozen=True, slots=True)
class Drain(_ToNodes):
    """Nodes are cordoned, and their pods evicted."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A workload gets other replicas; ``target``: ``[NAMESPACE/]KIND/NAME``.

    Attributes:
        down: these have to be fewer than it has.
    """

    target: str
    replicas: int
    down: bool = False

    def __str__(self) -> str:
        return f"{'scale-down' if self.down else 'scale'} {self.target}={self.replicas}"


@dataclass(frozen=True, slots=True)
class Autoscale:
    """An autoscaler goes from its fewest replicas to its most; ``target``: ``[NAMESPACE/]hpa/NAME``."""

    target: str

    def __str__(self) -> str:
        return f"autoscale {self.target}"


@dataclass(frozen=True, slots=True)
class Wait:
    """Time passes: so many seconds."""

    seconds: float

    def __str__(self) -> str:
        minutes, seconds = divmod(round(self.seconds), 60)
        parts = [f"{minutes}m" if minutes else "", f"{seconds}s" if seconds or not minutes else ""]
        return f"wait {''.join(parts)}"


@dataclass(frozen=True, slots=True)
class AddNodes:
    """Nodes come that are like one that is there; ``zone``: in another zone than that one."""

    number: int
    like: str
    zone: str = ""

    def __str__(self) -> str:
        return f"add {self.number} like {self.like}" + (f" in {self.zone}" if self.zone else "")


@dataclass(frozen=True, slots=True)
class Apply:
    """Manifests are applied."""

    path: str

    def __str__(self) -> str:
        return f"apply {self.path}"


TurnKind = Literal["stands", "placed", "ready", "deleted", "gone"]
"""Of a pod: it is there before a rollout; it gets a node; a kubelet says it is ready; its controller deletes it; it has
ended."""
TURNS: tuple[TurnKind, ...] = get_args(TurnKind)


@dataclass(frozen=True, slots=True)
class Turn:
    """The next event of a rollout with a given order.

    Attributes:
        node: where; "" for a new pod that is ready, which may be any.
        pod: the name of one that stands there before; "" for any other, as those of one node and revision are alike.
    """

    does: TurnKind
    node: str = ""
    pod: str = ""

    def __str__(self) -> str:
        return " ".join(each for each in (self.does, self.pod, self.node) if each)


@dataclass(frozen=True, slots=True)
class Rollout:
    """A workload is rolled out anew: as it is, or with manifests that are applied.

    Attributes:
        target: ``[NAMESPACE/]KIND/NAME``.
        path: of the manifests, "" for none.
        turns: who acts one after the other, where that is not left to the drill.
    """

    target: str
    path: str = ""
    turns: tuple[Turn, ...] = ()

    def __str__(self) -> str:
        manifests = f" with {self.path}" if self.path else ""
        return f"rollout {self.target}{manifests}" + (f" in {len(self.turns)} turns" if self.turns else "")


Step = Fail | Recover | Cordon | Uncordon | Drain | Scale | Wait | AddNodes | Apply | Rollout | Autoscale


def read_choice(text: str, where: str) -> NodeChoice:
    """Parse a selection of nodes such as ``zone=a``; ``where`` is named in errors.

    Raises:
        UsageError: it is not of this form.
    """
    key, equals, value = text.partition("=")
    if not equals or not key or not value:
        raise UsageError(f"{where} {text}: write KEY=VALUE, for example zone=eu-west-1a or node=node-1")
    return NodeChoice(key, value)


def read_scale(text: str, where: str) -> Scale:
    """Parse ``deploy/web=30``.

    Raises:
        UsageError: it is not of this form.
    """
    return Scale(*scale.read_scale(text, where))


def read_scale_down(text: str, where: str) -> Scale:
    """Parse ``deploy/web=3``, fewer replicas than there are.

    Raises:
        UsageError: it is not of this form.
    """
    return Scale(*scale.read_scale(text, where), down=True)


def read_autoscale(text: str, where: str) -> Autoscale:
    """Parse ``hpa/web``.

    Raises:
        UsageError: it is not of this form.
    """
    *namespace, kind, name = text.split("/") if text.count("/") in (1, 2) else ("", "")
    if kind.lower() not in _AUTOSCALERS or not name:
        raise UsageError(f"{where} {text}: write it as [NAMESPACE/]hpa/NAME, for example hpa/web")
    return Autoscale("/".join([*namespace, "hpa", name]))


def read_rollout(text: str, where: str) -> Rollout:
    """Parse ``deploy/web`` or ``deploy/web=new.yaml``.

    Raises:
        UsageError: it is not of this form.
    """
    target, equals, path = text.partition("=")
    if not target or (equals and not path):
        raise UsageError(f"{where} {text}: write [NAMESPACE/]KIND/NAME, or [NAMESPACE/]KIND/NAME=FILE")
    return Rollout(target, path)


def read_wait(text: str, where: str) -> Wait:
    """Parse a duration such as ``5m``.

    Raises:
        UsageError: it is no duration, or one that is no whole seconds or lies in the past.
    """
    nanoseconds = parse_duration(text)
    if nanoseconds is None or nanoseconds < 0 or nanoseconds % _NANOSECONDS:
        raise UsageError(f"{where} {text}: write a duration in whole seconds, for example 90s, 5m or 1h30m")
    return Wait(nanoseconds // _NANOSECONDS)
