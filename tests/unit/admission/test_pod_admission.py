"""What the API server adds to pods; most of it is in the recorded cases, here is what is ours to decide."""

from __future__ import annotations

import re

import msgspec
import pytest

from tests.unit.controllers.manifests import Json, container, inventory, pod
from topospread.admission.label_keys import invalid_label_keys
from topospread.admission.new_pods import NewPodRules
from topospread.admission.pod_admission import Admission
from topospread.api.inventory import Inventory
from topospread.api.pod import Pod
from topospread.api.pod_groups import PodGroup, PodGroupSpec
from topospread.config.gates import gates_for
from topospread.errors import InvalidError, Place

HIGH = {"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
CONSTRAINT: Json = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {},
    "matchLabelKeys": ["app"],
}
LIMIT_RANGE: Json = {
    "kind": "LimitRange",
    "metadata": {"name": "l", "namespace": "default"},
    "spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}}]},
}
KATA = {"kind": "RuntimeClass", "metadata": {"name": "kata"}, "overhead": {"podFixed": {"cpu": "250m"}}}


def admission(*objects: Json, version: str = "1.37", given: Inventory | None = None) -> Admission:
    return Admission(given or inventory(*objects), gates_for(version, component="apiserver"))


def typed(**fields: object) -> Pod:
    item = pod("p", **fields)
    item["metadata"]["namespace"] = "default"
    return msgspec.convert(item, Pod)


def test_bare_minimum():
    made = admission().admit(typed()).spec
    assert (made.restart_policy, made.scheduler_name) == ("Always", "default-scheduler")
    assert (made.priority, made.preemption_policy) == (0, "PreemptLowerPriority")
    assert [(each.key, each.toleration_seconds) for each in made.tolerations] == [
        ("node.kubernetes.io/not-ready", 300),
        ("node.kubernetes.io/unreachable", 300),
    ]


def test_twice_is_once():
    item = typed(containers=[container(limits={"cpu": "1"})], priorityClassName="high", runtimeClassName="kata")
    judge = admission(HIGH, KATA)
    once = judge.admit(item)
    assert judge.admit(once) is once


def test_pods_alike_share_their_spec_and_the_given_one_stays():
    judge = admission()
    first, second = typed(), typed()
    before = msgspec.to_builtins(first)
    assert judge.admit(first).spec is judge.admit(second).spec
    assert msgspec.to_builtins(first) == before


def test_on_different_nodes_they_share_its_parts():
    judge = admission()
    first, second = (judge.admit(typed(nodeName=name), lenient=True).spec for name in ("a", "b"))
    assert (first.node_name, second.node_name) == ("a", "b")
    assert first.tolerations is second.tolerations


def test_stored_pods_are_left_alone():
    limits = [container(limits={"cpu": "1"})]
    stored = typed(uid="u", schedulerName="default-scheduler", containers=limits, priorityClassName="gone")
    assert admission().admit(stored) is stored
    written_anew = typed(uid="u", containers=limits)
    assert admission().admit(written_anew).spec.containers[0].resources.requests == {"cpu": "1"}


class TestPriority:
    def test_unknown_class(self):
        place = Place("app.yaml", 1, "Pod default/p")
        with pytest.raises(InvalidError) as caught:
            admission().admit(typed(priorityClassName="gone"), place, "spec.template.")
        assert caught.value.message == 'pods "p" is forbidden: no PriorityClass with name gone was found'
        assert caught.value.place == place.at("spec.template.spec.priorityClassName")

    def test_classes_that_every_cluster_has(self):
        judge = admission()
        values = [
            judge.admit(typed(priorityClassName=f"system-{name}-critical")).spec.priority
            for name in ("node", "cluster")
        ]
        assert values == [2_000_001_000, 2_000_000_000]

    def test_class_that_only_stored_pods_tell_of(self):
        stored = pod("s", uid="u", schedulerName="default-scheduler", priorityClassName="gone", priority=7)
        assert admission(stored).admit(typed(priorityClassName="gone")).spec.priority == 7

    def test_unknown_class_beside_a_priority(self):
        judge = admission()
        assert judge.admit(typed(priorityClassName="gone", priority=5)).spec.priority == 5
        assert list(judge.warnings) == ["no PriorityClass with name gone was found: pods keep their own priority"]

    def test_priority_without_a_class_is_taken_with_a_warning(self):
        judge = admission()
        assert judge.admit(typed(priority=5)).spec.priority == 5
        assert "must not be provided in pod spec" in "".join(judge.warnings)

    def test_priority_without_a_class_in_a_template_is_refused(self):
        with pytest.raises(InvalidError, match="must not be provided in pod spec"):
            admission().admit(typed(priority=5), Place("app.yaml", 1), "spec.template.")

    def test_priority_that_contradicts_its_class(self):
        with pytest.raises(InvalidError, match=r"the integer value of priority \(5\) must not be provided"):
            admission(HIGH).admit(typed(priorityClassName="high", priority=5))

    def test_own_priority_beside_a_default_class_stays_as_it_is_when_admitted_again(self):
        judge = admission(HIGH | {"globalDefault": True})
        once = judge.admit(typed(priority=5))
        assert (once.spec.priority, once.spec.priority_class_name) == (5, None)
        assert judge.admit(once) == once


class TestLenient:
    @pytest.mark.parametrize(
        "fields",
        [
            {"priorityClassName": "gone"},
            {"priorityClassName": "high", "priority": 5},
            {"runtimeClassName": "gone"},
            {"runtimeClassName": "kata", "overhead": {"cpu": "1"}},
            {"overhead": {"cpu": "1"}},
        ],
    )
    def test_what_is_there_is_not_refused(self, fields):
        judge = admission(HIGH, KATA)
        made = judge.admit(typed(nodeName="n", **fields), lenient=True).spec
        assert made.priority == fields.get("priority", 0)
        assert judge.warnings == {}

    def test_but_completed(self):
        item = typed(nodeName="n", containers=[container(limits={"cpu": "1"})])
        made = admission().admit(item, lenient=True)
        assert made.spec.containers[0].resources.requests == {"cpu": "1"}
        assert made.spec.node_name == "n"


class TestRuntimeClass:
    def test_not_found(self):
        with pytest.raises(InvalidError, match='pod rejected: RuntimeClass "gone" not found'):
            admission().admit(typed(runtimeClassName="gone"))

    def test_overhead_of_no_class_is_taken_with_a_warning(self):
        judge = admission()
        assert judge.admit(typed(overhead={"cpu": "1"})).spec.overhead == {"cpu": "1"}
        assert "Pod Overhead set without corresponding RuntimeClass" in "".join(judge.warnings)


class TestVersions:
    @pytest.mark.parametrize(("version", "merged"), [("1.33", False), ("1.34", True), ("1.37", True)])
    def test_match_label_keys_of_constraints(self, version, merged):
        item = typed(labels={"app": "web"}, topologySpreadConstraints=[CONSTRAINT])
        (made,) = admission(version=version).admit(item).spec.topology_spread_constraints
        assert (made.label_selector.match_expressions is not None) == merged

    @pytest.mark.parametrize(("version", "merged"), [("1.30", False), ("1.31", True)])
    def test_match_label_keys_of_affinity(self, version, merged):
        term = {"topologyKey": "zone", "labelSelector": {}, "matchLabelKeys": ["app"]}
        affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        made = admission(version=version).admit(typed(labels={"app": "web"}, affinity=affinity)).spec.affinity
        (found,) = made.pod_affinity.required_during_scheduling_ignored_during_execution
        assert (found.label_selector.match_expressions is not None) == merged

    @pytest.mark.parametrize(
        ("version", "resources", "requests"),
        [
            ("1.33", {"limits": {"cpu": "2"}}, None),
            ("1.34", {"limits": {"cpu": "2"}}, {"cpu": "1000m", "memory": "1048576"}),
            ("1.36", {"requests": {"cpu": "2"}}, {"cpu": "2"}),
            ("1.37", {"requests": {"cpu": "2"}}, {"cpu": "2", "memory": "1048576"}),
            ("1.37", {"limits": {"memory": "1Gi", "cpu": "2"}}, {"cpu": "1000m", "memory": "1048576"}),
        ],
    )
    def test_requests_of_the_whole_pod(self, version, resources, requests):
        item = typed(containers=[container(requests={"cpu": "1", "memory": "1Mi"})], resources=resources)
        assert admission(version=version).admit(item).spec.resources.requests == requests

    def test_limit_ranges_come_before_it_since_1_37(self):
        limits = {"type": "Container", "defaultRequest": {"cpu": "300m"}}
        limit_range = {
            "kind": "LimitRange",
            "metadata": {"name": "l", "namespace": "default"},
            "spec": {"limits": [limits]},
        }
        item = typed(resources={"limits": {"cpu": "2"}})
        made = {v: admission(limit_range, version=v).admit(item).spec.resources.requests for v in ("1.36", "1.37")}
        assert made == {"1.36": {"cpu": "2"}, "1.37": {"cpu": "300m"}}


def test_limit_ranges_are_of_their_namespace():
    limits = {"type": "Container", "default": {"memory": "1Gi"}}
    limit_range = {"kind": "LimitRange", "metadata": {"name": "l", "namespace": "other"}, "spec": {"limits": [limits]}}
    assert admission(limit_range).admit(typed()).spec.containers[0].resources.requests is None


def refusal(item: Pod) -> str:
    """Return why the API server refuses a pod whose namespace has the LimitRange; "" if it does not."""
    admits = admission(LIMIT_RANGE)
    rules = NewPodRules(inventory(LIMIT_RANGE), gates_for("1.37", component="apiserver"), admits)
    return rules.refusal(admits.admit(item))[1]


class TestValidationAfterLimitRanges:
    @pytest.mark.parametrize("field", ["containers", "initContainers"])
    def test_a_default_limit_below_a_request_is_refused(self, field):
        path = f"spec.{field}[0].resources.requests"
        assert refusal(typed(**{"containers": [container()], field: [container(requests={"cpu": "2"})]})) == (
            f'Pod "p" is invalid: {path}: Invalid value: "2": must be less than or equal to cpu limit of 1'
        )

    def test_several_problems_are_listed_in_brackets(self):
        found = refusal(typed(containers=[container(requests={"cpu": "2"}), container(requests={"cpu": "3"})]))
        assert re.search(r'Pod "p" is invalid: \[spec.*limit of 1, spec.*limit of 1\]$', found)

    def test_a_default_limit_above_the_pods_own_limit_is_refused(self):
        item = typed(containers=[container(requests={"cpu": "100m"})], resources={"limits": {"cpu": "500m"}})
        assert "must be less than or equal to pod limits of 500m" in refusal(item)

    def test_a_default_limit_equal_to_the_request_is_accepted(self):
        item = typed(containers=[container(requests={"cpu": "1"})])
        assert admission(LIMIT_RANGE).admit(item).spec.containers[0].resources.limits == {"cpu": "1"}
        assert refusal(item) == ""

    def test_a_pod_on_a_node_is_kept(self):
        item = typed(nodeName="n", containers=[container(requests={"cpu": "2"})])
        assert admission(LIMIT_RANGE).admit(item, lenient=True).spec.containers[0].resources.limits == {"cpu": "1"}


def test_what_is_no_quantity_has_its_place():
    with pytest.raises(InvalidError, match="quantities must match") as caught:
        admission().admit(typed(containers=[container(limits={"cpu": "lots!"})]), Place("app.yaml"))
    assert str(caught.value.place) == "app.yaml"


def test_keys_that_the_selector_has_already_are_refused_once_the_pods_value_is_merged():
    selected = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "p"}}, "matchLabelKeys": ["app"]}
    twice = {"topologySpreadConstraints": [CONSTRAINT | selected]}
    fields = [twice] + [
        {"affinity": {kind: {f"{how}SchedulingIgnoredDuringExecution": [term]}}}
        for kind in ("podAffinity", "podAntiAffinity")
        for how, term in (("requiredDuring", selected), ("preferredDuring", {"podAffinityTerm": selected}))
    ]
    words = 'Invalid value: "app": exists in both matchLabelKeys and labelSelector'
    for each in fields:
        item = typed(**each)
        item.metadata.labels = {"app": "p"}
        judge = admission()
        made = judge.admit(item)
        said = NewPodRules(inventory(), gates_for("1.37", component="apiserver"), judge).refusal(made)
        assert said[0] == "validation"
        assert said[1].startswith('Pod "p" is invalid: spec.')
        assert said[1].endswith(words)
        item.metadata.labels = {}
        judge = admission()
        judge.admit(item)
        assert not judge.made_invalid


@pytest.mark.parametrize(("version", "refused"), [("1.26", False), ("1.27", True), ("1.33", True)])
def test_keys_that_the_selector_has_already_are_refused_before_they_were_merged(version, refused):
    gates = gates_for(version, component="apiserver")
    selected = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "p"}}, "matchLabelKeys": ["app"]}
    found = list(invalid_label_keys(typed(topologySpreadConstraints=[CONSTRAINT | selected]).spec, gates))
    assert [each.field for each in found] == ["spec.topologySpreadConstraints[0].matchLabelKeys[0]"] * refused


@pytest.mark.parametrize(("name", "priority"), [("high", 1000), ("gone", 0), (None, 0)])
def test_a_pod_group_has_the_priority_of_its_class_if_there_is_one(name, priority):
    group = PodGroup(spec=PodGroupSpec(priority_class_name=name))
    assert admission(HIGH).admit_group(group).spec.priority == priority
    own = PodGroup(spec=PodGroupSpec(priority_class_name=name, priority=7))
    assert admission(HIGH).admit_group(own) is own
