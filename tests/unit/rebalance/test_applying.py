"""Plans carried out in a cluster: what is asked of the API server, what is waited for, and what is a surprise."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import pytest

from topospread.answers.rebalance import rebalance_answer
from topospread.live.api_error import ApiError
from topospread.live.client import ApiClient
from topospread.rebalance import applying
from topospread.rebalance.applying import apply_moves
from topospread.rebalance.result import Applied, AppliedMove, ConstraintChange, PodMove, Rebalance

Json = dict[str, Any]
KEY = "zone"
READY = [{"type": "Ready", "status": "True"}]


def pod(name: str, node: str = "", conditions: list[Json] | None = None, uid: str = "") -> Json:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "rs", "controller": True}
    metadata = {"name": name, "namespace": "shop", "uid": uid or f"uid-{name}", "ownerReferences": [owner]}
    spec = {"nodeName": node} if node else {}
    return {"metadata": metadata, "spec": spec, "status": {"conditions": conditions or []}}


class Server:
    """Has pods, and does something when one is evicted."""

    def __init__(self, pods: list[Json], evicted: Callable[[Server, str], None]) -> None:
        self.pods = {each["metadata"]["name"]: each for each in pods}
        self.asked: list[Json] = []
        self.refusals: list[ApiError] = []
        self._evicted = evicted

    async def list_pages(self, path: str) -> AsyncIterator[bytes]:
        yield json.dumps({"items": list(self.pods.values())}).encode()

    async def request(self, method: str, path: str, *, body: Json) -> bytes:
        assert (method, path) == ("POST", f"/api/v1/namespaces/shop/pods/{body['metadata']['name']}/eviction")
        self.asked.append(body)
        if self.refusals:
            raise self.refusals.pop(0)
        self._evicted(self, body["metadata"]["name"])
        return b"{}"


def replaced_on(node: str, conditions: list[Json] | None = None) -> Callable[[Server, str], None]:
    def evicted(server: Server, name: str) -> None:
        del server.pods[name]
        server.pods[f"{name}x"] = pod(f"{name}x", node, READY if conditions is None else conditions)

    return evicted


def move(name: str, uid: str = "", created: str = "") -> PodMove:
    return PodMove("shop", name, "ReplicaSet/web", "a1", created or f"{name}-new", "b1", {KEY: ("a", "b")}, uid)


def plan_of(*moves: PodMove, **before: int) -> Rebalance:
    """A plan for a hard constraint with so many pods in each domain."""
    change = ConstraintChange("ReplicaSet", "shop", "web", KEY, "DoNotSchedule", 1, 1, before, {}, 9, 0, len(moves))
    return Rebalance(3, moves, (change,) if before else (), (), len(moves), "counts")


def carried_out(server: Server, *moves: PodMove, patience: float = 0.05, **before: int) -> Applied:
    told: list[AppliedMove] = []
    client = cast("ApiClient", server)
    zones = lambda node, key: node[:1]  # noqa: E731 - as nodes are named here
    found = asyncio.run(apply_moves(client, plan_of(*moves, **before), zones, patience, told.append))
    assert told == found.done
    return found


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applying, "_EVERY", 0.01)


def test_pods_are_evicted_by_their_uid_one_after_the_other() -> None:
    server = Server([pod("one", "a1"), pod("two", "a1")], replaced_on("b2"))
    found = carried_out(server, move("one", "uid-one"), move("two"))
    assert [(each.created, each.node) for each in found.done] == [("onex", "b2"), ("twox", "b2")]
    assert found.surprise == ""
    assert [each["deleteOptions"] for each in server.asked] == [
        {"preconditions": {"uid": "uid-one"}},
        {"preconditions": {"uid": "uid-two"}},
    ]


def test_a_pod_that_came_by_an_earlier_move_is_known_by_its_real_name() -> None:
    server = Server([pod("one", "a1")], replaced_on("b1"))
    found = carried_out(server, move("one", created="made-up"), move("made-up"))
    assert [each["metadata"]["name"] for each in server.asked] == ["one", "onex"]
    assert found.surprise == ""


def test_a_budget_that_allows_it_later_is_waited_for() -> None:
    server = Server([pod("one", "a1")], replaced_on("b1"))
    server.refusals = [ApiError(429, "TooManyRequests", "Cannot evict pod")]
    assert carried_out(server, move("one"), patience=2).surprise == ""
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("there", "evicted", "said"),
    [
        ([], replaced_on("b1"), "shop/one: it no longer exists"),
        ([pod("one", "c1")], replaced_on("b1"), "it is not the pod that was on a1 when the plan was made"),
        ([pod("one", "a1", uid="other")], replaced_on("b1"), "it is not the pod that was on a1"),
        (
            [pod("one", "a1")],
            replaced_on("c1"),
            "its replacement onex is on c1: zone is c there",
        ),
        ([pod("one", "a1")], replaced_on(""), "it has no replacement with a node within 0.05 seconds"),
        (
            [pod("one", "a1")],
            replaced_on("", [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]),
            "its replacement onex stays pending: Unschedulable",
        ),
        ([pod("one", "a1")], replaced_on("b1", []), "onex is not ready, or the old pod not gone, within 0.05 seconds"),
    ],
)
def test_the_first_surprise_ends_it(there: list[Json], evicted: Callable[[Server, str], None], said: str) -> None:
    server = Server([*there, pod("two", "a1")], evicted)
    found = carried_out(server, move("one", "uid-one"), move("two"))
    assert said in found.surprise
    assert found.done == []
    assert "two" not in [each["metadata"]["name"] for each in server.asked]


def test_an_eviction_that_is_refused_ends_it() -> None:
    server = Server([pod("one", "a1")], replaced_on("b1"))
    server.refusals = [ApiError(409, "Conflict", "the UID does not match")]
    assert carried_out(server, move("one")).surprise == "shop/one: 409 Conflict: the UID does not match"


def test_another_domain_that_helps_as_much_is_no_surprise() -> None:
    server = Server([pod("one", "a1"), pod("two", "a1")], replaced_on("c1"))
    assert carried_out(server, move("one"), a=3, b=1, c=1).surprise == ""
    said = carried_out(Server([pod("one", "a1")], replaced_on("c1")), move("one"), a=3, b=1, c=3).surprise
    assert "zone is c there, which helps less than b" in said


def test_the_report_says_how_many_were_carried_out() -> None:
    plan, done = plan_of(move("one"), move("two")), [AppliedMove(move("one"), "onex", "b1")]
    whole = rebalance_answer(plan, Applied(done))
    assert (whole.verdict, whole.says) == ("yes", "1 of 2 evictions carried out")
    partial = rebalance_answer(plan, Applied(done, begun="shop/two", partial="ended in eviction 2 of 2"))
    assert (partial.verdict, partial.says) == ("no", "1 of 2 evictions carried out; ended in eviction 2 of 2")
    assert "note: the eviction of shop/two was requested, but its end is unknown\n" in partial.text()
    stopped = rebalance_answer(plan, Applied([], "shop/one: it no longer exists"))
    assert stopped.text().startswith(
        "no: 0 of 2 evictions carried out; stopped: the result differs from the plan\nwhy: shop/one: it"
    )
