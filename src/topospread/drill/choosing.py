"""Select the nodes that a step names, or raise an error with suggestions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from topospread.api.node import Node
from topospread.errors import UsageError
from topospread.text import did_you_mean, listed

from .steps import NodeChoice, read_choice

_SHOWN = 6


def chosen(choice: NodeChoice, nodes: Sequence[Node], step: str) -> list[str]:
    """Return the names of the selected nodes, in input order.

    Args:
        choice: a label, labels that are separated by commas, or a name.
        nodes: the current nodes.
        step: the step's text, for errors.

    Raises:
        UsageError: if no node is selected.
    """
    if not choice.key:
        return _valued(choice.value, nodes, step)
    if "," in choice.value:  # neither names nor values of labels have commas
        sets = [chosen(read_choice(each, step), nodes, step) for each in str(choice).split(",")]
        if both := [name for name in sets[0] if all(name in each for each in sets)]:
            return both
        raise UsageError(f"{step}: no node has all of these labels")
    for label in choice.labels:
        values = {node.name: node.name if not label else node.labels.get(label) for node in nodes}
        if not any(values.values()):
            continue
        found = [name for name, value in values.items() if value == choice.value]
        found = found or ([] if label else _short(choice.value, nodes, step))
        if found:
            return found
        what = f"has {label}={choice.value}" if label else f"has the name {choice.value}"
        raise UsageError(f"{step}: no node {what}{_hint(choice.value, values.values())}")
    keys = sorted({key for node in nodes for key in node.labels})
    raise UsageError(f"{step}: no node has the label {choice.labels[0]}{_hint(choice.key, keys)}")


def _short(value: str, nodes: Sequence[Node], step: str) -> list[str]:
    """Return the one node whose name up to its first dot is `value`; empty if no node matches.

    Raises:
        UsageError: if several nodes have it.
    """
    found = [node.name for node in nodes if node.name.partition(".")[0] == value]
    if len(found) > 1:
        raise UsageError(f"{step}: {value} is short for {listed(sorted(found), _SHOWN)}: write the full name")
    return found


def _valued(value: str, nodes: Sequence[Node], step: str) -> list[str]:
    """Return the names of the nodes whose name or any label has this value.

    Raises:
        UsageError: if no node has it, or if several labels have it on different nodes.
    """
    named = [node.name for node in nodes if node.name == value]
    keys = sorted({key for node in nodes for key, each in node.labels.items() if each == value})
    meant = {key: [node.name for node in nodes if node.labels.get(key) == value] for key in keys}
    different = list(dict.fromkeys(map(tuple, [*([named] if named else []), *meant.values()])))
    if len(different) == 1:
        return list(different[0])
    if not different and (short := _short(value, nodes, step)):
        return short
    if different:
        ways = [*(["node"] if named else []), *keys]
        raise UsageError(f"{step}: {value} is {' and '.join(f'{each}={value}' for each in ways)}: say which")
    if hint := did_you_mean(value, [node.name for node in nodes], most=3, cutoff=0.8):
        raise UsageError(f"{step}: node {value} not found{hint}")
    zones = chosen_values(nodes)
    raise UsageError(
        f"{step}: write KEY=VALUE, for example {', '.join(zones[:_SHOWN])}{' …' if len(zones) > _SHOWN else ''}"
    )


def chosen_values(nodes: Sequence[Node]) -> list[str]:
    """Return the zones as ``KEY=VALUE``; without zones, the node names."""
    labels = NodeChoice("zone", "").labels
    zones = sorted({node.labels[label] for node in nodes for label in labels if node.labels.get(label)})
    return [f"zone={each}" for each in zones] or [f"node={node.name}" for node in nodes]


def one_node(name: str, nodes: Sequence[Node], step: str) -> Node:
    """Return the node with a name, or a name that is unique up to its first dot.

    Raises:
        UsageError: if there is no such node, or if several have the short name.
    """
    names = {node.name: node for node in nodes}
    for each in [name] if name in names else _short(name, nodes, step):
        return names[each]
    raise UsageError(f"{step}: node {name} not found{_hint(name, [node.name for node in nodes])}")


def _hint(wrong: str, there: Iterable[str | None]) -> str:
    names = sorted({each for each in there if each})
    more = " …" if len(names) > _SHOWN else ""
    some = f"the cluster has {', '.join(names[:_SHOWN])}{more}" if names else "the cluster has no nodes"
    return did_you_mean(wrong, names, some)
