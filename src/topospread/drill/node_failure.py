"""Simulate NotReady nodes: taints added at a limited rate, then evictions when tolerations expire.

`workloads.node_lifecycle` and `workloads.taint_eviction` have the rules for times and rates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from math import inf

import msgspec

from topospread.config.versions import KubeVersion
from topospread.controllers.node_lifecycle import (
    UNREACHABLE_TAINTS,
    ZoneState,
    as_well,
    grace_seconds,
    no_execute,
    seconds_to_stay,
    taints_a_second,
    with_taints,
    zone_key,
    zone_state,
)
from topospread.simulation.run import Run

from .drill_state import DrillState
from .pods import FollowedPod

UNREACHABLE = "unreachable"
"""Reason of evictions from NotReady nodes."""
_NO_SCHEDULE, _NO_EXECUTE = UNREACHABLE_TAINTS
Zone = tuple[str, str]


class _Zones(msgspec.Struct):
    """The zones of a drill, with their NotReady nodes.

    Attributes:
        run: the simulation that this cache is for; applied manifests start a new one, maybe with other labels and
            taints.
        nodes: number of nodes.
        states: zone → its state and number of nodes.
        left: zone → NotReady nodes without the NoExecute taint, in reverse order of names.
    """

    run: Run
    nodes: int
    states: dict[Zone, tuple[ZoneState, int]]
    left: dict[Zone, list[str]]


class NodeFailures:
    """The node lifecycle and taint eviction controllers of a drill.

    Attributes:
        held_back: zones in which the controller adds no NoExecute taints, because too many nodes are NotReady.
    """

    def __init__(self, state: DrillState, version: KubeVersion, *, comparison_operators: bool = False) -> None:
        self.held_back: set[Zone] = set()
        self._state = state
        self._grace = grace_seconds(version)
        self._comparison_operators = comparison_operators
        self._noticed = set(state.down)
        self._next: dict[Zone, float] = {}
        self._zones: _Zones | None = None
        state.on_arrival.append(self._came)

    def begin(self) -> None:
        """Schedule evictions from nodes that already have NoExecute taints; tolerations count from now on.

        Source: pkg/controller/tainteviction/taint_eviction.go (``processPodOnNode``): a controller that starts counts
        from its own start, and a snapshot does not say since when it runs.
        """
        nodes = self._state.cluster.nodes.nodes
        tainted = [node.name for node in nodes if node is not None and no_execute(node)]
        self._let_leave(self._state.pods.on(tainted))

    def fail(self, names: Sequence[str]) -> None:
        """Make nodes NotReady."""
        new = [each for each in names if each not in self._state.down]
        if not new:
            return
        self._state.go_down(new)
        self._state.note("down", nodes=new)
        self._state.at(self._state.now + self._grace, partial(self._notice, new))

    def recover(self, names: Sequence[str]) -> None:
        """Make nodes Ready again."""
        state = self._state
        back = [each for each in names if each in state.down]
        self._noticed -= set(back)
        self._zones = None
        for name in back:
            state.change_node(as_well(state.node(name)))
            stays = bool(no_execute(state.node(name)))
            for pod in state.pods.on([name]):
                pod.leaves_at = pod.leaves_at if stays else None
        state.note("up", nodes=back)
        state.come_up(back)
        self._go_on()

    def _notice(self, names: Iterable[str]) -> None:
        state = self._state
        silent = [each for each in names if each in state.down and each not in self._noticed]
        if not silent:
            return
        self._noticed |= set(silent)
        self._zones = None
        for name in silent:
            state.change_node(with_taints(state.node(name), [_NO_SCHEDULE]))
        state.note("tainted", nodes=silent, detail=f"{_NO_SCHEDULE.key}:{_NO_SCHEDULE.effect}")
        self._go_on()

    def _go_on(self) -> None:
        """Schedule the next NoExecute taint in each zone that has an untainted NotReady node."""
        self.held_back = set()
        zones = self._zones_now()
        states, left = zones.states, zones.left
        if all(condition == "full" for condition, _ in states.values()):
            self._stop()
            self.held_back = set(states)
            return
        for zone in sorted(left, key=lambda zone: left[zone][-1]):
            condition, nodes = states[zone]
            rate = taints_a_second(condition, nodes)
            if not rate:
                self.held_back.add(zone)
            elif zone not in self._next or self._next[zone] <= self._state.now:
                self._taint(zone, left, rate)

    def _taint(self, zone: Zone, left: dict[Zone, list[str]], rate: float) -> None:
        """Taint the first node of a zone, and schedule the next."""
        name = left[zone].pop()
        if not left[zone]:
            del left[zone]
        state = self._state
        state.change_node(with_taints(state.node(name), [_NO_EXECUTE]))
        state.note("tainted", nodes=[name], detail=f"{_NO_EXECUTE.key}:{_NO_EXECUTE.effect}")
        self._let_leave(state.pods.on([name]))
        self._next[zone] = state.now + 1 / rate
        state.at(self._next[zone], self._go_on)

    def _stop(self) -> None:
        """Stop tainting: if every node is NotReady, the controller assumes its own connection is broken."""
        state = self._state
        self._zones = None
        for name in sorted(self._noticed):
            node = state.node(name)
            if _NO_EXECUTE in (node.spec.taints or ()):
                state.change_node(with_taints(as_well(node), [_NO_SCHEDULE]))
                for pod in state.pods.on([name]):
                    pod.leaves_at = None

    def _zones_now(self) -> _Zones:
        """Return the current zones. Cached until nodes are added, fail or recover."""
        state, known = self._state, self._zones
        nodes = state.cluster.nodes
        if known is None or known.run is not state.run or known.nodes != len(nodes):
            total = Counter(zone_key(node) for node in nodes.nodes if node is not None)
            silent = Counter(zone_key(state.node(name)) for name in self._noticed if name in nodes.row_of)
            left: dict[Zone, list[str]] = {}
            for name in sorted(self._noticed & state.down, reverse=True):
                node = state.node(name)
                if _NO_EXECUTE not in (node.spec.taints or ()):
                    left.setdefault(zone_key(node), []).append(name)
            states = {zone: (zone_state(silent[zone], number), number) for zone, number in total.items()}
            known = self._zones = _Zones(state.run, len(nodes), states, left)
        return known

    def _came(self, pod: FollowedPod) -> None:
        """Schedule the eviction of a placed pod that tolerates its node's taints only for a time."""
        if no_execute(self._state.node(pod.node)):
            self._let_leave([pod])

    def _let_leave(self, pods: Iterable[FollowedPod]) -> None:
        """Schedule evictions of pods on tainted nodes at the end of their toleration."""
        state = self._state
        times: set[tuple[str, float]] = set()
        for pod in pods:
            if pod.terminating:
                continue
            stays = seconds_to_stay(
                pod.pod.spec.tolerations or (),
                no_execute(state.node(pod.node)),
                comparison_operators=self._comparison_operators,
            )
            if stays < inf:
                pod.leaves_at = min(state.now + stays, pod.leaves_at or inf)
                times.add((pod.node, pod.leaves_at))
        for node, time in sorted(times):
            state.at(time, partial(self._evict, node, time))

    def _evict(self, node: str, time: float) -> None:
        state = self._state
        due = [each for each in state.pods.on([node]) if each.leaves_at == time and not each.terminating]
        turns = state.draws.turns(due)
        for number, turn in enumerate(turns):
            if number:
                state.settle()
            there = (each for each in turn if each.key in state.pods.by_key and not each.terminating)
            state.delete(there, UNREACHABLE if node in state.down else "tainted")
