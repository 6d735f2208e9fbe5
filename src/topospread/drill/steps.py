"""The steps of a drill as data, and their text form. `drill_run` runs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

from topospread.api.well_known_labels import BETA_REGION, BETA_ZONE, REGION, ZONE
from topospread.config.durations import parse_duration
from topospread.controllers import scale
from topospread.errors import UsageError

_NANOSECONDS = 1_000_000_000
_AUTOSCALERS = frozenset({"hpa", "horizontalpodautoscaler", "horizontalpodautoscalers"})
POOL_LABELS = (
    "pool",
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "doks.digitalocean.com/node-pool",
    "node.kubernetes.io/instancegroup",
)
"""Labels that name a node's pool."""
_ALIASES = {
    "zone": (ZONE, BETA_ZONE),
    "region": (REGION, BETA_REGION),
    "node": ("",),
    "pool": POOL_LABELS,
}
"""Short name → label keys. ``node`` is the node's name."""


@dataclass(frozen=True, slots=True)
class NodeChoice:
    """A selection of nodes by label or name.

    Attributes:
        key: a label key, or ``node``, ``zone``, ``region`` or ``pool``; empty to match the value alone.
    """

    key: str
    value: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}" if self.key else self.value

    @property
    def labels(self) -> tuple[str, ...]:
        """Possible label keys; the first that any node has is used. "" means the node's name."""
        return _ALIASES.get(self.key, (self.key,))


@dataclass(frozen=True, slots=True)
class _ToNodes:
    """A step on nodes. Its text starts with the class name in lower case."""

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
    """Make nodes NotReady: their kubelets stop reporting."""


@dataclass(frozen=True, slots=True)
class Recover(_ToNodes):
    """Make NotReady nodes Ready again."""


@dataclass(frozen=True, slots=True)
class Cordon(_ToNodes):
    """Cordon nodes."""


@dataclass(frozen=True, slots=True)
class Uncordon(_ToNodes):
    """Uncordon nodes."""


@dataclass(frozen=True, slots=True)
class Drain(_ToNodes):
    """Cordon nodes and evict their pods.

    Attributes:
        forced: whether to ignore budgets and also delete pods without a controller, like kubectl's --force
            --disable-eviction.
    """

    forced: bool = False

    def __str__(self) -> str:
        return f"{'force-drain' if self.forced else 'drain'} {self.nodes}"


@dataclass(frozen=True, slots=True)
class Scale:
    """Change the replicas of ``target``, ``[NAMESPACE/]KIND/NAME``.

    Attributes:
        down: whether it is an error if the new replicas are not fewer than the current ones.
    """

    target: str
    replicas: int
    down: bool = False

    def __str__(self) -> str:
        return f"{'scale-down' if self.down else 'scale'} {self.target}={self.replicas}"


@dataclass(frozen=True, slots=True)
class Autoscale:
    """Scale ``target``, ``[NAMESPACE/]hpa/NAME``, from its minimum to its maximum replicas."""

    target: str

    def __str__(self) -> str:
        return f"autoscale {self.target}"


@dataclass(frozen=True, slots=True)
class Wait:
    """Let this number of seconds pass."""

    seconds: float

    def __str__(self) -> str:
        minutes, seconds = divmod(round(self.seconds), 60)
        parts = [f"{minutes}m" if minutes else "", f"{seconds}s" if seconds or not minutes else ""]
        return f"wait {''.join(parts)}"


@dataclass(frozen=True, slots=True)
class AddNodes:
    """Add nodes like an existing node, in its zone or in ``zone``."""

    number: int
    like: str
    zone: str = ""

    def __str__(self) -> str:
        return f"add {self.number} like {self.like}" + (f" in {self.zone}" if self.zone else "")


@dataclass(frozen=True, slots=True)
class Apply:
    """Apply manifests."""

    path: str

    def __str__(self) -> str:
        return f"apply {self.path}"


TurnKind = Literal["stands", "placed", "ready", "deleted", "gone"]
"""Kinds of rollout events: the pod exists before the rollout, is placed, becomes ready, is deleted, or has ended."""
TURNS: tuple[TurnKind, ...] = get_args(TurnKind)


@dataclass(frozen=True, slots=True)
class RolloutStep:
    """An event in a rollout with a given order.

    Attributes:
        node: the pod's node; "" for any new pod that becomes ready.
        pod: name of a pod that exists before the rollout; "" for any pod, as pods of one node and revision are equal.
    """

    does: TurnKind
    node: str = ""
    pod: str = ""

    def __str__(self) -> str:
        return " ".join(each for each in (self.does, self.pod, self.node) if each)


@dataclass(frozen=True, slots=True)
class Rollout:
    """Restart a workload's rollout, or apply manifests and roll them out.

    Attributes:
        target: ``[NAMESPACE/]KIND/NAME``.
        path: path of the manifests; "" for a restart.
        turns: the order of events; empty to let the drill choose.
        is_fixed: whether an impossible event is an error. Otherwise the drill chooses all events from there on.
    """

    target: str
    path: str = ""
    turns: tuple[RolloutStep, ...] = ()
    is_fixed: bool = True

    def __str__(self) -> str:
        manifests = f" with {self.path}" if self.path else ""
        return f"rollout {self.target}{manifests}" + (f" in {len(self.turns)} turns" if self.turns else "")


Step = Fail | Recover | Cordon | Uncordon | Drain | Scale | Wait | AddNodes | Apply | Rollout | Autoscale

NODE_STEPS: Mapping[str, Callable[[NodeChoice], Step]] = {
    "fail": Fail,
    "recover": Recover,
    "cordon": Cordon,
    "uncordon": Uncordon,
    "drain": Drain,
    "force-drain": partial(Drain, forced=True),
}
"""First word of a step's text → the step's class, for steps on nodes."""


def read_choice(text: str, where: str) -> NodeChoice:
    """Parse a selection of nodes such as ``zone=a``; ``where`` is named in errors.

    Raises:
        UsageError: if it is malformed.
    """
    key, equals, value = text.partition("=")
    if not equals or not key or not value:
        raise UsageError(f"{where} {text}: write KEY=VALUE, for example zone=eu-west-1a or node=node-1")
    return NodeChoice(key, value)


def read_scale(text: str, where: str) -> Scale:
    """Parse ``deploy/web=30``.

    Raises:
        UsageError: if it is malformed.
    """
    return Scale(*scale.read_scale(text, where))


def read_scale_down(text: str, where: str) -> Scale:
    """Parse ``deploy/web=3`` as a scale-down.

    Raises:
        UsageError: if it is malformed.
    """
    return Scale(*scale.read_scale(text, where), down=True)


def read_autoscale(text: str, where: str) -> Autoscale:
    """Parse ``hpa/web``.

    Raises:
        UsageError: if it is malformed.
    """
    *namespace, kind, name = text.split("/") if text.count("/") in (1, 2) else ("", "")
    if kind.lower() not in _AUTOSCALERS or not name:
        raise UsageError(f"{where} {text}: write it as [NAMESPACE/]hpa/NAME, for example hpa/web")
    return Autoscale("/".join([*namespace, "hpa", name]))


def read_rollout(text: str, where: str) -> Rollout:
    """Parse ``deploy/web`` or ``deploy/web=new.yaml``.

    Raises:
        UsageError: if it is malformed.
    """
    target, equals, path = text.partition("=")
    if not target or (equals and not path):
        raise UsageError(f"{where} {text}: write [NAMESPACE/]KIND/NAME, or [NAMESPACE/]KIND/NAME=FILE")
    return Rollout(target, path)


def read_wait(text: str, where: str) -> Wait:
    """Parse a duration such as ``5m``.

    Raises:
        UsageError: if it is not a positive duration in whole seconds.
    """
    nanoseconds = parse_duration(text)
    if nanoseconds is None or nanoseconds < 0 or nanoseconds % _NANOSECONDS:
        raise UsageError(f"{where} {text}: write a duration in whole seconds, for example 90s, 5m or 1h30m")
    return Wait(nanoseconds // _NANOSECONDS)
