"""Custom resources whose controllers make pods plainly are simulated; of others it is said that nobody knows.

The manifests are written from what the APIs of these projects document, in the least form that each takes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from topospread.api.inventory import Inventory
from topospread.api.pod import PodSpec
from topospread.errors import ConfigError, InputError, InvalidError, Place
from topospread.simulation.options import SimulationOptions
from topospread.simulation.simulate import simulate
from topospread.sources.custom_kinds import find_kinds, parse_kinds, shipped_kinds
from topospread.sources.load import load

ZONE = "topology.kubernetes.io/zone"


def spread(label: str) -> str:
    selector = f"labelSelector: {{matchLabels: {{{label}}}}}"
    return f"[{{maxSkew: 1, topologyKey: {ZONE}, whenUnsatisfiable: DoNotSchedule, {selector}}}]"


def template(label: str = "app: web") -> str:
    spec = f"{{containers: [{{name: a, image: a}}], topologySpreadConstraints: {spread(label)}}}"
    return f"{{metadata: {{labels: {{app: web}}}}, spec: {spec}}}"


def custom(version: str, kind: str, spec: str, name: str = "web") -> str:
    return f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: shop}}\nspec: {spec}\n---\n"


NAMESPACE = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"


def loaded(tmp_path: Path, text: str, kinds: str = "") -> Inventory:
    (tmp_path / "all.yaml").write_text(text)
    (tmp_path / ".topospread.yaml").write_text(kinds)
    return load([str(tmp_path / "all.yaml")], cluster="zones=3,nodes=6", kinds=find_kinds(str(tmp_path)))


def pods_by_zone(given: Inventory) -> dict[str, int]:
    """Zone → pods that were placed there."""
    zones = {node.name: node.labels[ZONE] for node in given.nodes}
    found: dict[str, int] = {}
    for each in simulate(given).placements:
        assert each.node is not None, each.message
        found[zones[each.node]] = found.get(zones[each.node], 0) + 1
    return found


def cpu_of(spec: PodSpec) -> str:
    (container,) = spec.containers
    return str(container.resources.requests["cpu"])  # type: ignore[union-attr,index]


CASES = {
    "Rollout": (custom("argoproj.io/v1alpha1", "Rollout", f"{{replicas: 6, template: {template()}}}"), 6),
    "Rollout with a selector": (
        custom("argoproj.io/v1", "Rollout", f"{{selector: {{matchLabels: {{app: web}}}}, template: {template()}}}"),
        1,
    ),
    "CloneSet": (custom("apps.kruise.io/v1alpha1", "CloneSet", f"{{replicas: 6, template: {template()}}}"), 6),
    "JobSet": (
        custom(
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            "{replicatedJobs: [{name: a, replicas: 2, template: {spec: {parallelism: 3, template: "
            + template("jobset.sigs.k8s.io/jobset-name: web")
            + "}}}, {name: b, template: {spec: {template: "
            + template()
            + "}}}]}",
        ),
        7,
    ),
    "Knative": (
        custom(
            "serving.knative.dev/v1",
            "Service",
            "{template: "
            + template("serving.knative.dev/service: web").replace(
                "labels:", 'annotations: {autoscaling.knative.dev/min-scale: "3"}, labels:'
            )
            + "}",
        ),
        3,
    ),
    "LeaderWorkerSet": (
        custom(
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            "{replicas: 2, leaderWorkerTemplate: {size: 3, workerTemplate: "
            + template("leaderworkerset.sigs.k8s.io/name: web")
            + "}}",
        ),
        6,
    ),
    "CloudNativePG": (
        custom(
            "postgresql.cnpg.io/v1",
            "Cluster",
            f"{{instances: 3, topologySpreadConstraints: {spread('cnpg.io/cluster: web')}}}",
        ),
        3,
    ),
    "Prometheus": (
        custom(
            "monitoring.coreos.com/v1",
            "Prometheus",
            f"{{replicas: 3, topologySpreadConstraints: {spread('prometheus: web')}}}",
        ),
        3,
    ),
    "Alertmanager": (
        custom(
            "monitoring.coreos.com/v1",
            "Alertmanager",
            f"{{replicas: 3, topologySpreadConstraints: {spread('alertmanager: web')}}}",
        ),
        3,
    ),
    "MinIO": (
        custom(
            "minio.min.io/v2",
            "Tenant",
            f"{{pools: [{{servers: 4, name: a, topologySpreadConstraints: {spread('v1.min.io/pool: a')}}}, "
            "{servers: 2}]}",
        ),
        6,
    ),
    "RabbitMQ": (custom("rabbitmq.com/v1beta1", "RabbitmqCluster", "{replicas: 3}"), 3),
    "Zalando": (
        custom(
            "acid.zalan.do/v1",
            "postgresql",
            f"{{numberOfInstances: 3, topologySpreadConstraints: {spread('cluster-name: web')}}}",
        ),
        3,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_pods_of_kinds_that_are_known_are_placed_and_spread(tmp_path: Path, case: str) -> None:
    text, pods = CASES[case]
    given = loaded(tmp_path, text)
    found = pods_by_zone(given)
    assert sum(found.values()) == pods
    assert max(found.values()) - min(found.values()) <= 1 or pods < 3
    assert any(each.startswith("custom resources whose pods are simulated: ") for each in given.notes)


def test_a_leader_is_one_of_its_group(tmp_path: Path) -> None:
    given = loaded(tmp_path, CASES["LeaderWorkerSet"][0])
    assert {each.name: each.spec.replicas for each in given.stateful_sets} == {"web": 2, "web-0": 2, "web-1": 2}


def test_the_pods_of_other_kinds_are_said_to_be_unknown(tmp_path: Path) -> None:
    spec = f"{{nodeSets: [{{name: a, count: 3, podTemplate: {template()}}}]}}"
    given = loaded(tmp_path, custom("elasticsearch.k8s.elastic.co/v1", "Elasticsearch", spec, name="es") + NAMESPACE)
    assert [each for each in given.notes if "not known" in each] == [
        "the pods of Elasticsearch shop/es are not known; `kinds` in .topospread.yaml can describe them"
    ]


def test_a_project_describes_kinds_of_its_own(tmp_path: Path) -> None:
    kinds = (
        "kinds:\n- group: elasticsearch.k8s.elastic.co\n  kind: Elasticsearch\n  as: StatefulSet\n"
        "  each: spec.nodeSets\n  name: '{name}-es-{each}'\n  template: podTemplate\n  replicas: count\n"
        "  labels: {elasticsearch.k8s.elastic.co/cluster-name: '{name}'}\n"
    )
    label = "elasticsearch.k8s.elastic.co/cluster-name: es"
    spec = f"{{nodeSets: [{{name: a, count: 3, podTemplate: {template(label)}}}]}}"
    given = loaded(tmp_path, custom("elasticsearch.k8s.elastic.co/v1", "Elasticsearch", spec, name="es"), kinds)
    assert [each.name for each in given.stateful_sets] == ["es-es-a"]
    assert pods_by_zone(given) == {"zone-a": 1, "zone-b": 1, "zone-c": 1}


def test_the_parts_of_a_list_are_named_by_their_names_or_numbers(tmp_path: Path) -> None:
    given = loaded(tmp_path, CASES["MinIO"][0])
    assert {each.name: each.spec.replicas for each in given.stateful_sets} == {"web-a": 4, "web-1": 2}


def test_what_a_controller_sets_by_default_gives_way_to_what_is_said(tmp_path: Path) -> None:
    silent, outspoken = (
        loaded(tmp_path, custom("rabbitmq.com/v1beta1", "RabbitmqCluster", spec)).stateful_sets[0].spec.template.spec
        for spec in (
            "{}",
            "{resources: {requests: {cpu: 3}}, override: {statefulSet: {spec: {template: {spec: "
            f"{{topologySpreadConstraints: {spread('a: b')}}}}}}}}}}}}}",
        )
    )
    assert silent is not None
    assert outspoken is not None
    assert [each.when_unsatisfiable for each in silent.topology_spread_constraints or ()] == ["ScheduleAnyway"]
    assert [each.when_unsatisfiable for each in outspoken.topology_spread_constraints or ()] == ["DoNotSchedule"]
    assert [cpu_of(each) for each in (silent, outspoken)] == ["1", "3"]


def test_a_field_may_go_inside_another(tmp_path: Path) -> None:
    term = "{matchExpressions: [{key: disk, operator: Exists}]}"
    affinity = f"{{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{term}]}}}}"
    given = loaded(tmp_path, custom("acid.zalan.do/v1", "postgresql", f"{{nodeAffinity: {affinity}}}"))
    (placement,) = simulate(given).placements
    assert "didn't match Pod's node affinity/selector" in placement.message


def test_a_rollout_of_another_objects_template_makes_no_pods(tmp_path: Path) -> None:
    spec = "{replicas: 3, workloadRef: {apiVersion: apps/v1, kind: Deployment, name: web}}"
    given = loaded(tmp_path, custom("argoproj.io/v1alpha1", "Rollout", spec) + NAMESPACE)
    assert (given.replica_sets, given.skipped["Rollout"]) == ([], 1)


def test_a_mount_may_name_a_claim_template_of_the_custom_resource(tmp_path: Path) -> None:
    text = CASES["LeaderWorkerSet"][0].replace("image: a}", "image: a, volumeMounts: [{name: data, mountPath: /data}]}")
    assert sum(pods_by_zone(loaded(tmp_path, text)).values()) == 6


def test_what_an_api_server_would_refuse_of_the_pods_is_refused(tmp_path: Path) -> None:
    text = CASES["Rollout"][0].replace("maxSkew: 1", "maxSkew: 0")
    with pytest.raises(InvalidError, match="must be greater than zero"):
        loaded(tmp_path, text)


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ([{"group": "a.b", "kind": "C", "as": "Node", "template": "spec"}], "use one of ReplicaSet, Deployment"),
        ([{"group": "a.b", "kind": "C", "as": "Pod"}], "add template or spec"),
        ([{"group": "a.b", "kind": "C", "as": "Pod", "templates": "spec"}], "templates"),
        ({"kind": "C"}, "Expected `array`"),
    ],
)
def test_a_table_that_means_nothing_is_bad_input(kinds: object, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse_kinds(kinds, Place("x"))


def test_every_kind_that_is_known_has_a_case() -> None:
    tested = {text.split("kind: ")[1].split("\n")[0] for text, _ in CASES.values()} | {"StatefulSet"}
    assert {kind for _, kind in shipped_kinds()} == tested


def scaled(version: str, kind: str, least: int, most: int = 9) -> str:
    target = f"{{apiVersion: {version}, kind: {kind}, name: web}}"
    spec = f"{{scaleTargetRef: {target}, minReplicas: {least}, maxReplicas: {most}}}"
    return custom("autoscaling/v2", "HorizontalPodAutoscaler", spec)


@pytest.mark.parametrize(
    ("version", "kind", "replicas", "least", "most", "kept"),
    [
        ("argoproj.io/v1alpha1", "Rollout", 2, 6, 9, 6),
        ("argoproj.io/v1alpha1", "Rollout", 12, 6, 9, 9),
        ("apps.kruise.io/v1alpha1", "CloneSet", 2, 6, 9, 6),
        ("apps.kruise.io/v1alpha1", "CloneSet", 12, 6, 9, 9),
        ("apps.kruise.io/v1beta1", "StatefulSet", 1, 3, 9, 3),
        ("apps.kruise.io/v1alpha1", "CloneSet", 7, 6, 9, 7),
    ],
)
def test_an_autoscaler_of_a_custom_resource_is_followed(  # noqa: PLR0917 - one a column
    tmp_path: Path, version: str, kind: str, replicas: int, least: int, most: int, kept: int
) -> None:
    resource = custom(version, kind, f"{{replicas: {replicas}, template: {template()}}}")
    given = loaded(tmp_path, resource + scaled(version, kind, least, most))
    found = simulate(given)
    assert len(found.placements) == kept
    assert len({each.name for each in found.placements}) == kept
    said = [*found.notes, *(note for each in found.workloads for note in each.notes)]
    assert any("HorizontalPodAutoscaler web keeps" in note for note in said) == (kept != replicas)


def test_autoscale_max_holds_for_custom_resources(tmp_path: Path) -> None:
    for version, kind in (("argoproj.io/v1alpha1", "Rollout"), ("apps.kruise.io/v1alpha1", "CloneSet")):
        resource = custom(version, kind, f"{{replicas: 2, template: {template()}}}")
        given = loaded(tmp_path, resource + scaled(version, kind, 1, 5))
        assert len(simulate(given, options=SimulationOptions(autoscale="max")).placements) == 5


def test_an_autoscaler_that_is_not_followed_is_named(tmp_path: Path) -> None:
    text = scaled("example.com/v1", "Widget", 6)
    found = simulate(loaded(tmp_path, text))
    assert "HorizontalPodAutoscaler web is ignored: Widget shop/web has no pods in the input" in found.notes


def test_a_line_does_not_make_any_number_of_objects(tmp_path: Path) -> None:
    job = f"{{name: a, replicas: 1000, template: {{spec: {{template: {template()}}}}}}}"
    text = custom("jobset.x-k8s.io/v1alpha2", "JobSet", f"{{replicatedJobs: [{', '.join([job] * 6)}]}}")
    with pytest.raises(InputError, match="JobSet shop/web: the custom resources make more than 5,000 objects"):
        loaded(tmp_path, text)
