"""What-ifs as text, for a URL, a Drill file or a command line.

A trial is a list of steps. Drill steps have their command-line form, ``fail zone=a``. A changed object is ``patch``
with a JSON patch (RFC 6902).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from topospread.drill import steps
from topospread.drill.patching import PatchedObject
from topospread.errors import UsageError
from topospread.whole_number import whole_number

Json = dict[str, Any]

_CONSTRAINT = re.compile(r"^.*/topologySpreadConstraints/(\d+)/(?=\w+$)")

MOST_STEPS = 50
"""Maximum number of steps in a URL."""


TrialStep = steps.Step | PatchedObject


def read_trial(texts: Sequence[str]) -> tuple[TrialStep, ...]:
    """Parse the steps of a URL. Raise UsageError if a step is malformed, or there are too many."""
    if len(texts) > MOST_STEPS:
        raise UsageError(f"{len(texts)} steps: at most {MOST_STEPS} are allowed")
    return tuple(map(_read, texts))


def manifest_name(number: int) -> str:
    """Return the name of the manifest that step ``number``, counted from 0, applies."""
    return f"what-if-{number + 1}.yaml"


def _read(text: str) -> TrialStep:
    name, _, rest = text.strip().partition(" ")
    if name in steps.NODE_STEPS:
        return steps.NODE_STEPS[name](steps.read_choice(rest, name))
    if name not in _READ:
        raise UsageError(f"unknown step '{name}'; the steps are {', '.join((*steps.NODE_STEPS, *_READ))}")
    return _READ[name](rest)


def _rollout(text: str) -> steps.Step:
    found = steps.read_rollout(text, "rollout")
    if found.path:
        raise UsageError(f"rollout {text}: a page reads no files; patch the object instead")
    return found


def _add(text: str) -> steps.Step:
    """Parse ``3 like node-1`` or ``3 like node-1 in ZONE``."""
    words = text.split()
    in_zone = len(words) == 5 and words[3] == "in"
    number = whole_number(words[0]) if words else None
    is_form = (len(words) == 3 or in_zone) and words[1] == "like"
    if not is_form or number is None or not 0 < number <= 10_000:
        raise UsageError(f"add {text}: write add NUMBER like NODE, or add NUMBER like NODE in ZONE")
    return steps.AddNodes(number, words[2], words[4] if in_zone else "")


def _patch(text: str) -> PatchedObject:
    target, _, patch = text.partition(" ")
    parts = target.split("/")
    try:
        operations = json.loads(patch)
    except (ValueError, RecursionError):
        operations = None
    well = isinstance(operations, list) and all(isinstance(each, dict) for each in operations)
    if len(parts) not in (2, 3) or not all(parts) or not well:
        raise UsageError(f"patch {target}: write patch KIND/[NAMESPACE/]NAME and a JSON patch, a list of operations")
    kind, *namespace, name = parts
    return PatchedObject(kind, "".join(namespace), name, json.dumps(operations, separators=(",", ":")))


_READ: Mapping[str, Callable[[str], TrialStep]] = {
    "scale": partial(steps.read_scale, where="scale"),
    "autoscale": partial(steps.read_autoscale, where="autoscale"),
    "wait": partial(steps.read_wait, where="wait"),
    "rollout": _rollout,
    "add": _add,
    "patch": _patch,
}


def title(step: TrialStep) -> str:
    """Return the step in words for the user."""
    if not isinstance(step, PatchedObject):
        return str(step)
    changes = [_change(each) for each in step.operations]
    return f"{step.kind} {step.name}: {'; '.join(changes)}"


def _change(operation: Json) -> str:
    path = _CONSTRAINT.sub(lambda found: f"constraint {int(found[1]) + 1}: ", str(operation.get("path", "")))
    field = path.removeprefix("constraint 1: ").removeprefix("/spec/template/spec/").strip("/").replace("/", ".")
    match operation.get("op"):
        case "remove":
            return f"without {field}" if field else "deleted"
        case "add" | "replace":
            return f"{field or 'added'} {_short(operation.get('value'))}"
    return f"{operation.get('op')} {field}"


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, separators=(", ", ": "))
    return text if len(text) <= 60 else f"{text[:59]}…"
