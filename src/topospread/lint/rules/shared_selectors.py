"""Rules about constraints that count pods of several workloads, and about pods that no selector groups."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import accumulate, islice
from operator import and_, or_
from typing import NamedTuple

import msgspec

from topospread.api.labels import InvalidSelectorError, Requirement, Selector
from topospread.api.pod import Pod
from topospread.api.spread import DO_NOT_SCHEDULE, TopologySpreadConstraint
from topospread.api.workload import CronJob, Job
from topospread.config.args import DefaultConstraint
from topospread.lint.examples import constraint, deployment
from topospread.lint.lint_input import LintInput, LintSubject, Manifest, once_per_input
from topospread.lint.pod_source import ADDED_BY_CONTROLLERS, PodSource
from topospread.lint.problem import MOST_ALIKE, Problem
from topospread.lint.related_objects import autoscaled, cluster_sources
from topospread.lint.rule import Example, Rule

from .selectors import SPREAD

_DEFAULTS = f"{SPREAD}#cluster-level-default-constraints"
_NAMED = 2


def counted_of_others(pods: PodSource, each: TopologySpreadConstraint) -> Selector | None:
    """Return the selector by which a constraint may count other workloads' pods; None if it cannot.

    Values that a controller generates, such as pod-template-hash, never match another workload's pods.
    """
    if set(each.match_label_keys or ()) & ADDED_BY_CONTROLLERS.get(type(pods.item), frozenset()):
        return None
    try:
        selector = each.selector(pods.labels)
    except InvalidSelectorError:
        return None  # The rule `validation` reports the error.
    return None if selector.selects_nothing or selector.empty else selector


_Meaning = tuple[tuple[str, object], ...]


class _Workload(msgspec.Struct, frozen=True, eq=False):
    """A workload of a namespace.

    Attributes:
        manifest: its manifest; None for a workload of the cluster.
        constraints: (path, selector for other workloads' pods) of each constraint.
        by_key: topology key → its constraints that count other workloads' pods, with the selectors.
    """

    manifest: Manifest | None
    pods: PodSource
    constraints: list[tuple[str, TopologySpreadConstraint, Selector | None]] = []
    by_key: dict[str | None, list[tuple[TopologySpreadConstraint, Selector]]] = {}

    @property
    def name(self) -> str:
        """``Deployment web``."""
        return f"{type(self.pods.item).__name__} {self.pods.item.name}"

    def add(self, path: str, each: TopologySpreadConstraint) -> None:
        """Add a constraint."""
        selector = counted_of_others(self.pods, each)
        self.constraints.append((path, each, selector))
        if selector is not None:
            self.by_key.setdefault(each.topology_key, []).append((each, selector))

    def counting(self, other: _Workload, key: str | None) -> Iterator[TopologySpreadConstraint]:
        """Yield the constraints over a key that count another workload's pods."""
        return (each for each, selector in self.by_key.get(key, ()) if selector.matches(other.pods.labels))


class _Namespace:
    """The workloads of one namespace. Sets of workloads are integers: bit n is workload n.

    Bit sets keep the rules fast if thousands of workloads count each other's pods.
    """

    def __init__(self, workloads: Sequence[_Workload]) -> None:
        self.workloads = workloads
        self._every = (1 << len(workloads)) - 1
        self._with: dict[tuple[str, str], int] = {}
        self._labelled: dict[str, int] = {}
        for position, one in enumerate(workloads):
            for label in one.pods.labels.items():
                self._with[label] = self._with.get(label, 0) | 1 << position
                self._labelled[label[0]] = self._labelled.get(label[0], 0) | 1 << position
        self._selected: dict[Selector, int] = {}
        self._owners: dict[tuple[str | None, _Meaning], dict[int, int]] = {}
        self._counting: list[dict[str | None, int]] = [{} for _ in workloads]
        # Key by the selected pods: thousands of different selectors often select the same pods.
        over: dict[tuple[str | None, int], int] = {}
        for at, one in enumerate(self.workloads):
            for key, constraints in one.by_key.items():
                for each, selector in constraints:
                    selected = self.selected(selector)
                    owners = self._owners.setdefault((key, _meaning(each)), {})
                    owners[selected] = owners.get(selected, 0) | 1 << at
                    over[key, selected] = over.get((key, selected), 0) | 1 << at
        for (key, selected), owning in over.items():
            for at in _positions(selected):
                self._counting[at][key] = self._counting[at].get(key, 0) | owning
        by_order = sorted((each.manifest.order if each.manifest else -1, at) for at, each in enumerate(workloads))
        self._orders = [order for order, _ in by_order]
        self._up_to: list[int] = list(accumulate((1 << at for _, at in by_order), or_))

    def selected(self, selector: Selector) -> int:
        """Return the set of workloads whose pods match a selector."""
        found = self._selected.get(selector)
        if found is None:
            parts = map(self._fulfilling, selector.requirements)
            found = self._selected[selector] = 0 if selector.selects_nothing else reduce(and_, parts, self._every)
        return found

    def _fulfilling(self, each: Requirement) -> int:
        """Return the set of workloads whose labels meet a requirement; see `Requirement.matches`."""
        if each.operator == "Exists":
            return self._labelled.get(each.key, 0)
        if each.operator == "DoesNotExist":
            return self._every & ~self._labelled.get(each.key, 0)
        within = reduce(or_, (self._with.get((each.key, value), 0) for value in each.values), 0)
        return self._every & ~within if each.operator == "NotIn" else within

    def counting(self, at: int, key: str | None) -> int:
        """Return the set of the workloads with constraints over a key that count the pods of workload ``at``."""
        return self._counting[at].get(key, 0)

    def counting_alike(self, at: int, each: TopologySpreadConstraint) -> int:
        """Return the subset of `counting` whose constraints have the same fields as this one."""
        found = 0
        for selected, owners in self._owners.get((each.topology_key, _meaning(each)), {}).items():
            if selected >> at & 1:
                found |= owners
        return found

    def up_to(self, order: int) -> int:
        """Return the set of the cluster's workloads, and of manifests up to this position."""
        return self._up_to[bisect_right(self._orders, order) - 1]

    def named(self, those: int) -> str:
        """Return the first names in a set, and the number of the others."""
        names = [self.workloads[at].name for at in islice(_positions(those), _NAMED)]
        more = those.bit_count() - len(names)
        return " and ".join([", ".join(names), f"{more} more"]) if more else " and ".join(names)


def _positions(those: int) -> Iterator[int]:
    while those:
        lowest = those & -those
        yield lowest.bit_length() - 1
        those ^= lowest


def _workloads(given: LintInput) -> Iterator[_Workload]:
    """Yield the workloads of the manifests and the cluster, except those with 0 replicas."""
    around: Iterator[tuple[Manifest | None, PodSource]] = ((None, pods) for pods in cluster_sources(given))
    for manifest, pods in (*around, *given.sources):
        if isinstance(pods.item, Pod) or pods.replicas == 0:
            continue
        found = _Workload(manifest, pods)
        for path, each in pods.constraints():
            found.add(path, each)
        yield found


class _Reach(NamedTuple):
    """A linted constraint that counts pods of other workloads. Sets are bit sets of `space`.

    Attributes:
        one: the constraint's workload.
        others: the set of other workloads whose pods it counts.
        counting: the set of workloads that count pods of `one` over the same key.
        alike: the subset of `counting` whose constraints have the same fields.
    """

    manifest: Manifest
    one: _Workload
    path: str
    each: TopologySpreadConstraint
    space: _Namespace
    others: int
    counting: int
    alike: int


@once_per_input
def _reaching(given: LintInput) -> list[_Reach]:
    return list(_find_reaching(given))


def _find_reaching(given: LintInput) -> Iterator[_Reach]:
    # If workloads have the same kind and name, the last one replaces the others.
    named = {(type(each.pods.item), each.pods.item.namespace, each.pods.item.name): each for each in _workloads(given)}
    spaces: dict[str, list[_Workload]] = {}
    for (_, name, _), one in named.items():
        spaces.setdefault(name, []).append(one)
    for workloads in spaces.values():
        space = _Namespace(workloads)
        for at, one in enumerate(workloads):
            for path, each, selector in one.constraints:
                others = space.selected(selector) & ~(1 << at) if selector is not None else 0
                if others and one.manifest is not None:
                    counting, alike = space.counting(at, each.topology_key), space.counting_alike(at, each)
                    yield _Reach(one.manifest, one, path, each, space, others, counting, alike)


def counts_of_others(given: LintInput) -> dict[int, set[str]]:
    """Return position of a manifest → paths of its constraints that count other workloads' pods."""
    found: dict[int, set[str]] = {}
    for reach in _reaching(given):
        found.setdefault(reach.manifest.order, set()).add(reach.path)
    return found


def _counts_others(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for reach in _reaching(given):
        strangers = reach.others & ~reach.counting
        if strangers:
            names = reach.space.named(strangers)
            message = f"it also counts pods of {names}, whose constraints do not count these pods"
            yield reach.manifest, Problem(f"{reach.path}.labelSelector", message)


def _shared(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for reach in _reaching(given):
        # a single replica, also at an autoscaler's maximum, needs no spread
        one = reach.one
        bounds = autoscaled(given, one.pods.item)
        if (one.pods.replicas if bounds is None else bounds.most) == 1:
            continue
        alike = reach.others & reach.alike
        if alike:
            names = reach.space.named(alike)
            message = f"it also counts pods of {names}, whose constraint counts the pods of {reach.one.name}, too: "
            message += f"only both together are spread evenly, so all pods of {reach.one.name} may be in one domain"
            yield reach.manifest, Problem(f"{reach.path}.labelSelector", message)


def _differs(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for reach in _reaching(given):
        here = _meaning(reach.each)
        differing = reach.others & reach.counting & ~reach.alike
        differing &= reach.space.up_to(reach.manifest.order)  # report the pair once, for the later workload
        more = differing.bit_count() - MOST_ALIKE
        for number, position in enumerate(islice(_positions(differing), MOST_ALIKE), 1):
            other = reach.space.workloads[position]
            there = dict(_meaning(next(other.counting(reach.one, reach.each.topology_key))))
            what = ", ".join(
                f"{name} {value} here and {there[name]} there" for name, value in here if value != there[name]
            )
            message = f"this constraint and that of {other.name} count each other's pods, but differ: {what}"
            if more > 0 and number == MOST_ALIKE:
                message += f"; {more} more workloads differ as well"
            yield reach.manifest, Problem(reach.path, message)


def _meaning(each: TopologySpreadConstraint) -> _Meaning:
    return (
        ("maxSkew", each.max_skew),
        ("whenUnsatisfiable", each.when_unsatisfiable),
        ("minDomains", each.effective_min_domains),
        ("nodeAffinityPolicy", each.effective_node_affinity_policy),
        ("nodeTaintsPolicy", each.effective_node_taints_policy),
    )


def listed_defaults(given: LintInput, pods: PodSource) -> tuple[DefaultConstraint, ...]:
    """Return the configuration's default constraints for these pods."""
    name = pods.spec.scheduler_name or "default-scheduler"
    own = [each.loaded for each in given.configurations if each.loaded is not None]
    for configuration in [given.configuration] if given.configuration is not None else own:
        profile = configuration.profile_for(name)
        if profile is not None and profile.args.pod_topology_spread.defaulting_type == "List":
            return profile.args.pod_topology_spread.default_constraints
    return ()


def _nothing_groups(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    selectors = [(each.namespace, each.spec.selector) for each in given.inventory.services if each.spec.selector]
    usual = Counter((space, label) for space, selector in selectors for label in selector.items())
    # index each selector by its rarest label, so that few selectors are compared with each pod
    services: dict[tuple[str, tuple[str, str]], list[Mapping[str, str]]] = {}
    for space, selector in selectors:
        rarest = min(((space, label) for label in selector.items()), key=usual.__getitem__)
        services.setdefault(rarest, []).append(selector)
    for manifest, pods in given.sources:
        item = pods.item
        if pods.spec.topology_spread_constraints or pods.spec.node_name or not isinstance(item, Pod | Job | CronJob):
            continue
        if not _several(item) and not listed_defaults(given, pods):
            continue
        labels = pods.labels.items()
        near = (each for label in labels for each in services.get((item.namespace, label), ()))
        if not any(selector.items() <= labels for selector in near):
            message = "no Service selects these pods, and a Job does not group them: no default constraint applies"
            if isinstance(item, Pod):
                message = "no Service selects this pod, and it has no owner: no default constraint applies"
            yield manifest, Problem(pods.path, message)


def _several(item: Pod | Job | CronJob) -> bool:
    """Return whether several pods run at the same time."""
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
        for each in listed_defaults(given, pods):
            if each.when_unsatisfiable == DO_NOT_SCHEDULE and each.topology_key not in keys:
                message = f"these replace the default DoNotSchedule constraint over {each.topology_key}"
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
        sentence="A constraint counts pods of other workloads.",
        why="Those pods decide where this workload's pods may run, so they are spread unevenly or stay pending.",
        link=f"{SPREAD}#spread-constraint-definition",
        severity="warning",
        check=_counts_others,
        wrong=Example(_shop("web", constraint(_BROAD)) + "---\n" + _shop("batch", "")),
        right=Example(_shop("web", constraint(_OWN)) + "---\n" + _shop("batch", "")),
        needs="manifests",
    ),
    Rule(
        id="group-differs",
        sentence="Workloads that count each other's pods have different constraints.",
        why="Pods of one workload can push the other's skew over its maxSkew, so that the other's pods stay pending.",
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
        sentence="Several workloads with constraints share one selector.",
        why="Their pods are even only in total, so all replicas of one workload can be in the same zone.",
        link=f"{SPREAD}#consistency",
        severity="hint",
        check=_shared,
        wrong=Example(_shop("web", constraint(_BROAD)) + "---\n" + _shop("batch", constraint(_BROAD))),
        right=Example(_shop("web", constraint(_BY_APP)) + "---\n" + _shop("batch", constraint(_BY_APP))),
        needs="manifests",
    ),
    Rule(
        id="defaults-never-apply",
        sentence="Default constraints never apply to the pods.",
        why=(
            "They take their selector from a pod's Service, ReplicaSet, StatefulSet or ReplicationController. "
            "Pods without one, such as a Job's, are not spread."
        ),
        link=_DEFAULTS,
        severity="hint",
        check=_nothing_groups,
        wrong=Example(_job("")),
        right=Example(_job(constraint("labelSelector:\n  matchLabels: {app: sums}", when="ScheduleAnyway"))),
        needs="manifests",
    ),
    Rule(
        id="own-constraints-drop-defaults",
        sentence="A pod's own constraints drop a hard default constraint.",
        why="Default constraints apply only to pods without constraints. One own constraint switches off all of them, "
        "even if it is soft or has another key.",
        link=_DEFAULTS,
        severity="hint",
        check=_replaces_defaults,
        wrong=Example(_CONFIGURATION + deployment(constraint(_OWN, key="kubernetes.io/hostname"))),
        right=Example(_CONFIGURATION + deployment(constraint(_OWN))),
        needs="manifests",
    ),
)
