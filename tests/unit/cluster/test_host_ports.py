"""Host ports in use: a set by node, as in kube-scheduler, where the first pod that goes frees a shared port."""

from __future__ import annotations

from topospread.cluster.host_ports import HostPorts

ANY, LOCAL, UDP = ("0.0.0.0", "TCP", 80), ("127.0.0.1", "TCP", 80), ("0.0.0.0", "UDP", 80)


def test_ports_are_taken_and_freed() -> None:
    ports = HostPorts()
    ports.take([ANY, UDP], 1)
    ports.take([LOCAL], 1)
    ports.take([ANY], 2)
    assert ports.users("TCP", 80) == {1: {"0.0.0.0", "127.0.0.1"}, 2: {"0.0.0.0"}}
    assert ports.users("TCP", 81) == {}
    ports.free([ANY, ("0.0.0.0", "TCP", 81)], 1)
    assert ports.users("TCP", 80) == {1: {"127.0.0.1"}, 2: {"0.0.0.0"}}
    ports.free([LOCAL, UDP], 1)
    ports.free([ANY], 2)
    assert ports.in_use == {}


def test_a_shared_port_is_free_once_one_pod_goes() -> None:
    ports = HostPorts()
    ports.take([ANY], 1)
    ports.take([ANY], 1)
    ports.free([ANY], 1)
    assert ports.among([ANY], 1) == []


def test_ports_among_some_are_put_back() -> None:
    ports = HostPorts()
    ports.take([ANY, UDP], 1)
    given = [ANY, LOCAL, UDP]
    before = ports.among(given, 1)
    assert (before, ports.among(given, 2)) == ([ANY, UDP], [])
    ports.free([ANY], 1)
    ports.take([LOCAL], 1)
    ports.put_back(given, 1, before)
    assert ports.among(given, 1) == [ANY, UDP]
