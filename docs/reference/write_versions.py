"""Prints the page `versions.md` from the rules that stand beside the plugins; a test holds the page to it.

python docs/reference/write_versions.py > docs/reference/versions.md
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import topospread.plugins
from topospread.config import request_rules
from topospread.config.api_versions import API_VERSIONS
from topospread.config.load import default_profile
from topospread.config.version_rules import VersionChange, changes
from topospread.config.versions import NEWEST, OLDEST, KubeVersion
from topospread.scheduling import eligible_to_preempt_others, framework, preemption, requeueing, sampling
from topospread.scheduling import select_host as choice

DRAWN = ("1.37", "1.36", "1.35", "1.27")
STORED = ("1.34", "1.33", "1.31", "1.30", "1.29", "1.28", "1.26")
_ORACLE = Path(__file__).parents[2] / "conformance" / "oracle"

HEAD = """\
# Kubernetes versions

Printed from the rules beside the plugins by `python docs/reference/write_versions.py`.

`--kube-version 1.18` to `1.37` decides as that version's kube-scheduler does: its arithmetic, its default profile, its
gates, its words. Patch levels are not told apart. Feature gates have [a page of their own](feature-gates.md).

## Which versions their own source has judged

Stored cases are part of `make test`. All that topospread answers about a pod is compared: feasible nodes, codes,
plugins, reasons, messages, points by plugin, totals, preemption. Validation of pods, sampling, queueing hints and
the pods that controllers make are judged for 1.37 alone, configurations also by 1.27, 1.25, 1.23 and 1.22, and what the
API server keeps of a pod that is created by 1.20, 1.22, 1.25, 1.27, 1.31, 1.33 and 1.34 too.

| version | judged by |
|---|---|
"""

CHANGES_HEAD = """
Where a version was not judged, its source was read, minor version by minor version: every change stands at the version
that made it.

## In short

- **Hard constraints** decide alike from 1.24 on, but for an empty selector (1.27) and the gates of `minDomains`,
  `nodeAffinityPolicy`, `nodeTaintsPolicy` and `matchLabelKeys`. 1.19 to 1.23 count pods on more nodes.
- **Soft constraints** score alike from 1.19 on, but for rounding (1.24). 1.18 scores in another way altogether.
- **What moves pods from 1.27 to 1.37** without any change of manifests: NodeResourcesBalancedAllocation (1.33, 1.36),
  requests of sidecars (1.28, 1.32) and of pods resized in place (1.33, 1.37), ImageLocality (1.30, 1.36, 1.37),
  overcommitted nodes (1.28), the order of preemption's victims (1.30).
- **Before 1.23** the default profile weighs TaintToleration, NodeAffinity and InterPodAffinity 1; since, 3, 2 and 2.
  Before 1.20 SelectorSpread spread pods that have no constraints; since, built-in default constraints do.

## What changed

The newest first. *Judged*: **yes** where the versions on both sides of the change have been judged by their own
source; **about** where it has been judged as it was and as it is, but the very version is read, because its
neighbours were not built; **as it is** where what was before is only read.

| since | where | what is so from then on | judged |
|---|---|---|---|
"""

PROFILE_HEAD = """
## The default profile

What the default profile of a version (without a configuration, gates at their defaults) has that the one before it
had not. Filters and scores only; a number is the weight of a score.

| version | |
|---|---|
"""

API_HEAD = """
## Versions of the configuration

A version that `--kube-version` does not serve is still read, with a warning: it keeps its own defaults, those of the
nearest version that served it. What the versions enable by default is in
[the scheduler's configuration](configuration.md).

| apiVersion | served by |
|---|---|
"""

_WHERE = {
    "FrameworkRules": "all plugins",
    "VersionedRequestRules": "requests of pods",
    "PreemptionRules": "DefaultPreemption",
    "EligibilityRules": "DefaultPreemption",
    "ChoiceRules": "The choice among equals",
    "RequeueingRules": "Pods that wait",
    "NodeEventRules": "Pods that wait",
    "SamplingRules": "`--sampling kube`",
    "StrategyRules": "scores by resources",
    "BalancedAllocationRules": "NodeResourcesBalancedAllocation",
    "BalanceOfTwoRules": "NodeResourcesBalancedAllocation",
    "AffinityHintRules": "InterPodAffinity",
    "NodeVolumeLimitsRules": "NodeVolumeLimits and its in-tree siblings",
}


def judged() -> Iterator[str]:
    """A row for each version or span of versions."""
    for version in DRAWN:
        fresh = "fresh random cases in every `make conformance`"
        yield f"| {version} | kube-scheduler {_release(version)}: {fresh}, stored ones |"
    for version in STORED:
        fresh = f'`make conformance ARGS="--flavours v{version}"`'
        yield f"| {version} | kube-scheduler {_release(version)}: stored cases, fresh ones by {fresh} |"
    yield "| 1.32 | none: read, between versions that are judged |"
    yield "| 1.25 to 1.18 | none: read |"


def _release(version: str) -> str:
    """The patch release that its oracle is built on."""
    module = _ORACLE / "go.mod" if version == str(NEWEST) else _ORACLE / "versions" / version / "go.mod"
    lines = module.read_text(encoding="utf-8").splitlines()
    return next(line.split()[1][1:] for line in lines if line.strip().startswith("k8s.io/kubernetes v"))


def told() -> Iterator[str]:
    """A row for each change of behaviour."""
    found = [(change, where) for kind in _kinds() for change in changes(kind) for where in [_where(kind)]]
    dated = [(change.version, where, change) for change, where in found if change.version is not None]
    for version, where, change in sorted(dated, key=lambda each: (-each[0].minor, each[1])):
        yield f"| {version} | {where} | {_escaped(change)} | {_judged(version, change)} |"


def _kinds() -> Iterator[type[Any]]:
    plugins = (
        importlib.import_module(each.name)
        for each in pkgutil.walk_packages(topospread.plugins.__path__, "topospread.plugins.")
    )
    scheduling = [framework, choice, eligible_to_preempt_others, preemption, requeueing, sampling]
    modules: list[ModuleType] = [*scheduling, request_rules, *plugins]
    for module in modules:
        for name, kind in vars(module).items():
            if name.endswith("Rules") and dataclasses.is_dataclass(kind) and kind.__module__ == module.__name__:
                assert isinstance(kind, type)
                yield kind


def _where(kind: type[Any]) -> str:
    return _WHERE.get(kind.__name__, kind.__name__.removesuffix("Rules"))


def _escaped(change: VersionChange) -> str:
    return change.what.replace("|", "\\|")


def _judged(version: KubeVersion, change: VersionChange) -> str:
    if change.what.startswith("Queueing hints: "):
        return "as it is"
    with_source = {KubeVersion.parse(each) for each in (*DRAWN, *STORED)}
    before = KubeVersion(version.major, version.minor - 1)
    if version in with_source and before in with_source:
        return "yes"
    return "about" if version > min(with_source) else "as it is"


def profiles() -> Iterator[str]:
    """A row for each version whose default profile is not that of the one before."""
    before: dict[str, dict[str, int]] = {}
    for minor in range(OLDEST.minor, NEWEST.minor + 1):
        profile = default_profile(KubeVersion(1, minor))
        now = {"filter": dict.fromkeys(profile.enabled("filter"), 0), "score": profile.weights}
        if minor == OLDEST.minor:
            yield f"| 1.{minor} | {_listed('filters', now['filter'])}; {_listed('scores', now['score'])} |"
        elif any([*now[point].items()] != [*before[point].items()] for point in now):
            yield f"| 1.{minor} | {_differences(before, now)} |"
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
        words.append(f"filters in another order: {', '.join(order)}")
    return "; ".join(words) or "scores in another order, which changes nothing"


def api_versions() -> Iterator[str]:
    """A row for each version of the configuration."""
    for each in sorted(API_VERSIONS.values(), key=lambda api: api.first, reverse=True):
        yield f"| {each.group_version} | {each.first} to {each.last} |"


def page() -> str:
    """The whole page."""
    parts = [(HEAD, judged()), (CHANGES_HEAD, told()), (PROFILE_HEAD, profiles()), (API_HEAD, api_versions())]
    return "".join(head + "".join(f"{row}\n" for row in rows) for head, rows in parts)


if __name__ == "__main__":
    print(page(), end="")
