"""Random command lines and files, all commands: exit code 0, 1, 2 or 4, no traceback, bounded, and no forged output.

``make fuzz`` runs the same for as long as one likes. A failure names its seed:
``python -m tests.fuzz --seed SEED --one`` runs it again.
"""

import random
import time

import pytest

from tests.fuzz.cases import COMMANDS, draw_case
from tests.fuzz.run import answer_to, problem_of

SECONDS = 8
MOST_EXAMPLES = 60


def test_random_cases_are_answered() -> None:
    seed = random.randrange(1 << 40)
    end = time.process_time() + SECONDS
    number = 0
    while time.process_time() < end:
        case = draw_case(seed + number)
        assert problem_of(case) == "", f"seed {case.seed}: {case.arguments!r}"
        number += 1
    assert number > 20


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_drawn_and_answered(command: str) -> None:
    case = draw_case(random.randrange(1 << 40), command)
    assert case.arguments[: len(command.split())] == command.split()
    assert problem_of(case) == "", f"seed {case.seed}: {case.arguments!r}"


def test_cases_reach_the_code_behind_the_first_checks() -> None:
    codes = [answer_to(draw_case(seed, "simulate")).code for seed in range(MOST_EXAMPLES)]
    assert sum(code in (0, 1) for code in codes) > MOST_EXAMPLES // 10


def test_a_case_follows_from_its_seed() -> None:
    assert draw_case(7) == draw_case(7)
