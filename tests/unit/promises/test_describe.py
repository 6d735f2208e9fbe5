"""Sentences on what a workload is promised: each with the figures of the drills that bear it out."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.unit.drills.builders import ZONE, budget, inventory, nodes, rolling, spread, workload
from topospread.cli.main import topospread as command
from topospread.errors import UsageError
from topospread.promises import Description, Statement
from topospread.promises.describe import describe

Json = dict[str, Any]
ROOT = Path(__file__).parents[3]


def of(*objects: Json, **options: Any) -> Description:
    return describe(inventory(*objects), "deploy/web", **options)


def said(found: Description, about: str, key: str = "") -> list[Statement]:
    return [each for each in found.statements if each.about == about and key in ("", each.key)]


def web(*constraints: Json, replicas: int = 6, **more: Any) -> Json:
    return workload("Deployment", "web", replicas, {"topologySpreadConstraints": list(constraints)}, **more)


THREE = nodes("a", "a", "b", "b", "c", "c")


def test_a_zones_loss_leaves_what_the_drills_left() -> None:
    first, _ = said(of(*THREE, web(spread())), "loss", ZONE)
    assert (first.held, first.figures) == ("yes", {"left": 4, "of": 6})


def test_a_lost_zone_that_still_counts_keeps_pods_pending_and_one_that_is_left_out_does_not() -> None:
    _, counts = said(of(*THREE, web(spread())), "loss", ZONE)
    _, left_out = said(of(*THREE, web(spread(nodeTaintsPolicy="Honor"))), "loss", ZONE)
    assert (counts.held, counts.figures["pending"] > 0) == ("no", True)
    assert "didn't match pod topology spread constraints" in counts.text
    assert (left_out.held, left_out.figures) == ("yes", {"pending": 0})


def test_everything_in_one_zone_is_said_to_be_lost() -> None:
    first, _ = said(of(*nodes("a", "a"), web()), "loss", ZONE)
    assert (first.held, first.figures["left"]) == ("no", 0)
    assert first.text == "the loss of zone a takes all 6"


def test_a_rollout_ends_skewed_unless_revisions_are_counted_alone() -> None:
    strategy = rolling(1, 1)
    counted = said(of(*THREE, web(spread(matchLabelKeys=["pod-template-hash"]), strategy=strategy)), "rollout", ZONE)
    assert [(each.held, each.figures) for each in counted] == [("yes", {"skew": 0, "maxSkew": 1})]
    plain = said(of(*THREE, web(spread(), strategy=strategy)), "rollout", ZONE)
    assert [(each.held, each.figures["skew"] > 1) for each in plain] == [("no", True)]


def test_a_wish_is_no_promise() -> None:
    (now,) = said(of(*THREE, web(spread(whenUnsatisfiable="ScheduleAnyway"))), "now")
    assert (now.held, "wish" in now.text) == ("no", True)


def test_no_constraint_at_all_is_said() -> None:
    found = said(of(*THREE, web()), "now")
    assert [each.held for each in found if not each.key] == ["no"]
    assert [each for each in said(of(*THREE, web(spread())), "now") if not each.key] == []


def test_a_budget_that_lets_nothing_go_holds_a_drain_up() -> None:
    (drain,) = said(of(*THREE, web(spread()), budget(maxUnavailable=0)), "drain")
    assert (drain.held, drain.figures["notEvicted"] > 0) == ("no", True)
    (free,) = said(of(*THREE, web(spread())), "drain")
    assert free.held == "yes"


def test_of_many_nodes_the_sentence_says_which_were_drilled() -> None:
    found = of(*THREE, web(spread()), most=2)
    (drain,) = said(found, "drain")
    assert drain.text.startswith("any one of the 2 nodes with most of its pods")
    assert drain.checked.startswith("2 drills")


def test_what_was_not_decided_is_not_promised() -> None:
    told = said(of(*THREE, web(spread()), states=1), "orders")
    searched = {each.held for each in told if not each.checked.startswith("counting")}
    assert searched <= {"not decided", "no"}
    assert "not decided" in searched


def test_a_pod_that_fits_nowhere_is_said() -> None:
    found = of(*THREE, web(spread(minDomains=4), replicas=4))
    assert [each.figures["missing"] for each in said(found, "now") if "missing" in each.figures] == [1]
    (room,) = said(found, "room")
    assert room.held == "no"


def test_what_cannot_be_described_is_refused() -> None:
    with pytest.raises(UsageError, match="belong to their nodes"):
        describe(inventory(*THREE, workload("DaemonSet", "agent")), "ds/agent")
    with pytest.raises(UsageError, match="there is no Deployment none"):
        describe(inventory(*THREE, web()), "deploy/none")


def test_every_command_runs_and_repeats_the_figure() -> None:
    """None is a usage error; the drill of a loss leaves as many pending as the sentence says."""
    typed = ["-f", str(ROOT / "docs/how-to/describe/web.yaml"), "--on", "zones=3,nodes=6,cpu=4"]
    found = describe(typed[1], "deploy/web", cluster=typed[3], typed=typed)
    for line in dict.fromkeys(each.command for each in found.statements):
        done = CliRunner().invoke(command, [*shlex.split(line)[1:], "-o", "json"], standalone_mode=False)
        assert done.exception is None, line
    waits = next(each for each in found.statements if each.about == "loss" and "pending" in each.text)
    done = CliRunner().invoke(command, [*shlex.split(waits.command)[1:], "-o", "summary"], standalone_mode=False)
    assert done.return_value == 1
