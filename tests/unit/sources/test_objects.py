"""What becomes of documents: objects, lists, kinds, versions; the same from YAML, from JSON and decoded at once."""

import json

import msgspec
import pytest
import yaml

from topospread.api.workload import Deployment
from topospread.errors import DecodeError, InputError, InvalidError
from topospread.sources.admit import Rules
from topospread.sources.load import read_objects
from topospread.sources.objects import ObjectReader, ReadObject
from topospread.sources.text import Text

CONTAINERS = [{"name": "web", "image": "web"}]
LABELS = {"app": "web"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": CONTAINERS}}


def pod(name: str = "web", **metadata: object) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **metadata},
        "spec": {"containers": CONTAINERS},
    }


def deployment(version: str = "apps/v1", **spec: object) -> dict:
    return {
        "apiVersion": version,
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": LABELS}, "template": TEMPLATE, **spec},
    }


def read_text(text: str, reader: ObjectReader) -> list[ReadObject]:
    return list(read_objects(Text("a", text.encode()), reader, lambda done: None))


def read_all(value: object, strict: bool = False) -> list[list[ReadObject]]:
    """The objects as they come from JSON and from YAML."""
    rules = Rules(strict=strict)
    return [read_text(write(value), ObjectReader(rules)) for write in (json.dumps, yaml.safe_dump)]


def items(value: object, **options: bool) -> list:
    """The typed objects, known to be the same from YAML and from JSON."""
    from_json, from_yaml = ([each.item for each in found] for found in read_all(value, **options))
    assert from_json == from_yaml
    return from_json


class TestLists:
    def test_of_kinds_that_are_mixed_and_nested(self):
        value = {
            "apiVersion": "v1",
            "kind": "List",
            "items": [pod("a"), {"kind": "List", "apiVersion": "v1", "items": [pod("b")]}],
        }
        assert [each.name for each in items(value)] == ["a", "b"]

    @pytest.mark.parametrize("empty", [None, []])
    def test_may_be_empty(self, empty):
        assert items({"apiVersion": "v1", "kind": "List", "items": empty}) == []
        assert items({"apiVersion": "v1", "kind": "PodList", "items": empty}) == []

    def test_items_of_a_pod_list_need_no_kind(self):
        bare = {key: value for key, value in pod(uid="1").items() if key in ("metadata", "spec")}
        (found,) = items({"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": ""}, "items": [bare]})
        assert (found.kind, found.api_version, found.namespace) == ("Pod", "v1", "default")

    @pytest.mark.parametrize("given", [None, [], [1]])
    @pytest.mark.parametrize("metadata", [{}, {"uid": "u"}])
    def test_no_other_kind_has_items(self, given, metadata):
        for write in (json.dumps, yaml.safe_dump, lambda value: json.dumps(value).replace("items", "\\u0069tems")):
            with pytest.raises(DecodeError, match="kubectl applies this object's items instead of the object"):
                read_text(write({**pod(**metadata), "items": given}), ObjectReader(Rules()))

    def test_no_item_of_a_list_has_items(self):
        value = {"apiVersion": "v1", "kind": "List", "items": [pod("a"), {**pod("b"), "items": []}]}
        with pytest.raises(DecodeError, match="kubectl applies this object's items"):
            items(value)

    def test_items_that_are_null_are_none(self):
        assert len(items({"apiVersion": "v1", "kind": "PodList", "items": [None, pod(), None]})) == 1

    def test_a_kind_of_somebodys_own_that_ends_in_list_is_skipped(self):
        reader = ObjectReader(Rules())
        value = {"apiVersion": "example.com/v1", "kind": "AllowList", "metadata": {"name": "a"}, "items": {"a": 1}}
        assert read_text(json.dumps(value), reader) == []
        assert reader.skipped == {"AllowList": 1}

    def test_items_of_a_list_that_plays_no_part_are_counted(self):
        reader = ObjectReader(Rules())
        read_text(json.dumps({"apiVersion": "v1", "kind": "SecretList", "items": [{}, {}]}), reader)
        assert reader.skipped == {"Secret": 2}


class TestKinds:
    @pytest.mark.parametrize("dot", [".", "\\u002e"])
    def test_profiles_in_annotations_of_stored_objects_are_found(self, dot):
        annotations = {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}
        template = {**TEMPLATE, "metadata": {"labels": LABELS, "annotations": annotations}}
        text = json.dumps({**deployment(template=template), "metadata": {"name": "web", "uid": "u"}})
        (found,) = read_text(text.replace("seccomp.", f"seccomp{dot}"), ObjectReader(Rules()))
        assert found.item.spec.template.metadata.annotations.profiles

    @pytest.mark.parametrize("key", ["made-of", "profiles", "whole", "pool", "added"])
    @pytest.mark.parametrize("slash", ["/", "\\/"])
    @pytest.mark.parametrize("stored", [{}, {"uid": "u"}])
    def test_only_snapshots_have_annotations_that_topospread_sets(self, key, slash, stored):
        name = f"topospread.dev/{key}"
        metadata = {"annotations": {name: "{}"}}
        made = deployment(template={**TEMPLATE, "metadata": {"labels": LABELS, **metadata}})
        made["metadata"] |= metadata | stored
        for item in (made, {**pod(), "metadata": {"name": "p", **metadata, **stored}}):
            (found,) = read_text(json.dumps(item).replace(name, f"topospread.dev{slash}{key}"), ObjectReader(Rules()))
            attribute = key.replace("-", "_")
            for each in (found.item, getattr(found.item.spec, "template", found.item)):
                assert getattr(each.metadata.annotations, attribute, None) is None

    def test_text_in_a_config_map_is_not_read(self):
        reader = ObjectReader(Rules())
        data = {"pod.yaml": "apiVersion: v1\nkind: Pod\n---\nkind: Node\n"}
        text = yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})
        assert read_text(text, reader) == []
        assert reader.skipped == {"ConfigMap": 1}

    def test_another_groups_kind_of_the_same_name_is_skipped(self):
        reader = ObjectReader(Rules())
        text = json.dumps({"apiVersion": "serving.knative.dev/v1", "kind": "Service", "metadata": {"name": "a"}})
        assert read_text(text, reader) == []
        assert reader.skipped == {"Service.serving.knative.dev": 1}

    @pytest.mark.parametrize(
        ("version", "kind", "meant"),
        [
            ("apps/v1", "Deploymnet", "Deployment"),
            ("networking.k8s.io/v1", "Ingres", "Ingress"),
            ("v1", "ConfigMapp", "ConfigMap"),
        ],
    )
    def test_a_misspelt_kind_is_told_with_the_near_one(self, version, kind, meant):
        reader = ObjectReader(Rules())
        read_text(json.dumps({**deployment(), "apiVersion": version, "kind": kind}), reader)
        assert list(reader.misspelt) == [(kind, meant)]
        assert not reader.skipped

    @pytest.mark.parametrize(
        ("version", "kind"),
        [
            ("apps.example.com/v1", "Deploymnet"),
            ("gateway.networking.k8s.io/v1", "Ingres"),
            ("resource.k8s.io/v1alpha3", "PodSchedulingContext"),
            ("scheduling.k8s.io/v1alpha3", "CompositePodGroup"),
        ],
    )
    def test_another_groups_kind_and_a_real_one_are_not_misspelt(self, version, kind):
        reader = ObjectReader(Rules())
        read_text(json.dumps({**deployment(), "apiVersion": version, "kind": kind}), reader)
        assert not reader.misspelt
        assert reader.skipped == {kind: 1}

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            ("topologyKey", "topologykey", "topologykey: write topologyKey"),
            ("containers", "Containers", "Containers: write containers"),
            ("apiVersion", "apiversion", "apiversion: write apiVersion"),
            ("nodeSelector", "nodeselector", "nodeselector: write nodeSelector"),
            ("whenUnsatisfiable", "whenUnsatisfable", "whenUnsatisfable: write whenUnsatisfiable"),
            ("maxSkew", "maxSkw", "maxSkw: write maxSkew"),
        ],
    )
    def test_a_misspelt_field_is_named_with_its_place(self, old, new, said):
        constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
        made = deployment()
        made["spec"]["template"]["spec"] |= {"topologySpreadConstraints": [constraint], "nodeSelector": {"a": "b"}}
        text = yaml.safe_dump(made).replace(old, new)
        with pytest.raises(InvalidError) as caught:
            read_text(text, ObjectReader(Rules()))
        line = next(number for number, each in enumerate(text.splitlines(), 1) if new in each)
        assert caught.value.place.line == line
        assert caught.value.message == said

    def test_labels_may_be_written_in_any_case(self):
        made = deployment()
        made["metadata"]["labels"] = {"Name": "a", "Labels": "b"}
        assert read_text(yaml.safe_dump(made), ObjectReader(Rules()))

    def test_a_kind_given_twice_in_json_is_refused(self):
        text = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "uid": "1"}, "kind": "Node"}'
        with pytest.raises(InputError, match='the key "kind" occurs twice'):
            read_text(text, ObjectReader(Rules()))

    def test_configurations_are_kept_apart(self):
        reader = ObjectReader(Rules())
        value = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
        assert read_text(yaml.safe_dump(value), reader) == []
        assert [found for found, _ in reader.configurations] == [value]


class TestOldVersions:
    @pytest.mark.parametrize("version", ["apps/v1", "apps/v1beta2", "apps/v1beta1", "extensions/v1beta1"])
    def test_are_read_as_todays(self, version):
        (found,) = items(deployment(version, replicas=2))
        assert isinstance(found, Deployment)
        assert (found.api_version, found.spec.replicas) == ("apps/v1", 2)

    @pytest.mark.parametrize("version", ["apps/v1beta1", "extensions/v1beta1"])
    def test_select_what_the_template_says_when_they_say_nothing(self, version):
        (found,) = items(deployment(version, selector=None))
        assert found.spec.selector.match_labels == LABELS
        assert found.labels == LABELS

    def test_of_today_must_select(self):
        with pytest.raises(InvalidError, match=r"spec\.selector: Required value"):
            items(deployment(selector=None))

    def test_cron_job(self):
        job = {"spec": {"template": {"spec": {"containers": CONTAINERS, "restartPolicy": "Never"}}}}
        (found,) = items(
            {
                "apiVersion": "batch/v1beta1",
                "kind": "CronJob",
                "metadata": {"name": "a"},
                "spec": {"schedule": "@daily", "jobTemplate": job},
            }
        )
        assert (found.kind, found.api_version) == ("CronJob", "batch/v1")

    @pytest.mark.parametrize(("version", "selects"), [("policy/v1beta1", False), ("policy/v1", True)])
    def test_an_empty_selector_of_a_budget_selected_nothing_once(self, version, selects):
        value = {
            "apiVersion": version,
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "a"},
            "spec": {"selector": {}},
        }
        (found,) = items(value)
        assert (found.spec.selector is not None) == selects

    def test_runtime_class_had_a_spec(self):
        spec = {"runtimeHandler": "kata", "overhead": {"podFixed": {"cpu": "250m"}}}
        (found,) = items(
            {"apiVersion": "node.k8s.io/v1alpha1", "kind": "RuntimeClass", "metadata": {"name": "a"}, "spec": spec}
        )
        assert (found.handler, found.overhead.pod_fixed) == ("kata", {"cpu": "250m"})


class TestFields:
    def test_null_is_as_if_it_were_not_there(self):
        nulls = {**pod(), "status": None}
        nulls["spec"] = {
            "containers": [{**CONTAINERS[0], "resources": None, "ports": None, "env": None}],
            "affinity": None,
        }
        (found,) = items(nulls)
        assert msgspec.to_builtins(found) == msgspec.to_builtins(items(pod())[0])

    def test_null_for_what_must_not_be_null_here(self):
        value = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "a", "uid": "1"},
            "spec": None,
            "status": None,
        }
        (found,) = items(value)
        assert found.spec.taints is None

    def test_null_in_a_map_is_the_zero_value(self):
        value = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "uid": "1", "labels": {"disk": None}}}
        assert items(value)[0].labels == {"disk": ""}

    def test_whole_numbers_may_have_a_point(self):
        text = json.dumps(deployment()).replace('"selector"', '"replicas": 3.0, "selector"', 1)
        assert read_text(text, ObjectReader(Rules()))[0].item.spec.replicas == 3

    def test_quantities_may_be_numbers(self):
        value = pod()
        value["spec"] = {"containers": [{**CONTAINERS[0], "resources": {"requests": {"cpu": 0.5, "memory": 1048576}}}]}
        found = items(value)[0].spec.containers[0].resources.requests
        assert {name: str(quantity) for name, quantity in found.items()} == {"cpu": "500m", "memory": "1048576"}

    def test_unknown_fields_are_ignored(self):
        assert items({**pod(), "extra": 1}) == items(pod())

    def test_unknown_fields_are_refused_when_strict(self):
        value = deployment()
        value["spec"]["template"] = {
            "spec": {"containers": [{**CONTAINERS[0], "imagee": "x"}]},
            "metadata": {"labels": LABELS},
        }
        with pytest.raises(InvalidError, match=r'unknown field "spec\.template\.spec\.containers\[0\]\.imagee"'):
            items(value, strict=True)

    @pytest.mark.parametrize("kind", ["Node", "Service", "PersistentVolumeClaim"])
    def test_unknown_fields_are_refused_in_every_kind(self, kind):
        with pytest.raises(InvalidError, match=r'unknown field "spec\.colour"'):
            items({"apiVersion": "v1", "kind": kind, "metadata": {"name": "a"}, "spec": {"colour": "red"}}, strict=True)

    def test_known_fields_that_play_no_part_pass_strictly(self):
        value = pod(
            annotations={"a": "b"},
            managedFields=[
                {
                    "manager": "kubectl",
                    "operation": "Update",
                    "apiVersion": "v1",
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {"f:spec": {}},
                }
            ],
        )
        value["spec"] = {"containers": [{**CONTAINERS[0], "env": [{"name": "A", "value": "1"}]}], "hostname": "web"}
        assert items(value, strict=True)[0].name == "web"

    def test_fields_only_old_versions_had_pass_strictly(self):
        assert items(deployment("extensions/v1beta1", rollbackTo={"revision": 1}), strict=True)[0].name == "web"

    def test_and_no_others_do(self):
        with pytest.raises(InvalidError, match=r'unknown field "spec\.rollbackTo"'):
            items(deployment("apps/v1", rollbackTo={"revision": 1}), strict=True)

    def test_types_of_fields_that_play_no_part_are_checked_too(self):
        value = pod()
        value["spec"] = {"containers": [{**CONTAINERS[0], "env": [{"name": "PORT", "value": 80}]}]}
        with pytest.raises(
            DecodeError, match=r"env\[0\]\.value: expected a string, got the number 80 \(put it in quotes\)"
        ):
            items(value)


class TestStored:
    def test_what_an_api_server_has_stored_is_not_judged_again(self):
        value = pod(uid="1")
        value["spec"] = {"containers": [], "tolerations": [{"operator": "Sometimes"}]}
        assert items(value)[0].name == "web"

    def test_but_its_types_are(self):
        with pytest.raises(DecodeError, match=r"Pod default/web: spec\.priority: expected an integer"):
            items({**pod(uid="1"), "spec": {"priority": "high"}})

    def test_and_the_size_of_its_numbers(self):
        with pytest.raises(DecodeError, match=r"spec\.priority: expected an integer from -2147483648 to 2147483647"):
            items({**pod(uid="1"), "spec": {"priority": 2**31}})

    def test_and_its_quantities(self):
        value = {
            **pod(uid="1"),
            "spec": {"initContainers": [{"name": "a", "resources": {"limits": {"cpu": "1 core"}}}]},
        }
        with pytest.raises(
            DecodeError, match=r"spec\.initContainers\[0\]\.resources\.limits\[cpu\]: .* is no quantity"
        ):
            items(value)


class TestAlikePods:
    """Hand-written pods like one that was checked are decoded at once; what differs between them still is."""

    @staticmethod
    def of(*pods: dict) -> list:
        return items({"apiVersion": "v1", "kind": "List", "items": list(pods)})

    def test_are_all_read(self):
        pods = [pod(f"web-{i}", labels={"app": "web", "index": str(i)}) for i in range(3)]
        assert [each.labels["index"] for each in self.of(*pods)] == ["0", "1", "2"]

    @pytest.mark.parametrize(
        ("other", "words"),
        [
            (pod("Web"), r"Pod default/Web: metadata\.name: Invalid value"),
            (pod("web-2", labels={"app": "not a label"}), r"metadata\.labels: Invalid value"),
            (
                {**pod("web-2"), "spec": {"containers": CONTAINERS, "nodeName": "Node_1"}},
                r"spec\.nodeName: Invalid value",
            ),
            (
                {**pod("web-2"), "spec": {"containers": CONTAINERS, "priority": "x"}},
                r"spec\.priority: expected an integer",
            ),
        ],
    )
    def test_are_checked_where_they_differ(self, other, words):
        alike = pod("web-1", labels={"app": "web"}) if "labels" in other["metadata"] else pod("web-1")
        with pytest.raises(InputError, match=words):
            self.of(alike, other)


def test_namespaces_are_filled_in_and_taken_away():
    assert items(pod())[0].namespace == "default"
    assert items(pod(uid="1"))[0].namespace == "default"
    for metadata in ({"name": "a", "namespace": "x"}, {"name": "a", "namespace": "x", "uid": "1"}):
        assert items({"apiVersion": "v1", "kind": "Node", "metadata": metadata})[0].metadata.namespace is None
    reader = ObjectReader(Rules(namespace="shop"))
    assert read_text(json.dumps(pod()), reader)[0].item.namespace == "shop"


def test_progress_reaches_the_end_of_a_long_list():
    told: list[int] = []
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod(f"p{i}", uid="1") for i in range(2500)]})
    list(read_objects(Text("a", text.encode()), ObjectReader(Rules()), told.append))
    assert told == sorted(told)
    assert told[-1] == len(text)
    assert len(told) == 4


def test_places_of_items_are_found_in_the_text():
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod("a", uid="1"), pod("b", uid="1")]}, indent=1)
    found = read_text(text, ObjectReader(Rules()))
    lines = text.splitlines()
    for each in found:
        line = each.exact_place().line
        assert line is not None
        assert f'"name": "{each.item.name}"' in lines[line + 3]
