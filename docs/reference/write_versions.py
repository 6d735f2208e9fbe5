"""Prints the page `versions.md` from the rules that stand beside the plugins; a test holds the page to it.

python docs/reference/write_versions.py > docs/reference/versions.md
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from topospread.config.version_rules import changes
from topospread.config.versions import NEWEST, KubeVersion
from topospread.plan.version_changes import kinds_of_rules, where

DRAWN = ("1.37", "1.36", "1.35", "1.27")
STORED = ("1.34", "1.33", "1.31", "1.30", "1.29", "1.28", "1.26")
_ORACLE = Path(__file__).parents[2] / "conformance" / "oracle"

HEAD = """\
# Kubernetes versions

Printed from the rules beside the plugins by `python docs/reference/write_versions.py`.

`--kube-version 1.18` to `1.37` decides like that minor version's kube-scheduler, with its default profile, messages and
[feature gates](feature-gates.md). `topospread config show --kube-version VERSION` prints the default profile.
[`plan`](../how-to/scheduler-configuration.md#what-changes-with-a-newer-kubernetes) compares versions on your cluster.

## In short

- **Hard constraints** give equal results from 1.24 on, except for an empty selector (1.27) and the gates of
  `minDomains`, `nodeAffinityPolicy`, `nodeTaintsPolicy` and `matchLabelKeys`. 1.19 to 1.23 count pods on more nodes.
- **Soft constraints** give equal scores from 1.19 on, except for rounding (1.24). 1.18 scores differently.
- **From 1.27 to 1.37** pods of the same manifests can get other nodes because of NodeResourcesBalancedAllocation (1.33,
  1.36), requests of sidecars (1.28, 1.32) and of pods resized in place (1.33, 1.37), ImageLocality (1.30, 1.36, 1.37),
  overcommitted nodes (1.28) and the order of preemption's victims (1.30).
- **Weights.** Before 1.23 TaintToleration, NodeAffinity and InterPodAffinity have the default weight 1. Since 1.23 they
  have 3, 2 and 2.
- **Pods without constraints** are spread by SelectorSpread before 1.20, and by built-in default constraints since.

## Versions that are compared with their own source

Feasible nodes, rejecting plugins, reasons, messages, scores and preemption are compared with these kube-schedulers:

"""

CHANGES_HEAD = """
Other versions follow their source. Validation, sampling, queueing hints and pods of controllers are compared only with
1.37. Configurations are compared with 1.37, 1.27, 1.25, 1.23 and 1.22. The fields that the API server keeps of a new
pod are compared with 1.20, 1.22, 1.25, 1.27, 1.31, 1.33 and 1.34. Pod Security levels are evaluated from 1.36 on, and
compared with 1.37.

## What changed

*Compared*: topospread was compared with the kube-scheduler of this version and of the version before. *Partly
compared*: it was compared only with newer and older versions. *Read*: topospread follows the source. All queueing hints
are read.
"""


def judged() -> Iterator[str]:
    """Yield a line for each way in which versions are compared."""
    drawn, stored = (", ".join(map(_release, versions)) for versions in (DRAWN, STORED))
    yield f"- {drawn}: stored cases in `make test`, fresh random cases in `make conformance`"
    yield f'- {stored}: stored cases, fresh cases with `make conformance ARGS="--flavours v1.34"`'


def _release(version: str) -> str:
    """The patch release that its oracle is built on."""
    module = _ORACLE / "go.mod" if version == str(NEWEST) else _ORACLE / "versions" / version / "go.mod"
    lines = module.read_text(encoding="utf-8").splitlines()
    return next(line.split()[1][1:] for line in lines if line.strip().startswith("k8s.io/kubernetes v"))


def told() -> Iterator[str]:
    """Yield a section for each version, with a line for each change of behaviour."""
    found = [(change, where(kind)) for kind in kinds_of_rules() for change in changes(kind)]
    dated = [(change.version, subject, change.what) for change, subject in found if change.version is not None]
    by_version = sorted(dated, key=lambda each: (-each[0].minor, each[1]))
    for version, of_version in groupby(by_version, key=lambda each: each[0]):
        yield f"\n### {version}, {_judged(version)}\n"
        for subject, of_subject in groupby(of_version, key=lambda each: each[1]):
            yield f"- **{subject}**: " + " ".join(what for *_, what in of_subject)


def _judged(version: KubeVersion) -> str:
    with_source = {KubeVersion.parse(each) for each in (*DRAWN, *STORED)}
    before = KubeVersion(version.major, version.minor - 1)
    if version in with_source and before in with_source:
        return "compared"
    return "partly compared" if version > min(with_source) else "read"


def page() -> str:
    """The whole page."""
    parts = [(HEAD, judged()), (CHANGES_HEAD, told())]
    return "".join(head + "".join(f"{row}\n" for row in rows) for head, rows in parts)


if __name__ == "__main__":
    print(page(), end="")
