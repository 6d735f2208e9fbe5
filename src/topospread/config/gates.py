"""The feature gates of kube-scheduler and the API server in a version, with overrides.

Error messages are those of component-base/featuregate (``feature_gate.go``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from topospread.config.gate_table import ALPHA, BETA, GATES, Component, Span, dependents, gate_row
from topospread.config.versions import NEWEST, KubeVersion
from topospread.errors import ConfigError, Place, UsageError

KEP_5980 = "preview:KEP-5980"
PREVIEWS: Mapping[str, str] = {
    KEP_5980: "a proposal that no release has: domains whose nodes are all tainted count for minDomains if they hold "
    "matching pods and the constraint says nodeTaintsPolicy: Honor"
}
"""Value of ``plan --to-kube-version`` for a proposed change of kube-scheduler → description of the change."""


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates of one program (kube-scheduler or the API server) of one version, with overrides.

    ``preview``: a proposed change that no release has; one of `PREVIEWS`.
    """

    kube_version: KubeVersion
    component: Component
    values: Mapping[str, bool] = field(hash=False)
    overridden: frozenset[str] = frozenset()
    preview: str = ""

    def enabled(self, name: str) -> bool:
        """Return whether a gate is on.

        A gate is off before its first version. A removed gate keeps its last state.

        Raises:
            KeyError: if the table has no such gate.
        """
        value = self.values.get(name)
        if value is not None:
            return value
        row = GATES[name]
        return self.kube_version > row.last and row.spans[-1].default


def gates_for(
    kube_version: str | KubeVersion = NEWEST,
    overrides: Mapping[str, bool] | None = None,
    component: Component = "scheduler",
    place: Place | None = None,
) -> Gates:
    """Return the gates of a version with overrides as in ``--feature-gates``.

    Raises:
        ConfigError: if a gate is unknown in the version, is locked to the other value, or is on while a gate that it
            needs is off.
    """
    version = KubeVersion.parse(kube_version)
    if not overrides:
        return _as_released(version, component)
    given = dict(overrides)
    spans = gates_known(version)
    problems = [problem for name, wanted in given.items() for problem in _refused(name, wanted, version)]
    values = {name: span.default for name, span in spans.items()}
    for group, stage in (("AllAlpha", ALPHA), ("AllBeta", BETA)):
        if group in given:
            values |= {name: given[group] for name, span in spans.items() if span.stage == stage}
    values |= {name: wanted for name, wanted in given.items() if name in values}
    problems += [] if problems else _unmet(values, given, version)
    if problems:
        raise ConfigError("; ".join(problems), place)
    return Gates(version, component, values, frozenset(given) & frozenset(values))


def with_preview(gates: Gates, preview: str) -> Gates:
    """Return the gates with a proposed change (`PREVIEWS`).

    Raises:
        UsageError: if topospread does not know the proposal.
    """
    if preview not in PREVIEWS:
        raise UsageError(f'--to-kube-version: unknown preview "{preview}"; previews: {", ".join(PREVIEWS)}')
    return replace(gates, preview=preview)


def read_gates(kube_version: str | KubeVersion, text: str, component: Component = "scheduler") -> Gates:
    """Return one program's gates in a version, overridden by a text such as ``A=true,apiserver:B=false``.

    Raises:
        ConfigError: if the text is not a list of gates, or the program would refuse a gate.
    """
    place = Place(source="--feature-gates")
    both, own = parted_gates(text, "", component)
    return gates_for(kube_version, parse_gates(both, place) | parse_gates(own, place), component, place)


def parted_gates(text: str, *programs: str) -> list[str]:
    """Split a text of gates by program; gates without a program belong to the program ``""``.

    With the programs ``""`` and ``scheduler``, ``A=true,scheduler:B=true`` becomes ``["A=true", "B=true"]``.

    Raises:
        UsageError: if a program is unknown.
    """
    named = [("", each) if ":" not in each else tuple(each.split(":", 1)) for each in text.split(",")]
    unknown = [each for each in named if each[0].strip() not in ("", "apiserver", "scheduler")]
    if unknown:
        raise UsageError(f"--feature-gates {':'.join(unknown[0])}: write A=true, apiserver:A=true or scheduler:A=true")
    return [",".join(gate for of, gate in named if of.strip() == program) for program in programs]


@cache
def _as_released(version: KubeVersion, component: Component) -> Gates:
    """Return the gates of a version without overrides. The result is cached because every object needs it."""
    return Gates(version, component, {name: span.default for name, span in gates_known(version).items()})


def gates_known(version: KubeVersion) -> dict[str, Span]:
    """Return every gate of the table that a version knows, with the span in force."""
    spans = {row.name: row.span_at(version) for row in GATES.values()}
    return {name: span for name, span in spans.items() if span is not None}


def _refused(name: str, wanted: bool, version: KubeVersion) -> Iterator[str]:
    if name in ("AllAlpha", "AllBeta"):
        return
    row = gate_row(name)
    span = row.span_at(version) if row else None
    if span is None:
        yield f"unrecognized feature gate: {name}"
    elif span.locked and span.default != wanted:
        words = str(wanted).lower(), str(span.default).lower()
        yield f"cannot set feature gate {name} to {words[0]}, feature is locked to {words[1]}"


def _unmet(values: Mapping[str, bool], given: Mapping[str, bool], version: KubeVersion) -> list[str]:
    """Return enabled gates that need a gate which is off. ``values``: defaults; ``given``: command line."""
    if version < _NEEDS_SINCE:
        return []
    needs = {name: GATES[name].needs for name, on in values.items() if on}
    for row in dependents():
        span = row.span_at(version)
        if span is not None and given.get(row.name, span.default):
            needs[row.name] = tuple(need for need in row.needs if need in GATES)
    off = {name: [need for need in needed if not values.get(need, False)] for name, needed in needs.items()}
    return [
        f"{name} is enabled, but depends on features that are disabled: [{' '.join(missing)}]"
        for name, missing in off.items()
        if missing
    ]


_NEEDS_SINCE = KubeVersion(1, 35)
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})


def parse_gates(text: str, place: Place | None = None) -> dict[str, bool]:
    """Parse ``A=true,B=false`` like ``--feature-gates``.

    Raises:
        ConfigError: no ``=``, or a value that is not a boolean.
    """
    gates: dict[str, bool] = {}
    for part in text.split(","):
        if not part:
            continue
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise ConfigError(f"missing bool value for {name}", place)
        if value not in _TRUE | _FALSE:
            raise ConfigError(
                f'invalid value of {name}={value}, err: strconv.ParseBool: parsing "{value}": invalid syntax', place
            )
        gates[name] = value in _TRUE
    return gates
