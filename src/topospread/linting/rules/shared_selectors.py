"""Rules about pods of several workloads that one constraint counts together, and about pods that nothing groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from topospread.api.labels import InvalidSelectorError, Selector
from topospread.api.pod import Pod
from topospread.api.spread import DO_NOT_SCHEDULE, TopologySpreadConstraint
from topospread.api.workload import CronJob, Job
from topospread.config.args import DefaultConstraint
from topospread.config.profile import Configuration
from topospread.linting.examples import constraint, deployment
from topospread.linting.lint_input import LintInput, LintSubject, Manifest
from topospread.linting.neighbours import autoscaled, cluster_sources
from topospread.linting.pod_source import PodSource
from topospread.linting.pods_by_label import PodsByLabel
from topospread.linting.problem import Problem
from topospread.linting.rule import Example, Rule

from .constraint_fields import ADDED_BY_CONTROLLERS
from .selectors import SPREAD

_DEFAULTS = f"{SPREAD}#cluster-level-default-constraints"
_NAMED = 2


def counted_of_others(pods: PodSource, each: TopologySpreadConstraint) -> Selector | None:
    """What a constraint counts of other workloads' pods; None when it counts none of them.

    Pods of another workload never have this one's value of a label that its controller makes up.
    """
    if set(each.match_label_keys or ()) & ADDED_BY_CONTROLLERS.get(type(pods.item), frozenset()):
        return None
    try:
        selector = each.selector(pods.labels)
    except InvalidSelectorError:
        return None  # Validation says so.
    return None if selector.selects_nothing or selector.empty else selector


class _Workload(msgspec.Struct, frozen=True, eq=False):
    """A workload among others of its namespace.

    Attributes:
        manifest: that of a workload that is judged; None for one of the cluster.
        constraints: each with its path and what it counts of others' pods.
    """

    manifest: Manifest | None
    pods: PodSource
    constraints: list[tuple[str, TopologySpreadConstraint, Selector | None]] = []

    @property
    def name(self) -> str:
        """``Deployment web``."""
        return f"{type(self.pods.item).__name__} {self.pods.item.name}"

    def counting(self, other: _Workload, key: str | None) -> list[TopologySpreadConstraint]:
        """The constraints over a key that count another workload's pods."""
        labels = other.pods.labels
        return [
            each
            for _, each, selector in self.constraints
            if each.topology_key == key and selector is not None and selector.matches(labels)
        ]


def _workloads(given: LintInput) -> Iterator[tuple[PodSource, _Workload]]:
    """The workloads of the manifests and of the cluster that are not scaled to nothing."""
    around: Iterator[tuple[Manifest | None, PodSource]] = ((None, pods) for pods in cluster_sources(given))
    for manifest, pods in (*around, *given.sources):
        if isinstance(pods.item, Pod) or pods.replicas == 0:
            continue
        found = _Workload(manifest, pods)
        for path, each in pods.constraints():
            found.constraints.append((path, each, counted_of_others(pods, each)))
        yield pods, found


class _Reach(NamedTuple):
    """A constraint of a workload that is judged, and the other workloads whose pods it counts."""

    manifest: Manifest
    one: _Workload
    path: str
    each: TopologySpreadConstraint
    others: list[_Workload]


def _reaching(given: LintInput) -> Iterator[_Reach]:
    index = PodsByLabel(_workloads(given))
    for one in index:
        for path, each, selector in one.constraints:
            selected = index.selected(one.pods.item.namespace, selector) if selector is not None else []
            others = [other for other in selected if other is not one]
            if others and one.manifest is not None:
                yield _Reach(one.manifest, one, path, each, others)


def counts_of_others(given: LintInput) -> dict[int, set[str]]:
    """Order of a manifest → paths of its constraints that count pods of other workloads."""
    found: dict[int, set[str]] = {}
    for manifest, _, path, _, _ in _reaching(given):
        found.setdefault(manifest.order, set()).add(path)
    return found


def _counts_others(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for manifest, one, path, each, others in _reaching(given):
        strangers = [other for other in others if not other.counting(one, each.topology_key)]
        if strangers:
            message = f"it counts the pods of {_listed(strangers)} as well, which do not spread with these"
            yield manifest, Problem(f"{path}.labelSelector", message)


def _shared(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for manifest, one, path, each, others in _reaching(given):
        if _most(given, one) == 1:
            continue
        here = _meaning(each)
        alike = [other for other in others if here in map(_meaning, other.counting(one, each.topology_key))]
        if alike:
            message = f"it counts the pods of {_listed(alike)} as well, as theirs counts these: all together are even, "
            message += f"and those of {one.name} alone may stand in one domain"
            yield manifest, Problem(f"{path}.labelSelector", message)


def _most(given: LintInput, one: _Workload) -> int | None:
    """How many replicas a workload may have; None where that is not known."""
    bounds = autoscaled(given, one.pods.item)
    return one.pods.replicas if bounds is None else bounds.most


def _listed(workloads: Sequence[_Workload]) -> str:
    names = [each.name for each in workloads[:_NAMED]]
    more = len(workloads) - len(names)
    return " and ".join([", ".join(names), f"{more} more"]) if more else " and ".join(names)


def _differs(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for manifest, one, path, each, others in _reaching(given):
        here = _meaning(each)
        for other in others:
            if other.manifest is not None and other.manifest.order > manifest.order:
                continue  # It is said once, of the later one.
            theirs = [_meaning(their) for their in other.counting(one, each.topology_key)]
            if theirs and here not in theirs:
                there = theirs[0]
                differing = [name for name in here if here[name] != there[name]]
                what = ", ".join(f"{name} {here[name]} here and {there[name]} there" for name in differing)
                message = f"it counts the pods of {other.name} as theirs counts these: {what}"
                yield manifest, Problem(path, message)


def _meaning(each: TopologySpreadConstraint) -> dict[str, object]:
    return {
        "maxSkew": each.max_skew,
        "whenUnsatisfiable": each.when_unsatisfiable,
        "minDomains": each.effective_min_domains,
        "nodeAffinityPolicy": each.effective_node_affinity_policy,
        "nodeTaintsPolicy": each.effective_node_taints_policy,
    }


def _configurations(given: LintInput) -> list[Configuration]:
    own = [each.loaded for each in given.configurations if each.loaded is not None]
    return [given.configuration] if given.configuration is not None else own


def _listed_defaults(given: LintInput, pods: PodSource) -> tuple[DefaultConstraint, ...]:
    """The default constraints that a given configuration has for these pods."""
    name = pods.spec.scheduler_name or "default-scheduler"
    for configuration in _configurations(given):
        profile = configuration.profile_for(name)
        if profile is not None and profile.args.pod_topology_spread.defaulting_type == "List":
            return profile.args.pod_topology_spread.default_constraints
    return ()


def _nothing_groups(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    services: dict[str, list[Selector]] = {}
    for service in given.inventory.services:
        if service.spec.selector:
            services.setdefault(service.namespace, []).append(Selector.from_set(service.spec.selector))
    for manifest, pods in given.sources:
        item = pods.item
        if pods.spec.topology_spread_constraints or pods.spec.node_name or not isinstance(item, Pod | Job | CronJob):
            continue
        if not _several(item) and not _listed_defaults(given, pods):
            continue
        if not any(selector.matches(pods.labels) for selector in services.get(item.namespace, ())):
            message = "no Service selects these pods, and a Job does not group them: no default constraint applies"
            if isinstance(item, Pod):
                message = "no Service selects this pod and nothing owns it: no default constraint applies"
            yield manifest, Problem(pods.path, message)


def _several(item: Pod | Job | CronJob) -> bool:
    """Whether there will be several pods to spread at once."""
    if isinstance(item, Pod):
        return False
    spec = item.spec.job_template.spec if isinstance(item, CronJob) else item.spec
    return (spec.parallelism or 1) > 1


def _replaces_defaults(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for manifest, pods in given.sources:
        own = pods.spec.topology_spread_constraints
        if not own:
            continue
        keys = {each.topology_key for each in own if each.when_unsatisfiable == DO_NOT_SCHEDULE}
        for each in _listed_defaults(given, pods):
            if each.when_unsatisfiable == DO_NOT_SCHEDULE and each.topology_key not in keys:
                message = f"with these the default DoNotSchedule constraint over {each.topology_key} is not in force"
                yield manifest, Problem(f"{pods.path}.topologySpreadConstraints", message)


_BROAD = "labelSelector:\n  matchLabels: {part-of: shop}"
_OWN = "labelSelector:\n  matchLabels: {app: web}\nmatchLabelKeys: [pod-template-hash]"

_BY_APP = _BROAD + "\nmatchLabelKeys: [app]"


def _shop(name: str, spec: str) -> str:
    labels = f"labels: {{app: {name}}}"
    return deployment(spec, name=name).replace(labels, labels.replace("app:", "part-of: shop, app:"))


def _job(spec: str) -> str:
    head = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: sums}\nspec:\n  parallelism: 6\n  completions: 6\n"
    template = "  template:\n    metadata:\n      labels: {app: sums}\n    spec:\n      restartPolicy: Never\n"
    container = "      containers:\n      - {name: sums, image: registry.k8s.io/pause:3.10}\n"
    return head + template + "".join(f"      {line}\n" for line in spec.splitlines()) + container


_CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
---
"""

RULES = (
    Rule(
        id="selector-counts-others",
        sentence="A constraint counts the pods that are spread by it, and not those of other workloads.",
        why="Where the other workload's pods stand decides where these may: they are spread unevenly or stay pending.",
        link=f"{SPREAD}#spread-constraint-definition",
        severity="warning",
        check=_counts_others,
        wrong=Example(_shop("web", constraint(_BROAD)) + "---\n" + _shop("batch", "")),
        right=Example(_shop("web", constraint(_OWN)) + "---\n" + _shop("batch", "")),
        needs="manifests",
    ),
    Rule(
        id="group-differs",
        sentence="Workloads that count each other's pods have the same constraints.",
        why="Each pod is placed by its own constraints: what one keeps even another may skew, until pods of the first "
        "fit nowhere.",
        link=f"{SPREAD}#consistency",
        severity="warning",
        check=_differs,
        wrong=Example(
            _shop("web", constraint(_BROAD)) + "---\n" + _shop("batch", constraint(_BROAD, when="ScheduleAnyway"))
        ),
        right=Example(_shop("web", constraint(_BROAD)) + "---\n" + _shop("batch", constraint(_BROAD))),
        needs="manifests",
    ),
    Rule(
        id="selector-shared",
        sentence="Workloads that are each to be spread count no pods of each other.",
        why="Where several workloads have one selector, their pods are even all together: both replicas of one of them "
        "may stand in one zone, beside those of another in the next.",
        link=f"{SPREAD}#consistency",
        severity="hint",
        check=_shared,
        wrong=Example(_shop("web", constraint(_BROAD)) + "---\n" + _shop("batch", constraint(_BROAD))),
        right=Example(_shop("web", constraint(_BY_APP)) + "---\n" + _shop("batch", constraint(_BY_APP))),
        needs="manifests",
    ),
    Rule(
        id="defaults-never-apply",
        sentence="Pods that are to be spread by default belong to a Service or a controller that groups them.",
        why="Default constraints take their selector from the Services, ReplicaSets, StatefulSets and "
        "ReplicationControllers of a pod; a pod with none of them, as a Job's, is not spread.",
        link=_DEFAULTS,
        severity="hint",
        check=_nothing_groups,
        wrong=Example(_job("")),
        right=Example(_job(constraint("labelSelector:\n  matchLabels: {app: sums}", when="ScheduleAnyway"))),
        needs="manifests",
    ),
    Rule(
        id="own-constraints-drop-defaults",
        sentence="Constraints of a pod's own repeat the hard ones among the cluster's defaults.",
        why="Default constraints apply to pods without any: one of their own, soft or over another key, drops them.",
        link=_DEFAULTS,
        severity="hint",
        check=_replaces_defaults,
        wrong=Example(_CONFIGURATION + deployment(constraint(_OWN, key="kubernetes.io/hostname"))),
        right=Example(_CONFIGURATION + deployment(constraint(_OWN))),
        needs="manifests",
    ),
)
