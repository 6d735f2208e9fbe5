"""`lint`: every rule over what stands in some paths, and each problem at its place."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

from topospread.api.inventory import Inventory
from topospread.config.gates import Gates, gates_for
from topospread.config.profile import Configuration
from topospread.config.versions import NEWEST
from topospread.errors import InputError, Place, UsageError
from topospread.sources.files import STANDARD_INPUT, shown_path
from topospread.sources.load import load, no_garbage_collection
from topospread.sources.positions import parse_path
from topospread.sources.rendering import Rendering
from topospread.sources.text import Text, printable

from .given import CustomManifest, Given, Subject
from .ignore_rules import UNKNOWN_IGNORE, UNUSED_IGNORE
from .ignores import Ignores, unused
from .object_rules import UNKNOWN_PLUGIN, VALIDATION
from .problem import Problem
from .reading import Progress, Question, Read, read, untold
from .rule import SEVERITIES, Finding, Rule, Severity
from .rules import BY_ID, RULES
from .settings import Settings
from .worlds import worlds_of

NOTHING: Final = "no object of Kubernetes stands here"


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding, and what it was found in.

    Attributes:
        finding: as it is reported.
        subject: the object; None for what is wrong with a comment.
        problem: as the rule has it.
    """

    finding: Finding
    subject: Subject | None
    problem: Problem


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of linting.

    Attributes:
        judged: the findings, in the order of the input.
        ignored: how many more there would be without ignores.
        read: what was read.
        given: what the rules have looked at.
        asked: the rules that were asked; those that need nodes only when there are some.
    """

    judged: Sequence[Judged]
    ignored: int
    read: Read
    given: Given
    asked: frozenset[str]

    @property
    def findings(self) -> list[Finding]:
        """The findings, in the order of the input."""
        return [each.finding for each in self.judged]

    def at_least(self, severity: Severity) -> Outcome:
        """The same with the findings that are at least so bad."""
        worst = SEVERITIES[: SEVERITIES.index(severity) + 1]
        return replace(self, judged=[each for each in self.judged if each.finding.severity in worst])

    @property
    def passed(self) -> bool:
        """Whether there is nothing worse than a hint."""
        return all(each.finding.severity == "hint" for each in self.judged)


def lint(  # noqa: PLR0913 - keyword arguments of the public API
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    cluster: str | None = None,
    config: str | None = None,
    kube_version: str = str(NEWEST),
    settings: Settings | None = None,
    stdin: BinaryIO | None = None,
    namespace: str = "default",
    rendering: Rendering | None = None,
) -> list[Finding]:
    """What is wrong, or probably not meant, in the manifests of files and folders.

    Args:
        paths: YAML or JSON files, folders, ``-`` for standard input.
        cluster: what the manifests are held against: a made-up cluster, or files that hold one.
        config: a file with kube-scheduler's configuration, which is linted as well.
        kube_version: the Kubernetes version that the manifests are for.
        settings: which rules are asked; by default all, whatever files say.
        stdin: what ``-`` stands for.
        namespace: where objects are taken to go that name no namespace.
        rendering: how folders that are charts and kustomizations become manifests.

    Returns:
        The findings, in the order of the input.

    Raises:
        InputError: a path cannot be read, is neither YAML nor JSON, or no object of Kubernetes stands there.
    """
    names = [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    outcome = run(
        Question(
            paths=names,
            cluster=cluster,
            config=config,
            kube_version=kube_version,
            namespace=namespace,
            settings=settings or Settings(),
            rendering=rendering or Rendering(),
        ),
        stdin,
    )
    for error in outcome.read.broken:
        raise error
    if not outcome.read.subjects:
        raise InputError(NOTHING, Place(", ".join(map(shown_path, names))))
    return outcome.findings


def run(
    question: Question,
    stdin: BinaryIO | None = None,
    instead: Mapping[str, Text] | None = None,
    cluster: Inventory | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Read what is given, and ask the rules; what is broken is noted in the outcome and does not end the reading.

    Args:
        question: what is to be linted.
        stdin: what ``-`` stands for.
        instead: path → the text to lint in place of what stands there.
        cluster: what the question's cluster holds, when it was read before.
        progress: told of the work that is done: files to read first, then rules to ask.

    Raises:
        InputError: there is no such path, or the cluster or the configuration cannot be used.
        UsageError: standard input is asked for twice, or there is none.
    """
    if [*question.paths, question.cluster, question.config].count(STANDARD_INPUT) > 1:
        raise UsageError("- is given twice, and standard input can be read once")
    gates = gates_for(question.kube_version)
    with no_garbage_collection():
        tell = progress or untold
        found = read(question, gates, stdin, instead, lambda done, total: tell(done, 2 * total))
        if question.cluster and cluster is None:
            cluster = load(
                (), cluster=question.cluster, stdin=stdin, namespace=question.namespace, rendering=question.how
            )
        configuration = found.add_configuration(question.config) if question.config else None
        return judge(
            found,
            _given(found, gates, cluster, configuration),
            question.settings,
            lambda done, total: tell(total + done, 2 * total),
        )


def _given(found: Read, gates: Gates, cluster: Inventory | None, configuration: Configuration | None) -> list[Given]:
    """What the rules look at, for each world; what is wrong with single objects is told in the first."""
    worlds = [
        Given(gates, manifests, cluster=cluster, configuration=configuration)
        for manifests in worlds_of(found.manifests)
    ]
    worlds[0] = replace(
        worlds[0],
        configurations=found.configurations,
        refused=found.refused,
        unknown_plugins=found.unknown_plugins,
        others=[each for each in found.subjects if type(each) in (Subject, CustomManifest)],
        unknown_fields=found.unknown_fields,
    )
    return worlds


def judge(
    found: Read, worlds: Sequence[Given], settings: Settings | None = None, progress: Progress = untold
) -> Outcome:
    """What the rules find, in the order of the input, without what is ignored."""
    settings = settings or Settings()
    nodes = any(given.nodes for given in worlds)
    asked = [rule for rule in RULES if settings.asks(rule.id) and (rule.needs not in ("nodes", "simulation") or nodes)]
    ids = frozenset(rule.id for rule in asked)
    # What stands in a ConfigMap has a text of its own; each is gone through once.
    every = [text for _, text in found.texts] + [each.spot.text for each in found.configurations]
    texts = {id(text): text for text in every}
    ignores = Ignores(list(texts.values()), found.subjects, found.layouts)
    ignored = 0
    judged: dict[object, Judged] = {}
    for number, rule in enumerate(asked):
        progress(number, len(asked))
        for subject, problem in (each for given in worlds for each in rule.check(given)):
            finding = _finding(rule, subject, problem, found)
            if ignores.take(rule.id, subject, finding.rendered or finding.place):
                ignored += 1
            else:
                # What two overlays have of one base, or two worlds of one file, is one finding.
                alike = finding.rendered is not None or len(worlds) > 1
                key = (rule.id, finding.message, finding.place) if alike else len(judged)
                judged.setdefault(key, Judged(finding, subject, problem))
    findings = [*judged.values(), *_of_ignores(ignores, ids, found)]
    return Outcome(_wanted(findings, found, settings), ignored, found, worlds[0], ids)


def _finding(rule: Rule, subject: Subject, problem: Problem, found: Read) -> Finding:
    place = found.layouts.place(subject.spot, subject.label, problem.field)
    if rule in (VALIDATION, UNKNOWN_PLUGIN):
        # The words begin with the field, so that the place need not name it.
        place = replace(place, field="")
    message, spot = printable(problem.message), subject.spot
    origins = spot.text.origins
    if origins is None:
        return Finding(rule.id, rule.severity, message, place, problem.fix)
    told = origins.place(spot.document or 1, (*spot.path, *parse_path(problem.field)), place)
    return Finding(rule.id, rule.severity, message, told, rendered=place)


def _of_ignores(ignores: Ignores, asked: frozenset[str], found: Read) -> Iterator[Judged]:
    """What is wrong with the ignores themselves."""
    rendered = {text.name: text.origins for _, text in found.texts if text.origins is not None}
    for ignore, known, words in unused(ignores, asked, frozenset(BY_ID)):
        rule = UNUSED_IGNORE if known else UNKNOWN_IGNORE
        place, origins = ignore.place, rendered.get(ignore.place.source)
        finding = Finding(rule.id, rule.severity, words, place)
        if origins is not None:
            told = origins.place(place.document or 1, parse_path(place.field), place)
            finding = replace(finding, place=told, rendered=place)
        yield Judged(finding, None, Problem("", words))


def _wanted(judged: Sequence[Judged], found: Read, settings: Settings) -> list[Judged]:
    """What the settings leave of the findings, in the order of the input and with their severities."""
    files = {text.name: at for at, (_, text) in reversed(list(enumerate(found.texts)))}
    position = {rule.id: at for at, rule in enumerate(RULES)}

    def order(each: Judged) -> tuple[int, int, int, int]:
        place = each.finding.rendered or each.finding.place
        return files[place.source], place.line or 0, place.column or 0, position[each.finding.rule]

    wanted = []
    for each in sorted(judged, key=order):
        rule = each.finding.rule
        if settings.asks(rule) and settings.wants(rule, each.finding.place.source):
            severity = settings.severity.get(rule, each.finding.severity)
            wanted.append(replace(each, finding=replace(each.finding, severity=severity)))
    return wanted
