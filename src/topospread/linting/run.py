"""`lint`: every rule over every object of some paths; what the API server would refuse is a finding as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, BinaryIO

import msgspec

from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject
from topospread.api.validation import validate_object
from topospread.api.validation.schema import STRUCT_OF_ANY, WrongTypeError, decoded
from topospread.errors import InvalidError
from topospread.sources.admit import is_stored
from topospread.sources.json_text import too_deep
from topospread.sources.spots import Spot, label_of
from topospread.sources.text import printable
from topospread.sources.versions import NoMatchError, resolve_kind, to_current

from . import constraint_rules, selector_rules
from .manifest import pod_source, read_values
from .rule import Finding, Problem

RULES = (*selector_rules.RULES, *constraint_rules.RULES)
"""Every rule, in the order in which findings of one place are reported."""

VALIDATION = "validation"
"""The rule id of what the API server would refuse."""

_ENCODER = msgspec.json.Encoder(enc_hook=str)


def lint(paths: Sequence[str], *, stdin: BinaryIO | None = None, namespace: str = "default") -> list[Finding]:
    """What is wrong, or probably not meant, in the manifests of files and folders.

    Args:
        paths: YAML or JSON files, folders, ``-`` for standard input.
        stdin: what ``-`` stands for.
        namespace: where objects are taken to go that name no namespace.

    Returns:
        The findings, in the order of the objects.

    Raises:
        InputError: a path cannot be read, or what stands there is no object of Kubernetes.
    """
    findings: list[Finding] = []
    for value, spot in read_values(paths, stdin):
        findings += _judge(value, spot, namespace)
    return findings


def _judge(value: dict[str, Any], spot: Spot, namespace: str) -> Iterator[Finding]:
    """The findings of one object; kinds that topospread does not read have none."""
    version, name = value.get("apiVersion"), value.get("kind")
    if not isinstance(version, str) or not isinstance(name, str):
        raise InvalidError(["expected an object with apiVersion and kind"], spot.place())
    try:
        kind = resolve_kind(version, name)
    except NoMatchError as error:
        label = label_of(value, name, namespace)
        yield Finding(VALIDATION, "error", printable(str(error)), spot.place(label, "apiVersion"))
        return
    if kind is None:
        return
    label = label_of(value, kind, namespace if KINDS[kind].namespaced else "")
    try:
        yield from _judge_kind(value, kind, spot, label)
    except RecursionError:
        raise too_deep(spot.rough(label)) from None


def _judge_kind(value: dict[str, Any], kind: str, spot: Spot, label: str) -> Iterator[Finding]:
    current = to_current(value, kind)
    try:
        known = decoded(current, STRUCT_OF_ANY[kind])
        if not is_stored(known):
            for error in validate_object(current):
                # The words begin with the field, so that the place need not name it.
                place = replace(spot.place(label, error.field), field="")
                yield Finding(VALIDATION, "error", printable(error.message), place)
        item = msgspec.json.decode(_ENCODER.encode(known), type=KINDS[kind].struct)
    except WrongTypeError as error:
        yield Finding(VALIDATION, "error", printable(error.words), spot.place(label, error.path))
        return
    except msgspec.ValidationError as error:
        yield Finding(VALIDATION, "error", printable(str(error)), spot.place(label))
        return
    for rule_id, severity, problem in _problems(item):
        yield Finding(rule_id, severity, printable(problem.message), spot.place(label, problem.field))


def _problems(item: KubeObject) -> Iterator[tuple[str, Any, Problem]]:
    """What the rules say; of what an owner's template makes, only the template is accused."""
    pods = pod_source(item)
    if pods is None or item.metadata.controller is not None:
        return
    for rule in RULES:
        for problem in rule.check(pods):
            yield rule.id, rule.severity, problem
