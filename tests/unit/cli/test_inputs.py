"""The feature gates of the command line: for both programs or for one, and what becomes of the objects by them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from topospread.cli.inputs import read_options
from topospread.cli.plan import plan
from topospread.cli.simulate import simulate
from topospread.cli.status import status
from topospread.cli.why import why as explain
from topospread.errors import ConfigError, InputError

GATE = "MinDomainsInPodTopologySpread"
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  tolerations: [{key: sla, operator: %s, value: "5"}]
  topologySpreadConstraints:
  - maxSkew: 1
    minDomains: 3
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {matchLabels: {app: web}}
  containers: [{name: c, image: i}]
"""
BOUND = """\
apiVersion: v1
kind: Pod
metadata: {name: %s, labels: {app: web}}
spec: {nodeName: node-%s, containers: [{name: c, image: i}]}
---
"""


def given(gates: str = "", version: str = "1.27") -> dict[str, str | None]:
    return {"kube_version": version, "feature_gates": gates, "config_path": None}


class TestRead:
    @pytest.mark.parametrize(
        ("flags", "apiserver", "scheduler"),
        [
            ({}, True, True),
            ({"gates": f"{GATE}=false"}, False, False),
            ({"gates": f"apiserver:{GATE}=false"}, False, True),
            ({"gates": f"scheduler:{GATE}=false"}, True, False),
            ({"gates": f"scheduler:{GATE}=true,{GATE}=false"}, False, True),
        ],
    )
    def test_each_program_has_its_own(self, flags: dict[str, str], apiserver: bool, scheduler: bool) -> None:
        by = read_options(given(**flags))
        assert by.gates is not None
        assert by.apiserver_gates is not None
        assert (by.apiserver_gates.enabled(GATE), by.gates.enabled(GATE)) == (apiserver, scheduler)

    @pytest.mark.parametrize(
        ("flags", "said"),
        [
            ({"gates": "Nope=true"}, "--feature-gates: unrecognized feature gate: Nope"),
            ({"gates": "apiserver:Nope=true"}, "--feature-gates: unrecognized feature gate: Nope"),
            ({"gates": "scheduler:Nope"}, "--feature-gates: missing bool value for Nope"),
            (
                {"gates": f"scheduler:{GATE}=false", "version": "1.31"},
                f"--feature-gates: cannot set feature gate {GATE} to false, feature is locked to true",
            ),
            ({"gates": f"{GATE}=false", "version": "1.32"}, f"--feature-gates: unrecognized feature gate: {GATE}"),
        ],
    )
    def test_refused_in_the_words_of_the_real_one(self, flags: dict[str, str], said: str) -> None:
        with pytest.raises(ConfigError) as refused:
            read_options(given(**flags))
        assert str(refused.value) == said


@pytest.fixture
def app(tmp_path: Path) -> str:
    (tmp_path / "app.yaml").write_text(f"{BOUND % ('one', 1)}{BOUND % ('two', 2)}{POD % 'Equal'}")
    return str(tmp_path / "app.yaml")


def run(command: object, *words: str) -> Result:
    arguments = [*words, "--on", "zones=2,nodes=2"]
    return CliRunner().invoke(command, arguments, standalone_mode=False)  # type: ignore[arg-type]


class TestOutcome:
    """Two domains where three are wanted, a pod in each: only where minDomains is heeded another stays pending."""

    @pytest.mark.parametrize(
        ("words", "node", "dropped", "ignored"),
        [
            (["--kube-version", "1.37"], None, [], []),
            (["--kube-version", "1.26"], "node-1", [GATE], []),
            (["--kube-version", "1.23"], "node-1", [None], []),
            (["--kube-version", "1.27", "--feature-gates", f"scheduler:{GATE}=false"], "node-1", [], [GATE]),
            (["--kube-version", "1.27", "--feature-gates", f"apiserver:{GATE}=false"], "node-1", [GATE], []),
        ],
    )
    def test_json_says_which_fields_play_no_part(
        self, app: str, words: list[str], node: str | None, dropped: list[str | None], ignored: list[str]
    ) -> None:
        answer = json.loads(run(simulate, "-f", app, *words, "-o", "json").stdout)
        assert [each["node"] for each in answer["placements"]] == [node]
        assert [each["featureGate"] for each in answer["droppedFields"]] == dropped
        assert [each["featureGate"] for each in answer["ignoredFields"]] == ignored
        assert {each["path"] for each in answer["droppedFields"] + answer["ignoredFields"]} <= {
            "spec.topologySpreadConstraints[0].minDomains"
        }

    def test_explain_and_status_warn_of_it(self, app: str) -> None:
        words = ("-f", app, "--kube-version", "1.26")
        for done in (run(explain, "web", *words), run(status, *words)):
            text = " ".join(done.stdout.split())
            assert f"minDomains is dropped by the API server (its feature gate {GATE} is off): Pod default/web" in text

    def test_comparison_tells_the_versions_apart(self, app: str) -> None:
        done = run(plan, "-f", app, "--kube-version", "1.26", "--to-kube-version", "1.37", "-o", "wide")
        text = " ".join(done.stdout.split())
        assert "warning: minDomains is dropped" in text
        assert "no: 1 pod is newly pending" in text
        assert done.return_value == 1


class TestComparisonOperators:
    GATE = "TaintTolerationComparisonOperators=true"

    @pytest.fixture
    def tolerant(self, tmp_path: Path) -> str:
        (tmp_path / "pod.yaml").write_text(POD % "Gt")
        return str(tmp_path / "pod.yaml")

    def test_refused_while_the_gate_is_off(self, tolerant: str) -> None:
        problem = run(simulate, "-f", tolerant).exception
        assert isinstance(problem, InputError)
        assert 'spec.tolerations[0].operator: Unsupported value: "Gt"' in str(problem)
        assert problem.place.line == 5

    @pytest.mark.parametrize("program", ["", "apiserver:"])
    def test_let_in_where_the_api_server_has_it_on(self, tolerant: str, program: str) -> None:
        assert run(simulate, "-f", tolerant, "--feature-gates", program + self.GATE).return_value == 0

    def test_scheduler_alone_lets_nothing_in(self, tolerant: str) -> None:
        assert isinstance(
            run(simulate, "-f", tolerant, "--feature-gates", f"scheduler:{self.GATE}").exception, InputError
        )

    def test_other_side_of_a_comparison_refuses(self, tolerant: str) -> None:
        done = run(plan, "-f", tolerant, "--feature-gates", self.GATE, "--to-kube-version", "1.30")
        assert "unrecognized feature gate: TaintTolerationComparisonOperators" in str(done.exception)
