"""Answers yes-or-no questions on an inventory for every order in which the incoming pods may be placed.

An unjudged pod has a part that topospread does not model. It may be on any node that the other filters allow. The
answer is yes only if the promise holds wherever the unjudged pods are. It is no only if the promise fails without the
unjudged pods, and also fails with them if their unmodelled parts are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from topospread.answer import Unjudged
from topospread.api.inventory import Inventory
from topospread.controllers.planned import QueuedPod, Workload
from topospread.plugins.interface import NotJudgedError
from topospread.plugins.pod_group_members import group_key
from topospread.scheduling.sampling import nodes_to_find
from topospread.simulation.group_attempts import judge_groups
from topospread.simulation.options import SimulationOptions
from topospread.simulation.placing import place_all
from topospread.simulation.run import Run, prepare
from topospread.simulation.unknown import unjudged_part

from .grouped_pods import ORDERS, GroupedPods
from .order_answer import Answered, GuaranteeAnswer, Lacks
from .order_drills import drill_file, rollout_file
from .orders import OrderSearch, SearchBudget, Searched
from .proofs import Proof
from .questions import LOSSES, EndQuestion, LeftAfterLoss, NoPending
from .rollout_orders import RolloutBegin, RolloutSearch, begin_rollout

_MOST_PODS = 300
"""Most pods whose orders are searched; more pods would also exceed Python's recursion limit."""


@dataclass(frozen=True, slots=True)
class _Assumed:
    """The run and its incoming pods if every unmodelled filter admits every node."""

    run: Run
    queue: Sequence[QueuedPod]


@dataclass(frozen=True)
class Asking:
    """Answers questions: by counting if this is enough, else by a search.

    Attributes:
        unjudged: classes of pods that topospread does not model entirely, by ``index``.
        assumed: the search without the unjudged pods or parts; ``None`` in a rollout.
    """

    run: Run
    queue: Sequence[QueuedPod]
    budget: SearchBudget
    sources: Mapping[str, object]
    begun: RolloutBegin | None
    unjudged: Mapping[int, Sequence[NotJudgedError]]
    assumed: _Assumed | None
    _gathered: dict[tuple[str, int, str], Searched] = field(default_factory=dict, init=False)

    @classmethod
    def begin(
        cls,
        inventory: Inventory,
        options: SimulationOptions,
        budget: SearchBudget,
        *,
        rollout: str | None = None,
        sources: Mapping[str, object] | None = None,
    ) -> Asking:
        """Prepare the search of all orders of incoming pods, or of all courses of a rollout.

        Args:
            inventory: the input, which is not changed.
            options: the control plane; preemption is off.
            budget: the limits of the search for each question.
            rollout: a Deployment, ``[NS/]deploy/NAME``: every course of its rolling update is searched, with all other
                pods placed before.
            sources: ``cluster`` and ``manifests`` of the Drill file that replays an order.

        Raises:
            InputError: if an object is not valid.
            UsageError: if there is no such Deployment.
        """
        options = replace(options, preemption=False, refuses=False, tries_groups=True)
        begun = None if rollout is None else begin_rollout(inventory, options, rollout)
        run = prepared_with_groups(inventory, options) if begun is None else begun.run
        queue = placed_first(run) if begun is None else begun.new
        unjudged = unjudged_classes(run, queue)
        unjudged |= GroupedPods(run, queue, in_rollout=begun is not None).unsearched()
        assumed = None
        if unjudged and begun is None:
            other = prepared_with_groups(inventory, replace(options, assumes_unjudged=True))
            assumed = _Assumed(other, placed_first(other))
        return cls(run, queue, budget, sources or {}, begun, unjudged, assumed)

    @cached_property
    def unjudged_parts(self) -> tuple[Unjudged, ...]:
        """Parts of the pods that topospread does not model."""
        return unjudged_parts(self.run, self.queue, self.unjudged)

    @cached_property
    def _proof(self) -> Proof:
        begun = self.begun
        return (
            Proof(self.run, self.queue)
            if begun is None
            else Proof(self.run, [*self.queue, *begun.waiting], begun.old, begun.strategy.max_surge, begun.kept)
        )

    def surely_left(self, loss: str, workload: Workload) -> int:
        """Return the proved number of pods that a loss leaves in every order; 0 without a proof."""
        if self.begun is not None and (self.begun.undecidable or self.begun.quotas is not None):
            return 0
        return self._proof.left(loss, workload)

    def gathered(self, question: LeftAfterLoss) -> Searched | None:
        """Try orders that gather the workload's pods in one domain. Return the order that leaves the fewest pods.

        `Searched.left` is ``None`` if no such order was found. The result is cached for each loss and workload.
        Unjudged pods of other workloads are left out: they may come last. Return ``None`` for a rollout, a question
        without a loss, or a workload with unjudged pods.
        """
        workload, pairs = question.workload, list(zip(self.queue, self._proof.classes, strict=False))
        if self.begun is not None or not question.loss:
            return None
        if any(queued.workload is workload and each.index in self.unjudged for queued, each in pairs):
            return None
        key = question.loss, id(question.workload), question.step
        if key not in self._gathered:
            judged = [(queued, each) for queued, each in pairs if each.index not in self.unjudged]
            queue, classes = [queued for queued, _ in judged], [each for _, each in judged]
            search = OrderSearch(self.run, queue, NoPending(), self.budget, classes=classes)
            found = search.gathered(question, self.surely_left(question.loss, workload))
            if self.leaves_orders_of(None) and any(not each.node for each in found.order):
                found.left = None  # the groups that were not placed might help a pending pod
            self._gathered[key] = found
        return self._gathered[key]

    def leaves_orders_of(self, workload: Workload | None) -> bool:
        """Return whether a pod group prevents the search of the orders of a workload's pods (``None``: of any pods)."""
        own = {self.run.cluster.shared_class(q.pod).index for q in self.queue if workload in (None, q.workload)}
        return any(part.what == ORDERS for each in own & self.unjudged.keys() for part in self.unjudged[each])

    def answer(self, ask: Callable[[Run], EndQuestion], *, deep: bool = True) -> GuaranteeAnswer:
        """Return the answer to a question on a prepared run.

        Args:
            ask: builds the question from the run.
            deep: whether to search; False only counts.
        """
        begun, question = self.begun, ask(self.run)
        if begun is not None and begun.undecidable:
            return _undecided(question, begun.undecidable, "rollout")
        if (certain := self._certain(question)) is not None:
            return certain
        if isinstance(question, LeftAfterLoss):
            gathered = self.gathered(question)
            if gathered is not None and gathered.left is not None and gathered.left < question.least:
                return self._told(question, gathered)
        sampled = _sampled(self.run)
        if sampled or not deep:
            return _undecided(question, sampled or "counting does not decide it", "sampling" if sampled else "budget")
        return self._searched_for(ask)

    def _certain(self, question: EndQuestion) -> GuaranteeAnswer | None:
        """Return an answer that needs no search; ``None`` without one."""
        begun = self.begun
        if isinstance(question, NoPending) and (blocked := self._blocked(question.workload)):
            first = blocked[0]
            number = sum(each.workload is first.workload for each in blocked)
            why = f"{number} of {first.namespace}/{first.workload.name}: {first.waits}"
            return GuaranteeAnswer(str(question), "never", 0, 0, why=why)
        proved = "" if begun is not None and begun.quotas is not None else self._proof.of(question)
        if proved:
            return GuaranteeAnswer(str(question), "always", 0, 0, why=proved)
        if isinstance(question, LeftAfterLoss) and question.step == "fail" and question.least > 0:
            shared = self.shared_domain(question.workload, question.loss)
            return GuaranteeAnswer(str(question), "never", 0, 0, why=shared, left=0) if shared else None
        return None

    def _blocked(self, workload: Workload | None) -> list[QueuedPod]:
        """Return pods with scheduling gates and pods that the API server refuses, of one workload or of all."""
        return [each for each in self.run.plan.gated if workload in (None, each.workload)]

    def shared_domain(self, workload: Workload, loss: str) -> str:
        """Return why a loss takes all pods of a workload: they are a group in one domain; "" if it may leave some."""
        return GroupedPods(self.run, self.queue).shared_domain(workload, LOSSES.get(loss, ""))

    def refused(self, workload: Workload) -> str:
        """Return the API server's message for the workload's refused pods; "" if it refuses none."""
        return next((each.refused for each in self._blocked(workload) if each.refused), "")

    def _searched_for(self, ask: Callable[[Run], EndQuestion]) -> GuaranteeAnswer:
        begun, question = self.begun, ask(self.run)
        if begun is not None:
            return self._of_rollout(question, begun)
        if self.assumed is not None:
            return self._of_unjudged(question, self.assumed, ask(self.assumed.run))
        return self._told(question, self._searched(self.run, self.queue, question))

    def _told(self, question: EndQuestion, found: Searched) -> GuaranteeAnswer:
        # Write no Drill file for an order with a pending gang: the drill may place the gang's pods on other nodes.
        in_groups = {(each.namespace, each.name) for each in self.queue if group_key(each.pod) is not None}
        waiting = {(each.namespace, each.name) for each in found.order if not each.node}
        write = partial(drill_file, self.run, found.order, self.sources, question)
        return _answer(question, found, None if in_groups & waiting else write)

    def _of_rollout(self, question: EndQuestion, begun: RolloutBegin) -> GuaranteeAnswer:
        if parts := [part for parts in self.unjudged.values() for part in parts]:
            return _undecided(question, parts[0].because, "pods")
        if begun.waiting:
            return _undecided(question, "pods of other workloads are pending", "rollout")
        if len(begun.new) > _MOST_PODS:
            why = f"a rollout of {len(begun.new)} pods has too many courses: at most {_MOST_PODS} pods are searched"
            return _undecided(question, why, "budget")
        found = _unless_memory_runs_out(RolloutSearch(begun, question, self.budget).search)
        write = partial(rollout_file, self.run, found.order, begun.workload, self.sources, question)
        return _answer(question, found, write)

    def _searched(
        self, run: Run, queue: Sequence[QueuedPod], question: EndQuestion, adversaries: Collection[int] = ()
    ) -> Searched:
        number = len(queue)
        classes = self._proof.classes if queue is self.queue else ()
        search = OrderSearch(run, queue, question, self.budget, adversaries, classes=classes)
        found = _unless_memory_runs_out(partial(search.search, deep=number <= _MOST_PODS))
        if number > _MOST_PODS:
            drawn = f"{found.tried} orders drawn at random {'do not show it' if found.why else 'all end well'}"
            found.gave_up = f"all orders are searched for at most {_MOST_PODS} pods, not for {number}; {drawn}"
        return found

    def _of_unjudged(self, question: EndQuestion, assumed: _Assumed, asked: EndQuestion) -> GuaranteeAnswer:
        """Return the answer if incoming pods have unmodelled parts."""
        of, other = self.run.cluster.shared_class, assumed.run.cluster.shared_class
        adversaries = {other(each.pod).index for each in assumed.queue if of(each.pod).index in self.unjudged}
        unjudged = [each for each in self.queue if of(each.pod).index in self.unjudged]
        own = set[int]()
        if isinstance(question, NoPending | LeftAfterLoss):
            own = {of(each.pod).index for each in unjudged if question.workload in (None, each.workload)}
        for index, part in ((index, part) for index, parts in self.unjudged.items() for part in parts):
            if part.changes_pod or (index in own and part.what == ORDERS):
                return _undecided(question, part.because, "pods")
        # If the question is about pending pods, no "yes" is possible: an unjudged pod stays pending until it is judged.
        waits = isinstance(question, NoPending) and any(question.workload in (None, each.workload) for each in unjudged)
        if not waits:
            adverse = _answer(asked, self._searched(assumed.run, assumed.queue, asked, adversaries))
            if adverse.answer == "always":
                return replace(
                    adverse, why="true for every node that unjudged pods may have, and without a node for them"
                )
        if self.leaves_orders_of(None):
            return _undecided(question, "it depends on a PodGroup whose orders are not searched", "pods")
        with_all = _answer(asked, self._searched(assumed.run, assumed.queue, asked))
        judged = [each for each in self.queue if of(each.pod).index not in self.unjudged]
        if with_all.fails and (waits or _answer(question, self._searched(self.run, judged, question)).fails):
            return replace(with_all, answer="not always")
        if not waits and adverse.lacks == with_all.lacks == "budget":
            return with_all
        return _undecided(question, "it depends on pods that are not judged", "pods")


def _unless_memory_runs_out(search: Callable[[], Searched]) -> Searched:
    """Return the result of a search, or an incomplete result if memory runs out. The cluster is restored."""
    try:
        return search()
    except MemoryError:
        return Searched(gave_up="memory ran out; lower --states or --seconds to end the search earlier")


def prepared_with_groups(inventory: Inventory, options: SimulationOptions) -> Run:
    """Return a prepared run whose pod groups are marked as judged or not judged."""
    run = prepare(inventory, options, with_spreads=False)
    if run.scheduler.has_groups:
        judge_groups(run)
    return run


def placed_first(run: Run) -> list[QueuedPod]:
    """Place DaemonSet pods. Return the other incoming pods, which may be placed in any order.

    DaemonSet pods that find no node are returned, too.
    """
    own = [each for each in run.queue if each.workload.kind == "DaemonSet"]
    others = [each for each in run.queue if each.workload.kind != "DaemonSet"]
    if not own:
        return others
    first = Run(run.plan, run.scheduler, run.options, queue=own, owners=dict(run.owners))
    place_all(first)
    return [each for each in own if (came := first.outcome(each)) is not None and came.pending] + others


def _sampled(run: Run) -> str:
    """Return why not all orders can be searched; "" if they can."""
    nodes = len(run.cluster.nodes)
    percentages = {each.profile.percentage_of_nodes_to_score for each in run.scheduler.frameworks.values()}
    if any(nodes_to_find(nodes, each) < nodes for each in percentages):
        return (
            f"kube-scheduler evaluates only a sample of the {nodes} nodes; set percentageOfNodesToScore: 100 in "
            "--config to search all orders"
        )
    return ""


def unjudged_classes(run: Run, queue: Sequence[QueuedPod]) -> dict[int, Sequence[NotJudgedError]]:
    """Return class → the parts of its pods that topospread does not model, by ``index``."""
    found: dict[int, Sequence[NotJudgedError]] = {}
    for number, pod in {run.cluster.shared_class(each.pod).index: each.pod for each in queue}.items():
        parts = run.scheduler.verdict(pod).unjudged
        found |= {number: parts} if parts else {}
    return found


def unjudged_parts(
    run: Run, queue: Sequence[QueuedPod], classes: Mapping[int, Sequence[NotJudgedError]]
) -> tuple[Unjudged, ...]:
    """Return each unmodelled part of incoming pods, with these pods.

    Args:
        run: the prepared run.
        queue: the pods.
        classes: the result of `unjudged_classes`.
    """
    parts: dict[str, tuple[NotJudgedError, list[str]]] = {}
    for each in queue:
        for part in classes.get(run.cluster.shared_class(each.pod).index, ()):
            parts.setdefault(part.what, (part, []))[1].append(f"{each.namespace}/{each.name}")
    return tuple(unjudged_part(part, pods) for part, pods in parts.values())


def _undecided(question: EndQuestion, why: str, lacks: Lacks) -> GuaranteeAnswer:
    return GuaranteeAnswer(str(question), "not decided", 0, 0, why=why, lacks=lacks)


def _answer(question: EndQuestion, found: Searched, write: Callable[[], str] | None = None) -> GuaranteeAnswer:
    answered: Answered
    if found.why:
        answered = "not always" if found.holds or found.gave_up else "never"
    else:
        answered = "not decided" if found.gave_up else "always"
    lacks: Lacks = "budget" if answered == "not decided" else ""
    return GuaranteeAnswer(
        str(question), answered, found.states, found.ends, found.order, found.why or found.gave_up, write, found.tried,
        lacks, found.left,
    )  # fmt: skip
