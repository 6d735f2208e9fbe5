"""Random Nodes, budgets, PriorityClasses, Services and StorageClasses, right and wrong, a JSON object a line.

    python conformance/generate_others.py --seed 1 --count 500 > objects.jsonl

For a differential test of validation; it judges nothing. Equal arguments give equal objects.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from conformance.generators.refused.others import other
from conformance.generators.refused.words import Words


def main() -> int:
    """Print the objects that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True, help="where the random numbers start")
    parser.add_argument("--count", type=int, default=100, help="how many objects")
    options = parser.parse_args()
    for i in range(options.count):
        print(json.dumps(other(Words(f"{options.seed}/others/{i}"), i), separators=(",", ":")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
