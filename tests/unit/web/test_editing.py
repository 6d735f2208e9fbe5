"""What the editor is told of a text: findings, where the pods land, and bounds that no text gets past."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path

import pytest

from topospread.api.inventory import Inventory
from topospread.errors import UsageError
from topospread.simulation.options import SimulationOptions
from topospread.sources.load import load
from topospread.web.editing import MOST_PODS, MOST_TEXT, WrittenManifest, examples, judge_draft

ROOT = Path(__file__).parent.parent.parent.parent
SMALL = "zones=3,nodes=6"
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 4
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zon
          whenUnsatisfiable: DoNotSchedule
          labelSelector:
            matchLabels: {app: web}
      containers:
        - name: web
          image: web
"""


def nobody() -> Inventory:
    raise AssertionError("the cluster that is served was not asked for")


def judged(text: str | bytes, cluster: str = SMALL) -> WrittenManifest:
    data = text if isinstance(text, bytes) else text.encode()
    return judge_draft(data, cluster, nobody, SimulationOptions())


def test_findings_stand_at_their_lines() -> None:
    told = judged(WEB).to_dict()

    found = {each["rule"]: each["line"] for each in told["findings"]}
    assert 15 in found.values()
    assert told["simulation"]["workloads"][0]["pending"] == 4


def test_pods_land_where_they_would() -> None:
    told = judged(WEB.replace("io/zon", "io/zone")).to_dict()

    (spread,) = told["simulation"]["workloads"][0]["constraints"]
    assert told["problems"] == []
    assert sorted(spread["domains"].values()) == [1, 1, 2]


def test_the_served_cluster_stays_as_it_is() -> None:
    served = load([], cluster=SMALL)
    before = list(served.objects())

    for _ in range(2):
        told = judge_draft(WEB.encode(), "", lambda: served, SimulationOptions()).to_dict()
        assert told["simulation"]["nodes"] == 6
        assert [each["name"] for each in told["simulation"]["workloads"]] == ["web"]

    assert list(served.objects()) == before


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "42", "a: [", "kind: Pod\n", "{{ template }}", b"\xff\xfe", b"\x00"]
)
def test_what_is_half_written_is_no_error_of_ours(text: str | bytes) -> None:
    told = judged(text).to_dict()

    assert told["kind"] == "Draft"
    assert told["simulation"] is None or told["problems"] == []


@pytest.mark.parametrize("hostile", sorted(each.name for each in (ROOT / "tests" / "hostile").glob("*.yaml")))
def test_hostile_texts_are_answered_in_time(hostile: str) -> None:
    begin = time.process_time()

    judged((ROOT / "tests" / "hostile" / hostile).read_bytes()).to_dict()

    assert time.process_time() - begin < 10


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x,x,x,x,x,x,x,x]\n"
        + "".join(f"k{n}: &k{n} [{','.join([f'*k{n - 1}' if n else '*a'] * 9)}]\n" for n in range(9)),
        "[" * 100_000,
        "{a: " * 60_000,
        "- " * 60_000,
        "? " * 60_000,
        "a: &a\n  b: *a\n" * 9_000,
        "kind: Pod\napiVersion: v1\nmetadata: {name: " + "x" * 200_000 + "}\n",
        "---\n" * 60_000,
        "'" * 250_000,
        "!!binary " * 20_000,
        "&a " * 80_000,
        "a: |\n" + " " * 200_000,
        "1" * 250_000,
        "kind: " + "9" * 200_000,
    ],
    ids=lambda text: text[:12].strip(),
)
def test_bombs_are_refused_in_bounded_time(text: str) -> None:
    """Process time, so that a busy machine is no finding; a bomb that went off would take hours."""
    begin = time.process_time()

    told = judged(text).to_dict()

    assert told["simulation"] is None or told["simulation"]["workloads"] == []
    assert time.process_time() - begin < 20


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("replicas: 4", "replicas: 2000000000"),
        ("replicas: 4", f"replicas: {MOST_PODS + 1}"),
    ],
)
def test_more_pods_than_can_be_waited_for_are_refused(old: str, new: str) -> None:
    told = judged(WEB.replace(old, new)).to_dict()

    assert "pods, got" in told["problems"][0]["message"]
    assert told["simulation"] is None


def test_an_autoscaler_and_a_job_ask_for_pods_too() -> None:
    scaler = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {minReplicas: 100000, maxReplicas: 100000, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
"""
    job = """\
apiVersion: batch/v1
kind: Job
metadata: {name: job}
spec:
  parallelism: 100000
  completions: 100000
  template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}
"""
    for text in (f"{WEB}---\n{scaler}", job):
        assert "pods, got" in judged(text).to_dict()["problems"][0]["message"]


def test_a_text_without_end_is_refused() -> None:
    with pytest.raises(UsageError, match="the editor accepts at most"):
        judged(b"#" * (MOST_TEXT + 1))


@pytest.mark.parametrize(
    "cluster", ["/etc/passwd", "../../etc/passwd", "example:../demo", "example:", "nodes=100000", "zones", "-", "\0"]
)
def test_a_cluster_that_is_none_is_refused_and_no_path_is_opened(cluster: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        judged(WEB, cluster)


def test_a_path_of_a_cluster_that_is_there_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "nodes=1"
    path.write_text((ROOT / "examples" / "demo" / "cluster.yaml").read_text())

    with pytest.raises(UsageError):
        judged(WEB, str(path))


@pytest.mark.parametrize("name", sorted(examples()))
def test_every_example_can_be_started_from(name: str) -> None:
    told = judged(examples()[name].manifest, f"example:{name}").to_dict()

    assert told["problems"] == []
    assert told["simulation"]["workloads"]


def test_the_examples_are_those_of_the_documentation() -> None:
    path = ROOT / "docs" / "reference" / "write_page_examples.py"
    spec = importlib.util.spec_from_file_location("write_page_examples", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    assert module.WRITTEN.read_text() == module.written()
