"""The judge as a program: cases on stdin, verdicts on stdout, one JSON object a line, as the oracle has them.

    python conformance/judge.py < cases.jsonl > verdicts.jsonl
    python conformance/judge.py --validate < objects.jsonl > answers.jsonl

Input is a stream of JSON objects, pretty-printed or not. ``--validate`` answers objects as `validate` does.
Objects are taken as the scheduler sees them: no defaulting, merging or validation of cases.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any


def objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of a stream, one after another."""
    decoder = json.JSONDecoder()
    position = 0
    while True:
        while position < len(text) and text[position].isspace():
            position += 1
        if position == len(text):
            return
        found, position = decoder.raw_decode(text, position)
        yield found


def judge_for(validate: bool) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """What answers one object."""
    if validate:
        from topospread.api.validation import judge_object

        return judge_object
    from topospread.judge import judge_case

    return judge_case


def main() -> int:
    """Answer every object of standard input."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--validate", action="store_true", help="answer objects as the API server's validation does")
    judge = judge_for(parser.parse_args().validate)
    for each in objects(sys.stdin.read()):
        print(json.dumps(judge(each), separators=(",", ":"), ensure_ascii=False), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
