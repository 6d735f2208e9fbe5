"""What ours and kube-scheduler show at ``/metrics`` after the same pods: the same families, labels and buckets."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from tests.live.lockstep import KINDS, Side, side
from tests.live.running import eventually, node, pod

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
NOT_HERE = {
    "scheduler_batch_attempts",
    "scheduler_batch_cache_flushed",
    "scheduler_get_node_hint_duration_seconds",
    "scheduler_plugin_evaluation",
    "scheduler_store_schedule_results_duration_seconds",
}
"""Families of kube-scheduler that ours has not (docs/explanation/live.md)."""
TIMED = [
    f'{family}_count{{.*extension_point="{point}"'
    for family in (
        "scheduler_framework_extension_point_duration_seconds",
        "scheduler_plugin_execution_duration_seconds",
    )
    for point in ("PreFilter", "Filter", "PostFilter", "Score", "Bind")
] + ["scheduler_queueing_hint_execution_duration_seconds_count{"]
"""Series that both have in the end, as they stand in a scrape."""
_HELP = re.compile(r"^# HELP (\S+) (.*)$", re.MULTILINE)


@dataclass
class Family:
    """One family of a scrape."""

    kind: str
    help: str
    labels: set[str] = field(default_factory=set)
    buckets: set[str] = field(default_factory=set)


def families(text: str) -> dict[str, Family]:
    """Those that have series, by name."""
    found: dict[str, Family] = {}
    for each in text_string_to_metric_families(text):
        if not each.name.startswith(("scheduler_", "leader_election_", "rest_client_requests")) or not each.samples:
            continue
        family = found[each.name] = Family(each.type, each.documentation)
        for sample in each.samples:
            family.labels |= sample.labels.keys() - {"le"}
            family.buckets |= {sample.labels["le"]} if "le" in sample.labels else set()
    return found


def soft() -> Json:
    return {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }


async def play(on: Side) -> None:
    """Pods that are bound, one that fits nowhere, one that evicts another, one with a gate."""
    important = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1000}
    await on.create({**important, "metadata": {"name": "important"}})
    for i in range(3):
        await on.create(node(f"node-{i}", zone=f"zone-{i}", cpu="2"))
    for i in range(90):
        await on.create(pod(f"web-{i}", "10m", {"app": "web"}, topologySpreadConstraints=[soft()]))
    for i in range(3):
        await on.create(pod(f"large-{i}", "1600m"))
    await on.create(pod("gated", schedulingGates=[{"name": "example.com/wait"}]))
    await on.create(pod("huge", "64"))
    await eventually(lambda: bound(on, 93))
    await on.create(pod("urgent", "1600m", priorityClassName="important"))
    await eventually(lambda: bound(on, 93))
    # Plugins are timed in one of ten attempts, and kube-scheduler forgets times when there are many in a second.
    tries = count()
    await eventually(lambda: is_timed_after(on, next(tries)))
    await eventually(on.is_idle)


async def is_timed_after(on: Side, number: int) -> bool:
    """Try a pod that fits and one that does not, let one go; whether extension points, plugins and hints were timed."""
    await on.create(pod(f"small-{number}", "1m", topologySpreadConstraints=[soft()]))
    await on.create(pod(f"huge-{number}", "64"))
    await asyncio.sleep(0.1)
    if number:  # those that wait for room are asked whether they want it
        await on.delete(f"/api/v1/namespaces/default/pods/small-{number - 1}")
    text = await asyncio.to_thread(on.metrics)
    return all(re.search(f"^{each}", text, re.MULTILINE) for each in TIMED)


async def bound(on: Side, number: int) -> bool:
    pods = await on.items(KINDS["pods"])
    urgent = [each for each in pods if each["metadata"]["name"] == "urgent"]
    return sum(1 for each in pods if each["spec"].get("nodeName")) == number and all(
        each["spec"].get("nodeName") for each in urgent
    )


async def scraped(programs: Path, folder: Path) -> tuple[str, str]:
    texts = []
    for which in ("topospread", "kube-scheduler"):
        async with side(which, programs, folder) as on:
            await play(on)
            texts.append(await asyncio.to_thread(on.metrics))
    ours, theirs = texts
    return ours, theirs


def test_metrics_are_those_of_kube_scheduler(kubectl: Path, tmp_path: Path) -> None:
    text, real = asyncio.run(scraped(kubectl, tmp_path))
    ours, theirs = families(text), families(real)
    for name in sorted(ours.keys() & theirs.keys()):
        assert (ours[name].kind, ours[name].help) == (theirs[name].kind, theirs[name].help), name
        assert ours[name].labels == theirs[name].labels, name
        assert numbers(ours[name].buckets) == numbers(theirs[name].buckets), name
    assert ours.keys() - theirs.keys() == set()
    assert theirs.keys() - ours.keys() <= NOT_HERE
    assert events_handled(text) <= events_handled(real)
    assert 'topospread_skew{namespace="default",topology_key="' + ZONE in text


def events_handled(text: str) -> set[str]:
    """What the events are called that were handled."""
    return set(re.findall(r'^scheduler_event_handling_duration_seconds_count\{event="([^"]*)"', text, re.MULTILINE))


def numbers(buckets: Iterable[str]) -> list[float]:
    return sorted(map(float, buckets))
