"""Paths in their order → one inventory: replacing, duplicates, what is left out and what is warned about."""

import gc
import io
import json

import pytest
import yaml

from topospread.errors import DuplicateError, InputError, UsageError
from topospread.lint.run import lint
from topospread.sources.collection import applied
from topospread.sources.load import load
from topospread.sources.rendering import Rendering
from topospread.sources.snapshot_facts import FORMAT

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4"}}}

CLASS = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "x"}, "provisioner": "x"}
FACTS = {"format": FORMAT, "counts": {"Node": 1}}
SNAPSHOT = {"apiVersion": "v1", "kind": "List", "items": [NODE], "topospread": FACTS}

HIDDEN = [
    r"""{"\u0061piVersion": "v1", "kin\u0064": "Pod", %s}""",
    r"""{"\x61piVersion": "v1", "kin\U00000064": "Pod", %s}""",
    """{? "apiVer\\\n  sion" : v1, ? "ki\\\n  nd" : Pod, %s}""",
    """{!!binary YXBpVmVyc2lvbg==: v1, !<tag:yaml.org,2002:binary> a2luZA==: Pod, %s}""",
    """{apiVersion: v1, 'kind': Pod, %s}""",
]
"""A pod, with keys that no search for their letters finds."""
HIDDEN = [
    each % '"metadata": {"name": "web"}, "spec": {"containers": [{"name": "a", "image": "a"}]}' for each in HIDDEN
]


SOFT = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}


def pod(name: str, node: str | None = None, status: dict | None = None, **metadata: object) -> dict:
    spec = {"containers": [{"name": "web", "image": "web"}], **({"nodeName": node} if node else {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **metadata},
        "spec": spec,
        "status": status or {},
    }


def deployment(image: str = "web:1", replicas: int | None = None, **metadata: object) -> dict:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": image}]}}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template, "replicas": replicas}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", **metadata}, "spec": spec}


def owned_by(kind: str, name: str) -> list[dict]:
    return [{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": "x", "controller": True}]


@pytest.fixture
def write(tmp_path):
    def write_file(name: str, *values: object) -> str:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("---\n".join(map(yaml.safe_dump, values)))
        return str(path)

    return write_file


class TestNodes:
    @pytest.mark.parametrize("paths", [[], ["pods.yaml"]])
    def test_without_any_it_says_how_to_give_them(self, write, paths):
        files = [write(path, pod("a")) for path in paths]
        with pytest.raises(InputError, match=r"the input has no nodes: .*kubectl get nodes -o json.*--on zones=3"):
            load(files)

    def test_made_up_and_given_ones_are_together(self, write):
        inventory = load([write("a.yaml", NODE)], cluster="nodes=2")
        assert [node.name for node in inventory.nodes] == ["node-1", "node-2", "a"]

    def test_a_given_one_replaces_a_made_up_one(self, write):
        path = write("a.yaml", {**NODE, "metadata": {"name": "node-1"}})
        inventory = load([path], cluster="nodes=2,cpu=1")
        assert [node.status.allocatable["cpu"] for node in inventory.nodes] == ["4", "1"]
        assert inventory.notes == [f"Node node-1 of {path}:1: document 1 replaces what --on gives"]

    def test_a_cluster_may_be_a_file(self, write):
        inventory = load([write("b.yaml", pod("p"))], cluster=write("a=b.yaml", NODE))
        assert [node.name for node in inventory.nodes] == ["a"]

    def test_a_cluster_that_is_neither_is_explained(self):
        with pytest.raises(InputError, match=r"--on zones3: file not found; a synthetic cluster is"):
            load([], cluster="zones3")


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


class TestLeftOut:
    def test_pods_on_a_node_that_is_not_there(self, write):
        pods = [pod(f"p{i}", f"gone-{i % 2}") for i in range(5)] + [pod("q", "a"), pod("r")]
        inventory = load([write("a.yaml", NODE, *pods)])
        assert [each.name for each in inventory.pods] == ["q", "r"]
        assert inventory.warnings == [
            "5 pods are left out, because 2 nodes are not in the input (gone-0, gone-1): "
            "default/p0, default/p1, default/p2 and 2 more"
        ]

    @pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
    def test_finished_pods_stay_for_their_job(self, write, phase):
        inventory = load([write("a.yaml", NODE, pod("p", "gone", {"phase": phase}))])
        assert [each.name for each in inventory.pods] == ["p"]
        assert inventory.warnings == []

    def test_kinds_that_play_no_part_are_counted(self, write):
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
        inventory = load([write("a.yaml", NODE, secret, {**secret, "kind": "ConfigMap"}, secret)])
        assert inventory.skipped == {"Secret": 2, "ConfigMap": 1}

    def test_a_configuration_is_kept_and_not_applied(self, write):
        value = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
        path = write("a.yaml", NODE, value)
        inventory = load([path])
        assert inventory.configurations == [value]
        assert inventory.notes == [
            f"{path}:9: document 2: this KubeSchedulerConfiguration is not applied; give it with --config"
        ]

    def test_a_misspelt_kind_is_warned_about(self, write):
        inventory = load([write("a.yaml", NODE, {**deployment(), "kind": "Deploymnet"})])
        assert inventory.warnings[0].endswith(
            "a.yaml:9: kind Deploymnet is unknown, its objects are skipped; did you mean Deployment?"
        )

    def test_a_misspelt_kind_alone_is_an_error_beside_a_cluster_too(self, write):
        nodes, path = write("nodes.yaml", NODE), write("bad.yaml", {**deployment(), "kind": "Deploymnet"})
        with pytest.raises(InputError) as caught:
            load([path], cluster=nodes)
        assert str(caught.value) == f"{path}:1: kind Deploymnet is unknown; did you mean Deployment?"

    def test_another_programs_json_in_a_folder_is_noted(self, write, tmp_path):
        write("deploy/web.yaml", deployment())
        (tmp_path / "deploy" / "package.json").write_text('{"name": "web", "dependencies": {"kind-of": "6"}}')
        (tmp_path / "deploy" / "tsconfig.json").write_text('{\n  // a comment\n  "compilerOptions": {}\n}')
        folder = str(tmp_path / "deploy")
        inventory = load([folder], cluster="nodes=1")
        assert len(inventory.deployments) == 1
        assert f"{folder}/package.json, {folder}/tsconfig.json: not a Kubernetes object, skipped" in inventory.notes

    @pytest.mark.parametrize("text", HIDDEN)
    def test_an_object_is_read_however_its_keys_are_written(self, tmp_path, text):
        (tmp_path / "web.json").write_text(text)
        assert [each.name for each in load([str(tmp_path)], cluster="nodes=1").pods] == ["web"]

    def test_hidden_files_are_read_if_they_hold_objects(self, write, tmp_path):
        write("deploy/.web.yaml", deployment())
        write("deploy/.pod.json", pod("a"))
        for name, text in (
            ("drone", "kind: pipeline"),
            ("gitlab-ci", "a: [kind, apiVersion]"),
            ("x", "{{ a"),
            ("y", ""),
        ):
            (tmp_path / "deploy" / f".{name}.yml").write_text(text)
        inventory = load([str(tmp_path / "deploy")], cluster="nodes=1")
        assert [each.name for each in (*inventory.deployments, *inventory.pods)] == ["web", "a"]
        assert not any("skipped" in each for each in inventory.notes)
        report = lint(tmp_path / "deploy")
        assert [each.label for each in report.read.subjects] == ["Pod default/a", "Deployment default/web"]
        assert report.read.left_out == {}

    def test_a_hidden_file_with_comments_is_named_and_one_that_git_lfs_keeps_is_an_error(self, write, tmp_path):
        write("deploy/.web.yaml", deployment())
        (tmp_path / "deploy" / ".x.json").write_text('{\n  // a comment\n  "pattern": "^src\\/",\n}\n')
        inventory = load([str(tmp_path / "deploy")], cluster="nodes=1")
        assert len(inventory.deployments) == 1
        assert any(".x.json" in each for each in inventory.notes)
        assert list(lint(tmp_path / "deploy").read.left_out.values()) == ["other"]
        (tmp_path / "deploy" / ".y.yaml").write_text("version https://git-lfs.github.com/spec/v1\nsize 12\n")
        with pytest.raises(InputError, match=r"y\.yaml"):
            load([str(tmp_path / "deploy")], cluster="nodes=1")

    def test_another_programs_json_that_is_named_is_an_error(self, tmp_path):
        (tmp_path / "package.json").write_text('{"name": "web"}')
        with pytest.raises(InputError, match="apiVersion is missing"):
            load([str(tmp_path / "package.json")], cluster="nodes=1")

    def test_a_link_to_nowhere_in_a_folder_is_a_warning(self, write, tmp_path):
        write("deploy/web.yaml", deployment())
        (tmp_path / "deploy" / "old.yaml").symlink_to("gone")
        inventory = load([str(tmp_path / "deploy")], cluster="nodes=1")
        assert f"{tmp_path}/deploy/old.yaml: link to nowhere, skipped" in inventory.warnings


class TestEmpty:
    @pytest.mark.parametrize("text", ["", "# nothing\n", "---\n---\n", '{"kind": "List", "apiVersion": "v1"}'])
    @pytest.mark.parametrize("cluster", ["nodes=1", "nodes.yaml"])
    def test_a_path_without_an_object_is_an_error(self, write, tmp_path, text, cluster):
        write("nodes.yaml", NODE)
        (tmp_path / "empty.yaml").write_text(text)
        path = str(tmp_path / "empty.yaml")
        given = cluster if cluster == "nodes=1" else str(tmp_path / cluster)
        with pytest.raises(InputError) as caught:
            load([path], cluster=given)
        assert str(caught.value) == f"{path} holds no object (--allow-empty accepts that)"
        assert load([path], cluster=given, allow_empty=True).nodes

    def test_standard_input_is_called_so(self):
        with pytest.raises(InputError, match=r"^standard input holds no object"):
            load(["-"], stdin=io.BytesIO(b""), cluster="nodes=1")

    def test_kinds_that_are_not_read_are_counted(self, write):
        path = write("a.yaml", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
        with pytest.raises(InputError, match=r"holds no object that topospread reads, only 1 ConfigMap \(--allow"):
            load([path], cluster="nodes=1")

    def test_a_folder_without_files_is_accepted_with_the_option(self, tmp_path):
        with pytest.raises(InputError, match="no file in this folder"):
            load([str(tmp_path)], cluster="nodes=1")
        assert load([str(tmp_path)], cluster="nodes=1", allow_empty=True).nodes

    def test_one_empty_list_beside_other_objects_is_no_error(self, write):
        empty = write("pods.yaml", {"apiVersion": "v1", "kind": "List", "items": []})
        assert load([write("nodes.yaml", NODE), empty]).nodes


class TestCharts:
    @pytest.mark.parametrize(
        ("given", "option"),
        [
            ({"helm_values": ("v.yaml",)}, "--helm-values"),
            ({"helm_set": ("a=b",)}, "--helm-set"),
            ({"helm_release": "x"}, "--helm-release"),
        ],
    )
    def test_options_for_charts_without_a_chart_are_refused(self, write, given, option):
        with pytest.raises(UsageError, match=f"^{option}: none of the paths is a chart$"):
            load([write("a.yaml", NODE)], rendering=Rendering(**given))


class TestSnapshots:
    @pytest.mark.parametrize(
        ("kind", "word"),
        [
            ("ReplicaSet", "replicasets"),
            ("StatefulSet", "statefulsets"),
            ("ReplicationController", "replicationcontrollers"),
        ],
    )
    def test_owners_that_are_missing_are_warned_about(self, write, kind, word):
        pods = [pod(f"p{i}", "a", ownerReferences=owned_by(kind, "web-1")) for i in range(2)]
        warnings = load([write("a.yaml", NODE, *pods)]).warnings
        assert warnings[0].startswith(
            f"2 pods belong to 1 {kind} not in the input (default/web-1): cluster-level default"
        )
        assert f"add {word} to `kubectl get`" in warnings[0]
        assert len(warnings) == 1

    @pytest.mark.parametrize(
        ("kind", "own", "warned"),
        [("Job", [], True), (None, [], True), (None, [SOFT], False), ("DaemonSet", [], False), ("Node", [], False)],
    )
    def test_services_are_missed_for_pods_that_only_they_can_select(self, write, kind, own, warned):
        more = {"ownerReferences": owned_by(kind, "web-1")} if kind else {"uid": "x"}
        stored = pod("p", "a", **more)
        stored["spec"]["topologySpreadConstraints"] = own
        warnings = load([write("a.yaml", NODE, stored)]).warnings
        assert [each.startswith("no Services are given: ") for each in warnings] == [True] * warned

    def test_owners_that_are_there_are_not(self, write):
        template = deployment()["spec"]["template"]
        owner = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": "web-1", "uid": "x"},
            "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template},
        }
        service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}
        path = write("a.yaml", NODE, pod("p", "a", ownerReferences=owned_by("ReplicaSet", "web-1")), owner, service)
        assert load([path]).warnings == []

    @pytest.mark.parametrize("kind", ["DaemonSet", "Job"])
    def test_other_owners_give_no_constraints(self, write, kind):
        service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}
        path = write("a.yaml", NODE, pod("p", "a", ownerReferences=owned_by(kind, "web-1")), service)
        assert load([path]).warnings == []

    def test_hand_written_pods_need_no_services(self, write):
        assert load([write("a.yaml", NODE, pod("p", "a"))]).warnings == []


class TestReading:
    def test_kubectls_output_as_it_is(self):
        items = [
            NODE,
            pod("p", "a", uid="1"),
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "uid": "2"}},
        ]
        text = json.dumps(
            {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}, indent=4
        )
        inventory = load(["-"], stdin=io.BytesIO(text.encode()))
        assert (len(inventory.nodes), len(inventory.pods), len(inventory.services)) == (1, 1, 1)

    @pytest.mark.parametrize("name", ["cluster.json", "cluster.yaml", "cluster"])
    @pytest.mark.parametrize(
        "text",
        [
            json.dumps(NODE),
            "---\n" + json.dumps(NODE) + "\n---\n" + json.dumps(pod("p")),
            '---\n{\n  apiVersion: "v1",\n  kind: "Node",\n  metadata: {\n    name: "a",\n  },\n}\n',
            '{apiVersion: "v1", kind: "Node", metadata: {name: "a",},}',
            '{"apiVersion": "v1", "kind": "Node", # mine\n "metadata": {"name": "a"}}',
            yaml.safe_dump(NODE).replace("\n", "\r\n"),
            "\ufeff" + yaml.safe_dump(NODE),
        ],
    )
    def test_what_stands_in_a_file_decides_how_it_is_read_not_its_name(self, tmp_path, name, text):
        (tmp_path / name).write_bytes(text.encode())
        assert [node.name for node in load([str(tmp_path / name)]).nodes] == ["a"]

    def test_standard_input_is_read_once(self):
        with pytest.raises(UsageError, match="- is given twice"):
            load(["-", "-"], stdin=io.BytesIO(b""))
        with pytest.raises(UsageError, match="- is given twice"):
            load(["-"], cluster="-", stdin=io.BytesIO(b""))

    def test_progress_ends_where_all_is_read(self, write):
        told = []
        paths = [write("1.yaml", NODE), write("2.yaml", pod("a"), pod("b"))]
        load(paths, progress=lambda done, total: told.append((done, total)))
        total = told[-1][1]
        assert told[-1] == (total, total)
        assert [done for done, _ in told] == sorted(done for done, _ in told)

    def test_the_garbage_collector_is_left_as_it_was(self, write):
        path = write("1.yaml", NODE)
        load([path])
        assert gc.isenabled()
        gc.disable()
        try:
            load([path])
            assert not gc.isenabled()
        finally:
            gc.enable()

    def test_strict(self, write):
        path = write("1.yaml", {**NODE, "spec": {"taint": []}})
        assert load([path]).nodes[0].name == "a"
        with pytest.raises(InputError, match=r'1\.yaml:6:3: document 1: Node a: unknown field "spec\.taint"'):
            load([path], strict=True)


STORAGE_CLASS = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": "disk.example.com"}
DEFAULT = {"name": "own", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}


class TestMadeUpStorageClasses:
    def classes(self, cluster: str, *paths: str) -> list[str]:
        return [each.name for each in load(paths, cluster=cluster).storage_classes]

    def test_a_made_up_cluster_has_a_default_class(self):
        assert self.classes("zones=2") == ["standard"]
        assert self.classes("zones=2,storage-class=none") == []

    def test_a_default_class_of_the_manifests_takes_its_place(self, write):
        own = write("own.json", STORAGE_CLASS | {"metadata": DEFAULT})
        assert self.classes("zones=2", own) == ["own"]
        assert self.classes("zones=2,storage-class=gp3", own) == ["gp3", "own"]

    def test_another_class_of_the_manifests_stands_beside_it(self, write):
        other = write("other.json", STORAGE_CLASS | {"metadata": {"name": "slow"}})
        assert self.classes("zones=2", other) == ["standard", "slow"]


def test_objects_of_one_list_share_a_place_and_keep_their_names(tmp_path):
    items = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": name}} for name in ("a", "b\x1b")]
    path = tmp_path / "nodes.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    places = load([str(path)]).places.copy()
    assert [str(places[key]) for key in places] == [f"{path}: Node a", f"{path}: Node b\\x1b"]
    assert places.get(("Node", "", "c")) is None


@pytest.mark.parametrize(
    ("cluster", "objects", "known"),
    [
        (None, [NODE], False),
        (None, [NODE, CLASS], True),
        ("nodes=2", [], True),
        ("nodes=2,storage-class=none", [], True),
        (None, [SNAPSHOT], True),
        (None, [{**SNAPSHOT, "topospread": {**FACTS, "simulated": True}}], False),
    ],
)
def test_storage_classes_are_known_of_a_cluster_that_was_read_or_where_one_is_there(
    write, tmp_path, cluster, objects, known
):
    (tmp_path / "a.json").write_text("".join(map(json.dumps, objects)))
    inventory = load([str(tmp_path / "a.json")] if objects else [], cluster=cluster)
    assert ("StorageClass" not in inventory.unread) is known
    changed = applied(inventory, load([write("b.yaml", {**NODE, "metadata": {"name": "b"}})]))
    assert ("StorageClass" not in changed.unread) is known


@pytest.mark.parametrize(
    ("facts", "known"),
    [
        (None, False),
        (FACTS | {"counts": {"DeviceClass": 0}}, False),  # `dump --from` counts the kinds of files, too
        (FACTS | {"taken": "2026-01-01T00:00:00Z", "counts": {"DeviceClass": 0}}, True),
        (FACTS | {"taken": "2026-01-01T00:00:00Z", "counts": {"DeviceClass": 0}, "simulated": True}, False),
        (FACTS | {"taken": "2026-01-01T00:00:00Z", "missing": {"DeviceClass": "NotFound"}}, True),
        (FACTS | {"taken": "2026-01-01T00:00:00Z", "counts": {"Node": 1}}, False),
    ],
)
def test_a_kind_without_objects_is_known_if_a_cluster_was_read(tmp_path, facts, known):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**SNAPSHOT, "topospread": facts}))
    assert ("DeviceClass" not in load([str(path)]).unread) is known


def test_no_file_is_a_live_cluster(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**SNAPSHOT, "topospread": {**FACTS, "live": True}}))
    assert load([str(path)]).notes == [f"{path}: a snapshot taken at an unknown time"]


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
