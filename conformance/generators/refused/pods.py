"""Whole pods, right and wrong, and now and then one with a value of the wrong type somewhere."""

from __future__ import annotations

from typing import Any

from conformance.generators.draw import Json
from conformance.generators.refused.containers import container, profile, resources, windows_options
from conformance.generators.refused.scheduling import affinity, constraint, toleration
from conformance.generators.refused.volumes import volumes
from conformance.generators.refused.words import Words

STRANGERS: list[Any] = [None, 1, -1, "x", "", True, [], {}, 1.5, [None], {"a": None}, 2**31, 2**63, "é", [[]]]


def pod(words: Words, number: int) -> Json:
    """One pod."""
    made: Json = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _metadata(words, number),
        "spec": {"containers": _containers(words, "container", words.mostly([1, 1, 2, 3], [0], 0.02))},
    }
    spec = made["spec"]
    if words.chance(0.3):
        spec["initContainers"] = _containers(words, "init", words.randint(1, 3))
    if words.chance(0.02):
        spec["ephemeralContainers"] = [
            each | words.some({"targetContainerName": lambda: words.choice(["c0", "gone"])}, 0.5)
            for each in _containers(words, "ephemeral", 1)
        ]
    spec |= _scheduling(words) | _amounts(words) | _rest(words)
    if words.chance(0.08):
        _replace_one(words, made)
    return made


def _containers(words: Words, kind: str, count: int) -> list[Json]:
    return [container(words, f"{kind[0]}{i}", kind) for i in range(count)]


def _metadata(words: Words, number: int) -> Json:
    made: Json = {
        "name": words.mostly([f"pod-{number}"], ["", "A", "a_b", "a" * 254, "-", "a..b"], 0.03),
        "namespace": words.mostly(["default"], ["", "a.b", "N", "n" * 64], 0.03),
    }
    made |= words.some({"labels": words.labels}, 0.7)
    return made | words.some(
        {
            "annotations": lambda: _annotations(words),
            "generateName": lambda: words.mostly(["p-"], ["-", "A-", "a..", "p" * 250 + "-"]),
            "finalizers": lambda: words.listed(
                lambda: words.mostly(["a.b/c", "orphan"], ["x", "", "foregroundDeletion"], 0.5)
            ),
            "ownerReferences": lambda: words.listed(lambda: _owner(words)),
            "managedFields": lambda: words.listed(lambda: _manager(words)),
            "generation": lambda: words.choice([0, -1]),
            "creationTimestamp": lambda: words.choice([None, "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.5+02:00"]),
        },
        0.05,
    )


def _annotations(words: Words) -> Json:
    special: Json = {
        "controller.kubernetes.io/pod-deletion-cost": lambda: words.choice(["1", "-5", "+1", "007", "x", "2147483648"]),
        "kubernetes.io/config.mirror": "x",
        "seccomp.security.alpha.kubernetes.io/pod": lambda: words.choice(["runtime/default", "localhost/p", "x"]),
        "container.seccomp.security.alpha.kubernetes.io/c0": lambda: words.choice(["unconfined", "localhost/../p"]),
        "container.apparmor.security.beta.kubernetes.io/c0": lambda: words.choice(
            ["runtime/default", "localhost/p", "x", "unconfined"]
        ),
        "container.apparmor.security.beta.kubernetes.io/gone": "runtime/default",
        "big": lambda: "x" * 262145 if words.chance(0.1) else "y",
    }
    return words.labels(2) | words.some(special, 0.25)


def _owner(words: Words) -> Json:
    made: Json = {"apiVersion": words.mostly(["apps/v1", "v1"], ["", "a/b/c", "v1/", "/"]), "kind": "ReplicaSet"}
    made |= words.some({"name": "n", "uid": "u"}, 0.9)
    if words.chance(0.05):
        made["kind"] = words.choice(["", "Event"])
    return made | words.some({"controller": lambda: words.choice([True, True, False]), "blockOwnerDeletion": True}, 0.6)


def _manager(words: Words) -> Json:
    return words.some(
        {
            "manager": lambda: words.mostly(["kubectl"], ["a\nb", "m" * 129, "é\x00"]),
            "operation": lambda: words.mostly(["Apply", "Update"], ["", "x"]),
            "fieldsType": lambda: words.mostly(["FieldsV1"], ["", "x"]),
            "fieldsV1": {"f:metadata": {}},
            "subresource": lambda: words.mostly(["status"], ["s" * 257]),
        },
        0.8,
    )


def _scheduling(words: Words) -> Json:
    made = words.some(
        {
            "topologySpreadConstraints": lambda: words.listed(lambda: constraint(words), 3),
            "affinity": lambda: affinity(words),
            "tolerations": lambda: words.listed(lambda: toleration(words)),
            "nodeSelector": words.labels,
        },
        0.4,
    )
    return made | words.some(
        {
            "schedulingGates": lambda: words.listed(lambda: words.some({"name": lambda: words.key(0.3)}, 0.95)),
            "nodeName": lambda: words.mostly(["n1"], ["N_1", "", "-"]),
            "priorityClassName": lambda: words.mostly(["high"], ["", "A"]),
            "priority": lambda: words.choice([0, 10, -10]),
            "preemptionPolicy": lambda: words.mostly(["Never", "PreemptLowerPriority"], ["", "never"]),
            "runtimeClassName": lambda: words.mostly(["gvisor"], ["", "A"]),
            "schedulerName": lambda: words.choice(["default-scheduler", "", "x y"]),
            "schedulingGroup": lambda: words.choice([{}, {"podGroupName": "A"}]),
        },
        0.06,
    )


def _amounts(words: Words) -> Json:
    return words.some({"resources": lambda: resources(words), "overhead": lambda: words.amounts(2)}, 0.2) | words.some(
        {
            "resourceClaims": lambda: words.listed(
                lambda: (
                    words.some({"name": lambda: words.mostly(["gpu", "net"], ["", "A"])}, 0.95)
                    | words.some({"resourceClaimName": words.name, "resourceClaimTemplateName": words.name}, 0.6)
                )
            )
        },
        0.06,
    )


def _rest(words: Words) -> Json:
    made = words.some({"volumes": lambda: volumes(words)}, 0.35)
    return made | words.some(
        {
            "restartPolicy": lambda: words.mostly(["Always", "Never", "OnFailure"], ["", "always"]),
            "dnsPolicy": lambda: words.mostly(["ClusterFirst", "Default", "None"], ["", "x"]),
            "dnsConfig": lambda: _dns(words),
            "hostNetwork": lambda: words.choice([True, False]),
            "hostPID": lambda: words.choice([True, False]),
            "hostIPC": lambda: words.choice([True, False]),
            "hostUsers": lambda: words.choice([True, False]),
            "shareProcessNamespace": lambda: words.choice([True, False]),
            "terminationGracePeriodSeconds": lambda: words.number([0, 30], [-1, -5]),
            "activeDeadlineSeconds": lambda: words.number([1, 60], [0, -1, 2**31]),
            "hostname": lambda: words.mostly(["h"], ["H", "a.b", "h" * 64]),
            "subdomain": lambda: words.mostly(["s"], ["S", "a.b"]),
            "hostnameOverride": lambda: words.mostly(["h.i"], ["H", "", "h" * 65]),
            "setHostnameAsFQDN": True,
            "serviceAccountName": lambda: words.mostly(["sa"], ["S", ""]),
            "serviceAccount": lambda: words.mostly(["sb"], ["S", ""]),
            "readinessGates": lambda: words.listed(lambda: {"conditionType": words.key(0.3)}),
            "hostAliases": lambda: words.listed(lambda: {"ip": _address(words), "hostnames": [words.name()]}),
            "imagePullSecrets": [{"name": "s"}],
            "os": lambda: words.some({"name": lambda: words.mostly(["linux", "windows"], ["", "mac"])}, 0.95),
            "securityContext": lambda: _security(words),
        },
        0.06,
    )


def _address(words: Words) -> str:
    odd = ["", "x", "1.2.3", "01.2.3.4", "::ffff:1.2.3.4", "fe80::1%eth0", "1.2.3.256", "::1.2.3.04"]
    return words.mostly(["10.0.0.1", "fd00::1"], odd, 0.4)


def _dns(words: Words) -> Json:
    return words.some(
        {
            "nameservers": lambda: [_address(words) for _ in range(words.mostly([0, 1, 2], [4]))],
            "searches": lambda: [
                words.mostly(["a.b", "_c.d.", "."], ["A", "", "-"]) for _ in range(words.mostly([1], [33]))
            ],
            "options": lambda: [words.choice([{"name": "ndots", "value": "2"}, {"value": "1"}])],
        },
        0.7,
    )


def _security(words: Words) -> Json:
    sysctls = ["net.core.somaxconn", "kernel.shm_rmid_forced", "net/ipv4/x.y"]
    return words.some(
        {
            "runAsUser": lambda: words.number([1000], [-1, 2**31]),
            "fsGroup": lambda: words.number([1000], [-1, 2**31]),
            "supplementalGroups": lambda: words.listed(lambda: words.number([5], [-1, 2**31])),
            "sysctls": lambda: words.listed(
                lambda: words.some({"name": lambda: words.mostly(sysctls, ["", "A", "a..b"]), "value": "1"}, 0.9), 3
            ),
            "fsGroupChangePolicy": lambda: words.mostly(["Always", "OnRootMismatch"], ["x", ""]),
            "supplementalGroupsPolicy": lambda: words.mostly(["Merge", "Strict"], ["x"]),
            "seLinuxChangePolicy": lambda: words.mostly(["Recursive", "MountOption"], ["x"]),
            "seLinuxOptions": {"level": "s0"},
            "seccompProfile": lambda: profile(words),
            "appArmorProfile": lambda: profile(words),
            "windowsOptions": lambda: windows_options(words),
        },
        0.25,
    )


def _replace_one(words: Words, made: Json) -> None:
    """Put a value that may have the wrong type at a random place below metadata or spec."""
    holder: Any = made[words.choice(["metadata", "spec", "spec", "spec"])]
    while True:
        places = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not places:
            return
        place = words.choice(places)
        if not isinstance(holder[place], dict | list) or words.chance(0.2):
            holder[place] = words.choice(STRANGERS)
            return
        holder = holder[place]
