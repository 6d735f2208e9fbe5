"""A rolling update in a given order of events."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.drill.builders import node, nodes
from tests.unit.drill.test_placed_pods import fixed, played
from tests.unit.promise.test_rollout_orders import asked, rolling, web
from topospread.errors import InputError

STUCK = [*(node(f"{zone}1", zone, cpu="1") for zone in "abc"), web(3, strategy=rolling(1, 0))]


def test_a_way_of_a_rollout_plays_again_as_a_drill(tmp_path: Path) -> None:
    skewed = [*nodes("a", "b", "c"), web()]
    drill = asked(skewed, skew=2).drill
    assert played(tmp_path, skewed, drill) == [
        "Deployment shop/web has skew 3 on topology.kubernetes.io/zone, at most 2 expected"
    ]
    (short,) = played(tmp_path, STUCK, asked(STUCK, never_pending=True).drill)
    assert "1 pending at the end" in short


@pytest.mark.parametrize(
    ("turns", "why"),
    [
        ("{stands: web-nope=a1}", "stands web-nope a1 cannot be: shop/deploy/web has no such pod"),
        ("{placed: a1}", "placed a1 cannot be: kube-scheduler finds no node"),
        ("{ready: any}", "ready cannot be: no new pod has a node and is not ready yet"),
        ("{gone: a1}", "gone a1 cannot be: no deleted pod is left there"),
        ("{deleted: a1}", "deleted a1 cannot be: 0 old pods are removed together now, not 1"),
        ("{deleted: [a1]}", "expected a string"),
        ("{stands: a1}", "write POD=NODE"),
        ("{placed: a1=b}", "write a node"),
        ("{ready: web}", "write any: the turn is for any new pod"),
        ("{place: a1}", "unknown field 'place'; did you mean placed?"),
        ("{placed: a1, ready: any}", "a turn must have exactly one of the fields stands, placed, ready, deleted, gone"),
    ],
)
def test_a_turn_that_cannot_be_is_refused(tmp_path: Path, turns: str, why: str) -> None:
    drill = fixed(asked(STUCK, never_pending=True).drill)
    assert drill.count("turns:") == 1
    head, _, rest = drill.partition("turns:")
    broken = f"{head}turns: [{turns}]\n  expect:{rest.partition('  expect:')[2]}"
    with pytest.raises(InputError, match=re.escape(why)):
        played(tmp_path, STUCK, broken)
