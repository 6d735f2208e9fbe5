"""How many random examples a test draws: few in CI, which draws other ones for each state of the project.

``LONG=10`` draws ten times as many; `make nightly` does.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import settings

Item = TypeVar("Item")
LONG = int(os.environ.get("LONG", "1"))
"""Factor of the random examples of every test."""
SEED = int(os.environ.get("SEED") or random.randrange(1 << 32))
"""Seed that CI takes from the state of the project."""


def drawn(examples: int, **more: Any) -> settings:
    """Return settings of a test that draws examples, ``LONG`` times as many, without a deadline."""
    return settings(max_examples=examples * LONG, deadline=None, **more)


def share(items: Sequence[Item], one_in: int) -> Sequence[Item]:
    """Return one in so many items, beginning where ``SEED`` says; all of them if ``LONG`` is set."""
    return items if LONG > 1 else items[SEED % one_in :: one_in]
