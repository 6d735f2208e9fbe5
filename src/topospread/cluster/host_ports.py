"""Host ports in use on each node: a set, like ``HostPortInfo`` (k8s.io/kube-scheduler/framework).

As in kube-scheduler, a port that two pods of a node share becomes free when one of the pods is removed.
"""

from __future__ import annotations

from collections.abc import Iterable

from .pod_class import HostPort


class HostPorts:
    """The host ports in use.

    Attributes:
        in_use: (protocol, port) → row → host IPs on which the port is in use.
    """

    def __init__(self) -> None:
        self.in_use: dict[tuple[str, int], dict[int, set[str]]] = {}

    def users(self, protocol: str, port: int) -> dict[int, set[str]]:
        """Return row → host IPs on which the port is in use."""
        return self.in_use.get((protocol, port), {})

    def among(self, ports: Iterable[HostPort], row: int) -> list[HostPort]:
        """Return the given ports that are in use on a node."""
        return [each for each in ports if each[0] in self.users(*each[1:]).get(row, ())]

    def take(self, ports: Iterable[HostPort], row: int) -> None:
        """Mark the ports of a pod on a node as used."""
        for ip, protocol, port in ports:
            self.in_use.setdefault((protocol, port), {}).setdefault(row, set()).add(ip)

    def free(self, ports: Iterable[HostPort], row: int) -> None:
        """Mark the ports of a removed pod as free."""
        for ip, protocol, port in ports:
            rows = self.users(protocol, port)
            addresses = rows.get(row, set())
            addresses.discard(ip)
            if not addresses:
                rows.pop(row, None)
                if not rows:
                    self.in_use.pop((protocol, port), None)

    def put_back(self, ports: Iterable[HostPort], row: int, in_use: Iterable[HostPort]) -> None:
        """Mark the ports ``in_use`` as used on a node, and the other given ports as free."""
        self.free(ports, row)
        self.take(in_use, row)
