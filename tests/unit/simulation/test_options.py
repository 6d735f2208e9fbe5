"""Sampling costs soft constraints over small zones their spread, and nothing while it is not asked for."""

from __future__ import annotations

from pathlib import Path

import topospread
from topospread.simulation.options import SimulationOptions
from topospread.simulation.simulate import simulate

MANIFEST = """
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: 24
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: {when}
        labelSelector: {{matchLabels: {{app: web}}}}
      containers: [{{name: c, image: c}}]
"""


def spread(folder: Path, sampling: str, when: str, nodes: str = "1490+1490+20") -> tuple[list[int], str]:
    """Pods of each zone, and the notes."""
    file = folder / "web.yaml"
    file.write_text(MANIFEST.format(when=when))
    inventory = topospread.load(str(file), cluster=f"zones=3,nodes={nodes}")
    result = simulate(inventory, options=SimulationOptions(sampling=sampling))  # type: ignore[arg-type]
    return [each.after for each in result.workloads[0].spread[0].domains], " ".join(result.notes)


def test_walks_that_do_not_come_past_a_small_zone_leave_it_behind(tmp_path: Path) -> None:
    counts, notes = spread(tmp_path, "kube", "ScheduleAnyway")
    assert (counts[2] < 8, sum(counts)) == (True, 24)
    assert "sampling: only the first 780 feasible nodes of 3000 are scored" in notes


def test_hard_constraints_are_kept_all_the_same(tmp_path: Path) -> None:
    assert spread(tmp_path, "kube", "DoNotSchedule")[0] == [8, 8, 8]


def test_all_nodes_are_scored_unless_asked(tmp_path: Path) -> None:
    counts, notes = spread(tmp_path, "all", "ScheduleAnyway")
    assert (counts, "sampling" in notes) == ([8, 8, 8], False)


def test_small_clusters_are_not_sampled(tmp_path: Path) -> None:
    assert "sampling: all of 99 are scored" in spread(tmp_path, "kube", "ScheduleAnyway", "33+33+33")[1]
