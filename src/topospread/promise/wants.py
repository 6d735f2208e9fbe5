"""The promises that a person declares of a workload: ``zone-loss>=66% node-loss>=4 quorum skew<=1 never-waits``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, get_args

from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.errors import UsageError
from topospread.text import counted

from .fresh import simulated_replicas
from .questions import LOSSES

About = Literal["zone-loss", "node-loss", "drain", "rollout", "skew", "quorum", "never-waits"]
GRAMMAR = "zone-loss>=4 node-loss>=66% drain>=4 rollout>=80% skew<=1 quorum never-waits"
_FORM = re.compile(r"(?P<about>[a-z-]+)(?:(?P<sign>>=|<=)(?P<number>\d+)(?P<percent>%?))?")
_SIGNS: dict[str, str] = {"zone-loss": ">=", "node-loss": ">=", "drain": ">=", "rollout": ">=", "skew": "<="}


@dataclass(frozen=True, slots=True)
class Want:
    """One declared promise.

    Attributes:
        about: the event or state of the promise.
        number: pods that must be left, or the maximum skew; 0 for a promise without a number.
        percent: whether the number is a percentage of the replicas.
    """

    about: About
    number: int = 0
    percent: bool = False

    def __str__(self) -> str:
        sign = _SIGNS.get(self.about, "")
        return f"{self.about}{sign}{self.number}{'%' * self.percent}" if sign else self.about

    def least(self, replicas: int) -> int:
        """Return the number of pods of `replicas` that it asks for, rounded up; for a quorum more than half."""
        if self.about == "quorum":
            return replicas // 2 + 1
        return -(-self.number * replicas // 100) if self.percent else self.number


def read_wants(text: str) -> tuple[Want, ...]:
    """Return the declared promises without duplicates.

    Raises:
        UsageError: if a word is unknown.
    """
    return tuple(dict.fromkeys(map(_want, text.replace(",", " ").split())))


def _want(word: str) -> Want:
    found = _FORM.fullmatch(word)
    about = "" if found is None else found["about"]
    known = next((each for each in get_args(About) if each == about), None)
    if found is None or known is None:
        near = get_close_matches(about or re.split("[<>=]", word)[0], get_args(About), n=1)
        forms = [each for each in GRAMMAR.split() if near and each.startswith(near[0])]
        raise UsageError(f'promise "{word}" is unknown; {f"did you mean {forms[0]}?" if forms else f"write {GRAMMAR}"}')
    sign = _SIGNS.get(known, "")
    if (found["sign"] or "") != sign or (found["percent"] and known == "skew"):
        raise UsageError(f'promise "{word}": write {known}{f"{sign}N" if sign else ""}')
    number = int(found["number"] or 0)
    if found["percent"] and number > 100:
        raise UsageError(f'promise "{word}": more than 100 % of the replicas')
    return Want(known, number, bool(found["percent"]))


def default_wants(kind: str, replicas: int) -> tuple[Want, ...]:
    """Return the promises of a workload that declares none: a single loss leaves some pods, or the quorum."""
    if has_quorum(kind, replicas):
        return (Want("quorum"),)
    return (Want("zone-loss", 1), Want("node-loss", 1))


def has_quorum(kind: str, replicas: int) -> bool:
    """Return whether more than half of the pods are assumed to be needed: StatefulSets of odd size from 3."""
    return kind == "StatefulSet" and replicas >= 3 and replicas % 2 == 1


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
        """Return the fewest pods that may be ready in a drain or rollout: at least as many as after any loss."""
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


def wanted_of(
    inventory: Inventory, key: ObjectKey, want: str, replicas: int | None
) -> tuple[tuple[str, ...], tuple[int, ...], tuple[Want, ...]]:
    """Return keys whose domains may fail, the pods that each loss must leave, and the other promises.

    Without a declaration, each zone's loss may take only that zone's share of the pods.

    Raises:
        UsageError: if a word is unknown.
    """
    number = replicas or simulated_replicas(inventory, key)
    if not want:
        loss = "zone" if len({each.labels.get(ZONE) for each in inventory.nodes}) > 1 else "node"
        domains = len({each.labels.get(LOSSES[loss]) for each in inventory.nodes})
        return (loss,), (number - -(-number // max(domains, 1)),), ()
    found: dict[str, int] = {}
    wants = read_wants(want)
    losses = [each for each in wants if each.about in ("zone-loss", "node-loss", "quorum")]
    for each in losses:
        least = each.least(number)
        for loss in ("zone", "node") if each.about == "quorum" else (each.about.removesuffix("-loss"),):
            found[loss] = max(found.get(loss, 0), least)
    return tuple(found), tuple(found.values()), tuple(each for each in wants if each not in losses)


def read_intent(
    survive: Sequence[str], left: Sequence[int], replicas: int, *, unnoticed: bool, others: Sequence[Want] = ()
) -> Intent:
    """Read the options.

    Args:
        survive: ``zone``, ``node`` or topology keys; ``left`` has the pods to keep at the same position.
        replicas: number of replicas.

    Raises:
        UsageError: if the options contradict each other, or no placement can satisfy them.
    """
    if len(survive) != len(left):
        raise UsageError("--survive says what is lost, and --left what has to be left then: give as many of each")
    if not survive and not unnoticed and not others:
        raise UsageError("say what is wanted: --want zone-loss>=4, or --lose-node-unnoticed")
    for each in left:
        if not 0 < each < replicas:
            most = f"1 to {replicas - 1}" if replicas > 1 else "nothing; ask for more with --of"
            raise UsageError(f"--left {each}: of {counted(replicas, 'replica')} a loss can leave {most}")
    if unnoticed and replicas < 2:
        raise UsageError("--lose-node-unnoticed: a single pod is always noticed: ask for more with --of")
    found = [Survival(LOSSES.get(key, key), number) for key, number in zip(survive, left, strict=True)]
    if len({each.key for each in found}) != len(found):
        raise UsageError("--survive names a topology key twice")
    return Intent(replicas, tuple(found), unnoticed, tuple(others))


def beyond_counting(intent: Intent, labels: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Yield the wants that no placement on these nodes can keep, whatever the constraints: a domain holds its share of
    pods.

    Only keys that every node has are counted: a domain's loss never takes pods on nodes without the key.
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
                f"{named}: one holds {share} or more of "
                f"{intent.replicas}, however they are spread, so its loss leaves {intent.replicas - share} at most"
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
