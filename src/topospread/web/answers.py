"""Answer the page's questions about one frame of a trial: map, workloads, nodes, explanations."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

import msgspec
from msgspec import structs

from topospread.answers.drill import GrownSkew, grown_skews, guarding, harm_words
from topospread.answers.rebalance import moved_domains
from topospread.answers.remedies import placed_words, skew_words
from topospread.api.inventory import ObjectKey, key_of
from topospread.api.pod import PodSpec
from topospread.base import Word
from topospread.controllers.scale import short_target
from topospread.drill.notes import STATEFUL_SETS_WAIT
from topospread.drill.result import Drill
from topospread.errors import InputError, UsageError
from topospread.plugins.spread_arithmetic import ConstraintArithmetic, Domains
from topospread.render.pages.promise_show import event_rows
from topospread.render.pages.rebalance import change_words
from topospread.render.rebalance_commands import rebalance_commands
from topospread.text import listed, shell_line
from topospread.whole_number import whole_number

from .differences import difference
from .pages import Pages
from .picture import missing
from .placement_snapshot import NOWHERE, PlacementSnapshot
from .served import ServedCluster
from .timeline import Frame, Timeline, moves
from .trials import TrialStep, title
from .trying import PlayedTrials, Question
from .why import condition, explained, kept_now, linted, pending, promised, rebalanced, since
from .writing import as_command, as_copies, as_file

T = TypeVar("T")
Json = dict[str, Any]

_SCALED = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"})
_PODS = {"Pod": "/spec", "CronJob": "/spec/jobTemplate/spec/template/spec"} | dict.fromkeys(
    (*_SCALED, "DaemonSet", "Job"), "/spec/template/spec"
)
"""Kind → path of the pod's spec."""
_ROLLED = frozenset({"Deployment", "StatefulSet", "DaemonSet"})
_MOST_DOMAINS = 64
"""Above this number of domains, only the domains with the most and the fewest pods are listed."""
_MOST_BARS = 24
"""Above this number of domains, a summary of domains by pod count comes first."""
_ENDS = 5
_MOST_FOUND = 20
_MOST_NAMED, _MOST_CHANGED = 2, 12
"""Maximum number of workloads in the verdict without their counts, and in the table beside it."""
MOST_OF_CHANGES: Final = 100_000
"""Maximum bytes of changes to push, uncompressed. For larger changes, the page fetches the whole picture."""


class NotFoundError(Exception):
    """The requested object does not exist."""


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """The question in a URL.

    Attributes:
        at: number of the frame; "" for the frame that is shown first.
        words: the other parameters of the query.
        abandoned: set once all clients have left.
    """

    steps: tuple[TrialStep, ...]
    at: str
    words: Mapping[str, str]
    abandoned: threading.Event = field(default_factory=threading.Event, compare=False)

    def word(self, name: str) -> str:
        """Return a parameter of the query. Raise UsageError if it is missing."""
        if name not in self.words:
            raise UsageError(f"the URL lacks the parameter {name}")
        return self.words[name]


class Answers:
    """Answers questions about the served cluster."""

    def __init__(self, served: ServedCluster, pages: Pages) -> None:
        self._served = served
        self._pages = pages
        self.trials = PlayedTrials(served)
        self._drawn: dict[int, Json] = {}
        self._says: dict[str, str] = {}

    def warm_up(self) -> None:
        """Compute the first picture and the first explanations in advance. Raise InputError if an object is denied."""
        found = self.trials.timeline(())
        for frame in found.frames:
            assert frame.packed
        for as_read in {True, not found.is_empty}:
            self.trials.ready(as_read=as_read)

    def timeline(self, asked: PageQuestion) -> tuple[Timeline, int]:
        """Return the trial and the requested frame's number.

        Raises:
            InputError, StepError: if the trial cannot be run.
            NotFoundError: if the trial has no such frame.
        """
        found = self.trials.timeline(asked.steps, asked.abandoned)
        asked_for = whole_number(asked.at)
        at = found.first_shown if asked_for is None else asked_for
        if at >= len(found.frames):
            raise NotFoundError(f"no such frame: there are {len(found.frames)}, numbered from 0")
        return found, at

    def _frame(self, asked: PageQuestion) -> Frame:
        if asked.at == "baseline" and self._served.earlier is not None:
            return self._served.earlier
        found, at = self.timeline(asked)
        return found.frames[at]

    def picture(self, asked: PageQuestion) -> bytes:
        """Return the map's data as JSON."""
        return self._frame(asked).picture

    def packed(self, asked: PageQuestion) -> bytes:
        """Return the map's data as JSON, compressed by gzip."""
        return self._frame(asked).packed

    def changes(self, revision: int) -> Json | None:
        """Return the difference between a revision's picture of the cluster and the current picture.

        ``None`` if that revision is not stored any more, or the difference is too large. The current picture is stored
        for the next call.
        """
        reading, found = self._served.reading, self.trials.timeline(())
        drawn = msgspec.json.decode(found.frames[found.first_shown].picture)
        before = self._drawn.get(revision)
        self._drawn = {reading.revision: drawn, **({revision: before} if before is not None else {})}
        if before is None or reading is not self._served.reading:
            return None
        told = {"from": revision, "to": reading.revision, "picture": difference(before, drawn)}
        return told if len(msgspec.json.encode(told)) <= MOST_OF_CHANGES else None

    def trial(self, asked: PageQuestion) -> Json:
        """Return the result of each step, the trial's command and file, and the frame to show first."""
        found, at = self.timeline(asked)
        frame, before = found.frames[at], found.frames[max(at - 1, 0)]
        told: Json = {"most_rows": _MOST_CHANGED, "moves": moves(before, frame) if at else [], "was": _waiting(before)}
        told |= {"verdict": "", "harm": [], "skews": [], "rows": [], "whole": ("", [])}
        if at > 1:
            told["verdict"], told["harm"] = _harm(found.drill, (before, frame))
            told["skews"] = [*grown_skews(before.snapshot.spreads, frame.snapshot.spreads)]
            told["rows"] = _rows(before, frame, told["skews"])
            read = found.frames[0].snapshot.spreads
            told["read"] = {(key, it.position): it.skew for key, each in read.items() for it in each} if at == 2 else {}
            told["whole"] = _harm(found.drill, found.frames[1 : at + 1]) if at > 2 else ("", [])
        told["stay"] = [each for each in frame.outcome.remarks if STATEFUL_SETS_WAIT in each] if frame.outcome else []
        told["found"] = listed([each["name"] for each in told["rows"] if each["found"]], 2)
        earlier = (before.outcome if at > 1 else None) or found.drill.steps[0]
        told["broken_before"] = {each.budget for each in earlier.breaches}
        templates = {(*it.key[1:], it.key[0]): it.template for it in frame.snapshot.workloads if it.template}
        budgets = self._served.reading.inventory.pod_disruption_budgets
        told["guards"] = guarding(frame.outcome, templates, budgets) if frame.outcome else None
        address = f"/drill?{urlencode([('step', str(each)) for each in asked.steps])}"
        command = as_command(found, self._served) if asked.steps else ""
        of_steps = {"steps": asked.steps, "title": title, "copies": partial(as_copies, served=self._served)}
        return {
            "at": at,
            "frames": [{"label": each.label, **_waiting(each)} for each in found.frames],
            "stepsHtml": self._pages.page("trial.html", **of_steps, command=command, address=address),
            "html": self._pages.page("steps.html", frame=frame, at=at, **_waiting(frame), **told),
            "command": as_command(replace(found, steps=found.steps[: at - 1]), self._served) if at > 1 else "",
        }

    def progress(self, asked: PageQuestion) -> Json:
        """Return the progress of a running trial, or of a question about a pod; "" if neither is running."""
        return {"says": self._says.get(_named(asked)) or self.trials.progress(asked.steps)}

    def workload(self, asked: PageQuestion) -> Json:
        """Return a workload's constraints by domain, and its pods."""
        frame = self._frame(asked)
        key = _key(asked)
        row = next((row for row, each in enumerate(frame.snapshot.workloads) if each.key == key), None)
        if row is None:
            raise NotFoundError(f"{key[0]} {key[1]}/{key[2]} not found")
        constraints = [_constraint(each) for each in frame.snapshot.spreads.get(key, ())]
        pods = _pods(frame.snapshot, workload=row)
        waiting = sum(not each["node"] for each in pods)
        html = self._pages.page(
            "workload.html",
            lost=missing(frame.snapshot, Counter({row: waiting}))[row],
            on_lost=sorted({each["node"] for each in pods} & frame.snapshot.silent),
            exceeded=any(each.hard and each.skew > each.max_skew for each in frame.snapshot.spreads.get(key, ())),
            workload=frame.snapshot.workloads[row],
            constraints=constraints,
            pods=pods,
            waiting=waiting,
            unjudged=frame.waiting[1][key],
            is_linted=key[0] in _PODS,
            is_promised=key[0] in _SCALED,
        )
        own = frame.snapshot.workloads[row]
        path = f"{_PODS.get(key[0], '')}/topologySpreadConstraints/"
        target = short_target(key) if key[0] in _SCALED | _ROLLED else ""
        may: Json = {"replicas": own.replicas if key[0] in _SCALED else None, "rolls": key[0] in _ROLLED}
        spec = own.template.spec if own.template is not None and key[0] in _PODS else PodSpec()
        may |= {"path": path, "constraints": spec.topology_spread_constraints or ()}
        forms = self._pages.page("forms.html", key=key, target=target, **may)
        return {"constraints": constraints, "forms": forms, "html": html}

    def node(self, asked: PageQuestion) -> Json:
        """Return a node's labels, taints, room and pods."""
        snapshot = self._frame(asked).snapshot
        row = snapshot.row_of(asked.word("name"))
        if row is None:
            raise NotFoundError(f"node {asked.word('name')} not found")
        node = snapshot.nodes[row]
        room = {"allocatable": snapshot.allocatable[row].tolist(), "used": snapshot.used[row].tolist()}
        more = {"silent": node.name in snapshot.silent, "pods": _pods(snapshot, node=row)}
        return {"html": self._pages.page("node.html", node=node, **room, **more)}

    def find(self, asked: PageQuestion) -> Json:
        """Return pods and nodes whose names contain a text: their number, and the first `_MOST_FOUND` of each."""
        snapshot = self._frame(asked).snapshot
        text = asked.word("q").lower()
        nodes = [each.name for each in snapshot.nodes if text in each.name.lower()]
        pods = [
            f"{snapshot.workloads[int(snapshot.pods.workload[at])].key[1]}/{name}"
            for at, name in enumerate(snapshot.pods.names)
            if text in name.lower()
        ]
        return {
            "pods": {"number": len(pods), "first": pods[:_MOST_FOUND]},
            "nodes": {"number": len(nodes), "first": nodes[:_MOST_FOUND]},
        }

    def why(self, asked: PageQuestion) -> Json:
        """Return `why`'s answer without suggested changes, as HTML, and the reason of each rejected node."""
        found = self._explained(asked, suggest=False)
        html = self._pages.page("why.html", **found, target=asked.word("target"))
        about = found["why"]
        kind, _, name = about["workload"].partition("/")
        return {
            "html": html,
            "workload": f"{kind}/{about['namespace']}/{name}",
            "rejected": {node: each["reason"] for each in found["rejected"] for node in each["nodes"]},
        }

    def fixes(self, asked: PageQuestion) -> Json:
        """Return the changes with which a pending pod finds a node, as HTML."""
        return {"html": self._pages.page("fixes.html", **self._explained(asked, suggest=True))}

    def _explained(self, asked: PageQuestion, *, suggest: bool) -> Json:
        target, words = asked.word("target"), self._served.input.words
        found = self._ask(self._placed(asked, target), partial(explained, target, suggest))
        # A namespace of a snapshot may begin as an option does.
        about = [*words, "--", target] if target.startswith("-") else [target, *words]
        namespace, _, name = target.partition("/")
        pods = self._served.reading.inventory.pods if found["why"]["name"] == name else ()
        found["since"] = next((since(it) for it in pods if it.metadata.name == name and it.namespace == namespace), "")
        found["simulated"] = "{namespace}/{name}".format(**found["why"]) not in self._pending_as_read()
        return found | {"command": shell_line(["topospread", "why", *about])}

    def pending(self, asked: PageQuestion) -> Json:
        """Return the pods without a node, grouped by cause, as HTML."""
        asked = self._placed(asked)
        question = partial(pending, _key(asked) if "kind" in asked.words else None, "causes" not in asked.words)
        groups = self._ask(asked, question) if (self._frame(asked).snapshot.pods.node < 0).any() else []
        # The times of a simulation's pods are not real.
        known, stored = self._pending_as_read(), self._served.reading.inventory.pods if groups else ()
        told = {f"{it.namespace}/{it.name}": condition(it).last_transition_time for it in stored}
        own = [known.intersection(each.pods) for each in groups]
        every = _pods(self._frame(asked).snapshot, node=NOWHERE)
        of = {
            f"{it['namespace']}/{it['name']}": f"{it['namespace']}/{it['workload'].replace(' ', '/')}" for it in every
        }
        counts = [Counter(map(of.get, each.pods)) for each in groups]
        times = [(len(each), min(filter(None, map(told.get, each)), default="")) for each in own]
        words = {"placed": placed_words, "skews": skew_words, "fix_first": bool(asked.steps)}
        return {"html": self._pages.page("pending.html", groups=[*zip(groups, times, counts, strict=True)], **words)}

    def _pending_as_read(self) -> set[str]:
        waiting = _pods(self.trials.timeline(()).frames[0].snapshot, node=NOWHERE)
        return {f"{each['namespace']}/{each['name']}" for each in waiting}

    def rebalance(self, asked: PageQuestion) -> Json:
        """Return the evictions that bring a workload, or all, within their constraints, as HTML."""
        found, selector = self._ask(asked, partial(rebalanced, _key(asked) if "kind" in asked.words else None))
        where = ["-n", asked.word("namespace"), "-l", selector] if "kind" in asked.words else []
        as_read, script = asked.at == "0", ""
        if as_read and found.evictions:  # commands change the cluster, not the simulated state
            with suppress(InputError):  # a name that no API server stores
                script = rebalance_commands(found)
        words = [*where, *self._served.input.words, *(["-o", "commands"] if script else [])]
        told = {"found": found, "script": script, "command": shell_line(["topospread", "rebalance", *words])}
        told |= {"as_read": as_read, "lost": "lost" in asked.words, "change": change_words, "domains": moved_domains}
        return {"html": self._pages.page("rebalance.html", **told)}

    def promises(self, asked: PageQuestion) -> Json:
        """Return the pods that a workload keeps after losses, drains and rollouts, as HTML; with `now`, as placed."""
        if "now" in asked.words:
            seen = [(*each, None) for each in self._ask(asked, partial(kept_now, _key(asked)))]
            return {"html": self._pages.page("promises.html", now=seen)}
        found = self._ask(asked, partial(promised, _key(asked)))
        rows = event_rows(found.workloads[0])
        command = shell_line(["topospread", "promise", "show", short_target(_key(asked)), *self._served.input.words])
        now = [(when, it.now, it.of, it) for it, (when, *_) in rows if it.when.endswith("loss") and when[0] != "…"]
        return {"html": self._pages.page("promises.html", found=found, rows=rows, command=command, now=now)}

    def findings(self, asked: PageQuestion) -> Json:
        """Return lint findings about a workload, as HTML."""
        found = self._ask(asked, partial(linted, _key(asked)))
        return {"html": self._pages.page("findings.html", findings=found)}

    def _placed(self, asked: PageQuestion, target: str = "") -> PageQuestion:
        """Return the question for frame 1 instead of 0 if no pod had a node as read, and the target is pending in 1."""
        found, at = self.timeline(asked)
        waiting = {f"{each.namespace}/{name}" for each in found.frames[1].pending for name in each.pods}
        return replace(asked, at="1") if at == 0 and found.is_empty and (not target or target in waiting) else asked

    def _ask(self, asked: PageQuestion, question: Question[T]) -> T:
        (_, at), name = self.timeline(asked), _named(asked)
        try:
            return self.trials.ask(asked.steps, at, question, asked.abandoned, partial(self._says.__setitem__, name))
        finally:
            self._says.pop(name, None)

    def drill_file(self, asked: PageQuestion) -> tuple[str, bytes]:
        """Return the trial as a Drill file: its name and content. Raise UsageError if it has no steps."""
        if not asked.steps:
            raise UsageError("a drill needs at least one step")
        found, _ = self.timeline(asked)
        return as_file(found, self._served)


def _key(asked: PageQuestion) -> ObjectKey:
    return asked.word("kind"), asked.word("namespace"), asked.word("name")


def _named(asked: PageQuestion) -> str:
    return "\n".join(
        [asked.at, *(asked.words.get(each, "") for each in ("about", "name", "target")), *map(str, asked.steps)]
    )


def _waiting(frame: Frame) -> Json:
    return dict(zip(("waiting", "unjudged"), (each.total() for each in frame.waiting), strict=True))


def _harm(drill: Drill, frames: Sequence[Frame]) -> tuple[Word, list[str]]:
    """Return the verdict on the frames after the first one, the baseline, and the harm in words.

    The words also name lost pods that do not affect the verdict.
    """
    begin, *steps = (it.outcome for it in frames if it.outcome)
    own = replace(drill, steps=(replace(begin, not_evicted=()), *steps))
    harm = structs.replace(own.harm, lost=tuple(each for each in steps[-1].lost if each not in begin.lost))
    # Budgets and denied evictions have their own lines, unless they are all of the harm.
    first = structs.replace(harm, breaches=(), not_evicted=())
    words = [*harm_words(first or harm, own.verdict, " newly" if begin.pending else "")]
    if len(harm.pending) > _MOST_NAMED:
        named = listed([f"{it.pods} of {it.namespace}/{it.workload.partition('/')[2]}" for it in harm.pending], 3)
        more = " workloads" if named.endswith(" more") else ""
        words[0] = f"{sum(each.pods for each in harm.pending)} pods are newly pending: {named}{more}"
    return own.verdict, words


def _rows(before: Frame, after: Frame, skews: Sequence[GrownSkew]) -> list[Json]:
    """Return the workloads with more or fewer pending pods or with more hard skew, the worst first."""
    (was, was_open), (now, now_open) = before.waiting, after.waiting
    new, found = now - was - was_open, was - now - now_open
    states = {key_of(each): each for each in after.outcome.changed} if after.outcome else {}
    keys = {*new, *found, *(each.key for each in skews)}
    return [
        {
            "key": "/".join(key), "name": f"{key[1]}/{key[2]}", "pending": now[key], "new": new[key],
            "found": found[key], "state": states.get(key), "skews": [each for each in skews if each.key == key],
        }
        for key in sorted(keys, key=lambda key: (-new[key], key in found, -found[key], -now[key], key))
    ]  # fmt: skip


def _constraint(each: ConstraintArithmetic) -> Json:
    domains = each.domains
    assert isinstance(domains, Domains), "of a cluster they are columns"
    counts = Counter(domains.matching.tolist())
    shown = (
        [(one.name, one.matching, one.nodes) for one in domains] if len(domains) <= _MOST_DOMAINS else _ends(domains)
    )
    return {
        "topologyKey": each.topology_key,
        "whenUnsatisfiable": each.when_unsatisfiable,
        "maxSkew": each.max_skew,
        "minDomains": each.min_domains,
        "position": each.position,
        "origin": each.origin,
        "selector": each.selector,
        "minimum": each.minimum,
        "skew": each.skew,
        "lacksDomains": each.lacks_domains,
        "number": len(domains),
        # (number of pods, number of domains) pairs, most pods first
        "histogram": sorted(counts.items(), reverse=True) if len(domains) > _MOST_BARS else [],
        "domains": [{"name": name, "matching": matching, "nodes": nodes} for name, matching, nodes in shown],
        "leftOut": [{"reason": one.reason, "number": len(one.nodes)} for one in each.left_out],
    }


def _ends(domains: Domains) -> list[tuple[str, int, int]]:
    order = domains.matching.argsort(kind="stable")
    which = [*order[::-1][:_ENDS].tolist(), *order[:_ENDS].tolist()]
    return [(domains[at].name, domains[at].matching, domains[at].nodes) for at in dict.fromkeys(which)]


def _pods(snapshot: PlacementSnapshot, *, workload: int | None = None, node: int | None = None) -> list[Json]:
    """Return pods of a workload or on a node: pending pods first, then by node and name."""
    pods = snapshot.pods
    column, value = (pods.workload, workload) if node is None else (pods.node, node)
    found = []
    for at in (column == value).nonzero()[0].tolist():
        place = int(pods.node[at])
        key: ObjectKey = snapshot.workloads[int(pods.workload[at])].key
        own = {"name": pods.names[at], "namespace": key[1], "workload": f"{key[0]} {key[2]}"}
        on = snapshot.nodes[place].name if place >= 0 else ""
        found.append(own | {"node": on, "terminating": bool(pods.terminating[at])})
    return sorted(found, key=lambda each: (str(each["node"]), str(each["name"])))
