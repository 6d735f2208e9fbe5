"""Prints the page `feature-gates.md` from the tables of gates and fields; a test holds the page to it.

python docs/reference/write_feature_gates.py > docs/reference/feature-gates.md
"""

from __future__ import annotations

from collections.abc import Iterator

from topospread.config.gate_table import GATES, GateRow

HEAD = """\
# Feature gates

Printed from the tables by `python docs/reference/write_feature_gates.py`.

`--kube-version` sets every gate to its default in that version. `--feature-gates A=true,B=false` changes gates of the
API server and of kube-scheduler. `apiserver:A=true` and `scheduler:A=true` change the gate of one program. Any gate of
the version is accepted, also `AllAlpha` and `AllBeta`.

If the gate of a field is off:

- **The API server drops** the field when an object is created. A stored object (with a `uid` or a `resourceVersion`)
  keeps it, unless the version does not know the field at all. Its new pods lack the field.
- **kube-scheduler ignores** the field, which stays in the object. Since 1.34 the API server writes `matchLabelKeys`
  into the selector, so they count even if kube-scheduler's gate is off.

Warnings name these fields. JSON lists them as `droppedFields` and `ignoredFields`. Two cases are errors: tolerations
with `Lt` and `Gt` while `TaintTolerationComparisonOperators` is off, and volumes whose only source (`image`,
`ephemeral`) the version does not know.
"""

GATES_HEAD = """
## Gates that touch scheduling

A gate belongs to both programs unless one is named. Each stage begins with the version before it: ALPHA gates are off,
GA gates are on, and BETA gates are *on* or *off*. A *locked* gate cannot be changed. After its *last* version a gate is
unknown, and its effect stays.

"""

USUAL = {("ALPHA", False): "", ("GA", True): ""}
"""Stage and default of which the page names only the stage."""
PROGRAMS = {"scheduler": "kube-scheduler", "apiserver": "API server"}


def gates() -> Iterator[str]:
    """A row for each gate, by name."""
    for row in sorted(GATES.values(), key=lambda each: each.name):
        program = "" if len(row.components) > 1 else f" ({PROGRAMS[row.components[0]]})"
        yield f"- **{row.name}**{program}: {row.effect}; {_history(row)}"


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
