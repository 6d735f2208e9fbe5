"""What `import topospread` gives: the same inputs everywhere, and results that are what the command writes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import topospread
from topospread.answer import Answer
from topospread.drills.steps import read_scale
from topospread.plain_data import PlainData

ROOT = Path(__file__).parent.parent.parent
TOPOSPREAD = Path(sys.executable).parent / "topospread"
DEMO = [ROOT / "examples/demo/cluster.yaml", ROOT / "examples/demo/shop.yaml"]
TIGHT = [ROOT / "examples/min-domains/cluster.yaml", ROOT / "examples/min-domains/app.yaml"]

NODES = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status: {allocatable: {pods: "9", cpu: "4"}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers: [{name: c, image: web:1}]
  topologySpreadConstraints:
    - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
"""

FUNCTIONS: dict[str, Callable[..., PlainData | Answer]] = {
    "simulate": topospread.simulate,
    "status": topospread.status,
    "lint": topospread.lint,
    "why": lambda inputs: topospread.why(inputs, "deploy/checkout"),
}


def applied(inputs: list[Path]) -> list[object]:
    return [word for each in inputs for word in ("-f", each)]


def written(*words: object) -> str:
    return subprocess.run(
        [TOPOSPREAD, *map(str, words), "-o", "json"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout


@pytest.mark.parametrize("inputs", [DEMO, TIGHT], ids=["demo", "min-domains"])
def test_a_simulation_is_what_the_command_writes(inputs: list[Path]) -> None:
    result = topospread.simulate(inputs)
    assert result.to_json() == written("simulate", *applied(inputs))
    assert json.loads(result.to_json()) == result.to_dict()


def test_a_simulation_of_a_namespace_is_what_the_command_writes() -> None:
    assert topospread.simulate(DEMO).to_json("shop") == written("simulate", *applied(DEMO), "-n", "shop")
    with pytest.raises(topospread.TopospreadError, match="no workload in the namespace"):
        topospread.simulate(DEMO).to_dict("nowhere")


@pytest.mark.parametrize("inputs", [DEMO, TIGHT], ids=["demo", "min-domains"])
def test_an_explanation_is_what_the_command_writes(inputs: list[Path]) -> None:
    target = "deploy/checkout" if inputs is DEMO else "deploy/web"
    result = topospread.why(inputs, target)
    assert result.to_json() == written("why", target, *applied(inputs))
    assert json.loads(result.to_json()) == result.to_dict()


def test_a_status_is_what_the_command_writes() -> None:
    shop = ROOT / "docs/how-to/shop.json"
    result = topospread.status(shop)
    assert result.to_json() == written("status", "-f", shop)
    assert json.loads(result.to_json()) == result.to_dict()


def test_capacity_is_what_the_command_writes() -> None:
    for inputs in (DEMO, topospread.load(*DEMO)):
        found = topospread.capacity(inputs, "shop/deploy/checkout", each_zone=True)
        assert found.to_json() == written(
            "capacity", *applied(DEMO), "shop/deploy/checkout", "--each", "zone", "--exit-zero"
        )
        assert json.loads(found.to_json()) == found.to_dict()


def test_traffic_is_what_the_command_writes_of_it() -> None:
    shop, cluster = ROOT / "docs/how-to/traffic/shop.yaml", "zones=3,nodes=6"
    given = ["--on", cluster, "--traffic", "--clients", "deploy/web", "--price", "0.02"]
    simulation = topospread.simulate(shop, cluster=cluster, keep_after=True)
    found = topospread.traffic(simulation.after, clients=["deploy/web"], price=0.02)
    assert found.to_dict() == json.loads(written("simulate", "-f", shop, *given))["traffic"]
    played = topospread.drill(shop, [read_scale("deploy/api=5", "")], cluster=cluster, keep_after=True)
    steps = json.loads(written("drill", "-f", shop, *given, "--scale", "deploy/api=5"))["steps"]
    for step, told in zip(played.steps, steps, strict=True):
        after = topospread.traffic(step.after, clients=["deploy/web"], price=0.02)
        assert json.loads(after.to_json()) == after.to_dict() == told["traffic"]


def test_a_lint_report_is_what_the_command_writes() -> None:
    web = "docs/reference/lint/web.yaml"
    result = topospread.lint(web, cluster="zones=3,nodes=6", settings=topospread.find_settings(str(ROOT)))
    assert result.findings
    assert result.to_json() == written("lint", web, "--on", "zones=3,nodes=6")
    assert json.loads(result.to_json()) == result.to_dict()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_paths_and_what_was_read_of_them_are_the_same_input(name: str) -> None:
    function = FUNCTIONS[name]
    answer = function(DEMO).to_dict()
    assert function(topospread.load(*DEMO)).to_dict() == answer
    assert function([str(each) for each in DEMO]).to_dict() == answer


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_path_needs_no_list(name: str) -> None:
    shop = ROOT / "docs/how-to/shop.json"
    functions = FUNCTIONS | {"why": lambda inputs: topospread.why(inputs, "shop/cache-0")}
    assert functions[name](shop).to_dict() == functions[name]([shop]).to_dict()


def test_a_cluster_is_made_up_beside_paths(tmp_path: Path) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text(POD.replace("zone", "topology.kubernetes.io/zone"))
    made = "zones=3,nodes=3"
    given: dict[str, Any] = {"cluster": made}
    assert topospread.simulate(file, **given).all_placed
    assert topospread.why(file, "web", **given).verdict == "yes"
    assert topospread.status(file, **given).nodes == 3
    assert topospread.lint(file, **given).to_dict() == topospread.lint(topospread.load(file, cluster=made)).to_dict()
    with pytest.raises(topospread.TopospreadError, match="has its nodes"):
        topospread.simulate(topospread.load(file, **given), **given)


def test_lint_holds_manifests_against_what_was_read(tmp_path: Path) -> None:
    nodes, pod = tmp_path / "nodes.yaml", tmp_path / "pod.yaml"
    nodes.write_text(NODES)
    pod.write_text(POD)
    found = topospread.lint(pod, cluster=topospread.load(nodes))
    assert found.to_dict() == topospread.lint(pod, cluster=str(nodes)).to_dict()
    assert found.to_dict() != topospread.lint(pod).to_dict()


def test_what_was_not_read_from_files_cannot_be_linted() -> None:
    after = topospread.simulate(DEMO, keep_after=True).after
    assert after is not None
    with pytest.raises(topospread.TopospreadError, match="not read from files"):
        topospread.lint(after)


def test_a_configuration_is_given_as_a_file_or_as_what_was_read_of_it(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text(
        "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration,"
        " profiles: [{schedulerName: other}]}"
    )
    for config in (file, str(file), topospread.read_configuration(str(file))):
        assert topospread.simulate(DEMO, config=config).foreign["default-scheduler"] > 0
        assert topospread.status(DEMO, config=config).nodes > 0
        assert topospread.lint(DEMO, config=config).findings == topospread.lint(DEMO, config=file).findings


def test_all_that_is_exported_is_there_and_found_without_reading_modules() -> None:
    for name in topospread.__all__:
        assert getattr(topospread, name) is not None
    assert set(topospread.__all__) == {*topospread._MODULES, "load", "__version__"}


def test_importing_the_package_imports_none_of_it() -> None:
    code = "import sys, topospread; print([each for each in sys.modules if each.startswith('topospread.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert re.findall(r"'([^']*)'", done.stdout) == ["topospread.version"]
