"""The tools of ``topospread mcp``: their arguments, and the process that answers one call.

``python -P -m topospread.cli.mcp_tools`` reads a call as JSON from standard input and prints the answer as JSON. Each
call has its own process, which keeps no state and can be killed when the client cancels. No tool writes files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from topospread.config.versions import NEWEST
from topospread.errors import TopospreadError, UsageError
from topospread.text import escape_all, message_lines

if TYPE_CHECKING:
    from topospread.answer import Answer
    from topospread.session import Placing, Session

LIVE: Final = "live"
EMPTY: Final[Mapping[str, int]] = {}


class Started(Struct, frozen=True):
    """The folders and the cluster that the server's command line allows.

    Attributes:
        roots: real paths of the folders that may be read.
        on: default cluster of calls: a path, a synthetic cluster, or ``live``.
        context: its kubeconfig context if it is live.
    """

    roots: tuple[str, ...]
    on: str = ""
    context: str | None = None


class Call(Struct, frozen=True):
    """One call of a tool."""

    tool: str
    arguments: dict[str, Any]
    started: Started


class Reply(Struct, frozen=True):
    """The answer to a call.

    Attributes:
        text: the answer as text, or the error message.
        data: the answer as data; None for an explanation or an error.
    """

    text: str
    data: Any = None
    error: bool = False


_Paths = tuple[str, ...]
_Manifests = Annotated[_Paths, Meta(description="Files or folders of manifests to apply to the cluster first.")]
_Targets = Annotated[tuple[str, ...], Meta(description="Workloads, `deploy/web` or `shop/deploy/web`; by default all.")]
_Pools = Annotated[_Paths, Meta(description="Files of node pools that grow for pending pods.")]
_Selector = Annotated[str | None, Meta(description="Labels of the workloads' pods, `app=web`.")]


class Question(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Arguments of every question about a cluster."""

    on: Annotated[
        str,
        Meta(
            description="The cluster: a snapshot, a folder with nodes, or a synthetic one such as "
            "`zones=3,nodes=12,cpu=8,memory=32Gi`. By default the cluster of the server."
        ),
    ] = ""
    kube_version: Annotated[str, Meta(description="The Kubernetes version to act as.")] = str(NEWEST)
    config: Annotated[str, Meta(description="File of kube-scheduler's configuration.")] = ""
    namespace: Annotated[str | None, Meta(description="Show this namespace; objects that name none go there.")] = None


class StatusCall(Question, frozen=True, kw_only=True):
    """Arguments of `status`."""

    targets: _Targets = ()
    selector: _Selector = None
    waiting: Annotated[bool, Meta(description="Ask about pending pods alone.")] = False


class WhyCall(Question, frozen=True, kw_only=True):
    """Arguments of `why`."""

    target: Annotated[
        str | None, Meta(description="A pod or workload, `web-0` or `deploy/web`; by default every pending pod.")
    ] = None
    manifests: _Manifests = ()


class SimulateCall(Question, frozen=True, kw_only=True):
    """Arguments of `simulate`."""

    manifests: _Manifests = ()
    scale: Annotated[dict[str, int], Meta(description="Workload (`deploy/web`) to its new replicas.")] = {}
    pools: _Pools = ()


class PlanCall(Question, frozen=True, kw_only=True):
    """Arguments of `plan`."""

    manifests: Annotated[_Paths, Meta(description="Files or folders: the change.", min_length=1)]


class DrillCall(Question, frozen=True, kw_only=True):
    """Arguments of `drill`."""

    steps: Annotated[
        tuple[str, ...],
        Meta(
            description="What happens, in order: `fail zone=zone-a`, `recover zone=zone-a`, `cordon`, `uncordon`, "
            "`drain` or `force-drain node=node-1`, `scale deploy/web=9`, `rollout deploy/web`, `autoscale hpa/web`, "
            "`wait 5m`, `add 3 like node-1`.",
            min_length=1,
        ),
    ]
    manifests: _Manifests = ()


class DrillEachCall(Question, frozen=True, kw_only=True):
    """Arguments of `drill_each`."""

    each: Annotated[
        Literal["zone", "node", "deploy"], Meta(description="What fails, or is rolled out, once per drill.")
    ]
    manifests: _Manifests = ()


class CapacityCall(Question, frozen=True, kw_only=True):
    """Arguments of `capacity`."""

    targets: Annotated[
        tuple[str, ...],
        Meta(
            description="One workload (`deploy/web`), or several with weights (`deploy/web=2`, `deploy/api=1`: two web "
            "pods for each api pod).",
            min_length=1,
        ),
    ]
    more: Annotated[
        int | str,
        Meta(
            description="Additional replicas that have to fit: a number, or a share of the present ones such as `20%`."
        ),
    ] = 1
    each_zone: Annotated[bool, Meta(description="The replicas must also fit after the loss of any one zone.")] = False
    pools: _Pools = ()


class RebalanceCall(Question, frozen=True, kw_only=True):
    """Arguments of `rebalance`."""

    selector: _Selector = None
    max_skew: Annotated[int | None, Meta(description="Also reduce the skew of soft constraints to this value.")] = None


class LintCall(Question, frozen=True, kw_only=True):
    """Arguments of `lint`."""

    paths: Annotated[_Paths, Meta(description="Files or folders of manifests.", min_length=1)]


class PromiseShowCall(Question, frozen=True, kw_only=True):
    """Arguments of `promise_show`."""

    targets: _Targets = ()


class PromiseCheckCall(PromiseShowCall, frozen=True, kw_only=True):
    """Arguments of `promise_check`."""

    want: Annotated[
        str,
        Meta(description="Promises, `zone-loss>=66% never-waits`; by default those that workloads declare."),
    ] = ""


class ExplainCall(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `explain`."""

    name: Annotated[
        str,
        Meta(
            description="A field (`topologySpreadConstraints.minDomains`), a rule of lint, the code of a cause, or one "
            "of `fields`, `rules`, `causes` and `clusters`."
        ),
    ]


class Tool(Struct, frozen=True):
    """A tool of the server.

    Attributes:
        about: description for the assistant.
        arguments: the struct of its arguments.
        ask: function that answers a call, within the allowed folders.
        kinds: kinds of its answers; empty for text.
    """

    about: str
    arguments: type[Struct]
    ask: Callable[[Any, Allowed], Answer | str]
    kinds: tuple[str, ...] = ()


class Allowed:
    """The files and clusters that calls may read."""

    def __init__(self, started: Started) -> None:
        self._started = started

    def path(self, given: str) -> str:
        """Return the real path if it is allowed. Relative paths start at the first allowed folder.

        Raises:
            UsageError: if it leaves the allowed folders, directly or through a link, or is in ``.git``.
        """
        from topospread.sources.roots import is_within

        roots = self._started.roots
        path = os.path.join(os.curdir, given)
        root = next((each for each in roots if is_within(path, each)), None)
        if not given or root is None:
            raise UsageError(f"{given or 'an empty path'}: this server reads only files in {', '.join(roots)}")
        for below in _links(path):
            if not is_within(below, root):
                raise UsageError(f"{below}: this symbolic link leaves {root}; this server reads only files in it")
        return given if given not in ("-", LIVE) else path

    def paths(self, given: Sequence[str]) -> list[str]:
        """Return the real paths. Raise UsageError if one is not allowed."""
        return [self.path(each) for each in given]

    def placing(self, pools: Sequence[str], scale: Mapping[str, int] = EMPTY) -> Placing:
        """Return the placement arguments for a session. Raise UsageError if a file is not allowed."""
        return {"scale": scale, "pools": self.paths(pools)} if pools else {"scale": scale}

    def session(self, call: Question, manifests: Sequence[str] = ()) -> Session:
        """Return a session on the call's cluster, the server's, or the manifests alone.

        Raises:
            InputError: if the cluster cannot be read.
            UsageError: if there is no cluster, or a file is not allowed.
        """
        from topospread.session import Session
        from topospread.sources.synthetic_cluster import is_synthetic

        started = self._started
        on: str | list[str] = call.on or started.on
        if call.on and not is_synthetic(call.on):
            on = self.path(call.on)
        if not on and not manifests:
            raise UsageError("name a cluster: on, a snapshot or zones=3,nodes=6; the server was started without one")
        return Session(
            on or self.paths(manifests),
            kube_version=call.kube_version,
            config=self.path(call.config) if call.config else None,
            namespace=call.namespace or "default",
            render="never",
            context=started.context if on == LIVE else None,
        )

    def applied(self, call: Question, manifests: Sequence[str]) -> tuple[Session, list[str]]:
        """Return a session on the call's cluster, and the manifests to apply.

        Raises:
            InputError: if the cluster cannot be read.
            UsageError: if there is no cluster, or a file is not allowed.
        """
        is_named = bool(call.on or self._started.on)
        return self.session(call, manifests), self.paths(manifests) if is_named else []


def _links(path: str) -> Iterator[str]:
    """Yield the symbolic links below a folder, without those in ``.git``."""
    from topospread.sources.files import check_depth

    for folder, folders, files in os.walk(path):
        check_depth(folder)
        folders[:] = [each for each in folders if not each.startswith(".")]
        yield from (each for name in files if os.path.islink(each := os.path.join(folder, name)))


def _status(call: StatusCall, allowed: Allowed) -> Answer:
    return allowed.session(call).status(
        *call.targets, namespace=call.namespace, selector=call.selector, waiting=call.waiting
    )


def _why(call: WhyCall, allowed: Allowed) -> Answer:
    session, manifests = allowed.applied(call, call.manifests)
    if call.target is None:
        return session.why(None, *manifests, namespace=call.namespace)
    return session.why(call.target, *manifests, namespace=call.namespace)


def _simulate(call: SimulateCall, allowed: Allowed) -> Answer:
    session, manifests = allowed.applied(call, call.manifests)
    return session.simulate(*manifests, namespace=call.namespace, **allowed.placing(call.pools, call.scale))


def _plan(call: PlanCall, allowed: Allowed) -> Answer:
    session, manifests = allowed.applied(call, call.manifests)
    if not manifests:
        raise UsageError("name the cluster that the change is compared with: on")
    return session.plan(manifests, namespace=call.namespace)  # type: ignore[arg-type]


def _drill(call: DrillCall, allowed: Allowed) -> Answer:
    from topospread.drill.patching import PatchedObject
    from topospread.web.trials import read_trial

    steps = [each for each in read_trial(call.steps) if not isinstance(each, PatchedObject)]
    if len(steps) < len(call.steps):
        raise UsageError("a drill patches no object: write the change into a file, and name it in manifests")
    session, manifests = allowed.applied(call, call.manifests)
    return session.drill(*steps, manifests=manifests, namespace=call.namespace)


def _drill_each(call: DrillEachCall, allowed: Allowed) -> Answer:
    session, manifests = allowed.applied(call, call.manifests)
    return session.drill_each(call.each, *manifests, namespace=call.namespace)


def _capacity(call: CapacityCall, allowed: Allowed) -> Answer:
    return allowed.session(call).capacity(
        *call.targets,
        more=call.more,
        each_zone=call.each_zone,
        namespace=call.namespace,
        **allowed.placing(call.pools),
    )


def _rebalance(call: RebalanceCall, allowed: Allowed) -> Answer:
    return allowed.session(call).rebalance(namespace=call.namespace, selector=call.selector, max_skew=call.max_skew)


def _lint(call: LintCall, allowed: Allowed) -> Answer:
    session, paths = allowed.applied(call, call.paths)
    return session.lint(*paths)


def _promise_show(call: PromiseShowCall, allowed: Allowed) -> Answer:
    return allowed.session(call).promises.show(*call.targets, namespace=call.namespace)


def _promise_check(call: PromiseCheckCall, allowed: Allowed) -> Answer:
    return allowed.session(call).promises.check(*call.targets, want=call.want, namespace=call.namespace)


def _explain(call: ExplainCall, allowed: Allowed) -> str:
    from .explain import explain

    if call.name == "options":
        raise UsageError("options are those of the command line; the arguments of a tool are in its schema")
    assert explain.callback is not None, "it is a command"
    with redirect_stdout(StringIO()) as printed:
        explain.callback(call.name, "text", "never")
    return printed.getvalue()


TOOLS: Final = {
    "status": Tool(
        "Does every pod have a node, and does every hard topology spread constraint hold? Shows pending pods by "
        "cause, each cause with the first fix that helped in a simulation, and how every workload is spread.",
        StatusCall,
        _status,
        ("Status",),
    ),
    "why": Tool(
        "Explain why a pod is pending, with the simulated changes that let it in, or why it is on its node.",
        WhyCall,
        _why,
        ("Why", "WhyPending"),
    ),
    "simulate": Tool("Do all pods find nodes, and where does each land?", SimulateCall, _simulate, ("Simulation",)),
    "plan": Tool("Does a change of manifests make anything worse in a cluster?", PlanCall, _plan, ("Plan",)),
    "drill": Tool(
        "Do steps such as the loss of a zone, a drain or a rollout end without harm? It is a simulation.",
        DrillCall,
        _drill,
        ("DrillResult",),
    ),
    "drill_each": Tool(
        "Does the loss of each zone or node, or the rollout of each Deployment, end without harm?",
        DrillEachCall,
        _drill_each,
        ("DrillEach",),
    ),
    "capacity": Tool(
        "Do more replicas fit, what limits them, and which nodes would help?", CapacityCall, _capacity, ("Capacity",)
    ),
    "rebalance": Tool(
        "Which few evictions let exceeded constraints hold again? Nothing is evicted.",
        RebalanceCall,
        _rebalance,
        ("Rebalance",),
    ),
    "lint": Tool(
        "Do manifests have errors or probable mistakes? With a cluster, conflicts with its objects are found, too.",
        LintCall,
        _lint,
        ("Lint",),
    ),
    "promise_show": Tool(
        "How many pods are left, in the worst order of pods, after a zone or node loss, a drain or a rollout?",
        PromiseShowCall,
        _promise_show,
        ("PromiseShow",),
    ),
    "promise_check": Tool(
        "Are promises such as `zone-loss>=66%` kept in every order of pods? With a proof or a counterexample.",
        PromiseCheckCall,
        _promise_check,
        ("PromiseCheck",),
    ),
    "explain": Tool("What a field, a rule of lint or the code of a cause means.", ExplainCall, _explain),
}
"""Name → tool."""


def answer_to(call: Call) -> Reply:
    """Return the reply to a call. Errors are replies, too."""
    tool = TOOLS.get(call.tool)
    try:
        if tool is None:
            raise UsageError(f"unknown tool {call.tool}; tools: {', '.join(TOOLS)}")
        found = tool.ask(msgspec.convert(call.arguments, tool.arguments), Allowed(call.started))
    except msgspec.ValidationError as error:
        return Reply(escape_all(f"error: the arguments of {call.tool}: {error}"), error=True)
    except TopospreadError as error:
        return Reply(escape_all(f"error: {message_lines(str(error), getattr(error, '__notes__', ()))}"), error=True)
    if isinstance(found, str):
        return Reply(escape_all(found))
    from topospread.render.text import text

    return Reply(escape_all(text(found.page(), width=100)), escaped(found.to_dict()))


def escaped(data: Any) -> Any:
    """Return data with control characters and pipeline commands escaped in every string."""
    match data:
        case str():
            return escape_all(data)
        case dict():
            return {escape_all(key): escaped(value) for key, value in data.items()}
        case list():
            return list(map(escaped, data))
    return data


def main() -> None:
    """Answer one call from standard input."""
    reply = answer_to(msgspec.json.decode(sys.stdin.buffer.read(), type=Call))
    sys.stdout.buffer.write(msgspec.json.encode(reply))


if __name__ == "__main__":
    main()
