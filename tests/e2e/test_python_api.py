"""What `import topospread` gives: the same inputs everywhere, and results that are what the command writes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import topospread
from tests.command import forked
from topospread.answer import Answer
from topospread.drill.steps import read_scale
from topospread.session import Session

ROOT = Path(__file__).parent.parent.parent
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


def applied(inputs: list[Path]) -> list[object]:
    return [word for each in inputs for word in ("-f", each)]


def written(*words: object) -> str:
    return forked(*map(str, words), "-o", "json", cwd=ROOT).stdout


def same(found: Answer, *words: object) -> None:
    """The answer's JSON is what the command writes, byte for byte."""
    assert found.to_json() == written(*words)
    assert json.loads(found.to_json()) == found.to_dict()


@pytest.mark.parametrize("inputs", [DEMO, TIGHT], ids=["demo", "min-domains"])
def test_an_answer_is_what_the_command_writes(inputs: list[Path]) -> None:
    session, target = Session(inputs), "deploy/checkout" if inputs is DEMO else "deploy/web"
    same(session.simulate(), "simulate", *applied(inputs))
    same(session.why(target), "why", target, *applied(inputs))
    same(session.status(), "status", *applied(inputs))
    same(session.rebalance(seconds=0), "rebalance", *applied(inputs), "--seconds", "0")
    same(session.orders(number=3), "simulate", "--orders", "3", *applied(inputs))
    same(session.drill_each("zone"), "drill", "--each", "zone", *applied(inputs))
    same(session.drill(read_scale(f"{target}=2", "")), "drill", "--scale", f"{target}=2", *applied(inputs))


def test_a_simulation_of_a_namespace_is_what_the_command_writes() -> None:
    same(Session(DEMO).simulate(namespace="shop"), "simulate", *applied(DEMO), "-n", "shop")
    with pytest.raises(topospread.TopospreadError, match="no workload found in namespace"):
        Session(DEMO).simulate(namespace="nowhere")


def test_a_cluster_of_one_file_is_that_of_the_option() -> None:
    shop = ROOT / "docs/how-to/shop.json"
    same(Session(shop).status(), "status", "--on", shop)
    web = ROOT / "docs/how-to/describe/web.yaml"
    same(Session("zones=3,nodes=6").simulate(web), "simulate", "-f", web, "--on", "zones=3,nodes=6")


def test_capacity_is_what_the_command_writes() -> None:
    words = ("capacity", *applied(DEMO), "shop/deploy/checkout", "--each", "zone", "--exit-zero")
    for inputs in (DEMO, topospread.load(*DEMO)):
        same(Session(inputs).capacity("shop/deploy/checkout", each_zone=True), *words)


def test_promises_are_what_the_commands_write() -> None:
    web, cluster, want = ROOT / "docs/how-to/describe/web.yaml", "zones=3,nodes=6,cpu=4", "zone-loss>=4"
    promises = Session(topospread.load(web, cluster=cluster)).promises
    given = ("deploy/web", "-f", web, "--on", cluster)
    same(promises.show("deploy/web"), "promise", "show", *given)
    same(promises.check("deploy/web", want="node-loss>=2"), "promise", "check", *given, "--want", "node-loss>=2")
    same(promises.design("deploy/web", want=want), "promise", "design", *given, "--want", want)


def test_a_plan_is_what_the_command_writes(tmp_path: Path) -> None:
    config = tmp_path / "scheduler.yaml"
    config.write_text("{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}")
    session = Session(DEMO)
    other = session.but(config=str(config), kube_version="1.30")
    to = ("--to-config", config, "--to-kube-version", "1.30")
    same(session.plan(other), "plan", *applied(DEMO), *to)
    web = ROOT / "docs/how-to/describe/web.yaml"
    weaker = tmp_path / "web.yaml"
    weaker.write_text(web.read_text().replace("maxSkew: 1", "maxSkew: 5"))
    found = Session(topospread.load(web, cluster="zones=3,nodes=6,cpu=4")).plan(weaker)
    assert found.verdict == "no"
    assert "keeps-less" in [each.code for each in found.causes]


def test_a_log_is_replayed_as_by_the_command() -> None:
    folder = ROOT / "docs/how-to/replay"
    found = Session(folder / "before.json").why_history(folder / "audit.jsonl")
    same(found, "why", "--on", folder / "before.json", "--audit", folder / "audit.jsonl")


def test_traffic_is_what_the_command_writes_of_it() -> None:
    shop, cluster = ROOT / "docs/how-to/traffic/shop.yaml", "zones=3,nodes=6"
    given = ["--on", cluster, "--traffic", "--clients", "deploy/web", "--price", "0.02"]
    session = Session(cluster)
    found = session.after(manifests=[shop]).traffic(clients=["deploy/web"], price=0.02)
    assert found.to_dict() == json.loads(written("simulate", "-f", shop, *given))["traffic"]
    steps = json.loads(written("drill", "-f", shop, *given, "--scale", "deploy/api=5"))["steps"]
    after = session.after(read_scale("deploy/api=5", ""), manifests=[shop])
    assert after.traffic(clients=["deploy/web"], price=0.02).to_dict() == steps[-1]["traffic"]


def test_a_lint_report_is_what_the_command_writes() -> None:
    web, settings = "docs/reference/lint/web.yaml", topospread.find_settings(str(ROOT))
    result = Session("zones=3,nodes=6").lint(ROOT / web, settings=settings)
    assert result.findings
    same(result, "lint", ROOT / web, "--on", "zones=3,nodes=6")
    same(Session(ROOT / web).lint(settings=settings), "lint", ROOT / web)


def test_lint_holds_manifests_against_the_cluster(tmp_path: Path) -> None:
    nodes, pod = tmp_path / "nodes.yaml", tmp_path / "pod.yaml"
    nodes.write_text(NODES)
    pod.write_text(POD)
    assert Session(nodes).lint(pod).findings != Session(pod).lint().findings
    made = topospread.load(pod, cluster="zones=3,nodes=3")
    assert Session(made).lint().findings == Session("zones=3,nodes=3").lint(pod).findings


def test_what_was_not_read_from_files_cannot_be_linted() -> None:
    after = Session(DEMO).after()
    assert after.simulate().verdict == "yes"
    with pytest.raises(topospread.TopospreadError, match="name files"):
        after.lint()
    with pytest.raises(topospread.TopospreadError, match="can only be applied to a cluster in files"):
        after.simulate(DEMO[1])


def test_manifests_without_nodes_can_be_linted_alone(tmp_path: Path) -> None:
    pod = tmp_path / "pod.yaml"
    pod.write_text(POD)
    session = Session(pod)
    assert repr(session) == "<Session no nodes, v1.37>"
    assert session.lint().verdict in ("yes", "no")
    with pytest.raises(topospread.InputError, match="the input has no nodes"):
        session.simulate()


def test_a_configuration_is_given_as_a_file_or_as_what_was_read_of_it(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"
    profile = {"schedulerName": "other"}
    given = {
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [profile]
    }  # fmt: skip
    file.write_text(json.dumps(given))
    for config in (file, str(file), given, topospread.read_configuration(str(file))):
        session = Session(DEMO, config=config)
        assert session.simulate().unjudged[0].what == 'schedulerName "default-scheduler"'
        assert session.status().nodes > 0
        assert session.lint().findings == Session(DEMO, config=file).lint().findings


def test_what_was_asked_stands_in_the_answer(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text("{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}")
    gates = "MatchLabelKeysInPodTopologySpread=false,apiserver:MinDomainsInPodTopologySpread=true"
    session = Session(DEMO, kube_version="1.29", config=file, gates=gates)
    asked = session.simulate().on.to_dict()
    assert asked == {
        "source": ", ".join(map(str, DEMO)),
        "kubeVersion": "1.29",
        "gates": {
            "MatchLabelKeysInPodTopologySpread": False,
            "apiserver:MatchLabelKeysInPodTopologySpread": False,
            "apiserver:MinDomainsInPodTopologySpread": True,
        },
        "config": str(file),
        "nodes": 12,
        "pods": 0,
        "taken": "",
    }
    answers: list[Answer] = [session.drill(read_scale("deploy/checkout=2", "")), session.rebalance(seconds=0)]
    answers += [
        session.capacity("shop/deploy/checkout"),
        session.plan(session),
        session.status(),
        session.why("search"),
    ]
    for each in answers:
        assert each.on.to_dict() == asked


def test_all_that_is_exported_is_there_and_found_without_reading_modules() -> None:
    for name in topospread.__all__:
        assert getattr(topospread, name) is not None
    assert set(topospread.__all__) == {*topospread._MODULES, "load", "__version__"}


def test_importing_the_package_imports_none_of_it() -> None:
    code = "import sys, topospread; print([each for each in sys.modules if each.startswith('topospread.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert re.findall(r"'([^']*)'", done.stdout) == ["topospread.version"]
