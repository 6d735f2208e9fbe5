"""What annotations for the extender say, and what is wrong with them."""

from __future__ import annotations

import pytest

from topospread.extender.declared import (
    COUNTED,
    HIERARCHY,
    MAX_PER_DOMAIN,
    SHARES,
    DomainCaps,
    DomainHierarchy,
    DomainShares,
    declared,
)


@pytest.mark.parametrize(
    ("annotation", "text", "rules"),
    [
        (MAX_PER_DOMAIN, "zone: 3", (DomainCaps("zone", {"*": 3}, False),)),
        (
            MAX_PER_DOMAIN,
            "prefer example.com/rack: a=0, *=2;\nkubernetes.io/hostname:1;",
            (
                DomainCaps("example.com/rack", {"a": 0, "*": 2}, True),
                DomainCaps("kubernetes.io/hostname", {"*": 1}, False),
            ),
        ),
        (SHARES, "zone: a=60, b=40", (DomainShares("zone", {"a": 60, "b": 40}, False),)),
        (HIERARCHY, "zone > rack=2", (DomainHierarchy((("zone", 1), ("rack", 2)), False),)),
    ],
)
def test_what_is_written_is_read(annotation: str, text: str, rules: tuple[object, ...]) -> None:
    asked, problems = declared({annotation: text})
    assert (asked.rules, problems) == (rules, [])


@pytest.mark.parametrize(
    ("annotation", "text", "said"),
    [
        (MAX_PER_DOMAIN, "", "it is empty"),
        (MAX_PER_DOMAIN, "zone", "is not written as KEY: N"),
        (MAX_PER_DOMAIN, "zone: many", "is no number of 0 or more"),
        (MAX_PER_DOMAIN, "zone: -1", "is no number of 0 or more"),
        (MAX_PER_DOMAIN, "zone: 1; zone: 2", "zone stands there twice"),
        (MAX_PER_DOMAIN, "zone: a=1, a=2", "a stands there twice"),
        (MAX_PER_DOMAIN, "a b: 1", "'a b' is no label key"),
        (MAX_PER_DOMAIN, "zone: a b=1", "'a b' is no domain"),
        (SHARES, "zone: a=60, b=30", "the shares are 90 % in all, not 100 %"),
        (SHARES, "zone: a=60, *=40", "* is not allowed"),
        (HIERARCHY, "zone", "is not written as KEY > KEY"),
        (HIERARCHY, "zone > zone", "different keys"),
        (HIERARCHY, "zone > rack=0", "is no number of 1 or more"),
        (MAX_PER_DOMAIN, f"zone: {'9' * 5_000}", "is no number of 0 or more"),
        (MAX_PER_DOMAIN, "; ".join(f"key-{number}: 1" for number in range(17)), "it has 17 rules; at most 16"),
        (SHARES, "; ".join(f"key-{number}: a=100" for number in range(17)), "it has 17 rules; at most 16"),
        (HIERARCHY, " > ".join(f"key-{number}" for number in range(17)), "it has 17 levels; at most 16"),
        (COUNTED, ",".join(f"key-{number}" for number in range(65)), "it has 65 values; at most 64"),
        (COUNTED, f"app in ({','.join(map(str, range(65)))})", "it has 65 values; at most 64"),
        (COUNTED, "app in", "is not a label selector"),
        (COUNTED, "app=web", "nothing is asked"),
    ],
)
def test_what_cannot_be_read_is_said(annotation: str, text: str, said: str) -> None:
    _, problems = declared({annotation: text})
    assert problems
    assert all(each.annotation == annotation for each in problems)
    assert said in problems[-1].message or said in problems[0].message


def test_nothing_is_asked_without_annotations() -> None:
    asked, problems = declared({})
    assert (asked.rules, asked.counted, problems) == ((), None, [])
