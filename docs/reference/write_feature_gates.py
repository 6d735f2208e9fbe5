"""Prints the page `feature-gates.md` from the tables of gates and fields; a test holds the page to it.

python docs/reference/write_feature_gates.py > docs/reference/feature-gates.md
"""

from __future__ import annotations

from collections.abc import Iterator

from topospread.config.gate_table import GATES, GateRow
from topospread.config.versions import OLDEST
from topospread.workloads.dropped_fields import FIELDS, GatedField

HEAD = """\
# Feature gates

Printed from the tables by `python docs/reference/write_feature_gates.py`.

`--kube-version` gives every gate its default of that version. `--feature-gates A=true,B=false` changes gates of the
API server and of kube-scheduler alike; `apiserver:A=true` and `scheduler:A=true` are of one program, and
decide against the first where they name the same gate. Any gate the version has may be named, also one that has
nothing to do with scheduling; `AllAlpha` and `AllBeta` work. What kube-scheduler refuses is refused in its words:

```text
error: --feature-gates: unrecognized feature gate: NoSuchGate
error: --feature-gates: cannot set feature gate MinDomainsInPodTopologySpread to false, feature is locked to true
```

The two programs do different things with a gate that is off:

- **The API server drops** the field when an object is created: it is as if it had not been written. A field that the
  version does not know yet is dropped as well, even from objects that are stored (they have a `uid` or a
  `resourceVersion`); one whose gate is off stays in stored objects, as it does on update. Templates of stored
  workloads give pods without it, for those are created now.
- **kube-scheduler ignores** the field, which stays in the object. What the API server has made of it stays in force:
  since 1.34 `matchLabelKeys` are written into the selector, and count whatever kube-scheduler's gates say.

The answer says which fields of which objects these are: as warnings, and in JSON as `droppedFields` and
`ignoredFields`. Two cases are no matter of dropping. Tolerations with the operators `Lt` and `Gt` are refused while
`TaintTolerationComparisonOperators` is off. Volumes that are left without a source, because the version does not know
`image` or `ephemeral`, are refused, too.

What becomes of a pod that is created is compared with the API server's own code of 1.20, 1.22, 1.25,
1.27, 1.31, 1.33, 1.34 and 1.37, on random pods and gates; for the other versions the rules are read from their sources.

```console
$ topospread simulate -f docs/reference/min-domains.yaml --on zones=3,nodes=6 --kube-version 1.26
yes: all 6 pods find nodes (6 nodes)
warning: minDomains is dropped by the API server (its feature gate
         MinDomainsInPodTopologySpread is off): Deployment default/web

WORKLOAD     PLACED  zone-a  zone-b  zone-c  SKEW  MAX
default/web     6/6       2       2       2     0    1
```
"""

FIELDS_HEAD = """
## Fields that not every version keeps

| field | known since | kept by the API server while the gate is on |
|---|---|---|
"""

GATES_HEAD = """
## Gates that touch scheduling

`off` and `on` are the defaults from a version on; a gate that is *locked* cannot be changed. After its last version a
gate is no longer recognised, and what it switched stays as it was.

| gate | history | decides in | what it does |
|---|---|---|---|
"""

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


def fields() -> Iterator[str]:
    """A row for each field of a kind; what stands in templates is the pod's."""
    for attribute, kind in _OBJECTS.items():
        for each in FIELDS[attribute]:
            if not each.of_template:
                since = f"1.{each.since.minor}" if each.since > OLDEST else f"{OLDEST} or earlier"
                yield f"| {kind} `{_short(each)}` | {since} | {each.gate} |"


def _short(field: GatedField) -> str:
    """The path, the middle of affinity terms left out: they are four times the same."""
    return field.path.replace("requiredDuringSchedulingIgnoredDuringExecution[]", "required…[]").replace(
        "preferredDuringSchedulingIgnoredDuringExecution[]", "preferred…[]"
    )


def gates() -> Iterator[str]:
    """A row for each gate, by name."""
    for row in sorted(GATES.values(), key=lambda each: each.name):
        programs = " and ".join(
            {"scheduler": "kube-scheduler", "apiserver": "API server"}[one] for one in row.components
        )
        yield f"| {row.name} | {_history(row)} | {programs} | {row.effect} |"


def _history(row: GateRow) -> str:
    spans = [
        f"{each.since} {each.stage} {'on' if each.default else 'off'}{' locked' if each.locked else ''}"
        for each in row.spans
    ]
    return ", ".join([*spans, *([f"last {row.last}"] if row.last.minor < 37 else [])])


def page() -> str:
    """The whole page."""
    return "".join([HEAD, FIELDS_HEAD, *(f"{row}\n" for row in fields()), GATES_HEAD, *(f"{row}\n" for row in gates())])


if __name__ == "__main__":
    print(page(), end="")
