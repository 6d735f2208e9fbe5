"""``-o html=FILE``: the interactive page of a command's answer as one file. `web.report` builds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec.structs import replace as with_fields

from topospread.errors import UsageError

from .anonymous_options import anonymous_options, read_salt
from .inputs import file_words
from .output import wants

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.simulation.options import SimulationOptions

F = TypeVar("F", bound=Callable[..., Any])

page_options = anonymous_options("Replace private names in -o html and --save.")
"""Options of a command whose ``-o html`` is the interactive page."""


class ReportWish(msgspec.Struct, frozen=True):
    """The content of a report; ``shown`` has the parameters of the page's address."""

    inventory: Inventory
    options: SimulationOptions
    steps: Sequence[Any] = ()
    shown: Mapping[str, str] = {}


def check_html(given: Mapping[str, Any]) -> None:
    """Check the options for output files before any work.

    Raises:
        UsageError: if the extra is missing, or --anonymous is given without a file, or the salt is unusable.
        InputError: if the salt file cannot be read.
    """
    read_salt(given)
    if given["anonymous"] and wants(given, "svg"):
        raise UsageError("-o svg cannot be combined with --anonymous: the picture shows names")
    if wants(given, "html"):
        from topospread.extras import require

        require("web")
    elif given["anonymous"] and not given.get("save"):
        raise UsageError(f"--anonymous requires a file: -o html=FILE{' or --save' if 'save' in given else ''}")


def html_text(given: Mapping[str, Any], wish: ReportWish) -> str:
    """Return the interactive page as one file. Raise UsageError if an anonymous page's steps contain names."""
    from topospread.drill.steps import Apply

    applied = [str(each) for each in wish.steps if isinstance(each, Apply)]
    if applied:
        raise UsageError(f"-o html: {applied[0]}: the page cannot show steps that apply files; use -o text")
    from topospread.sources.anonymous import anonymous
    from topospread.web.report import ReportView, report
    from topospread.web.served import InputWords, ServedCluster

    name = (
        ", ".join(path.rstrip("/").rpartition("/")[2] for path in given["paths"]) or given["cluster"] or "the cluster"
    )
    if given["anonymous"]:
        if wish.steps:
            raise UsageError("--anonymous: steps of a drill show names; use a snapshot of topospread dump --anonymous")
        kept = {key: value for key, value in wish.shown.items() if key == "at"}
        wish = with_fields(wish, inventory=anonymous(wish.inventory, read_salt(given)), shown=kept)
        name = "an anonymous cluster"
    words = (
        ()
        if given["anonymous"]
        else (*file_words(*given["paths"]), *(["--on", given["cluster"]] if given["cluster"] else []))
    )
    served = ServedCluster.begin(wish.inventory, wish.options, InputWords(name, words))
    return report(served, ReportView(wish.steps, wish.shown))
