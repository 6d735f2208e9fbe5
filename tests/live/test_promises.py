"""Promises beside the real controllers and kube-scheduler: a zone's nodes fail, and no fewer pods are left than proved.

The promises are read from the manifests, before any pod exists. Half of the workloads are rolled out once before the
failure. ``PROMISED_WORKLOADS=50 make live ARGS=tests/live/test_promises.py`` plays fifty, ``PROMISED_SEED`` others.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.live.conftest import ControlPlane
from tests.live.drill_scenarios import Scenario, scenario
from tests.live.kubelets import Kubelets
from tests.live.scenarios import ZONE
from tests.live.test_drills import CONTROLLERS, FAILING, GRACE, act, controllers, create, read, settled
from topospread import load
from topospread.answers.promise_show import promise_show
from topospread.drill.steps import Fail

Json = dict[str, Any]
COUNT = int(os.environ.get("PROMISED_WORKLOADS", "8"))
SEED = int(os.environ.get("PROMISED_SEED", "31"))


def promised(items: list[Json], file: Path) -> dict[tuple[str, str], int]:
    """Return what the loss of a zone leaves of each workload, by kind and name: proved, or the least that may be."""
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    shown = promise_show(load(str(file)), states=2_000, seconds=5.0)
    return {
        (each.kind, each.name): event.leaves.least
        for each in shown.workloads
        for event in each.events
        if event.when == "zone-loss"
    }


def left(one: Scenario, items: list[Json], name: str) -> int:
    """Return the pods of a workload that are ready on nodes outside the zone that failed."""
    assert isinstance(one.step, Fail)
    lost = {each["metadata"]["name"] for each in one.nodes if each["metadata"]["labels"][ZONE] == one.step.nodes.value}
    return sum(
        each["metadata"]["labels"]["app"] == name
        and each["spec"].get("nodeName", "") not in {"", *lost}
        and any(told["type"] == "Ready" and told["status"] == "True" for told in each["status"].get("conditions", ()))
        for each in items
        if each["kind"] == "Pod" and not each["metadata"].get("deletionTimestamp")
    )


def broken(one: Scenario, items: list[Json], least: dict[tuple[str, str], int]) -> Iterator[str]:
    """Yield the promises that the pods that are left do not keep."""
    for (kind, name), number in least.items():
        found = left(one, items, name)
        if found < number:
            yield f"{one.name} {one.step}: {found} of {kind}/{name} are left, {number} were promised"


def test_the_loss_of_a_zone_leaves_as_many_as_promised(own_plane: ControlPlane, tmp_path: Path) -> None:
    draw = random.Random(SEED)
    scenarios = [scenario(draw, "fail-zone", number) for number in range(COUNT)]
    least = {one.name: promised(one.objects, tmp_path / f"{one.name}.json") for one in scenarios}
    kubelets = Kubelets(own_plane.kubeconfig)
    with kubelets.at_work():
        create(own_plane, [item for one in scenarios for item in one.objects])
        kubelets.nodes = {each["metadata"]["name"] for one in scenarios for each in one.nodes}
        with controllers(own_plane, tmp_path, (*CONTROLLERS, *FAILING)):
            settled(own_plane)
            for one in scenarios[::2]:
                own_plane.kubectl("rollout", "restart", "-n", one.name, "deployment/web")
            settled(own_plane)
            there = read(own_plane)
            for one in scenarios:
                act(own_plane, kubelets, one)
            settled(own_plane, least=GRACE + 42)
            after = read(own_plane)
    wrong = [
        f"{when}: {each}"
        for one in scenarios
        for when, items in (("at once", there[one.name]), ("in the end", after[one.name]))
        for each in broken(one, items, least[one.name])
    ]
    promises = [number for numbers in least.values() for number in numbers.values()]
    print(f"{len(promises)} workloads, {sum(map(bool, promises))} with a promise; pods promised: {sum(promises)}")
    assert wrong == []
    assert any(promises)
