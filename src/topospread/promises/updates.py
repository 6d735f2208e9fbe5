"""A rollout and fewer replicas: drills of each, and what they say of the skew in the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from topospread.drills.steps import Rollout, Scale

from .described import DescribedWorkload
from .result import About, Held, Statement
from .workload_drills import Trial

_RUNS = 8


@dataclass(frozen=True, slots=True)
class _Update:
    """Drills of a change, and how sentences on it begin."""

    trial: Trial
    what: str
    checked: str
    command: str
    about: About


def rolled_out(subject: DescribedWorkload) -> Iterator[Statement]:
    """How a rollout goes, and how spread the pods are after it."""
    found = subject.trials.play(Rollout(subject.target), runs=_RUNS)
    command = subject.command("drill", *found.words, "--runs", str(_RUNS))
    checked = f"{_RUNS} drills of a rollout, alike but for what is drawn"
    gone = found.stuck or found.pending or found.ready < found.begun
    text = f"during a rollout at least {found.fewest} of {found.begun} are ready"
    if gone:
        why = f": {found.why}" if found.why else ""
        text = f"a rollout may not end{why}"
    held: Held = "no" if gone else "yes"
    yield Statement("rollout", held, text, checked, command, figures={"ready": found.fewest, "of": found.begun})
    yield from _skews(subject, _Update(found, "a rollout", checked, command, "rollout"))


def scaled_down(subject: DescribedWorkload) -> Iterator[Statement]:
    """How spread the pods are when half of the replicas are taken away."""
    half = (subject.status.replicas + 1) // 2
    found = subject.trials.play(Scale(subject.target, half), runs=_RUNS)
    command = subject.command("drill", *found.words, "--runs", str(_RUNS))
    checked = f"{_RUNS} drills of it, alike but for what is drawn"
    yield from _skews(subject, _Update(found, f"scaling down to {half}", checked, command, "scale"))


def _skews(subject: DescribedWorkload, update: _Update) -> Iterator[Statement]:
    for each in subject.status.constraints:
        skew = update.trial.skews.get((each.topology_key, each.hard))
        if skew is None:
            continue
        kept = skew <= each.max_skew
        verb = "ends with skew at most" if kept else "may end with skew"
        text = f"{update.what} {verb} {skew} over {each.topology_key}"
        text += "" if kept else f", more than maxSkew {each.max_skew}"
        text += "" if each.hard else "; the constraint is a wish"
        held: Held = "yes" if kept and each.hard else "no"
        figures = {"skew": skew, "maxSkew": each.max_skew}
        yield Statement(update.about, held, text, update.checked, update.command, each.topology_key, figures)
