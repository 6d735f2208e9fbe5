"""Random ValidatingAdmissionPolicies and new pods: what does a real API server refuse, in what words, and what do we?

python -m tests.live.admission_policies --policies 300 --pods 1500 --seed 7
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from tests.live.api_server import api_server
from tests.live.policies import ApiServer
from topospread.api.pod import Pod
from topospread.controllers.planner import plan
from topospread.sources.load import load

Json = dict[str, Any]
GROUP = "admissionregistration.k8s.io/v1"
_APPS = ("web", "db", "")
_IMAGES = ("nginx", "nginx:latest", "nginx:1.27", "reg.example.com:5000/a/b:v2", "reg.example.com/x@sha256:" + "0" * 64)
_KINDS = ("Pod", "Pod", "Pod", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")
_PATIENCE = 60.0

_STRINGS = (
    "object.metadata.labels.app",
    "object.metadata.?labels.?app.orValue('none')",
    "object.metadata.labels[?'tier'].orValue('')",
    "object.metadata.annotations['example.com/owner']",
    "object.spec.containers[0].image",
    "object.spec.containers[1].image",
    "object.spec.containers[0].imagePullPolicy",
    "object.spec.schedulerName",
    "object.spec.dnsPolicy",
    "object.spec.restartPolicy",
    "object.spec.priorityClassName",
    "object.spec.?nodeSelector[?'zone'].orValue('none')",
    "object.metadata.name",
    "object.metadata.namespace",
    "object.spec.serviceAccountName",
    "object.spec.containers[0].terminationMessagePath",
    "request.namespace",
    "request.operation",
    "request.kind.kind",
    "request.resource.resource",
    "namespaceObject.metadata.labels.team",
    "namespaceObject.metadata.name",
    "params.data.word",
    "params.data.missing",
    "variables.text",
    "string(size(object.spec.containers))",
    "string(object.spec.terminationGracePeriodSeconds)",
    "object.spec.containers.map(c, c.name).join(',')",
    "'%s of %d'.format([object.metadata.name, size(object.spec.containers)])",
    "object.metadata.name.split('-')[0]",
    "object.metadata.name.substring(2, 4)",
    "object.metadata.name.replace('p', 'q').upperAscii()",
    "dyn(object.spec).nosuch",
)
_NUMBERS = (
    "size(object.spec.containers)",
    "object.spec.terminationGracePeriodSeconds",
    "object.spec.priority",
    "object.metadata.labels.size()",
    "int(params.data.most)",
    "int(object.metadata.labels.app)",
    "object.spec.containers.filter(c, has(c.resources.limits)).size()",
    "object.spec.containers.map(c, size(c.name)).sum()",
    "object.spec.volumes.size()",
    "object.spec.topologySpreadConstraints[0].maxSkew",
    "size(object.spec.tolerations)",
    "variables.count",
    "10 / variables.count",
    "7 % (size(object.spec.containers) - 1)",
    "object.spec.activeDeadlineSeconds",
    "object.metadata.generation",
    "object.metadata.name.indexOf('7')",
)
_TRUTHS = (
    "has(object.spec.hostNetwork)",
    "has(object.metadata.labels.app)",
    "has(object.metadata.annotations)",
    "has(object.spec.securityContext.runAsNonRoot)",
    "has(object.spec.securityContext)",
    "has(object.spec.nosuch.deeper)",
    "object.spec.hostNetwork",
    "object.spec.securityContext.runAsNonRoot",
    "object.spec.?securityContext.?runAsNonRoot.orValue(false)",
    "object.spec.containers.all(c, c.image.contains(':'))",
    "object.spec.containers.exists(c, c.image.endsWith(':latest'))",
    "object.spec.containers.exists_one(c, c.name == 'main')",
    "object.spec.containers.all(c, has(c.resources.limits) && 'cpu' in c.resources.limits)",
    "object.spec.containers.all(c, quantity(c.resources.limits.cpu).isLessThan(quantity('1')))",
    "object.spec.containers.all(c, quantity(c.resources.requests.memory).compareTo(quantity('256Mi')) <= 0)",
    "object.spec.containers.all(c, c.securityContext.privileged == false)",
    "object.spec.containers.all(c, !has(c.securityContext) || !has(c.securityContext.privileged) "
    "|| c.securityContext.privileged == false)",
    "object.spec.containers.all(c, c.image.matches('^reg[.]example[.]com(:[0-9]+)?/'))",
    "object.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
    "object.spec.containers.all(c, c.?resources.?limits.?memory.hasValue())",
    "object.spec.containers.map(c, c.image).all(i, i.startsWith('nginx'))",
    "object.metadata.labels.exists(k, k.startsWith('a'))",
    "object.metadata.labels.all(k, object.metadata.labels[k] != '')",
    "object.metadata.labels.all(k, v, size(v) < 4)",
    "'app' in object.metadata.labels",
    "object.spec.restartPolicy in ['Always', 'Never']",
    "object.spec.tolerations.exists(t, t.key == 'dedicated')",
    "object.spec.tolerations.all(t, t.operator == 'Exists')",
    "object.spec.topologySpreadConstraints.all(t, t.whenUnsatisfiable == 'DoNotSchedule')",
    "object.spec.topologySpreadConstraints.exists(t, t.labelSelector.matchLabels.app == object.metadata.labels.app)",
    "sets.contains(['a', 'b', 'main'], object.spec.containers.map(c, c.name))",
    "object.spec.containers.map(c, c.name).isSorted()",
    "object.spec.volumes.exists(v, has(v.hostPath))",
    "object.spec.volumes.all(v, v.configMap.defaultMode == 420)",
    "object.spec.containers.all(c, c.livenessProbe.httpGet.scheme == 'HTTP')",
    "object.spec.containers.all(c, c.ports.all(p, p.containerPort > 1024))",
    "object.spec.containers.all(c, c.env.all(e, e.value != ''))",
    "oldObject == null",
    "params == null",
    "variables.flag",
    "type(object.spec.priority) == int",
    "object.spec.containers[0].resources == object.spec.containers[1].resources",
    "object.spec.containers[0] == {}",
    "semver('1.2.3').isLessThan(semver('1.10.0'))",
    "object.spec == object.spec",
)


def text(draw: Random) -> str:
    return draw.choice(_STRINGS)


def truth(draw: Random, depth: int = 2) -> str:  # noqa: PLR0911
    """A random expression that is a truth value."""
    roll = draw.random()
    if depth and roll < 0.2:
        return f"({truth(draw, depth - 1)} && {truth(draw, depth - 1)})"
    if depth and roll < 0.4:
        return f"({truth(draw, depth - 1)} || {truth(draw, depth - 1)})"
    if depth and roll < 0.5:
        return f"!{truth(draw, depth - 1)}" if draw.random() < 0.5 else f"!({truth(draw, depth - 1)})"
    if depth and roll < 0.58:
        return f"({truth(draw, 0)} ? {truth(draw, depth - 1)} : {truth(draw, depth - 1)})"
    if roll < 0.75:
        return draw.choice(_TRUTHS)
    if roll < 0.88:
        operator = draw.choice(("<", "<=", ">", "==", "!="))
        return f"{draw.choice(_NUMBERS)} {operator} {draw.choice((*_NUMBERS, '1', '2', '30', '1.5'))}"
    right = draw.choice((*_STRINGS, "'web'", "'default'", "''"))
    return draw.choice(
        (
            f"{text(draw)} == {right}",
            f"{text(draw)} != {right}",
            f"{text(draw)} < {right}",
            f"{text(draw)}.startsWith({right})",
            f"{text(draw)}.endsWith('b')",
            f"{text(draw)} in ['web', 'Always', 'default']",
            f"size({text(draw)}) > 3",
            f"{text(draw)}.lowerAscii() == {right}",
        )
    )


def rules(draw: Random) -> Json:
    """The requests that a policy is for: nearly always pods."""
    rule: Json = {
        "apiGroups": draw.choice(([""], ["*"], ["", "apps"])),
        "apiVersions": draw.choice((["v1"], ["*"])),
        "operations": draw.choice((["CREATE"], ["*"], ["CREATE", "UPDATE"])),
        "resources": draw.choice((["pods"], ["*"], ["pods", "pods/ephemeralcontainers"], ["*/*"])),
    }
    if draw.random() < 0.1:
        rule["resourceNames"] = draw.choice((["p7", "p8", "p9"], ["other"]))
    if draw.random() < 0.1:
        rule["scope"] = draw.choice(("Namespaced", "*", "Cluster"))
    found: Json = {"resourceRules": [rule], "matchPolicy": draw.choice(("Exact", "Equivalent"))}
    if draw.random() < 0.15:
        found["namespaceSelector"] = draw.choice(
            ({"matchLabels": {"team": "a"}}, {"matchExpressions": [{"key": "team", "operator": "Exists"}]})
        )
    if draw.random() < 0.1:
        found["excludeResourceRules"] = [{**rule, "resourceNames": ["p1", "p2", "p3", "p4", "p5"]}]
    return found


def policy(draw: Random, name: str, group: str) -> list[Json]:
    """A policy and its bindings, for pods of one group."""
    constraints = rules(draw)
    constraints["objectSelector"] = {"matchLabels": {"group": group}}
    spec: Json = {
        "matchConstraints": constraints,
        "failurePolicy": draw.choice(("Fail", "Fail", "Fail", "Ignore")),
        "variables": [
            {"name": "text", "expression": draw.choice(_STRINGS[:20])},
            {"name": "count", "expression": draw.choice(_NUMBERS[:11])},
            {"name": "flag", "expression": draw.choice((f"variables.count > 1 || {truth(draw, 1)}", truth(draw)))},
        ],
        "validations": [],
    }
    has_params = draw.random() < 0.5
    if has_params:
        spec["paramKind"] = {"apiVersion": "v1", "kind": "ConfigMap"}
    for _ in range(draw.choice((1, 1, 2, 3))):
        validation: Json = {"expression": truth(draw)}
        if draw.random() < 0.4:
            validation["message"] = draw.choice(("no", " with spaces ", "a: b"))
        if draw.random() < 0.5:
            validation["messageExpression"] = draw.choice(
                (f"string({text(draw)})", f"'found ' + {text(draw)}", "' '", "'two\\nlines'", "string(variables.count)")
            )
        spec["validations"].append(validation)
    if draw.random() < 0.35:
        spec["matchConditions"] = [
            {"name": f"c{index}", "expression": truth(draw, 1)} for index in range(draw.choice((1, 2)))
        ]
    if draw.random() < 0.1:
        spec["auditAnnotations"] = [{"key": "k", "valueExpression": f"string({text(draw)})"}]
    made = [_of_group("ValidatingAdmissionPolicy", name, spec)]
    for index in range(draw.choice((1, 1, 1, 2))):
        actions = draw.choice((["Deny"], ["Deny"], ["Deny"], ["Deny", "Audit"], ["Warn"], ["Audit"]))
        binding: Json = {"policyName": name, "validationActions": actions}
        if has_params and draw.random() < 0.9:
            binding["paramRef"] = {"name": draw.choice(("p-one", "p-two")), "parameterNotFoundAction": "Deny"}
            if draw.random() < 0.5:
                binding["paramRef"]["namespace"] = "default"
        if draw.random() < 0.15:
            binding["matchResources"] = {"namespaceSelector": {"matchLabels": {"team": "b"}}}
        made.append(_of_group("ValidatingAdmissionPolicyBinding", f"{name}-b{index}", binding))
    return made


def _of_group(kind: str, name: str, spec: Json) -> Json:
    return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name}, "spec": spec}


def container(draw: Random, name: str) -> Json:
    found: Json = {"name": name, "image": draw.choice(_IMAGES)}
    amounts = (("cpu", draw.choice(("250m", "1", "1.5"))), ("memory", "128Mi"))
    resources = {
        field: {each: value for each, value in amounts if draw.random() < 0.7}
        for field in ("limits", "requests")
        if draw.random() < 0.5
    }
    for each, limit in resources.get("limits", {}).items():
        if each in resources.get("requests", {}):
            resources["requests"][each] = limit
    for key, value in (
        ("resources", resources),
        ("securityContext", draw.choice(({}, {"privileged": False}, {"privileged": True}, {"runAsNonRoot": True}))),
        ("livenessProbe", {"httpGet": {"port": 80}}),
        ("ports", [{"containerPort": draw.choice((80, 8080))}]),
        ("env", draw.choice(([], [{"name": "A", "value": ""}], [{"name": "A", "value": "b"}]))),
    ):
        if draw.random() < 0.35:
            found[key] = value
    return found


def workload(draw: Random, kind: str, pod: Json) -> Json:
    """A workload that makes a pod, with its name, namespace and labels."""
    version = "batch/v1" if kind == "Job" else "apps/v1"
    metadata, template = pod["metadata"], {"metadata": {"labels": pod["metadata"]["labels"]}, "spec": pod["spec"]}
    pod["spec"].pop("activeDeadlineSeconds", None)
    pod["spec"].pop("restartPolicy", None)
    spec: Json = {"template": template, "selector": {"matchLabels": {"group": metadata["labels"]["group"]}}}
    if kind == "Job":
        pod["spec"]["restartPolicy"] = "Never"
        del spec["selector"]
    if kind in ("Deployment", "ReplicaSet", "StatefulSet") and draw.random() < 0.5:
        spec["replicas"] = draw.choice((0, 1, 3))
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def pod(draw: Random, name: str, namespace: str, group: str) -> Json:
    """A pod without a token, for the API server has no service accounts."""
    labels = {"group": group}
    if app := draw.choice(_APPS):
        labels["app"] = app
    if draw.random() < 0.2:
        labels |= {"app": "2", "tier": ""}
    spec: Json = {
        "automountServiceAccountToken": False,
        "serviceAccountName": "me",
        "imagePullSecrets": [{"name": "s"}],
        "containers": [container(draw, each) for each in draw.choice((["main"], ["main", "b"], ["b", "a"]))],
    }
    for key, value in (
        ("hostNetwork", draw.choice((True, False))),
        ("securityContext", draw.choice(({}, {"runAsNonRoot": True}, {"runAsNonRoot": False}))),
        ("restartPolicy", draw.choice(("Always", "Never", "OnFailure"))),
        ("nodeSelector", {"zone": "a"}),
        ("tolerations", [{"key": "dedicated", "operator": draw.choice(("Exists", "Equal"))}]),
        ("terminationGracePeriodSeconds", draw.choice((0, 5, 30))),
        ("activeDeadlineSeconds", 7),
        ("priorityClassName", "system-node-critical"),
        ("volumes", [{"name": "v", **draw.choice(({"configMap": {"name": "c"}}, {"hostPath": {"path": "/"}}, {}))}]),
        (
            "topologySpreadConstraints",
            [
                {
                    "maxSkew": draw.choice((1, 2)),
                    "topologyKey": "zone",
                    "whenUnsatisfiable": draw.choice(("DoNotSchedule", "ScheduleAnyway")),
                    "labelSelector": {"matchLabels": {"app": "web"}},
                }
            ],
        ),
    ):
        if draw.random() < 0.3:
            spec[key] = value
    metadata: Json = {"name": name, "namespace": namespace, "labels": labels}
    if draw.random() < 0.3:
        metadata["annotations"] = {"example.com/owner": draw.choice(("", "web", "me"))}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def shared(draw: Random) -> list[Json]:
    """Namespaces and the parameters in them."""
    found: list[Json] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a", "labels": {"team": "a"}}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-b", "labels": {"team": "b"}}},
    ]
    for namespace in ("default", "team-a", "team-b"):
        for name in ("p-one", "p-two"):
            data = {"word": draw.choice(("web", "main")), "most": draw.choice(("1", "2", "many"))}
            metadata = {"name": name, "namespace": namespace}
            found.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    return found


def drawn(draw: Random, policies: int, pods: int) -> tuple[list[Json], list[list[Json]], list[Json]]:
    """Shared objects, policies with their bindings, and pods of the policies' groups."""
    kinds = [draw.choice(_KINDS) for _ in range((policies + 1) // 2)]
    made = [policy(draw, f"v{index}", f"g{index // 2}") for index in range(policies)]
    made = [each if kinds[index // 2] == "Pod" else _for_workloads(each) for index, each in enumerate(made)]
    found = []
    for index in range(pods):
        group = draw.randrange(len(kinds))
        one = pod(draw, f"p{index}", draw.choice(("default", "team-a", "team-b")), f"g{group}")
        found.append(one if kinds[group] == "Pod" else workload(draw, kinds[group], one))
    return shared(draw), made, found


def _for_workloads(made: list[Json]) -> list[Json]:
    """The same policy for workloads: it reads their templates, now and then their own fields."""
    text = json.dumps(made)
    for field in (
        "containers",
        "tolerations",
        "securityContext",
        "volumes",
        "hostNetwork",
        "restartPolicy",
        "priority",
    ):
        text = text.replace(f"object.spec.{field}", f"object.spec.template.spec.{field}")
    text = text.replace("object.spec.activeDeadlineSeconds", "object.spec.replicas")
    text = text.replace("object.spec.schedulerName", "object.spec.strategy.type")
    text = text.replace('"pods"', '"deployments", "replicasets", "statefulsets", "daemonsets", "jobs"')
    found: list[Json] = json.loads(text)
    for rule in found[0]["spec"]["matchConstraints"]["resourceRules"]:
        rule["apiGroups"] = ["*"]
    return found


def _path(item: Json) -> str:
    kind, version = item["kind"], item["apiVersion"]
    plural = kind.lower().removesuffix("y") + ("ies" if kind.endswith("Policy") else "s")
    root = f"/api/{version}" if "/" not in version else f"/apis/{version}"
    namespace = item["metadata"].get("namespace")
    return f"{root}/namespaces/{namespace}/{plural}" if namespace else f"{root}/{plural}"


def ask(
    server: ApiServer, objects: list[Json], policies: list[list[Json]], pods: list[Json]
) -> tuple[list[Json], list[str]]:
    """The policies that an API server takes, and its answer to the creation of each pod: "" or why it is refused."""
    for each in objects:
        status, _, answer = server.post(_path(each), each)
        assert status == 201, answer
    taken: list[Json] = []
    for made in policies:
        if server.post(_path(made[0]), made[0])[0] == 201:
            taken += made
            for each in made[1:]:
                status, _, answer = server.post(_path(each), each)
                assert status == 201, answer
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    spec: Json = {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": "false"}]}
    last = [_of_group("ValidatingAdmissionPolicy", "last", spec)]
    binding = {"policyName": "last", "validationActions": ["Deny"]}
    last.append(_of_group("ValidatingAdmissionPolicyBinding", "last", binding))
    for each in last:
        status, _, answer = server.post(_path(each), each)
        assert status == 201, answer
    probe: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe", "namespace": "default"}}
    until = time.monotonic() + _PATIENCE
    while server.post(f"{_path(probe)}?dryRun=All", probe)[0] == 201:
        assert time.monotonic() < until, "the last policy is not in force"
        time.sleep(0.2)
    said = []
    for each in pods:
        status, _, answer = server.post(f"{_path(each)}?dryRun=All", each)
        message = "" if status == 201 else json.loads(answer)["message"]
        said.append("invalid" if message and "forbidden: " not in message else message.partition("forbidden: ")[2])
    return taken, said


def ours(objects: list[Json], policies: list[Json], pods: list[Json]) -> list[tuple[list[str], list[str]]]:
    """For each pod the denials of policies, and why others are open."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"apiVersion": "v1", "kind": "List", "items": [*objects, *policies, *pods]}, file)
        file.flush()
        planned = plan(load([file.name], cluster="nodes=1"))
    assert planned.new_pods is not None
    judge = planned.new_pods.policies
    by_name = {(type(each).__name__, each.name): each for each in planned.inventory.objects()}
    found = []
    for each in pods:
        item = by_name[each["kind"], each["metadata"]["name"]]
        if isinstance(item, Pod):
            decided = judge.decisions(item)
        else:
            on_workload = judge.decisions_on_workload(each["kind"], item)
            decided = [(name, one) for made, name, one in on_workload if made.kind == each["kind"]]
        opened = [f"{name}: {one.open}" for name, one in decided if one.open]
        found.append(([one.denial for _, one in decided if one.denial], opened))
    return found


def difference(theirs: str, denials: list[str], opened: list[str]) -> str:
    """How an answer differs from ours, "" if it does not; of several denials the API server says any."""
    if theirs.startswith("ValidatingAdmissionPolicy"):
        found = any(theirs == each or (each.endswith("…") and theirs.startswith(each[:-1])) for each in denials)
        return "" if found or (opened and not denials) else f"refused: {theirs}"
    return f"not refused: {theirs}" if denials else ""


def options(description: str | None) -> argparse.Namespace:
    """Read the command line of a comparison on an API server."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--policies", type=int, default=300)
    parser.add_argument("--pods", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--programs", type=Path, default=Path(__file__).parent.parent.parent / "build" / "live")
    parser.add_argument("--record", type=Path, help="write the objects and the answers there, as JSON")
    return parser.parse_args()


def main() -> int:
    """Compare on an API server of its own."""
    given = options(__doc__)
    objects, policies, pods = drawn(Random(given.seed), given.policies, given.pods)
    with (
        tempfile.TemporaryDirectory() as folder,
        api_server(given.programs, Path(folder)) as kubeconfig,
        closing(ApiServer(kubeconfig)) as server,
    ):
        taken, said = ask(server, objects, policies, pods)
    valid = [at for at, each in enumerate(said) if each != "invalid"]
    pods, said = [pods[at] for at in valid], [said[at] for at in valid]
    if given.record:
        given.record.write_text(json.dumps({"objects": objects, "policies": taken, "pods": pods, "said": said}))
    counts: Counter[str] = Counter()
    differences = []
    begun = time.monotonic()
    for each, theirs, (denials, opened) in zip(pods, said, ours(objects, taken, pods), strict=True):
        counts["refused" if theirs else "created"] += 1
        counts["error" if "resulted in error" in theirs else ""] += 1
        if opened:
            counts["open"] += 1
            counts[opened[0].partition(": ")[2]] += 1
        differs = difference(theirs, denials, opened)
        if differs:
            label = f'"{each["metadata"]["labels"]["group"]}"'
            concerned = [one for one in map(json.dumps, taken) if label in one]
            differences.append(f"{differs}\n  ours {denials} {opened}\n  {json.dumps(each)}\n  {concerned}")
    policies_taken = sum(one["kind"].endswith("Policy") for one in taken)
    seconds = time.monotonic() - begun
    print(f"seed {given.seed}: {policies_taken} policies, {len(differences)} differ, {dict(counts)}, {seconds:.1f} s")
    print("\n".join(differences[:8]))
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main())
