"""The extender's answers in kube-scheduler's protocol, and that it awaits the pod before."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest
from aiohttp.test_utils import TestClient, TestServer

from topospread.api.meta import ObjectMeta
from topospread.api.node import Node
from topospread.api.pod import Pod, PodCondition, PodSpec, PodStatus
from topospread.extender.declared import MAX_PER_DOMAIN, SHARES
from topospread.live.extender_service import (
    LARGEST,
    MOST_NODES,
    ExtenderArgs,
    ExtenderService,
    WatchedDomains,
    extender_application,
)

Json = dict[str, Any]
NAMES = ["a", "b", "bare"]


def watched() -> WatchedDomains:
    made = WatchedDomains()
    for name in NAMES:
        labels = {} if name == "bare" else {"zone": name}
        made.put("Node", Node(metadata=ObjectMeta(name=name, labels=labels)), None)
    return made


def asking(name: str = "web-1", text: str = "zone: 1", annotation: str = MAX_PER_DOMAIN) -> Json:
    labels, annotations = {"app": "web"}, {annotation: text}
    return {"metadata": {"name": name, "namespace": "default", "labels": labels, "annotations": annotations}}


def sent(pod: Json, nodes: Json | None = None) -> ExtenderArgs:
    given = {"Pod": pod, "Nodes": nodes, "NodeNames": None if nodes else NAMES}
    return msgspec.json.decode(msgspec.json.encode(given), type=ExtenderArgs)


def seen(name: str, node: str = "", *conditions: PodCondition) -> Pod:
    metadata = ObjectMeta(name=name, namespace="default", labels={"app": "web"}, resource_version="1")
    return Pod(metadata=metadata, spec=PodSpec(node_name=node or None), status=PodStatus(conditions=[*conditions]))


def play(scenario: Callable[[], Awaitable[None]]) -> None:
    async def playing() -> None:
        await scenario()

    asyncio.run(playing())


def test_names_are_answered_by_names_and_nodes_by_nodes() -> None:
    async def scenario() -> None:
        there = watched()
        there.put("Pod", seen("web-0", "a"), None)
        service = ExtenderService(there, patience=0)
        by_name = await service.filter(sent(asking()))
        assert by_name["NodeNames"] == ["b"]
        assert set(by_name["FailedAndUnresolvableNodes"]) == {"a", "bare"}
        items = [{"metadata": {"name": name}, "spec": {"podCIDR": "10.0.0.0/24"}} for name in NAMES]
        whole = await service.filter(sent(asking(), {"items": items, "metadata": {}}))
        assert whole["Nodes"] == {"items": [items[1]], "metadata": {}}
        assert "NodeNames" not in whole

    play(scenario)


def test_nodes_that_are_not_seen_yet_are_taken_as_they_were_sent() -> None:
    async def scenario() -> None:
        service = ExtenderService(watched(), patience=0)
        items = [{"metadata": {"name": "new", "labels": {"zone": "c"}}}, {"metadata": {"name": "newer"}}]
        answer = await service.filter(sent(asking(), {"items": items}))
        assert answer["Nodes"]["items"] == items[:1]

    play(scenario)


def test_pods_that_ask_for_nothing_pass_with_no_points() -> None:
    async def scenario() -> None:
        service = ExtenderService(watched(), patience=0)
        plain = {"metadata": {"name": "web-1", "namespace": "default"}}
        assert await service.filter(sent(plain)) == {"NodeNames": NAMES, "FailedAndUnresolvableNodes": {}}
        assert await service.prioritize(sent(plain)) == [{"Host": name, "Score": 0} for name in NAMES]

    play(scenario)


def test_points_follow_the_shares() -> None:
    async def scenario() -> None:
        service = ExtenderService(watched(), patience=0)
        found = await service.prioritize(sent(asking("web-1", "zone: a=30, b=70", SHARES)))
        assert found == [{"Host": "a", "Score": 5}, {"Host": "b", "Score": 10}, {"Host": "bare", "Score": 0}]

    play(scenario)


def test_what_cannot_be_read_lets_the_pod_on_no_node() -> None:
    async def scenario() -> None:
        service = ExtenderService(watched(), patience=0)
        answer = await service.filter(sent(asking(text="zone")))
        assert answer["NodeNames"] == []
        assert all(why.startswith(f"{MAX_PER_DOMAIN}: ") for why in answer["FailedAndUnresolvableNodes"].values())
        assert {each["Score"] for each in await service.prioritize(sent(asking(text="zone")))} == {0}

    play(scenario)


@pytest.mark.parametrize(
    "end",
    [
        lambda there: there.put("Pod", seen("web-0", "a"), None),
        lambda there: there.delete("Pod", seen("web-0")),
        lambda there: there.put("Pod", seen("web-0", "", PodCondition(type="PodScheduled", status="False")), None),
    ],
    ids=["bound", "gone", "refused"],
)
def test_a_pod_that_passed_is_awaited_before_the_next_is_counted(end: Callable[[WatchedDomains], None]) -> None:
    async def scenario() -> None:
        there = watched()
        service = ExtenderService(there, patience=600)
        assert (await service.filter(sent(asking("web-0"))))["NodeNames"] == ["a", "b"]
        next_one = asyncio.create_task(service.filter(sent(asking("web-1"))))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not next_one.done()
        end(there)
        held = bool(there.placed("default"))
        assert (await next_one)["NodeNames"] == (["b"] if held else ["a", "b"])

    play(scenario)


def test_patience_ends_and_a_pod_that_comes_again_does_not_await_itself() -> None:
    async def scenario() -> None:
        service = ExtenderService(watched(), patience=0.01)
        await service.filter(sent(asking("web-0")))
        assert (await service.filter(sent(asking("web-1"))))["NodeNames"] == ["a", "b"]
        patient = ExtenderService(watched(), patience=600)
        for _ in range(2):
            assert (await patient.filter(sent(asking("web-0"))))["NodeNames"] == ["a", "b"]

    play(scenario)


def test_it_is_served_as_kube_scheduler_asks() -> None:
    async def scenario() -> None:
        well = [False]
        service = ExtenderService(watched(), lambda: well[0], patience=0)
        async with TestClient(TestServer(extender_application(service))) as client:
            body = msgspec.json.encode({"Pod": asking(), "Nodes": None, "NodeNames": NAMES})
            assert (await client.get("/readyz")).status == 500
            assert "not read yet" in (await (await client.post("/filter", data=body)).json())["Error"]
            well[0] = True
            assert (await client.get("/readyz")).status == 200
            assert (await client.get("/healthz")).status == 200
            answer = await client.post("/filter", data=body)
            assert (await answer.json())["NodeNames"] == ["a", "b"]
            assert [each["Host"] for each in await (await client.post("/prioritize", data=body)).json()] == NAMES

    play(scenario)


def sending(**fields: Any) -> bytes:
    return msgspec.json.encode({"Pod": asking(), "NodeNames": NAMES} | fields)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"{", 400),
        (b"\xff", 400),
        (b'{"Pod": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400),
        (sending(Pod=3), 400),
        (sending(Pod={"metadata": []}), 400),
        (sending(Nodes={"items": 3}), 400),
        (sending(Nodes={"items": [3]}), 400),
        (sending(Nodes={"items": [{"metadata": {"name": 3}}]}), 400),
        (sending(Nodes=[]), 400),
        (sending(NodeNames=[3]), 400),
        (sending(Nodes={"items": [{}]}), 200),
        (sending(NodeNames=["a"] * (MOST_NODES + 1)), 400),
        (sending(Nodes={"items": [{}] * (MOST_NODES + 1)}), 400),
        (b" " * (LARGEST + 1), 413),
    ],
)
def test_malformed_bodies_are_the_clients_error(data: bytes, status: int) -> None:
    async def scenario() -> None:
        application = extender_application(ExtenderService(watched(), patience=0))
        async with TestClient(TestServer(application)) as client:
            for path in ("/filter", "/prioritize"):
                assert (await client.post(path, data=io.BytesIO(data))).status == status

    play(scenario)


def test_a_body_that_is_too_large_names_the_setting() -> None:
    async def scenario() -> None:
        async with TestClient(TestServer(extender_application(ExtenderService(watched())))) as client:
            answer = await client.post("/filter", data=io.BytesIO(b" " * (LARGEST + 1)))
            assert "nodeCacheCapable" in await answer.text()

    play(scenario)
