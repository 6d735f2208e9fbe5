"""Write a report as one HTML file: the page with all its answers for one what-if.

The same code computes the answers of reports and of the server. Pages outside the report, such as another what-if, say
that they are not included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode

import msgspec

from topospread.api.inventory import ObjectKey
from topospread.errors import TopospreadError

from .answers import Answers, NotFoundError, PageQuestion
from .one_file import RecordedAnswer, one_file
from .pages import Pages, static_text
from .placement_snapshot import NOWHERE, PlacementSnapshot
from .served import ServedCluster
from .trials import TrialStep

_Answer = Callable[[Answers, PageQuestion], object]

_MOST_WAITING: Final = 20
"""Maximum number of workloads for which one pending pod is explained."""
_MOST_PLACED: Final = 60
"""Maximum number of pods for which every pod is explained."""
_MOST_LINTED: Final = 40
"""Maximum number of workloads for which each workload is linted."""


@dataclass(frozen=True, slots=True)
class ReportView:
    """The content of a report.

    Attributes:
        steps: steps of the what-if; empty for the cluster as read.
        shown: parameters of the page's address: ``at``, ``beside``, ``workload``, ``node``, ``pod``.
    """

    steps: Sequence[TrialStep] = ()
    shown: Mapping[str, str] = field(default_factory=dict)


def report(served: ServedCluster, view: ReportView) -> str:
    """Return the page as one HTML file.

    Raises:
        InputError: if the API server would refuse an object.
        StepError: if a step cannot be run.
    """
    recording = _Recording(served, view)
    recording.everything()
    page = recording.pages.page("map.html", here="/", pages=())
    words = [*(("step", str(each)) for each in view.steps), *view.shown.items()]
    return one_file(page, f"?{urlencode(words)}" if words else "", recording.found, static_text)


class _Recording:
    """Requests the page's answers and stores them by address."""

    def __init__(self, served: ServedCluster, view: ReportView) -> None:
        self.pages = Pages(served)
        self.found: dict[str, RecordedAnswer] = {}
        self._answers = Answers(served, self.pages)
        self._steps = tuple(view.steps)
        self._view = view

    def everything(self) -> None:
        """Record all frames with their workloads. For the frame shown first, also record its nodes and pending pods."""
        found, first = self._answers.timeline(self._asked(self._view.shown.get("at", ""), {}))
        for at in ("", *map(str, range(len(found.frames)))):
            self._keep("/api/trial", at, Answers.trial)
            self._keep("/api/picture", at, Answers.picture)
        for number, frame in enumerate(found.frames):
            for each in frame.snapshot.workloads:
                self._keep("/api/workload", str(number), Answers.workload, _words(each.key))
        snapshot = found.frames[first].snapshot
        for each in snapshot.workloads if len(snapshot.workloads) <= _MOST_LINTED else ():
            self._keep("/api/findings", str(first), Answers.findings, _words(each.key))
        for node in snapshot.nodes:
            self._keep("/api/node", str(first), Answers.node, {"name": node.name})
        for target in dict.fromkeys((*filter(None, [self._view.shown.get("pod")]), *_explained(snapshot))):
            self._keep("/api/why", str(first), Answers.why, {"target": target})
            self._keep("/api/fixes", str(first), Answers.fixes, {"target": target})
        self._keep("/api/pending", str(first), Answers.pending)
        if self._steps:
            name, content = self._answers.drill_file(self._asked("", {}))
            if name.endswith(".yaml"):
                self.found[self._address("/drill", "", {})] = RecordedAnswer(200, content.decode())

    def _keep(self, path: str, at: str, what: _Answer, words: Mapping[str, str] | None = None) -> None:
        try:
            told = what(self._answers, self._asked(at, words or {}))
            answer = RecordedAnswer(200, (told if isinstance(told, bytes) else msgspec.json.encode(told)).decode())
        except (TopospreadError, NotFoundError) as error:
            answer = RecordedAnswer(422, msgspec.json.encode({"error": str(error), "step": None}).decode())
        self.found[self._address(path, at, words or {})] = answer

    def _asked(self, at: str, words: Mapping[str, str]) -> PageQuestion:
        return PageQuestion(self._steps, at, words)

    def _address(self, path: str, at: str, words: Mapping[str, str]) -> str:
        """Return the URL of an answer, in the form that `static/address.js` writes."""
        query = [*(("step", str(each)) for each in self._steps), *([("at", at)] if at else []), *words.items()]
        return f"{path}?{urlencode(query)}"


def _words(key: ObjectKey) -> dict[str, str]:
    return dict(zip(("kind", "namespace", "name"), key, strict=True))


def _explained(snapshot: PlacementSnapshot) -> Iterable[str]:
    """Return the pods to explain: all if there are few, else one pending pod of each workload."""
    pods, workloads = snapshot.pods, snapshot.workloads
    rows = range(len(pods.names))
    if len(pods.names) > _MOST_PLACED:
        waiting = {int(pods.workload[row]): row for row in reversed(rows) if pods.node[row] == NOWHERE}
        rows = sorted(waiting.values())[:_MOST_WAITING]  # type: ignore[assignment]
    return [f"{workloads[int(pods.workload[row])].key[1]}/{pods.names[row]}" for row in rows]
