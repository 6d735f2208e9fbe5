"""Puts all situations to kube-scheduler and its peers, makes what differs small and stores it, or checks the stored.

    python -m conformance.field                  # ask everybody, reduce, store
    python -m conformance.field --check          # whether all still answer as is stored
    python -m conformance.field --check kube-scheduler topospread    # whether these do

What is needed to build the peers stands in `peers.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from conformance.field import peers, stored
from conformance.field.findings import compared
from conformance.field.reduce import Reduction, reduce
from conformance.programs import ProgramError

Json = dict[str, Any]

MADE_SMALLER = 6
"""How many of the drawn differences of each kind."""


def asked() -> Json:
    """What everybody answers, and the smallest case of every difference."""
    situations = stored.situations()
    answers = peers.answers(situations, tuple(name for name in peers.ASKED if name != "topospread"))
    every = [
        Reduction(finding, situation, {peer: found[peer] for peer in ("kube-scheduler", finding.peer)})
        for situation, found in zip(situations, answers, strict=True)
        for finding in compared(found)
    ]
    chosen = _chosen(every)
    print(f"{len(every)} differences in {len(situations)} situations, {len(chosen)} made smaller", file=sys.stderr)
    names = [each.situation["name"] for each in chosen]
    reduce(chosen)
    by_name = {each["name"]: found for each, found in zip(situations, answers, strict=True)}
    smallest = [_small(name, each) for name, each in zip(names, chosen, strict=True)]
    return {"versions": peers.VERSIONS, "answers": by_name, "smallest": smallest}


def _chosen(every: list[Reduction]) -> list[Reduction]:
    """Those of each peer and kind that come of the situations made by hand, and the smallest drawn ones."""
    out: list[Reduction] = []
    drawn: dict[tuple[str, str], int] = {}
    for each in sorted(every, key=lambda found: len(json.dumps(found.situation))):
        key, is_drawn = each.finding[:2], each.situation["name"].startswith("drawn-")
        drawn[key] = drawn.get(key, 0) + is_drawn
        if not is_drawn or drawn[key] <= MADE_SMALLER:
            out.append(each)
    return out


def _small(of: str, found: Reduction) -> Json:
    peer, kind, about = found.finding
    situation = {key: value for key, value in found.situation.items() if key != "name"}
    out = {"of": of, "peer": peer, "kind": kind, "about": list(about)}
    return out | {"situation": situation, "answers": found.answers}


def changed(names: list[str]) -> list[str]:
    """The answers that are not as stored, a line each; ``topospread`` is held to kube-scheduler's."""
    known, situations = stored.read()["answers"], stored.situations()
    lines = [
        f"{name}: stored, and no situation any more" for name in known if name not in {s["name"] for s in situations}
    ]
    for name in names:
        column = "kube-scheduler" if name == "topospread" else name
        for situation, found in zip(situations, peers.ASKED[name](situations), strict=True):
            was = known.get(situation["name"], {}).get(column)
            if not as_stored(name, was, found):
                lines.append(f"{situation['name']}, {name}: {json.dumps(was)} stored, {json.dumps(found)} now")
    return lines


def changed_small(names: list[str]) -> list[str]:
    """The same of the smallest cases, each asked of who differs there and of kube-scheduler."""
    lines = []
    for each in stored.read()["smallest"]:
        kinds = ("again",) if each["peer"] == "descheduler" else ("now", "new")
        for name in names:
            was = each["answers"].get(name)
            if was is None:
                continue
            asked = [each["situation"]]
            (found,) = peers.kube_scheduler(asked, kinds) if name == "kube-scheduler" else peers.ASKED[name](asked)
            if not as_stored(name, was, found):
                lines.append(f"the smallest of {each['of']}, {name}: {json.dumps(was)} stored, {json.dumps(found)} now")
    return lines


def as_stored(name: str, was: Any, found: Any) -> bool:
    """Whether an answer is the stored one. Who is asked many times has all that came of it stored: chance may leave out
    some of it another time, and adds nothing.
    """
    if name in peers.TIMES and was and found:
        return set(found) <= set(was)
    return bool(was == found)


def main() -> int:
    """Ask, and store or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", nargs="*", metavar="PEER", choices=peers.ASKED)
    options = parser.parse_args()
    if options.check is None:
        stored.write(asked())
        return 0
    names = options.check or list(peers.ASKED)
    lines = [*changed(names), *changed_small(names)]
    print("\n".join(lines) or f"{len(stored.situations())} situations, and the smallest cases: as stored")
    return 1 if lines else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ProgramError as error:
        sys.exit(f"error: {error}")
