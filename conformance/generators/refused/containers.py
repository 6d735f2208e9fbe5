"""Containers of all kinds, right and wrong: names, images, ports, variables, mounts, probes, resources, security."""

from __future__ import annotations

from typing import Any

from conformance.generators.draw import Json
from conformance.generators.refused.words import Words

VOLUME_NAMES = ["data", "config", "tmp"]


def resources(words: Words, claims: bool = True) -> Json:
    """``resources``: requests and limits that often belong together."""
    made: Json = {}
    if words.chance(0.8):
        made["requests"] = words.amounts()
    if words.chance(0.6):
        shared = {name: words.quantity() for name in made.get("requests", {}) if words.chance(0.6)}
        made["limits"] = words.amounts(2) | shared
    if claims and words.chance(0.06):
        made["claims"] = words.listed(
            lambda: words.some({"name": lambda: words.mostly(["gpu", "net"], ["", "none"]), "request": words.name}, 0.8)
        )
    return made


def _port(words: Words) -> Json:
    made: Json = {"containerPort": words.number([80, 443, 8080], [0, -1, 65536, 1])}
    return made | words.some(
        {
            "name": lambda: words.mostly(["http", "https"], ["", "HTTP", "a--b", "-a", "123", "p" * 16, "a_b"], 0.2),
            "hostPort": lambda: words.number([80, 8080, 9000], [0, -1, 65536]),
            "protocol": lambda: words.mostly(["TCP", "UDP", "SCTP"], ["tcp", "", "ICMP"]),
            "hostIP": lambda: words.choice(["", "10.0.0.1", "x"]),
        },
        0.4,
    )


def _reference(words: Words) -> Json:
    return words.some(
        {"name": words.name, "key": lambda: words.mostly(["k", "k.y"], ["", "..", "..x", "a/b", "."])}, 0.9
    )


def _field_reference(words: Words) -> Json:
    good = ["metadata.name", "metadata.labels['app']", "metadata.annotations['Foo']", "status.podIP", "spec.nodeName"]
    odd = ["", "metadata.labels", "spec.x['y']", "metadata.labels['']", "metadata.annotations['-']", "spec.host", "x"]
    made: Json = {"fieldPath": words.mostly(good, [*odd, "status.phase", "['x']", "a['b"], 0.3)}
    return made | words.some({"apiVersion": lambda: words.mostly(["v1"], ["v2", ""])}, 0.2)


def _resource_reference(words: Words) -> Json:
    names = ["limits.cpu", "requests.memory", "limits.hugepages-2Mi", "requests.ephemeral-storage"]
    made: Json = {"resource": words.mostly(names, ["", "cpu", "limits.foo", "requests.hugepages"])}
    return made | words.some(
        {"containerName": words.name, "divisor": lambda: words.choice(["1", "1m", "1Mi", "0", "2", "1k", "-1"])}, 0.5
    )


def _source(words: Words) -> Json:
    sources = {
        "fieldRef": lambda: _field_reference(words),
        "resourceFieldRef": lambda: _resource_reference(words),
        "configMapKeyRef": lambda: _reference(words),
        "secretKeyRef": lambda: _reference(words),
        "fileKeyRef": lambda: words.some(
            {
                "key": lambda: words.mostly(["K"], ["", "a=b"]),
                "volumeName": lambda: words.mostly(VOLUME_NAMES, ["", "V", "gone"]),
                "path": lambda: words.mostly(["a/b"], ["", "../x", "a/../b"]),
            },
            0.95,
        ),
    }
    if words.chance(0.1):
        return words.some(sources, 0.3)
    chosen = words.choice(list(sources))
    return {chosen: sources[chosen]()}


def variable(words: Words) -> Json:
    """An environment variable."""
    made: Json = {"name": words.mostly(["A", "my.env"], ["", "a=b", "é", "1 2", "a\tb"])}
    return made | words.some({"value": lambda: words.choice(["", "x"]), "valueFrom": lambda: _source(words)}, 0.5)


def _environment_source(words: Words) -> Json:
    return words.some(
        {
            "prefix": lambda: words.mostly(["P_"], ["a=", "é"]),
            "configMapRef": lambda: words.some({"name": words.name}, 0.9),
            "secretRef": lambda: words.some({"name": lambda: words.mostly(["s", "s-"], ["", "S", "-"])}, 0.9),
        },
        0.4,
    )


def _mount(words: Words) -> Json:
    made: Json = {
        "name": words.mostly(VOLUME_NAMES, ["gone", ""]),
        "mountPath": words.mostly(["/a", "/b", "/c"], ["", "rel"]),
    }
    return made | words.some(
        {
            "readOnly": True,
            "subPath": lambda: words.mostly(["x"], ["/x", "../x", "a/../b"]),
            "subPathExpr": lambda: words.mostly(["$(A)"], ["/x", ".."]),
            "mountPropagation": lambda: words.mostly(["None", "HostToContainer"], ["Bidirectional", "x", ""], 0.3),
            "recursiveReadOnly": lambda: words.mostly(["Disabled", "IfPossible", "Enabled"], ["x", ""]),
        },
        0.15,
    )


def _device(words: Words) -> Json:
    return words.some(
        {
            "name": lambda: words.mostly(VOLUME_NAMES, ["gone", ""]),
            "devicePath": lambda: words.mostly(["/dev/a", "/a"], ["", "/dev/../x"]),
        },
        0.95,
    )


def _handler(words: Words, kinds: list[str]) -> Json:
    port: Any = words.mostly([80, "http"], [0, 70000, "", "HTTP", "a--b"], 0.2)
    actions: Json = {
        "exec": words.choice([{"command": ["true"]}, {"command": []}, {}]),
        "httpGet": {"port": port}
        | words.some(
            {
                "path": lambda: words.choice(["", "/x"]),
                "scheme": lambda: words.mostly(["HTTP", "HTTPS"], ["http", "FTP"]),
                "httpHeaders": lambda: [{"name": words.mostly(["X-A"], ["", "a b", "é"]), "value": "v"}],
            },
            0.3,
        ),
        "tcpSocket": {"port": port},
        "grpc": {"port": words.number([80], [0, 70000])},
        "sleep": {"seconds": words.number([1, 5], [-1, 100000])},
    }
    chosen = {words.choice(kinds)} | {kind for kind in kinds if words.chance(0.04)}
    return {} if words.chance(0.04) else {kind: actions[kind] for kind in kinds if kind in chosen}


def probe(words: Words) -> Json:
    """A probe."""
    counts = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
    made = words.some({name: lambda: words.number([1, 2], [0, -1]) for name in counts}, 0.2)
    made |= words.some({"terminationGracePeriodSeconds": lambda: words.number([5], [0, -3])}, 0.1)
    return made | _handler(words, ["exec", "httpGet", "tcpSocket", "grpc"])


def lifecycle(words: Words) -> Json:
    """postStart and preStop."""
    kinds = ["exec", "httpGet", "tcpSocket", "sleep"]
    return words.some(
        {
            "postStart": lambda: _handler(words, kinds),
            "preStop": lambda: _handler(words, kinds),
            "stopSignal": lambda: words.choice(["SIGTERM", "x"]),
        },
        0.5,
    )


def profile(words: Words) -> Json:
    """A seccomp or AppArmor profile."""
    made = words.some({"type": lambda: words.mostly(["RuntimeDefault", "Unconfined", "Localhost"], ["x", ""])}, 0.9)
    return made | words.some({"localhostProfile": lambda: words.mostly(["p/q"], ["/p", "../p", "", " p "])}, 0.3)


def windows_options(words: Words) -> Json:
    """``windowsOptions``."""
    users = ["", "a\\b\\c", "dom\\", "..", "a/b", "\t", "a.b\\c", "*\\u", "u" * 105, "d" * 256 + "\\u"]
    return words.some(
        {
            "gmsaCredentialSpecName": words.name,
            "gmsaCredentialSpec": lambda: words.choice(["x", "", "y" * 65537]) if words.chance(0.3) else "x",
            "runAsUserName": lambda: words.mostly(["user", "DOM\\user"], users, 0.4),
            "hostProcess": lambda: words.choice([True, False]),
        },
        0.4,
    )


def security(words: Words) -> Json:
    """``securityContext`` of a container."""
    return words.some(
        {
            "privileged": lambda: words.choice([True, False]),
            "allowPrivilegeEscalation": lambda: words.choice([True, False]),
            "capabilities": lambda: {"add": [words.choice(["NET_ADMIN", "CAP_SYS_ADMIN"])], "drop": ["ALL"]},
            "runAsUser": lambda: words.number([0, 1000], [-1, 2**31]),
            "runAsGroup": lambda: words.number([0, 1000], [-1, 2**31]),
            "runAsNonRoot": True,
            "readOnlyRootFilesystem": True,
            "procMount": lambda: words.mostly(["Default"], ["Unmasked", "x", ""], 0.3),
            "seccompProfile": lambda: profile(words),
            "appArmorProfile": lambda: profile(words),
            "seLinuxOptions": lambda: words.some({"user": "u", "role": "r", "type": "t", "level": "l"}, 0.5),
            "windowsOptions": lambda: windows_options(words),
        },
        0.2,
    )


def _resize_policy(words: Words) -> Json:
    return words.some(
        {
            "resourceName": lambda: words.mostly(["cpu", "memory"], ["", "gpu"]),
            "restartPolicy": lambda: words.mostly(["NotRequired", "RestartContainer"], ["", "x"]),
        },
        0.95,
    )


def _restart_rule(words: Words) -> Json:
    return words.some(
        {
            "action": lambda: words.mostly(["Restart", "RestartAllContainers"], ["", "x"]),
            "exitCodes": lambda: {
                "operator": words.mostly(["In", "NotIn"], ["", "x"]),
                "values": [1] * words.mostly([1, 3], [256]),
            },
        },
        0.9,
    )


def container(words: Words, name: str, kind: str) -> Json:
    """A container; ``kind`` is ``container``, ``init`` or ``ephemeral``."""
    made: Json = {
        "name": words.mostly([name], ["", "a", "A", "a.b", "c" * 64, "-"], 0.06),
        "image": words.mostly(["registry.k8s.io/pause:3.10"], ["", " x", "x:latest", "x "], 0.06),
    }
    rarely: Json = {
        "imagePullPolicy": lambda: words.mostly(["Always", "IfNotPresent", "Never"], ["", "always"]),
        "terminationMessagePolicy": lambda: words.mostly(["File", "FallbackToLogsOnError"], ["", "x"]),
        "ports": lambda: words.listed(lambda: _port(words), 3),
        "env": lambda: words.listed(lambda: variable(words)),
        "envFrom": lambda: words.listed(lambda: _environment_source(words)),
        "volumeMounts": lambda: words.listed(lambda: _mount(words), 3),
        "volumeDevices": lambda: words.listed(lambda: _device(words)),
        "securityContext": lambda: security(words),
        "resizePolicy": lambda: words.listed(lambda: _resize_policy(words)),
        "lifecycle": lambda: lifecycle(words),
        "livenessProbe": lambda: probe(words),
        "readinessProbe": lambda: probe(words),
        "startupProbe": lambda: probe(words),
        "restartPolicyRules": lambda: words.listed(lambda: _restart_rule(words), words.mostly([2], [21])),
    }
    made |= words.some(rarely, 0.07)
    if words.chance(0.5):
        made["resources"] = resources(words)
    if words.chance(0.5 if kind == "init" else 0.05):
        made["restartPolicy"] = words.mostly(["Always"], ["Never", "OnFailure", "", "x"], 0.3)
    return made
