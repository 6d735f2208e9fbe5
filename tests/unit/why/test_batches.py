"""A pod that got the next best node of the equal pods before it, in the answers of ``simulate`` and ``why``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List}}]
"""
NODE = """
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{disk: {disk}}}}}
status: {{allocatable: {{cpu: {cpu}, memory: 64Gi, pods: "1"}}}}
---"""
POD = """
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: default, labels: {{app: web}}}}
spec:
  affinity:
    nodeAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - {{weight: 100, preference: {{matchExpressions: [{{key: disk, operator: In, values: [best]}}]}}}}
      - {{weight: 20, preference: {{matchExpressions: [{{key: disk, operator: In, values: [good]}}]}}}}
  containers: [{{name: c, image: x, resources: {{requests: {{cpu: 1, memory: 16Gi}}}}}}]
---"""


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    nodes = [("a", "best", "4"), ("b", "good", "1100m"), ("c", "none", "40")]
    objects = [NODE.format(name=name, disk=disk, cpu=cpu) for name, disk, cpu in nodes]
    (tmp_path / "all.yaml").write_text("".join([*objects, *(POD.format(name=name) for name in ("p0", "p1"))]))
    (tmp_path / "config.yaml").write_text(CONFIG)
    return ["-f", str(tmp_path / "all.yaml"), "--config", str(tmp_path / "config.yaml")]


def said(*words: str) -> str:
    """Return the screen of a command in one line."""
    done = subprocess.run([sys.executable, "-m", "topospread", *words], capture_output=True, text=True, check=True)
    return " ".join(done.stdout.split())


def test_simulate_says_which_pods_were_not_scored(files: list[str]) -> None:
    assert "note: default/p1 on c: not scored again, taken from an earlier equal pod" in said("simulate", *files)
    assert "scored anew" not in said("simulate", *files, "--feature-gates", "OpportunisticBatching=false")


def test_why_says_that_another_node_scores_more_now(files: list[str]) -> None:
    why = said("why", "p1", *files)
    assert "yes: default/p1 goes to c" in why
    assert "b scores highest now: 600; c scores 455, and earlier equal pods left it as their next best node" in why
