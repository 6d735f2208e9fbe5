"""Sources of a Service's requests: a workload's pods, weighted zones, or all pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from topospread.api.node import Node
from topospread.api.well_known_labels import ZONE
from topospread.errors import UsageError


@dataclass(frozen=True, slots=True)
class Clients:
    """The sources of requests.

    Attributes:
        service: ``NAME`` or ``NAMESPACE/NAME`` of their Service; "" for all Services.
        workload: ``[NAMESPACE/]KIND/NAME``; "" if zones are given.
        zones: zone → weight.
    """

    service: str = ""
    workload: str = ""
    zones: Mapping[str, float] = field(default_factory=dict)

    def ask(self, namespace: str, name: str) -> bool:
        """Return whether these clients send requests to a Service."""
        return self.service in ("", name, f"{namespace}/{name}")


def read_clients(texts: Iterable[str]) -> tuple[Clients, ...]:
    """Parse ``--clients``: a workload, ``deploy/web``, or weights of zones, ``zone-a=70,zone-b=30``.

    The prefix ``SERVICE:`` limits clients to a Service: ``api:deploy/web``.

    Raises:
        UsageError: if a text is malformed.
    """
    found = []
    for text in texts:
        service, colon, who = text.rpartition(":")
        if not who or (colon and not service):
            raise UsageError(f"--clients {text}: write a workload, deploy/web, or zones, zone-a=70,zone-b=30")
        if "=" not in who:
            if who.count("/") not in (1, 2):
                raise UsageError(f"--clients {text}: write a workload as [NAMESPACE/]KIND/NAME")
            found.append(Clients(service, who))
            continue
        found.append(Clients(service, zones=_weights(text, who)))
    return tuple(found)


def _weights(text: str, who: str) -> dict[str, float]:
    weights: dict[str, float] = {}
    for part in who.split(","):
        zone, equals, number = part.partition("=")
        plain = number.replace(".", "", 1)
        if not zone or not equals or not (plain.isascii() and plain.isdigit()) or zone in weights:
            raise UsageError(f"--clients {text}: write zones with weights, each once: zone-a=70,zone-b=30")
        weights[zone] = float(number)
    if not sum(weights.values()):
        raise UsageError(f"--clients {text}: at least one weight must be above 0")
    return weights


def by_zones(weights: Mapping[str, float], nodes: Sequence[Node], asking: Sequence[Node]) -> dict[str, float]:
    """Return node → share of the requests. Each zone's share is split evenly over its ``asking`` nodes.

    A zone without such nodes sends no requests.

    Raises:
        UsageError: if a zone has no nodes.
    """
    number = Counter(node.labels.get(ZONE, "") for node in nodes)
    missing = [zone for zone in weights if not number[zone]]
    if missing:
        raise UsageError(
            f"--clients: no node is in {missing[0]}; zones with nodes: {', '.join(sorted(filter(None, number)))}"
        )
    alive = Counter(node.labels.get(ZONE, "") for node in asking)
    total = sum(weight for zone, weight in weights.items() if alive[zone])
    shares = ((node, node.labels.get(ZONE, "")) for node in asking)
    return {node.name: weights[zone] / total / alive[zone] for node, zone in shares if total and zone in weights}


def by_pods(pods: Iterable[str], asking: Sequence[Node]) -> dict[str, float]:
    """Return node → share of the requests, proportional to its pods; equal shares without pods.

    ``pods`` has the node name of each client pod. Pods on nodes outside ``asking`` do not count.
    """
    names = [node.name for node in asking]
    number = Counter(pods)
    number = Counter({name: number[name] for name in names if number[name]}) or Counter(names)
    return {node: count / number.total() for node, count in number.items()}
