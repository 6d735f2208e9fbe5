"""Random histories on two API servers, kube-scheduler on one and ours on the other: the same has to come of them.

    python -m tests.live.side_by_side [--count N] [--seed N] [--wider] [--pairs N] [--programs DIR] [--keep DIR]

After every step the two are to agree on every pod: its node, its condition ``PodScheduled``, the node it is nominated
for, whether it is being deleted; at the end on the notes of all events and on how many attempts there were. Every
binding of ours is judged by kube-scheduler's own plugins at its state (`judged_bindings`). Where the two take different
nodes that are equally good there, the history ends: of equals nothing is promised. Events that meet an attempt may be a
moment earlier or later: a history that differs is played once more, and then calmly, each object a step of its own. It
counts as equal where it is equal then, and is told. Seeds are printed: ``--seed N --count 1`` repeats a history.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.live.conftest import HERE
from tests.live.histories import NAMESPACES, History, history
from tests.live.judged_bindings import Binding, bindings, judged, key_of
from tests.live.lockstep import KINDS, Side, side
from tests.live.wider_histories import wider_history
from topospread.live.run_or_terminate import run_or_terminate

Json = dict[str, Any]
ROOT = HERE.parent.parent
_SETTLING = 0.35
"""Seconds in which what a step does reaches both schedulers."""
_BETWEEN = 0.15
_BACKOFF = 1.1
"""After so long no pod backs off: which of several is tried first is then a matter of priority and time alone."""
_PATIENCE = 15.0


@dataclass
class Played:
    """What came of a history.

    Attributes:
        differences: in what the two differ; none where they agree.
        tied: they took different nodes that are equally good, at this step.
    """

    seed: int
    steps: int = 0
    differences: list[str] = field(default_factory=list)
    tied: str = ""
    bindings: list[Binding] = field(default_factory=list)
    pods: Counter[str] = field(default_factory=Counter)


def told(pod: Json) -> Json:
    """What the two have to agree on of a pod."""
    conditions = pod["status"].get("conditions") or []
    seen: Json = {
        "node": pod["spec"].get("nodeName", ""),
        "nominated": pod["status"].get("nominatedNodeName", ""),
        "goes": bool(pod["metadata"].get("deletionTimestamp")),
    }
    for each in conditions:
        if each["type"] in ("PodScheduled", "DisruptionTarget"):
            seen[each["type"]] = [each["status"], each.get("reason", ""), each.get("message", "")]
    return seen


async def pods_told(of: Side) -> dict[str, Json]:
    """Every pod by its name."""
    return {key_of(each): told(each) for each in await of.items(KINDS["pods"])}


def differences(ours: dict[str, Json], theirs: dict[str, Json]) -> list[str]:
    """A line for each pod that differs."""
    return [
        f"{key}: ours {ours.get(key)}, kube-scheduler's {theirs.get(key)}"
        for key in sorted(ours.keys() | theirs.keys())
        if ours.get(key) != theirs.get(key)
    ]


async def notes(of: Side) -> dict[str, list[str]]:
    """The notes of events by pod, each once, in their order; uids as names.

    Series that are over are told minutes later, also of pods of an earlier history: only those of this one count.
    """
    found: dict[str, list[str]] = {}
    listed = [
        each for name in NAMESPACES for each in await of.items(f"/apis/events.k8s.io/v1/namespaces/{name}/events")
    ]
    meant = [each for each in listed if each["regarding"]["uid"] in of.pods_made]
    for each in sorted(meant, key=lambda event: event["eventTime"] or ""):
        related = each.get("related") or {"name": "-"}
        words = f"{each['type']} {each['reason']} {each['action']} of {related['name']}: {each['note']}"
        for uid, name in of.pods_made.items():
            words = words.replace(uid, name)
        said = found.setdefault(f"{each['regarding']['namespace']}/{each['regarding']['name']}", [])
        if words not in said:
            said.append(words)
    return found


class Pair:
    """Ours and kube-scheduler, each on its API server."""

    def __init__(self, ours: Side, theirs: Side) -> None:
        self._sides = (ours, theirs)
        self._ours, self._theirs = ours, theirs

    async def play(self, drawn: History) -> Played:
        """Play a history up to its end, the first difference or the first tie."""
        played = Played(drawn.seed)
        await asyncio.gather(*[each.wipe() for each in self._sides])
        await self._settled()
        before = await asyncio.gather(*[each.attempts() for each in self._sides])
        await asyncio.gather(*[each.prepare(drawn.objects) for each in self._sides])
        await asyncio.sleep(_SETTLING)
        for number, step in enumerate(drawn.steps):
            state = await self._ours.state()
            if sum(1 for each in state["pods"] if not each["spec"].get("nodeName")) > 1:
                await asyncio.sleep(_BACKOFF)
            self._ours.new_log()
            changed, _ = await asyncio.gather(*[each.play(step) for each in self._sides])
            await asyncio.sleep(_SETTLING)
            found = await self._settled()
            after = await self._ours.items(KINDS["pods"])
            gone = step.path if step.delete is not None else ""
            new = bindings(drawn.seed, state, changed, after, self._ours.new_log(), gone=gone)
            played.bindings += new
            played.steps += 1
            if found:
                where = f"step {number} ({step.words})"
                if await self._tied(new):
                    played.tied = where
                else:
                    played.differences = [f"{where}: {each}" for each in found]
                return played
        await self._compare_ends(played, before)
        return played

    async def _settled(self) -> list[str]:
        """Wait until both have nothing to do and agree, or have nothing to do for long; in what they differ then."""
        until, last = time.monotonic() + _PATIENCE, None
        while True:
            acts = [act() for each in self._sides for act in (each.control_volumes, each.start_pods)]
            acted = any(await asyncio.gather(*acts))
            idle = all(await asyncio.gather(*[each.is_idle() for each in self._sides]))
            ours, theirs = await asyncio.gather(*[pods_told(each) for each in self._sides])
            found = differences(ours, theirs)
            if not acted and idle and not found and last == ours:
                return []
            if time.monotonic() > until:
                return found or ["the schedulers did not come to rest"]
            last = ours
            await asyncio.sleep(_BETWEEN)

    async def _tied(self, new: list[Binding]) -> bool:
        """Whether the first pod that has another node there has one that is as good."""
        theirs = await pods_told(self._theirs)
        for each in new:
            node = theirs.get(each.pod, {}).get("node", "")
            if node == each.node:
                continue
            if not node:
                return False
            with tempfile.TemporaryDirectory() as folder:
                other = Binding(each.history, each.pod, node, "", each.cases)
                return not await asyncio.to_thread(judged, [each, other], Path(folder))
        return False

    async def _compare_ends(self, played: Played, before: list[dict[str, float]]) -> None:
        until = time.monotonic() + _PATIENCE
        while True:
            said = await asyncio.gather(*[notes(each) for each in self._sides])
            attempts = [await each.attempts() for each in self._sides]
            counts = [
                {key: now[key] - then.get(key, 0) for key in now} for now, then in zip(attempts, before, strict=True)
            ]
            found = [
                f"events of {key}: ours {said[0].get(key)}, kube-scheduler's {said[1].get(key)}"
                for key in sorted(said[0].keys() | said[1].keys())
                if said[0].get(key) != said[1].get(key)
            ]
            if _counted(counts[0]) != _counted(counts[1]):
                found.append(f"attempts: ours {_counted(counts[0])}, kube-scheduler's {_counted(counts[1])}")
            if not found or time.monotonic() > until:
                break
            await asyncio.sleep(_BETWEEN)
        played.differences = [f"at the end: {each}" for each in found]
        for each in (await pods_told(self._ours)).values():
            played.pods["bound" if each["node"] else "nominated" if each["nominated"] else "pending"] += 1


def _counted(attempts: dict[str, float]) -> dict[str, float]:
    return {result: count for result, count in sorted(attempts.items()) if count}


class Run:
    """Plays histories on pairs at the same time, and keeps what came of them."""

    def __init__(self, programs: Path, folder: Path, tell: Callable[[int], History] = history) -> None:
        self._programs = programs
        self._folder = folder
        self._history = tell
        self.played: list[Played] = []
        self.again: list[Played] = []

    async def play(self, seeds: list[int], pairs: int) -> None:
        """Play the histories of these seeds."""
        left = iter(seeds)
        async with AsyncExitStack() as stack:
            made = [await self._pair(stack, self._folder / str(number)) for number in range(pairs)]
            await asyncio.gather(*[self._work(each, left) for each in made])

    async def _pair(self, stack: AsyncExitStack, folder: Path) -> Pair:
        folder.mkdir(parents=True)
        ours = await stack.enter_async_context(side("topospread", self._programs, folder))
        return Pair(ours, await stack.enter_async_context(side("kube-scheduler", self._programs, folder)))

    async def _work(self, pair: Pair, left: Iterator[int]) -> None:
        for seed in left:
            drawn = self._history(seed)
            played = await pair.play(drawn)
            for once_more in (drawn, drawn.calm()):
                if played.differences:
                    self.again.append(played)
                    played = await pair.play(once_more)
            self.played.append(played)
            _tell(played, self.tries[seed])

    @property
    def tries(self) -> Counter[int]:
        """How often a history differed before it was played again, by its seed."""
        return Counter(each.seed for each in self.again)

    def wrong(self) -> list[str]:
        """All that is not as it should be."""
        found = [f"history {each.seed}: {line}" for each in self.played for line in each.differences]
        return found + judged([each for one in self.played for each in one.bindings], self._folder)

    def summary(self) -> str:
        """What came of all, in two lines."""
        equal = [each for each in self.played if not each.differences and not each.tied]
        tries = self.tries
        again, calmly = (sum(tries[each.seed] == number for each in equal) for number in (1, 2))
        tied = sum(1 for each in self.played if each.tied)
        pods = sum((each.pods for each in self.played), Counter[str]())
        differ = len(self.played) - len(equal) - tied
        return (
            f"{len(self.played)} histories: {len(equal)} equal ({again} of them when played again, {calmly} when "
            f"played calmly), {tied} ended at nodes that are equally good, {differ} differ\n"
            f"{sum(each.steps for each in self.played)} steps, {sum(len(each.bindings) for each in self.played)} "
            f"bindings judged; at the ends {pods['bound']} pods bound, {pods['pending']} pending, "
            f"{pods['nominated']} nominated"
        )


def _tell(played: Played, again: int) -> None:
    what = "differs" if played.differences else f"tie at {played.tied}" if played.tied else "equal"
    print(f"{played.seed}: {what}{('', ' (played again)', ' (played calmly)')[again]}", flush=True)
    for line in played.differences:
        print(f"    {line}", flush=True)


def main() -> None:
    """Play, and say what differs; exit code 1 where something does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=None, help="of the first history; the next ones follow")
    parser.add_argument("--wider", action="store_true", help="histories of more kinds of things (wider_histories.py)")
    parser.add_argument("--pairs", type=int, default=2, help="so many pairs of API servers at a time")
    parser.add_argument("--programs", type=Path, default=ROOT / "build" / "live")
    parser.add_argument("--keep", type=Path, default=None, help="a folder for logs, cases and answers")
    given = parser.parse_args()
    first = random.randrange(1 << 30) if given.seed is None else given.seed
    print(f"histories from seed {first} on", flush=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was started here is ended
    with tempfile.TemporaryDirectory() as made:
        run = Run(given.programs, given.keep or Path(made), wider_history if given.wider else history)
        run_or_terminate(lambda: run.play(list(range(first, first + given.count)), given.pairs))
        wrong = run.wrong()
    for each in run.again:
        print(f"history {each.seed} before it was played again:", *each.differences, sep="\n    ")
    print(*wrong, run.summary(), sep="\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
