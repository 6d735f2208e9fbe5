"""Every binding of ours in a step, as cases for kube-scheduler's own plugins (the oracle), and what they say.

The state at a pod's turn: what was there when the step began, with what the step changed, and the pods that were tried
before it in the step on the nodes that they got. A pod that a preemption took away within the step is counted both
ways where it cannot be told when it went.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.programs import oracle
from tests.live.lockstep import CONFIG, KINDS, in_namespace

Json = dict[str, Any]
State = dict[str, list[Json]]
_LINES = re.compile(r'"(Attempting to schedule pod|Preempting pods)" pod="([^"]+)"(?: node="([^"]+)")?')


@dataclass
class Binding:
    """A pod that was bound, and the cases whose answers may speak for it.

    Attributes:
        promised: the node that it was nominated for, "" for none.
    """

    history: int
    pod: str
    node: str
    promised: str
    cases: list[Json]


def key_of(item: Json) -> str:
    """``namespace/name``."""
    return f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}"


def bindings(
    number: int, before: State, changed: list[Json], after: list[Json], log: str, *, gone: str
) -> list[Binding]:
    """The bindings of a step.

    Args:
        number: of the history.
        before: what was there when it began.
        changed: objects that it made or changed.
        after: the pods at its end.
        log: what the scheduler said in it.
        gone: path of the object that it deleted, "" for none.
    """
    state = _without(_with(before, changed), gone)
    ends = {key_of(each): each for each in after}
    there = {key_of(each): each for each in state["pods"]}
    # What the step itself deleted, or a preemption did: not there at the end, or on its way.
    placed = {key: each for key, each in there.items() if each["spec"].get("nodeName") and key in ends}
    taken = {key: each for key, each in there.items() if each["spec"].get("nodeName") and key not in ends}
    promised = {
        key: each["status"]["nominatedNodeName"]
        for key, each in there.items()
        if not each["spec"].get("nodeName") and each["status"].get("nominatedNodeName")
    }
    found, preempted = [], False
    lines = _LINES.findall(log)
    last = {key: place for place, (what, key, _) in enumerate(lines) if what.startswith("Attempting")}
    for place, (what, key, node) in enumerate(lines):
        if what == "Preempting pods":
            promised[key] = node
            preempted = True
            continue
        end = ends.get(key)
        if end is None or not end["spec"].get("nodeName") or key in placed:
            continue
        if key not in there or place != last[key]:
            continue
        ways = [placed] if not (preempted and taken) else [placed, placed | taken]
        nominated = {other: on for other, on in promised.items() if other != key}
        cases = [_case(state, there[key], list(way.values()), _waiting(there, nominated)) for way in ways]
        found.append(Binding(number, key, end["spec"]["nodeName"], promised.pop(key, ""), cases))
        placed[key] = end
    return found


def _with(before: State, changed: list[Json]) -> State:
    kinds = {
        "Node": "nodes",
        "Namespace": "namespaces",
        "PersistentVolume": "persistentVolumes",
        "PersistentVolumeClaim": "persistentVolumeClaims",
        "CSINode": "csiNodes",
        "Service": "services",
        "Pod": "pods",
    }
    state = {kind: {key_of(each): each for each in items} for kind, items in before.items()}
    for each in changed:
        if each["kind"] in kinds:
            state[kinds[each["kind"]]][key_of(each)] = each
    return {kind: list(items.values()) for kind, items in state.items()}


def _without(state: State, gone: str) -> State:
    """The state without the object at a path; pods that went are seen to by who asks."""
    return {
        kind: [each for each in items if kind == "pods" or _path(kind, each) != gone] for kind, items in state.items()
    }


def _path(kind: str, item: Json) -> str:
    """Where an object of a list is; it does not say itself of which kind it is."""
    return f"{in_namespace(KINDS[kind], item['metadata'].get('namespace', ''))}/{item['metadata']['name']}"


def _waiting(there: dict[str, Json], nominated: dict[str, str]) -> list[Json]:
    return [
        {**there[key], "status": {**there[key]["status"], "nominatedNodeName": node}}
        for key, node in nominated.items()
        if key in there
    ]


def _case(state: State, pod: Json, placed: list[Json], nominated: list[Json]) -> Json:
    asked = {"pods": placed, "nominated": nominated, "incoming": [pod]}
    return {"config": CONFIG, "bySchedulerName": True, **state, **asked}


def judged(found: list[Binding], folder: Path) -> list[str]:
    """What is wrong with bindings, a line each; the cases and answers are left in a folder."""
    if not found:
        return []
    cases = folder / "bindings.jsonl"
    with cases.open("w") as out:
        for number, each in enumerate(found):
            for way, case in enumerate(each.cases):
                out.write(json.dumps({"name": f"{number}/{way}", **case}) + "\n")
    built = os.environ.get("ORACLE_BIN")
    judge = oracle("oracle-1.37", "1.37", Path(built) if built else None)
    run = judge.start(cases, folder / "verdicts.jsonl").wait()
    assert not run.failure, run.failure
    answers = {each["name"]: each for each in run.answers}
    wrong = []
    for number, each in enumerate(found):
        said = [answers[f"{number}/{way}"] for way in range(len(each.cases))]
        if not any(_speaks_for(each, answer) for answer in said):
            verdict = (said[0].get("verdicts") or [{}])[0]
            best = verdict.get("best", verdict.get("message", said[0].get("error")))
            wrong.append(f"history {each.history}: {each.pod} is on {each.node}, best is {best} (case {number})")
    return wrong


def _speaks_for(binding: Binding, answer: Json) -> bool:
    (verdict,) = answer.get("verdicts") or [{}]
    if binding.promised == binding.node and binding.node in verdict.get("feasible", ()):
        return True
    return binding.node in verdict.get("best", ())
