"""Kinds of their own: wherever they hold a pod's template, spec or constraints, those are read; other fields are not.

The manifests are written from what the APIs of these projects document, in the least form that each takes.
"""

from __future__ import annotations

import pytest

from tests.unit.lint.manifests import findings

ZONE = "topology.kubernetes.io/zone"


def constraint(**fields: str) -> str:
    given = {"maxSkew": "1", "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    given |= {"labelSelector": "{matchLabels: {app: web}}"} | fields
    return "{" + ", ".join(f"{name}: {value}" for name, value in given.items()) + "}"


def template(spread: str, labels: str = "app: web") -> str:
    return f"{{metadata: {{labels: {{{labels}}}}}, spec: {pod(spread)}}}"


def pod(spread: str) -> str:
    return f"{{containers: [{{name: a, image: a}}], topologySpreadConstraints: [{spread}]}}"


KINDS = {
    "Rollout": ("argoproj.io/v1alpha1", "{{replicas: 3, template: {template}}}", "spec.template.spec."),
    "CloneSet": ("apps.kruise.io/v1alpha1", "{{replicas: 3, template: {template}}}", "spec.template.spec."),
    "JobSet": (
        "jobset.x-k8s.io/v1alpha2",
        "{{replicatedJobs: [{{name: a, template: {{spec: {{parallelism: 2, template: {template}}}}}}}]}}",
        "spec.replicatedJobs[0].template.spec.template.spec.",
    ),
    "LeaderWorkerSet": (
        "leaderworkerset.x-k8s.io/v1",
        "{{replicas: 2, leaderWorkerTemplate: {{size: 3, workerTemplate: {template}}}}}",
        "spec.leaderWorkerTemplate.workerTemplate.spec.",
    ),
    "Service": ("serving.knative.dev/v1", "{{template: {template}}}", "spec.template.spec."),
    "RayCluster": (
        "ray.io/v1",
        "{{headGroupSpec: {{rayStartParams: {{}}, template: {template}}}}}",
        "spec.headGroupSpec.template.spec.",
    ),
    "ScaledJob": ("keda.sh/v1alpha1", "{{jobTargetRef: {{template: {template}}}}}", "spec.jobTargetRef.template.spec."),
    "Elasticsearch": (
        "elasticsearch.k8s.elastic.co/v1",
        "{{version: 9.0.0, nodeSets: [{{name: a, count: 3, podTemplate: {template}}}]}}",
        "spec.nodeSets[0].podTemplate.spec.",
    ),
    "Cluster": ("postgresql.cnpg.io/v1", "{{instances: 3, topologySpreadConstraints: [{spread}]}}", "spec."),
    "Prometheus": ("monitoring.coreos.com/v1", "{{replicas: 2, topologySpreadConstraints: [{spread}]}}", "spec."),
    "Alertmanager": ("monitoring.coreos.com/v1", "{{replicas: 2, topologySpreadConstraints: [{spread}]}}", "spec."),
    "Kafka": (
        "kafka.strimzi.io/v1beta2",
        "{{kafka: {{template: {{pod: {{topologySpreadConstraints: [{spread}]}}}}}}}}",
        "spec.kafka.template.pod.",
    ),
}


def manifest(kind: str, spread: str) -> str:
    version, spec, _ = KINDS[kind]
    return (
        f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: web}}\n"
        f"spec: {spec.format(template=template(spread), spread=spread)}\n"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_nonsense_in_a_constraint_is_refused_where_it_stands(kind: str) -> None:
    wrong = constraint(maxSkew="0", whenUnsatisfiable="DoNotSchedul")
    found = [(each.rule, each.message.partition(":")[0]) for each in findings(manifest(kind, wrong))]
    at = f"{KINDS[kind][2]}topologySpreadConstraints[0]"
    assert found == [("validation", f"{at}.maxSkew"), ("validation", f"{at}.whenUnsatisfiable")]


@pytest.mark.parametrize("kind", KINDS)
def test_a_misspelt_field_and_an_old_key_are_found(kind: str) -> None:
    wrong = constraint(minDomain="2", topologyKey="failure-domain.beta.kubernetes.io/zone")
    assert {each.rule for each in findings(manifest(kind, wrong))} >= {"unknown-field", "beta-topology-key"}


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_found_in_what_is_right(kind: str) -> None:
    assert [str(each) for each in findings(manifest(kind, constraint())) if each.severity != "hint"] == []


def test_a_selector_that_another_value_contradicts_is_found() -> None:
    wrong = constraint(labelSelector="{matchLabels: {app: wbe}}")
    assert [each.rule for each in findings(manifest("Rollout", wrong))] == ["selector-not-own"]


def test_a_label_that_the_controller_may_add_is_not_missed() -> None:
    added = constraint(labelSelector="{matchLabels: {ray.io/cluster: web}}", matchLabelKeys="[ray.io/group]")
    assert [each.rule for each in findings(manifest("RayCluster", added)) if each.severity != "hint"] == []


def test_what_prometheus_adds_to_a_constraint_is_known() -> None:
    text = manifest("Prometheus", constraint(additionalLabelSelectors="OnResource"))
    assert [str(each) for each in findings(text.replace(", labelSelector: {matchLabels: {app: web}}", ""))] == []


def test_the_field_itself_may_be_misspelt() -> None:
    text = manifest("Rollout", constraint()).replace("topologySpreadConstraints", "topologySpreadConstraint")
    (found,) = [each for each in findings(text) if each.rule == "unknown-field"]
    assert found.message.endswith('is "topologySpreadConstraints" meant?')


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\n"
        "spec: {topologySpreadConstraints: [{type: object}]}\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {topologySpreadConstraints: '[]'}\n",
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\n"
        "spec: {values: {topologySpreadConstraints: [{maxSkew: 0}]}}\n",
    ],
    ids=["a schema", "text", "a chart's values"],
)
def test_what_only_looks_like_it_is_left_alone(text: str) -> None:
    assert findings(text) == []


def test_an_annotation_keeps_a_finding_from_being_reported() -> None:
    text = manifest("Rollout", constraint(maxSkew="0")).replace(
        "metadata: {name: web}", "metadata: {name: web, annotations: {topospread.dev/ignore: validation because}}", 1
    )
    assert findings(text) == []
