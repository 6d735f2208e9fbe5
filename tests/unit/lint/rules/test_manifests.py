"""Objects as such: what is refused, fields and kinds that nobody knows, and what is there twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.lint.manifests import messages
from topospread.errors import InputError
from topospread.lint.examples import constraint, deployment
from topospread.lint.run import Question, lint, run

HOSTILE = Path(__file__).parents[3] / "hostile"
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: a{0}}}
spec:
  selector: {{matchLabels: {{a: b}}}}{1}
  template:
    metadata: {{labels: {{a: b}}}}{2}
    spec:
      containers:
      - {{name: a, image: a{3}}}{4}
"""


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ((", label: {}", "", "", "", ""), 'unknown field "metadata.label"; is "labels" meant?'),
        (("", "\n  replica: 3", "", "", ""), 'unknown field "spec.replica"; is "replicas" meant?'),
        (
            ("", "\n  topologySpreadConstraints: []", "", "", ""),
            'unknown field "spec.topologySpreadConstraints"; it belongs to "spec.template.spec"',
        ),
        (
            ("", "", "\n    nodeSelector: {}", "", ""),
            'unknown field "spec.template.nodeSelector"; it belongs to "spec.template.spec"',
        ),
        (
            ("", "", "", ", nodeSelector: {}", ""),
            'unknown field "spec.template.spec.containers[0].nodeSelector"; it belongs to "spec.template.spec"',
        ),
        (("", "", "", "", "\n      replicas: 3"), 'unknown field "spec.template.spec.replicas"; it belongs to "spec"'),
        (
            ("", "", "", "", "\n      kind: a"),
            'unknown field "spec.template.spec.kind"; it belongs to the object itself',
        ),
        (("", "", "", "", "\n      colour: red"), 'unknown field "spec.template.spec.colour"'),
    ],
)
def test_an_unknown_field_is_named_with_what_was_probably_meant(where: tuple[str, ...], said: str) -> None:
    assert messages(DEPLOYMENT.format(*where), "unknown-field") == [said]


def test_fields_that_an_old_version_had_are_known_in_it() -> None:
    old = DEPLOYMENT.format("", "\n  rollbackTo: {revision: 1}", "", "", "")
    assert messages(old.replace("apps/v1", "extensions/v1beta1"), "unknown-field") == []
    assert len(messages(old, "unknown-field")) == 1


def test_what_an_api_server_has_stored_has_no_unknown_fields() -> None:
    assert messages(DEPLOYMENT.format(", uid: x, colour: red", "", "", "", ""), "unknown-field") == []


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("apiVersion: apps/v1\nkind: Deploymnet", ["unknown kind Deploymnet; did you mean Deployment?"]),
        ("apiVersion: example.com/v1\nkind: Deploymnet", []),
        ("apiVersion: v1\nkind: ConfigMap", []),
    ],
)
def test_a_kind_is_misspelt_only_where_it_is_none_of_somebody_elses(head: str, said: list[str]) -> None:
    assert messages(f"{head}\nmetadata: {{name: a}}\n", "unknown-kind") == said


def test_an_object_is_there_twice_only_within_a_file(tmp_path: Path) -> None:
    pod = DEPLOYMENT.format("", "", "", "", "")
    other = pod.replace("name: a}", "name: a, namespace: other}", 1)
    (tmp_path / "dev.yaml").write_text(f"{pod}---\n{other}")
    (tmp_path / "prod.yaml").write_text(pod)
    assert [each.rule for each in lint(str(tmp_path))] == []
    (tmp_path / "prod.yaml").write_text(f"{pod}---\n{pod}")
    (finding,) = lint(str(tmp_path))
    assert (finding.rule, finding.place.document) == ("object-twice", 2)


def test_a_value_that_should_be_a_text_is_to_be_quoted(tmp_path: Path) -> None:
    found = messages(DEPLOYMENT.format(", labels: {a: yes}", "", "", "", ""), "validation")
    assert found == ["metadata.labels[a]: expected a string, got true (put it in quotes)"]


@pytest.mark.parametrize("name", sorted(json.loads((HOSTILE / "expected.json").read_text())))
def test_what_no_simulation_takes_is_a_finding_bad_input_or_left_out(name: str) -> None:
    outcome = run(Question(paths=[str(HOSTILE / name)]))
    assert outcome.judged or outcome.read.broken or outcome.read.left_out


@pytest.mark.parametrize("name", ["trailing-comma.json", "truncated.json", "second-broken.json"])
def test_broken_json_is_told_as_json(name: str) -> None:
    with pytest.raises(InputError, match="not JSON"):
        lint(str(HOSTILE / name))


def configuration(*plugins: str) -> str:
    enabled = "".join(f"      - name: {name}\n" for name in plugins)
    return (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        f"profiles:\n- schedulerName: a\n  plugins:\n    score:\n      enabled:\n{enabled}"
    )


def test_plugins_of_a_scheduler_of_ones_own_are_no_errors_and_the_rest_is_judged(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text(configuration("Coscheduling", "NodeResourcesFit", "Mine"))
    outcome = run(Question(paths=[str(file)]))
    assert [(each.rule, each.place.line) for each in outcome.findings] == [
        ("unknown-plugin", 8),
        ("unknown-plugin", 10),
    ]
    assert outcome.read.configurations[0].loaded is not None
    assert (
        outcome.read.configurations[0].value["profiles"][0]["plugins"]["score"]["enabled"][0]["name"] == "Coscheduling"
    )


def test_a_plugin_that_went_away_is_refused() -> None:
    (message,) = messages(configuration("SelectorSpread"), "validation")
    assert "was the last version that had it" in message
    assert messages(configuration("SelectorSpread"), "unknown-plugin") == []


@pytest.mark.parametrize("place", ["topologySpreadConstraints", "podAntiAffinity"])
def test_a_template_whose_pods_the_api_server_refuses_for_their_label_keys(place: str) -> None:
    own = "labelSelector:\n  matchLabels: {app: web}\nmatchLabelKeys: [app]"
    spec = constraint(own)
    if place == "podAntiAffinity":
        term = "{topologyKey: a/b, matchLabelKeys: [app], labelSelector: {matchLabels: {app: web}}}"
        spec = f"affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}}}\n"
    (said,) = messages(deployment(spec), "validation")
    assert said.startswith("its pods are refused: spec.template.spec.")
    assert said.endswith('"app": exists in both matchLabelKeys and labelSelector')
    (said,) = messages(deployment(spec), "validation", kube_version="1.33")
    assert said.startswith("its pods" if place == "podAntiAffinity" else "spec.template.spec.")
