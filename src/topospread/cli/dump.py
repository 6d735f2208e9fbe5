"""``topospread dump``: a snapshot of the cluster that kubectl points at, without what is nobody's business."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import click

from topospread.errors import UsageError

from .inputs import PATH
from .live_options import access_options, read_access
from .reading_line import ReadingLine
from .terminal import warn
from .usage import Explained

if TYPE_CHECKING:
    from topospread.sources.snapshot_facts import SnapshotFacts
    from topospread.sources.snapshot_take import SnapshotTaking

DEFAULT = "cluster.json.gz"
_SALT_AT_LEAST = 8

HELP = f"""\
Write a snapshot of the cluster that kubectl points at; every command reads it.

FILE ends in .json.gz or .json, or is - for standard output; by default {DEFAULT}. It appears only when it is whole,
may be read by its owner only, and replaces an older one.

Asked for, page by page, are nodes, pods, their owners and whatever else decides on a placement.
Secrets and ConfigMaps are never asked for. Of each object only the fields that topospread reads are kept: no
environment, arguments, commands or addresses, no annotations that no rule reads, no managedFields.

--hash-names replaces names, labels' values and images so that a snapshot can be shared: the same name by the same
word everywhere, so that a simulation gives the same answers. What is kept is told in docs/how-to/snapshot.md.

Lists that may not be read are left out with a warning that says what is lost, which later commands repeat; without
nodes or pods nothing is written and the exit code is 2.

\b
Examples:
  topospread dump
  topospread dump prod.json.gz --context prod
  topospread dump shared.json.gz --hash-names
  topospread dump - | jq '.items | length'
  topospread status {DEFAULT}
"""


@click.command(cls=Explained, help=HELP)
@click.argument("path", default=DEFAULT, metavar="[FILE]", type=PATH)
@access_options
@click.option("-n", "--namespace", default="", metavar="NAMESPACE", help="Only this namespace's objects, and nodes.")
@click.option("--hash-names", is_flag=True, help="Replace names, so that the snapshot can be shared.")
@click.option("--salt", metavar="TEXT", help="Make two snapshots replace a name by the same word; keep it secret.")
@click.option("--chunk-size", type=click.IntRange(min=0), default=500, help="Objects to ask for at once; 0 for all.")
def dump(**given: Any) -> int:
    """Take the snapshot; 0 also when optional kinds could not be read."""
    from topospread.sources.snapshot_facts import warnings_of
    from topospread.sources.snapshot_file import check_path, writing
    from topospread.sources.snapshot_take import SnapshotTaking

    path = given["path"]
    access = read_access(given)
    if given["salt"] is not None and (not given["hash_names"] or len(given["salt"]) < _SALT_AT_LEAST):
        raise UsageError(f"--salt takes a text of at least {_SALT_AT_LEAST} characters, together with --hash-names")
    check_path(path)
    from topospread.live.cluster_lists import WantedLists
    from topospread.live.take_snapshot import take_snapshot

    # Who is told to end takes back what is half written, as on Ctrl-C; `run_or_terminate` sees to it while lists are
    # read.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    line = ReadingLine()
    try:
        with writing(path, sys.stdout.buffer) as writer:
            taking = SnapshotTaking(writer)
            if given["hash_names"]:
                _hash_names(taking, given["salt"])
            facts = take_snapshot(access, WantedLists(given["namespace"], page=given["chunk_size"]), taking, line)
            facts.hashed = given["hash_names"]
            writer.end(facts)
    finally:
        line.clear()
    warn(warnings_of(facts))
    click.echo(_summary(path, facts), err=path == "-")
    return 0


def _hash_names(taking: SnapshotTaking, salt: str | None) -> None:
    from secrets import token_bytes

    from topospread.sources.pseudonyms import Pseudonyms
    from topospread.sources.snapshot_names import hashed

    names = Pseudonyms(token_bytes(32) if salt is None else salt.encode())
    taking.nodes_known = names.know_nodes
    taking.changed = lambda item: hashed(item, names)


def _summary(path: str, facts: SnapshotFacts) -> str:
    """``cluster.json.gz: 12 nodes, 240 pods and 97 other objects of Kubernetes v1.37.0, 0.1 MB``."""
    others = sum(facts.counts.values()) - facts.counts["Node"] - facts.counts["Pod"]
    text = f"{facts.counts['Node']} nodes, {facts.counts['Pod']} pods and {others} other objects"
    text += f" of Kubernetes {facts.kube_version}" if facts.kube_version else ""
    if path == "-":
        return text
    return f"{path}: {text}, {os.path.getsize(path) / 1e6:.1f} MB"
