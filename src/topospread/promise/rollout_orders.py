"""Depth-first search of a Deployment's rolling update on savepoints. Equivalent states are visited once.

Each step has one of four actors: the Deployment controller creates or deletes pods, kube-scheduler places a pending
pod, a kubelet makes a pod ready, or a kubelet ends a deleted pod. The counts and the deletion order follow
`controllers.rolling` and `controllers.removal`. If only a pod's uid decides there, any of these pods may be deleted.
Preemption is not part of the search.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Hashable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import combinations

from msgspec.structs import replace

from topospread.admission.quotas import Quotas
from topospread.api.inventory import Inventory, key_of
from topospread.api.pod import Pod, PodStatus
from topospread.api.rollout import Strategy, strategy_of
from topospread.api.workload import Deployment
from topospread.cluster.cluster import PodKey, pod_key
from topospread.controllers.planned import QueuedPod, Workload
from topospread.controllers.removal import removal_groups
from topospread.controllers.rolling import RolloutStatus, to_create, to_remove
from topospread.controllers.scale import the_workload
from topospread.drill.cluster_inventory import begin_of
from topospread.drill.drill_state import DrillState
from topospread.drill.rolling import template_item
from topospread.drill.rollouts import roll_out
from topospread.drill.steps import TurnKind, read_rollout
from topospread.errors import UsageError
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import Run

from .alike_states import AlikeStates
from .fresh import REVISION, Designed
from .order_answer import OrderStep
from .orders import SearchBudget, Searched, may_preempt, rows_of
from .questions import EndQuestion, OrderEnd

Moves = Generator[None, None, None]
"""Possible next moves: each is done while the caller visits the next state, and undone afterwards."""


@dataclass(slots=True)
class RolloutBegin:
    """The start of a rollout.

    Attributes:
        run: the cluster with all old pods, planned with the new template.
        new: the pods to create, in order.
        old: the pods to delete, as the API server holds them.
        drawn: old pods that this simulation placed, in order; they could also be on equal nodes.
        now: start time in seconds since 1970.
        undecidable: why neither counting nor a search can decide the rollout; "" if counting can.
        waiting: pending pods of other workloads. If there are any, rollouts are counted but not searched.
        quotas: ResourceQuotas with the usage at the start, if they may refuse new pods. Then counting proves nothing.
    """

    run: Run
    workload: Workload
    strategy: Strategy
    new: list[QueuedPod]
    old: list[Pod]
    drawn: list[Pod]
    now: float
    undecidable: str = ""
    waiting: Sequence[QueuedPod] = ()
    quotas: Quotas | None = None

    @property
    def kept(self) -> int:
        """Old pods that stay ready even if no new pod finds a node; 0 unless that is certain.

        It is not certain with a quota, with waiting pods, or if the input has an old pod with a node.
        """
        if self.undecidable or self.waiting or self.quotas is not None or len(self.drawn) < len(self.old):
            return 0
        return max(len(self.old) - self.strategy.max_unavailable, 0)


def begin_rollout(inventory: Inventory, options: SimulationOptions, target: str) -> RolloutBegin:
    """Place all pods like a simulation, and return the start of a Deployment's rollout.

    Raises:
        InputError: if the API server would refuse an object.
        UsageError: if the target is not a Deployment with a rolling update.
    """
    state = DrillState(inventory, options)
    state.rest()
    step = read_rollout(target, "--rollout")
    key = the_workload(step.target, [key_of(each) for each in state.run.plan.workloads])
    if key[0] != "Deployment":
        raise UsageError(f"--rollout {target}: Deployments are searched, not a {key[0]}")
    roll_out(state, step, None)
    workload, item = state.workload(key), template_item(state, key)
    assert workload is not None
    assert isinstance(item, Deployment)
    strategy = strategy_of(replace(item, spec=replace(item.spec, replicas=workload.replicas)))
    if strategy is None:
        raise UsageError(
            f"--rollout {target}: its strategy is Recreate: all old pods are deleted before new ones are created"
        )
    there = state.pods.of(key)
    stored = {pod_key(each.namespace, each.name): each for each in state.inventory().pods}
    template = workload.template
    settled = all(each.node and not each.terminating and state.is_ready(each) for each in there)
    if template is None or not settled or len(there) != workload.replicas:
        why = "some pods are not ready when the rollout begins"
    else:
        why = "the rollout is paused" if item.spec.paused else ""
    quotas = state.run.plan.quotas
    if quotas is not None and template is not None and not _may_refuse(quotas, template, strategy):
        quotas = None
    if quotas is not None and any(each.is_refused for each in state.pods.waiting.values()):
        why = why or "pods beyond a quota wait until pods are deleted"
    old = [stored[each.key] for each in there if each.key in stored]
    read = {pod_key(each.namespace, each.name) for each in inventory.pods}
    return RolloutBegin(
        state.run,
        workload,
        strategy,
        list(state.successors.replicas(workload, workload.replicas)),
        old,
        [each for each in old if pod_key(each.namespace, each.name) not in read],
        begin_of(inventory) + state.now,
        why,
        [each.queued for each in state.pods.waiting.values() if each.queued is not None],
        quotas,
    )


def _may_refuse(quotas: Quotas, pod: Pod, strategy: Strategy) -> bool:
    """Return whether a quota may refuse a new pod: whether it denies the surge while all old pods exist."""
    usage = quotas.copy()
    return any([usage.refusal(pod) for _ in range(strategy.max_surge)])  # noqa: C419 - each is charged


def counted_rollout(
    run: Run, workload: Workload, item: Designed | None, own: Sequence[QueuedPod], others: Sequence[QueuedPod]
) -> RolloutBegin | None:
    """Return a rollout for counting, without a search; ``None`` if pods are not replaced one by one.

    Args:
        run: the cluster without the workload's pods.
        item: the workload's object, if it is a Deployment or StatefulSet.
        own: the workload's pods.
        others: pending pods of other workloads.
    """
    strategy = None
    if isinstance(item, Deployment):
        strategy = strategy_of(replace(item, spec=replace(item.spec, replicas=workload.replicas)))
    if strategy is None:
        return None
    old = []
    for each in own:
        labels = {**(each.pod.metadata.labels or {}), REVISION: "old"}
        old.append(replace(each.pod, metadata=replace(each.pod.metadata, labels=labels, name=f"{each.name}-old")))
    quotas = run.plan.quotas
    binding = quotas is not None and bool(own) and _may_refuse(quotas, own[0].pod, strategy)
    undecidable = "a quota may refuse new pods" if binding else ""
    return RolloutBegin(run, workload, strategy, list(own), old, [], 0.0, undecidable, others)


class RolloutSearch:
    """The search for one question over all courses of a rollout. `search` leaves the cluster as it was."""

    def __init__(self, rollout: RolloutBegin, question: EndQuestion, budget: SearchBudget) -> None:
        self._rollout = rollout
        self._run = rollout.run
        self._question = question
        self._budget = budget
        pods = [*(each.pod for each in rollout.new), *rollout.drawn]
        profiles = [each.profile for each in self._run.scheduler.frameworks.values()]
        self._alike = AlikeStates(self._run.cluster, pods, profiles)
        self._old = {pod_key(each.namespace, each.name): each for each in rollout.old}
        self._ending: dict[PodKey, int] = {}
        self._placed: dict[PodKey, Pod] = {}
        self._created = self._admitted = self._ready = 0
        self._seen: set[Hashable] = set()
        self._path: list[OrderStep] = []
        self._found = Searched()

    def search(self) -> Searched:
        """Search all courses until one keeps the promise and one breaks it, or the budget is spent."""
        self._begun = time.monotonic()
        drawn, cluster = self._rollout.drawn, self._run.cluster
        with cluster.savepoint():
            for pod in drawn:
                cluster.unbind(pod_key(pod.namespace, pod.name))
            self._stand(drawn)
        self._old = {pod_key(each.namespace, each.name): each for each in self._rollout.old}
        return self._found

    @property
    def _row_of(self) -> dict[PodKey, int]:
        return self._run.cluster.placed

    def _is_new(self, key: Hashable) -> bool:
        """Return whether a state is new, and count it if so."""
        found = self._found
        if found.over or key in self._seen:
            return False
        said = self._budget.ran_out(found.states, time.monotonic() - self._begun)
        if said:
            how_far = f"{found.states} states were searched, {found.ends} ends"
            found.over, found.gave_up = True, f"{said}; {how_far}"
            return False
        self._seen.add(key)
        found.states += 1
        return True

    def _stand(self, left: Sequence[Pod]) -> None:
        """Search from every placement that the old pods may have: each pod may be on any of its best nodes."""
        if not left:
            self._look()
            return
        if not self._is_new((self._alike.key(), len(left))):
            return
        run, pod = self._run, replace(left[0], spec=replace(left[0].spec, node_name=""))
        key, pod_class = pod_key(pod.namespace, pod.name), run.cluster.shared_class(pod)
        best, known = run.scheduler.verdict(pod, pod.name).best, set[Hashable]()
        if not best:
            self._found.gave_up = "some pods are not ready when the rollout begins, wherever equal nodes are taken"
        for node in best:
            row = run.cluster.nodes.row_of[node]
            alike = self._alike.zone(row), self._alike.of(row)
            if alike in known:
                continue
            known.add(alike)
            with run.cluster.savepoint():
                run.scheduler.bind(key, pod_class, row)
                self._old[key] = replace(pod, spec=replace(pod.spec, node_name=node))
                others = tuple(each for each in best if each != node)
                with self._told(self._step(pod.name, node, others, "stands")):
                    self._stand(left[1:])
            if self._found.over:
                return

    def _look(self) -> None:
        found = self._found
        if not self._is_new(self._key()):
            return
        moved = False
        with closing(self._moves()) as moves:
            for _ in moves:
                moved = True
                self._look()
                if found.over:
                    return
        if not moved and not found.gave_up:
            self._end()

    def _key(self) -> Hashable:
        """Return the state's key, which equivalent states share: the node, age and readiness of every pod."""
        rows: dict[int, list[tuple[int, int]]] = {}
        for number, group in enumerate(self._groups()):
            for pod in group:
                rows.setdefault(self._row_of[pod_key(pod.namespace, pod.name)], []).append((number, 1))
        for row in self._ending.values():
            rows.setdefault(row, []).append((-1, 1))
        extra = {row: tuple(sorted(told)) for row, told in rows.items()}
        return self._alike.key(extra), self._created, self._admitted, self._ready

    def _groups(self) -> list[list[Pod]]:
        """Return the old pods in deletion order; pods whose order only their uid decides share a group."""
        related = [*self._old.values(), *self._placed.values()]
        return removal_groups(list(self._old.values()), related, self._rollout.now)

    def _moves(self) -> Moves:
        """Yield each possible next move; it is undone after the caller has visited the next state."""
        yield from self._controller()
        if self._admitted < self._created and self._admits():
            self._admitted += 1
            yield
            self._admitted -= 1
        yield from self._scheduler()
        if self._ready < len(self._placed):
            self._ready += 1
            with self._told(self._step("", "", (), "ready")):
                yield
            self._ready -= 1
        known = set[Hashable]()
        for key, row in list(self._ending.items()):
            alike = self._alike.zone(row), self._alike.of(row)
            if alike not in known:
                known.add(alike)
                cluster = self._run.cluster
                with cluster.savepoint():
                    cluster.unbind(key)
                    del self._ending[key]
                    with self._told(self._step(key.partition("/")[2], cluster.nodes.names[row], (), "gone")):
                        yield
                    self._ending[key] = row

    def _admits(self) -> bool:
        """Return whether the quotas admit one more new pod; pods that are deleted use nothing."""
        rollout = self._rollout
        if rollout.quotas is None:
            return True
        usage = rollout.quotas.copy()
        for each in rollout.old:
            if pod_key(each.namespace, each.name) not in self._old:
                usage.release(each)
        made = rollout.new[: self._admitted + 1]
        return not any([usage.refusal(each.pod) for each in made])  # noqa: C419 - each is charged

    def _controller(self) -> Moves:
        rollout, waiting = self._rollout, self._created - len(self._placed)
        starting = len(self._placed) - self._ready
        status = RolloutStatus(rollout.workload.replicas, self._ready, waiting + starting, len(self._old), 0)
        created = to_create(status, rollout.strategy)
        if created:
            admitted = 0 if rollout.quotas is not None else created
            self._created, self._admitted = self._created + created, self._admitted + admitted
            yield
            self._created, self._admitted = self._created - created, self._admitted - admitted
            return
        number = sum(to_remove(status, rollout.strategy))
        if not number:
            return
        known: set[Hashable] = set()
        for chosen in _first(self._groups(), number):
            rows = [self._row_of[pod_key(each.namespace, each.name)] for each in chosen]
            alike = tuple(sorted((str(self._alike.zone(row)), self._alike.of(row)) for row in rows))
            if len(set(rows)) < len(rows) or alike not in known:
                known.add(alike)
                yield from self._deleted(chosen)

    def _deleted(self, chosen: Sequence[Pod]) -> Moves:
        cluster, names = self._run.cluster, self._run.cluster.nodes.names
        with cluster.savepoint():
            for pod in chosen:
                key = pod_key(pod.namespace, pod.name)
                row = self._row_of[key]
                metadata = replace(pod.metadata, deletion_timestamp="1970-01-01T00:00:00Z")
                cluster.put_pod(replace(pod, metadata=metadata))
                del self._old[key]
                self._ending[key] = row
                self._path.append(self._step(pod.name, names[row], (), "deleted"))
            yield
            for pod in chosen:
                key = pod_key(pod.namespace, pod.name)
                self._path.pop()
                del self._ending[key]
                self._old[key] = pod

    def _scheduler(self) -> Moves:
        if len(self._placed) >= self._admitted:
            return
        queued, run = self._rollout.new[len(self._placed)], self._run
        verdict = run.scheduler.verdict(queued.pod, queued.name)
        key, pod_class = pod_key(queued.namespace, queued.name), run.cluster.shared_class(queued.pod)
        known: set[Hashable] = set()
        for node in verdict.best:
            row = run.cluster.nodes.row_of[node]
            alike = self._alike.zone(row), self._alike.of(row), self._extra_of(row)
            if alike in known:
                continue
            known.add(alike)
            others = tuple(each for each in verdict.best if each != node)
            with run.cluster.savepoint():
                run.scheduler.bind(key, pod_class, row)
                if pod_class.volumes and run.scheduler.reserve(pod_class, row):
                    self._found.gave_up = f"{key} could not be bound to its volumes"
                    return
                pod = queued.pod
                metadata = replace(pod.metadata, name=queued.name, namespace=queued.namespace)
                spec = replace(pod.spec, node_name=node)
                self._placed[key] = replace(
                    pod, metadata=metadata, spec=spec, status=replace(pod.status or PodStatus(), phase="Running")
                )
                with self._told(self._step(queued.name, node, others, "placed")):
                    yield
                del self._placed[key]
        if not verdict.best and may_preempt(run, queued):
            self._found.gave_up = f"{queued.namespace}/{queued.workload.name} may evict pods of less priority"

    def _extra_of(self, row: int) -> Hashable:
        """Return the deletion order of a node's old pods, which distinguishes nodes with equal pod classes."""
        groups = enumerate(self._groups())
        here = Counter(n for n, group in groups for pod in group if self._row_of[f"{pod.namespace}/{pod.name}"] == row)
        return tuple(sorted(here.items()))

    @contextmanager
    def _told(self, step: OrderStep) -> Iterator[None]:
        self._path.append(step)
        yield
        self._path.pop()

    def _step(self, name: str, node: str, equal: tuple[str, ...], does: TurnKind) -> OrderStep:
        workload = self._rollout.workload
        return OrderStep(workload.namespace, f"{workload.kind}/{workload.name}", name, node, equal, does)

    def _end(self) -> None:
        rollout = self._rollout
        pending = rollout.new[len(self._placed) : self._created]
        placed = {id(each): rows_of(self._run, each.existing) for each in self._run.plan.workloads}
        placed[id(rollout.workload)] = [self._row_of[key] for key in (*self._old, *self._placed)]
        rest = (self._step(each.name, "", (), "placed") for each in pending)
        self._found.ended(self._question, OrderEnd(self._run, pending, placed), self._path, rest)


def _first(groups: Sequence[Sequence[Pod]], number: int) -> Iterator[tuple[Pod, ...]]:
    """Yield each possible set of the first `number` pods; groups are ordered, pods in a group are not."""
    sure: list[Pod] = []
    for group in groups:
        left = number - len(sure)
        if len(group) >= left:
            yield from ((*sure, *chosen) for chosen in combinations(group, left))
            return
        sure += group
    yield tuple(sure)
