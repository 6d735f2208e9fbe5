"""Objects of all paths: later ones replace earlier ones."""

import io
import json

import pytest
import yaml

from tests.unit.sources.test_load import FACTS, NODE, deployment, pod
from topospread.errors import DuplicateError, InputError
from topospread.sources.load import load


class TestOrder:
    def test_a_later_path_replaces_and_both_places_are_told(self, write):
        first = write("1.yaml", NODE, deployment("web:1"))
        second = write("2.yaml", deployment("web:2"))
        inventory = load([first, second])
        (found,) = inventory.deployments
        assert found.spec.template.spec.containers[0].image == "web:2"
        assert inventory.notes == [
            f"Deployment default/web of {second}:1: document 1 replaces what {first}:9: document 2 gives"
        ]
        assert (
            str(inventory.places["Deployment", "default", "web"]) == f"{second}:1: document 1: Deployment default/web"
        )

    def test_what_is_replaced_keeps_its_place_in_the_order(self, write):
        first = write("1.yaml", NODE, pod("a"), pod("b"))
        assert [each.name for each in load([first, write("2.yaml", pod("c"), pod("a"))]).pods] == ["a", "b", "c"]

    def test_twice_in_one_path_is_refused_also_in_two_files_of_a_folder(self, write, tmp_path):
        write("all/1.yaml", NODE, pod("a"))
        write("all/2.yaml", pod("a"))
        with pytest.raises(DuplicateError) as caught:
            load([str(tmp_path / "all")])
        assert str(caught.value) == (
            f"{tmp_path}/all/2.yaml:1:1: document 1: Pod default/a: this object is given twice in one path, "
            f"first at {tmp_path}/all/1.yaml:9:1: document 2; remove one"
        )

    def test_one_name_may_be_used_by_several_kinds_and_namespaces(self, write):
        path = write("a.yaml", NODE, pod("a"), pod("a", namespace="b"), deployment(), deployment(namespace="b"))
        inventory = load([path])
        assert (len(inventory.pods), len(inventory.deployments)) == (2, 2)

    def test_a_namespace_left_out_is_the_default_one(self, write):
        with pytest.raises(DuplicateError):
            load([write("a.yaml", NODE, pod("a"), pod("a", namespace="default"))])

    def test_objects_with_a_generated_name_are_never_the_same(self, write):
        bare = pod("x", generateName="run-")
        del bare["metadata"]["name"]
        path = write("a.yaml", NODE, bare, bare)
        inventory = load([path, path])
        assert [(each.name, each.metadata.generate_name) for each in inventory.pods] == [("", "run-")] * 4
        assert inventory.places["Pod", "default", "run-"].source == path

    def test_long_lists_of_what_is_replaced_are_cut(self, write):
        pods = [pod(f"p{i}") for i in range(8)]
        path = json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, *pods]})
        inventory = load(
            ["-", write("b.json", {"apiVersion": "v1", "kind": "List", "items": pods})], stdin=io.BytesIO(path.encode())
        )
        assert len(inventory.notes) == 1
        assert inventory.notes[0].startswith("Pod default/p0, Pod default/p1, Pod default/p2")
        assert "and 3 more" in inventory.notes[0]


class TestApplying:
    """What kubectl apply leaves as it is in the cluster stays when a manifest replaces a stored object."""

    def test_identity_and_replicas_that_a_cluster_set(self, write):
        stored = deployment("web:1", 7, uid="1", creationTimestamp="2025-01-01T00:00:00Z")
        inventory = load([write("1.yaml", NODE, stored), write("2.yaml", deployment("web:2"))])
        (found,) = inventory.deployments
        assert (found.metadata.uid, found.metadata.creation_timestamp) == ("1", "2025-01-01T00:00:00Z")
        assert (found.spec.replicas, found.spec.template.spec.containers[0].image) == (7, "web:2")

    def test_but_a_manifest_that_no_longer_says_how_many_means_the_default(self, write):
        inventory = load([write("1.yaml", NODE, deployment("web:1", 7)), write("2.yaml", deployment("web:2"))])
        assert inventory.deployments[0].spec.replicas is None

    def test_a_pods_node_and_status(self, write):
        bound = pod("p", "a", {"phase": "Running"}, uid="1")
        (found,) = load([write("1.yaml", NODE, bound), write("2.yaml", pod("p", labels={"a": "b"}))]).pods
        assert (found.spec.node_name, found.phase, found.labels) == ("a", "Running", {"a": "b"})

    def test_a_nodes_capacity_unless_it_is_given(self, write):
        bare = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "labels": {"disk": "ssd"}}}
        (found,) = load([write("1.yaml", NODE), write("2.yaml", bare)]).nodes
        assert (found.status.allocatable, found.labels) == ({"cpu": "4"}, {"disk": "ssd"})
        changed = {**bare, "status": {"allocatable": {"cpu": "8"}}}
        assert load([write("1.yaml", NODE), write("3.yaml", changed)]).nodes[0].status.allocatable == {"cpu": "8"}


class TestAppliedObjects:
    STORED = {  # noqa: RUF012
        "uid": "u",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "deletionTimestamp": "2026-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 30,
    }

    @pytest.fixture(params=["yaml", "json", "list", "snapshot"])
    def stored(self, request, tmp_path):
        """A file of a node, a finished pod and a Deployment that is being deleted, as an API server stores them."""
        node = {**NODE, "metadata": {"name": "a", **self.STORED}}
        items = [node, pod("b", "a", {"phase": "Succeeded"}, **self.STORED), deployment(**self.STORED)]
        facts = {"topospread": FACTS} if request.param == "snapshot" else {}
        listed = {"apiVersion": "v1", "kind": "List", "items": items, **facts}
        texts = {"yaml": yaml.safe_dump_all(items), "json": "".join(map(json.dumps, items))}
        path = tmp_path / "stored.yaml"
        path.write_text(texts.get(request.param, json.dumps(listed)))
        return str(path)

    @staticmethod
    def believed(read):
        (found,) = read.pods
        one = found.metadata
        times = one.creation_timestamp, one.deletion_timestamp, one.deletion_grace_period_seconds
        return one.is_stored, times != (None, None, None), found.phase, read.deployments[0].metadata.deletion_timestamp

    def test_lack_what_the_api_server_drops(self, stored):
        for read in (load([stored], cluster="zones=1,nodes=1"), load([stored], applied=1)):
            assert self.believed(read) == (False, False, "", None)
            assert read.pods[0].spec.node_name == "a"
            assert "cpu" in next(each for each in read.nodes if each.name == "a").status.allocatable

    def test_of_a_state_keep_it(self, stored):
        for read in (load([stored]), load([], cluster=stored)):
            assert self.believed(read) == (True, True, "Succeeded", self.STORED["deletionTimestamp"])

    @pytest.mark.parametrize("kind", ["Deployment", "Node", "PriorityClass"])
    def test_have_no_resource_version_but_that_of_the_cluster(self, write, kind):
        made = {"Deployment": deployment(), "Node": NODE, "PriorityClass": {"apiVersion": "scheduling.k8s.io/v1"}}[kind]
        item = {**made, "kind": kind, "metadata": {"name": "web", "resourceVersion": "7"}}
        state = write("state.yaml", NODE, item)
        load([write("same.yaml", item)], cluster=state)
        item["metadata"] = {**item["metadata"], "resourceVersion": "8"}
        for cluster in (state, "zones=1,nodes=1"):
            with pytest.raises(InputError, match=r"should not be set on objects to be created"):
                load([write("other.yaml", item)], cluster=cluster)

    def test_keep_the_state_of_the_objects_that_they_replace(self, stored, write):
        again = write("again.yaml", pod("b", status={"phase": "Failed"}, uid="v"))
        (found,) = load([again], cluster=stored).pods
        assert (found.metadata.uid, found.phase, found.spec.node_name) == ("u", "Succeeded", "a")

    def test_are_validated(self, write):
        faulty = write("faulty.yaml", deployment(replicas=-1, uid="u"))
        with pytest.raises(InputError, match=r"spec\.replicas"):
            load([faulty], cluster="zones=1,nodes=1")


def test_a_workload_or_budget_without_selector_is_a_patch_of_the_earlier_one(write):
    own = {"maxSkew": 5, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 2}
    web = deployment(replicas=4)
    web["spec"]["template"]["spec"]["topologySpreadConstraints"] = [own]
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}}
    selector = {"matchLabels": {"app": "web"}}
    new = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    patch = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
    patch["spec"] = {"template": {"spec": {"topologySpreadConstraints": [new]}}}
    first = write("web.json", web, budget | {"spec": {"minAvailable": 1, "selector": selector}})
    found = load([first, write("patch.json", patch, budget | {"spec": {"minAvailable": 3}})], needs_nodes=False)
    (item,), (kept,) = found.deployments, found.pod_disruption_budgets
    assert (item.spec.replicas, item.spec.selector.match_labels) == (4, {"app": "web"})
    assert [(each.max_skew, each.min_domains) for each in item.spec.template.spec.topology_spread_constraints] == [
        (1, 2)
    ]
    assert (kept.spec.min_available, kept.spec.selector.match_labels) == (3, {"app": "web"})
    with pytest.raises(InputError, match=r"spec\.selector: Required value"):
        load([write("alone.json", patch)], needs_nodes=False)
