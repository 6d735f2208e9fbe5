"""Every counterexample of a promise is a drill that ends as the promise says, on clusters drawn at random."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.unit.drill.builders import budget, inventory, node, spread, workload
from topospread.answers.promise_check import CheckedPromise, promise_check
from topospread.drill.checking import check_drills
from topospread.drill.drill_file import find_drills
from topospread.simulation.options import SimulationOptions
from topospread.simulation.simulate import simulate
from topospread.sources.load import load
from topospread.sources.snapshot_facts import SnapshotFacts
from topospread.sources.snapshot_file import write_snapshot

Json = dict[str, Any]
WANTS = "zone-loss>=3 node-loss>=100% quorum drain>=100% rollout>=100% skew<=0 never-waits"


@st.composite
def shops(draw: st.DrawFn) -> list[Json]:
    """Two to five nodes, a Deployment or StatefulSet, another Deployment, and maybe a DaemonSet and a budget."""
    number = draw(st.integers(2, 5))
    made = [node(f"n{at}", draw(st.sampled_from("abc")), cpu=str(draw(st.integers(2, 4)))) for at in range(number)]
    policy = draw(st.sampled_from([{}, {"nodeTaintsPolicy": "Honor"}, {"matchLabelKeys": ["pod-template-hash"]}]))
    key = draw(st.sampled_from(["topology.kubernetes.io/zone", "kubernetes.io/hostname"]))
    hard = spread(draw(st.integers(1, 2)), topologyKey=key, **policy)
    spec: Json = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}
    if draw(st.booleans()):
        spec["topologySpreadConstraints"] = [hard]
    if draw(st.booleans()):
        spec["volumes"] = [{"name": "settings", "configMap": {"name": "settings"}}]
    kind = draw(st.sampled_from(["Deployment", "Deployment", "StatefulSet"]))
    web = workload(kind, "web", draw(st.integers(1, 5)), spec)
    if kind == "Deployment":
        numbers = {"maxSurge": draw(st.integers(0, 2)), "maxUnavailable": draw(st.integers(1, 2))}
        web["spec"]["strategy"] = {"type": "RollingUpdate", "rollingUpdate": numbers}
    small = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}
    others = [workload("Deployment", "other", draw(st.integers(1, 3)), small)]
    others += [workload("DaemonSet", "agent", spec=small)] if draw(st.booleans()) else []
    others += [budget("web", minAvailable=draw(st.integers(0, 2)))] if draw(st.booleans()) else []
    return [*made, web, *others]


def figure(text: str) -> str:
    """Return the number of pods that a counterexample leaves, or its skew; "" if it ends otherwise."""
    found = re.search(r"(?:has skew|leaves) (\d+)", text) or re.search(r"(\d+) of \d+ (?:has|have) a node", text)
    return found[1] if found else ""


def replayed(each: CheckedPromise, folder: Path) -> list[str]:
    """Return the unmet expectations of the drill of a counterexample."""
    (folder / "shown.yaml").write_text(each.drill)
    (found,) = check_drills(find_drills([str(folder / "shown.yaml")])).drills
    assert found.verdict == "no"
    return [shortfall.message for shortfall in found.shortfalls]


def check(objects: list[Json], *, placed: bool) -> Counter[str]:
    """Replay each counterexample of the promises of web. Return how many there are of each promise."""
    with TemporaryDirectory() as name:
        given, path = inventory(*objects), Path(name) / "all.json"
        if placed:
            after = simulate(given, SimulationOptions(preemption=False), keep_after=True).after
            assert after is not None
            write_snapshot(after, str(path), SnapshotFacts())
        else:
            path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        sources = {"manifests": ["all.json"]}
        found = promise_check(load([str(path)]), ["shop/web"], want=WANTS, sources=sources, states=300, seconds=2.0)
        replays = Counter[str]()
        for each in found.promises:
            if each.verdict == "no":
                assert each.drill, f"{each.want}: {each.when} {each.says}"
                said, end = replayed(each, Path(name)), figure(each.says)
                assert not end or any(re.search(rf"(?:had|has skew) {end}\b", one) for one in said), (each, said)
                replays[f"{each.want} {each.when}"] += 1
    return replays


@drawn(25)
@given(objects=shops(), placed=st.booleans())
def test_every_counterexample_ends_the_same_as_a_drill(objects: list[Json], *, placed: bool) -> None:
    check(objects, placed=placed)


def test_a_rollout_that_breaks_a_promise_is_played_and_passes_once_the_manifest_is_mended(tmp_path: Path) -> None:
    """The Deployment has pods already, and the search places them anew, wherever filters let them go."""
    nodes = [node(f"{zone}{at}", zone) for zone in "abc" for at in (1, 2)]
    spec = {"containers": [{"name": "c", "image": "i"}], "topologySpreadConstraints": [spread()]}
    after = simulate(inventory(*nodes, workload("Deployment", "web", 6, spec)), keep_after=True).after
    assert after is not None
    path = tmp_path / "all.json"
    write_snapshot(after, str(path), SnapshotFacts())
    (found,) = promise_check(load([str(path)]), want="skew<=1", sources={"manifests": ["all.json"]}).promises
    assert (found.verdict, found.when) == ("no", "after some rollout")
    (said,) = replayed(found, tmp_path)
    assert f"has skew {figure(found.says)} on" in said
    spec["topologySpreadConstraints"] = [spread(matchLabelKeys=["pod-template-hash"])]
    mended = inventory(*nodes, workload("Deployment", "web", 6, spec))
    write_snapshot(mended, str(path), SnapshotFacts())
    (drill,) = check_drills(find_drills([str(tmp_path / "shown.yaml")])).drills
    assert drill.verdict == "yes", drill.shortfalls
