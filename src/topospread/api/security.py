"""Fields of a pod that Pod Security levels read and kube-scheduler does not (data only)."""

from __future__ import annotations

from .meta import Int64, KubeStruct


class Capabilities(KubeStruct):
    """Capabilities that a container adds and drops."""

    add: list[str] | None = None
    drop: list[str] | None = None


class SELinuxOptions(KubeStruct):
    """SELinux labels."""

    type: str = ""
    user: str = ""
    role: str = ""


class SecurityProfile(KubeStruct):
    """A profile of seccomp or AppArmor."""

    type: str = ""


class WindowsOptions(KubeStruct):
    """Windows options; Pod Security levels check only ``hostProcess``."""

    host_process: bool | None = None


class Sysctl(KubeStruct):
    """A parameter of the kernel."""

    name: str = ""


class SecurityContext(KubeStruct):
    """``securityContext`` of a pod or a container: the fields of both."""

    privileged: bool | None = None
    allow_privilege_escalation: bool | None = None
    proc_mount: str | None = None
    run_as_non_root: bool | None = None
    run_as_user: Int64 | None = None
    capabilities: Capabilities | None = None
    se_linux_options: SELinuxOptions | None = None
    seccomp_profile: SecurityProfile | None = None
    app_armor_profile: SecurityProfile | None = None
    windows_options: WindowsOptions | None = None
    sysctls: list[Sysctl] | None = None


class HostAction(KubeStruct):
    """An HTTP request or a TCP connection to a host; by default the pod itself."""

    host: str = ""


class Handler(KubeStruct):
    """A probe, or an action after a container's start or before its end."""

    http_get: HostAction | None = None
    tcp_socket: HostAction | None = None


class Lifecycle(KubeStruct):
    """Handlers of a container's start and end."""

    post_start: Handler | None = None
    pre_stop: Handler | None = None


class PodOS(KubeStruct):
    """The operating system of a pod's containers."""

    name: str = ""


class Present(KubeStruct):
    """A volume source of which topospread reads only that it is set."""
