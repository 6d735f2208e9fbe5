"""What is asked of kube-scheduler about a situation, and what its verdicts say; we are asked the same. Runs nothing.

Asked are: the pod on the cluster as it is; the pod again with one new node of each pool and zone beside; and every pod
that stands under the constraints, taken away and asked again, for what a descheduler does.
"""

from __future__ import annotations

from typing import Any

from conformance.field.situations import cluster, new_nodes, pod

Json = dict[str, Any]

SPREAD = "PodTopologySpread"


ASKED = ("now", "new", "again")
"""The kinds of questions, in their order."""


def cases(situation: Json, kinds: tuple[str, ...] = ASKED) -> list[Json]:
    """The cases in the oracle's form; what each is about stands in its name."""
    base = cluster(situation)
    out = [base | {"name": "now"}] if "now" in kinds else []
    for name, made in new_nodes(situation).items() if "new" in kinds else ():
        out.append(base | {"name": f"new {name}", "nodes": [*base["nodes"], made]})
    for number, node in _moved(situation) if "again" in kinds else ():
        left = [each for i, each in enumerate(base["pods"]) if i != number]
        again = pod(situation, f"web-{number}", situation["pods"][number] | {"on": ""})
        del again["spec"]["nodeName"]
        out.append(base | {"name": f"again {node}", "pods": left, "incoming": [again]})
    return out


def _moved(situation: Json) -> list[tuple[int, str]]:
    """One of the pods of the workload on each node, of those with each set of labels."""
    seen: dict[str, tuple[int, str]] = {}
    for number, each in enumerate(situation["pods"]):
        if not any(each.get(key) for key in ("plain", "terminating", "bare")):
            labels = each.get("labels", situation["pod"]["labels"])
            seen.setdefault(f"{each['on']} {sorted(labels.items())}", (number, each["on"]))
    return list(seen.values())


def answer(asked: list[Json], verdicts: list[Json]) -> Json:
    """The verdicts in short.

    Returns:
        ``nodes`` that take the pod; ``new``: pools and zones of which a new node takes it; ``skewed``: nodes with a pod
        that its constraints would not let in again there; ``elsewhere``: of those, nodes whose pod some other node
        takes; ``again``: nodes that would let all of these pods in again; ``stuck``: nodes whose pod, once evicted,
        none takes; ``back``: nodes whose pod only its own node takes.
    """
    out: dict[str, set[str]] = {key: set() for key in ("nodes", "new", "skewed", "elsewhere", "again", "stuck", "back")}
    refused: set[str] = set()
    for case, verdict in zip(asked, verdicts, strict=True):
        what, _, name = case["name"].partition(" ")
        feasible = set(verdict["feasible"])
        if what == "now":
            out["nodes"] = feasible
        elif what == "new":
            if f"new-{name.replace('/', '-')}" in feasible:
                out["new"].add(name)
        else:
            _add_moved(out, name, feasible, verdict.get("rejected", {}))
            refused |= {name} - feasible
    out["again"] -= refused
    return {key: sorted(found) for key, found in out.items()}


def _add_moved(out: dict[str, set[str]], node: str, feasible: set[str], rejected: Json) -> None:
    if rejected.get(node, {}).get("plugin") == SPREAD:
        out["skewed"].add(node)
        if feasible:
            out["elsewhere"].add(node)
    out["again"].add(node)
    if not feasible:
        out["stuck"].add(node)
    elif feasible == {node}:
        out["back"].add(node)
