"""The explanation of one pod of an inventory.

A pending pod is explained in the final state of the simulation. A pod that finds a node is explained at its placement.
A pod on a node is explained as if it were removed and scheduled again in the cluster as read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import msgspec
from msgspec.structs import replace as with_fields

from topospread.answer import Unjudged
from topospread.api.inventory import Inventory
from topospread.api.pod import Pod
from topospread.api.timestamps import seconds, snapshot_time
from topospread.cluster.cluster import pod_key
from topospread.config.version_rules import rules_for
from topospread.controllers.planned import QueuedPod, Workload
from topospread.plugins.interface import NotJudgedError
from topospread.scheduling.cycle import Placement, Scheduler
from topospread.scheduling.select_host import ChoiceRules
from topospread.scheduling.verdict import GANG, Verdict
from topospread.simulation.counted import PodOwners
from topospread.simulation.extender_notes import filtered_by_extender
from topospread.simulation.hypothetical_domains import unmet_min_domains
from topospread.simulation.options import PLAIN, SimulationOptions
from topospread.simulation.outcome import not_asked, result_of
from topospread.simulation.pending import pending_group
from topospread.simulation.placing import Progress
from topospread.simulation.result import Simulation
from topospread.simulation.run import PodOutcome, Run, prepare, spreads
from topospread.simulation.simulate import judged
from topospread.simulation.unknown import unjudged_of

from .cluster_changes import surplus_pods
from .domains import constraint_tables
from .owner import exists, is_older
from .placement_without_constraint import without_each
from .quota_changes import raised_quotas
from .rejections_per_node import AFFINITY, RejectionsPerNode
from .repeated_simulation import RepeatedSimulation
from .replacement import MADE_OF_TEMPLATE
from .result import ConstraintTable, Explanation, NearestNode, PodSituation
from .scores import score_table
from .suggest import suggestions
from .target import ExplainedPod, candidates, find, gated_of, one_more, parse_target, unbound
from .what_if import EFFORT, Baselines, looked_at

NEAREST = 3
"""Number of kinds of nearest nodes that an explanation keeps."""
_NAMED_REASONS = (AFFINITY, "DynamicResources")
"""Plugins with one status for several reasons. The nearest nodes of one kind share the reason."""
_SITUATIONS = 5
"""Maximum number of situations explained for a workload's pending pods. Other situations are only counted."""


def explain(  # noqa: PLR0913 - keyword arguments
    inventory: Inventory,
    target: str,
    options: SimulationOptions = PLAIN,
    *,
    namespace: str | None = None,
    another: bool = False,
    suggest: bool = True,
    progress: Progress | None = None,
    run: Run | None = None,
    known: Mapping[str, str] | None = None,
) -> Explanation:
    """Explain one pod.

    Args:
        inventory: the input, which is not changed.
        target: ``web-0`` or ``deploy/web``, optionally with ``NAMESPACE/``. For a workload, a pending pod is preferred,
            then a placed pod, then a bound pod.
        options: the control plane, and how pods are placed. Pools do not grow: a note says if minDomains needs them.
        namespace: namespace of the target; by default the only namespace with the name.
        another: whether to explain an additional pod if all pods of the workload exist.
        suggest: whether to simulate changes that may place a pending pod.
        progress: receives the numbers of simulated pods and of all pods.
        run: the simulation of ``inventory``, prepared with these options and ``tries_groups``; it is changed.
        known: pod key → node, in the order in which the queue is placed, so that it is not placed again.

    Raises:
        InputError: if the API server would refuse an object.
        UsageError: if the target matches no pod or several.
    """
    pools, options = options.pools, replace(options, pools=(), tries_groups=True)
    run = run or prepare(inventory, options, with_spreads=False)
    subject = find(run, parse_target(target, namespace))
    explainer = _Explainer(inventory, run, suggest, progress, known)
    found = explainer.explain(subject, another=another)
    if subject.workload is not None and subject.queued is None and subject.bound is None:
        found = replace(found, situations=explainer.situations(subject.workload))
    if found.unjudged:
        assumed = prepare(inventory, replace(options, assumes_unjudged=True), with_spreads=False)
        same = find(assumed, parse_target(target, namespace))
        other = _Explainer(inventory, assumed, False, progress).explain(same, another=another)
        found = replace(found, assumed=other)
    if not pools or subject.workload is None:
        return found
    own = f"{subject.workload.namespace}/{subject.workload.name}"
    said = tuple(sentence for name, sentence in unmet_min_domains(run, pools) if name == own)
    return replace(found, notes=(*found.notes, *said))


class PendingPods(msgspec.Struct, frozen=True):
    """Pods of one workload that find no node for the same reasons.

    Attributes:
        pods: their names.
        explanation: explanation of the first pod that kube-scheduler attempts.
    """

    workload: Workload
    pods: tuple[str, ...]
    explanation: Explanation


class Waiting(msgspec.Struct, frozen=True):
    """The pods that a simulation leaves without a node.

    Attributes:
        simulation: the whole simulation. Pods whose outcome is not known are among its ``open_pods``.
        pending: judged pods that find no node, by workload and situation, most pods first.
    """

    simulation: Simulation
    pending: tuple[PendingPods, ...]


def explain_pending(  # noqa: PLR0913 - keyword arguments
    inventory: Inventory,
    run: Run,
    chosen: Container[Workload],
    *,
    suggest: bool,
    progress: Progress | None = None,
    result: Simulation | None = None,
) -> Waiting:
    """Explain one pending pod of each workload and situation.

    Changes are tried for the largest situations first, until `EFFORT` pods have been placed in total.

    Args:
        inventory: the input.
        run: its prepared simulation, which is restored afterwards.
        chosen: the workloads to explain.
        suggest: whether changes that would help are tried.
        progress: receives the number of tried pods.
        result: the result of the simulation, if it is known.
    """
    simulation = RepeatedSimulation(run)
    explainer = _Explainer(inventory, run, suggest, progress)
    ended = _End(run, simulation.carry_out(progress=progress))
    result = result or judged(result_of(ended.run), inventory, run.options)
    opened = set(result.open_pods)
    waiting = [
        (queued, situation)
        for queued, situation in _pending_pods(ended, run, simulation.queue)
        if queued.workload in chosen and pod_key(queued.namespace, queued.name) not in opened
    ]
    groups: dict[tuple[Workload, object], list[QueuedPod]] = {}
    for queued, situation in waiting:
        groups.setdefault((queued.workload, situation), []).append(queued)
    explained: Counter[Workload] = Counter()
    found = []
    others: dict[Workload, list[list[QueuedPod]]] = {}
    for (workload, _), pods in sorted(groups.items(), key=lambda each: (-len(each[1]), str(each[0][0]))):
        explained[workload] += 1
        if explained[workload] > _SITUATIONS:
            others.setdefault(workload, []).append(pods)
            continue
        explanation = explainer.pending(simulation, ended, pods)
        if explanation.searched and explanation.state == "pending":
            ended = _End(run, simulation.carry_out())
        explainer.suggests = explainer.suggests and simulation.placed < EFFORT
        found.append(PendingPods(workload, tuple(each.name for each in pods), explanation))
    for workload, kinds in others.items():
        names = tuple(each.name for pods in kinds for each in pods)
        found.append(PendingPods(workload, names, explainer.unexplained(ended, kinds)))
    simulation.restore()
    return Waiting(result, tuple(found))


def _pending_pods(ended: _End | None, run: Run, queue: Iterable[QueuedPod]) -> Iterator[tuple[QueuedPod, object]]:
    """Yield (pending pod, key of its situation). The key holds kube-scheduler's reasons, or the reason for waiting.

    A pod that its StatefulSet has not created is in the situation of the pod before it.

    Args:
        ended: the finished simulation; without one, no pod had to be placed.
        run: the run before the simulation.
        queue: the pods to place.
    """
    known: dict[int, object] = {}
    reasons: dict[int, object] = {}
    for queued, outcome in ended.latest(queue) if ended is not None else ():
        if outcome.pending:
            verdict = outcome.verdict
            situation: object = outcome.placement.message
            if verdict is not None and not verdict.error and not verdict.pre_filter:
                if id(verdict) not in reasons:
                    reasons[id(verdict)] = frozenset(each.reasons for each in verdict.counts)
                situation = reasons[id(verdict)]
            elif verdict is None and queued.after is not None:
                situation = known.get(id(queued.after), situation)
            known[id(queued)] = situation
            yield queued, situation
    yield from ((queued, queued.waits) for queued in (*run.plan.gated, *run.plan.refused))


_Moment = tuple[Verdict | None, dict[str, Any], str | None]
"""(verdict, facts about the node, node name) just before a pod is bound."""


class _End:
    """The end of a simulation, with facts that are collected once for all pods that are explained there."""

    def __init__(self, begun: Run, run: Run) -> None:
        self._begun = begun
        self.run = run

    @cached_property
    def baselines(self) -> Baselines:
        """The number of placed pods of each workload."""
        return Baselines(self.run)

    @cached_property
    def owners(self) -> PodOwners:
        """The workload of each pod."""
        return PodOwners(self.run.cluster, self._begun.owners, self.run.queue)

    @cached_property
    def unjudged(self) -> list[tuple[NotJudgedError, str]]:
        """The unjudged parts of the pending pods, each with NAMESPACE/NAME of its pod."""
        outcomes = ((each, outcome) for each in self.run.queue if (outcome := self.run.outcome(each)) is not None)
        pending = ((each, outcome.unjudged) for each, outcome in outcomes if outcome.pending)
        return [(part, f"{it.namespace}/{it.name}") for it, parts in pending for part in parts]

    @cached_property
    def _recreated(self) -> dict[str, QueuedPod]:
        """NAMESPACE/NAME of an evicted pod → its replacement."""
        anew = {f"{each.namespace}/{each.name}": each.created_anew for each in self.run.evictions}
        by_name = {(each.namespace, each.name): each for each in self.run.queue} if anew else {}
        return {old: by_name[old.partition("/")[0], new] for old, new in anew.items() if new}

    def latest(self, pods: Iterable[QueuedPod]) -> list[tuple[QueuedPod, PodOutcome]]:
        """Return pods with their outcomes; an evicted pod is represented by its replacement."""
        found = []
        for pod in pods:
            queued, outcome = pod, self.run.outcomes[id(pod)]
            while outcome.evicted and (other := self._recreated.get(f"{queued.namespace}/{queued.name}")):
                queued, outcome = other, self.run.outcomes[id(other)]
            found.append((queued, outcome))
        return found


class _Explainer:
    """Builds explanations of an inventory's pods."""

    def __init__(
        self,
        inventory: Inventory,
        run: Run,
        suggest: bool,
        progress: Progress | None,
        known: Mapping[str, str] | None = None,
    ) -> None:
        self._known = known or {}
        self._inventory = inventory
        self._run = run
        self.suggests = suggest
        self._progress = progress
        self._ended: _End | None = None
        self._skews: dict[int, dict[int, tuple[int, int]]] = {}

    def explain(self, subject: ExplainedPod, *, another: bool) -> Explanation:
        if subject.bound is not None:
            return self._bound(subject.bound, subject.workload)
        if subject.waits and subject.queued is not None:
            return self._waiting(subject.queued, subject.waits)
        if subject.queued is not None:
            return self._queued([subject.queued])
        workload = subject.workload
        assert workload is not None, "a subject is a pod or a workload"
        refused = next((each for each in self._run.plan.refused if each.workload is workload), None)
        if refused is not None:
            return self._waiting(refused, refused.waits)
        queued, there = candidates(self._run, workload)
        if not queued and (another or not there):
            waiting = next(iter(gated_of(self._run, workload)), None)
            if waiting is not None:
                return self._waiting(waiting, waiting.waits)
            queued = [one_more(self._run, workload)]
        return self._queued(queued) if queued else self._bound(there[0], workload)

    def situations(self, workload: Workload) -> tuple[PodSituation, ...]:
        """Return all pods of a workload by situation: those with nodes, then pending ones, most pods first."""
        ended = self._ended
        own = [each for each in self._run.queue if each.workload is workload]
        if ended is None and own:
            simulation = RepeatedSimulation(self._run)
            ended = _End(self._run, simulation.carry_out(progress=self._progress))
            simulation.restore()
        evicted = {(each.namespace, each.name) for each in ended.run.evictions} if ended is not None else set()
        having = [pod.name for pod in workload.existing if (pod.namespace, pod.name) not in evicted]
        found: dict[object, list[QueuedPod]] = {}
        first: dict[object, PodOutcome] = {}
        pairs: list[tuple[QueuedPod, object]] = []
        if ended is not None:
            having += [queued.name for queued, outcome in ended.latest(own) if not outcome.pending]
        pairs += _pending_pods(ended, self._run, own)
        for queued, situation in pairs:
            if queued.workload is workload:
                found.setdefault(situation, []).append(queued)
                if situation not in first:
                    outcome = ended.run.outcome(queued) if ended is not None else None
                    first[situation] = outcome or PodOutcome(not_asked(queued))
        pending = []
        for situation, pods in found.items():
            outcome, names = first[situation], tuple(each.name for each in pods)
            group = pending_group(workload, names, outcome, self._run.cluster)
            pending.append(PodSituation("unknown" if outcome.unjudged else "no", names, group))
        pending.sort(key=lambda each: (each.verdict == "unknown", -len(each.pods)))
        return (*([PodSituation("yes", tuple(having))] if having else []), *pending)

    def unexplained(self, ended: _End, kinds: list[list[QueuedPod]]) -> Explanation:
        """Return an explanation of the first of the remaining pods, with the number of situations."""
        first = kinds[0][0]
        outcome = ended.run.outcome(first)
        says = outcome.placement.message if outcome is not None else first.waits
        count = sum(map(len, kinds))
        facts = {"message": f"{len(kinds)} further situations, for example: {says}", "pending": count, "wanted": count}
        return self._explanation(first, "pending", None, None, facts)

    def pending(self, simulation: RepeatedSimulation, ended: _End, pods: list[QueuedPod]) -> Explanation:
        """Explain the first judged pod of a workload's pending pods, at the end of a simulation.

        The state is left at the beginning if changes were tried.
        """
        self._ended = ended
        tried = ended.latest(each for each in pods if ended.run.outcome(each) is not None)
        if not tried:
            return self._waiting(pods[0], pods[0].waits)
        queued, outcome = next((each for each in tried if each[1].verdict is not None), tried[0])
        if outcome.verdict is None:
            return self._waiting(queued, outcome.placement.message)
        return self._pending(simulation, ended, queued, outcome)

    def _queued(self, pods: list[QueuedPod]) -> Explanation:
        """Explain the first of some queued pods that stays pending, else the first pod."""
        simulation = RepeatedSimulation(self._run)
        seen: list[_Moment] = []
        if len(pods) == 1:
            seen, run = self._watched(simulation, pods[0], None)
        else:
            run = simulation.carry_out(progress=self._progress)
        self._ended = ended = _End(self._run, run)
        outcomes = ended.latest(pods)
        waiting = [(each, outcome) for each, outcome in outcomes if outcome.pending]
        queued, outcome = (waiting or outcomes)[0]
        if outcome.pending and outcome.verdict is None:
            return self._waiting(queued, outcome.placement.message)
        if outcome.pending:
            return self._pending(simulation, ended, queued, outcome)
        if len(pods) > 1 or outcome.placement.hinted:
            simulation.restore()
            seen, run = self._watched(simulation, queued, outcome.placement)
            ended = _End(self._run, run)
        return self._placed(queued, outcome.placement, seen, ended)

    def _pending(
        self, simulation: RepeatedSimulation, ended: _End, queued: QueuedPod, outcome: PodOutcome
    ) -> Explanation:
        scheduler = self._run.scheduler
        baseline = ended.baselines.of(queued.workload)
        if self.suggests:
            if not self._skews:
                every = spreads(ended.run).items()
                self._skews = {
                    of: {each.position: (each.skew, len(each.domains)) for each in found if each.hard}
                    for of, found in every
                }
            baseline = replace(baseline, skews=self._skews)
        facts: dict[str, Any] = {
            "message": outcome.message_of(f"{queued.namespace}/{queued.name}"),
            "preemption": outcome.preemption.sentence if outcome.preemption else "",
            "pending": baseline.pending,
            "wanted": baseline.wanted,
        }
        verdict = scheduler.verdict(queued.pod, queued.name)
        refused = _refusal_of_group(ended.run, queued) if verdict.feasible else None
        if verdict.error:
            return self._explanation(queued, "pending", None, refused or verdict, facts)
        obstacles = _obstacles(scheduler, queued.pod, verdict)
        if refused is None:
            facts |= {
                "constraints": _tables(obstacles, ended.owners, queued.workload),
                "plugins": obstacles.rejections(),
                "nearest": obstacles.nearest(NEAREST, by_details=_NAMED_REASONS),
                "admitted": obstacles.admitted(),
                "core": obstacles.core(),
            }
        if self.suggests:
            template = queued.workload.template
            newest = obstacles
            # A pod may differ from the template although it has its revision, for example if the template was read
            # later.
            if template is not None and queued.workload.kind in MADE_OF_TEMPLATE:
                newest = _obstacles(scheduler, template, scheduler.verdict(template, queued.name))
            waiting = simulation.queued[id(queued.workload)]
            older = template is not None and is_older(queued.pod, template)
            found = looked_at(baseline, obstacles, newest, surplus_pods(queued.workload, waiting), older=older)
            simulation.restore()
            known = self._run.cluster.nodes.row_of  # `restore` has removed the nodes that pools added
            there = tuple(
                each
                for each in found.cluster_changes
                if all(part.of_node is None or part.object["name"] in known for part in each.each)
            )
            found = replace(found, cluster_changes=there)
            facts["searched"] = True
            facts["suggestions"], facts["untried"] = suggestions(simulation, self._inventory, queued, found)
        return self._explanation(queued, "pending", None, refused or verdict, facts)

    def _watched(
        self, simulation: RepeatedSimulation, queued: QueuedPod, placement: Placement | None
    ) -> tuple[list[_Moment], Run]:
        """Run a simulation. Return the state before each binding of the pod, and the end."""
        seen: list[_Moment] = []
        hinted = placement.node if placement is not None and placement.hinted else None

        def look(scheduler: Scheduler, verdict: Verdict, nominated: str) -> None:
            chosen = nominated if nominated in verdict.total else hinted or verdict.best[0]
            seen.append((verdict, self._choice(scheduler, queued, verdict, chosen), chosen))

        key = pod_key(queued.namespace, queued.name)
        return seen, simulation.watch(key, queued.pod, look, self._progress, self._known)

    def _placed(self, queued: QueuedPod, placement: Placement, seen: list[_Moment], ended: _End) -> Explanation:
        key = pod_key(queued.namespace, queued.name)
        # `seen` is empty if plugins cannot score: kube-scheduler then places a pod only on a single feasible node.
        verdict, facts, node = seen[-1] if seen else (None, {}, ended.latest([queued])[0][1].placement.node)
        baseline = ended.baselines.of(queued.workload)
        facts |= {"pending": baseline.pending, "wanted": baseline.wanted}
        evictions = tuple(f"{each.namespace}/{each.name}" for each in ended.run.evictions if each.preemptor == key)
        facts |= {"evictions": evictions, "from_batch": placement.hinted}
        return self._explanation(queued, "placed", node, verdict, facts)

    def _bound(self, pod: Pod, workload: Workload | None) -> Explanation:
        run = self._run
        key, node = pod_key(pod.namespace, pod.name), pod.spec.node_name or ""
        if key in run.cluster.placed:
            run.cluster.unbind(key)
        free = unbound(pod)
        verdict = run.scheduler.verdict(free, pod.name)
        facts: dict[str, Any] = {"message": verdict.error or verdict.message}
        owner = workload or Workload("Pod", pod.namespace, pod.name, 1)
        if not verdict.error:
            facts |= self._choice(run.scheduler, QueuedPod(free, pod.name, owner), verdict, node)
        facts["wanted"] = len(workload.existing) if workload else 1
        return self._explanation(QueuedPod(pod, pod.name, owner), "bound", node, verdict, facts)

    def _choice(self, scheduler: Scheduler, queued: QueuedPod, verdict: Verdict, chosen: str) -> dict[str, Any]:
        """Return facts about the choice of a node: scores, or the obstacles on the pod's current node."""
        pod = queued.pod
        obstacles = _obstacles(scheduler, pod, verdict)
        draws = rules_for(ChoiceRules, scheduler.framework_of(scheduler.cluster.shared_class(pod)).gates).draws
        keys = [each.topology_key for each in verdict.arithmetic]
        refused: tuple[NearestNode, ...] = ()
        if chosen in verdict.nodes and chosen not in verdict.total:
            refused = (obstacles.near_node(verdict.nodes.index(chosen), keys),)
        owners = PodOwners(self._run.cluster, self._run.owners, self._run.queue)
        tables = _tables(obstacles, owners, queued.workload)
        row = scheduler.cluster.nodes.row_of.get(chosen)
        node = scheduler.cluster.nodes.nodes[row] if row is not None else None
        own = node.labels if node is not None else {}
        return {
            "constraints": tuple(with_fields(each, own=own.get(each.arithmetic.topology_key, "")) for each in tables),
            "plugins": obstacles.rejections(),
            "nearest": refused,
            "scores": score_table(obstacles.view, verdict, chosen, draws=draws),
            "without": tuple(without_each(scheduler, pod, queued.name, verdict)),
        }

    def _waiting(self, queued: QueuedPod, message: str) -> Explanation:
        facts: dict[str, Any] = {"message": message, "pending": 1, "wanted": 1}
        if queued.refused and self.suggests and self._run.plan.quotas is not None:
            simulation = RepeatedSimulation(self._run)
            before = (self._ended or _End(self._run, simulation.carry_out())).baselines.of(queued.workload)
            if self._ended is None:
                simulation.restore()
            facts["suggestions"] = tuple(raised_quotas(self._inventory, self._run, queued.workload, before))
            facts["searched"] = bool(facts["suggestions"])
        return self._explanation(queued, "waiting", None, None, facts)

    def _explanation(
        self, queued: QueuedPod, state: Any, node: str | None, verdict: Verdict | None, facts: dict[str, Any]
    ) -> Explanation:
        planned, workload = self._run.plan, queued.workload
        stored = (state == "bound" and queued.pod.metadata.is_stored) or (
            (queued.namespace, queued.name) in self._existing
        )
        begun = seconds(queued.created) if queued.created and state in ("pending", "waiting") else None
        latest = None if begun is None else snapshot_time(self._inventory.nodes, self._inventory.pods)
        return Explanation(
            created=queued.created if begun is not None else "",
            age=None if begun is None or latest is None else latest - begun,
            namespace=queued.namespace,
            name=queued.name,
            workload=f"{workload.kind}/{workload.name}",
            state=state,
            exists=stored,
            node=node,
            nodes=len(self._run.cluster.nodes),
            verdict=verdict,
            warnings=(*planned.inventory.warnings, *planned.warnings),
            unjudged=self._unjudged(queued, verdict) if state != "bound" else (),
            notes=(
                *workload.notes,
                *_of_old_condition(queued.pod, str(facts.get("preemption", ""))),
                *filter(None, [filtered_by_extender(self._ended.run if self._ended else self._run, queued)]),
            ),
            **facts,
        )

    def _unjudged(self, subject: QueuedPod, verdict: Verdict | None) -> tuple[Unjudged, ...]:
        """Return the unjudged parts of the pod itself and of the run's pending pods."""
        own = f"{subject.namespace}/{subject.name}"
        found = [(part, own) for part in verdict.unjudged] if verdict is not None and verdict.error else []
        return unjudged_of([*found, *(self._ended.unjudged if self._ended else ())])

    @cached_property
    def _existing(self) -> set[tuple[str, str]]:
        """(namespace, name) of the pods that exist."""
        return {(pod.namespace or "default", pod.name) for pod in self._inventory.pods if exists(pod)}


def _of_old_condition(pod: Pod, preemption: str) -> Iterator[str]:
    """Yield a note that a pod's condition is from its last attempt and may be outdated."""
    conditions = pod.status.conditions if pod.status else None
    if preemption and any(each.type == "PodScheduled" and each.status == "False" for each in conditions or ()):
        yield (
            "the pod's condition dates from kube-scheduler's last attempt, so its part about preemption may be "
            "outdated; the result above is current"
        )


def _tables(obstacles: RejectionsPerNode, owners: PodOwners, workload: Workload) -> tuple[ConstraintTable, ...]:
    """Return each constraint with its domains and the owners of the counted pods."""
    tables = constraint_tables(obstacles)
    return tuple(with_fields(each, counted=owners.counted_by(each.arithmetic, workload)) for each in tables)


def _obstacles(scheduler: Scheduler, pod: Pod, verdict: Verdict) -> RejectionsPerNode:
    pod_class = scheduler.cluster.shared_class(pod)
    return RejectionsPerNode(scheduler.view(pod_class), scheduler.framework_of(pod_class), verdict)


def _refusal_of_group(ended: Run, queued: QueuedPod) -> Verdict | None:
    """Return why the pod's group gets no nodes; ``None`` if it does or the pod is scheduled alone."""
    group = queued.pod.spec.scheduling_group
    if group is None:
        return None
    verdicts = (
        outcome.verdict
        for each in ended.queue
        if each.pod.spec.scheduling_group == group
        and each.namespace == queued.namespace
        and (outcome := ended.outcome(each)) is not None
    )
    return next((each for each in verdicts if each is not None and each.rejectors == {GANG}), None)
