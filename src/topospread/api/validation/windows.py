"""The API server's validation of pods for Windows.

Source: validateWindowsSecurityContextOptions, validateWindowsHostProcessPod, validateWindows and validateLinux in
pkg/apis/core/validation/validation.go (Kubernetes 1.37).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from . import names
from .field import FieldError, Named, all_invalid, forbidden, invalid

Json = dict[str, Any]

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
    """``windowsOptions`` of a security context."""
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


def _containers(path: str, spec: Json) -> Iterator[tuple[str, Json]]:
    for name in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(name, ())):
            yield f"{path}.{name}[{index}].securityContext", container.get("securityContext", {})


def check_host_process(path: str, spec: Json, *, allow_privileged: bool) -> Iterator[FieldError]:
    """HostProcess containers: all or none, on the host's network; ``path`` is that of the spec."""
    of_pod = spec.get("securityContext", {}).get("windowsOptions", {}).get("hostProcess")
    every, host = 0, 0
    for inner, context in _containers(path, spec):
        every += 1
        of_container = context.get("windowsOptions", {}).get("hostProcess")
        if of_pod is not None and of_container is not None and of_pod != of_container:
            detail = f"pod hostProcess value must be identical if both are specified, was {str(of_pod).lower()}"
            yield invalid(f"{inner}.windowsOptions.hostProcess", of_container, detail)
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
    """A pod with ``os.name: linux``; ``path`` is that of the spec."""
    contexts = [(f"{path}.securityContext", spec.get("securityContext", {})), *_containers(path, spec)]
    for inner, context in contexts:
        if "windowsOptions" in context:
            yield forbidden(f"{inner}.windowsOptions", "windows options cannot be set for a linux pod")


def check_windows_pod(path: str, spec: Json) -> Iterator[FieldError]:
    """A pod with ``os.name: windows``; ``path`` is that of the spec."""
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
    for inner, of_container in _containers(path, spec):
        for field in _CONTAINER_FIELDS:
            if field in of_container:
                yield forbidden(f"{inner}.{field}", detail)
