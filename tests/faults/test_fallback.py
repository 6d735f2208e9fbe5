"""Hard constraints are soft while a zone is lost: never before their time, and hard again when the zone is back."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from tests.faults.mini_api_server import MiniApiServer
from tests.faults.scripts import SCRIPTS, Script
from tests.faults.test_faults import PATIENCE, ZONE, Scene, eventually, node, played, web

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

Json = dict[str, Any]
AFTER = 1.5
UNREACHABLE = [{"key": "node.kubernetes.io/unreachable", "effect": each} for each in ("NoSchedule", "NoExecute")]
NAMES = (
    "no fault",
    "500 on half of the bindings",
    "503 on all bindings",
    "connections refused",
    "lost answers of half of the bindings",
    "1 s delay of everything",
    "watches cut again and again",
    "watches cut and answered with 410",
)
FAULTS = [each for each in SCRIPTS if each.name in NAMES]


async def set_zone_a(made: Scene, *, lost: bool) -> float:
    """Taint the nodes of zone a, or remove the taints, and wait until the scheduler knows; return when that was."""
    for name in ("node-0", "node-3"):
        there = node(name, "a")
        made.api.put("nodes", there | {"spec": {"taints": UNREACHABLE}} if lost else there)
    when = asyncio.get_running_loop().time()
    nodes = made.scheduler.cluster.nodes.nodes
    await eventually(lambda: sum(each is not None and bool(each.spec.taints) for each in nodes) == 2 * lost)
    return when


def opted_in(name: str, fallback: str | None = f"after={AFTER}s") -> Json:
    made = web(name)
    if fallback is not None:
        made["metadata"]["annotations"] = {"topospread.dev/fallback": fallback}
    return made


def zones(api: MiniApiServer) -> list[int]:
    """Pods of zones a, b and c."""
    found: Counter[str] = Counter()
    for each in api.objects["pods"].values():
        if each["spec"].get("nodeName"):
            found[api.objects["nodes"]["", each["spec"]["nodeName"]]["metadata"]["labels"][ZONE]] += 1
    return [found[zone] for zone in "abc"]


async def spread_out(made: Scene, **fallback: str | None) -> None:
    """Two pods in each zone, and one more in each that is not lost."""
    for number in range(6):
        made.api.put("pods", opted_in(f"web-{number}", **fallback))
    await eventually(made.all_bound)
    assert zones(made.api) == [2, 2, 2]


@pytest.mark.parametrize("script", FAULTS, ids=[each.name for each in FAULTS])
def test_never_before_its_time_and_hard_again_when_the_zone_is_back(script: Script) -> None:
    async def act(made: Scene) -> None:
        api = made.api
        await spread_out(made)
        fault = asyncio.create_task(script.play(made.proxy, 1.0))
        await asyncio.sleep(0)
        lost = await set_zone_a(made, lost=True)
        for number in range(4):
            api.put("pods", opted_in(f"more-{number}"))
        # Two of them keep maxSkew 1. The others do not, and are bound when the zone has been lost for long enough.
        while sum(zones(api)) <= 8:
            await asyncio.sleep(0.01)
            assert asyncio.get_running_loop().time() < lost + PATIENCE, "the constraints stayed hard"
        assert asyncio.get_running_loop().time() - lost >= AFTER
        await fault
        await eventually(made.all_bound)
        assert zones(api) == [2, 4, 4]
        await eventually(lambda: len(api.events("SpreadFallback")) >= 2)
        told = api.events("SpreadFallback")[0]["note"]
        assert f"{ZONE}=a since 20" in told
        await set_zone_a(made, lost=False)
        for number in range(3):
            api.put("pods", opted_in(f"after-{number}"))
        await eventually(made.all_bound)
        assert zones(api) == [5, 4, 4]

    played(act)


def test_without_the_annotation_constraints_stay_hard() -> None:
    async def act(made: Scene) -> None:
        await spread_out(made, fallback=None)
        await set_zone_a(made, lost=True)
        # A pod that opts in beside them: when it is bound, the others would have been, too.
        for number in range(4):
            made.api.put("pods", opted_in(f"more-{number}", None))
        await eventually(lambda: sum(zones(made.api)) == 8)
        made.api.put("pods", opted_in("soft"))
        await eventually(lambda: made.api.node_of("soft") != "")
        assert sum(zones(made.api)) == 9
        regarding = {each["regarding"]["name"] for each in made.api.events("SpreadFallback")}
        assert regarding <= {"soft"}

    played(act)


def test_a_zone_that_is_back_in_between_begins_the_time_anew() -> None:
    async def act(made: Scene) -> None:
        api = made.api
        await spread_out(made)
        await set_zone_a(made, lost=True)
        for number in range(3):
            api.put("pods", opted_in(f"more-{number}"))
        await eventually(lambda: sum(zones(api)) == 8)
        await asyncio.sleep(AFTER / 2)
        # One node is back, but has no room, so that the pod stays pending.
        full = node("node-0", "a", "100m")
        api.put("nodes", full)
        await asyncio.sleep(0.2)
        assert sum(zones(api)) == 8
        lost = asyncio.get_running_loop().time()
        api.put("nodes", full | {"spec": {"taints": UNREACHABLE}})
        while sum(zones(api)) == 8:
            await asyncio.sleep(0.01)
            assert asyncio.get_running_loop().time() < lost + PATIENCE
        assert asyncio.get_running_loop().time() - lost >= AFTER

    played(act)


def test_an_annotation_that_cannot_be_read_is_told_and_changes_nothing() -> None:
    async def act(made: Scene) -> None:
        await spread_out(made, fallback="5m")
        await set_zone_a(made, lost=True)
        for number in range(3):
            made.api.put("pods", opted_in(f"more-{number}", "5m"))
        await eventually(lambda: bool(made.api.events("InvalidSpreadFallback")))
        told = made.api.events("InvalidSpreadFallback")[0]
        assert (told["type"], told["note"]) == (
            "Warning",
            "topospread.dev/fallback: 5m: write after=DURATION, for example after=5m",
        )
        assert sum(zones(made.api)) == 8

    played(act)
