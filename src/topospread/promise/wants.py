"""The intent of a design, and the promises of a workload that declares none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from topospread.api.inventory import Inventory
from topospread.api.promises import About, Want, has_quorum
from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.errors import UsageError
from topospread.text import counted

from .questions import LOSSES


def default_wants(kind: str, replicas: int) -> tuple[Want, ...]:
    """Return the default promises of a workload: a single loss leaves a pod, or the quorum."""
    if has_quorum(kind, replicas):
        return (Want("quorum"),)
    return (Want("zone-loss", 1), Want("node-loss", 1))


@dataclass(frozen=True, slots=True)
class Survival:
    """The minimum number of pods that the loss of any one domain of a key leaves."""

    key: str
    left: int

    @property
    def word(self) -> str:
        """``zone``, ``node``, or the key."""
        return next((word for word, key in LOSSES.items() if key == self.key), self.key)

    @property
    def promise(self) -> Want:
        """The want as a declared promise; only for zones and nodes."""
        return Want("zone-loss" if self.key == ZONE else "node-loss", self.left)

    def __str__(self) -> str:
        return f"the loss of any one {self.word} leaves at least {self.left}"


@dataclass(frozen=True, slots=True)
class Intent:
    """All wants of a design.

    Attributes:
        replicas: number of replicas.
        unnoticed: whether a node's loss may take one pod at most, which becomes ready elsewhere, and every node can be
            drained.
        others: promises on drains, rollouts, skew and pending pods.
    """

    replicas: int
    survivals: tuple[Survival, ...]
    unnoticed: bool = False
    others: tuple[Want, ...] = ()

    def least(self, about: About) -> int:
        """Return the minimum of ready pods in a drain or rollout: at least the minimum after any loss."""
        losses = max((each.left for each in self.survivals), default=self.replicas - 1 if self.unnoticed else 0)
        return max([losses, *(each.least(self.replicas) for each in self.others if each.about == about)])

    @property
    def phrases(self) -> tuple[str, ...]:
        """The wants, a phrase each."""
        told = [f"{each} of {self.replicas}" for each in self.survivals]
        told += map(str, self.others)
        return (*told, *(["any one node is lost or drained unnoticed"] if self.unnoticed else []))

    @property
    def of_domains(self) -> tuple[Survival, ...]:
        """The wants after the loss of domains, including the loss of an unnoticed node."""
        if not self.unnoticed or any(
            each.key == HOSTNAME and each.left >= self.replicas - 1 for each in self.survivals
        ):
            return self.survivals
        others = tuple(each for each in self.survivals if each.key != HOSTNAME)
        return (*others, Survival(HOSTNAME, self.replicas - 1))


def wanted_of(inventory: Inventory, wants: Sequence[Want], number: int) -> tuple[dict[str, int], tuple[Want, ...]]:
    """Return topology key → how many of ``number`` pods a domain's loss must leave; also return the other promises.

    Without promises, each zone's loss may take only that zone's share of the pods.
    """
    if not wants:
        loss = "zone" if len({each.labels.get(ZONE) for each in inventory.nodes}) > 1 else "node"
        domains = len({each.labels.get(LOSSES[loss]) for each in inventory.nodes})
        return {LOSSES[loss]: number - -(-number // max(domains, 1))}, ()
    found: dict[str, int] = {}
    losses = [each for each in wants if each.about in ("zone-loss", "node-loss", "quorum")]
    for each in losses:
        least = each.least(number)
        for loss in ("zone", "node") if each.about == "quorum" else (each.about.removesuffix("-loss"),):
            found[LOSSES[loss]] = max(found.get(LOSSES[loss], 0), least)
    return found, tuple(each for each in wants if each not in losses)


def read_intent(
    survive: Sequence[str], left: Sequence[int], replicas: int, *, unnoticed: bool, others: Sequence[Want] = ()
) -> Intent:
    """Return the intent that the options describe.

    Args:
        survive: ``zone``, ``node`` or topology keys; ``left`` has the pods to keep at the same position.
        replicas: number of replicas.

    Raises:
        UsageError: if the options contradict each other, or no placement can satisfy them.
    """
    if len(survive) != len(left):
        raise UsageError("each --survive needs one --left, and each --left one --survive")
    if not survive and not unnoticed and not others:
        raise UsageError("no promise given: use --want zone-loss>=4 or --lose-node-unnoticed")
    for each in left:
        if not 0 < each < replicas:
            most = f"1 to {replicas - 1}" if replicas > 1 else "nothing; ask for more with --of"
            raise UsageError(f"--left {each}: with {counted(replicas, 'replica')}, a loss can leave {most}")
    if unnoticed and replicas < 2:
        raise UsageError("--lose-node-unnoticed requires at least two replicas; set them with --of")
    found = [Survival(LOSSES.get(key, key), number) for key, number in zip(survive, left, strict=True)]
    if len({each.key for each in found}) != len(found):
        raise UsageError("--survive names a topology key twice")
    return Intent(replicas, tuple(found), unnoticed, tuple(others))


def beyond_counting(intent: Intent, labels: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Yield the wants that no placement on these nodes can keep: some domain holds at least an equal share of pods.

    Only keys that every node has are checked, because no loss takes pods on nodes without the key.
    """
    for each in intent.survivals:
        domains = {of_node.get(each.key) for of_node in labels}
        share = -(-intent.replicas // len(domains))
        if None not in domains and intent.replicas - share < each.left:
            named = (
                f"{len(domains)} {each.word}{'s' * (len(domains) > 1)}"
                if each.word in LOSSES
                else f"{len(domains)} of {each.word}"
            )
            yield (
                f"{named}: one of them always holds at least {share} of {intent.replicas} pods, so its loss leaves "
                f"at most {intent.replicas - share}"
            )
    caps = {each.key: intent.replicas - each.left for each in intent.survivals}
    of_zones = Counter(of_node.get(ZONE) for of_node in labels)
    if {ZONE, HOSTNAME} <= set(caps) and None not in of_zones:
        room = sum(min(caps[ZONE], nodes * caps[HOSTNAME]) for nodes in of_zones.values())
        if room < intent.replicas:
            yield (
                f"with {caps[ZONE]} pods a zone and {caps[HOSTNAME]} a node at most, the nodes have room for {room} of "
                f"{intent.replicas}"
            )
