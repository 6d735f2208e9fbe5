"""The rule about annotations `topospread.dev/…` that no command reads: their key, place or value is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

from topospread.api.promises import PROMISE, read_declared
from topospread.api.workload import KEEP_SPREAD
from topospread.errors import UsageError
from topospread.extender.declared import ANNOTATIONS
from topospread.lint.examples import GOOD_CONSTRAINT, deployment
from topospread.lint.ignores import ANNOTATION as IGNORE
from topospread.lint.lint_input import CustomManifest, LintInput, LintSubject, Manifest
from topospread.lint.pod_source import PodSource
from topospread.lint.problem import MOST_ALIKE, Problem
from topospread.lint.rule import Example, Rule
from topospread.sources.admit import OWN_ANNOTATIONS
from topospread.sources.positions import format_path, parse_path
from topospread.sources.text import printable
from topospread.text import did_you_mean

_GROUP: Final = "topospread.dev/"
_QUORUM, _SCALE_IN, _FALLBACK = f"{_GROUP}quorum", f"{_GROUP}scale-in", f"{_GROUP}fallback"
_READ_ON: Final = {
    PROMISE: ("Deployment", "StatefulSet"),
    _QUORUM: ("Deployment", "StatefulSet"),
    _SCALE_IN: ("Deployment", "ReplicaSet"),
    **dict.fromkeys((*ANNOTATIONS, _FALLBACK), ("Pod",)),
}
"""Annotation → kinds of objects on which it is read; pod templates are pods."""
_WRITTEN: Final = {IGNORE, f"{_GROUP}rule", *OWN_ANNOTATIONS}
"""Annotations that are read on any object, or that topospread itself writes."""
_NAMES: Final = [each.removeprefix(_GROUP) for each in (*_READ_ON, IGNORE)]
_LONGEST: Final = 63
_LONGEST_ERROR: Final = 300


def _unread(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for each in (*given.manifests, *given.others):
        if isinstance(each, CustomManifest):
            kind, sources = "", each.templates
        elif not isinstance(each, Manifest):
            kind, sources = "", ()
        elif each.item.metadata.controller is not None:
            continue  # Controllers copy annotations to the objects that they create.
        else:
            kind, sources = each.kind, () if each.pods is None else (each.pods,)
        kinds = {"metadata": kind} | {pods.metadata_path: "Pod" for pods in sources}
        found = (problem for path, of in kinds.items() for problem in _problems(each.value, path, of, kind, sources))
        yield from ((each, problem) for problem in islice(found, MOST_ALIKE + 1))


def _problems(value: Any, path: str, kind: str, owner: str, sources: Sequence[PodSource]) -> Iterator[Problem]:
    """Yield the problems of the annotations in one metadata, which belongs to an object of `kind` ("" if unknown)."""
    for step in (*parse_path(path), "annotations"):
        is_there = isinstance(value, list) if isinstance(step, int) else isinstance(value, dict) and step in value
        value = value[step] if is_there else None
    for key, text in value.items() if isinstance(value, dict) else ():
        if not isinstance(text, str) or not str(key).startswith(_GROUP) or key in _WRITTEN:
            continue
        field = format_path([*parse_path(path), "annotations", key])
        if key not in _READ_ON:
            known = {each: f"{_GROUP}{each}" for each in _NAMES}
            others = f"known annotations: {', '.join(known.values())}"
            hint = did_you_mean(key[len(_GROUP) : _LONGEST].lower(), known, others)
            yield Problem(field, f"unknown annotation {printable(key)}{hint}")
        elif kind and kind not in _READ_ON[key]:
            if key in ANNOTATIONS and sources:
                continue  # extender-annotation-misplaced reports it.
            kinds = " or ".join(_READ_ON[key])
            there = f"metadata.annotations of a {kinds}"
            if owner in _READ_ON[key]:
                there = f"metadata.annotations of the {owner}"
            elif sources and _READ_ON[key] == ("Pod",):
                there = f"{sources[0].metadata_path}.annotations"
            yield Problem(field, f"topospread does not read {key} here: it belongs to {there}")
        elif why := _why_unreadable(key, text):
            yield Problem(field, f"no command can read it: {why}")


def _why_unreadable(key: str, text: str) -> str:
    """Return the error in the value of an annotation, or ""."""
    from topospread.controllers.fallback import fallback_seconds  # imports the engine

    try:
        if key in (PROMISE, _QUORUM):
            wants = read_declared(*((text, None) if key == PROMISE else (None, text)))
            return "" if wants else "it declares nothing"
        if key == _FALLBACK:
            fallback_seconds(text)
    except UsageError as error:
        return str(error)[:_LONGEST_ERROR]
    return f'the only value is "{KEEP_SPREAD}"' if key == _SCALE_IN and text != KEEP_SPREAD else ""


_WEB = deployment(GOOD_CONSTRAINT)
_NAME = "  name: web\n"

RULES = (
    Rule(
        id="own-annotation-unread",
        sentence="An annotation of topospread has a wrong key, place or value.",
        why="It declares nothing: commands skip a misspelt or misplaced annotation without an error.",
        link="https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/",
        severity="warning",
        check=_unread,
        wrong=Example(_WEB.replace(_NAME, f"{_NAME}  annotations:\n    {PROMISE}s: zone-loss>=1\n", 1)),
        right=Example(_WEB.replace(_NAME, f"{_NAME}  annotations:\n    {PROMISE}: zone-loss>=1\n", 1)),
    ),
)
