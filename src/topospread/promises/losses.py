"""Domains lost and returned, and nodes drained: drills of each, and the statement that all of them bear out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from topospread.drills.steps import Drain, Recover
from topospread.spread_status.result import Loss

from .described import DescribedWorkload
from .result import Held, Statement
from .workload_drills import HOSTNAME, ZONE, Trial

_WORDS = {ZONE: "zone", HOSTNAME: "node"}


def lost(subject: DescribedWorkload, key: str, most: int) -> Iterator[Statement]:
    """What the loss of any one domain of a key leaves and what comes after, and what its return mends."""
    domains, scope = _drilled(subject, key, most)
    played = [(each.domain, subject.trials.lose(key, each.domain)) for each in domains]
    if not played:
        return
    what = _WORDS.get(key, f"value of {key}")
    domain, worst = min(played, key=lambda each: each[1].fewest)
    named = _whichever(what, scope)
    text = f"with its pods where they are, the loss of {named} leaves at least {worst.fewest} of {worst.begun}"
    if not worst.fewest:
        text = f"the loss of {what} {domain} takes all {worst.begun}"
    checked = f"{len(played)} drills, one {what} lost in each; the worst is {domain}"
    held: Held = "yes" if worst.fewest else "no"
    yield Statement("loss", held, text, checked, _drill(subject, worst), key, {"left": worst.fewest, "of": worst.begun})
    domain, waits = max(played, key=lambda each: (each[1].pending, -each[1].ready))
    missing = max(waits.begun - waits.ready, 0)
    if waits.pending:
        text = f"after the loss of {what} {domain} {waits.pending} may stay pending: {waits.why}"
    elif missing:
        text = f"after the loss of {what} {domain} {missing} are not replaced: they wait for what is gone"
    else:
        text = f"after the loss of {named} all are ready again on other nodes"
    held = "no" if waits.pending or missing else "yes"
    yield Statement("loss", held, text, checked, _drill(subject, waits), key, {"pending": waits.pending})
    yield from _returned(subject, key, domain if waits.pending else played[0][0])


def drained(subject: DescribedWorkload, most: int) -> Iterator[Statement]:
    """What the drain of any one node does."""
    domains, scope = _drilled(subject, HOSTNAME, most)
    choices = [subject.trials.choice(HOSTNAME, each.domain) for each in domains]
    played = [subject.trials.play(Drain(each)) for each in choices]
    if not played:
        return
    worst = max(played, key=lambda each: (each.left, len(each.broken), each.pending, -each.fewest))
    named = _whichever("node", scope)
    if worst.left:
        text = f"a {worst.steps[0]} does not end: {worst.left} pods may not be evicted"
    elif worst.broken:
        text = f"a drain of one node may break {', '.join(worst.broken)}"
    elif worst.pending:
        text = f"after a drain of one node {worst.pending} may stay pending: {worst.why}"
    else:
        text = (
            f"{named} can be drained: at least {worst.fewest} of {worst.begun} stay ready, and all are again in the end"
        )
    held: Held = "no" if worst.left or worst.broken or worst.pending else "yes"
    figures = {"left": worst.fewest, "pending": worst.pending, "notEvicted": worst.left}
    checked = f"{len(played)} drills, one node drained in each"
    yield Statement("drain", held, text, checked, _drill(subject, worst), HOSTNAME, figures)


def _returned(subject: DescribedWorkload, key: str, domain: str) -> Iterator[Statement]:
    """How spread the pods are when a lost domain is back."""
    constraints = [each for each in subject.status.constraints if each.topology_key == key]
    if not constraints:
        return
    lost_one = subject.trials.lose(key, domain)
    back = subject.trials.play(*lost_one.steps, Recover(subject.trials.choice(key, domain)))
    skew = max((skew for (of, _), skew in back.skews.items() if of == key), default=0)
    most = min(each.max_skew for each in constraints)
    what = _WORDS.get(key, key)
    kept = skew <= most
    text = f"when {what} {domain} is back, the skew is {skew}"
    text += f", within maxSkew {most}" if kept else f", more than maxSkew {most}: pods that run are not moved"
    held: Held = "yes" if kept else "no"
    figures = {"skew": skew, "maxSkew": most}
    yield Statement("return", held, text, "a drill that loses it and gets it back", _drill(subject, back), key, figures)


def _drilled(subject: DescribedWorkload, key: str, most: int) -> tuple[Sequence[Loss], int]:
    """The domains that hold its pods, those that hold most first; and how many they are where those are not all."""
    held = [each for each in subject.status.losses if each.topology_key == key and each.lost]
    held.sort(key=lambda each: (-each.lost, each.domain))
    return held[:most], most if len(held) > most else 0


def _whichever(what: str, scope: int) -> str:
    return f"any one of the {scope} {what}s with most of its pods" if scope else f"any one {what}"


def _drill(subject: DescribedWorkload, trial: Trial) -> str:
    return subject.command("drill", *trial.words)
