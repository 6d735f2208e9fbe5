"""The exit code of each command for each kind of unknown: a row for each command, a column for each case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from topospread.plugins.dynamic_resources import allocator
from topospread.sources.snapshot_facts import FORMAT

Json = dict[str, Any]
ZONES = ["--on", "zones=3,nodes=6,cpu=4"]
OPEN, REFUSED, ABSENT = "claim open", "claim refused by cpu anyway", "kind not in the input"
UNREAD, DEVICES = "kind not readable", "budget of the search for devices exhausted"
REFUSING, CHANGING = "a policy may refuse the pods", "a policy may change pods that cpu refuses"
GROUP, DENIED = "a pod group that is not in the input", "pods that the API server refuses"
SCHEDULER = "pods of another scheduler that cpu refuses"
NO_CLASSES, NO_CLAIMS, NO_TEMPLATES = (f"no {kind} in the input" for kind in ("DeviceClass", "claim", "template"))
WRONG_CLASS = "a DeviceClass that is not among those of the input"
UNKNOWN = (OPEN, ABSENT, UNREAD, DEVICES, REFUSING, CHANGING, GROUP, SCHEDULER, NO_CLASSES, NO_CLAIMS, NO_TEMPLATES)
"""Cases in which the pods of shop/infer are not judged."""
GATES = ["--feature-gates", "GenericWorkload=true,apiserver:GenericWorkload=true"]
TABLE: dict[str, tuple[list[str], int, int]] = {
    "status": ([], 4, 1),
    "status --waiting": (["shop/deploy/infer"], 4, 1),
    "why": (["shop/deploy/infer"], 4, 1),
    "why -n shop": ([], 4, 1),
    "simulate": ([], 4, 1),
    "simulate --orders 3": ([], 4, 1),
    "plan --to-kube-version 1.36": ([], 0, 0),
    "drill --fail zone=zone-a": ([], 4, 0),
    "drill --each zone": ([], 4, 0),
    "drill --drain node=node-1": ([], 4, 0),
    "drill --rollout deploy/infer": ([], 4, 1),
    "capacity": (["shop/deploy/infer"], 4, 1),
    "promise show": ([], 4, 1),
    "promise check": (["--want", "never-waits"], 4, 1),
    "promise check --want zone-loss>=1": ([], 4, 1),
    "promise design": (["--states", "500"], 4, 1),
    "rebalance": ([], 0, 0),
}
"""Command → further options, the exit code if the pods are not judged, and if they are refused whatever decides."""
BUDGETS: dict[str, list[str]] = {
    "promise check": ["--want", "zone-loss>=1", "--states", "1"],
    "promise show": ["--states", "1"],
    "promise design": ["--tries", "1"],
    "plan": ["long.json", "shorter.json", "--seconds", "0"],
}
"""Command → options with which its own search ends before it has an answer."""


def deployment(cpu: str, spread: bool = True, replicas: int = 3, **parts: object) -> Json:
    pod: Json = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}], **parts}
    if spread:
        pod["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "infer"}},
                "matchLabelKeys": ["pod-template-hash"],
            }
        ]
    labels = {"app": "infer"}
    template = {"metadata": {"labels": labels}, "spec": pod}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "infer", "namespace": "shop"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }


def named(kind: str, api_version: str, name: str, spec: Json) -> Json:
    metadata = {"name": name, "namespace": "shop"} if kind not in ("DeviceClass", "ResourceSlice") else {"name": name}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


CLAIMS = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
VOLUMES = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
DRA = "resource.k8s.io/v1"
PVC = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
REQUESTS = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}


def policy(kind: str) -> list[Json]:
    """Return a policy for new pods, and its binding."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    bound: Json = {"policyName": "p", **({"validationActions": ["Deny"]} if kind == "Validating" else {})}
    group, names = "admissionregistration.k8s.io/v1", {"metadata": {"name": "p"}}
    spec: Json = {"matchConstraints": {"resourceRules": [rule]}}
    if kind == "Validating":
        spec["validations"] = [{"expression": "request.userInfo.username == 'me'"}]
    else:
        changed = "request.userInfo.username == 'me' ? Object{spec: Object.spec{priority: 1}} : Object{}"
        spec["reinvocationPolicy"] = "Never"
        spec["mutations"] = [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": changed}}]
    return [
        {"apiVersion": group, "kind": f"{kind}AdmissionPolicy", "spec": spec} | names,
        {"apiVersion": group, "kind": f"{kind}AdmissionPolicyBinding", "spec": bound} | names,
    ]


SLICES = [
    named(
        "ResourceSlice",
        DRA,
        f"node-{number}",
        {
            "driver": "d",
            "pool": {"name": f"node-{number}", "generation": 1, "resourceSliceCount": 1},
            "nodeName": f"node-{number}",
            "devices": [{"name": "a"}],
        },
    )
    for number in range(1, 7)
]
TEMPLATE = named("ResourceClaimTemplate", DRA, "gpu", {"spec": REQUESTS})
CASES: dict[str, tuple[list[Json], dict[str, str]]] = {
    NO_CLASSES: ([deployment("1", resourceClaims=CLAIMS), TEMPLATE, *SLICES], {}),
    NO_CLAIMS: (
        [
            deployment("1", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}]),
            named("DeviceClass", DRA, "gpu", {}),
            *SLICES,
        ],
        {},
    ),
    NO_TEMPLATES: ([deployment("1", resourceClaims=CLAIMS), named("DeviceClass", DRA, "gpu", {}), *SLICES], {}),
    WRONG_CLASS: (
        [deployment("1", resourceClaims=CLAIMS), TEMPLATE, named("DeviceClass", DRA, "tpu", {}), *SLICES],
        {},
    ),
    REFUSING: ([deployment("1"), *policy("Validating")], {}),
    CHANGING: ([deployment("16"), *policy("Mutating")], {}),
    SCHEDULER: ([deployment("16", schedulerName="volcano")], {}),
    OPEN: ([deployment("1", resourceClaims=CLAIMS)], {}),
    GROUP: ([deployment("1", schedulingGroup={"podGroupName": "g"})], {}),
    DENIED: (
        [
            deployment("1"),
            named("LimitRange", "v1", "least", {"limits": [{"type": "Container", "min": {"cpu": "2"}}]}),
        ],
        {},
    ),
    REFUSED: ([deployment("16", resourceClaims=CLAIMS)], {}),
    ABSENT: ([deployment("1", volumes=VOLUMES)], {}),
    UNREAD: (
        [deployment("1", volumes=VOLUMES), named("PersistentVolumeClaim", "v1", "data", PVC)],
        {"PersistentVolume": "Forbidden"},
    ),
    DEVICES: (
        [
            deployment("1", resourceClaims=CLAIMS),
            named("DeviceClass", DRA, "gpu", {}),
            TEMPLATE,
            *SLICES,
        ],
        {},
    ),
}
"""Case → objects, and the kinds that could not be read."""


def write(path: str, objects: list[Json], missing: dict[str, str] | None = None) -> None:
    facts = {"topospread": {"format": FORMAT, "missing": missing}} if missing else {}
    Path(path).write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects, **facts}))


def check(told: tuple[object, str, str], code: int) -> None:
    got, out, err = told
    assert got == code, out + err
    assert out.startswith({0: "yes: ", 1: "no: ", 4: "unknown: "}[code])
    if code == 4:
        assert "not judged: " in out


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("command", TABLE)
def test_what_is_not_known_has_an_exit_code_of_its_own(
    in_process: Any, monkeypatch: pytest.MonkeyPatch, command: str, case: str
) -> None:
    monkeypatch.setattr(allocator, "_MOST_TRIED", -1_000_000)
    write("infer.json", *CASES[case])
    options, unknown, refused = TABLE[command]
    gates = GATES if case == GROUP else []
    code = unknown if case in UNKNOWN else refused
    check(in_process(*command.split(), *options, "-f", "infer.json", *ZONES, *gates), code)


def test_an_excess_that_needs_unjudged_pods_to_move_is_unknown(in_process: Any) -> None:
    """No pod is evicted whose successor may find no node; the pods' own nodes stay facts."""
    begun = [deployment("1", resourceClaims=CLAIMS)]
    spec = begun[0]["spec"]["template"]["spec"]
    begun[0]["metadata"]["uid"] = "d"
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "infer", "uid": "d", "controller": True}
    begun[0] |= {"kind": "ReplicaSet"}
    begun += [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"infer-{at}", "namespace": "shop", "labels": {"app": "infer"}, "uid": f"{at}"}
            | {"ownerReferences": [owner]},
            "spec": {**spec, "nodeName": node, "schedulerName": "default-scheduler"},
        }
        for at, node in enumerate(("node-1", "node-1", "node-4"))
    ]
    write("skewed.json", begun)
    check(in_process("rebalance", "-f", "skewed.json", *ZONES), 4)
    for command in ("status", "promise show"):
        assert in_process(*command.split(), "-f", "skewed.json", *ZONES)[0] == 1
    assert in_process("why", "shop/rs/infer", "-f", "skewed.json", *ZONES)[0] == 0


@pytest.mark.parametrize("command", BUDGETS)
def test_a_search_that_ends_early_is_unknown(in_process: Any, command: str) -> None:
    write("long.json", [deployment("1", spread=False, replicas=12)])  # a zone has room for eight of twelve pods
    write("shorter.json", [deployment("1", spread=False, replicas=11)])
    files = [] if command == "plan" else ["-f", "long.json"]
    check(in_process(*command.split(), *BUDGETS[command], *files, *ZONES), 4)


def neighbour(namespace: str) -> Json:
    """Return a Deployment ``plain`` that topospread judges."""
    made = deployment("1", spread=False)
    made["metadata"] = {"name": "plain", "namespace": namespace}
    made["spec"]["template"]["metadata"] = {"labels": {"app": "plain"}}
    made["spec"]["selector"] = {"matchLabels": {"app": "plain"}}
    return made


def test_a_drill_of_a_namespace_names_unjudged_pods_of_other_namespaces(in_process: Any) -> None:
    write("both.json", [deployment("1", resourceClaims=CLAIMS), neighbour("web")])
    command = ["drill", "--cordon", "node=node-1", "-n", "web", "-f", "both.json", *ZONES]
    told = in_process(*command)
    check(told, 4)
    assert told[1].startswith("unknown: 3 pods of namespace shop are not judged\n")
    (part,) = json.loads(in_process(*command, "-o", "json")[1])["unjudged"]
    assert part["what"] == "resourceClaims"
    assert {pod.partition("/")[0] for pod in part["pods"]} == {"shop"}


def test_room_that_unjudged_pods_may_take_is_not_a_number(in_process: Any) -> None:
    write("both.json", [deployment("1", resourceClaims=CLAIMS), neighbour("web")])
    command = ["promise", "show", "web/plain", "-f", "both.json", *ZONES]
    _, out, _ = in_process(*command)
    (row,) = (line for line in out.splitlines() if line.startswith("more replicas"))
    assert "+18 to 21" in row
    assert row.endswith("not judged")
    told = json.loads(in_process(*command, "-o", "json")[1])
    (more,) = (each for each in told["workloads"][0]["events"] if each["when"] == "more")
    assert (more["leaves"], more["ground"]) == ({"least": 18, "most": 21}, "none")
    assert [each["what"] for each in told["unjudged"]] == ["resourceClaims"]


def test_a_question_mark_names_unjudged_pods_as_its_reason(in_process: Any) -> None:
    write("both.json", [deployment("1", resourceClaims=CLAIMS), neighbour("web")])
    out = in_process("promise", "show", "-f", "both.json", *ZONES)[1]
    assert "\n?: between these numbers; pods are not judged\n" in out


def test_a_rollout_of_unjudged_pods_is_not_proved_better(in_process: Any) -> None:
    write("few.json", [deployment("1", resourceClaims=CLAIMS)])
    write("many.json", [deployment("1", resourceClaims=CLAIMS, replicas=30)])
    told = json.loads(in_process("plan", "few.json", "many.json", *ZONES, "-o", "json")[1])
    (rollout,) = (each for each in told["promises"] if each["event"] == "rollout")
    assert (rollout["after"], rollout["ground"]) == ({"least": 0, "most": 23}, "none")
    assert (rollout["verdict"], rollout["better"]) == ("unknown", False)


def test_unjudged_pods_of_other_namespaces_are_not_called_pending(in_process: Any) -> None:
    write("both.json", [deployment("1", resourceClaims=CLAIMS), neighbour("web")])
    command = ["simulate", "-n", "web", "-f", "both.json", *ZONES]
    says = "all 3 pods find nodes (6 nodes); in other namespaces 3 not judged"
    assert in_process(*command)[1].splitlines()[0] == f"yes: {says}"
    assert json.loads(in_process(*command, "-o", "json")[1])["elsewhere"] == 0


def test_a_rebalance_does_not_call_unjudged_pods_pending(in_process: Any) -> None:
    write("infer.json", [deployment("1", resourceClaims=CLAIMS)])
    out = in_process("rebalance", "-f", "infer.json", *ZONES)[1]
    assert "pods that are not judged are not evicted" in out
    assert "already pending" not in out
