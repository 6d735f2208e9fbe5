"""Paths in their order → one inventory: replacing, duplicates, what is left out and what is warned about."""

import gc
import io
import json

import pytest
import yaml

from topospread.errors import InputError, UsageError
from topospread.lint.run import lint
from topospread.sources.load import load
from topospread.sources.rendering import Rendering
from topospread.sources.snapshot_facts import FORMAT

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4"}}}

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


def test_no_file_is_a_live_cluster(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**SNAPSHOT, "topospread": {**FACTS, "live": True}}))
    assert load([str(path)]).notes == [f"{path}: a snapshot taken at an unknown time"]
