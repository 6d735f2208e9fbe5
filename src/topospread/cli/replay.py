"""``topospread why --audit``: what happened in a cluster, from a snapshot and an audit log, or its events."""

from __future__ import annotations

from typing import Any

from topospread.errors import UsageError

from .inputs import read_configuration, read_control_plane, read_inventory
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
    by = read_control_plane(given)
    configuration = read_configuration(given["config_path"], by.scheduler)
    inventory = read_inventory(given, by=[by])
    from topospread.answers.asking import with_version
    from topospread.answers.why_history import history_answer
    from topospread.incidents.replay import replay as run

    found = run(
        inventory,
        given["audit"],
        events=given["events"],
        since=given["since"],
        namespace=given["namespace"],
        config=configuration,
        kube_version=str(by.scheduler.kube_version),
        gates=by.scheduler,
        apiserver_gates=by.apiserver,
    )
    answer = with_version(history_answer(found), by.scheduler.kube_version)
    return write_answer(answer, given)
