"""Options that several commands share, and what they stand for: paths, clusters, configurations, versions."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import click

from topospread.errors import ConfigError, DecodeError, Place, UsageError

from .terminal import progress

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.config.gates import Gates
    from topospread.config.profile import Configuration

Command = TypeVar("Command", bound=Callable[..., Any])

COLOUR = click.Choice(["auto", "always", "never"])
PATH = click.Path()
"""Only so that shells complete files: what is there is found out when it is read."""


def input_options(command: Command) -> Command:
    """``[PATH…] --cluster --strict --config --kube-version --feature-gates --color``."""
    decorators = [
        click.argument("paths", nargs=-1, metavar="[PATH]...", type=PATH),
        click.option(
            "--cluster", type=PATH, metavar="SPEC|FILE", help="Make a cluster up, or read it from a file (see below)."
        ),
        click.option(
            "--config", "config_path", type=PATH, metavar="FILE", help="kube-scheduler's configuration, of any version."
        ),
        click.option("--kube-version", default="1.37", metavar="VERSION", help="Act as this Kubernetes (1.18 … 1.37)."),
        click.option("--feature-gates", default="", metavar="A=true,B=false", help="kube-scheduler's feature gates."),
        click.option("--strict", is_flag=True, help="Refuse fields that Kubernetes does not know."),
        click.option("--color", type=COLOUR, default="auto", help="Colours: on a terminal, always or never."),
    ]
    for decorator in reversed(decorators):
        command = decorator(command)
    return command


def read_inventory(paths: tuple[str, ...], cluster: str | None, *, strict: bool) -> Inventory:
    """What the paths and ``--cluster`` hold.

    Raises:
        InputError: something cannot be read or used.
        UsageError: nothing is given.
    """
    from topospread.sources.load import load

    if not paths and cluster is None:
        raise UsageError("name files or folders to read, - for standard input, or make a cluster up with --cluster")
    with progress("reading") as bar:
        inventory = load(paths, cluster=cluster, stdin=_standard_input(), strict=strict, progress=bar)
    # What was read stays until the process ends: garbage is not looked for there any more.
    gc.freeze()
    return inventory


def read_gates(kube_version: str, feature_gates: str) -> Gates:
    """kube-scheduler's gates in a version, with those of ``--feature-gates`` on top."""
    from topospread.config.gates import gates_for, parse_gates

    place = Place(source="--feature-gates")
    return gates_for(kube_version, parse_gates(feature_gates, place), place=place)


def read_configuration(path: str | None, gates: Gates) -> Configuration | None:
    """The configuration of ``--config``, also one wrapped in a ConfigMap; ``None`` when there is none.

    Raises:
        InputError: it cannot be read, or kube-scheduler would refuse it.
    """
    if path is None:
        return None
    from topospread.config.find import find_configuration
    from topospread.config.load import load_configuration

    data, place = find_configuration(read_documents(path), Place(source=path))
    return load_configuration(data, place=place, kube_version=gates.kube_version, gates=gates)


def read_documents(path: str) -> list[Any]:
    """The YAML or JSON documents of one file as plain data."""
    from topospread.sources.files import find_sources, read_text
    from topospread.sources.yaml import read_documents as read_yaml

    sources = find_sources(path)
    if len(sources) != 1:
        raise ConfigError("this is a folder; name one file", Place(source=path))
    text = read_text(sources[0], _standard_input())
    found = [document.value for document in read_yaml(text)]
    if not any(found):
        raise DecodeError("this file holds no document", Place(source=path))
    return found


def _standard_input() -> BinaryIO | None:
    """Standard input, ``None`` where it is closed."""
    return sys.stdin.buffer if sys.stdin is not None else None


def parse_scale(given: tuple[str, ...]) -> dict[str, int]:
    """``--scale deploy/web=30`` as a mapping.

    Raises:
        UsageError: not of this form.
    """
    scale = {}
    for each in given:
        target, equals, number = each.rpartition("=")
        if not equals or not number.isascii() or not number.isdigit():
            raise UsageError(f"--scale {each}: write it as [NAMESPACE/]KIND/NAME=REPLICAS, for example deploy/web=30")
        scale[target] = int(number)
    return scale
