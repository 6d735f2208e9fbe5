"""What the API server of a version drops, what it keeps of stored objects, and what kube-scheduler ignores."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.unit.controllers.manifests import Json, inventory, pod, workload
from topospread.admission.dropped_fields import FIELDS, UnusedField, gate_of, unused_sentences, without_dropped_fields
from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS
from topospread.config.gates import gates_for
from topospread.config.versions import KubeVersion
from topospread.controllers.control_plane import ControlPlane
from topospread.controllers.planner import plan
from topospread.errors import InvalidError

SELECTOR: Json = {"matchLabels": {"app": "web"}}


def constraint(**fields: Any) -> Json:
    return {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": SELECTOR,
                **fields,
            }
        ]
    }


def affinity(**fields: Any) -> Json:
    term = {"topologyKey": "zone", "labelSelector": SELECTOR, **fields}
    preferred = [{"weight": 1, "podAffinityTerm": term}]
    both = {
        "requiredDuringSchedulingIgnoredDuringExecution": [term],
        "preferredDuringSchedulingIgnoredDuringExecution": preferred,
    }
    return {"affinity": {"podAffinity": both, "podAntiAffinity": both}}


def kept(
    given: Inventory,
    version: str,
    apiserver: dict[str, bool] | None = None,
    scheduler: dict[str, bool] | None = None,
) -> tuple[Inventory, list[UnusedField]]:
    gates = gates_for(version, apiserver, "apiserver"), gates_for(version, scheduler)
    return without_dropped_fields(given, *gates)


def paths(unused: list[UnusedField]) -> list[str]:
    return [each.path for each in unused]


def type_at(struct: Any, path: str) -> Any:
    """The type of the field at a path, through lists and what may be missing."""
    for name in path.replace("[]", "").split("."):
        (field,) = (each for each in msgspec.structs.fields(struct) if each.encode_name == name)
        inner = [field.type]
        while inner and not (isinstance(inner[0], type) and issubclass(inner[0], msgspec.Struct)):
            inner = [each for each in getattr(inner[0], "__args__", ()) if each is not type(None)]
        struct = inner[0] if inner else field.type
    return struct


SIDECAR: Json = {"initContainers": [{"name": "s", "image": "s", "restartPolicy": "Always"}]}
RESOURCES: Json = {"resources": {"requests": {"cpu": "1"}}}
GATED: Json = {"schedulingGates": [{"name": "a"}]}
CLAIMS: Json = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "g"}]}
RULES: Json = {"containers": [{"name": "c", "restartPolicyRules": [{"action": "RestartAllContainers"}]}]}
MOUNTS: Json = {"containers": [{"name": "c", "volumeMounts": [{"name": "v", "bindMountOptions": ["noexec"]}]}]}
IMAGE: Json = {"volumes": [{"name": "v", "image": {"reference": "i"}}, {"name": "other"}]}

HISTORY = [
    # a pod's spec, the end of the path, a version that does not know it, has it off, has it on ("" for none)
    (constraint(minDomains=2), ".minDomains", "1.23", "1.26", "1.27"),
    (constraint(nodeTaintsPolicy="Honor"), ".nodeTaintsPolicy", "1.24", "1.25", "1.26"),
    (constraint(nodeAffinityPolicy="Ignore"), ".nodeAffinityPolicy", "1.24", "1.25", "1.26"),
    (constraint(matchLabelKeys=["app"]), ".matchLabelKeys", "1.24", "1.26", "1.27"),
    (affinity(namespaceSelector={}), ".namespaceSelector", "1.20", "1.21", "1.22"),
    (affinity(namespaceSelector=SELECTOR), ".namespaceSelector", "1.18", "1.21", "1.37"),
    (affinity(matchLabelKeys=["app"]), ".matchLabelKeys", "1.28", "1.30", "1.31"),
    (affinity(mismatchLabelKeys=["app"]), ".mismatchLabelKeys", "1.28", "1.29", "1.37"),
    (SIDECAR, "spec.initContainers[0].restartPolicy", "1.27", "1.28", "1.29"),
    (SIDECAR, "spec.initContainers[0].restartPolicy", "1.18", "1.28", "1.37"),
    (RESOURCES, "spec.resources", "1.31", "1.33", "1.34"),
    (GATED, "spec.schedulingGates", "1.25", "1.26", "1.27"),
    (CLAIMS, "spec.resourceClaims", "1.25", "1.33", "1.34"),
    (RULES, "spec.containers[0].restartPolicyRules", "1.33", "1.34", "1.35"),
    (MOUNTS, "spec.containers[0].volumeMounts[0].bindMountOptions", "1.36", "1.37", ""),
    (IMAGE, "spec.volumes[0].image", "", "1.34", "1.35"),
    ({"preemptionPolicy": "Never"}, "spec.preemptionPolicy", "", "1.18", "1.19"),
    ({"overhead": {"cpu": "1"}}, "spec.overhead", "", "", "1.18"),
]


class TestPods:
    @pytest.mark.parametrize(("spec", "path", "unknown", "off", "on"), HISTORY)
    def test_field_is_dropped_until_its_gate_is_on(
        self, spec: Json, path: str, unknown: str, off: str, on: str
    ) -> None:
        for version, gate_is_off in ((unknown, False), (off, True)):
            if version:
                _, unused = kept(inventory(pod("a", **spec)), version)
                found = [each for each in unused if each.path.endswith(path)]
                assert found, version
                assert {(each.outcome, bool(each.gate)) for each in found} == {("dropped", gate_is_off)}
        if on:
            assert not any(each.path.endswith(path) for each in kept(inventory(pod("a", **spec)), on)[1])

    def test_object_is_changed_and_the_one_given_is_not(self) -> None:
        given = inventory(pod("a", **constraint(minDomains=2, nodeTaintsPolicy="Honor")))
        made, unused = kept(given, "1.25")
        constraints = [each.pods[0].spec.topology_spread_constraints or [] for each in (given, made)]
        assert [(each[0].min_domains, each[0].node_taints_policy) for each in constraints] == [
            (2, "Honor"),
            (None, None),
        ]
        assert paths(unused) == [
            "spec.topologySpreadConstraints[0].minDomains",
            "spec.topologySpreadConstraints[0].nodeTaintsPolicy",
        ]

    def test_pod_without_such_fields_is_the_very_same(self) -> None:
        given = inventory(pod("a", **constraint()))
        assert kept(given, "1.18")[0] is given

    def test_every_term_is_looked_at(self) -> None:
        assert len(kept(inventory(pod("a", **affinity(matchLabelKeys=["app"]))), "1.28")[1]) == 4

    def test_all_constraints_go_with_their_gate(self) -> None:
        made, unused = kept(inventory(pod("a", **constraint())), "1.18", {"EvenPodsSpread": False})
        assert made.pods[0].spec.topology_spread_constraints is None
        assert [(each.path, each.gate) for each in unused] == [("spec.topologySpreadConstraints", "EvenPodsSpread")]

    def test_image_volume_goes_whole(self) -> None:
        made, _ = kept(inventory(pod("a", **IMAGE)), "1.34")
        assert [volume.name for volume in made.pods[0].spec.volumes or ()] == ["other"]

    @pytest.mark.parametrize(("version", "source"), [("1.30", "image"), ("1.18", "ephemeral"), ("1.20", "ephemeral")])
    def test_volume_without_a_source_is_refused(self, version: str, source: str) -> None:
        volumes = [{"name": "a"}, {"name": "v", source: {}}]
        with pytest.raises(InvalidError) as refused:
            kept(inventory(workload("Deployment", "web", pod={"volumes": volumes})), version)
        words = "spec.template.spec.volumes[1]: Required value: must specify a volume type"
        assert words in str(refused.value)
        assert "Deployment default/web" in str(refused.value)


class TestStored:
    """What stands in the API server already is kept, as on update, as long as the version knows the field."""

    @pytest.mark.parametrize("metadata", [{"uid": "1"}, {"resourceVersion": "1"}])
    def test_gate_that_is_off_leaves_a_stored_pod_alone(self, metadata: Json) -> None:
        stored = pod("a", node_name="n", **constraint(minDomains=2))
        stored["metadata"] |= metadata
        made, unused = kept(inventory(stored), "1.26")
        (only,) = made.pods[0].spec.topology_spread_constraints or ()
        assert only.min_domains == 2
        assert [(each.outcome, each.path) for each in unused] == [
            ("ignored", "spec.topologySpreadConstraints[0].minDomains")
        ]

    def test_field_the_version_does_not_know_is_gone_from_a_stored_pod(self) -> None:
        _, unused = kept(inventory(pod("a", node_name="n", uid="1", **constraint(minDomains=2))), "1.23")
        assert [(each.outcome, each.gate) for each in unused] == [("dropped", "")]

    def test_stored_workload_makes_pods_without_the_field(self) -> None:
        stored = workload("Deployment", "web", pod=constraint(minDomains=2))
        stored["metadata"]["uid"] = "1"
        made, unused = kept(inventory(stored), "1.26")
        (only,) = made.deployments[0].spec.template.spec.topology_spread_constraints or ()
        assert only.min_domains is None
        assert paths(unused) == ["spec.template.spec.topologySpreadConstraints[0].minDomains"]

    def test_stored_job_stays_suspended(self) -> None:
        job = workload("Job", "j", suspend=True)
        assert kept(inventory(job), "1.21")[0].jobs[0].spec.suspend is None
        job["metadata"]["uid"] = "1"
        assert kept(inventory(job), "1.21")[0].jobs[0].spec.suspend is True


class TestTheTwoPrograms:
    """A field that the API server drops and one that kube-scheduler ignores are different outcomes."""

    GATE = "MinDomainsInPodTopologySpread"

    @pytest.mark.parametrize(
        ("apiserver", "scheduler", "outcomes"),
        [
            (True, True, []),
            (False, True, ["dropped"]),
            (True, False, ["ignored"]),
            (False, False, ["dropped"]),
        ],
    )
    def test_outcome(self, apiserver: bool, scheduler: bool, outcomes: list[str]) -> None:
        given = inventory(pod("a", **constraint(minDomains=2)))
        made, unused = kept(given, "1.27", {self.GATE: apiserver}, {self.GATE: scheduler})
        assert [each.outcome for each in unused] == outcomes
        (only,) = made.pods[0].spec.topology_spread_constraints or ()
        assert only.min_domains == (2 if apiserver else None)

    def test_keys_merged_by_the_api_server_count_although_the_scheduler_ignores_them(self) -> None:
        gates = {"MatchLabelKeysInPodTopologySpread": False, "MatchLabelKeysInPodTopologySpreadSelectorMerge": False}
        by = ControlPlane(gates_for("1.37", component="apiserver"), gates_for("1.37", gates))
        made = plan(
            inventory(pod("a", labels={"app": "web", "rev": "1"}, **constraint(matchLabelKeys=["rev"]))),
            control_plane=by,
        )
        (only,) = made.queue[0].pod.spec.topology_spread_constraints or ()
        assert only.label_selector is not None
        assert [each.key for each in only.label_selector.match_expressions or ()] == ["rev"]
        assert [each.outcome for each in made.unused] == ["ignored"]

    def test_keys_are_not_merged_where_the_api_server_drops_them(self) -> None:
        gates = {"MatchLabelKeysInPodTopologySpread": False, "MatchLabelKeysInPodTopologySpreadSelectorMerge": False}
        by = ControlPlane(gates_for("1.37", gates, "apiserver"), gates_for("1.37"))
        made = plan(inventory(pod("a", labels={"app": "web"}, **constraint(matchLabelKeys=["app"]))), control_plane=by)
        (only,) = made.queue[0].pod.spec.topology_spread_constraints or ()
        assert only.label_selector is not None
        assert (only.match_label_keys, only.label_selector.match_expressions) == (None, None)


class TestOtherKinds:
    def test_job_of_old_runs_although_suspended(self) -> None:
        (unused,) = kept(inventory(workload("Job", "j", suspend=True)), "1.20")[1]
        assert (unused.kind, unused.path, unused.gate) == ("Job", "spec.suspend", "")

    def test_job_template_of_a_cron_job(self) -> None:
        template = {"spec": {"suspend": True, "template": {"spec": constraint(minDomains=2)}}}
        cron_job = {"kind": "CronJob", "metadata": {"name": "c"}, "spec": {"jobTemplate": template}}
        assert paths(kept(inventory(cron_job), "1.20")[1]) == [
            "spec.jobTemplate.spec.suspend",
            "spec.jobTemplate.spec.template.spec.topologySpreadConstraints[0].minDomains",
        ]

    @pytest.mark.parametrize(
        ("item", "path", "off", "on"),
        [
            (workload("StatefulSet", "s", ordinals={"start": 3}), "spec.ordinals", "1.26", "1.27"),
            (
                workload("StatefulSet", "s", volumeClaimTemplates=[{"spec": {"volumeAttributesClassName": "fast"}}]),
                "spec.volumeClaimTemplates[0].spec.volumeAttributesClassName",
                "1.33",
                "1.34",
            ),
            (
                {
                    "kind": "PersistentVolumeClaim",
                    "metadata": {"name": "c"},
                    "spec": {"volumeAttributesClassName": "f"},
                },
                "spec.volumeAttributesClassName",
                "1.33",
                "1.34",
            ),
            (
                {"kind": "Node", "metadata": {"name": "n"}, "status": {"declaredFeatures": ["A"]}},
                "status.declaredFeatures",
                "1.35",
                "1.36",
            ),
            (
                {"kind": "PriorityClass", "metadata": {"name": "p"}, "value": 1, "preemptionPolicy": "Never"},
                "preemptionPolicy",
                "1.18",
                "1.19",
            ),
        ],
    )
    def test_gate(self, item: Json, path: str, off: str, on: str) -> None:
        assert paths(kept(inventory(item), off)[1]) == [path]
        assert paths(kept(inventory(item), on)[1]) == []

    def test_every_path_is_one_of_the_typed_objects(self) -> None:
        for kind in KINDS.values():
            for each in FIELDS.get(kind.attribute, ()):
                assert type_at(kind.struct, each.path), each.path


GREATER: Json = {"tolerations": [{"key": "sla", "operator": "Gt", "value": "5"}]}


class TestComparisonOperators:
    @pytest.mark.parametrize(
        ("version", "values"), [("1.34", '"Equal", "Exists"'), ("1.37", '"Equal", "Exists", "Lt", "Gt"')]
    )
    def test_refused_rather_than_dropped(self, version: str, values: str) -> None:
        with pytest.raises(InvalidError) as refused:
            plan(inventory(pod("a", **GREATER)), kube_version=version)
        words = f'spec.tolerations[0].operator: Unsupported value: "Gt": supported values: {values}'
        assert words in str(refused.value)

    def test_let_in_with_the_gate(self) -> None:
        by = ControlPlane(gates_for("1.37", {"TaintTolerationComparisonOperators": True}), gates_for("1.37"))
        assert len(plan(inventory(pod("a", **GREATER)), control_plane=by).queue) == 1


class TestSentences:
    def test_objects_of_one_field_share_a_sentence(self) -> None:
        given = [workload("Deployment", name, pod=constraint(minDomains=2)) for name in "abcde"]
        _, unused = kept(inventory(*given), "1.23")
        assert unused_sentences(unused, KubeVersion.parse("1.23")) == [
            "minDomains is dropped by the API server (Kubernetes 1.23 does not know it): Deployment default/a, "
            "Deployment default/b, Deployment default/c and 2 more"
        ]

    def test_gate_is_named(self) -> None:
        given = inventory(pod("a", **constraint(minDomains=2)))
        gate = "MinDomainsInPodTopologySpread"
        dropped = kept(given, "1.27", {gate: False})[1]
        ignored = kept(given, "1.27", None, {gate: False})[1]
        assert unused_sentences([*dropped, *ignored], KubeVersion.parse("1.27")) == [
            f"minDomains is dropped by the API server (its feature gate {gate} is off): Pod default/a",
            f"minDomains is ignored by kube-scheduler (its feature gate {gate} is off): Pod default/a",
        ]


def test_maxunavailable_of_a_stateful_sets_update_goes_with_its_gate_until_1_36() -> None:
    update = {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 2}}}
    item = workload("StatefulSet", "web", **update)
    for version, left in (("1.36", []), ("1.37", [2])):
        made, unused = kept(inventory(item), version)
        (strategy,) = (each.spec.update_strategy for each in made.stateful_sets)
        assert strategy is not None
        assert strategy.rolling_update is not None
        assert [each for each in (strategy.rolling_update.max_unavailable,) if each] == left
        assert bool(unused) is not bool(left)


def test_a_field_that_goes_with_two_gates_goes_with_the_one_of_its_first_version() -> None:
    """``restartPolicy`` of init containers came with sidecars, that of others with restart rules."""
    assert gate_of("PodSpec", "initContainers[].restartPolicy") == "SidecarContainers"
    assert gate_of("JobSpec", "suspend") == "SuspendJob"
