"""Prints the page `feature-gates.md` from the tables of gates and fields; a test holds the page to it.

python docs/reference/write_feature_gates.py > docs/reference/feature-gates.md
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from topospread.admission.dropped_fields import FIELDS, GatedField
from topospread.config.gate_table import GATES, GateRow
from topospread.config.versions import OLDEST

HEAD = """\
# Feature gates

Printed from the tables by `python docs/reference/write_feature_gates.py`.

`--kube-version` gives every gate its default of that version. `--feature-gates A=true,B=false` changes gates of the
API server and of kube-scheduler; `apiserver:A=true` and `scheduler:A=true` change one program and win. Any gate of the
version is accepted, also `AllAlpha` and `AllBeta`.

The two programs treat a field whose gate is off differently:

- **The API server drops** the field when an object is created, so pods of stored workloads lack it too. A stored object
  (with a `uid` or a `resourceVersion`) keeps it, unless the version does not know the field at all.
- **kube-scheduler ignores** the field, which stays in the object. Since 1.34 the API server writes `matchLabelKeys`
  into the selector, so they count whatever kube-scheduler's gates are.

The answer lists these fields as warnings, and in JSON as `droppedFields` and `ignoredFields`. Two cases are rejected
instead: tolerations with `Lt` and `Gt` while `TaintTolerationComparisonOperators` is off, and volumes whose only source
(`image`, `ephemeral`) the version does not know.
"""

GATES_HEAD = """
## Gates that touch scheduling

A gate belongs to both programs unless one is named. ALPHA gates are off, GA gates are on, and BETA gates are *on* or
*off*, each from the version given. A *locked* gate cannot be changed. After its last version a gate is unknown, and its
effect stays. The API server keeps the fields in brackets while the gate is on. They exist since the gate's first
version or the version given.

"""

USUAL = {("ALPHA", False): "", ("GA", True): ""}
"""Stage and default of which the page names only the stage."""
PROGRAMS = {"scheduler": "kube-scheduler", "apiserver": "API server"}
_OBJECTS = {
    "nodes": "Node",
    "pods": "Pod",
    "stateful_sets": "StatefulSet",
    "jobs": "Job",
    "persistent_volume_claims": "PersistentVolumeClaim",
    "persistent_volumes": "PersistentVolume",
    "priority_classes": "PriorityClass",
    "runtime_classes": "RuntimeClass",
}


def fields() -> dict[str, list[str]]:
    """Return the fields of each gate, with their version if it is not the gate's first one."""
    found: dict[str, dict[str, None]] = {}
    for attribute, kind in _OBJECTS.items():
        for each in FIELDS[attribute]:
            if not each.of_template and each.gate in GATES:
                first = GATES[each.gate].spans[0].since
                since = f" since {each.since}" if each.since not in (first, OLDEST) else ""
                found.setdefault(each.gate, {})[f"{kind} `{_short(each)}`{since}"] = None
    return {gate: list(names) for gate, names in found.items()}


def _short(field: GatedField) -> str:
    """Return the path, with one path for the four kinds of affinity terms and for both kinds of containers."""
    path = re.sub(r"affinity\.pod\w+\.\w+\[\](\.podAffinityTerm)?", "affinity…terms[]", field.path)
    return re.sub(r"(initC|c)ontainers(?=\[\]\.(volumeM|restartPolicyR))", "containers/initContainers", path)


def gates() -> Iterator[str]:
    """A row for each gate, by name."""
    kept = fields()
    for row in sorted(GATES.values(), key=lambda each: each.name):
        program = "" if len(row.components) > 1 else f" ({PROGRAMS[row.components[0]]})"
        yield f"- **{row.name}**{program}: {row.effect}{bracketed(kept.get(row.name))}; {_history(row)}"


def bracketed(names: list[str] | None) -> str:
    """Return names in brackets."""
    return f" ({', '.join(names)})" if names else ""


def _history(row: GateRow) -> str:
    spans = [
        f"{each.since} {each.stage}{USUAL.get((each.stage, each.default), ' on' if each.default else ' off')}"
        f"{' locked' if each.locked else ''}"
        for each in row.spans
    ]
    return ", ".join([*spans, *([f"last {row.last}"] if row.last.minor < 37 else [])])


def page() -> str:
    """The whole page."""
    return "".join([HEAD, GATES_HEAD, *(f"{row}\n" for row in gates())])


if __name__ == "__main__":
    print(page(), end="")
