"""What Pod Security levels refuse: asks k8s.io/pod-security-admission itself, and ours.

    python -m conformance.pod_security --bin DIR [--seed N] [--count N]   fresh random pods; ends with 1 where we differ
    python -m conformance.pod_security --bin DIR --write                  keep 500 pods and answers for the tests

``DIR`` holds ``podsecurity``, which conformance/oracle/build.sh builds. Compared is the whole sentence.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec

from conformance.stored import FOLDER
from topospread.admission.defaults import with_defaults
from topospread.admission.pod_security import refusal
from topospread.api.pod import Pod
from topospread.config.gates import gates_for
from topospread.sources.admit import note_profiles

Json = dict[str, Any]
STORED = FOLDER / "pod_security.jsonl.gz"
_KUBE = (1, 37)
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
_PROFILES = ["runtime/default", "localhost/a", "unconfined", "docker/default", ""]
_CAPABILITIES = ["NET_RAW", "NET_BIND_SERVICE", "CHOWN", "SYS_ADMIN", "CAP_CHOWN"]
_SYSCTLS = [
    "kernel.shm_rmid_forced", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_notsent_lowat", "kernel.msgmax", "net.core.somaxconn",
]  # fmt: skip
_SOURCES: list[Json] = [
    {}, {"emptyDir": {}}, {"configMap": {"name": "c"}}, {"secret": {"secretName": "s"}}, {"projected": {"sources": []}},
    {"downwardAPI": {}}, {"csi": {"driver": "d"}}, {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
    {"persistentVolumeClaim": {"claimName": "c"}}, {"image": {"reference": "i"}}, {"hostPath": {"path": "/"}},
    {"gcePersistentDisk": {"pdName": "d"}}, {"awsElasticBlockStore": {"volumeID": "v"}},
    {"gitRepo": {"repository": "r"}}, {"nfs": {"server": "s", "path": "/"}},
    {"iscsi": {"targetPortal": "t", "iqn": "i", "lun": 0}}, {"storageos": {}},
    {"glusterfs": {"endpoints": "e", "path": "p"}}, {"rbd": {"monitors": ["m"], "image": "i"}}, {"flocker": {}},
    {"flexVolume": {"driver": "d"}}, {"cinder": {"volumeID": "v"}}, {"cephfs": {"monitors": ["m"]}}, {"fc": {}},
    {"azureFile": {"secretName": "s", "shareName": "s"}}, {"vsphereVolume": {"volumePath": "p"}},
    {"quobyte": {"registry": "r", "volume": "v"}}, {"azureDisk": {"diskName": "d", "diskURI": "u"}},
    {"photonPersistentDisk": {"pdID": "p"}}, {"portworxVolume": {"volumeID": "v"}},
    {"scaleIO": {"gateway": "g", "system": "s", "secretRef": {"name": "s"}}},
]  # fmt: skip


def questions(seed: int, count: int) -> list[Json]:
    """Random pods, each with a level and a version; about half of them break few rules."""
    draw = random.Random(seed)
    return [
        {
            "level": draw.choice(["baseline", "restricted"]),
            "version": draw.choice(["latest", "latest", f"v1.{draw.randint(0, 40)}"]),
            "pod": _pod(draw, draw.choice([0.03, 0.3])),
        }
        for _ in range(count)
    ]


def _pod(draw: random.Random, odd: float) -> Json:
    def some() -> bool:
        return draw.random() < odd

    names = [f"c{index}" for index in range(draw.randint(1, 3))]
    spec: Json = {"containers": [_container(draw, name, odd) for name in names]}
    annotations: dict[str, str] = {}
    if draw.random() < 0.3:
        spec["initContainers"] = [_container(draw, "init", odd)]
        names.append("init")
    if draw.random() < 0.8:
        spec["securityContext"] = _context(draw, odd)
        if some():
            spec["securityContext"]["sysctls"] = [{"name": n, "value": "1"} for n in draw.sample(_SYSCTLS, 2)]
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if some():
            spec[field] = draw.random() < 0.8
    if some():
        spec["hostUsers"] = draw.random() < 0.3
    if some():
        spec["os"] = {"name": draw.choice(["linux", "windows"])}
    if draw.random() < 0.5:
        number = draw.randint(1, 3)
        some_sources = draw.sample(_SOURCES[:10] if draw.random() > odd * 2 else _SOURCES, number)
        spec["volumes"] = [{"name": f"v{index}", **source} for index, source in enumerate(some_sources)]
    if some():
        spec.setdefault("volumes", []).append({"name": "host", "hostPath": {"path": "/"}})
    for prefix in (_APP_ARMOR, _SECCOMP):
        if some():
            annotations |= {prefix + draw.choice([*names, "other"]): draw.choice(_PROFILES)}
    if some():
        annotations["seccomp.security.alpha.kubernetes.io/pod"] = draw.choice(_PROFILES)
    metadata = {"name": "pod", "namespace": "default", "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _container(draw: random.Random, name: str, odd: float) -> Json:
    made: Json = {"name": name, "image": "image"}
    if draw.random() > odd:
        context = made["securityContext"] = _context(draw, odd)
        if draw.random() > odd:
            context["allowPrivilegeEscalation"] = draw.random() < odd
        if draw.random() > odd:
            context["capabilities"] = {"drop": draw.choice([["ALL"], ["ALL", "CHOWN"], ["CHOWN"], []])}
            if draw.random() < odd:
                context["capabilities"]["add"] = draw.sample(_CAPABILITIES, draw.randint(1, 3))
        if draw.random() < odd:
            context["privileged"] = draw.random() < 0.6
        if draw.random() < odd:
            context["procMount"] = draw.choice(["Default", "Unmasked"])
    if draw.random() < 0.3:
        ports = [{"containerPort": draw.randint(80, 90)} for _ in range(2)]
        made["ports"] = [port | ({"hostPort": port["containerPort"]} if draw.random() < odd else {}) for port in ports]
    for field in ("livenessProbe", "readinessProbe", "startupProbe"):
        if draw.random() < odd:
            made[field] = _handler(draw)
    if draw.random() < odd:
        made["lifecycle"] = {draw.choice(["postStart", "preStop"]): _handler(draw)}
    return made


def _handler(draw: random.Random) -> Json:
    host = {"host": draw.choice(["10.0.0.1", "example.com", ""])} if draw.random() < 0.6 else {}
    return draw.choice([{"httpGet": {"port": 80, **host}}, {"tcpSocket": {"port": 80, **host}}, {"exec": {}}])


def _context(draw: random.Random, odd: float) -> Json:
    made: Json = {}
    profiles = ["RuntimeDefault", "RuntimeDefault", "Localhost", *(["Unconfined"] if draw.random() < odd else [])]
    if draw.random() < 0.6:
        made["runAsNonRoot"] = draw.random() > odd
    if draw.random() < 0.4:
        made["runAsUser"] = 0 if draw.random() < odd else 1000
    if draw.random() < 0.7:
        made["seccompProfile"] = {"type": draw.choice(profiles)}
    if draw.random() < odd:
        made["appArmorProfile"] = {"type": draw.choice(["RuntimeDefault", "Localhost", "Unconfined"])}
    if draw.random() < odd:
        parts = {
            "type": ["container_t", "spc_t", "container_engine_t"],
            "user": ["u", ""],
            "role": ["r"],
            "level": ["s0"],
        }
        made["seLinuxOptions"] = {name: draw.choice(of) for name, of in parts.items() if draw.random() < 0.5}
    if draw.random() < odd:
        made["windowsOptions"] = {"hostProcess": draw.random() < 0.6}
    return made


def ours(asked: Json) -> str:
    """Return what topospread says of a pod."""
    data = deepcopy(asked["pod"])
    note_profiles(data, "Pod")
    pod = msgspec.convert(data, Pod)
    pod = msgspec.structs.replace(pod, spec=with_defaults(pod.spec, gates_for("1.37", {}, "apiserver")))
    return refusal(pod, asked["level"], asked["version"], _KUBE[1])


def theirs(folder: Path, asked: list[Json]) -> list[str]:
    """Return what the module says of each pod."""
    text = "".join(json.dumps(each) + "\n" for each in asked)
    done = subprocess.run([str(folder / "podsecurity")], input=text, capture_output=True, text=True, check=True)
    return [json.loads(line)["message"] for line in done.stdout.splitlines()]


def kept() -> list[tuple[Json, str]]:
    """The stored questions and answers."""
    with gzip.open(STORED, "rt", encoding="utf-8") as lines:
        return [(row["asked"], row["message"]) for row in map(json.loads, lines)]


def main() -> int:
    """Compares fresh pods or writes the stored ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, metavar="DIR")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000_000))
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    asked = questions(options.seed, 500 if options.write else options.count)
    answers = theirs(options.bin, asked)
    different = [
        (each, ours(each), theirs) for each, theirs in zip(asked, answers, strict=True) if ours(each) != theirs
    ]
    for each, us, them in different[:3]:
        print(json.dumps({"asked": each, "us": us, "them": them}))
    print(f"{len(asked) - len(different)} of {len(asked)} answers agree; {answers.count('')} pods are admitted")
    if options.write:
        rows = [{"asked": each, "message": answer} for each, answer in zip(asked, answers, strict=True)]
        with gzip.GzipFile(STORED, "w", mtime=0) as out:
            out.write("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows).encode())
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
