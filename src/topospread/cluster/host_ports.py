"""Host ports in use on each node: a set, as ``HostPortInfo`` (k8s.io/kube-scheduler/framework).

A port that two users of a node have is free once either of them goes.
"""

from __future__ import annotations

from collections.abc import Iterable

from .pod_class import HostPort


class HostPorts:
    """Ports in use.

    Attributes:
        in_use: (protocol, port) → row → IPs on which it is in use.
    """

    def __init__(self) -> None:
        self.in_use: dict[tuple[str, int], dict[int, set[str]]] = {}

    def users(self, protocol: str, port: int) -> dict[int, set[str]]:
        """Row → IPs on which the port is in use."""
        return self.in_use.get((protocol, port), {})

    def among(self, ports: Iterable[HostPort], row: int) -> list[HostPort]:
        """Return those of the given ports that are in use on a node."""
        return [each for each in ports if each[0] in self.users(*each[1:]).get(row, ())]

    def take(self, ports: Iterable[HostPort], row: int) -> None:
        """A pod on a node uses ports."""
        for ip, protocol, port in ports:
            self.in_use.setdefault((protocol, port), {}).setdefault(row, set()).add(ip)

    def free(self, ports: Iterable[HostPort], row: int) -> None:
        """A pod on a node uses ports no more."""
        for ip, protocol, port in ports:
            rows = self.users(protocol, port)
            addresses = rows.get(row, set())
            addresses.discard(ip)
            if not addresses:
                rows.pop(row, None)
                if not rows:
                    self.in_use.pop((protocol, port), None)

    def put_back(self, ports: Iterable[HostPort], row: int, in_use: Iterable[HostPort]) -> None:
        """Set which of the given ports are in use on a node; the others are free."""
        self.free(ports, row)
        self.take(in_use, row)
