"""Fixes on the page: the cost of a fix is beside its result."""

from __future__ import annotations

import pytest

from topospread.answer import Remedy, Tried
from topospread.render.pages.pending import fix_facts


@pytest.mark.parametrize(
    ("replaces", "evicts", "words"),
    [
        (0, 0, "all 6 pods have a node"),
        (1, 0, "all 6 pods have a node; replaces 1 running pod"),
        (4, 0, "all 6 pods have a node; replaces 4 running pods"),
        (5, 1, "all 6 pods have a node; preemption evicts 1 pod; replaces 4 running pods"),
        (1, 1, "all 6 pods have a node; preemption evicts 1 pod"),
    ],
)
def test_a_fix_names_the_number_of_running_pods_that_it_replaces(replaces: int, evicts: int, words: str) -> None:
    tried = Tried(verdict="yes", places=6, of=6, replaces=replaces, evicts=evicts)
    fix = Remedy(code="maxSkew", says="maxSkew 2", tried=tried)
    (fact,) = fix_facts([fix])
    assert fact.says == f"maxSkew 2 (tried: {words})"
