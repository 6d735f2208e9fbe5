"""``topospread why --audit``: what happened in a cluster, from a snapshot and an audit log, or its events."""

from __future__ import annotations

from typing import Any

from topospread.errors import UsageError

from .inputs import read_inventory, read_options
from .output import write_answer


def replay(given: dict[str, Any]) -> int:
    """Show what happened; the exit code is that of the verdict.

    Raises:
        UsageError: if options of one pod are given as well.
    """
    if given["audit"] and given["events"]:
        raise UsageError("name what is replayed: --audit FILE or --events FILE, one of them")
    of_one = [
        f"--{name.replace('_', '-')}" for name in ("anonymous", "pools", "scale", "no_suggestions") if given[name]
    ]
    if given["targets"] or of_one:
        raise UsageError(f"--audit and --events tell of all pods: leave out {(*given['targets'], *of_one)[0]}")
    if not given["paths"] and given["cluster"] is None:
        raise UsageError("--on FILE names the cluster as it was when the log begins; topospread dump writes one")
    options = read_options(given)
    inventory = read_inventory(given, by=[options])
    from topospread.answers.asked import about
    from topospread.answers.why_history import history_answer
    from topospread.incidents.replay import replay as run

    found = run(
        inventory,
        given["audit"],
        options,
        events=given["events"],
        since=given["since"],
    )
    return write_answer(about(history_answer(found), inventory, options), given)
