"""``--html FILE``: the page about what a command was asked, as one file; what it shows is told in `web.report`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec
from msgspec.structs import replace as with_fields

from topospread.errors import InputError, Place, UsageError
from topospread.text import escape_control_characters

from .inputs import PATH

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.config.profile import Configuration
    from topospread.simulation.run import SimulationOptions
    from topospread.workloads.control_plane import ControlPlane

F = TypeVar("F", bound=Callable[..., Any])

_HASH = click.option("--hash-names", is_flag=True, help="With --html: replace names, so that it can be shared.")


def html_options(command: F) -> F:
    """The options of a command that writes a report, too."""
    option = click.option("--html", metavar="FILE", type=PATH, help="Write a page to look at, as one file, too.")
    return option(_HASH(command))


class ReportWish(msgspec.Struct, frozen=True):
    """What a report is to show.

    Attributes:
        inventory, options: as the command was given them.
        steps: of a drill.
        shown: words of the page's address.
    """

    inventory: Inventory
    options: SimulationOptions
    steps: Sequence[Any] = ()
    shown: Mapping[str, str] = {}


def check_html(given: Mapping[str, Any]) -> None:
    """Whether the report could be written, before anything is worked out.

    Raises:
        UsageError: the extra is missing, or names are to be hashed in no file.
    """
    if given["html"]:
        from topospread.web.extra import require_web

        require_web()
    elif given["hash_names"]:
        raise UsageError("--hash-names replaces the names of a report: name its file")


def options_of(by: ControlPlane, configuration: Configuration | None) -> SimulationOptions:
    """Those of a version and its gates; what else a command was given is added to them."""
    from topospread.simulation.run import SimulationOptions

    return SimulationOptions(
        configuration,
        kube_version=str(by.scheduler.kube_version),
        gates=by.scheduler,
        apiserver_gates=by.apiserver,
    )


def write_html(given: Mapping[str, Any], wish: ReportWish) -> None:
    """Write the report, if one is wanted.

    Raises:
        InputError: the file cannot be written.
        UsageError: a drill cannot be shown by name where names are hashed.
    """
    if not given["html"]:
        return
    from topospread.drills.steps import Apply

    applied = [str(each) for each in wish.steps if isinstance(each, Apply)]
    if applied:
        raise UsageError(f"--html: {applied[0]}: a page plays no steps that apply files")
    from topospread.web.anonymous import anonymous
    from topospread.web.report import ReportView, report
    from topospread.web.served import InputWords, ServedCluster

    name = (
        ", ".join(path.rstrip("/").rpartition("/")[2] for path in given["paths"]) or given["cluster"] or "the cluster"
    )
    if given["hash_names"]:
        if wish.steps:
            raise UsageError(
                "--hash-names: the steps of a drill name what they happen to; dump with --hash-names first"
            )
        kept = {key: value for key, value in wish.shown.items() if key == "at"}
        wish = with_fields(wish, inventory=anonymous(wish.inventory), shown=kept)
        name = "a cluster, its names hashed"
    words = (
        () if given["hash_names"] else (*given["paths"], *(["--cluster", given["cluster"]] if given["cluster"] else []))
    )
    served = ServedCluster.begin(wish.inventory, wish.options, InputWords(name, words))
    text = report(served, ReportView(wish.steps, wish.shown))
    try:
        with open(given["html"], "w", encoding="utf-8") as file:
            file.write(escape_control_characters(text))
    except OSError as error:
        raise InputError(f"the report cannot be written: {error.strerror}", Place(source=given["html"])) from None
