"""The judge as a program: cases on stdin, verdicts on stdout, one JSON object a line, as the oracle has them.

    python conformance/judge.py < cases.jsonl > verdicts.jsonl
    python conformance/judge.py --validate < objects.jsonl > answers.jsonl
    python conformance/judge.py --whole < cases.jsonl > verdicts.jsonl

Input is a stream of JSON objects, pretty-printed or not. ``--validate`` answers objects as `validate` does;
``--whole`` plays cases with steps through the whole scheduler.
Objects are taken as the scheduler sees them: no defaulting, merging or validation of cases. What does not decode ends
the program with exit code 1, after the answers before it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from conformance.judging.cases import judge_case
from conformance.judging.objects import judge_object
from conformance.judging.queue_histories import judge_history
from conformance.judging.sequences import judge_sequence
from conformance.judging.whole import judge_whole
from topospread.api.quantity import NumberText, QuantityError
from topospread.api.validation.schema import WrongTypeError
from topospread.config.load import problems
from topospread.errors import TopospreadError


def objects(text: str) -> Iterator[Any]:
    """The JSON values of a stream, one after another; numbers keep their text, as quantities need it."""
    decoder = json.JSONDecoder(parse_float=NumberText)
    position = 0
    while True:
        while position < len(text) and text[position].isspace():
            position += 1
        if position == len(text):
            return
        found, position = decoder.raw_decode(text, position)
        yield found


def validated(data: Any) -> dict[str, Any]:
    """What the API server (Pod) or kube-scheduler (KubeSchedulerConfiguration) refuses in an object."""
    if not isinstance(data, dict) or data.get("kind") != "KubeSchedulerConfiguration":
        return judge_object(data)
    try:
        found = problems(_with_floats(data))
    except TopospreadError as error:
        return {"errors": [], "decode": str(error)}
    listed = {each.message: {"type": each.type, "field": each.field, "message": each.message} for each in found}
    return {"errors": [listed[message] for message in sorted(listed)]}


def judged(data: Any) -> dict[str, Any]:
    """The verdicts on a case, or the answers to the steps of a sequence.

    Raises:
        msgspec.ValidationError: no case, or objects that are not what they should be.
        QuantityError: an amount that is none.
    """
    case = msgspec.convert(data, dict[str, Any])
    if "sequence" in case:
        return judge_sequence(case)
    return judge_history(case) if "steps" in case else judge_case(case)


def _with_floats(data: Any) -> Any:
    """The same with plain numbers."""
    if isinstance(data, NumberText):
        return float(data)
    if isinstance(data, dict):
        return {key: _with_floats(value) for key, value in data.items()}
    return [_with_floats(each) for each in data] if isinstance(data, list) else data


def main() -> int:
    """Answer every object of standard input."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--validate", action="store_true", help="answer objects as the API server's validation does")
    parser.add_argument("--whole", action="store_true", help="play cases of objects and steps with the whole scheduler")
    given = parser.parse_args()
    judge = validated if given.validate else judge_whole if given.whole else judged
    try:
        for each in objects(sys.stdin.read()):
            print(json.dumps(judge(each), separators=(",", ":"), ensure_ascii=False), flush=True)
    except (json.JSONDecodeError, msgspec.ValidationError, QuantityError, WrongTypeError) as error:
        print(f"decode: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
