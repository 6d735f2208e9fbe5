"""The entry point of lint: run all rules on some paths, and locate each problem in its file."""

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
from topospread.sources.text import Origins, Text, printable
from topospread.text import listed

from .ignores import Ignores, unused
from .lint_input import CustomManifest, LintInput, LintSubject, Manifest
from .problem import MOST_ALIKE, Problem
from .reading import Progress, Question, Read, read, untold
from .rule import SEVERITIES, Finding, Rule, Severity
from .rules import BY_ID, RULES
from .rules.ignores import UNKNOWN_IGNORE, UNUSED_IGNORE
from .rules.manifests import UNKNOWN_PLUGIN, VALIDATION
from .settings import Settings

# Overlays of one base that create different objects with one name are alternatives, which are never all applied.

_Key = tuple[str, str | None, str]


def overlay_groups(manifests: Sequence[Manifest], notes: list[str]) -> list[list[Manifest]]:
    """Return groups of manifests that can be applied together. Add to `notes` the overlays that cannot.

    Overlays that render different objects with one name are in different groups. Overlays that share only equal objects
    can also be applied together: the first groups have all these overlays, and each equal object once. Without overlays
    there is one group.
    """
    made: dict[_Key, dict[int, Manifest]] = {}
    for each in manifests:
        if each.location.text.origins is not None and each.item.metadata.name:
            key = (each.kind, each.item.metadata.namespace, each.item.metadata.name)
            made.setdefault(key, {}).setdefault(id(each.location.text), each)
    shared = {key: list(units.values()) for key, units in made.items() if len(units) > 1}
    alternatives = _alternatives(manifests, shared)
    different = {key: found for key, found in shared.items() if any(each.item != found[0].item for each in found)}
    apart: dict[tuple[str, ...], list[str]] = {}
    for found in different.values():
        apart.setdefault(tuple(each.location.text.name for each in found), []).append(found[0].label)
    for names, labels in apart.items():
        notes.append(f"{', '.join(names)}: linted as alternatives, because they differ in {listed(labels, 1)}")
    if len(different) == len(shared):
        return alternatives
    repeated = {id(each) for key, found in shared.items() if key not in different for each in found[1:]}
    return _alternatives([each for each in manifests if id(each) not in repeated], different) + alternatives


def _alternatives(manifests: Sequence[Manifest], shared: Mapping[_Key, Sequence[Manifest]]) -> list[list[Manifest]]:
    """Return groups of manifests in which no two overlays share one of these objects."""
    units: dict[int, set[_Key]] = {}
    for key, found in shared.items():
        for each in found:
            units.setdefault(id(each.location.text), set()).add(key)
    taken: list[set[_Key]] = []
    group_of: dict[int, int] = {}
    for unit in dict.fromkeys(id(each.location.text) for each in manifests):
        keys = units.get(unit)
        if keys is None:
            continue
        group = next((at for at, others in enumerate(taken) if not others & keys), len(taken))
        if group == len(taken):
            taken.append(set())
        taken[group] |= keys
        group_of[unit] = group
    if not taken:
        return [list(manifests)]
    return [[each for each in manifests if group_of.get(id(each.location.text), at) == at] for at in range(len(taken))]


ClusterReading = Callable[[Read], Inventory]
"""Reads the cluster to compare with. It receives the manifests, so that it reads only the needed kinds."""


class Judged(msgspec.Struct, frozen=True):
    """A finding with its object.

    Attributes:
        finding: the finding for reports.
        subject: the object; None for a problem of a comment.
        problem: the rule's problem.
    """

    finding: Finding
    subject: LintSubject | None
    problem: Problem


@dataclass(frozen=True, slots=True)
class LintReport(Sequence[Finding]):
    """The result of linting: a sequence of findings, with their input.

    Attributes:
        judged: the findings with their objects, in input order.
        ignored: the suppressed findings.
        read: the files and objects that were read.
        given: the input of the rules.
        asked: the rules that ran. Rules that need nodes run only if there are nodes.
    """

    judged: Sequence[Judged]
    ignored: Sequence[Finding]
    read: Read
    given: LintInput
    asked: frozenset[str]

    @property
    def findings(self) -> list[Finding]:
        """The findings, in input order."""
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
        """Return the report with only findings of at least this severity."""
        worst = SEVERITIES[: SEVERITIES.index(severity) + 1]
        return replace(self, judged=[each for each in self.judged if each.finding.severity in worst])

    def limited(self) -> LintReport:
        """Return the report with at most `MOST_ALIKE` findings per rule and object. The last one counts the rest.

        Fixes of omitted findings are omitted, too.
        """
        counts = Counter((each.finding.rule, id(each.subject)) for each in self.judged)
        seen: Counter[tuple[str, int]] = Counter()
        kept = []
        for each in self.judged:
            key = each.finding.rule, id(each.subject)
            seen[key] += 1
            more = counts[key] - MOST_ALIKE
            if seen[key] == MOST_ALIKE and more > 0:
                text = f"{each.finding.message} (and {more} more findings of this rule in the object)"
                each = with_fields(each, finding=replace(each.finding, message=text))  # noqa: PLW2901
            if seen[key] <= MOST_ALIKE:
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
    """Find problems in manifests.

    Args:
        inputs: files and folders.
        cluster: the cluster to compare with: a synthetic cluster, files, or an inventory.
        config: kube-scheduler's configuration; a file is linted as well.
        kube_version: the target Kubernetes version.
        settings: selected rules; by default all. Settings files are not read (`topospread.find_settings`).
        stdin: input for the path ``-``; by default standard input.
        namespace: namespace of objects without ``metadata.namespace``; by default ``default``.
        rendering: settings for rendering charts and kustomizations.

    Returns:
        The findings in input order, and the files that were read.

    Raises:
        InputError: if a path cannot be read, is neither YAML nor JSON, or contains no Kubernetes object.
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
    """Read the input and run the rules. Broken files are noted in the report.

    Args:
        question: the lint options.
        stdin: input for the path ``-``.
        instead: path → text to lint instead of the file's content.
        cluster: the cluster to compare with, or a function that reads it.
        progress: receives the progress, first of reading files, then of running rules.

    Raises:
        InputError: if a path is missing, or the cluster or configuration is unusable.
        UsageError: if standard input is named twice or is closed.
    """
    if [*question.paths, question.cluster, question.config].count(STANDARD_INPUT) > 1:
        raise UsageError("- is given twice; standard input can be read only once")
    gates = gates_for(question.kube_version)
    in_files = [question.cluster] if question.cluster and os.path.exists(question.cluster) else []
    check_charts(question.how, lambda: has_chart([*question.paths, *in_files], question.how))
    with no_garbage_collection():
        tell = progress or untold
        if question.applied is None and (question.cluster is not None or cluster is not None):
            question = with_fields(question, applied=True)
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
    """Return the rules' input for each group of overlays. Problems of single objects are in the first."""
    of_all = LintInput(
        gates,
        cluster=cluster,
        configuration=configuration,
        pools=question.pools,
        spread_from=question.settings.spread_from,
        spread_over=question.settings.spread_over,
    )
    groups = [replace(of_all, manifests=manifests) for manifests in overlay_groups(found.manifests, found.notes)]
    groups[0] = replace(
        groups[0],
        configurations=found.configurations,
        refused=found.refused,
        unknown_plugins=found.unknown_plugins,
        others=[each for each in found.subjects if type(each) in (LintSubject, CustomManifest)],
        unknown_fields=found.unknown_fields,
    )
    return groups


def judge(
    found: Read, groups: Sequence[LintInput], settings: Settings | None = None, progress: Progress = untold
) -> LintReport:
    """Return the findings in input order, without suppressed ones."""
    settings = settings or Settings()
    nodes = any(given.nodes for given in groups)
    asked = [rule for rule in RULES if settings.asks(rule.id) and (rule.needs not in ("nodes", "simulation") or nodes)]
    ids = frozenset(rule.id for rule in asked)
    # A configuration in a ConfigMap has its own text. Read each text once.
    every = [text for _, text in found.texts] + [each.location.text for each in found.configurations]
    texts = {id(text): text for text in every}
    ignores = Ignores(list(texts.values()), found.subjects, found.layouts)
    origins = {text.name: text.origins for _, text in found.texts if text.origins is not None}
    ignored: dict[object, Finding] = {}
    judged: dict[object, Judged] = {}
    for number, rule in enumerate(asked):
        progress(number, len(asked))
        for subject, problem in (each for given in groups for each in rule.check(given)):
            finding = _finding(rule, subject, problem, found)
            # Two overlays share the findings of their base: report each once.
            alike = finding.rendered is not None or len(groups) > 1
            key = (rule.id, finding.message, finding.place) if alike else (len(judged), len(ignored))
            reason = ignores.take(rule.id, subject, finding.rendered or finding.place)
            if reason is not None:
                ignored.setdefault(key, replace(finding, reason=reason))
            elif _is_wanted(finding, settings, origins) and _namespace(subject) not in settings.exclude_namespaces:
                judged.setdefault(key, Judged(finding, subject, problem))
    of_ignores = [each for each in _of_ignores(ignores, ids, origins) if _is_wanted(each.finding, settings, origins)]
    every_judged = _in_order([*judged.values(), *of_ignores], found, settings)
    return LintReport(every_judged, [*ignored.values()], found, groups[0], ids)


def _namespace(subject: LintSubject) -> object:
    if isinstance(subject, Manifest):
        return subject.item.metadata.namespace
    metadata = subject.value.get("metadata")
    return metadata.get("namespace") if isinstance(metadata, dict) else None


def _is_wanted(finding: Finding, settings: Settings, origins: Mapping[str, Origins]) -> bool:
    """Return whether the settings select a finding. Call it before the findings of a shared base are merged."""
    if not (settings.asks(finding.rule) and settings.per_file_ignores):
        return settings.asks(finding.rule)
    made = origins[finding.rendered.source].holders(finding.place) if finding.rendered else (finding.place.source,)
    return settings.wants(finding.rule, *made)


def _finding(rule: Rule, subject: LintSubject, problem: Problem, found: Read) -> Finding:
    place = found.layouts.place(subject.location, subject.label, problem.field)
    if rule in (VALIDATION, UNKNOWN_PLUGIN):
        # The message starts with the field, so the place omits it.
        place = replace(place, field="")
    message, told = printable(problem.message), source_place(subject, problem.field, place)
    if told is None:
        return Finding(rule.id, rule.severity, message, place, problem.fix, suggestion=problem.suggestion)
    return Finding(rule.id, rule.severity, message, told, rendered=place)


def source_place(subject: LintSubject, field: str, place: Place) -> Place | None:
    """Return the place in the chart or kustomization of a rendered object; None if it was not rendered."""
    location, origins = subject.location, subject.location.text.origins
    if origins is None:
        return None
    return origins.place(location.document or 1, (*location.path, *parse_path(field)), place)


def _of_ignores(ignores: Ignores, asked: frozenset[str], rendered: Mapping[str, Origins]) -> Iterator[Judged]:
    """Yield the problems of the ignores."""
    for ignore, known, words in unused(ignores, asked, frozenset(BY_ID)):
        rule = UNUSED_IGNORE if known else UNKNOWN_IGNORE
        place, origins = ignore.place, rendered.get(ignore.place.source)
        finding = Finding(rule.id, rule.severity, words, place)
        if origins is not None:
            told = origins.place(place.document or 1, parse_path(place.field), place)
            finding = replace(finding, place=told, rendered=place)
        yield Judged(finding, None, Problem("", words))


def _in_order(judged: Sequence[Judged], found: Read, settings: Settings) -> list[Judged]:
    """Return the findings in input order, with the severities of the settings."""
    files = {text.name: at for at, (_, text) in reversed(list(enumerate(found.texts)))}
    position = {rule.id: at for at, rule in enumerate(RULES)}

    def order(each: Judged) -> tuple[int, int, int, int]:
        place = each.finding.rendered or each.finding.place
        return files[place.source], place.line or 0, place.column or 0, position[each.finding.rule]

    return [
        with_fields(
            each,
            finding=replace(each.finding, severity=settings.severity.get(each.finding.rule, each.finding.severity)),
        )
        for each in sorted(judged, key=order)
    ]
