"""Prints the page `versions.md` from the rules that stand beside the plugins; a test holds the page to it.

python docs/reference/write_versions.py > docs/reference/versions.md
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

import topospread.plugins
from topospread.config import request_rules
from topospread.config.load import default_profile
from topospread.config.version_rules import changes
from topospread.config.versions import NEWEST, OLDEST, KubeVersion
from topospread.scheduling import (
    batching,
    eligible_to_preempt_others,
    framework,
    pod_groups,
    pod_signature,
    preemption,
    requeueing,
    sampling,
)
from topospread.scheduling import select_host as choice

DRAWN = ("1.37", "1.36", "1.35", "1.27")
STORED = ("1.34", "1.33", "1.31", "1.30", "1.29", "1.28", "1.26")
_ORACLE = Path(__file__).parents[2] / "conformance" / "oracle"

HEAD = """\
# Kubernetes versions

Printed from the rules beside the plugins by `python docs/reference/write_versions.py`.

`--kube-version 1.18` to `1.37` decides like that minor version's kube-scheduler, with its default profile, messages and
[feature gates](feature-gates.md).

## In short

- **Hard constraints** decide alike from 1.24 on, except an empty selector (1.27) and the gates of `minDomains`,
  `nodeAffinityPolicy`, `nodeTaintsPolicy` and `matchLabelKeys`. 1.19 to 1.23 count pods on more nodes.
- **Soft constraints** score alike from 1.19 on, except for rounding (1.24). 1.18 scores differently.
- **From 1.27 to 1.37** the same manifests can land elsewhere because of NodeResourcesBalancedAllocation (1.33, 1.36),
  requests of sidecars (1.28, 1.32) and of pods resized in place (1.33, 1.37), ImageLocality (1.30, 1.36, 1.37),
  overcommitted nodes (1.28) and the order of preemption's victims (1.30).
- **Before 1.23** the default profile weighs TaintToleration, NodeAffinity and InterPodAffinity 1, since then 3, 2 and
  2. Before 1.20 SelectorSpread spread pods without constraints; since then built-in default constraints do.

## Versions that are compared with their own source

Feasible nodes, codes, plugins, reasons, messages, points, totals and preemption are compared with these
kube-schedulers.

"""

CHANGES_HEAD = """
Other versions follow their source. Validation, sampling, queueing hints and pods of controllers are compared with 1.37
alone, configurations also with 1.27, 1.25, 1.23 and 1.22, and the fields that the API server keeps of a new pod with
1.20, 1.22, 1.25, 1.27, 1.31, 1.33 and 1.34. Pod Security levels are evaluated from 1.36 on and compared with 1.37.

## What changed

A version is *compared* if its own source and that of the version before were run, *partly compared* if newer and older
versions were, else only read, like all queueing hints.
"""

PROFILE_HEAD = """
## The default profile

Changes of the default profile's filters and scores, with gates at their defaults. A number is a score's weight.

"""

_WHERE = {
    "FrameworkRules": "all plugins",
    "VersionedRequestRules": "requests of pods",
    "PreemptionRules": "DefaultPreemption",
    "EligibilityRules": "DefaultPreemption",
    "BatchingRules": "Batches of equal pods",
    "SignatureRules": "Batches of equal pods",
    "ChoiceRules": "Choice among equal nodes",
    "RequeueingRules": "Pending pods",
    "PodGroupRules": "Pod groups",
    "NodeEventRules": "Pending pods",
    "SamplingRules": "`--sampling kube`",
    "StrategyRules": "scores by resources",
    "BalancedAllocationRules": "NodeResourcesBalancedAllocation",
    "BalanceOfTwoRules": "NodeResourcesBalancedAllocation",
    "AffinityHintRules": "InterPodAffinity",
    "NodeVolumeLimitsRules": "NodeVolumeLimits",
}


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
    found = [(change, _where(kind)) for kind in _kinds() for change in changes(kind)]
    dated = [(change.version, where, change.what) for change, where in found if change.version is not None]
    by_version = sorted(dated, key=lambda each: (-each[0].minor, each[1]))
    for version, of_version in groupby(by_version, key=lambda each: each[0]):
        yield f"\n### {version}, {_judged(version)}\n"
        for where, of_subject in groupby(of_version, key=lambda each: each[1]):
            yield f"- **{where}**: " + " ".join(what for *_, what in of_subject)


def _kinds() -> Iterator[type[Any]]:
    plugins = (
        importlib.import_module(each.name)
        for each in pkgutil.walk_packages(topospread.plugins.__path__, "topospread.plugins.")
    )
    scheduling = [framework, choice, batching, eligible_to_preempt_others, pod_groups, pod_signature, preemption]
    queued = [requeueing, sampling]
    modules: list[ModuleType] = [*scheduling, *queued, request_rules, *plugins]
    for module in modules:
        for name, kind in vars(module).items():
            if name.endswith("Rules") and dataclasses.is_dataclass(kind) and kind.__module__ == module.__name__:
                assert isinstance(kind, type)
                yield kind


def _where(kind: type[Any]) -> str:
    return _WHERE.get(kind.__name__, kind.__name__.removesuffix("Rules"))


def _judged(version: KubeVersion) -> str:
    with_source = {KubeVersion.parse(each) for each in (*DRAWN, *STORED)}
    before = KubeVersion(version.major, version.minor - 1)
    if version in with_source and before in with_source:
        return "compared"
    return "partly compared" if version > min(with_source) else "read"


def profiles() -> Iterator[str]:
    """A row for each version whose default profile is not that of the one before."""
    before: dict[str, dict[str, int]] = {}
    for minor in range(OLDEST.minor, NEWEST.minor + 1):
        profile = default_profile(KubeVersion(1, minor))
        now = {"filter": dict.fromkeys(profile.enabled("filter"), 0), "score": profile.weights}
        if minor == OLDEST.minor:
            yield f"- 1.{minor}: {_listed('filters', now['filter'])}; {_listed('scores', now['score'])}"
        elif any([*now[point].items()] != [*before[point].items()] for point in now):
            yield f"- 1.{minor}: {_differences(before, now)}"
        before = now


def _listed(what: str, plugins: dict[str, int]) -> str:
    return f"{what} {', '.join(name + (f' {weight}' if weight else '') for name, weight in plugins.items())}"


def _differences(before: dict[str, dict[str, int]], now: dict[str, dict[str, int]]) -> str:
    words = []
    for point, new in now.items():
        old = before[point]
        came, went = {name: new[name] for name in new if name not in old}, [name for name in old if name not in new]
        words += [_listed(f"{point} on:", came)] if came else []
        words += [f"{point} off: {', '.join(went)}"] if went else []
        changed = [f"{name} {old[name]} → {new[name]}" for name in new if old.get(name, new[name]) != new[name]]
        words += [f"weight {', '.join(changed)}"] if changed else []
    order = list(now["filter"])
    if [name for name in order if name in before["filter"]] != [name for name in before["filter"] if name in order]:
        words.append("filters in another order")
    return "; ".join(words) or "scores in another order, which changes nothing"


def page() -> str:
    """The whole page."""
    parts = [(HEAD, judged()), (CHANGES_HEAD, told()), (PROFILE_HEAD, profiles())]
    return "".join(head + "".join(f"{row}\n" for row in rows) for head, rows in parts)


if __name__ == "__main__":
    print(page(), end="")
