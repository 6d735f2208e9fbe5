"""Random pods, right and wrong, for a differential test of validation, a JSON object a line; it judges nothing.

    python conformance/generate_invalid.py --seed 1 --count 500 > pods.jsonl

Most values are good and some break a rule of the API, in every field that the API server checks; a few pods do
not even decode. Equal arguments give equal pods.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from conformance.generators.draw import Json
from conformance.generators.refused.pods import pod
from conformance.generators.refused.words import Words


def pods(seed: int, count: int) -> Iterator[Json]:
    """``count`` pods; the i-th depends on the seed and i alone."""
    for i in range(count):
        yield pod(Words(f"{seed}/invalid/{i}"), i)


def main() -> int:
    """Print the pods that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True, help="where the random numbers start")
    parser.add_argument("--count", type=int, default=100, help="how many pods")
    options = parser.parse_args()
    for each in pods(options.seed, options.count):
        print(json.dumps(each, separators=(",", ":")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
