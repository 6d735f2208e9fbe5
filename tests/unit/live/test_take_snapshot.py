"""A snapshot taken of a server that pages, forbids, forgets and is old, and what it holds when it is read."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

import topospread
from topospread.api.kinds import KINDS
from topospread.api.storage import VOLUME_KINDS
from topospread.errors import InputError, UsageError
from topospread.live.api_error import ApiError, ApiUnreachable, RequestError
from topospread.live.cluster_lists import ClusterLists, WantedLists
from topospread.live.connection import Connection
from topospread.sources.snapshot_facts import SnapshotFacts, warnings_of
from topospread.sources.snapshot_file import SnapshotTaking, SnapshotWriter, check_path, writing
from topospread.sources.snapshot_lists import ORDER

Json = dict[str, Any]
STATUS = {"NotFound": 404, "Expired": 410, "ServiceUnavailable": 503}


async def no_headers() -> dict[str, str]:
    return {}


HERE = Connection("https://server", None, no_headers, source="kubeconfig")


class FakeServer:
    """In place of an `ApiClient`: pages with a token, a status for what it refuses."""

    def __init__(self, objects: dict[str, list[Json]], refusals: dict[str, str] | None = None) -> None:
        self.objects = objects
        self.refusals = refusals or {}
        self.asked: list[str] = []

    async def request(self, method: str, path: str, *, params: dict[str, str] | None = None, **_: Any) -> bytes:
        query = params or {}
        asked = path + (f"?{urlencode(query)}" if query else "")
        self.asked.append(asked)
        for part, reason in self.refusals.items():
            if part in asked:
                raise ApiError(STATUS.get(reason, 403), reason, f"{part} is refused")
        if path == "/version":
            return b'{"gitVersion":"v1.31.4"}'
        items = self.objects.get(path, [])
        begin = int(query.get("continue", "0"))
        end = begin + int(query.get("limit", len(items)))
        more = {"continue": str(end), "remainingItemCount": len(items) - end} if end < len(items) else {}
        kind = items[0]["kind"] if items else "Object"
        version = items[0]["apiVersion"] if items else "v1"
        bare = [{key: value for key, value in each.items() if key not in ("kind", "apiVersion")} for each in items]
        listed = {"kind": f"{kind}List", "apiVersion": version, "metadata": more, "items": bare[begin:end]}
        return json.dumps(listed).encode()


def made(kind: str, name: str, version: str = "v1", **more: Any) -> Json:
    metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": "1"}
    return {"apiVersion": version, "kind": kind, "metadata": metadata | more.pop("metadata", {}), **more}


def pod(name: str, **more: Any) -> Json:
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": "node-0"}
    return made("Pod", name, metadata={"namespace": "shop"}, **({"spec": spec} | more))


def cluster(pods: int = 7) -> dict[str, list[Json]]:
    return {
        "/api/v1/nodes": [made("Node", f"node-{i}", metadata={"labels": {"zone": "a"}}) for i in range(3)],
        "/api/v1/pods": [pod(f"web-{i}") for i in range(pods)],
        "/api/v1/services": [made("Service", "web", metadata={"namespace": "shop"})],
    }


def read(server: FakeServer, writer: SnapshotWriter, wanted: WantedLists | None = None, **more: Any) -> SnapshotFacts:
    client: Any = server
    lists = ClusterLists(client, HERE, wanted or WantedLists(), purpose="snapshot", **more)
    return asyncio.run(lists.read(SnapshotTaking(writer)))


def take(server: FakeServer, path: Path, wanted: WantedLists | None = None) -> SnapshotFacts:
    with writing(str(path), io.BytesIO()) as writer:
        facts = read(server, writer, wanted)
        writer.end(facts)
    return facts


def test_every_page_is_asked_for_and_every_object_is_there_once(tmp_path: Path) -> None:
    server = FakeServer(cluster())
    facts = take(server, tmp_path / "c.json.gz", WantedLists(page=3))
    assert [path for path in server.asked if path.startswith("/api/v1/pods")] == [
        "/api/v1/pods?limit=3",
        "/api/v1/pods?limit=3&continue=3",
        "/api/v1/pods?limit=3&continue=6",
    ]
    assert facts.counts["Pod"] == 7
    assert sorted(each.name for each in topospread.load(str(tmp_path / "c.json.gz")).pods) == [
        f"web-{i}" for i in range(7)
    ]


def test_a_list_whose_next_page_is_forgotten_is_asked_for_as_a_whole(tmp_path: Path) -> None:
    server = FakeServer(cluster(), {"/api/v1/pods?limit=3&continue=3": "Expired"})
    assert take(server, tmp_path / "c.json", WantedLists(page=3)).counts["Pod"] == 7
    assert server.asked.count("/api/v1/pods") == 1
    assert len(topospread.load(str(tmp_path / "c.json")).pods) == 7


def test_no_other_fields_are_kept_though_policies_read_them(tmp_path: Path) -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "command": ["run"]}]}}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    stored = {"name": "web", "namespace": "default", "uid": "1"}
    objects = {
        **cluster(),
        "/apis/apps/v1/deployments": [
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": stored, "spec": spec},
        ],
    }
    version, kind = "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"
    binding = {"apiVersion": version, "kind": kind, "metadata": {"name": "b"}, "spec": {"policyName": "p"}}
    objects[f"/apis/{version}/validatingadmissionpolicybindings"] = [binding]
    take(FakeServer(objects), tmp_path / "c.json")
    assert "command" not in (tmp_path / "c.json").read_text()


def test_every_kind_that_is_read_is_asked_for() -> None:
    assert sorted(ORDER) == sorted(KINDS)


def asked_for(server: FakeServer) -> set[str]:
    return {urlsplit(path).path.rpartition("/")[2] for path in server.asked}


def test_kinds_of_volumes_are_left_where_nothing_uses_volumes(tmp_path: Path) -> None:
    server = FakeServer(cluster())
    facts = take(server, tmp_path / "c.json", WantedLists(volumes=False))
    assert not asked_for(server) & {"persistentvolumes", "csinodes", "volumeattachments"}
    assert len(asked_for(server)) == len(KINDS) - len(VOLUME_KINDS) + 1
    assert not VOLUME_KINDS & (facts.counts.keys() | facts.missing.keys())


def test_kinds_of_volumes_are_asked_for_at_the_first_object_that_uses_some(tmp_path: Path) -> None:
    spec = {"containers": [], "nodeName": "node-0", "volumes": [{"name": "v", "persistentVolumeClaim": {}}]}
    with_claim = pod("web", spec=spec)
    lists = cluster() | {"/api/v1/pods": [pod("a"), with_claim, *(pod(f"b-{i}") for i in range(20))]}
    server = FakeServer(lists)
    facts = take(server, tmp_path / "c.json", WantedLists(volumes=False, page=2))
    assert facts.counts.keys() == set(KINDS)
    pages = [each.startswith("/api/v1/pods?") for each in server.asked]
    first = next(i for i, each in enumerate(server.asked) if each.startswith("/api/v1/persistentvolumes?"))
    assert any(pages[first:]), "pods are still read"


def test_only_kinds_that_are_wanted_are_asked_for(tmp_path: Path) -> None:
    server = FakeServer(cluster())
    take(server, tmp_path / "c.json", WantedLists(kinds=["Node", "Pod", "Service"]))
    assert asked_for(server) == {"nodes", "pods", "services", "version"}


def test_secrets_and_config_maps_are_never_asked_for(tmp_path: Path) -> None:
    server = FakeServer(cluster())
    take(server, tmp_path / "c.json")
    resources = {urlsplit(path).path.rpartition("/")[2] for path in server.asked}
    assert len(resources) == len(KINDS) + 1
    assert not resources & {"secrets", "configmaps", "events"}


def test_an_old_version_is_asked_for_where_the_new_one_is_not_served(tmp_path: Path) -> None:
    job = {"jobTemplate": {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}}}
    objects = cluster() | {
        "/apis/batch/v1beta1/cronjobs": [
            made(
                "CronJob", "nightly", "batch/v1beta1", metadata={"namespace": "shop"}, spec=job | {"schedule": "@daily"}
            )
        ]
    }
    facts = take(FakeServer(objects, {"/apis/batch/v1/cronjobs": "NotFound"}), tmp_path / "c.json")
    assert facts.counts["CronJob"] == 1
    assert facts.missing == {}
    assert topospread.load(str(tmp_path / "c.json")).cron_jobs[0].api_version == "batch/v1"


def test_a_kind_that_is_forbidden_is_told_when_taking_and_when_reading(tmp_path: Path) -> None:
    facts = take(FakeServer(cluster(), {"persistentvolumes": "Forbidden"}), tmp_path / "c.json")
    assert facts.missing == {"PersistentVolume": "Forbidden"}
    assert "lacks PersistentVolume objects (Forbidden)" in warnings_of(facts)[0]
    inventory = topospread.load(str(tmp_path / "c.json"))
    assert any("lacks PersistentVolume objects" in warning for warning in inventory.warnings)
    assert any("of Kubernetes v1.31.4 taken" in note and "--kube-version 1.31" in note for note in inventory.notes)


@pytest.mark.parametrize("resource", ["nodes", "pods"])
def test_without_nodes_or_pods_nothing_is_written_and_what_was_there_stays(resource: str, tmp_path: Path) -> None:
    path = tmp_path / "c.json.gz"
    path.write_bytes(b"older")
    with pytest.raises(InputError, match="the snapshot needs this right"):
        take(FakeServer(cluster(), {f"/api/v1/{resource}": "Forbidden"}), path)
    assert path.read_bytes() == b"older"
    assert os.listdir(tmp_path) == ["c.json.gz"]


def test_an_interrupt_leaves_what_was_there(tmp_path: Path) -> None:
    class Interrupted(FakeServer):
        async def request(self, method: str, path: str, **more: Any) -> bytes:
            if "services" in path:
                raise KeyboardInterrupt
            return await super().request(method, path, **more)

    path = tmp_path / "c.json.gz"
    path.write_bytes(b"older")
    with pytest.raises(KeyboardInterrupt):
        take(Interrupted(cluster()), path)
    assert path.read_bytes() == b"older"
    assert os.listdir(tmp_path) == ["c.json.gz"]


@pytest.mark.parametrize("error", [ApiError(503, "ServiceUnavailable", "busy"), ApiUnreachable("reset by peer")])
def test_a_server_that_stumbles_is_asked_again(error: RequestError, tmp_path: Path) -> None:
    class Stumbling(FakeServer):
        failures = 2

        async def request(self, method: str, path: str, **more: Any) -> bytes:
            if "pods" in path and self.failures:
                await asyncio.sleep(0.01)
                self.failures -= 1
                raise error
            return await super().request(method, path, **more)

    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    with writing(str(tmp_path / "c.json"), io.BytesIO()) as writer:
        facts = read(Stumbling(cluster()), writer, pause=pause)
        writer.end(facts)
    assert (facts.counts["Pod"], pauses) == (7, [1.0, 3.0])


def test_a_server_that_never_answered_is_not_waited_for(tmp_path: Path) -> None:
    class Down(FakeServer):
        async def request(self, method: str, path: str, **more: Any) -> bytes:
            raise ApiUnreachable("connection refused")

    with pytest.raises(InputError, match="https://server cannot be reached: connection refused"):
        take(Down({}), tmp_path / "c.json")


def test_one_namespace_is_asked_for_as_such_and_the_reader_is_warned(tmp_path: Path) -> None:
    objects = cluster()
    objects["/api/v1/namespaces/shop/pods"] = objects.pop("/api/v1/pods")
    objects["/api/v1/namespaces"] = [made("Namespace", "shop")]
    server = FakeServer(objects)
    facts = take(server, tmp_path / "c.json", WantedLists("shop"))
    assert (facts.counts["Pod"], facts.counts["Node"]) == (7, 3)
    assert "/api/v1/pods?limit=500" not in server.asked
    assert any("nodes look emptier" in warning for warning in topospread.load(str(tmp_path / "c.json")).warnings)
    with pytest.raises(UsageError, match='no namespace "nope"'):
        take(FakeServer(cluster() | {"/api/v1/namespaces/nope/pods": []}), tmp_path / "d.json", WantedLists("nope"))
    assert not (tmp_path / "d.json").exists()


def test_what_is_nobodys_business_is_not_written(tmp_path: Path) -> None:
    secret = "hunter2"
    container = {
        "name": "c",
        "image": "i",
        "env": [{"name": "PASSWORD", "value": secret}],
        "args": [f"--token={secret}"],
        "command": [secret],
        "workingDir": f"/{secret}",
        "livenessProbe": {"httpGet": {"port": 1, "httpHeaders": [{"name": "Authorization", "value": secret}]}},
        "lifecycle": {"preStop": {"exec": {"command": [secret]}}},
        "volumeMounts": [{"name": "v", "mountPath": f"/{secret}"}],
    }
    annotations = {"example.com/token": secret, "kubectl.kubernetes.io/last-applied-configuration": secret}
    volumes = [{"name": "v", "secret": {"secretName": secret}}, {"name": "w", "configMap": {"name": secret}}]
    spec = {"containers": [container], "initContainers": [container], "nodeName": "node-0", "volumes": volumes}
    spec |= {"hostAliases": [{"ip": "1.2.3.4", "hostnames": [secret]}], "serviceAccountName": secret}
    spec |= {"imagePullSecrets": [{"name": secret}], "hostname": secret}
    status = {"phase": "Running", "podIP": secret, "hostIP": secret, "message": secret}
    status["conditions"] = [{"type": "Ready", "status": "True", "message": secret}]
    metadata = {"namespace": "shop", "annotations": annotations, "managedFields": [{"manager": secret}]}
    objects = cluster() | {"/api/v1/pods": [made("Pod", "web-0", metadata=metadata, spec=spec, status=status)]}
    objects["/apis/apps/v1/deployments"] = [
        made(
            "Deployment",
            "web",
            "apps/v1",
            metadata={"namespace": "shop", "annotations": annotations},
            spec={"template": {"metadata": {"annotations": annotations}, "spec": spec}},
        )
    ]
    node = objects["/api/v1/nodes"][0]
    node["status"] = {"addresses": [{"type": "InternalIP", "address": secret}], "nodeInfo": {"machineID": secret}}
    take(FakeServer(objects), tmp_path / "c.json.gz")
    assert secret.encode() not in gzip.decompress((tmp_path / "c.json.gz").read_bytes())
    assert topospread.load(str(tmp_path / "c.json.gz")).pods[0].name == "web-0"


def test_only_the_owner_may_read_the_file(tmp_path: Path) -> None:
    take(FakeServer(cluster()), tmp_path / "c.json")
    assert (tmp_path / "c.json").stat().st_mode & 0o077 == 0


def test_standard_output_takes_plain_json() -> None:
    stdout = io.BytesIO()
    with writing("-", stdout) as writer:
        facts = read(FakeServer(cluster()), writer)
        writer.end(facts)
    assert len(json.loads(stdout.getvalue())["items"]) == 11


def test_where_it_cannot_be_written_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.json\.gz"):
        check_path("cluster.yaml")
    with pytest.raises(InputError, match="folder not found"):
        check_path(str(tmp_path / "nope" / "c.json"))
    (tmp_path / "d.json").mkdir()
    with pytest.raises(InputError, match="this is a folder"):
        check_path(str(tmp_path / "d.json"))
