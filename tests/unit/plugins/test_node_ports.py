"""NodePorts: ports in use are a set, and trials leave it as it was."""

from __future__ import annotations

from typing import Any

from conformance.judging.cases import judge_case

Json = dict[str, Any]
NODE: Json = {"metadata": {"name": "a"}, "status": {"allocatable": {"pods": "3"}}}


def pod(name: str, on: str = "", priority: int = 0, ports: int = 1) -> Json:
    containers = [{"name": f"c{i}", "ports": [{"hostPort": 80}]} for i in range(ports)]
    metadata = {"name": name, "namespace": "d", "uid": name}
    return {"metadata": metadata, "spec": {"containers": containers, "nodeName": on, "priority": priority}}


def judged(pods: list[Json], *incoming: Json) -> list[Json]:
    case = {"nodes": [NODE], "pods": pods, "incoming": list(incoming), "preempt": True}
    return judge_case(case)["verdicts"]  # type: ignore[no-any-return]


def test_evicting_one_of_two_users_frees_the_port() -> None:
    (verdict,) = judged([pod("low", "a"), pod("high", "a", 100)], pod("new", priority=50))
    assert verdict["preemption"]["candidates"] == {"a": {"victims": ["d/low"]}}


def test_a_pod_may_have_a_port_twice() -> None:
    (verdict,) = judged([pod("twice", "a", ports=2)], pod("new", priority=50))
    assert verdict["preemption"]["candidates"] == {"a": {"victims": ["d/twice"]}}


def test_what_preemption_tries_leaves_the_ports_in_use() -> None:
    pods = [pod("low", "a"), pod("high", "a", 100)]
    first, second = judged(pods, pod("new", priority=50), pod("other"))
    assert first["preemption"]["candidates"]
    assert second["rejected"]["a"]["plugin"] == "NodePorts"
