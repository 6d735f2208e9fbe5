"""Probes and lifecycle handlers of containers as the API server checks them.

Source: validateProbe, validateHandler, validateLifecycle and what they call in
pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from . import names
from .field import FieldError, all_invalid, forbidden, invalid, required
from .rules import check_fields

Json = dict[str, Any]

_PROBE_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "grpc")
_LIFECYCLE_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "sleep")


def check_probes(path: str, container: Json, grace_period: int | None) -> Iterator[FieldError]:
    """Liveness, readiness and startup probe of a container."""
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(name)
        if probe is None:
            continue
        inner = f"{path}.{name}"
        yield from _check_probe(inner, probe, grace_period)
        grace = probe.get("terminationGracePeriodSeconds")
        if name == "readinessProbe":
            if grace is not None:
                yield invalid(f"{inner}.terminationGracePeriodSeconds", grace, "must not be set for readinessProbes")
        elif probe["successThreshold"] != 1:
            yield invalid(f"{inner}.successThreshold", probe["successThreshold"], "must be 1")


def _check_probe(path: str, probe: Json, grace_period: int | None) -> Iterator[FieldError]:
    yield from _check_handler(path, probe, _PROBE_HANDLERS, grace_period)
    yield from check_fields(path, "Probe", probe)
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        yield invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0")


def check_lifecycle(path: str, lifecycle: Json, grace_period: int | None) -> Iterator[FieldError]:
    """postStart and preStop of a container."""
    for name in ("postStart", "preStop"):
        if name in lifecycle:
            yield from _check_handler(f"{path}.{name}", lifecycle[name], _LIFECYCLE_HANDLERS, grace_period)


def _check_handler(path: str, handler: Json, kinds: tuple[str, ...], grace_period: int | None) -> Iterator[FieldError]:
    given = [kind for kind in kinds if kind in handler]
    if not given:
        yield required(path, "must specify a handler type")
        return
    for kind in given[1:]:
        yield forbidden(f"{path}.{kind}", "may not specify more than 1 handler type")
    inner, action = f"{path}.{given[0]}", handler[given[0]]
    if given[0] == "exec":
        yield from check_fields(inner, "ExecAction", action)
    elif given[0] == "httpGet":
        yield from _check_port(f"{inner}.port", action.get("port", 0))
        yield from check_fields(inner, "HTTPGetAction", action)
        for header in action.get("httpHeaders", ()):
            name = header.get("name", "")
            yield from all_invalid(f"{inner}.httpHeaders", name, names.http_header(name))
    elif given[0] == "sleep":
        seconds = action.get("seconds", 0)
        if grace_period is not None and not 0 <= seconds <= grace_period:
            detail = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_period})"
            yield invalid(inner, seconds, detail)
    else:
        yield from _check_port(f"{inner}.port", action.get("port", 0))


def _check_port(path: str, port: int | str) -> Iterator[FieldError]:
    reasons = names.port_number(port) if isinstance(port, int) else names.port_name(port)
    yield from all_invalid(path, port, reasons)
