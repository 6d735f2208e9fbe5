"""Options that select a live cluster, and reading it. Options for files are in `inputs`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from topospread.errors import UsageError

from .usage import together

if TYPE_CHECKING:
    from topospread.live.access import Access
    from topospread.sources.load import LiveObjects
    from topospread.sources.needed_kinds import NeededKinds

PATH = click.Path()
LIVE = "live"
"""The value of ``--on`` for the kubeconfig's current cluster."""

access_options = together(
    click.option("--context", metavar="NAME", help="Context of the kubeconfig, as for kubectl."),
    click.option("--kubeconfig", type=PATH, metavar="FILE", help="Kubeconfig file, as for kubectl."),
    click.option("--as", "user", metavar="USER", help="User or service account to impersonate."),
    click.option("--as-group", multiple=True, metavar="GROUP", help="Group to impersonate with --as; repeatable."),
    click.option("--as-uid", metavar="UID", help="UID to impersonate with --as."),
)
"""The options ``--context --kubeconfig --as --as-group --as-uid``."""

NOBODY: Mapping[str, Any] = {"context": None, "kubeconfig": None, "user": None, "as_group": (), "as_uid": None}
"""Values of `access_options` if none is given."""


def read_access(given: Mapping[str, Any]) -> Access:
    """Read the options of `access_options`. Raise UsageError without the extra ``live``, or a group without a user."""
    from topospread.extras import require

    require("live")
    from topospread.live.access import Access

    return Access(given["kubeconfig"], given["context"], given["user"], tuple(given["as_group"]), given["as_uid"])


def is_meant(given: Mapping[str, Any], paths: Sequence[str]) -> bool:
    """Return whether to read a live cluster: it is named, or there is no other input.

    Raises:
        UsageError: if another cluster is named as well, or there is neither input nor a live cluster.
    """
    if "context" not in given:
        return False
    cluster = given["cluster"]
    named = named_options(given)
    if named and cluster not in (None, LIVE):
        option = {"user": "as"}.get(named[0], named[0].replace("_", "-"))
        raise UsageError(f"--{option} names a live cluster, and cannot be combined with --on {cluster}")
    if named or cluster == LIVE:
        return True
    if paths or cluster is not None:
        return False
    if not is_there(given):
        raise UsageError(no_cluster(given))
    return True


def named_options(given: Mapping[str, Any]) -> list[str]:
    """Return the options that are set."""
    return [name for name in NOBODY if given.get(name)]


def is_named(given: Mapping[str, Any]) -> bool:
    """Return whether the options name a live cluster."""
    return bool(named_options(given)) or given["cluster"] == LIVE


def is_there(given: Mapping[str, Any]) -> bool:
    """Return whether there is a live cluster to read by default."""
    from topospread.extras import missing_packages

    if "context" not in given or missing_packages("live"):
        return False
    from topospread.live.access import Access

    return Access().finds_something()


def current_context() -> str:
    """Return the kubeconfig's current context, empty if there is none. No API server is contacted."""
    import re
    from pathlib import Path

    named = os.environ.get("KUBECONFIG")
    for name in named.split(os.pathsep) if named else [str(Path.home() / ".kube" / "config")]:
        try:
            text = Path(name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        found = re.search(r"""^[\s{]*["']?current-context["']?:[ ]*["']?([^"'\s,}]+)""", text, re.MULTILINE)
        if found:
            return found[1]
    return ""


def no_cluster(given: Mapping[str, Any]) -> str:
    """Return the message for a command without a cluster."""
    if "context" not in given:
        return "no cluster: add --on zones=3,nodes=6 or --on FILE"
    return f"no cluster: add --on zones=3,nodes=6, --on FILE, or --context NAME ({why_none()})"


def why_none() -> str:
    """Return why there is no live cluster."""
    from topospread.extras import missing_packages

    if missing_packages("live"):
        return "to read a live cluster: pip install 'topospread[live]'"
    return "no kubeconfig was found"


def read_live(given: Mapping[str, Any], needed: NeededKinds) -> LiveObjects:
    """Read the needed kinds; if that is forbidden, only those in the namespace of ``-n``.

    Raises:
        InputError: if there is no live cluster, it cannot be reached, or listing nodes or pods is forbidden.
        UsageError: if the extra ``live`` is not installed.
    """
    access = read_access(given)
    from topospread.live.cluster_lists import WantedLists
    from topospread.live.read_cluster import live_objects

    from .reading_line import ReadingLine

    line = ReadingLine()
    try:
        wanted = WantedLists(otherwise=given["namespace"] or "", kinds=needed.kinds, volumes=needed.volumes)
        return live_objects(access, wanted, line)
    finally:
        line.clear()


def live_words(given: Mapping[str, Any]) -> list[str]:
    """Return the options as command-line words."""
    words: list[str] = []
    if "context" not in given:
        return words
    for name, option in (("context", "--context"), ("kubeconfig", "--kubeconfig"), ("user", "--as")):
        words += [option, given[name]] if given[name] else []
    for group in given["as_group"]:
        words += ["--as-group", group]
    return words + (["--as-uid", given["as_uid"]] if given["as_uid"] else [])
