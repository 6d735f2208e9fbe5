"""Pod Security: violations of the levels `baseline` and `restricted`, in the API server's words.

The checks are those of k8s.io/pod-security-admission since Kubernetes 1.36 (policy/check_*.go, policy/registry.go),
with the exemptions of each policy version. A new pod has no ephemeral containers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from topospread.api.pod import Container, Pod, PodSpec, Volume
from topospread.api.security import Capabilities, Handler, Lifecycle, SecurityContext, SELinuxOptions

_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP: Final = "container.seccomp.security.alpha.kubernetes.io/"
_CAPABILITIES: Final = frozenset(
    """AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID
    SYS_CHROOT""".split()  # noqa: SIM905 - as it stands in the documentation
)
_SYSCTLS: Final = {
    "kernel.shm_rmid_forced": 0,
    "net.ipv4.ip_local_port_range": 0,
    "net.ipv4.tcp_syncookies": 0,
    "net.ipv4.ping_group_range": 0,
    "net.ipv4.ip_unprivileged_port_start": 0,
    "net.ipv4.ip_local_reserved_ports": 27,
    "net.ipv4.tcp_keepalive_time": 29,
    "net.ipv4.tcp_fin_timeout": 29,
    "net.ipv4.tcp_keepalive_intvl": 29,
    "net.ipv4.tcp_keepalive_probes": 29,
    "net.ipv4.tcp_rmem": 32,
    "net.ipv4.tcp_wmem": 32,
    "net.ipv4.tcp_slow_start_after_idle": 37,
    "net.ipv4.tcp_notsent_lowat": 37,
}
"""Safe sysctl → first minor version of the policy that allows it."""
_VOLUMES: Final = {
    "host_path": "hostPath",
    "gce_persistent_disk": "gcePersistentDisk",
    "aws_elastic_block_store": "awsElasticBlockStore",
    "git_repo": "gitRepo",
    "nfs": "nfs",
    "iscsi": "iscsi",
    "glusterfs": "glusterfs",
    "rbd": "rbd",
    "flex_volume": "flexVolume",
    "cinder": "cinder",
    "cephfs": "cephfs",
    "flocker": "flocker",
    "fc": "fc",
    "azure_file": "azureFile",
    "vsphere_volume": "vsphereVolume",
    "quobyte": "quobyte",
    "azure_disk": "azureDisk",
    "photon_persistent_disk": "photonPersistentDisk",
    "portworx_volume": "portworxVolume",
    "scale_io": "scaleIO",
    "storageos": "storageos",
}
"""Volume sources that `restricted` refuses: field of the struct → name in messages. No source means an emptyDir."""
_NONE: Final = SecurityContext()


class _Looked(NamedTuple):
    """A checked pod's spec and profile annotations, and the minor version of the policy."""

    spec: PodSpec
    minor: int
    annotations: Mapping[str, str]

    @property
    def context(self) -> SecurityContext:
        return self.spec.security_context or _NONE

    @property
    def containers(self) -> list[Container]:
        return [*(self.spec.init_containers or ()), *(self.spec.containers or ())]

    def bad(self, test: Callable[[SecurityContext], object]) -> list[str]:
        """Return the names of the containers for whose security context ``test`` is true."""
        return [each.name for each in self.containers if test(each.security_context or _NONE)]

    def setters(self, test: Callable[[SecurityContext], object]) -> str:
        """Return a text that names the pod, its containers or both, if ``test`` is true for their security context."""
        return " and ".join([*(["pod"] if test(self.context) else []), *_containers(self.bad(test))])

    def values(self, value: Callable[[SecurityContext], Iterable[str]]) -> list[str]:
        """Return the distinct results of ``value`` for the pod's and the containers' security contexts, sorted."""
        contexts = [self.context, *(each.security_context or _NONE for each in self.containers)]
        return sorted({text for context in contexts for text in value(context)})

    def is_exempt(self, since: int) -> bool:
        """Return whether a check is skipped: the pod has a user namespace, and the policy is ``since`` or newer."""
        return self.minor >= since and self.spec.host_users is False

    @property
    def is_windows(self) -> bool:
        return self.minor >= 25 and self.spec.os is not None and self.spec.os.name == "windows"


def refusal(pod: Pod, level: str, version: str, minor: int) -> str:
    """Return the API server's reasons why a level refuses a new pod; "" if the level admits it.

    Args:
        pod: new pod with its defaults.
        level: ``baseline`` or ``restricted``.
        version: value of the namespace's label, ``latest`` or ``v1.30``.
        minor: minor version of the API server, at least 36.
    """
    given = pod.metadata.annotations
    annotations = json.loads(given.profiles) if given is not None and given.profiles else {}
    policy = minor if version == "latest" else min(minor, int(version.rpartition(".")[2]))
    looked = _Looked(pod.spec, policy, annotations)
    said = [
        words
        for check, since, until in _BASELINE
        if since <= policy and (level == "baseline" or policy < until) and (words := check(looked))
    ]
    if level == "restricted":
        said += [words for check, since in _RESTRICTED if since <= policy and (words := check(looked))]
    return f'violates PodSecurity "{level}:{version}": {", ".join(said)}' if said else ""


def _quoted(items: Iterable[str]) -> str:
    return ", ".join(f'"{each}"' for each in items)


def _counted(word: str, items: list[str]) -> str:
    return word if len(items) == 1 else f"{word}s"


def _containers(names: list[str]) -> list[str]:
    return [f"{_counted('container', names)} {_quoted(names)}"] if names else []


def _app_armor(looked: _Looked) -> str:
    allowed = ("RuntimeDefault", "Localhost")
    of_pod = looked.context.app_armor_profile
    pod_type = of_pod.type if of_pod else "RuntimeDefault"
    copies = pod_type != "Unconfined" and not (looked.spec.os and looked.spec.os.name == "windows")
    types: dict[str, str] = {}
    for each in looked.containers:
        own = (each.security_context or _NONE).app_armor_profile
        if own is not None:
            types[each.name] = own.type
        elif copies and looked.annotations.get(_APP_ARMOR + each.name) == "unconfined":
            types[each.name] = "Unconfined"  # the API server copies the annotation into the field
    bad = [name for name, kind in types.items() if kind not in allowed]
    setters = [*(["pod"] if pod_type not in allowed else []), *_containers(bad)]
    values = sorted({kind for kind in (pod_type, *types.values()) if kind not in allowed})
    annotated = sorted(
        f"{key}={json.dumps(value, ensure_ascii=False)}"
        for key, value in looked.annotations.items()
        if key.startswith(_APP_ARMOR) and value not in ("", "runtime/default") and not value.startswith("localhost/")
    )
    if annotated:
        values += annotated
        setters.append(_counted("annotation", annotated))
    if not setters:
        return ""
    detail = f"{' and '.join(setters)} must not set AppArmor profile type to {_quoted(values)}"
    return f"{_counted('forbidden AppArmor profile', values)} ({detail})"


def _added(context: SecurityContext) -> list[str]:
    return (context.capabilities or Capabilities()).add or []


def _unusual_capabilities(looked: _Looked) -> str:
    names = looked.bad(lambda context: set(_added(context)) - _CAPABILITIES)
    added = looked.values(lambda context: set(_added(context)) - _CAPABILITIES)
    if not names:
        return ""
    what = f"must not include {_quoted(added)} in securityContext.capabilities.add"
    return f"non-default capabilities ({_containers(names)[0]} {what})"


def _host_namespaces(looked: _Looked) -> str:
    spec = looked.spec
    shared = {"hostNetwork": spec.host_network, "hostPID": spec.host_pid, "hostIPC": spec.host_ipc}
    found = ", ".join(f"{name}=true" for name, on in shared.items() if on)
    return f"host namespaces ({found})" if found else ""


def _host_paths(looked: _Looked) -> str:
    names = [each.name for each in looked.spec.volumes or () if each.host_path is not None]
    return f"hostPath volumes ({_counted('volume', names)} {_quoted(names)})" if names else ""


def _host_ports(looked: _Looked) -> str:
    ports = {
        each.name: {str(port.host_port) for port in each.ports or () if port.host_port} for each in looked.containers
    }
    names = [name for name, used in ports.items() if used]
    if not names:
        return ""
    distinct = sorted(set().union(*ports.values()))
    what = f"{_uses(names)} {_counted('hostPort', distinct)} {', '.join(distinct)}"
    return f"hostPort ({_containers(names)[0]} {what})"


def _uses(names: list[str]) -> str:
    return "uses" if len(names) == 1 else "use"


def _hosts(container: Container) -> set[str]:
    lifecycle = container.lifecycle or Lifecycle()
    handlers = (container.liveness_probe, container.readiness_probe, container.startup_probe)
    found: set[str] = set()
    for each in (*handlers, lifecycle.post_start, lifecycle.pre_stop):
        handler = each or Handler()
        found |= {action.host for action in (handler.http_get, handler.tcp_socket) if action is not None}
    return found - {""}


def _probed_hosts(looked: _Looked) -> str:
    hosts = {each.name: _hosts(each) for each in looked.containers}
    names = sorted(name for name, found in hosts.items() if found)
    if not names:
        return ""
    distinct = sorted(set().union(*hosts.values()))
    what = f"{_uses(names)} {_counted('probe or lifecycle host', distinct)} {_quoted(distinct)}"
    return f"probe or lifecycle host ({_containers(names)[0]} {what})"


def _privileged(looked: _Looked) -> str:
    names = looked.bad(lambda context: context.privileged)
    return f"privileged ({_containers(names)[0]} must not set securityContext.privileged=true)" if names else ""


def _proc_mount(looked: _Looked) -> str:
    def unmasked(context: SecurityContext) -> list[str]:
        return [] if context.proc_mount in (None, "Default") else [str(context.proc_mount)]

    names = looked.bad(unmasked)
    if not names:
        return ""
    what = f"must not set securityContext.procMount to {_quoted(looked.values(unmasked))}"
    return f"procMount ({_containers(names)[0]} {what})"


def _proc_mount_baseline(looked: _Looked) -> str:
    return "" if looked.is_exempt(35) else _proc_mount(looked)


def _se_linux(looked: _Looked) -> str:
    allowed = {"", "container_t", "container_init_t", "container_kvm_t"}
    allowed |= {"container_engine_t"} if looked.minor >= 31 else set()

    def forbidden(context: SecurityContext) -> list[str]:
        options = context.se_linux_options or SELinuxOptions()
        named = {"user": options.user, "role": options.role}
        kinds = [f"type {options.type}"] if options.type not in allowed else []
        return kinds + [f"{name} may not be set" for name, value in named.items() if value]

    found = looked.values(forbidden)
    if not found:
        return ""
    types = [each.removeprefix("type ") for each in found if each.startswith("type ")]
    said = [f"{_counted('type', types)} {_quoted(types)}"] if types else []
    said += [each for each in ("user may not be set", "role may not be set") if each in found]
    what = f"set forbidden securityContext.seLinuxOptions: {'; '.join(said)}"
    return f"seLinuxOptions ({looked.setters(forbidden)} {what})"


def _seccomp_type(context: SecurityContext) -> list[str]:
    profile = context.seccomp_profile
    return [] if profile is None or profile.type in ("Localhost", "RuntimeDefault") else [profile.type]


def _seccomp(looked: _Looked) -> str:
    if looked.minor < 19:
        return _seccomp_annotations(looked)
    setters = looked.setters(_seccomp_type)
    if not setters:
        return ""
    what = f"must not set securityContext.seccompProfile.type to {_quoted(looked.values(_seccomp_type))}"
    return f"seccompProfile ({setters} {what})"


def _seccomp_annotations(looked: _Looked) -> str:
    keys = (_SECCOMP_POD, *(_SECCOMP + each.name for each in looked.containers))
    found = {key: looked.annotations[key] for key in keys if key in looked.annotations}
    allowed = ("runtime/default", "docker/default")
    bad = sorted(
        f"{key}={json.dumps(value, ensure_ascii=False)}"
        for key, value in found.items()
        if value not in allowed and not value.startswith("localhost/")
    )
    return f"seccompProfile (forbidden {_counted('annotation', bad)} {', '.join(bad)})" if bad else ""


def _sysctls(looked: _Looked) -> str:
    names = [each.name for each in looked.context.sysctls or ()]
    bad = [name for name in names if _SYSCTLS.get(name, 99) > looked.minor]
    return f"forbidden sysctls ({', '.join(bad)})" if bad else ""


def _host_process(looked: _Looked) -> str:
    setters = looked.setters(lambda context: context.windows_options and context.windows_options.host_process)
    return f"hostProcess ({setters} must not set securityContext.windowsOptions.hostProcess=true)" if setters else ""


def _escalation(looked: _Looked) -> str:
    names = [] if looked.is_windows else looked.bad(lambda context: context.allow_privilege_escalation is not False)
    if not names:
        return ""
    what = f"{_containers(names)[0]} must set securityContext.allowPrivilegeEscalation=false"
    return f"allowPrivilegeEscalation != false ({what})"


def _capabilities(looked: _Looked) -> str:
    if looked.is_windows:
        return ""
    said = [
        f'{each} must set securityContext.capabilities.drop=["ALL"]'
        for each in _containers(looked.bad(lambda of: "ALL" not in ((of.capabilities or Capabilities()).drop or ())))
    ]
    added = looked.values(lambda of: set(_added(of)) - {"NET_BIND_SERVICE"})
    said += [
        f"{each} must not include {_quoted(added)} in securityContext.capabilities.add"
        for each in _containers(looked.bad(lambda of: set(_added(of)) - {"NET_BIND_SERVICE"}))
    ]
    return f"unrestricted capabilities ({'; '.join(said)})" if said else ""


def _restricted_volumes(looked: _Looked) -> str:
    kinds = {each.name: kind for each in looked.spec.volumes or () if (kind := _restricted_source(each))}
    if not kinds:
        return ""
    names, distinct = list(kinds), sorted(set(kinds.values()))
    what = f"{_uses(names)} {_counted('restricted volume type', distinct)} {_quoted(distinct)}"
    return f"restricted volume types ({_counted('volume', names)} {_quoted(names)} {what})"


def _restricted_source(volume: Volume) -> str:
    return next((name for field, name in _VOLUMES.items() if getattr(volume, field) is not None), "")


def _run_as_non_root(looked: _Looked) -> str:
    if looked.is_exempt(35):
        return ""
    setters = looked.setters(lambda context: context.run_as_non_root is False)
    missing = [] if looked.context.run_as_non_root else looked.bad(lambda context: context.run_as_non_root is None)
    if setters:
        return f"runAsNonRoot != true ({setters} must not set securityContext.runAsNonRoot=false)"
    if not missing:
        return ""
    return f"runAsNonRoot != true (pod or {_containers(missing)[0]} must set securityContext.runAsNonRoot=true)"


def _run_as_user(looked: _Looked) -> str:
    setters = "" if looked.is_exempt(35) else looked.setters(lambda context: context.run_as_user == 0)
    return f"runAsUser=0 ({setters} must not set runAsUser=0)" if setters else ""


def _seccomp_restricted(looked: _Looked) -> str:
    if looked.is_windows:
        return ""
    missing = [] if looked.context.seccomp_profile else looked.bad(lambda context: context.seccomp_profile is None)
    explicit = _seccomp(looked)
    if explicit or not missing:
        return explicit
    what = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return f"seccompProfile (pod or {_containers(missing)[0]} {what})"


_Check = Callable[[_Looked], str]
_ALWAYS: Final = 1 << 30
_BASELINE: Final[tuple[tuple[_Check, int, int], ...]] = (
    (_app_armor, 0, _ALWAYS),
    (_unusual_capabilities, 0, 22),
    (_host_namespaces, 0, _ALWAYS),
    (_host_paths, 0, 0),
    (_host_ports, 0, _ALWAYS),
    (_probed_hosts, 34, _ALWAYS),
    (_privileged, 0, _ALWAYS),
    (_proc_mount_baseline, 0, 35),
    (_se_linux, 0, _ALWAYS),
    (_seccomp, 0, 19),
    (_sysctls, 0, _ALWAYS),
    (_host_process, 0, _ALWAYS),
)
"""(check, minor version that introduced it, minor version from which `restricted` replaces it by a stricter check)."""
_RESTRICTED: Final[tuple[tuple[_Check, int], ...]] = (
    (_escalation, 8),
    (_capabilities, 22),
    (_proc_mount, 35),
    (_restricted_volumes, 0),
    (_run_as_non_root, 0),
    (_run_as_user, 23),
    (_seccomp_restricted, 19),
)
