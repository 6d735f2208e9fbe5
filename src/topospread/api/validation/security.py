"""Security contexts of pods and containers, and pods for Windows, as the API server checks them.

Source: ValidateSecurityContext, validatePodSpecSecurityContext and what they call in
pkg/apis/core/validation/validation.go (Kubernetes 1.37).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from . import names
from .defaults import placed_containers
from .field import FieldError, Named, all_invalid, duplicate, forbidden, invalid, required, too_long
from .names import check_descending
from .rules import check_fields

# The API server's validation of pods for Windows.
# Source: validateWindowsSecurityContextOptions, validateWindowsHostProcessPod, validateWindows and validateLinux in
# pkg/apis/core/validation/validation.go (Kubernetes 1.37).

_CREDENTIAL_SPEC_LIMIT: Final = 64 * 1024
_DNS_NAME: Final = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_is_domain = re.compile(rf'[^\\/:*?"<>|.][^\\/:*?"<>|]{{0,14}}|{_DNS_NAME}(?:\.{_DNS_NAME})*', re.DOTALL).fullmatch
_has_control = re.compile("[\x00-\x1f\x7f]").search
_is_dots_and_spaces = re.compile("[. ]+").fullmatch
_has_forbidden_character = re.compile(r'["/\\:;|=,+*?<>@\[\]]').search

_POD_FIELDS: Final = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
)
_CONTAINER_FIELDS: Final = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
)


def check_windows_options(path: str, options: Json) -> Iterator[FieldError]:
    """Check ``windowsOptions`` of a security context."""
    name = options.get("gmsaCredentialSpecName")
    if name is not None:
        yield from all_invalid(f"{path}.gmsaCredentialSpecName", Named(name), names.subdomain(name))
    credentials = options.get("gmsaCredentialSpec")
    if credentials == "":
        detail = "gmsaCredentialSpec cannot be an empty string"
        yield invalid(f"{path}.gmsaCredentialSpec", Named(credentials), detail)
    elif credentials is not None and len(credentials.encode()) > _CREDENTIAL_SPEC_LIMIT:
        detail = "gmsaCredentialSpec size must be under 64 KiB"
        yield invalid(f"{path}.gmsaCredentialSpec", Named(credentials), detail)
    user = options.get("runAsUserName")
    if user is not None:
        yield from all_invalid(f"{path}.runAsUserName", Named(user), _user_problems(user))


def _user_problems(name: str) -> Iterator[str]:
    if not name:
        yield "runAsUserName cannot be an empty string"
        return
    if _has_control(name):
        yield "runAsUserName cannot contain control characters"
        return
    parts = name.split("\\")
    if len(parts) > 2:
        yield "runAsUserName cannot contain more than one backslash"
        return
    domain, user = parts if len(parts) == 2 else (None, name)
    if domain is not None:
        if len(domain.encode()) >= 256:
            yield "runAsUserName's Domain length must be under 256 characters"
        if not _is_domain(domain):
            yield "runAsUserName's Domain doesn't match the NetBios nor the DNS format"
    if not user:
        yield "runAsUserName's User cannot be empty"
    elif len(user.encode()) > 104:
        yield "runAsUserName's User length must not be longer than 104 characters"
    if _is_dots_and_spaces(user):
        yield "runAsUserName's User cannot contain only periods or spaces"
    if _has_forbidden_character(user):
        yield "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"


def check_host_process(path: str, spec: Json, *, allow_privileged: bool) -> Iterator[FieldError]:
    """Check HostProcess containers: all containers or none, and with hostNetwork. ``path``: the spec's path."""
    of_pod = spec.get("securityContext", {}).get("windowsOptions", {}).get("hostProcess")
    every, host = 0, 0
    for inner, container in placed_containers(path, spec):
        every += 1
        of_container = container.get("securityContext", {}).get("windowsOptions", {}).get("hostProcess")
        if of_pod is not None and of_container is not None and of_pod != of_container:
            detail = f"pod hostProcess value must be identical if both are specified, was {str(of_pod).lower()}"
            yield invalid(f"{inner}.securityContext.windowsOptions.hostProcess", of_container, detail)
        host += bool(of_pod if of_container is None else of_container)
    if not host:
        return
    if host != every:
        detail = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        yield invalid(path, "", detail)
    if not spec.get("hostNetwork"):
        detail = "hostNetwork must be true if pod contains any hostProcess containers"
        yield invalid(f"{path}.hostNetwork", False, detail)
    if not allow_privileged:
        yield forbidden(path, "hostProcess containers are disallowed by cluster policy")


def check_linux_pod(path: str, spec: Json) -> Iterator[FieldError]:
    """Check a pod with ``os.name: linux``. ``path``: the spec's path."""
    for inner, each in ((path, spec), *placed_containers(path, spec)):
        if "windowsOptions" in each.get("securityContext", {}):
            yield forbidden(f"{inner}.securityContext.windowsOptions", "windows options cannot be set for a linux pod")


def check_windows_pod(path: str, spec: Json) -> Iterator[FieldError]:
    """Check a pod with ``os.name: windows``. ``path``: the spec's path."""
    detail = "cannot be set for a windows pod"
    context = spec.get("securityContext", {})
    for field in _POD_FIELDS:
        if field in context and (field != "sysctls" or context[field]):
            yield forbidden(f"{path}.securityContext.{field}", detail)
    for field in ("hostUsers", "shareProcessNamespace"):
        if field in spec:
            yield forbidden(f"{path}.{field}", detail)
    for field in ("hostPID", "hostIPC"):
        if spec.get(field):
            yield forbidden(f"{path}.{field}", detail)
    for inner, container in placed_containers(path, spec):
        for field in _CONTAINER_FIELDS:
            if field in container.get("securityContext", {}):
                yield forbidden(f"{inner}.securityContext.{field}", detail)


Json = dict[str, Any]

_SYSCTL: Final = "([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_is_sysctl = re.compile(_SYSCTL).fullmatch
_IPC_SYSCTLS: Final = frozenset(
    f"kernel.{name}"
    for name in ("sem", "shmall", "shmmax", "shmmni", "shm_rmid_forced", "shm", "msgmax", "msgmnb", "msgmni", "msg")
)

_GO_FIELDS: Final[Mapping[str, Sequence[tuple[str, str, object]]]] = {
    "SecurityContext": (
        ("Capabilities", "capabilities", "Capabilities"),
        ("Privileged", "privileged", None),
        ("SELinuxOptions", "seLinuxOptions", "SELinuxOptions"),
        ("WindowsOptions", "windowsOptions", "WindowsOptions"),
        ("RunAsUser", "runAsUser", None),
        ("RunAsGroup", "runAsGroup", None),
        ("RunAsNonRoot", "runAsNonRoot", None),
        ("ReadOnlyRootFilesystem", "readOnlyRootFilesystem", None),
        ("AllowPrivilegeEscalation", "allowPrivilegeEscalation", None),
        ("ProcMount", "procMount", None),
        ("SeccompProfile", "seccompProfile", "Profile"),
        ("AppArmorProfile", "appArmorProfile", "Profile"),
    ),
    "Capabilities": (("Add", "add", None), ("Drop", "drop", None)),
    "SELinuxOptions": (("User", "user", ""), ("Role", "role", ""), ("Type", "type", ""), ("Level", "level", "")),
    "WindowsOptions": (
        ("GMSACredentialSpecName", "gmsaCredentialSpecName", None),
        ("GMSACredentialSpec", "gmsaCredentialSpec", None),
        ("RunAsUserName", "runAsUserName", None),
        ("HostProcess", "hostProcess", None),
    ),
    "Profile": (("Type", "type", ""), ("LocalhostProfile", "localhostProfile", None)),
}
"""Go struct → its fields in order: (name in Go, name in JSON, struct of the field, or its value if unset)."""


def _as_printed(context: Json, struct: str) -> Json:
    """Return a context in the form of API server messages: Go's field names, including unset fields."""
    shown: Json = {}
    for go_name, name, kind in _GO_FIELDS[struct]:
        if isinstance(kind, str) and kind in _GO_FIELDS:
            shown[go_name] = _as_printed(context[name], kind) if name in context else None
        else:
            shown[go_name] = context.get(name, kind)
    return shown


def check_container_security(
    path: str, context: Json, *, host_users: bool, allow_privileged: bool
) -> Iterator[FieldError]:
    """Check ``securityContext`` of a container."""
    privileged, escalation = context.get("privileged"), context.get("allowPrivilegeEscalation")
    if privileged and not allow_privileged:
        yield forbidden(f"{path}.privileged", "disallowed by cluster policy")
    yield from check_fields(path, "SecurityContext", context)
    if host_users and context.get("procMount") == "Unmasked":
        yield invalid(f"{path}.procMount", Named("Unmasked"), "`hostUsers` must be false to use `Unmasked`")
    yield from _check_seccomp(f"{path}.seccompProfile", context.get("seccompProfile"))
    if escalation is False:
        shown = _as_printed(context, "SecurityContext")
        if privileged:
            yield invalid(path, shown, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
        if "CAP_SYS_ADMIN" in context.get("capabilities", {}).get("add", ()):
            detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            yield invalid(path, shown, detail)
    yield from check_windows_options(f"{path}.windowsOptions", context.get("windowsOptions", {}))
    yield from _check_app_armor(f"{path}.appArmorProfile", context.get("appArmorProfile"))


def _check_seccomp(path: str, profile: Json | None) -> Iterator[FieldError]:
    if profile is None:
        return
    kind, localhost = profile.get("type", ""), profile.get("localhostProfile")
    yield from check_fields(path, "SeccompProfile", profile)
    if kind == "Localhost":
        if localhost is None:
            yield required(f"{path}.localhostProfile", "must be set when seccomp type is Localhost")
        else:
            yield from check_descending(f"{path}.localhostProfile", localhost)
    elif localhost is not None:
        shown = _as_printed(profile, "Profile")
        yield invalid(f"{path}.localhostProfile", shown, "can only be set when seccomp type is Localhost")


def _check_app_armor(path: str, profile: Json | None) -> Iterator[FieldError]:
    if profile is None:
        return
    kind, localhost = profile.get("type", ""), profile.get("localhostProfile")
    yield from check_fields(path, "AppArmorProfile", profile)
    if kind == "Localhost":
        yield from _check_app_armor_localhost(f"{path}.localhostProfile", localhost)
    elif kind in ("RuntimeDefault", "Unconfined") and localhost is not None:
        detail = "can only be set when AppArmor type is Localhost"
        yield invalid(f"{path}.localhostProfile", Named(localhost), detail)


def _check_app_armor_localhost(path: str, profile: str | None) -> Iterator[FieldError]:
    if not profile:
        yield required(path, "must be set when AppArmor type is Localhost")
        return
    if profile != profile.strip():
        yield invalid(path, profile, "must not be padded with whitespace")
    if len(profile.encode()) > 4095:
        yield too_long(path, 4095)


def check_pod_security(path: str, spec: Json) -> Iterator[FieldError]:
    """Check ``securityContext`` of a pod."""
    context = spec.get("securityContext", {})
    yield from check_fields(path, "PodSecurityContext", context)
    for index, group in enumerate(context.get("supplementalGroups", ())):
        yield from all_invalid(f"{path}.supplementalGroups[{index}]", group, names.user_or_group(group))
    yield from _check_sysctls(f"{path}.sysctls", context.get("sysctls", ()), spec)
    yield from _check_seccomp(f"{path}.seccompProfile", context.get("seccompProfile"))
    yield from check_windows_options(f"{path}.windowsOptions", context.get("windowsOptions", {}))
    yield from _check_app_armor(f"{path}.appArmorProfile", context.get("appArmorProfile"))


def _check_sysctls(path: str, sysctls: Sequence[Json], spec: Json) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, sysctl in enumerate(sysctls):
        inner, name = f"{path}[{index}].name", sysctl.get("name", "")
        if not name:
            yield required(inner)
        elif len(name.encode()) > 253 or not _is_sysctl(name):
            yield invalid(inner, name, f"must have at most 253 characters and match regex ^{_SYSCTL}$")
        elif name in seen:
            yield duplicate(inner, name)
        host_field = _host_field(name)
        if host_field and spec.get(host_field):
            yield invalid(inner, name, f"may not be specified when '{host_field}' is true")
        seen.add(name)


def _host_field(sysctl: str) -> str:
    """Return the pod's field by which it shares the sysctl's namespace with the node; "" for none."""
    dotted = sysctl
    if next((character for character in sysctl if character in "./"), ".") == "/":
        dotted = sysctl.translate(str.maketrans("./", "/."))
    dotted = dotted.partition("*")[0]
    if dotted in _IPC_SYSCTLS or dotted.startswith("fs.mqueue."):
        return "hostIPC"
    return "hostNetwork" if dotted.startswith("net.") else ""
