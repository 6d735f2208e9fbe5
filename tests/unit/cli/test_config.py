"""topospread config: problems with their lines, the profile in force at 80 columns, conversions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from topospread.cli.config import config

BAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 200
profiles:
  - schedulerName: default-scheduler
    pluginConfig:
      - name: PodTopologySpread
        args:
          defaultingType: List
          defaultConstraints:
            - maxSkew: 1
              topologyKey: rack
              whenUnsatisfiable: Maybe
"""
GOOD = """\
apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: true}
profiles:
  - schedulerName: default-scheduler
    plugins:
      score:
        disabled: [{name: NodeResourcesBalancedAllocation}]
        enabled: [{name: PodTopologySpread, weight: 5}]
    pluginConfig:
      - name: PodTopologySpread
        args:
          defaultingType: List
          defaultConstraints:
            - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, minDomains: 3}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.yaml").write_text(BAD)
    (tmp_path / "good.yaml").write_text(GOOD)
    wrapped = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "s"}, "data": {"config.yaml": GOOD}}
    (tmp_path / "wrapped.yaml").write_text(yaml.safe_dump(wrapped))
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(config, words, standalone_mode=False)


@pytest.mark.usefixtures("folder")
class TestValidate:
    def test_every_problem_has_its_line(self) -> None:
        done = run("validate", "bad.yaml")
        assert done.return_value == 1
        lines = done.stdout.splitlines()
        assert lines[0] == "no: kube-scheduler refuses bad.yaml (2 problems)"
        said = " ".join(" ".join(lines[1:]).split())
        assert said == (
            "bad.yaml:3:1: percentageOfNodesToScore: Invalid value: 200: not in valid range [0-100] "
            "bad.yaml:13:15: profiles[0].pluginConfig[0].args.defaultConstraints[0].whenUnsatisfiable: "
            'Unsupported value: "Maybe": supported values: "DoNotSchedule", "ScheduleAnyway"'
        )
        assert run("validate", "bad.yaml", "-o", "github").stdout.startswith("::error file=bad.yaml,line=3,col=1,")
        found = json.loads(run("validate", "bad.yaml", "-o", "json", "--exit-zero").stdout)
        assert [(each["line"], each["level"]) for each in found["findings"]] == [(3, "error"), (13, "error")]

    @pytest.mark.parametrize("file", ["good.yaml", "wrapped.yaml"])
    def test_good_one_with_its_warning(self, file: str) -> None:
        done = run("validate", file)
        assert done.return_value == 0
        lines = done.stdout.splitlines()
        assert lines[0] == f"yes: {file} is a valid kubescheduler.config.k8s.io/v1beta2 configuration"
        assert "the last version that did is 1.27" in " ".join(done.stdout.split())

    def test_version_that_serves_it_does_not_warn(self) -> None:
        assert "warning" not in run("validate", "good.yaml", "--kube-version", "1.27").stdout


@pytest.mark.usefixtures("folder")
class TestShow:
    def test_text_says_what_is_set_where(self) -> None:
        text = run("show", "good.yaml", "--kube-version", "1.27").stdout
        assert max(map(len, text.splitlines())) <= 80
        assert "PodTopologySpread: weight 5 (profiles[0].plugins.score.enabled[0])\n" in text
        assert "NodeResourcesBalancedAllocation: off (on by default)\n" in text
        said = " ".join(text.split())
        assert (
            "default constraints, List (profiles[0].pluginConfig[0].args.defaultConstraints) "
            "topology.kubernetes.io/zone: hard, maxSkew 1, minDomains 3"
        ) in said

    def test_without_a_file_the_defaults(self) -> None:
        text = run("show").stdout
        assert "TaintToleration: weight 3\n" in text
        assert (
            "profile default-scheduler: default constraints, System (built in)\n"
            "kubernetes.io/hostname: soft, maxSkew 3\n"
            "topology.kubernetes.io/zone: soft, maxSkew 5\n"
        ) in text


@pytest.mark.usefixtures("folder")
def test_converted_configuration_shows_the_same_weights() -> None:
    converted = run("convert", "good.yaml", "--to", "v1").stdout
    Path("v1.yaml").write_text(converted)
    assert yaml.safe_load(converted)["apiVersion"] == "kubescheduler.config.k8s.io/v1"

    def weights(file: str) -> set[tuple[str, int]]:
        shown = yaml.safe_load(run("show", file, "-o", "yaml", "--kube-version", "1.27").stdout)
        return {(each["name"], each["weight"]) for each in shown["profiles"][0]["plugins"]["score"]}

    # VolumeBinding comes with v1's multiPoint; without its feature gate it gives every node nothing.
    assert weights("v1.yaml") == weights("good.yaml") | {("VolumeBinding", 1)}
