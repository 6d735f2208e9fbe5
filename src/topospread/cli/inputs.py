"""Options that several commands share, and their values: paths, clusters, configurations and versions."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO

import click
from click.core import ParameterSource

from topospread.config.versions import NEWEST
from topospread.errors import UsageError

from .live_options import is_meant, is_there, named_options, no_cluster, read_access, read_live
from .output import wants
from .standard_input import is_piped, standard_input
from .terminal import progress
from .usage import Command, together

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.api.pools import NodePool
    from topospread.config.gates import Gates
    from topospread.config.profile import Configuration
    from topospread.simulation.options import SimulationOptions
    from topospread.sources.load import LiveReading
    from topospread.sources.needed_kinds import NeededKinds
    from topospread.sources.rendering import Rendering
    from topospread.traffic.result import ExpectedTraffic
    from topospread.traffic.traffic import TrafficQuestion

COLOUR = click.Choice(["auto", "always", "never"])
AUTOSCALE = click.Choice(["keep", "min", "max"])
"""Modes for replicas of workloads with a HorizontalPodAutoscaler."""
STANDARD_INPUT = "-"
PATH = click.Path()
"""A path. It is checked when it is read; the type only enables completion."""


POOLS = click.option(
    "--pools", multiple=True, metavar="FILE", type=PATH, help="File with node pools that can grow for pending pods."
)
KUBE_VERSION = click.option(
    "--kube-version",
    default=str(NEWEST),
    envvar="TOPOSPREAD_KUBE_VERSION",
    metavar="VERSION",
    help="Act as this Kubernetes (1.18 … 1.37).",
)
GATES = click.option(
    "--feature-gates",
    default="",
    metavar="A=true,…",
    help="Feature gates; apiserver:A=true sets only the API server's.",
)

CALL_EXTENDERS = click.option("--call-extenders", is_flag=True, help="Call the extenders of --config over the network.")
ALLOW_EMPTY = click.option("--allow-empty", is_flag=True, help="Accept empty input and filters without matches.")

rendering_options = together(
    click.option(
        "--helm-values",
        multiple=True,
        metavar="FILE",
        type=PATH,
        help="Values file for charts; repeatable, the last file wins.",
    ),
    click.option("--helm-set", multiple=True, metavar="NAME=VALUE", help="Chart value, as for helm --set; repeatable."),
    click.option("--helm-release", default="", metavar="NAME", help="Release name; by default the chart's name."),
    click.option(
        "--render",
        type=click.Choice(["auto", "never"]),
        default="auto",
        help="Render charts and kustomizations, or read their files unrendered.",
    ),
    click.option("--render-helm", is_flag=True, help="Let kustomize run Helm for charts in kustomizations."),
    click.option("--render-network", is_flag=True, help="Let kustomize and Helm fetch remote bases and charts."),
)
"""``--helm-values --helm-set --helm-release --render --render-helm --render-network``."""


def inputs_with(**on: Any) -> Callable[[Command], Command]:
    """Return the decorator for `input_options`. ``on`` holds click settings of ``--on``."""
    return together(
        click.option(
            "-f",
            "--filename",
            "paths",
            multiple=True,
            metavar="FILE",
            type=PATH,
            help="Manifests to apply: files, folders, charts, kustomizations, or - for standard input.",
        ),
        click.option(
            "--on",
            "cluster",
            envvar="TOPOSPREAD_ON",
            type=PATH,
            metavar="CLUSTER",
            help="The cluster: live, a snapshot, a folder of manifests, or synthetic (topospread explain clusters).",
            **on,
        ),
        click.option(
            "--config",
            "config_path",
            type=PATH,
            metavar="FILE",
            help="kube-scheduler's configuration file, in any version.",
        ),
        KUBE_VERSION,
        GATES,
        rendering_options,
        click.option("--with-hooks", is_flag=True, help="Also place the pods of Helm hooks, such as test Jobs."),
        click.option("--strict", is_flag=True, help="Fail on fields that Kubernetes does not know."),
        ALLOW_EMPTY,
        click.option("--color", type=COLOUR, default="auto", help="Use colours: on a terminal, always or never."),
    )


input_options = inputs_with()
"""The options ``-f --on --strict --config --kube-version --color``, feature gates and rendering options."""


def namespace_options(shown: str) -> Callable[[Command], Command]:
    """Return the decorator for ``-n`` and ``-A``; ``shown`` is the help's verb, such as "Show"."""

    return together(
        click.option(
            "-n",
            "--namespace",
            envvar="TOPOSPREAD_NAMESPACE",
            metavar="NAMESPACE",
            callback=checked_namespace,
            help=f"{shown} this namespace. Manifests without a namespace also get it.",
        ),
        click.option("-A", "--all-namespaces", is_flag=True, help=f"{shown} all namespaces (default)."),
    )


def checked_namespace(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Return the namespace, or None. Raise UsageError if it is not a valid name."""
    from topospread.api.validation.names import dns_label

    problems = [] if value is None else list(dns_label(value))
    if problems:
        raise UsageError(f"-n {value}: {problems[0]}")
    return value


def shown_namespace(given: Mapping[str, Any]) -> str | None:
    """Return the namespace to show; None for all."""
    namespace: str | None = None if given["all_namespaces"] else given["namespace"]
    return namespace


def read_rendering(given: Mapping[str, Any], kube_version: str) -> Rendering:
    """Read the options of `rendering_options`. Raise UsageError if they cannot be combined."""
    from topospread.sources.rendering import Rendering, chart_options

    rendering = Rendering(
        raw=given["render"] == "never",
        helm_values=given["helm_values"],
        helm_set=given["helm_set"],
        helm_release=given["helm_release"],
        kube_version=kube_version,
        helm_in_kustomizations=given["render_helm"],
        network=given["render_network"],
        is_old=given.get("is_old", False),
    )
    if rendering.raw and chart_options(rendering):
        raise UsageError("--helm-… options cannot be combined with --render never, which renders no chart")
    return rendering


def read_inventory(
    given: Mapping[str, Any], *paths: str, by: Collection[SimulationOptions] = (), needed: NeededKinds | None = None
) -> Inventory:
    """Read the paths and ``--on``, or the kubeconfig's current cluster.

    ``-n`` is the namespace of objects without ``metadata.namespace``.

    Args:
        given: the options of `input_options` and `namespace_options`.
        paths: paths to read instead of those on the command line.
        by: control planes that will use it; they decide which fields are allowed.
        needed: kinds to read from a live cluster; by default all kinds of a snapshot.

    Raises:
        InputError: if the input cannot be read or used.
        UsageError: if no input is given and there is no live cluster.
    """
    paths, cluster = paths or given["paths"], given["cluster"]
    if not paths and cluster is None and not named_options(given) and is_piped():
        paths = (STANDARD_INPUT,)
    stdin = standard_input()
    if is_meant(given, paths):
        inventory = _loaded(given, paths, by, stdin, _live_reading(given, needed))
    elif not paths and cluster is None:
        raise UsageError(no_cluster(given))
    else:
        inventory = _or_applied(given, paths, by, stdin, _live_reading(given, needed))
    # The input lives until the process ends, so the garbage collector need not scan it again.
    gc.freeze()
    return inventory


def _live_reading(given: Mapping[str, Any], needed: NeededKinds | None) -> LiveReading:
    from topospread.sources.needed_kinds import ALL

    wanted = ALL if needed is None or given.get("save") or wants(given, "html") else needed
    return lambda applied: read_live(given, wanted.beside(each.item for each in applied))


def _or_applied(
    given: Mapping[str, Any],
    paths: Sequence[str],
    by: Collection[SimulationOptions],
    stdin: BinaryIO | None,
    reading: LiveReading,
) -> Inventory:
    """Read the input; manifests without nodes are applied to the cluster that kubectl points at, if there is one."""
    from topospread.sources.load import NoNodesError

    if STANDARD_INPUT in paths and stdin is not None and given["cluster"] is None and is_there(given):
        stdin = BytesIO(stdin.read())
    try:
        return _loaded(given, paths, by, stdin)
    except NoNodesError as error:
        if not error.manifests or given["cluster"] is not None:
            raise
        if not is_there(given):
            raise UsageError(no_cluster(given)) from None
    if isinstance(stdin, BytesIO):
        stdin.seek(0)
    return _loaded(given, paths, by, stdin, reading)


def _loaded(
    given: Mapping[str, Any],
    paths: Sequence[str],
    by: Collection[SimulationOptions],
    stdin: BinaryIO | None,
    live: LiveReading | None = None,
) -> Inventory:
    from topospread.sources.custom_kinds import find_kinds
    from topospread.sources.load import load

    namespace = given["namespace"] or ("default" if live is None else read_access(given).namespace())
    with progress("reading") as bar:  # live reads show their own progress line
        # The settings in this folder describe custom resources; for `plan`, the folder in the old state.
        named: str = given.get("settings_from") or os.curdir
        return load(
            paths,
            cluster=given["cluster"] if live is None else None,
            stdin=stdin,
            strict=given["strict"],
            namespace=namespace,
            with_hooks=given["with_hooks"],
            kinds=find_kinds(named if os.path.isdir(named) else os.path.dirname(named) or os.curdir),
            rendering=read_rendering(given, given["kube_version"].strip()),
            comparison_operators=any(each.lets_compare for each in by),
            live=live,
            allow_empty=given["allow_empty"],
            progress=bar if live is None else None,
        )


def file_words(*paths: str) -> list[str]:
    """Return ``-f PATH`` for each path."""
    return [word for path in paths for word in ("-f", path)]


def read_options(
    given: Mapping[str, Any], kube_version: str | None = None, config: str | None = None
) -> SimulationOptions:
    """Return the control plane and placement options of the command line, without ``--scale``.

    Args:
        kube_version: version to use instead of ``--kube-version``.
        config: file to use instead of ``--config``.

    Raises:
        InputError: if the configuration cannot be read, or kube-scheduler rejects it or the gates.
    """
    from topospread.config.gates import read_gates
    from topospread.simulation.options import SimulationOptions

    version = kube_version or given["kube_version"]
    scheduler = read_gates(version, given["feature_gates"])
    configuration = read_configuration(config or given["config_path"], scheduler)
    if given.get("call_extenders"):
        # A stranger may have written the project file, so never call an extender that only this file names.
        named = click.get_current_context().get_parameter_source("config_path")
        if configuration is None or named is not ParameterSource.COMMANDLINE:
            raise UsageError("--call-extenders requires --config FILE on the command line")
        _check_certificates(configuration)
        configuration = configuration.with_extenders_asked
    return SimulationOptions(
        configuration,
        seed=given.get("seed"),
        kube_version=str(scheduler.kube_version),
        gates=scheduler,
        apiserver_gates=read_gates(version, given["feature_gates"], "apiserver"),
        preemption=not given.get("no_preemption"),
        pools=given_pools(given) if "pools" in given else (),
    )


def _check_certificates(configuration: Configuration) -> None:
    """Reject a configuration whose certificates or keys are outside its repository: a stranger may have written it."""
    from topospread.sources.roots import is_within, repository_of
    from topospread.sources.text import shown_path

    root = repository_of(os.path.dirname(os.path.abspath(configuration.source)))
    for each in configuration.profiles[0].extenders:
        for name in ("caFile", "certFile", "keyFile"):
            if root is not None and each.tls.get(name) and not is_within(each.tls[name], root):
                words = f"{configuration.source}: {each.origin}.tlsConfig.{name}: this file is outside the repository"
                raise UsageError(f"{words} {shown_path(root)}; copy the configuration out of it to use the file")


def read_configuration(path: str | None, gates: Gates) -> Configuration | None:
    """Return the configuration of ``--config``, also from a ConfigMap; None without the option.

    Raises:
        InputError: if it cannot be read, or kube-scheduler rejects it.
    """
    if path is None:
        return None
    from topospread.sources.configuration import read_configuration as read

    return read(path, gates, standard_input())


def parse_scale(given: Mapping[str, Any]) -> dict[str, int]:
    """Parse ``--scale deploy/web=30``. Names without a namespace get that of ``-n``. Raise UsageError if malformed."""
    from topospread.controllers.scale import in_namespace, read_scale

    found = (read_scale(each, "--scale") for each in given["scale"])
    return {in_namespace(target, given["namespace"]): replicas for target, replicas in found}


def given_pools(given: Mapping[str, Any]) -> tuple[NodePool, ...]:
    """Return the pools of ``--pools``. Raise InputError if a file cannot be read or is invalid."""
    if not given["pools"]:
        return ()
    from topospread.sources.pools import read_pools

    return read_pools(given["pools"])


traffic_options = together(
    click.option("--traffic", is_flag=True, help="Show each Service's share of cross-zone traffic."),
    click.option(
        "--clients",
        multiple=True,
        metavar="[SVC:]WHO",
        help="Clients of a Service: deploy/web, or shares of zones: zone-a=70,zone-b=30; by default all pods.",
    ),
    click.option("--price", type=click.FloatRange(min=0), metavar="N", help="Price per GB of cross-zone traffic."),
)
"""The options ``--traffic --clients --price``."""


def asked_traffic(given: Mapping[str, Any]) -> TrafficQuestion | None:
    """Return the options for expected traffic; None without ``--traffic``.

    Raises:
        UsageError: if --clients or --price is given without --traffic, or is invalid.
    """
    if not given["traffic"]:
        if given["clients"] or given["price"] is not None:
            raise UsageError("--clients and --price need --traffic")
        return None
    from topospread.traffic.clients import read_clients
    from topospread.traffic.traffic import TrafficQuestion

    return TrafficQuestion(read_clients(given["clients"]), given["price"])


def expected_traffic(
    inventory: Inventory | None, asking: TrafficQuestion | None, options: SimulationOptions
) -> ExpectedTraffic | None:
    """Return the expected traffic of the present pods; ``None`` if it was not asked for or there are no nodes."""
    if asking is None or inventory is None:
        return None
    from topospread.traffic.traffic import traffic_of

    return traffic_of(inventory, options.answered_by, asking)


def parse_cron_jobs(given: Mapping[str, Any]) -> list[str]:
    """Parse ``--run-cron-job NAME``. Names without a namespace get that of ``-n``."""
    from topospread.controllers.scale import KIND_OF

    found = []
    for each in given["cron_jobs"]:
        first, slash, _ = each.partition("/")
        own = bool(slash) and KIND_OF.get(first.lower()) != "CronJob"
        found.append(each if own or not given["namespace"] else f"{given['namespace']}/{each}")
    return found
