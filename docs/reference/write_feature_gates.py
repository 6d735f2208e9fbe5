"""Prints the page `feature-gates.md` from the tables of gates and fields; a test holds the page to it.

python docs/reference/write_feature_gates.py > docs/reference/feature-gates.md
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from topospread.config.gate_table import GATES, GateRow
from topospread.config.versions import OLDEST
from topospread.workloads.dropped_fields import FIELDS, GatedField

HEAD = """\
# Feature gates

Printed from the tables by `python docs/reference/write_feature_gates.py`.

`--kube-version` gives every gate its default of that version. `--feature-gates A=true,B=false` changes gates of the
API server and of kube-scheduler; `apiserver:A=true` and `scheduler:A=true` change one program and win over the form
without a program. Any gate of the version is accepted, also `AllAlpha` and `AllBeta`. Errors are kube-scheduler's:

```text
error: --feature-gates: unrecognized feature gate: NoSuchGate
error: --feature-gates: cannot set feature gate MinDomainsInPodTopologySpread to false, feature is locked to true
```

The two programs treat a field whose gate is off differently:

- **The API server drops** the field when an object is created, so pods of stored workloads lack it too. A stored object
  (with a `uid` or a `resourceVersion`) keeps it, unless the version does not know the field at all.
- **kube-scheduler ignores** the field, which stays in the object. Since 1.34 the API server writes `matchLabelKeys`
  into the selector, so they count whatever kube-scheduler's gates are.

The answer lists these fields as warnings, and in JSON as `droppedFields` and `ignoredFields`. Two cases are rejected
instead: tolerations with `Lt` and `Gt` while `TaintTolerationComparisonOperators` is off, and volumes whose only source
(`image`, `ephemeral`) the version does not know. [Kubernetes versions](versions.md) says which API servers this is
compared with.

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

| gate | field that the API server keeps while the gate is on | known since |
|---|---|---|
"""

GATES_HEAD = """
## Gates that touch scheduling

`off` and `on` are the defaults from a version on; a gate that is *locked* cannot be changed. After its last version a
gate is no longer recognised, and what it switched stays as it was.

| gate | history | program | effect |
|---|---|---|---|
"""

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


def fields() -> Iterator[str]:
    """Yield a row for the fields of one gate and version; fields of templates are the pod's."""
    grouped: dict[tuple[str, str], dict[str, None]] = {}
    for attribute, kind in _OBJECTS.items():
        for each in FIELDS[attribute]:
            if not each.of_template:
                since = f"1.{each.since.minor}" if each.since > OLDEST else f"{OLDEST} or earlier"
                grouped.setdefault((each.gate, since), {})[f"{kind} `{_short(each)}`"] = None
    yield from (f"| {gate} | {', '.join(names)} | {since} |" for (gate, since), names in grouped.items())


def _short(field: GatedField) -> str:
    """Return the path, with one path for the four kinds of affinity terms and for both kinds of containers."""
    path = re.sub(r"affinity\.pod\w+\.\w+\[\](\.podAffinityTerm)?", "affinity…terms[]", field.path)
    return re.sub(r"(initC|c)ontainers(?=\[\]\.(volumeM|restartPolicyR))", "containers/initContainers", path)


def gates() -> Iterator[str]:
    """A row for each gate, by name."""
    for row in sorted(GATES.values(), key=lambda each: each.name):
        programs = "both" if len(row.components) > 1 else PROGRAMS[row.components[0]]
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
