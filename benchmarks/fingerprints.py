"""Check that every placement of the benchmarks is what it was: node and score, as one hash for each piece of work.

python -m benchmarks.fingerprints           compares with benchmarks/fingerprints.json
python -m benchmarks.fingerprints --write   stores the hashes, after a change that is meant to move placements
"""

from __future__ import annotations

import argparse
import json
import sys
from hashlib import sha256
from pathlib import Path

from benchmarks.engine import Work, placements

_STORED = Path(__file__).with_suffix(".json")

WORK: dict[str, Work] = {
    **{kind: Work(kind) for kind in ("hard", "soft", "hard2", "default", "honor")},
    **{f"{kind}, 20,000 pods there": Work(kind, init=20_000) for kind in ("hard2", "default")},
    "anti": Work("anti", measure=3_000),
    "rack100": Work("rack100", nodes=10_000, measure=2_000),
    "rack1000": Work("rack1000", nodes=10_000, measure=2_000),
    "eight": Work("eight", measure=500),
    "one selector": Work("shared", nodes=500, init=500, measure=2_000, apps=100),
    "50 in turn": Work("hard2", apps=50),
    "50 at random, system defaults": Work("default", apps=50, order="random"),
    "1,000 after one another": Work("default", apps=1_000, measure=4_000, order="after"),
    "200 at random, 20,000 nodes": Work("hard2", nodes=20_000, init=0, measure=10_000, apps=200, order="random"),
    "10 after one another, filled up": Work("hard2", nodes=1_000, init=0, measure=40_000, apps=10, order="after"),
}


def fingerprint(work: Work) -> str:
    """Return a hash of the node and the score of every placement of some work."""
    digest = sha256()
    for placement in placements(work):
        digest.update(f"{placement.node} {placement.score}\n".encode())
    return digest.hexdigest()[:16]


def main() -> int:
    """Compare or store the hashes; return 1 if a hash differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="store the hashes instead of comparing them")
    options = parser.parse_args()
    stored = json.loads(_STORED.read_text()) if _STORED.exists() else {}
    found = {}
    for name, work in WORK.items():
        found[name] = fingerprint(work)
        print(f"{name:34} {found[name]} {'' if found[name] == stored.get(name) else 'DIFFERS'}", flush=True)
    if options.write:
        _STORED.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    return int(found != stored)


if __name__ == "__main__":
    sys.exit(main())
