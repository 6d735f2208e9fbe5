"""Do two answers to one case say the same? Compares verdicts and validation results; judges nothing itself.

Used by conformance.run and by the tests of stored cases, so that both mean the same by "agree".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


class _Absent:
    """Stands for a key or an element that one side does not have."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two answers differ; ``path`` is written like ``verdicts[0].rejected.n003.reasons``."""

    path: str
    ours: object
    theirs: object

    def __str__(self) -> str:
        return f"{self.path}\n    ours            {self.ours!r}\n    kube-scheduler  {self.theirs!r}"


def verdict_differences(ours: Json, theirs: Json) -> list[Difference]:
    """Where two answers of a scheduling judge, ``{"name", "verdicts", "error"?}``, differ; empty when they agree.

    Scores of 0 and absent scores mean the same; a node's reasons come in no order. Of a pod on which a plugin failed
    only the error counts: how far the nodes were looked at before is chance. Several errors of a dry run of preemption
    come in no order. All else must be equal.
    """
    return list(_walk("", _normal_answer(ours), _normal_answer(theirs)))


def validation_differences(ours: Json, theirs: Json) -> list[Difference]:
    """Where two answers of a validation judge, ``{"errors": [{"type", "field", "message"}], "decode"?}``, differ.

    Errors are compared as sets. Whether the object decodes must agree, the words for why not need not.
    """
    return list(_walk("", _normal_validation(ours), _normal_validation(theirs)))


def agreeing_verdicts(ours: Json, theirs: Json) -> int:
    """How many verdicts of one case agree; none when the answers have not as many verdicts as each other."""
    left, right = _normal_answer(ours)["verdicts"], _normal_answer(theirs)["verdicts"]
    if left is None or right is None or len(left) != len(right):
        return 0
    return sum(mine == other for mine, other in zip(left, right, strict=True))


def _normal_answer(answer: Json) -> Json:
    verdicts = answer.get("verdicts")
    normal = None if verdicts is None else [_normal_verdict(verdict) for verdict in verdicts]
    return {"verdicts": normal} | {key: answer[key] for key in ("name", "error") if key in answer}


def _normal_verdict(verdict: Json) -> Json:
    if verdict.get("error"):
        return {key: verdict[key] for key in ("pod", "error", "chosen") if key in verdict}
    normal = dict(verdict)
    if "rejected" in verdict:
        normal["rejected"] = {
            node: {**rejection, "reasons": sorted(rejection["reasons"])} if "reasons" in rejection else rejection
            for node, rejection in verdict["rejected"].items()
        }
    if "scores" in verdict:
        normal["scores"] = {
            node: {plugin: points for plugin, points in by_plugin.items() if points}
            for node, by_plugin in verdict["scores"].items()
        }
    message = verdict.get("preemption", {}).get("message", "")
    if message.startswith("["):
        normal["preemption"] = {**verdict["preemption"], "message": sorted(message[1:-1].split(", "))}
    return normal


def _normal_validation(answer: Json) -> Json:
    errors = {(error["type"], error["field"], error["message"]) for error in answer.get("errors") or []}
    return {"errors": {" ".join(error): "reported" for error in errors}, "decodes": "decode" not in answer}


def _walk(path: str, ours: object, theirs: object) -> Iterator[Difference]:
    """The innermost differences of two JSON values, by key and by position."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(ours.keys() | theirs.keys()):
            step = f"{path}.{key}" if path else str(key)
            yield from _walk(step, ours.get(key, ABSENT), theirs.get(key, ABSENT))
    elif (
        isinstance(ours, list) and isinstance(theirs, list) and _has_objects(ours, theirs) and len(ours) == len(theirs)
    ):
        for i, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from _walk(f"{path}[{i}]", mine, other)
    elif ours != theirs:
        yield Difference(path or "answer", ours, theirs)


def _has_objects(*lists: list[Any]) -> bool:
    """Lists of plain values read better whole than element by element."""
    return any(isinstance(element, dict) for values in lists for element in values)
