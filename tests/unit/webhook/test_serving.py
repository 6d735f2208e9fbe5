"""The webhook over HTTP: requests are judged in processes, and a slow one delays no other."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Literal

import pytest
from aiohttp.test_utils import TestClient, TestServer

from tests.unit.webhook.admission_requests import Json, constraint, deployment, request
from topospread.webhook.judging_pool import ACCEPTING, SLOW, JudgingPool
from topospread.webhook.policy import AdmissionPolicy
from topospread.webhook.serving import MOST, WebhookMetrics, application

WRONG = constraint("wbe")
Scenario = Callable[[TestClient[Any, Any], JudgingPool], Awaitable[None]]


def play(scenario: Scenario, on_timeout: Literal["allow", "deny"] = "deny") -> None:
    async def run() -> None:
        policy = AdmissionPolicy(deny=frozenset({"selector-not-own"}), on_timeout=on_timeout)
        pool = JudgingPool(policy)
        try:
            await pool.start()
            made = application(pool, policy, WebhookMetrics(), needs_certificate=False)
            async with TestClient(TestServer(made)) as client:
                await scenario(client, pool)
        finally:
            await pool.close()

    asyncio.run(run())


def review(made: Json, user: str = "ann") -> bytes:
    asked = request(made) | {"userInfo": {"username": user}}
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "request": asked}).encode()


def slow(constraints: int = 30_000, namespace: str = "shop", user: str = "ann") -> bytes:
    """Return a request that takes far longer than any deadline here."""
    wrong = [WRONG | {"topologyKey": f"example.com/{number}"} for number in range(constraints)]
    return review(deployment(*wrong, namespace=namespace), user)


async def answered(client: TestClient[Any, Any], data: bytes, timeout: str = "5s") -> Json:
    async with client.post(f"/validate?timeout={timeout}", data=io.BytesIO(data)) as answer:
        assert answer.status == 200, await answer.text()
        response: Json = (await answer.json())["response"]
        return response


def test_objects_are_denied_and_allowed() -> None:
    async def scenario(client: TestClient[Any, Any], _: JudgingPool) -> None:
        assert (await answered(client, review(deployment(WRONG))))["allowed"] is False
        assert (await answered(client, review(deployment(constraint())))) == {"uid": "1", "allowed": True}

    play(scenario)


@pytest.mark.parametrize(("on_timeout", "allowed"), [("allow", True), ("deny", False)])
def test_a_request_beyond_the_deadline_is_answered_by_the_policy(
    on_timeout: Literal["allow", "deny"], allowed: bool
) -> None:
    async def scenario(client: TestClient[Any, Any], pool: JudgingPool) -> None:
        before = {worker.pid for worker in pool._workers}
        for pid in before:
            os.kill(pid, signal.SIGSTOP)
        begun = time.monotonic()
        response = await answered(client, review(deployment(WRONG)), "5s")
        assert time.monotonic() - begun < 5
        assert response["allowed"] is allowed
        assert "not judged in time" in json.dumps(response)

    play(scenario, on_timeout)


def test_slow_requests_delay_no_other() -> None:
    """More slow requests than there are processes; each ordinary one is judged long before the slow ones end."""

    async def scenario(client: TestClient[Any, Any], pool: JudgingPool) -> None:
        heavy = [asyncio.create_task(answered(client, slow(), "60s")) for _ in range(ACCEPTING + SLOW + 1)]
        await asyncio.sleep(0.5)
        for _ in range(8):
            assert (await answered(client, review(deployment(WRONG)), "50s"))["status"]["code"] == 403
        assert not all(task.done() for task in heavy)
        for task in heavy:
            task.cancel()
        await asyncio.gather(*heavy, return_exceptions=True)

    play(scenario)


@pytest.mark.parametrize("namespaces", [1, 100])
def test_slow_requests_of_one_user_delay_no_other_user(namespaces: int) -> None:
    """A hundred slow requests would take more than all of the time that the ordinary ones have."""

    async def scenario(client: TestClient[Any, Any], _: JudgingPool) -> None:
        heavy = [slow(5_000, f"attacker{number % namespaces}", "mallory") for number in range(100)]
        attack = [asyncio.create_task(answered(client, each, "30s")) for each in heavy]
        await asyncio.sleep(0.5)
        for _ in range(4):
            assert (await answered(client, review(deployment(WRONG)), "10s"))["status"]["code"] == 403
        assert sum(task.done() for task in attack) < len(attack) // 2
        for task in attack:
            task.cancel()
        await asyncio.gather(*attack, return_exceptions=True)

    play(scenario)


def test_every_process_is_warm_before_the_first_request_and_waiting_does_not_make_a_request_slow() -> None:
    """On a busy machine a request waits for a processor, and a new process would make it busier."""

    async def scenario(client: TestClient[Any, Any], pool: JudgingPool) -> None:
        assert len(pool._accepting._idle) == ACCEPTING
        before = {worker.pid for worker in pool._workers}
        for pid in before:
            os.kill(pid, signal.SIGSTOP)
        asked = asyncio.create_task(answered(client, review(deployment(WRONG)), "30s"))
        await asyncio.sleep(0.5)
        for pid in before:
            os.kill(pid, signal.SIGCONT)
        assert (await asked)["status"]["code"] == 403
        assert {worker.pid for worker in pool._workers} == before

    play(scenario)


def test_processes_that_end_or_hang_are_replaced() -> None:
    async def scenario(client: TestClient[Any, Any], pool: JudgingPool) -> None:
        for signalled in (signal.SIGKILL, signal.SIGSTOP):
            for pid in [worker.pid for worker in pool._workers]:
                os.kill(pid, signalled)
            async with asyncio.timeout(60):
                while (await answered(client, review(deployment(WRONG)), "1s"))["status"]["code"] != 403:
                    await asyncio.sleep(0.1)

    play(scenario)


@pytest.mark.parametrize(
    ("data", "status"),
    [(b"{", 400), (b'{"apiVersion": ' + b"[" * 100_000, 400), (b"{}", 400), (b" " * (MOST + 1), 413)],
    ids=["cut off", "deep", "no review", "too large"],
)
def test_malformed_bodies_are_the_clients_error(data: bytes, status: int) -> None:
    async def scenario(client: TestClient[Any, Any], _: JudgingPool) -> None:
        async with client.post("/validate", data=io.BytesIO(data)) as answer:
            assert answer.status == status

    play(scenario)


BEGINNING = b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"7-a","object":'


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (b"[" * 1_000 + b"]" * 1_000, "nested too deeply"),
        (b'"' + b"\\u003c" * (MOST // 6) + b'"', "larger than 8 MiB"),
    ],
    ids=["deep", "large"],
)
@pytest.mark.parametrize(("on_timeout", "allowed"), [("allow", True), ("deny", False)])
def test_an_object_that_cannot_be_read_is_answered_by_the_policy(
    made: bytes, why: str, on_timeout: Literal["allow", "deny"], allowed: bool
) -> None:
    """An API server takes another status for a failed call, which failurePolicy: Ignore lets in."""

    async def scenario(client: TestClient[Any, Any], _: JudgingPool) -> None:
        response = await answered(client, BEGINNING + made + b"}}")
        assert (response["uid"], response["allowed"]) == ("7-a", allowed)
        assert why in json.dumps(response)

    play(scenario, on_timeout)


def test_a_review_that_arrives_late_is_answered_by_the_policy() -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield BEGINNING
        while True:
            await asyncio.sleep(0.05)
            yield b" "

    async def scenario(client: TestClient[Any, Any], _: JudgingPool) -> None:
        async with client.post("/validate?timeout=500ms", data=endless()) as answer:
            assert (await answer.json())["response"]["uid"] == "7-a"

    play(scenario)


@pytest.mark.parametrize("data", [b'{"request":{"object":' + BEGINNING, BEGINNING.replace(b"7-a", b"")])
def test_a_uid_elsewhere_is_not_the_reviews(data: bytes) -> None:
    async def scenario(client: TestClient[Any, Any], _: JudgingPool) -> None:
        async with client.post("/validate", data=io.BytesIO(data + b"[" * 1_000)) as answer:
            assert answer.status == 400

    play(scenario)
