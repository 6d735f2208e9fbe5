"""Rows of nodes that a node selector matches, for NodeAffinity, node inclusion policies and volumes.

A requirement is evaluated once for each distinct value of its label, not for each node.
Source: component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from topospread.api.label_syntax import invalid, quoted
from topospread.api.labels import InvalidSelectorError, Operator, Requirement
from topospread.api.node import Node
from topospread.api.node_selection import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from topospread.api.pod import PodSpec
from topospread.cluster import NodeTable
from topospread.cluster.arrays import Bools, Rows

from .interface import PluginError, length, numbers

_OPERATORS: dict[str, Operator] = {
    "In": "In",
    "NotIn": "NotIn",
    "Exists": "Exists",
    "DoesNotExist": "DoesNotExist",
    "Gt": "Gt",
    "Lt": "Lt",
}
_FIELD_OPERATORS = ("In", "NotIn")


Mask = Callable[[Rows], Bools]
"""A function that returns which of the given rows match, bool[rows]."""


class LabelMask:
    """A mask of rows whose label meets a requirement."""

    def __init__(self, requirement: Requirement, nodes: NodeTable) -> None:
        self._requirement = requirement
        self._nodes = nodes
        self._missing = requirement.matches({})
        self._table: Bools = np.array([self._missing])
        self._numbering = nodes.numbering

    def __call__(self, rows: Rows) -> Bools:
        """Return whether rows match, bool[rows]."""
        column = self._nodes.labels(self._requirement.key)
        if self._numbering != self._nodes.numbering:
            self._numbering, self._table = self._nodes.numbering, np.array([self._missing])
        known = len(self._table) - 1
        if known < len(column.values):
            key = self._requirement.key
            more = [self._requirement.matches({key: value}) for value in column.values[known:]]
            self._table = np.array([*self._table[:known], *more, self._missing], dtype=np.bool_)
        matches: Bools = self._table[column.codes[rows]]
        return matches


def all_of(masks: Sequence[Mask]) -> Mask:
    """Return a mask of rows that every given mask matches; all rows if there is no mask."""

    def mask(rows: Rows) -> Bools:
        result = np.ones(length(rows), dtype=np.bool_)
        for each in masks:
            result &= each(rows)
        return result

    return mask


def any_of(masks: Sequence[Mask]) -> Mask:
    """Return a mask of rows that any given mask matches; no row if there is no mask."""

    def mask(rows: Rows) -> Bools:
        result = np.zeros(length(rows), dtype=np.bool_)
        for each in masks:
            result |= each(rows)
        return result

    return mask


def term_mask(term: NodeSelectorTerm, nodes: NodeTable) -> Mask | None:
    """Return the mask of a term; ``None`` for an invalid or empty term, which matches no node.

    It does not raise, because kube-scheduler ignores invalid terms of a pod that the API server accepted.
    """
    try:
        masks: list[Mask] = [
            *(LabelMask(_requirement(each), nodes) for each in term.match_expressions or ()),
            *(_field_mask(each, nodes) for each in term.match_fields or ()),
        ]
    except InvalidSelectorError:
        return None
    return all_of(masks) if masks else None


def term_problems(term: NodeSelectorTerm, path: str) -> list[str]:
    """Return why a term is invalid, in Kubernetes' words; empty if it is valid (``newNodeSelectorTerm``)."""
    problems: list[str] = []
    for name, terms, check in (
        ("matchExpressions", term.match_expressions, _requirement),
        ("matchFields", term.match_fields, _check_field),
    ):
        for i, each in enumerate(terms or ()):
            try:
                check(each, f"{path}.{name}[{i}]")
            except InvalidSelectorError as error:
                problems += error.problems
    return problems


def selector_mask(selector: NodeSelector, nodes: NodeTable) -> Mask:
    """Return a mask of rows that any term of the selector matches."""
    masks = [term_mask(term, nodes) for term in selector.node_selector_terms or ()]
    return any_of([mask for mask in masks if mask is not None])


def matches_node(selector: NodeSelector, node: Node) -> bool:
    """Return whether any term of the selector matches one node (``LazyErrorNodeSelector.Match``).

    Raises:
        PluginError: if no term matches, and some terms are invalid.
    """
    table = NodeTable(1)
    table.add(node)
    if bool(selector_mask(selector, table)(_FIRST)[0]):
        return True
    problems = [problem for term in selector.node_selector_terms or () for problem in term_problems(term, "")]
    if problems:
        raise PluginError("; ".join(problems))
    return False


def requires_node(spec: PodSpec, node: Node) -> bool:
    """Return whether a node matches ``nodeSelector`` and required node affinity (``RequiredNodeAffinity.Match``).

    Raises:
        PluginError: if no term matches, and some terms are invalid.
    """
    if any(node.labels.get(key) != value for key, value in (spec.node_selector or {}).items()):
        return False
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    return required is None or matches_node(required, node)


_FIRST = slice(0, 1)


def required_mask(spec: PodSpec, nodes: NodeTable) -> Mask | None:
    """Return a mask for ``nodeSelector`` and required node affinity; ``None`` if the pod has neither."""
    masks: list[Mask] = [
        LabelMask(Requirement(key, "=", (value,)), nodes) for key, value in (spec.node_selector or {}).items()
    ]
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    if required is not None:
        masks.append(selector_mask(required, nodes))
    return all_of(masks) if masks else None


def _requirement(each: NodeSelectorRequirement, path: str = "") -> Requirement:
    operator = _OPERATORS.get(each.operator)
    if operator is None:
        raise InvalidSelectorError(_not_supported(f"{path}.operator", each.operator, _OPERATORS))
    return Requirement.checked(each.key, operator, each.values, path)


def _check_field(each: NodeSelectorRequirement, path: str = "") -> None:
    if each.operator not in _FIELD_OPERATORS:
        raise InvalidSelectorError(_not_supported(f"{path}.operator", each.operator, _FIELD_OPERATORS))
    if len(each.values or ()) != 1:
        raise InvalidSelectorError(invalid(f"{path}.values", each.values, "must have one element"))


def _not_supported(path: str, value: str | None, known: Iterable[str]) -> str:
    """Return the message for a value that is not one of the known values (``field.NotSupported``)."""
    return f"{path}: Unsupported value: {quoted(value or '')}: supported values: {', '.join(map(quoted, known))}"


def _field_mask(each: NodeSelectorRequirement, nodes: NodeTable) -> Mask:
    _check_field(each)
    value = (each.values or [""])[0]
    wanted = each.operator == "In"
    if each.key == "metadata.name":
        return lambda rows: (numbers(rows) == nodes.row_of.get(value, -1)) == wanted
    return lambda rows: np.full(length(rows), (value == "") == wanted)  # any field but metadata.name is ""
