"""`lint`: every rule over what stands in some paths, and each problem at its place."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO, overload

import msgspec
from msgspec.structs import replace as with_fields

from topospread.api.inventory import Inventory
from topospread.config.gates import Gates, gates_for
from topospread.config.profile import Configuration
from topospread.config.versions import NEWEST
from topospread.errors import Place, UsageError
from topospread.sources.files import STANDARD_INPUT, no_object
from topospread.sources.folders import check_charts, for_chart, has_chart
from topospread.sources.inputs import Path, paths_of
from topospread.sources.load import load, no_garbage_collection
from topospread.sources.positions import parse_path
from topospread.sources.rendering import Rendering
from topospread.sources.text import Text, printable

from .ignores import Ignores, unused
from .lint_input import CustomManifest, LintInput, LintSubject, Manifest
from .problem import MOST_ALIKE, Problem
from .reading import Progress, Question, Read, read, untold
from .rule import SEVERITIES, Finding, Rule, Severity
from .rules import BY_ID, RULES
from .rules.ignores import UNKNOWN_IGNORE, UNUSED_IGNORE
from .rules.manifests import UNKNOWN_PLUGIN, VALIDATION
from .settings import Settings

# Manifests that belong together: overlays of one base that make the same objects are never all applied.
# What one cluster could hold is judged as a whole; of alternatives each is judged beside everything else.

_Key = tuple[str, str | None, str]


def worlds_of(manifests: Sequence[Manifest]) -> list[list[Manifest]]:
    """The manifests of each world, in their order; one world where no two renderings make the same object."""
    units: dict[int, set[_Key]] = {}
    for each in manifests:
        if each.location.text.origins is not None and each.item.metadata.name:
            key = (each.kind, each.item.metadata.namespace, each.item.metadata.name)
            units.setdefault(id(each.location.text), set()).add(key)
    made = Counter(key for keys in units.values() for key in keys)
    taken: list[set[_Key]] = []
    world_of: dict[int, int] = {}
    for unit, keys in units.items():
        if all(made[key] == 1 for key in keys):
            continue
        world = next((at for at, others in enumerate(taken) if not others & keys), len(taken))
        if world == len(taken):
            taken.append(set())
        taken[world] |= keys
        world_of[unit] = world
    if not taken:
        return [list(manifests)]
    return [[each for each in manifests if world_of.get(id(each.location.text), at) == at] for at in range(len(taken))]


ClusterReading = Callable[[Read], Inventory]
"""Reads what manifests are held against; is told of them, so that nothing else is asked for than that needs."""


class Judged(msgspec.Struct, frozen=True):
    """A finding, and what it was found in.

    Attributes:
        finding: as it is reported.
        subject: the object; None for what is wrong with a comment.
        problem: as the rule has it.
    """

    finding: Finding
    subject: LintSubject | None
    problem: Problem


@dataclass(frozen=True, slots=True)
class LintReport(Sequence[Finding]):
    """The result of linting: the findings, and what they were found in.

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
    given: LintInput
    asked: frozenset[str]

    @property
    def findings(self) -> list[Finding]:
        """The findings, in the order of the input."""
        return [each.finding for each in self.judged]

    def __len__(self) -> int:
        return len(self.judged)

    @overload
    def __getitem__(self, index: int) -> Finding: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...

    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        return self.findings[index]

    def at_least(self, severity: Severity) -> LintReport:
        """The same with the findings that are at least so bad."""
        worst = SEVERITIES[: SEVERITIES.index(severity) + 1]
        return replace(self, judged=[each for each in self.judged if each.finding.severity in worst])

    def limited(self, most: int = MOST_ALIKE) -> LintReport:
        """Return the report with at most `most` findings of a rule for one object; the last one says how many follow.

        The fixes of the findings that are left out stay out, too.
        """
        counts = Counter((each.finding.rule, id(each.subject)) for each in self.judged)
        seen: Counter[tuple[str, int]] = Counter()
        kept = []
        for each in self.judged:
            key = each.finding.rule, id(each.subject)
            seen[key] += 1
            more = counts[key] - most
            if seen[key] == most and more > 0:
                text = f"{each.finding.message} (and {more} more findings of this rule in the object)"
                each = with_fields(each, finding=replace(each.finding, message=text))  # noqa: PLW2901
            if seen[key] <= most:
                kept.append(each)
        return replace(self, judged=kept)

    @property
    def passed(self) -> bool:
        """True if there is nothing worse than a hint."""
        return all(each.finding.severity == "hint" for each in self.judged)


def lint(  # noqa: PLR0913 - keyword arguments
    inputs: Path | Sequence[Path],
    *,
    cluster: str | Inventory | None = None,
    config: Configuration | str | os.PathLike[str] | None = None,
    kube_version: str = str(NEWEST),
    settings: Settings | None = None,
    stdin: BinaryIO | None = None,
    namespace: str | None = None,
    rendering: Rendering | None = None,
) -> LintReport:
    """Find what is wrong, or probably not meant, in manifests.

    Args:
        inputs: the paths to read.
        cluster: what the manifests are held against: a made-up cluster, files that hold one, or what was read.
        config: kube-scheduler's configuration; a file of one is linted as well.
        kube_version: the Kubernetes version that the manifests are for.
        settings: which rules are asked; by default all, whatever files say (`topospread.find_settings`).
        stdin: what ``-`` stands for; by default standard input.
        namespace: where objects are taken to go that name no namespace; by default to ``default``.
        rendering: how folders that are charts and kustomizations become manifests.

    Returns:
        The findings, in the order of the input, and what was read.

    Raises:
        InputError: a path cannot be read, is neither YAML nor JSON, or no object of Kubernetes stands there.
    """
    paths = tuple(paths_of(inputs))
    outcome = run(
        Question(
            paths=paths,
            cluster=cluster if isinstance(cluster, str) else None,
            config=os.fspath(config) if isinstance(config, str | os.PathLike) else config,
            kube_version=kube_version,
            namespace=namespace or "default",
            settings=settings or Settings(),
            rendering=rendering or Rendering(),
        ),
        stdin or (sys.stdin.buffer if sys.stdin is not None else None),
        cluster=cluster if isinstance(cluster, Inventory) else None,
    )
    for error in outcome.read.broken:
        raise error
    if not outcome.read.subjects:
        raise no_object(paths)
    return outcome


def run(
    question: Question,
    stdin: BinaryIO | None = None,
    instead: Mapping[str, Text] | None = None,
    cluster: Inventory | ClusterReading | None = None,
    progress: Progress | None = None,
) -> LintReport:
    """Read what is given, and ask the rules; what is broken is noted in the outcome and does not end the reading.

    Args:
        question: what is to be linted.
        stdin: what ``-`` stands for.
        instead: path → the text to lint in place of what stands there.
        cluster: what the question's cluster holds, when it was read before; or reads it.
        progress: told of the work that is done: files to read first, then rules to ask.

    Raises:
        InputError: there is no such path, or the cluster or the configuration cannot be used.
        UsageError: standard input is asked for twice, or there is none.
    """
    if [*question.paths, question.cluster, question.config].count(STANDARD_INPUT) > 1:
        raise UsageError("- is given twice, and standard input can be read once")
    gates = gates_for(question.kube_version)
    in_files = [question.cluster] if question.cluster and os.path.exists(question.cluster) else []
    check_charts(question.how, lambda: has_chart([*question.paths, *in_files], question.how))
    with no_garbage_collection():
        tell = progress or untold
        found = read(question, gates, stdin, instead, lambda done, total: tell(done, 2 * total))
        if callable(cluster):
            cluster = cluster(found)
        elif question.cluster and cluster is None:
            cluster = load(
                (),
                cluster=question.cluster,
                stdin=stdin,
                namespace=question.namespace,
                rendering=for_chart(in_files, question.how),
            )
        configuration = question.config
        if isinstance(configuration, str):
            configuration = found.add_configuration(configuration)
        return judge(
            found,
            _given(question, found, gates, cluster, configuration),
            question.settings,
            lambda done, total: tell(total + done, 2 * total),
        )


def _given(
    question: Question, found: Read, gates: Gates, cluster: Inventory | None, configuration: Configuration | None
) -> list[LintInput]:
    """Return the rules' input for each world; problems of single objects are reported in the first."""
    of_all = LintInput(
        gates,
        cluster=cluster,
        configuration=configuration,
        pools=question.pools,
        spread_from=question.settings.spread_from,
    )
    worlds = [replace(of_all, manifests=manifests) for manifests in worlds_of(found.manifests)]
    worlds[0] = replace(
        worlds[0],
        configurations=found.configurations,
        refused=found.refused,
        unknown_plugins=found.unknown_plugins,
        others=[each for each in found.subjects if type(each) in (LintSubject, CustomManifest)],
        unknown_fields=found.unknown_fields,
    )
    return worlds


def judge(
    found: Read, worlds: Sequence[LintInput], settings: Settings | None = None, progress: Progress = untold
) -> LintReport:
    """Return the findings in the order of the input, without what is ignored."""
    settings = settings or Settings()
    nodes = any(given.nodes for given in worlds)
    asked = [rule for rule in RULES if settings.asks(rule.id) and (rule.needs not in ("nodes", "simulation") or nodes)]
    ids = frozenset(rule.id for rule in asked)
    # A configuration in a ConfigMap has a text of its own. Each text is read once.
    every = [text for _, text in found.texts] + [each.location.text for each in found.configurations]
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
    return LintReport(_wanted(findings, found, settings), ignored, found, worlds[0], ids)


def _finding(rule: Rule, subject: LintSubject, problem: Problem, found: Read) -> Finding:
    place = found.layouts.place(subject.location, subject.label, problem.field)
    if rule in (VALIDATION, UNKNOWN_PLUGIN):
        # The words begin with the field, so that the place need not name it.
        place = replace(place, field="")
    message, told = printable(problem.message), source_place(subject, problem.field, place)
    if told is None:
        return Finding(rule.id, rule.severity, message, place, problem.fix)
    return Finding(rule.id, rule.severity, message, told, rendered=place)


def source_place(subject: LintSubject, field: str, place: Place) -> Place | None:
    """Return the place in a chart or kustomization of a rendered object's field; None if it was not rendered."""
    location, origins = subject.location, subject.location.text.origins
    if origins is None:
        return None
    return origins.place(location.document or 1, (*location.path, *parse_path(field)), place)


def _of_ignores(ignores: Ignores, asked: frozenset[str], found: Read) -> Iterator[Judged]:
    """Yield the problems of the ignores themselves."""
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
    """Return the findings that the settings leave, in the order of the input and with their severities."""
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
            wanted.append(with_fields(each, finding=replace(each.finding, severity=severity)))
    return wanted
