"""Changes that keep a broken promise, the smallest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from tests.unit.drill.builders import ZONE, inventory, node, nodes, rolling, running, spread, workload
from tests.unit.promise.test_kept import THREE, Json, checked, verdicts, web
from topospread.answers.promise_check import promise_check
from topospread.api.promises import Want
from topospread.drill.patching import apply_patch
from topospread.promise.fresh import REVISION
from topospread.promise.kept import Kept, WorkloadPromises


def test_constraints_that_count_revisions_alone_are_tried_for_what_a_rollout_breaks() -> None:
    found = checked([*THREE, web(spread(), strategy=rolling(2, 1))], "zone-loss>=4 skew<=1 rollout>=6")
    remedy = found.remedies[0]
    assert (remedy.code, remedy.tried.verdict) == ("match-label-keys", "yes")
    assert remedy.patch[0]["path"] == "/spec/template/spec/topologySpreadConstraints/0/matchLabelKeys"
    patched = web(spread(matchLabelKeys=remedy.patch[0]["value"]), strategy=rolling(2, 1))
    assert verdicts([*THREE, patched], "zone-loss>=4 skew<=1") == {"zone-loss>=4": "yes", "skew<=1": "yes"}
    assert remedy.keeps == ("zone-loss>=4", "skew<=1")


@pytest.mark.parametrize(
    ("constraints", "strategy", "want", "says"),
    [
        ([spread(2)], rolling(2, 1), "zone-loss>=4", f"maxSkew 1 instead of 2, matchLabelKeys: [{REVISION}] on {ZONE}"),
        ([spread(5)], rolling(1, 0), "zone-loss>=3", f"maxSkew 2 instead of 5 on {ZONE}"),
        ([spread(1, whenUnsatisfiable="ScheduleAnyway")], rolling(1, 0), "zone-loss>=3",
         f"whenUnsatisfiable DoNotSchedule instead of ScheduleAnyway on {ZONE}"),
        ([], rolling(1, 0), "zone-loss>=3", f"a constraint on {ZONE}: maxSkew 2, whenUnsatisfiable DoNotSchedule"),
        ([spread()], rolling(1, 3), "rollout>=5", "maxUnavailable 1 instead of 3"),
        ([spread()], {"type": "Recreate"}, "rollout>=6", "maxUnavailable 0, maxSurge 1"),
    ],
)  # fmt: skip
def test_the_smallest_change_that_keeps_a_promise_is_tried(
    constraints: list[Json], strategy: Json, want: str, says: str
) -> None:
    found = checked([*THREE, web(*constraints, strategy=strategy)], f"{want} never-waits")
    (remedy,) = found.remedies
    assert (remedy.says, remedy.keeps) == (f"shop/web: {says}", (want,))
    changed = apply_patch(web(*constraints, strategy=strategy), remedy.patch)
    assert verdicts([*THREE, changed], f"{want} never-waits") == {want: "yes", "never-waits": "yes"}


def test_every_broken_promise_has_its_own_fix_smallest_change_first() -> None:
    found = checked([*THREE, web(strategy=rolling(1, 3))], "zone-loss>=3 rollout>=5")
    assert [each.keeps for each in found.remedies] == [("zone-loss>=3",), ("rollout>=5",)]
    text = found.text()
    assert "tried: zone-loss>=3 is kept" in text
    assert "tried: rollout>=5 is kept" in text


def test_it_says_for_how_many_workloads_fixes_were_tried() -> None:
    many = [workload("Deployment", f"web-{at:02}", 2, strategy=rolling(0, 1)) for at in range(11)]
    text = promise_check(inventory(*nodes("a", "b", "c"), *many), want="rollout>=2", seconds=0.0).text()
    assert "fixes were tried for the first 1 of 11 workloads with broken promises in 0 s (--seconds)" in " ".join(
        text.split()
    )


def test_the_fix_of_a_workload_is_tried_first_for_equal_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def counting(judge: WorkloadPromises, wants: Sequence[Want]) -> Iterator[Kept]:
        tried.append(judge.key[2])
        return kept(judge, wants)

    kept = WorkloadPromises.kept
    monkeypatch.setattr(WorkloadPromises, "kept", counting)
    names = [f"web-{at:02}" for at in range(12)]
    many = [workload("Deployment", name, 6) for name in names]
    found = checked([*(node(f"{each}1", each, cpu="99") for each in "abc"), *many], "zone-loss>=4")
    assert [each.object["name"] for each in found.remedies] == names
    assert all(tried.count(name) == 2 for name in names[1:])


def test_a_change_that_breaks_a_kept_promise_is_no_fix() -> None:
    """Every zone has room for two pods: a hard constraint over zones of one node each makes a pod wait."""
    objects = [node("a1", "a", cpu="6"), node("b1", "b", cpu="1"), web(strategy=rolling(1, 0))]
    assert checked(objects, "zone-loss>=3").remedies == ()


@pytest.mark.parametrize("placed", [False, True])
def test_one_replica_is_fixed_by_more_replicas_and_a_constraint(*, placed: bool) -> None:
    own = running(True) if placed else [web(replicas=1)]
    one = own[0]
    found = promise_check(inventory(*THREE, *own), ["deploy/web"], want="zone-loss>=1 zone-loss>=100%")
    (remedy,) = found.remedies
    assert (remedy.code, remedy.keeps, remedy.tried.of) == ("replicas", ("zone-loss>=1",), 2)
    assert remedy.says.startswith("shop/web: 2 replicas instead of 1, and a constraint on topology.kubernetes.io/zone")
    assert remedy.patch[0] == {"op": "add", "path": "/spec/replicas", "value": 2}
    assert promise_check(inventory(*THREE, apply_patch(one, remedy.patch)), want="zone-loss>=1").verdict == "yes"
