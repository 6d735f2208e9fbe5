"""``topospread dump``: write a snapshot of the kubeconfig's cluster, without secrets and other private data."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from topospread.errors import UsageError
from topospread.text import counted, one_line

from .anonymous_options import anonymous_options, read_salt
from .inputs import PATH
from .live_options import access_options, named_options, read_access
from .reading_line import ReadingLine
from .terminal import warn
from .usage import EXITS_WORKED, Explained

if TYPE_CHECKING:
    from topospread.sources.snapshot_facts import SnapshotFacts
    from topospread.sources.snapshot_file import SnapshotTaking

DEFAULT = "cluster.json.gz"

HELP = f"""\
Save kubectl's current cluster in a snapshot file, which every command reads with --on.

FILE ends in .json.gz or .json, or is - for standard output [default: {DEFAULT}]. The snapshot has only fields that
topospread reads, and no Secrets or ConfigMaps. Kinds that may not be listed are left out with a warning.

\b
Examples:
  topospread dump
  topospread dump prod.json.gz --context prod
  topospread dump shared.json.gz --anonymous
  topospread dump shared.json.gz --from prod.json.gz --anonymous
  topospread dump - | jq '.items | length'
  topospread status --on {DEFAULT}
"""


@click.command(cls=Explained, help=HELP, exits=EXITS_WORKED)
@click.argument("path", default=DEFAULT, metavar="[FILE]", type=PATH)
@access_options
@click.option(
    "-n", "--namespace", default="", metavar="NAMESPACE", help="Read only objects of this namespace, and nodes."
)
@anonymous_options("Replace private names, so that the snapshot can be shared.")
@click.option("--from", "source", metavar="FILE", type=PATH, help="Read this snapshot instead of the cluster.")
@click.option(
    "--chunk-size", type=click.IntRange(min=0), default=500, help="Objects per API request; 0 for all at once (500)."
)
def dump(**given: Any) -> int:
    """Write the snapshot. Return 0 even if optional kinds could not be read."""
    from topospread.sources.snapshot_facts import warnings_of
    from topospread.sources.snapshot_file import SnapshotTaking, check_path, writing
    from topospread.sources.snapshot_lists import ANONYMOUS, ORDER

    path = given["path"]
    salt = read_salt(given)
    check_path(path)
    if given["source"] is not None:
        facts = _rewritten(given, salt)
        click.echo(_summary(path, facts), err=path == "-")
        return 0
    access = read_access(given)
    from topospread.live.cluster_lists import WantedLists
    from topospread.live.read_cluster import take_snapshot

    # SIGTERM removes a half-written file, like Ctrl-C. `run_or_terminate` handles signals while lists are read.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    line = ReadingLine()
    try:
        with writing(path, sys.stdout.buffer) as writer:
            taking = SnapshotTaking(writer)
            hidden = _replace_names(taking, salt) if given["anonymous"] else lambda facts: facts
            taking.kinds = ANONYMOUS if given["anonymous"] else ORDER
            wanted = WantedLists(given["namespace"], page=given["chunk_size"], kinds=taking.kinds)
            facts = take_snapshot(access, wanted, taking, line)
            writer.end(hidden(facts))
    finally:
        line.clear()
    warn(warnings_of(facts))
    click.echo(_summary(path, facts), err=path == "-")
    return 0


def _rewritten(given: Mapping[str, Any], salt: bytes | None) -> SnapshotFacts:
    """Write the snapshot of --from to another file."""
    from topospread.sources.anonymous import anonymous_snapshot
    from topospread.sources.files import find_sources, read_text
    from topospread.sources.load import load
    from topospread.sources.snapshot_facts import FORMAT, SnapshotFacts, facts_of
    from topospread.sources.snapshot_file import write_snapshot

    if named_options(given) or given["namespace"]:
        raise UsageError("--from cannot be combined with options of a live cluster")
    inventory = load([given["source"]])
    warn(inventory.warnings)
    (source, *others) = find_sources(given["source"])
    facts = (facts_of(read_text(source).data) if not others else None) or SnapshotFacts(format=FORMAT)
    if given["anonymous"]:
        inventory, facts = anonymous_snapshot(inventory, facts, salt)
    write_snapshot(inventory, given["path"], facts)
    return facts


def _replace_names(taking: SnapshotTaking, salt: bytes | None) -> Callable[[SnapshotFacts], SnapshotFacts]:
    """Make `taking` write an anonymous snapshot. Return the function that replaces the names in its facts."""
    from topospread.sources.pseudonyms import Pseudonyms, key_of
    from topospread.sources.snapshot_names import hashed, hashed_facts

    names = Pseudonyms(key_of(salt))
    taking.nodes_known = names.know_nodes
    taking.changed = lambda item: hashed(item, names)
    return lambda facts: hashed_facts(facts, names)


def _summary(path: str, facts: SnapshotFacts) -> str:
    """Return ``cluster.json.gz: 12 nodes, 240 pods and 97 other objects of Kubernetes v1.37.0, 0.1 MB``."""
    others = sum(facts.counts.values()) - facts.counts["Node"] - facts.counts["Pod"]
    nodes, pods = counted(facts.counts["Node"], "node"), counted(facts.counts["Pod"], "pod")
    text = f"{nodes}, {pods} and {counted(others, 'other object')}"
    text += f" of Kubernetes {facts.kube_version}" if facts.kube_version else ""
    size = 0 if path == "-" else os.path.getsize(path)
    written = f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{max(size // 1000, 1)} kB"
    return one_line(text if path == "-" else f"{path}: {text}, {written}")
