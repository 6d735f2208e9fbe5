"""Write evictions as a shell script for kubectl. It uses the Eviction API and waits after each eviction."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from topospread.errors import InputError, Place
from topospread.text import one_line

if TYPE_CHECKING:
    from topospread.answers.rebalance import Rebalance
    from topospread.rebalance.result import PodMove

_HEAD = """\
#!/bin/sh
# Evicts pods one after the other, each when the workload of the one before it is whole again; stops at the first error.
set -eu
evict() {
  printf '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"%s","namespace":"%s"}}' "$2" "$1" |
    kubectl create --raw "/api/v1/namespaces/$1/pods/$2/eviction" -f - > /dev/null
  kubectl wait --for=delete "pod/$2" -n "$1" --timeout=10m
}
"""
_AGAIN = """\
# A workload after "ready_again" has a pod on a node that is not ready, so it does not become complete. Such workloads
# come last if the plan allows it, and the script only waits until as many pods are ready as before the eviction.
ready() { kubectl get "$2" -n "$1" -o 'jsonpath={.status.readyReplicas}'; }
ready_again() {
  tries=300
  until [ "0$(ready "$1" "$2")" -ge "0$3" ]; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || { echo "$2 -n $1: fewer than $3 pods are ready after 10m" >&2; return 1; }
    sleep 2
  done
}
"""
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
"""Names that are safe in a request's URL."""
_ROLLS = frozenset({"Deployment", "StatefulSet"})
"""Kinds that ``kubectl rollout status`` supports."""
_REPLICAS = frozenset({"ReplicaSet", "ReplicationController"})


def rebalance_commands(found: Rebalance) -> str:
    """Return the script; "" without evictions. Raise InputError for a name that no API server stores."""
    if not found.evictions:
        nothing = f"Nothing to evict was found: {found.partial}." if found.partial else "There is nothing to evict."
        return f"#!/bin/sh\n# {nothing}\n"
    partial = f"# partial: {found.partial}; these are the evictions that were found.\n" if found.partial else ""
    again = _AGAIN if any(map(_waits_for_ready, found.evictions)) else ""
    return _HEAD + again + partial + "".join(map(_lines, found.evictions))


def _waits_for_ready(each: PodMove) -> bool:
    return each.incomplete and each.workload.partition("/")[0] in _ROLLS | _REPLICAS


def _lines(each: PodMove) -> str:
    """Return the lines for one eviction, and for the wait after it."""
    if not all(map(_NAME.fullmatch, (each.namespace, each.name))):
        place = Place(object=f"Pod {each.namespace}/{each.name}")
        raise InputError("this is not a valid pod name, so no commands are written", place)
    lines = [
        f"# on {one_line(each.node)}; a new pod goes to {one_line(each.target)}",
        shlex.join(["evict", each.namespace, each.name]),
    ]
    kind, _, name = each.workload.partition("/")
    target = f"{kind.lower()}/{name}"
    if _waits_for_ready(each):
        lines.insert(1, f'before="$({shlex.join(["ready", each.namespace, target])})"')
        lines.append(shlex.join(["ready_again", each.namespace, target]) + ' "$before"')
    elif kind in _ROLLS:
        lines.append(shlex.join(["kubectl", "rollout", "status", target, "-n", each.namespace, "--timeout=10m"]))
    elif kind in _REPLICAS:
        whole = shlex.join(["kubectl", "get", target, "-n", each.namespace, "-o", "jsonpath={.spec.replicas}"])
        wait = shlex.join(["kubectl", "wait", target, "-n", each.namespace, "--timeout=10m"])
        lines.append(f'{wait} --for=jsonpath={{.status.readyReplicas}}="$({whole})"')
    return "\n".join(lines) + "\n"
