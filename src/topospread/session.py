"""`Session`: one cluster, scheduler configuration and Kubernetes version, with a method for each question."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Self, TypedDict, TypeVar, Unpack, get_args, overload

from topospread.api.inventory import Inventory
from topospread.config.gates import Gates, read_gates
from topospread.config.versions import NEWEST
from topospread.errors import UnknownVerdictError, UsageError
from topospread.given_cluster import Given, GivenCluster, Manifest
from topospread.parameter_names import naming
from topospread.sources.inputs import Path, paths_of
from topospread.sources.rendering import Rendering

if TYPE_CHECKING:
    from topospread.answer import Answer, Remedy
    from topospread.answers.capacity import Capacity
    from topospread.answers.drill import DrillResult
    from topospread.answers.drill_many import DrillEach
    from topospread.answers.lint import Lint
    from topospread.answers.orders import Orders
    from topospread.answers.plan import Plan
    from topospread.answers.promise_check import PromiseCheck
    from topospread.answers.promise_design import PromiseDesign
    from topospread.answers.promise_show import PromiseShow
    from topospread.answers.rebalance import Rebalance
    from topospread.answers.simulation import Simulation
    from topospread.answers.status import Status
    from topospread.answers.why import Why
    from topospread.answers.why_history import WhyHistory
    from topospread.answers.why_pending import WhyPending
    from topospread.api.labels import Selector
    from topospread.config.profile import Configuration
    from topospread.drill.steps import Step
    from topospread.lint.settings import Settings
    from topospread.simulation.options import SimulationOptions
    from topospread.traffic.result import ExpectedTraffic

Found = TypeVar("Found")
Told = TypeVar("Told", bound="Answer")
Arguments = ParamSpec("Arguments")


def _question(ask: Callable[Arguments, Told]) -> Callable[Arguments, Told]:
    """Wrap a question: check its arguments first, and name parameters instead of options in errors.

    An unknown verdict raises `UnknownVerdictError` if the session was created with ``unknown="raise"``.
    """
    counts = [name for name, of in ask.__annotations__.items() if of in ("int", "int | None")]
    names = int("target" in ask.__annotations__) if "manifests" in ask.__annotations__ else None

    @wraps(ask)
    def asked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Told:
        if any(isinstance(each, Mapping) for each in args[1:][:names]):
            raise UsageError("expected a name or a path, got a dict; give objects to Session([…])")
        wrong = next((each for each in args[1:] if isinstance(each, int | float)), None)
        if wrong is not None:
            raise UsageError(f"{wrong!r}: expected a name or a path, got a number")
        for name in counts:
            number = kwargs.get(name)
            if number is not None and (type(number) is not int or number < 1):
                raise UsageError(f"{name}={number!r}: use a whole number of at least 1")
        for name, value in kwargs.items():
            of = _PLACING.get(name) or ask.__annotations__.get(name, "None")
            if value is None and "None" not in of:
                raise UsageError(f"{name}=None: leave it out for its default")
            if of in ("Collection[str]", "Sequence[str]") and not _is_list(value):
                raise UsageError(f"{name}={value!r}: use a list of strings")
            if of == "Sequence[Path]" and not (_is_list(value) or isinstance(value, str | os.PathLike)):
                raise UsageError(f"{name}={value!r}: use a path or a list of paths")
            if of.startswith("Mapping") and not isinstance(value, Mapping):
                raise UsageError(f'{name}={value!r}: use a dict, {{"deploy/web": 3}}')
        with naming(ask.__annotations__.keys() | _SHARED):
            told = ask(*args, **kwargs)
        subject: Any = args[0]
        session: Session = subject._session if isinstance(subject, Promises) else subject
        if told.verdict == "unknown" and session._given["unknown"] == "raise":
            raise UnknownVerdictError(told)
        return told

    return asked


def _is_list(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | Mapping)


class Placing(TypedDict, total=False):
    """Keyword arguments that change how pods are placed, shared by several questions.

    Attributes:
        scale: workload, ``deploy/web`` → replicas. Overrides the manifest.
        autoscale: replicas of workloads with a HorizontalPodAutoscaler: ``keep`` (within its bounds), ``min`` or
            ``max``.
        pools: files with node pools, which add nodes for pending pods.
        seed: seed for random choices between nodes with equal scores; by default the first node by name.
        preemption: whether pods may evict pods of lower priority.
        sampling: number of nodes that are scored: ``all``, or ``kube`` for kube-scheduler's percentageOfNodesToScore.
        run_cron_jobs: CronJobs to run once.
    """

    scale: Mapping[str, int]
    autoscale: Literal["keep", "min", "max"]
    pools: Sequence[Path]
    seed: int
    preemption: bool
    sampling: Literal["all", "kube"]
    run_cron_jobs: Collection[str]


_PLACING: Mapping[str, str] = {
    name: str(getattr(of, "__forward_arg__", of)) for name, of in Placing.__annotations__.items()
}
"""Keyword argument of `Placing` → its type as text."""
_SHARED = Placing.__annotations__.keys() | {"on", "kube_version", "config", "gates", "render", "context"}
"""Parameters of several questions, and parameters of a session."""


class Session:
    """A cluster that is read once, with a method for each command. Methods and commands give the same answers.

    ``session.simulate().to_json()`` is the text of ``topospread simulate -o json``.

    Args:
        on: the cluster: ``live``, a path, a synthetic cluster (``zones=3,nodes=6``), a list of these two, an inventory,
            or objects: dictionaries, or objects of the clients kubernetes, kr8s and lightkube.
        kube_version: the Kubernetes version to follow, ``1.30``.
        config: kube-scheduler's configuration, as a file or as data.
        gates: feature gates, ``A=true,apiserver:B=false``.
        namespace: namespace of objects without ``metadata.namespace``.
        render: ``auto`` or ``never`` for charts and kustomizations, or detailed settings (`Rendering`).
        unknown: for an answer with the verdict ``unknown``: return it (``keep``), or raise
            `UnknownVerdictError` (``raise``).
        context: context of the kubeconfig, for ``live``.
        workers: number of processes for `drill_each` and `capacity`; by default one for each core.
        progress: receives the number of finished parts, and of all parts.

    Raises:
        UsageError: if an argument has an unusable type or value.
        InputError: if the input cannot be read.
    """

    def __init__(  # noqa: PLR0913 - keyword arguments
        self,
        on: Given,
        *,
        kube_version: str = str(NEWEST),
        config: Configuration | Mapping[str, Any] | Path | None = None,
        gates: str = "",
        namespace: str = "default",
        render: Rendering | Literal["auto", "never"] = "auto",
        unknown: Literal["keep", "raise"] = "keep",
        context: str | None = None,
        workers: int | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> None:
        if not isinstance(kube_version, str):
            meant = f"{kube_version:.2f}" if isinstance(kube_version, float) else NEWEST
            raise UsageError(f'kube_version: {kube_version!r} is not text: write "{meant}"')
        if not isinstance(gates, str):
            raise UsageError(f'gates: {gates!r} is not text: write "A=true,apiserver:B=false"')
        _one_of("unknown", unknown, ("keep", "raise"))
        with naming(_SHARED):
            scheduler, apiserver = (read_gates(kube_version, gates, each) for each in ("scheduler", "apiserver"))
            self._options = _options(scheduler, apiserver, config)
            self._source = GivenCluster(
                on, namespace, _rendering(render, kube_version), context, self._options.lets_compare
            )
        self._given: dict[str, Any] = {
            "on": on,
            "kube_version": kube_version,
            "config": config,
            "gates": gates,
            "namespace": namespace,
            "render": render,
            "unknown": unknown,
            "context": context,
            "workers": workers,
            "progress": progress,
        }
        self.promises = Promises(self)

    @property
    def inventory(self) -> Inventory:
        """The objects of the cluster.

        Raises:
            InputError: if the input has no nodes. Such manifests can only be linted, or applied to another cluster.
        """
        return self._source.inventory

    @property
    def kube_version(self) -> str:
        """The Kubernetes version to follow."""
        return self._options.kube_version

    def __repr__(self) -> str:
        if self._source.missing is not None:
            return f"<Session no nodes, v{self.kube_version}>"
        return f"<Session {len(self.inventory.nodes)} nodes, {len(self.inventory.pods)} pods, v{self.kube_version}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: a session holds no connection."""

    def but(self, **changed: Any) -> Session:
        """Return a session with other options, such as ``kube_version`` or ``config``, on the same cluster."""
        for name in changed.keys() - self._given.keys():
            raise UsageError(f"{name}: unknown parameter; known are {', '.join(self._given)}")
        reads = {"on", "namespace", "render", "context"} & changed.keys()
        other = Session(**{**self._given, **changed, **({} if reads else {"on": Inventory()})})
        if not reads:
            other._source, other._given = self._source, {**self._given, **changed}
        return other

    @naming(_SHARED)
    def after(self, *steps: Step, manifests: Sequence[Manifest] = (), **placing: Unpack[Placing]) -> Session:
        """Return a session on the cluster after a simulation, or after the given drill steps."""
        inventory, options = self._asked(manifests, placing)
        from topospread.drill.drill import drill
        from topospread.simulation.simulate import simulate

        if steps:
            left = drill(inventory, _checked(steps), options, keep_after=True, progress=self._progress).steps[-1].after
        else:
            left = simulate(inventory, options, keep_after=True, progress=self._progress).after
        assert left is not None, "keep_after keeps it"
        return self.but(on=left)

    def with_patch(self, remedy: Remedy) -> Session:
        """Return a session on the cluster after a remedy.

        The remedy's objects are changed. Then controllers and kube-scheduler act until the cluster is stable.

        Args:
            remedy: a remedy of an answer, ``session.why("deploy/web").remedies[0]``.

        Raises:
            UsageError: if the remedy does not patch objects, or an object is missing.
        """
        from topospread.answer import Remedy
        from topospread.drill.patching import after_remedy

        if not isinstance(remedy, Remedy):
            raise UsageError(f"{type(remedy).__name__}: expected a remedy of an answer, answer.remedies[0]")
        return self.but(on=after_remedy(self.inventory, self._options, remedy))

    @_question
    def status(  # noqa: PLR0913 - keyword arguments
        self,
        *targets: str,
        waiting: bool = False,
        namespace: str | None = None,
        selector: str | None = None,
        keys: Collection[str] = (),
        suggest: bool = True,
        allow_empty: bool = False,
    ) -> Status:
        """Return whether every pod has a node and every hard constraint holds.

        Args:
            targets: show these workloads; by default all.
            waiting: show only pending pods; the verdict is only about them.
            namespace: show workloads of this namespace; pods of all namespaces count.
            selector: show workloads whose pods have these labels, ``app=web``.
            keys: show these topology keys; by default those of all constraints, zone and hostname.
            suggest: try changes that would help pending pods.
            allow_empty: accept a selector that selects no workload.
        """
        from topospread.answers.status import status

        return status(
            self.inventory,
            self._options,
            targets=targets,
            waiting=waiting,
            namespace=namespace,
            selector=_selector(selector),
            keys=keys,
            suggest=suggest,
            allow_empty=allow_empty,
            progress=self._progress,
        )

    @overload
    def why(
        self,
        target: None = None,
        *manifests: Manifest,
        namespace: str | None = ...,
        another: bool = ...,
        suggest: bool = ...,
        **placing: Unpack[Placing],
    ) -> WhyPending: ...

    @overload
    def why(
        self,
        target: str,
        *manifests: Manifest,
        namespace: str | None = ...,
        another: bool = ...,
        suggest: bool = ...,
        each_node: bool = ...,
        **placing: Unpack[Placing],
    ) -> Why: ...

    @_question
    def why(
        self,
        target: str | None = None,
        *manifests: Manifest,
        namespace: str | None = None,
        another: bool = False,
        suggest: bool = True,
        each_node: bool = False,
        **placing: Unpack[Placing],
    ) -> Why | WhyPending:
        """Explain why a pod has its node or is pending, and which changes would help.

        Args:
            target: ``web-0``, ``deploy/web``, ``shop/sts/db``; by default every pending pod.
            manifests: files or objects to apply first.
            namespace: namespace of the target; by default the only namespace with such an object.
            another: explain one more pod if the workload already has all its pods.
            suggest: simulate changes that would give the pod a node.
            each_node: list every node in ``each_node``, with its scores or the first rejection; for one target.
            placing: scale, autoscale, pools, seed, preemption, sampling, run_cron_jobs.

        Raises:
            UsageError: if no pod or several pods match the target.
        """
        from topospread.answers.why import why_answer
        from topospread.why.explain import explain

        inventory, options = self._asked(manifests, placing, "namespace")
        if target is None:
            from topospread.answers.why_pending import why_pending

            return why_pending(inventory, options, namespace=namespace, suggest=suggest, progress=self._progress)
        found = explain(
            inventory,
            target,
            options,
            namespace=namespace,
            another=another,
            suggest=suggest,
            progress=self._progress,
        )
        return _about(why_answer(found, each_node=each_node), inventory, options)

    @_question
    def why_history(self, audit: Path | None = None, *, events: Path | None = None, since: str = "") -> WhyHistory:
        """Return which pods were pending during a log, and which event caused it.

        The session's cluster is the state at the start of the log.

        Args:
            audit: kube-apiserver's audit log, JSON lines.
            events: instead of `audit`: the output of ``kubectl get events -A -o json``.
            since: time of the snapshot, RFC 3339; older records are ignored.
        """
        from topospread.answers.why_history import history_answer
        from topospread.replay.replay import replay

        found = replay(self.inventory, audit, self._options, events=events, since=since)
        return _about(history_answer(found), self.inventory, self._options)

    @_question
    def simulate(self, *manifests: Manifest, namespace: str | None = None, **placing: Unpack[Placing]) -> Simulation:
        """Return whether all pods find nodes.

        Args:
            manifests: files or objects to apply first.
            namespace: show this namespace, which the verdict is about; all pods take part.
            placing: scale, autoscale, pools, seed, preemption, sampling, run_cron_jobs.
        """
        from msgspec.structs import force_setattr

        from topospread.answers.simulation import simulation_answer
        from topospread.simulation.simulate import simulate

        inventory, options = self._asked(manifests, placing, "namespace")
        found = simulate(inventory, options, progress=self._progress)
        told = _about(simulation_answer(found, namespace), inventory, options)
        force_setattr(
            told, "_bound", lambda: tuple(each for each in found.bound() if namespace in (None, each.namespace))
        )
        return told

    @_question
    def orders(
        self, *manifests: Manifest, number: int = 20, namespace: str | None = None, **placing: Unpack[Placing]
    ) -> Orders:
        """Place the pods in several random orders, like ``topospread simulate --orders``."""
        from topospread.answers.orders import orders_answer
        from topospread.simulation.orders import simulate_orders

        inventory, options = self._asked(manifests, placing, "namespace")
        found = simulate_orders(inventory, number, options, self._progress, namespace)
        return _about(orders_answer(found, namespace), inventory, options)

    @_question
    def plan(
        self, to: Session | Path, *, as_if_rolled_out: bool = True, namespace: str | None = None, seconds: float = 5.0
    ) -> Plan:
        """Return yes if nothing gets worse with another cluster, control plane or manifests.

        New findings of `lint` on changed workloads, budgets and autoscalers count as worse.

        Args:
            to: the new state, or files to apply. To compare versions, use ``session.but(kube_version="1.30")``, because
                pods that ``after`` has placed on each side are not placed again.
            as_if_rolled_out: if both states have the same objects, place the pods of all workloads again.
            namespace: show this namespace.
            seconds: time limit for the count of each loss.
        """
        from topospread.answers.plan import plan
        from topospread.plan.changed_findings import changed_findings

        paths = [] if isinstance(to, Session) else paths_of(to)
        new = to if isinstance(to, Session) else self.but(on=self._source.applied(paths))
        inventories = (self.inventory, new.inventory)
        findings, left_out = changed_findings(inventories, new._options, self._given["namespace"], paths)
        return plan(
            inventories,
            (self._options, new._options),
            namespace=namespace,
            rolled_out=as_if_rolled_out,
            findings=findings,
            left_out=left_out,
            seconds=seconds,
            progress=self._progress,
        )

    @_question
    def drill(
        self,
        *steps: Step,
        manifests: Sequence[Manifest] = (),
        namespace: str | None = None,
        runs: int | None = None,
        fallback: bool = False,
        **placing: Unpack[Placing],
    ) -> DrillResult:
        """Simulate steps such as ``steps.Fail``. The verdict is yes if they cause no new problem.

        Args:
            steps: events in their order (`topospread.drill.steps`).
            manifests: files or objects to apply first.
            namespace: namespace that the answer is about, and of objects in `manifests` without
                ``metadata.namespace``; by default all.
            runs: number of repetitions with different random choices; by default 8 with a rollout, else 1.
            fallback: also show the result if hard constraints are soft while a domain is lost.
            placing: pools, seed, preemption.
        """
        from topospread.answers.drill import drill_answer
        from topospread.drill.drill import drill

        inventory, options = self._asked(manifests, placing, "namespace")
        return self._told(
            lambda: drill(
                inventory,
                _checked(steps),
                options,
                namespace=namespace,
                runs=runs,
                fallback=fallback,
                progress=self._progress,
            ),
            lambda found: _about(drill_answer(found, namespace=namespace), inventory, options),
        )

    @_question
    def drill_each(
        self,
        each: Literal["zone", "node", "deploy"],
        *manifests: Manifest,
        namespace: str | None = None,
        **placing: Unpack[Placing],
    ) -> DrillEach:
        """Simulate the failure of each zone or node, or the rollout of each Deployment, like ``drill --each``.

        Args:
            each: what fails, or is rolled out, once per drill.
            manifests: files or objects to apply first.
            namespace: namespace that the answer is about, and of objects in `manifests` without
                ``metadata.namespace``; by default all.
            placing: pools, seed, preemption.
        """
        from topospread.answers.drill_many import each_answer
        from topospread.drill.each import drill_each

        _one_of("each", each, ("zone", "node", "deploy"))
        inventory, options = self._asked(manifests, placing, "namespace")
        workers = self._given["workers"]
        return self._told(
            lambda: drill_each(inventory, each, options, workers, progress=self._progress, namespace=namespace),
            lambda found: _about(each_answer(found), inventory, options),
        )

    @_question
    def capacity(  # noqa: PLR0913 - keyword arguments
        self,
        *targets: str,
        more: int | str = 1,
        each_zone: bool = False,
        pod: Path | None = None,
        shapes: Sequence[str] = (),
        limit: int = 10_000,
        seconds: float = 10.0,
        namespace: str | None = None,
        **placing: Unpack[Placing],
    ) -> Capacity:
        """Return how many more pods fit, the limit, and the nodes that would help.

        Args:
            targets: ``deploy/web``, or several with weights: ``deploy/web=2``, ``deploy/api=1``.
            more: required additional replicas, as a number or a share of today's replicas, ``20%``.
            each_zone: require that they also fit after the loss of any one zone.
            pod: file with a pod, instead of targets.
            shapes: sizes of an additional node to try, ``cpu=8,memory=32Gi``; by default the cluster's node sizes if
                too few replicas fit.
            limit: maximum number of rounds; each round adds one replica of each target.
            seconds: time limit for the search for the cheapest set of pool nodes.
            namespace: namespace of targets without one.
            placing: scale, pools, seed, preemption.
        """
        from topospread.answers.asked import input_words
        from topospread.answers.capacity import capacity_answer
        from topospread.capacity.capacity import capacity

        inventory, options = self._asked((), placing, "namespace")
        pools = paths_of(placing.get("pools", ()))
        return self._told(
            lambda: capacity(
                inventory,
                *targets,
                options=options,
                pod=pod,
                more=more,
                each_zone=each_zone,
                shapes=shapes,
                limit=limit,
                seconds=seconds,
                namespace=namespace,
                workers=self._given["workers"],
                progress=self._progress,
            ),
            lambda found: _about(capacity_answer(found, input_words(inventory), pools), inventory, options),
        )

    @_question
    def rebalance(
        self,
        *,
        namespace: str | None = None,
        selector: str | None = None,
        max_skew: int | None = None,
        seconds: float = 10.0,
        allow_empty: bool = False,
    ) -> Rebalance:
        """Return the evictions that restore the spread. Nothing is evicted.

        Args:
            namespace: only workloads of this namespace.
            selector: only workloads whose pods have these labels, ``app=web``.
            max_skew: also reduce the skew of soft constraints to this value.
            seconds: time limit for the proof that fewer evictions do not suffice.
            allow_empty: accept a selector that selects no workload.
        """
        from topospread.answers.rebalance import rebalance_answer
        from topospread.rebalance.rebalance import rebalance

        return self._told(
            lambda: rebalance(
                self.inventory,
                self._options,
                namespace=namespace,
                selector=_selector(selector),
                max_skew=max_skew,
                seconds=seconds,
                allow_empty=allow_empty,
                progress=self._progress,
            ),
            lambda found: _about(rebalance_answer(found), self.inventory, self._options),
        )

    @_question
    def lint(self, *paths: Path, settings: Settings | None = None) -> Lint:
        """Return the findings of all lint rules on manifests.

        Args:
            paths: files and folders, checked against the session's cluster; by default the session's own files.
            settings: selected rules; by default all (`find_settings`).

        Raises:
            UsageError: if there are no paths, and the session's cluster was not read from files.
        """
        from topospread.answers.lint import lint_answer
        from topospread.lint.run import lint

        cluster: str | Inventory | None = self._source.synthetic
        if paths:
            cluster = None if self._source.missing is not None else self.inventory
        config, render = self._given["config"], self._given["render"]
        report = lint(
            paths_of(paths) if paths else self._source.files,
            cluster=cluster,
            config=config if isinstance(config, str | os.PathLike) else self._options.config,
            kube_version=self.kube_version,
            settings=settings,
            namespace=self._given["namespace"],
            rendering=_rendering(render, self.kube_version),
        )
        return lint_answer(report)

    @naming({"clients", "price"})
    def traffic(self, *, clients: Sequence[str] = (), price: float | None = None) -> ExpectedTraffic:
        """Return the share of each Service's traffic that crosses zones, for the current placement.

        Args:
            clients: clients of all Services, ``deploy/web`` or ``zone-a=70,zone-b=30``, or of one Service,
                ``api:deploy/web``.
            price: price of a GB that crosses zones.
        """
        from topospread.traffic.clients import read_clients
        from topospread.traffic.traffic import TrafficQuestion, traffic_of

        return traffic_of(self.inventory, self._options, TrafficQuestion(read_clients(clients), price))

    @property
    def _progress(self) -> Any:
        return self._given["progress"]

    def _asked(
        self, manifests: Sequence[Manifest], placing: Mapping[str, Any], *own: str
    ) -> tuple[Inventory, SimulationOptions]:
        """Return the cluster with manifests applied, and the simulation options.

        Args:
            manifests: files or objects to apply.
            placing: options of the simulation.
            own: further parameters of the caller, for messages.

        Raises:
            UsageError: if a keyword is unknown or its value unusable.
        """
        from topospread.sources.pools import read_pools

        unknown = placing.keys() - Placing.__annotations__.keys()
        if unknown:
            raise UsageError(
                f"{min(unknown)}: unknown parameter; known are {', '.join([*Placing.__annotations__, *own])}"
            )
        _one_of("autoscale", placing.get("autoscale", "keep"), ("keep", "min", "max"))
        _one_of("sampling", placing.get("sampling", "all"), ("all", "kube"))
        for target, replicas in placing.get("scale", {}).items():
            if type(replicas) is not int or replicas < 0:
                raise UsageError(f"scale {target}={replicas!r}: use a whole number of at least 0")
        changed = {**placing, "pools": read_pools(paths_of(placing["pools"]))} if "pools" in placing else placing
        return self._source.applied(manifests), replace(self._options, **changed)

    def _told(self, ask: Callable[[], Found], answer: Callable[[Found], Told]) -> Told:
        """Return the answer to a question.

        Raises:
            topospread.drill.interruption.Interrupted: on Ctrl-C, with the partial answer.
        """
        from topospread.drill.interruption import Interrupted

        try:
            return answer(ask())
        except Interrupted as ended:
            raise Interrupted(answer(ended.finished)) from None


class Promises:
    """Methods of ``topospread promise``, at ``Session.promises``: the pods that losses, drains and rollouts leave."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @_question
    def show(
        self,
        *targets: str,
        namespace: str | None = None,
        most: int | None = None,
        states: int = 2_000,
        seconds: float = 3.0,
    ) -> PromiseShow:
        """Return how many pods workloads keep after the loss of a zone or node, a drain and a rollout.

        Args:
            targets: workloads; by default all that have replicas.
            namespace: namespace of targets without one.
            most: number of domains and nodes per workload that are drilled, fullest first.
            states: maximum number of cluster states searched for each count.
            seconds: time limit of the search for each count, and of repeating each simulated event.
        """
        from topospread.answers.promise_show import promise_show

        asked = self._session
        return promise_show(
            asked.inventory, targets, asked._options, namespace=namespace, most=most, states=states, seconds=seconds
        )

    @_question
    def check(
        self,
        *targets: str,
        want: str = "",
        namespace: str | None = None,
        states: int = 20_000,
        seconds: float = 60.0,
    ) -> PromiseCheck:
        """Return whether promises are kept in every order of pods, with a proof or a counterexample for each.

        Args:
            targets: workloads; by default all that have replicas.
            want: promises, ``zone-loss>=66% never-waits``; by default those that workloads declare.
            namespace: namespace of targets without one.
            states: maximum number of cluster states searched for each promise.
            seconds: time limit of the search for each promise.
        """
        from topospread.answers.promise_check import promise_check

        asked = self._session
        return promise_check(
            asked.inventory, targets, asked._options, want=want, namespace=namespace, states=states, seconds=seconds
        )

    @_question
    def design(
        self,
        *targets: str,
        want: str = "",
        replicas: int | None = None,
        namespace: str | None = None,
        tries: int = 60,
        states: int = 5_000,
        **placing: Unpack[Placing],
    ) -> PromiseDesign:
        """Return the fewest constraints that keep the wanted promises. Drills and searches check each design.

        Args:
            targets: Deployments and StatefulSets; by default all with two pods or more.
            want: promises besides declared ones, ``zone-loss>=4``, ``quorum``; without any, the loss of one zone may
                take only its share of the pods.
            replicas: number of replicas; by default the manifest's.
            namespace: namespace of targets without one.
            tries: maximum number of designs checked for each workload.
            states: maximum number of cluster states searched for each design.
            placing: pools.
        """
        from topospread.answers.promise_design import promise_design

        inventory, options = self._session._asked((), placing)
        return promise_design(
            inventory,
            targets,
            options,
            want=want,
            replicas=replicas,
            namespace=namespace,
            tries=tries,
            states=states,
            progress=self._session._progress,
        )


def _rendering(render: Rendering | str, kube_version: str) -> Rendering:
    if isinstance(render, Rendering):
        return render
    _one_of("render", render, ("auto", "never"))
    return Rendering(raw=render == "never", kube_version=kube_version)


def _options(scheduler: Gates, apiserver: Gates, config: Any) -> SimulationOptions:
    from topospread.config.load import load_configuration
    from topospread.simulation.options import SimulationOptions
    from topospread.sources.configuration import read_configuration

    if isinstance(config, str | os.PathLike):
        config = read_configuration(os.fspath(config), scheduler)
    elif isinstance(config, Mapping):
        config = load_configuration(config, gates=scheduler)
    version = str(scheduler.kube_version)
    return SimulationOptions(config, kube_version=version, gates=scheduler, apiserver_gates=apiserver)


def _about(told: Told, inventory: Inventory, options: SimulationOptions, source: str = "") -> Told:
    from topospread.answers.asked import about

    return about(told, inventory, options, source)


def _selector(text: str | None) -> Selector | None:
    from topospread.api.selector_text import parse_selector

    return None if text is None else parse_selector(text)


def _checked(steps: Sequence[Any]) -> Sequence[Step]:
    """Return the given steps of a drill unchanged.

    Raises:
        UsageError: if there is no step, or an item is not a step.
    """
    from topospread.drill import steps as known

    kinds = tuple(get_args(known.Step))
    write = 'steps.Fail(steps.NodeChoice("zone", "zone-a"))'
    if not steps:
        raise UsageError(f"drill: give at least one step, for example {write}")
    wrong = next((each for each in steps if not isinstance(each, kinds)), None)
    if wrong is not None:
        if isinstance(wrong, os.PathLike | Mapping | list) or str(wrong).endswith((".yaml", ".yml", ".json")):
            raise UsageError(f"{wrong!r} is not a step: write manifests=[...] for files and objects to apply")
        raise UsageError(f"{wrong!r} is not a step: write {write}, with: from topospread import steps")
    return steps


def _one_of(name: str, value: object, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise UsageError(f"{name}={value!r}: use {' or '.join(map(repr, allowed))}")
