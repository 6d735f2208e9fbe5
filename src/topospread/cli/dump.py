"""``topospread dump``: a snapshot of the cluster that kubectl points at, without what is nobody's business."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from topospread.errors import UsageError

from .inputs import PATH
from .terminal import warn
from .usage import Explained

if TYPE_CHECKING:
    from topospread.sources.snapshot_facts import SnapshotFacts
    from topospread.sources.snapshot_take import Taking

DEFAULT = "cluster.json.gz"
_REDRAW = 0.1
_SALT_AT_LEAST = 8

HELP = f"""\
Write a snapshot of the cluster that kubectl points at; every command reads it.

FILE ends in .json.gz or .json, or is - for standard output; by default {DEFAULT}. It appears only when it is whole,
may be read by its owner only, and replaces an older one.

Asked for, page by page through kubectl, are nodes, pods, their owners and whatever else decides on a placement.
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
@click.option("--context", metavar="NAME", help="The kubeconfig's context, as for kubectl.")
@click.option("--kubeconfig", type=PATH, metavar="FILE", help="The kubeconfig, as for kubectl.")
@click.option("--as", "user", metavar="USER", help="Ask as this user or service account, as kubectl does.")
@click.option("--as-group", multiple=True, metavar="GROUP", help="With --as: of this group; may be given again.")
@click.option("--as-uid", metavar="UID", help="With --as: with this UID.")
@click.option("-n", "--namespace", default="", metavar="NAMESPACE", help="Only this namespace's objects, and nodes.")
@click.option("--hash-names", is_flag=True, help="Replace names, so that the snapshot can be shared.")
@click.option("--salt", metavar="TEXT", help="Make two snapshots replace a name by the same word; keep it secret.")
@click.option("--chunk-size", type=click.IntRange(min=0), default=500, help="Objects to ask for at once; 0 for all.")
def dump(**given: Any) -> int:
    """Take the snapshot; 0 also when optional kinds could not be read."""
    from topospread.sources.kubectl import Kubectl
    from topospread.sources.snapshot_facts import warnings_of
    from topospread.sources.snapshot_file import check_path, writing
    from topospread.sources.snapshot_take import Taking, Wanted

    path = given["path"]
    if not given["user"] and (given["as_group"] or given["as_uid"]):
        raise UsageError("--as-group and --as-uid say more of the user of --as, which is not given")
    if given["salt"] is not None and (not given["hash_names"] or len(given["salt"]) < _SALT_AT_LEAST):
        raise UsageError(f"--salt takes a text of at least {_SALT_AT_LEAST} characters, together with --hash-names")
    check_path(path)
    # Who is told to end takes back what is half written, as on Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    counter = _Counter()
    taking = Taking(
        Kubectl.found(
            given["context"],
            given["kubeconfig"],
            user=given["user"],
            groups=given["as_group"],
            uid=given["as_uid"],
        ),
        Wanted(given["namespace"], given["chunk_size"]),
        progress=counter,
    )
    if given["hash_names"]:
        _hash_names(taking, given["salt"])
    try:
        with writing(path, sys.stdout.buffer) as writer:
            facts = taking.take(writer)
            facts.hashed = given["hash_names"]
            writer.end(facts)
    finally:
        counter.clear()
    warn(warnings_of(facts))
    click.echo(_summary(path, facts), err=path == "-")
    return 0


def _hash_names(taking: Taking, salt: str | None) -> None:
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


class _Counter:
    """On a terminal, a line on stderr that counts what has been read."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._drawn = 0.0

    def __call__(self, resource: str, done: int, left: int | None) -> None:
        now = time.monotonic()
        if not self._shown or now - self._drawn < _REDRAW:
            return
        self._drawn = now
        of = f" of {done + left:,}" if left else ""
        sys.stderr.write(f"\r\x1b[2Kreading {resource}  {done:,}{of}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Leave the line empty."""
        if self._drawn:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
