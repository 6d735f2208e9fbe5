"""Random MutatingAdmissionPolicies and new objects: what does a real API server make of them, and what do we?

python -m tests.live.mutating_policies --policies 300 --pods 1500 --seed 7
"""

# ruff: noqa: E501, UP031 - expressions stand on one line, with braces in them

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from tests.live.admission_policies import GROUP, options, pod, rules, shared, text, truth, workload
from tests.live.admission_policies import _path as path_of
from tests.live.api_server import api_server
from tests.live.policies import ApiServer
from topospread.admission.requests import NotWrittenError, Requests
from topospread.api.pod import Pod
from topospread.cel.values import Unknown
from topospread.controllers.planner import plan
from topospread.sources.load import load

Json = dict[str, Any]
_KINDS = ("Pod", "Pod", "Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
_PATIENCE = 60.0
_FORGOTTEN = {"uid", "creationTimestamp", "managedFields", "resourceVersion", "generation", "selfLink"}

_KEYS = ("topology.kubernetes.io/zone", "kubernetes.io/hostname", "zone")
_VALUES = (
    "'a'",
    "'b'",
    "object.metadata.name",
    "namespaceObject.metadata.name",
    "string(size(object.spec.containers))",
)


def part(draw: Random) -> str:
    """The fields of a pod's spec that an ApplyConfiguration sets."""
    roll = draw.randrange(14)
    if roll < 3:
        key, how = draw.choice(_KEYS), draw.choice(("DoNotSchedule", "ScheduleAnyway"))
        match = draw.choice(
            ("", ', labelSelector: Object.spec.topologySpreadConstraints.labelSelector{matchLabels: {"app": "web"}}')
        )
        skew = draw.choice(("1", "2", "size(object.spec.containers)", "0"))
        return (
            f'topologySpreadConstraints: [Object.spec.topologySpreadConstraints{{maxSkew: {skew}, topologyKey: "{key}", '
            f'whenUnsatisfiable: "{how}"{match}}}]'
        )
    if roll < 6:
        made = draw.choice(
            (
                f'image: "{draw.choice(("a:1", "b", "c:latest"))}"',
                'resources: Object.spec.containers.resources{requests: {"cpu": "100m"}, limits: {"cpu": "2"}}',
                'resources: Object.spec.containers.resources{limits: {"memory": "1Gi"}}',
                'env: [Object.spec.containers.env{name: "B", value: "b"}, Object.spec.containers.env{name: "A", value: "x"}]',
                "ports: [Object.spec.containers.ports{containerPort: 80}]",
                "securityContext: Object.spec.containers.securityContext{privileged: false}",
            )
        )
        if draw.random() < 0.5:
            return f"containers: object.spec.containers.map(c, Object.spec.containers{{name: c.name, {made}}})"
        name = draw.choice(("main", "b", "new"))
        image = ', image: "nginx"' if name == "new" and "image" not in made else ""
        return f'containers: [Object.spec.containers{{name: "{name}"{image}, {made}}}]'
    return draw.choice(
        (
            'nodeSelector: {"zone": "b"}',
            'tolerations: [Object.spec.tolerations{key: "a", operator: "Exists"}]',
            "terminationGracePeriodSeconds: 7",
            f"terminationGracePeriodSeconds: {draw.choice(('object.spec.?terminationGracePeriodSeconds.orValue(3)', '-1'))}",
            "securityContext: Object.spec.securityContext{runAsNonRoot: true}",
            '?priorityClassName: object.spec.containers.size() > 1 ? optional.of("system-node-critical") : optional.none()',
            'volumes: [Object.spec.volumes{name: "w", emptyDir: Object.spec.volumes.emptyDir{}}]',
            'initContainers: [Object.spec.initContainers{name: "i", image: "busybox"}]',
            'nosuch: "a"',
            "securityContext: Object.spec.wrong{runAsNonRoot: true}",
            "hostNetwork: true",
            'schedulingGates: [Object.spec.schedulingGates{name: "example.com/wait"}]',
            "affinity: Object.spec.affinity{nodeAffinity: Object.spec.affinity.nodeAffinity{}}",
            'containers: [Object.spec.containers{image: "x"}]',
            f"hostname: {text(draw)}",
        )
    )


def applied(draw: Random) -> str:
    """An expression that makes an object to merge."""
    roll = draw.random()
    metadata = draw.choice(
        (
            f'labels: {{"added": {draw.choice(_VALUES)}}}',
            f'annotations: {{"example.com/{draw.choice("ab")}": {draw.choice(_VALUES)}, "x": "y"}}',
            'labels: Object.metadata.labels{app: "changed"}',
            f'?labels: {truth(draw, 0)} ? optional.of({{"added": "c"}}) : optional.none()',
        )
    )
    found = f"Object.metadata{{{metadata}}}"
    if roll < 0.3:
        return f"Object{{metadata: {found}}}"
    made = f"Object.spec{{{part(draw)}}}"
    if roll < 0.4:
        return f"Object{{metadata: {found}, spec: {made}}}"
    if roll < 0.55:
        return f"{truth(draw, 1)} ? Object{{spec: {made}}} : Object{{}}"
    return f"Object{{spec: {made}}}"


def operation(draw: Random) -> str:
    """One operation of a JSON patch."""
    return draw.choice(
        (
            'JSONPatch{op: "add", path: "/metadata/labels/added", value: "%s"}' % draw.choice("abc"),
            'JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("example.com/a"), value: object.metadata.name}',
            'JSONPatch{op: "add", path: "/metadata/annotations/x", value: "y"}',
            'JSONPatch{op: "add", path: "/metadata/annotations", value: {"x": "y"}}',
            'JSONPatch{op: "replace", path: "/spec/schedulerName", value: "second"}',
            'JSONPatch{op: "add", path: "/spec/nodeSelector", value: {"zone": "c"}}',
            'JSONPatch{op: "add", path: "/spec/nodeSelector/disk", value: "ssd"}',
            'JSONPatch{op: "add", path: "/spec/tolerations/-", value: Object.spec.tolerations{key: "b", operator: "Exists"}}',
            'JSONPatch{op: "add", path: "/spec/tolerations/0", value: {"key": "c", "operator": "Exists"}}',
            'JSONPatch{op: "remove", path: "/spec/containers/%s/image"}' % draw.choice(("0", "1", "-1", "a", "7")),
            'JSONPatch{op: "replace", path: "/spec/containers/%s/image", value: "z"}' % draw.choice(("0", "1")),
            'JSONPatch{op: "remove", path: "/metadata/labels/app"}',
            'JSONPatch{op: "test", path: "/metadata/labels/app", value: "web"}',
            'JSONPatch{op: "test", path: "/spec/containers/0/name", value: "main"}',
            'JSONPatch{op: "copy", from: "/metadata/labels/group", path: "/metadata/labels/copied"}',
            'JSONPatch{op: "move", from: "/metadata/labels/app", path: "/metadata/labels/moved"}',
            'JSONPatch{op: "copy", from: "/metadata/labels/nosuch", path: "/metadata/labels/copied"}',
            'JSONPatch{op: "add", path: "/spec/terminationGracePeriodSeconds", value: %s}'
            % draw.choice(("5", "1 + 2", '"x"')),
            'JSONPatch{op: "add", path: "/spec/nosuch", value: 1}',
            'JSONPatch{op: "add", path: "/spec/a/b", value: 1}',
            'JSONPatch{op: "what", path: "/spec"}',
            'JSONPatch{op: "add", path: "/spec/priorityClassName", value: "system-cluster-critical"}',
            'JSONPatch{op: "add", path: "/spec/containers/-", value: Object.spec.containers{name: "side", image: "s:1"}}',
            'JSONPatch{op: "add", path: "/spec/containers/-", value: object.spec.containers[0]}',
            'JSONPatch{op: "add", path: "/spec/topologySpreadConstraints", value: [{"maxSkew": 1, "topologyKey": "zone", '
            '"whenUnsatisfiable": "DoNotSchedule"}]}'.replace(
                '{"maxSkew": 1, ', "Object.spec.topologySpreadConstraints{maxSkew: 1, "
            )
            .replace('"topologyKey"', "topologyKey")
            .replace('"whenUnsatisfiable"', "whenUnsatisfiable"),
        )
    )


def patch(draw: Random) -> str:
    """An expression that makes the operations of a JSON patch."""
    made = ", ".join(operation(draw) for _ in range(draw.choice((1, 1, 2, 3))))
    if draw.random() < 0.25:
        return f"{truth(draw, 1)} ? [{made}] : []"
    return f"[{made}]"


def policy(draw: Random, name: str, group: str) -> list[Json]:
    """A policy and its binding, for objects of one group."""
    constraints = rules(draw)
    constraints["objectSelector"] = {"matchLabels": {"group": group}}
    spec: Json = {
        "matchConstraints": constraints,
        "failurePolicy": draw.choice(("Fail", "Ignore")),
        "reinvocationPolicy": draw.choice(("Never", "IfNeeded")),
        "mutations": [],
    }
    if draw.random() < 0.4:
        spec["variables"] = [
            {"name": "text", "expression": draw.choice(_VALUES)},
            {"name": "count", "expression": "size(object.spec.containers)"},
            {"name": "flag", "expression": truth(draw, 0)},
        ]
    has_params = draw.random() < 0.4
    if has_params:
        spec["paramKind"] = {"apiVersion": "v1", "kind": "ConfigMap"}
    for _ in range(draw.choice((1, 1, 2))):
        if draw.random() < 0.6:
            spec["mutations"].append(
                {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": applied(draw)}}
            )
        else:
            spec["mutations"].append({"patchType": "JSONPatch", "jsonPatch": {"expression": patch(draw)}})
    if draw.random() < 0.3:
        spec["matchConditions"] = [{"name": "c", "expression": truth(draw, 1)}]
    made = [_of_group("MutatingAdmissionPolicy", name, spec)]
    binding: Json = {"policyName": name}
    if has_params:
        binding["paramRef"] = {"name": draw.choice(("p-one", "p-two")), "parameterNotFoundAction": "Deny"}
    return [*made, _of_group("MutatingAdmissionPolicyBinding", f"{name}-b", binding)]


def _of_group(kind: str, name: str, spec: Json) -> Json:
    return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _for_workloads(made: list[Json]) -> list[Json]:
    """The same policy for workloads: it changes their templates."""
    words = json.dumps(made)
    for before, after in (
        ("object.spec.", "object.spec.template.spec."),
        ("/spec/", "/spec/template/spec/"),
        ("Object.spec", "Object.spec.template.spec"),
        ('"pods"', '"deployments", "replicasets", "statefulsets", "daemonsets"'),
    ):
        words = words.replace(before, after)
    found: list[Json] = json.loads(words)
    for mutation in found[0]["spec"]["mutations"]:
        given = mutation.get("applyConfiguration", {})
        head, is_there, rest = given.get("expression", "").partition("spec: Object.spec.template.spec{")
        if is_there:
            end = _end(rest)
            inner = f"Object.spec.template.spec{{{rest[:end]}}}"
            wrapped = f"spec: Object.spec{{template: Object.spec.template{{spec: {inner}}}}}"
            given["expression"] = head + wrapped + rest[end + 1 :]
    for rule in found[0]["spec"]["matchConstraints"]["resourceRules"]:
        rule["apiGroups"] = ["*"]
    return found


def _end(words: str) -> int:
    """Where a brace that is open closes."""
    depth = 1
    for at, each in enumerate(words):
        depth += (each == "{") - (each == "}")
        if depth == 0:
            return at
    raise ValueError(words)


def drawn(draw: Random, policies: int, pods: int) -> tuple[list[Json], list[list[Json]], list[Json]]:
    """Shared objects, policies with their bindings, and objects of the policies' groups."""
    made: list[list[Json]] = []
    kinds: list[str] = []
    while len(made) < policies:
        group, kind = f"g{len(kinds)}", draw.choice(_KINDS)
        kinds.append(kind)
        for _ in range(draw.choice((1, 1, 2, 3))):
            one = policy(draw, f"m{len(made)}", group)
            made.append(one if kind == "Pod" else _for_workloads(one))
    found = []
    for index in range(pods):
        at = draw.randrange(len(kinds))
        one = pod(draw, f"p{index}", draw.choice(("default", "team-a", "team-b")), f"g{at}")
        found.append(one if kinds[at] == "Pod" else workload(draw, kinds[at], one))
    bounds = {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"memory": "64Mi"}}
    limit: Json = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l", "namespace": "team-a"}}
    return [*shared(draw), {**limit, "spec": {"limits": [bounds]}}], made, found


def ask(
    server: ApiServer, objects: list[Json], policies: list[list[Json]], pods: list[Json]
) -> tuple[list[Json], list[Json], list[Json | str]]:
    """The policies that an API server takes, the valid objects, and what it would store of each, or why not."""
    for each in objects:
        status, _, answer = server.post(path_of(each), each)
        assert status == 201, answer
    pods = [each for each in pods if server.post(f"{path_of(each)}?dryRun=All", each)[0] == 201]
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    mark = 'Object{metadata: Object.metadata{labels: {"last": "yes"}}}'
    spec: Json = {
        "matchConstraints": {"resourceRules": [rule]},
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": mark}}],
    }
    taken: list[Json] = []
    last = [_of_group("MutatingAdmissionPolicy", "last", spec)]
    last.append(_of_group("MutatingAdmissionPolicyBinding", "last", {"policyName": "last"}))
    for made in [*policies, last]:
        status, _, answer = server.post(path_of(made[0]), made[0])
        assert made is not last or status == 201, answer
        if status == 201:
            taken += made if made is not last else []
            for each in made[1:]:
                status, _, answer = server.post(path_of(each), each)
                assert status == 201, answer
    probe: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe", "namespace": "default"}}
    until = time.monotonic() + _PATIENCE
    while "labels" not in json.loads(server.post(f"{path_of(probe)}?dryRun=All", probe)[2])["metadata"]:
        assert time.monotonic() < until, "the last policy is not in force"
        time.sleep(0.2)
    said: list[Json | str] = []
    for each in pods:
        status, _, answer = server.post(f"{path_of(each)}?dryRun=All", each)
        found = json.loads(answer)
        said.append(found if status == 201 else found["message"])
    return taken, pods, said


def ours(objects: list[Json], policies: list[Json], pods: list[Json]) -> Iterator[tuple[Any, str]]:
    """For each object what is stored, or the message that refuses it; and why it is open."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"apiVersion": "v1", "kind": "List", "items": [*objects, *policies, *pods]}, file)
        file.flush()
        planned = plan(load([file.name], cluster="nodes=1"))
    assert planned.new_pods is not None
    judge, requests = planned.new_pods.policies, Requests(planned.inventory)
    items = {(type(each).__name__, each.name): each for each in planned.inventory.objects()}
    for each in pods:
        kind, name = each["kind"], each["metadata"]["name"]
        item = items[kind, name]
        key = kind, item.namespace, name
        try:
            if isinstance(item, Pod):
                opened = (item.spec.unjudged_admission or [""])[0]
                yield item.spec.refused_admission or requests.of_pod(item).alternatives[0], opened
            else:
                template = (item.spec.template.spec.unjudged_admission or [""])[0]  # type: ignore[attr-defined]
                made = requests.of_workload(kind, item).alternatives[0]
                refused = judge.refused_workloads.get(key, "")
                yield refused if refused and "ReplicaSetCreateError" not in refused else made, template
        except NotWrittenError as error:
            yield {}, str(error)


def difference(theirs: Json | str, found: Any, opened: str) -> str:
    """How an answer differs from ours, "" if it does not or ours is open."""
    if opened:
        return ""
    if isinstance(theirs, str) or isinstance(found, str):
        if isinstance(theirs, str) and isinstance(found, str):
            head, is_open, _ = found.partition("…")
            return (
                "" if theirs == found or (is_open and theirs.startswith(head)) else f"said: {theirs}\n  ours: {found}"
            )
        return f"theirs: {json.dumps(theirs)[:300]}\n  ours: {str(found)[:300]}"
    return next(_differences(theirs, found, ""), "")


def _differences(theirs: Any, found: Any, path: str) -> Iterator[str]:
    if isinstance(found, Unknown):
        return
    if isinstance(theirs, dict) and isinstance(found, dict):
        for key in sorted({*theirs, *found}):
            if (path, key) == ("", "status") or (path == ".metadata" and key in _FORGOTTEN):
                continue
            if key not in found or (key not in theirs and not isinstance(found[key], Unknown)):
                yield f"{path}.{key}: theirs {theirs.get(key)}, ours {found.get(key)}"
            elif key in theirs:
                yield from _differences(theirs[key], found[key], f"{path}.{key}")
    elif isinstance(theirs, list) and isinstance(found, list) and len(theirs) == len(found):
        for at, (one, other) in enumerate(zip(theirs, found, strict=True)):
            yield from _differences(one, other, f"{path}[{at}]")
    elif theirs != found:
        yield f"{path}: theirs {theirs}, ours {found}"


def main() -> int:
    """Compare on an API server of its own."""
    given = options(__doc__)
    objects, policies, pods = drawn(Random(given.seed), given.policies, given.pods)
    with (
        tempfile.TemporaryDirectory() as folder,
        api_server(given.programs, Path(folder)) as kubeconfig,
        closing(ApiServer(kubeconfig)) as server,
    ):
        taken, pods, said = ask(server, objects, policies, pods)
    if given.record:
        given.record.write_text(json.dumps({"objects": objects, "policies": taken, "pods": pods, "said": said}))
    counts: Counter[str] = Counter()
    differences = []
    begun = time.monotonic()
    for each, theirs, (found, opened) in zip(pods, said, ours(objects, taken, pods), strict=True):
        counts["refused" if isinstance(theirs, str) else "created"] += 1
        if opened:
            counts["open"] += 1
            counts[opened.partition("(")[2]] += 1
        differs = difference(theirs, found, opened)
        if differs:
            label = f'"{each["metadata"]["labels"]["group"]}"'
            concerned = [one for one in map(json.dumps, taken) if label in one]
            differences.append("\n  ".join((differs, json.dumps(each), *concerned)))
    taken_count = sum(one["kind"].endswith("Policy") for one in taken)
    seconds = time.monotonic() - begun
    print(f"seed {given.seed}: {taken_count} policies, {len(pods)} objects, {len(differences)} differ, {seconds:.1f} s")
    print(dict(counts.most_common()))
    print("\n".join(differences[:4]))
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main())
