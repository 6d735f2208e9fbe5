"""What happened in a step of a drill, a line each; where much happened, what is alike together over its time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from .layout import Layout
from .paragraphs import counted, hanging, in_order

if TYPE_CHECKING:
    from topospread.drills import Event, PodThere

_Together = tuple[float, float, list["Event"]]
"""Events that are alike, with the times of the first and the last."""

_MOST = 12
_COLUMN = 8


def event_lines(events: Sequence[Event], layout: Layout) -> Iterator[str]:
    """The events of a step, with their time."""
    shown: list[_Together] = [(each.at, each.at, [each]) for each in events]
    if not layout.wide and len(events) > _MOST:
        shown = list(_alike(events))
    times = [_range(first, last) for first, last, _ in shown]
    column = max([_COLUMN, *map(len, times)])
    for time, (_, _, alike) in zip(times, shown, strict=True):
        yield from hanging(f"  {time:<{column}}  ", _said(alike, layout), layout.width, column + 6)


def clock(seconds: float) -> str:
    """``5:50``, ``1:05:00``."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def _range(first: float, last: float) -> str:
    return clock(first) if first == last else f"{clock(first)}–{clock(last)}"


def _alike(events: Sequence[Event]) -> Iterator[_Together]:
    """Events of one kind and detail together, in the order of the first of them; of scaling, those of one workload."""
    together: dict[tuple[str, str], list[Event]] = {}
    for each in events:
        target = each.detail.partition("=")[0] if each.kind == "scaled" else each.detail
        together.setdefault((each.kind, target), []).append(each)
    for alike in together.values():
        yield alike[0].at, alike[-1].at, alike


def _said(alike: Sequence[Event], layout: Layout) -> str:
    event = alike[0]
    if event.kind == "scaled" and len(alike) > 1:
        first, last = (each.detail.rpartition("=")[2] for each in (event, alike[-1]))
        return f"{event.detail.partition('=')[0]} scaled {len(alike)} times, from {first} to {last}"
    nodes = [name for each in alike for name in each.nodes]
    pods = [pod for each in alike for pod in each.pods]
    return _SENTENCES[event.kind](nodes, pods, event.detail, layout)


Sentence = Callable[[Sequence[str], Sequence["PodThere"], str, Layout], str]


def _of_nodes(what: str) -> Sentence:
    def said(nodes: Sequence[str], pods: Sequence[PodThere], detail: str, layout: Layout) -> str:
        done = what.format(detail.removeprefix("node.kubernetes.io/")).rstrip()
        return f"{counted(len(nodes), 'node')} {done}: {layout.names(in_order(nodes))}"

    return said


def _of_manifests(what: str) -> Sentence:
    return lambda nodes, pods, detail, layout: f"{detail} {what}"


def _evicted(nodes: Sequence[str], pods: Sequence[PodThere], detail: str, layout: Layout) -> str:
    names = layout.names([f"{each.name} on {each.node}" if each.node else each.name for each in pods])
    done = detail if detail.startswith(("deleted", "preempted", "replaced")) else f"evicted ({detail})"
    return f"{counted(len(pods), 'pod')} {done}: {names}"


def _lost(nodes: Sequence[str], pods: Sequence[PodThere], detail: str, layout: Layout) -> str:
    return f"{counted(len(pods), 'terminating pod')} gone: {layout.names([each.name for each in pods])}"


def _placed(nodes: Sequence[str], pods: Sequence[PodThere], detail: str, layout: Layout) -> str:
    names = layout.names([f"{each.name} → {each.node}" for each in pods])
    return f"{counted(len(pods), 'pod')} placed: {names}"


_SENTENCES: Mapping[str, Sentence] = {
    "down": _of_nodes("silent"),
    "up": _of_nodes("back"),
    "tainted": _of_nodes("tainted {}"),
    "cordoned": _of_nodes("cordoned"),
    "uncordoned": _of_nodes("uncordoned"),
    "added": _of_nodes("added {}"),
    "scaled": _of_manifests("scaled"),
    "applied": _of_manifests("applied"),
    "rollout": _of_manifests("is rolled out anew"),
    "evicted": _evicted,
    "lost": _lost,
    "placed": _placed,
}
