"""The settings in a Drill file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.drill.test_drill_file import HEAD, written
from topospread.drill.checking import check_drills
from topospread.drill.drill_file import find_drills
from topospread.errors import InputError

from .builders import workload

SETTINGS = """metadata: {name: settings}
spec:
  cluster: zones=2,nodes=2,cpu=2
  manifests: [web.yaml]
  helm: {values: [values.yaml], set: [a=b], release: shop}
  withHooks: true
  strict: true
  featureGates: {MatchLabelKeysInPodTopologySpreadSelectorMerge: false}
  apiserverFeatureGates: {MatchLabelKeysInPodTopologySpreadSelectorMerge: true}
  pools: [pools.yaml]
  seed: 7
  runs: 2
  preemption: false
  steps: [{wait: 1s}]
  expect: {pending: 0}
"""


def test_a_file_says_all_that_the_command_line_does(tmp_path: Path) -> None:
    (found,) = find_drills([written(tmp_path, HEAD + SETTINGS)])
    how, given = found.settings, found.manifests
    assert (how.pools, how.seed, how.runs, how.preemption) == ((str(tmp_path / "pools.yaml"),), 7, 2, False)
    gate = "MatchLabelKeysInPodTopologySpreadSelectorMerge"
    assert how.apiserver_gates.enabled(gate)
    assert not how.gates.enabled(gate)
    rendering = given.rendering
    assert rendering.helm_values == (str(tmp_path / "values.yaml"),)
    assert (rendering.helm_set, rendering.helm_release, given.with_hooks, given.strict) == (
        ("a=b",),
        "shop",
        True,
        True,
    )


@pytest.mark.parametrize(
    ("change", "says", "line"),
    [
        (("preemption: false", "preemption: no one"), "expected true or false", 15),
        (("runs: 2", "runs: 0"), "from 1", 14),
        (("runs: 2", "runs: 101"), "from 1 to 100", 14),
        (("release: shop", "relase: shop"), "did you mean release?", 7),
        (("SelectorMerge: false", "SelectorMerges: false"), "unrecognized feature gate", 10),
        (("  withHooks: true", "  raw: true"), "raw and helm cannot be combined", 7),
    ],
)
def test_settings_that_mean_nothing_are_refused_with_their_line(
    tmp_path: Path, change: tuple[str, str], says: str, line: int
) -> None:
    assert change[0] in SETTINGS
    with pytest.raises(InputError) as caught:
        find_drills([written(tmp_path, HEAD + SETTINGS.replace(*change))])
    assert says in str(caught.value)
    assert caught.value.place.line == line


POOLS = """apiVersion: topospread.dev/v1alpha1
kind: Pools
pools:
  - {name: spare, zone: zone-a, shape: {cpu: 4, memory: 8Gi}, min: 0, max: 3}
"""


def test_pools_of_a_file_grow(tmp_path: Path) -> None:
    web = workload("Deployment", replicas=2)
    (tmp_path / "web.yaml").write_text(json.dumps(web))
    text = HEAD + "spec:\n  cluster: zones=1,nodes=1,cpu=2\n  manifests: [web.yaml]\n"
    text += "  steps: [{scale: shop/deploy/web=6}]\n  expect: {pending: 0}\n"
    drills = find_drills([written(tmp_path, text)])
    assert [each.path for each in check_drills(drills).drills[0].shortfalls] == ["spec.expect.pending"]
    (tmp_path / "pools.yaml").write_text(POOLS)
    drills = find_drills([written(tmp_path, text.replace("  steps", "  pools: [pools.yaml]\n  steps"))])
    assert check_drills(drills).passed
