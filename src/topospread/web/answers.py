"""The page's questions about a moment of a trial: pictures, workloads, nodes, why."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

import msgspec

from topospread.answers.remedies import tried_words
from topospread.controllers.scale import KIND_OF, short_target
from topospread.drill.pods import WorkloadKey
from topospread.errors import UsageError
from topospread.plugins.spread_arithmetic import ConstraintArithmetic, Domains
from topospread.render.pages.promise_show import event_rows
from topospread.simulation.unknown import is_unjudged
from topospread.text import shell_line
from topospread.whole_number import whole_number

from .differences import difference
from .pages import Pages
from .placement_snapshot import PlacementSnapshot, WorkloadRow, moves
from .served import ServedCluster
from .timeline import SCHEDULED, Frame, Timeline
from .trials import TrialStep, title
from .trying import PlayedTrials, Question
from .why import explained, linted, pending, promised
from .writing import as_command, as_copies, as_file

T = TypeVar("T")
Json = dict[str, Any]

_PODS = {"Pod": "/spec", "CronJob": "/spec/jobTemplate/spec/template/spec"}
_HAVE_TEMPLATES = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job"})
_SCALED = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"})
_ROLLED = frozenset({"Deployment", "StatefulSet", "DaemonSet"})


def editable(workload: WorkloadRow) -> Json:
    """Return the workload's name for steps, its replicas if they can be changed, and its own constraints."""
    kind, namespace, name = workload.key
    alias = next((short for short, long in KIND_OF.items() if long == kind), kind.lower())
    template = workload.template
    own = (template.spec.topology_spread_constraints or []) if template is not None else []
    path = _PODS.get(kind, "/spec/template/spec" if kind in _HAVE_TEMPLATES else "")
    return {
        "target": f"{namespace}/{alias}/{name}",
        "object": f"{kind}/{namespace}/{name}",
        "replicas": workload.replicas if kind in _SCALED else None,
        "rolls": kind in _ROLLED,
        "constraints": [
            {
                "path": f"{path}/topologySpreadConstraints/{position}",
                "topologyKey": each.topology_key,
                "maxSkew": each.max_skew,
                "minDomains": each.min_domains,
                "whenUnsatisfiable": each.when_unsatisfiable,
                "nodeAffinityPolicy": each.node_affinity_policy or "Honor",
                "nodeTaintsPolicy": each.node_taints_policy or "Ignore",
            }
            for position, each in enumerate(own if path else ())
        ],
    }


_MOST_DOMAINS = 64
"""Above this number of domains, only those with the most and the fewest pods are listed."""
_MOST_BARS = 24
"""Above this number of domains, a summary of domains by pod count comes first."""
_ENDS = 5
_MOST_FOUND = 20
MOST_OF_CHANGES: Final = 100_000
"""Most bytes of changes to push, uncompressed; for larger changes the page fetches everything."""


class NotFoundError(Exception):
    """The requested object does not exist."""


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """The question in a URL.

    Attributes:
        at: the frame, "" for the one that is shown first.
        words: the other words of the query.
        abandoned: set once all clients have left.
    """

    steps: tuple[TrialStep, ...]
    at: str
    words: Mapping[str, str]
    abandoned: threading.Event = field(default_factory=threading.Event, compare=False)

    def word(self, name: str) -> str:
        """One word of the query.

        Raises:
            UsageError: it is missing.
        """
        if name not in self.words:
            raise UsageError(f"the address lacks {name}=")
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
        """Compute the data for the first picture and the first explanation in advance.

        Raises:
            InputError: if the API server would refuse an object.
        """
        found = self.trials.timeline(())
        for frame in found.frames:
            assert frame.packed
        self.trials.ready(as_read=first_shown(found) == 0)

    def timeline(self, asked: PageQuestion) -> tuple[Timeline, int]:
        """Return the trial and the requested frame's number.

        Raises:
            InputError, StepError: if the trial cannot be run.
            NotFoundError: if the trial has no such frame.
        """
        found = self.trials.timeline(asked.steps, asked.abandoned)
        asked_for = whole_number(asked.at)
        at = first_shown(found) if asked_for is None else asked_for
        if at >= len(found.frames):
            raise NotFoundError(f"there are {len(found.frames)} frames, counted from 0")
        return found, at

    def _frame(self, asked: PageQuestion) -> Frame:
        found, at = self.timeline(asked)
        return found.frames[at]

    def picture(self, asked: PageQuestion) -> bytes:
        """The map's data."""
        return self._frame(asked).picture

    def packed(self, asked: PageQuestion) -> bytes:
        """The same as gzip."""
        return self._frame(asked).packed

    def changes(self, revision: int) -> Json | None:
        """Return what changed in the picture of the cluster, as it was read, since a revision.

        ``None`` if that revision is not kept any more, or the difference is too large to be worth sending. The present
        picture is kept: the next call may ask for the changes since it.
        """
        reading, found = self._served.reading, self.trials.timeline(())
        drawn = msgspec.json.decode(found.frames[first_shown(found)].picture)
        before = self._drawn.get(revision)
        self._drawn = {reading.revision: drawn, **({revision: before} if before is not None else {})}
        if before is None or reading is not self._served.reading:
            return None
        told = {"from": revision, "to": reading.revision, "picture": difference(before, drawn)}
        return told if len(msgspec.json.encode(told)) <= MOST_OF_CHANGES else None

    def trial(self, asked: PageQuestion) -> Json:
        """Return the result of each step, the trial's command and file, and the frame to show first."""
        found, at = self.timeline(asked)
        frame = found.frames[at]
        went = moves(found.frames[at - 1].snapshot, frame.snapshot) if at > 1 else []
        return {
            "at": at,
            "frames": [
                {"label": each.label, "waiting": int((each.snapshot.pods.node < 0).sum())} for each in found.frames
            ],
            "steps": [_step(each, number, self._served) for number, each in enumerate(asked.steps)],
            "html": self._pages.page("steps.html", frame=frame, moves=went, is_unjudged=is_unjudged),
            "command": as_command(found, self._served) if asked.steps else "",
        }

    def progress(self, asked: PageQuestion) -> Json:
        """Return the progress of a running trial, or of a question about a pod; "" if neither is running."""
        return {"says": self._says.get(_named(asked)) or self.trials.progress(asked.steps)}

    def workload(self, asked: PageQuestion) -> Json:
        """A workload: its constraints domain by domain, and its pods."""
        frame = self._frame(asked)
        key = _key(asked)
        row = frame.snapshot.workload_row(key)
        if row is None:
            raise NotFoundError(f"there is no {key[0]} {key[1]}/{key[2]}")
        constraints = [_constraint(each) for each in frame.snapshot.spreads.get(key, ())]
        pods = _pods(frame.snapshot, workload=row)
        html = self._pages.page(
            "workload.html",
            workload=frame.snapshot.workloads[row],
            constraints=constraints,
            pods=pods,
            waiting=sum(not each["node"] for each in pods),
            unjudged=_unjudged(frame, key),
            is_linted=key[0] in _HAVE_TEMPLATES or key[0] in _PODS,
            is_promised=key[0] in _SCALED,
        )
        forms = self._pages.page("forms.html", **editable(frame.snapshot.workloads[row]))
        return {"constraints": constraints, "forms": forms, "html": html}

    def node(self, asked: PageQuestion) -> Json:
        """A node: its labels, taints, room, and pods."""
        snapshot = self._frame(asked).snapshot
        row = snapshot.row_of(asked.word("name"))
        if row is None:
            raise NotFoundError(f"there is no node {asked.word('name')}")
        node = snapshot.nodes[row]
        html = self._pages.page(
            "node.html",
            node=node,
            silent=node.name in snapshot.silent,
            allocatable=snapshot.allocatable[row].tolist(),
            used=snapshot.used[row].tolist(),
            pods=_pods(snapshot, node=row),
        )
        return {"html": html}

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
        return {
            "html": html,
            "rejected": {node: each["reason"] for each in found["rejected"] for node in each["nodes"]},
        }

    def fixes(self, asked: PageQuestion) -> Json:
        """Changes that would let a pending pod in, as HTML for the page."""
        return {"html": self._pages.page("fixes.html", **self._explained(asked, suggest=True))}

    def _explained(self, asked: PageQuestion, *, suggest: bool) -> Json:
        target, words = asked.word("target"), self._served.input.words
        found = self._ask(asked, partial(explained, target, suggest))
        # A namespace of a snapshot may begin as an option does.
        about = [*words, "--", target] if target.startswith("-") else [target, *words]
        return found | {"command": shell_line(["topospread", "why", *about])}

    def pending(self, asked: PageQuestion) -> Json:
        """The pods without a node, grouped by cause, as HTML for the page."""
        groups = self._ask(asked, pending) if (self._frame(asked).snapshot.pods.node < 0).any() else []
        return {"html": self._pages.page("pending.html", groups=groups, tried_words=tried_words)}

    def promises(self, asked: PageQuestion) -> Json:
        """The pods that a workload keeps after losses, drains and rollouts, as HTML for the page."""
        found = self._ask(asked, partial(promised, _key(asked)))
        rows = event_rows(found.workloads[0])
        command = shell_line(["topospread", "promise", "show", short_target(_key(asked)), *self._served.input.words])
        return {"html": self._pages.page("promises.html", found=found, rows=rows, command=command)}

    def findings(self, asked: PageQuestion) -> Json:
        """Lint findings about a workload, as HTML for the page."""
        found = self._ask(asked, partial(linted, _key(asked)))
        return {"html": self._pages.page("findings.html", findings=found)}

    def _ask(self, asked: PageQuestion, question: Question[T]) -> T:
        found, at = self.timeline(asked)
        name, first = _named(asked), _expected(found.frames[1], asked.words.get("target", "")) if at == 0 else ""

        def told(words: str) -> None:
            self._says[name] = f"{first} {words}"

        told("")
        try:
            return self.trials.ask(asked.steps, at, question, asked.abandoned, told)
        finally:
            self._says.pop(name, None)

    def drill_file(self, asked: PageQuestion) -> tuple[str, bytes]:
        """Return the trial as a Drill file: its name and content.

        Raises:
            UsageError: if the trial has no steps.
        """
        if not asked.steps:
            raise UsageError("a drill has at least one step")
        found, _ = self.timeline(asked)
        return as_file(found, self._served)


def _key(asked: PageQuestion) -> WorkloadKey:
    return asked.word("kind"), asked.word("namespace"), asked.word("name")


def _named(asked: PageQuestion) -> str:
    return "\n".join([asked.at, asked.words.get("target", ""), *map(str, asked.steps)])


def _expected(frame: Frame, target: str) -> str:
    """Return in words the pod's node once all pods are placed, which is known before the reason."""
    snapshot, (namespace, _, name) = frame.snapshot, target.partition("/")
    for row, each in enumerate(snapshot.pods.names):
        if each == name and snapshot.workloads[int(snapshot.pods.workload[row])].key[1] == namespace:
            node = int(snapshot.pods.node[row])
            if node >= 0:
                return f"{SCHEDULED.capitalize()}, it is on {snapshot.nodes[node].name}."
            says = (each.message for each in frame.pending if each.namespace == namespace and name in each.pods)
            return f"{SCHEDULED.capitalize()}, it has no node: {next(says, '')}"
    return ""


def first_shown(timeline: Timeline) -> int:
    """Return the last frame of a trial; without steps, the cluster as read or the manifests as placed."""
    if timeline.steps:
        return len(timeline.frames) - 1
    return 0 if bool((timeline.frames[0].snapshot.pods.node >= 0).any()) else 1


def _step(step: TrialStep, number: int, served: ServedCluster) -> Json:
    """Return a step in words, as URL text, as a command, and as a patch if it has one."""
    patch, command = as_copies(step, number, served)
    return {"text": str(step), "title": title(step), "patch": patch, "command": command}


def _unjudged(frame: Frame, key: WorkloadKey) -> int:
    """Return how many pods of a workload wait because they are not judged."""
    of = key[1], f"{key[0]}/{key[2]}"
    return sum(len(each.pods) for each in frame.pending if (each.namespace, each.workload) == of and is_unjudged(each))


def _constraint(each: ConstraintArithmetic) -> Json:
    domains = each.domains
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
        "histogram": _histogram(domains) if len(domains) > _MOST_BARS else [],
        "domains": [{"name": name, "matching": matching, "nodes": nodes} for name, matching, nodes in shown],
        "leftOut": [{"reason": one.reason, "number": len(one.nodes)} for one in each.left_out],
    }


def _histogram(domains: Any) -> list[tuple[int, int]]:
    """Return how many domains have how many pods, most pods first."""
    assert isinstance(domains, Domains), "of a cluster they are columns"
    return sorted(Counter(domains.matching.tolist()).items(), reverse=True)


def _ends(domains: Any) -> list[tuple[str, int, int]]:
    """Return the domains with the most and with the fewest pods."""
    assert isinstance(domains, Domains), "of a cluster they are columns"
    order = domains.matching.argsort(kind="stable")
    which = [*order[::-1][:_ENDS].tolist(), *order[:_ENDS].tolist()]
    return [(domains[at].name, domains[at].matching, domains[at].nodes) for at in dict.fromkeys(which)]


def _pods(snapshot: PlacementSnapshot, *, workload: int | None = None, node: int | None = None) -> list[Json]:
    """Pods of a workload or on a node: those that wait first, then by node and name."""
    pods = snapshot.pods
    column, value = (pods.workload, workload) if node is None else (pods.node, node)
    found = []
    for at in (column == value).nonzero()[0].tolist():
        place = int(pods.node[at])
        key: WorkloadKey = snapshot.workloads[int(pods.workload[at])].key
        found.append(
            {
                "name": pods.names[at],
                "namespace": key[1],
                "workload": f"{key[0]} {key[2]}",
                "node": snapshot.nodes[place].name if place >= 0 else "",
                "terminating": bool(pods.terminating[at]),
            }
        )
    return sorted(found, key=lambda each: (str(each["node"]), str(each["name"])))
