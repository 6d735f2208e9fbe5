"""The choice of a pod: ``POD``, ``KIND/NAME`` or ``NAMESPACE/…`` among the pods and workloads of a plan.

Kinds have kubectl's names. A name without a namespace must exist in one namespace only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from topospread.api.pod import FINISHED_PHASES, Pod
from topospread.controllers.planned import QueuedPod, Workload
from topospread.controllers.scale import KIND_OF
from topospread.errors import UsageError
from topospread.simulation.run import Run
from topospread.text import did_you_mean

_POD_KINDS = frozenset({"po", "pod", "pods"})
_SHOWN = 5
_ANOTHER = "another"


@dataclass(frozen=True, slots=True)
class Target:
    """A parsed target.

    Attributes:
        kind: ``Pod`` or a controller's kind.
        namespace: "" for any.
    """

    kind: str
    namespace: str
    name: str

    @property
    def shown(self) -> str:
        """The target in kubectl's words: ``pod "web-0" in namespace "shop"``."""
        where = f' in namespace "{self.namespace}"' if self.namespace else ""
        return f'{self.kind.lower() if self.kind == "Pod" else self.kind} "{self.name}"{where}'


@dataclass(frozen=True, slots=True)
class ExplainedPod:
    """The pod to explain, or the workload from which a pod is chosen.

    Attributes:
        workload: the workload; ``None`` for a bound pod without a known owner.
        bound: the pod on a node, after admission.
        queued: the pending pod.
    """

    workload: Workload | None = None
    bound: Pod | None = None
    queued: QueuedPod | None = None
    waits: str = ""


def parse_target(text: str, namespace: str | None) -> Target:
    """Parse ``web-0``, ``pod/web-0``, ``deploy/web``, ``shop/web-0`` or ``shop/deploy/web``.

    Raises:
        UsageError: if the text has another form, or its namespace contradicts ``-n``.
    """
    *before, name = text.split("/")
    kind = "Pod"
    if before:
        last = before[-1].partition(".")[0].lower()
        if last in _POD_KINDS or last in KIND_OF:
            kind = KIND_OF.get(last, "Pod")
            before.pop()
    if not name or len(before) > 1 or (before and not before[0]):
        raise UsageError(f'"{text}": write [NAMESPACE/]POD or [NAMESPACE/]KIND/NAME, for example deploy/web')
    own = before[0] if before else ""
    if own and namespace and own != namespace:
        raise UsageError(f'"{text}" and -n {namespace} name different namespaces; leave one out')
    return Target(kind, own or namespace or "", name)


def find(run: Run, target: Target) -> ExplainedPod:
    """Return the pod or workload that the target names.

    Raises:
        UsageError: if the name does not exist (the message has similar names) or is in several namespaces.
    """
    found = _pods(run, target) if target.kind == "Pod" else _workloads(run, target)
    if not found and target.kind == "Pod":
        found = _named_so(run, target)
    namespaces = sorted({namespace for namespace, _ in found})
    if len(namespaces) > 1:
        raise UsageError(f"{target.shown} exists in several namespaces: {', '.join(namespaces)}; choose one with -n")
    if not found and target.kind == "Pod" and target.name in run.cluster.nodes.row_of:
        of_node = "topospread status -o wide or topospread drill --fail node="
        raise UsageError(f"{target.name} is a node, and why explains pods; for nodes: {of_node}{target.name}")
    if not found:
        raise UsageError(f"{target.shown} not found{_near(run, target)}")
    return found[0][1]


def _pods(run: Run, target: Target) -> list[tuple[str, ExplainedPod]]:
    def meant(namespace: str, name: str) -> bool:
        return name == target.name and target.namespace in ("", namespace)

    def named(pods: Iterable[Pod]) -> Iterator[Pod]:
        # The loop is over all pods of a cluster; a field is faster than a property.
        alike = [each for each in pods if each.metadata.name == target.name]
        return (each for each in alike if meant(each.namespace, each.name))

    queued = [each for each in run.queue if meant(each.namespace, each.name)]
    waiting = [each for each in (*run.plan.gated, *run.plan.refused) if meant(each.namespace, each.name)]
    found = [(each.namespace, ExplainedPod(each.workload, queued=each)) for each in queued]
    found += [(each.namespace, ExplainedPod(each.workload, queued=each, waits=each.waits)) for each in waiting]
    key, on_nodes = f"{target.namespace}/{target.name}", run.plan.bound
    if target.namespace and (owner := run.owners.get(key)) is not None:
        on_nodes = owner.existing
    elif target.namespace and not run.cluster.assigned_node(key):
        on_nodes = []
    for pod in named([*on_nodes, *run.plan.removed]):
        workload = run.owners.get(f"{pod.namespace}/{pod.name}")
        found.append((pod.namespace, ExplainedPod(workload, bound=pod)))
    for pod in () if found else named(run.plan.unbound):
        if pod.phase in FINISHED_PHASES or pod.terminating:
            state = "is terminating" if pod.terminating else f"has finished ({pod.phase})"
            raise UsageError(f"pod {pod.namespace}/{pod.name} {state}: kube-scheduler ignores it")
    return found


def _workloads(run: Run, target: Target) -> list[tuple[str, ExplainedPod]]:
    return [
        (each.namespace, ExplainedPod(each))
        for each in run.plan.workloads
        if (each.kind, each.name) == (target.kind, target.name) and target.namespace in ("", each.namespace)
    ]


def _named_so(run: Run, target: Target) -> list[tuple[str, ExplainedPod]]:
    """Return (namespace, workload) for a name without a kind; empty if no workload has it.

    Raises:
        UsageError: if several workloads have it.
    """
    found = [
        each
        for each in run.plan.workloads
        if each.kind != "Pod" and each.name == target.name and target.namespace in ("", each.namespace)
    ]
    if len(found) > 1:
        raise UsageError(f"{target.name} is {' and '.join(map(_shown, found))}: say which")
    return [(each.namespace, ExplainedPod(each)) for each in found]


def _near(run: Run, target: Target) -> str:
    """Return ``; did you mean …?`` with the same name elsewhere or of another kind, else similar names."""
    pods = [(each.namespace, each.name) for each in run.queue]
    pods += [(each.namespace, each.name) for each in run.plan.bound]
    names: dict[str, str] = {f"{namespace}/{name}": name for namespace, name in pods}
    names |= {_shown(each): each.name for each in run.plan.workloads if each.kind != "Pod"}
    same = [shown for shown, name in names.items() if name == target.name]
    if same:
        return f"; did you mean {' or '.join(same[:2])}?"
    others = [_shown(each) for each in run.plan.workloads if each.kind != "Pod"]
    known = {name: shown for shown, name in reversed(names.items())}
    return did_you_mean(target.name, known, f"the input has {_listed(others)}" if others else "", most=2)


def _listed(names: Collection[str]) -> str:
    return ", ".join(list(names)[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _shown(workload: Workload) -> str:
    short = next(alias for alias, kind in KIND_OF.items() if kind == workload.kind and len(alias) <= len(kind))
    return f"{workload.namespace}/{short}/{workload.name}"


def one_more(run: Run, workload: Workload) -> QueuedPod:
    """Return an additional queued pod of the workload's newest template.

    Raises:
        UsageError: if the template is unknown, or its pods are bound to single nodes.
    """
    template = workload.template
    if template is None or workload.kind == "DaemonSet":
        raise UsageError(f"{workload}: it has no pod to explain")
    queued = QueuedPod(template, f"{workload.name}-{_ANOTHER}", workload, priority=template.spec.priority or 0)
    workload.replicas += 1
    run.queue.append(queued)
    return queued


def candidates(run: Run, workload: Workload) -> tuple[list[QueuedPod], list[Pod]]:
    """Return the workload's queued pods, and its pods on nodes, sorted by name."""
    queued = [each for each in run.queue if each.workload is workload]
    return queued, sorted(workload.existing, key=lambda pod: pod.name)


def gated_of(run: Run, workload: Workload) -> Iterable[QueuedPod]:
    """Return the workload's pods that have scheduling gates or are refused."""
    return (each for each in run.plan.gated if each.workload is workload)


def unbound(pod: Pod) -> Pod:
    """Return the pod without its node."""
    return replace(pod, spec=replace(pod.spec, node_name=None), status=None)
