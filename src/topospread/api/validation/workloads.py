"""Workload controllers as the API server checks them when they are created: their selector, template and counts.

Sources: pkg/apis/apps/validation/validation.go (Deployment, ReplicaSet, StatefulSet, DaemonSet),
pkg/apis/core/validation/validation.go (ReplicationController); Jobs are `jobs`. Defaults are those of
pkg/apis/apps/v1/defaults.go (Kubernetes 1.37 with its default feature gates). Data is decoded (`schema.decoded`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from topospread.api import label_syntax
from topospread.api.labels import InvalidSelectorError, LabelSelector, Selector

from . import names
from .defaults import default_template
from .field import FieldError, Named, Options, forbidden, invalid, not_negative, not_supported, required
from .metadata import check_metadata
from .pod import check_pod_template
from .rules import check_fields
from .selectors import check_label_selector, labels_as_printed, selector_as_printed
from .volumes import check_claim_spec

Json = dict[str, Any]
IntOrString = int | str

_MATCH: Final = "`selector` does not match template `labels`"
_PERCENT: Final = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for "
    "validation is '[0-9]+%')"
)
_is_percent = re.compile("[0-9]+%").fullmatch


def check_deployment(workload: Json, *, options: Options) -> Iterator[FieldError]:
    """Check a Deployment."""
    spec = workload["spec"]
    yield from check_metadata(workload["metadata"], names.subdomain)
    yield from _check_replica_template(spec, options=options)
    yield from check_fields("spec", "DeploymentSpec", spec)
    deadline = spec.get("progressDeadlineSeconds", 600)
    if deadline <= spec.get("minReadySeconds", 0):
        yield invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")
    strategy = spec.get("strategy", {})
    kind = strategy.get("type") or "RollingUpdate"
    if kind == "RollingUpdate":
        yield from _check_rolling_deployment("spec.strategy.rollingUpdate", strategy.get("rollingUpdate", {}))
    elif kind != "Recreate":
        shown = _strategy_as_printed(strategy, "maxUnavailable", "maxSurge")
        yield not_supported("spec.strategy", shown, ("Recreate", "RollingUpdate"))
    elif "rollingUpdate" in strategy:
        detail = "may not be specified when strategy `type` is 'Recreate'"
        yield forbidden("spec.strategy.rollingUpdate", detail)


def check_replica_set(workload: Json, *, options: Options) -> Iterator[FieldError]:
    """Check a ReplicaSet."""
    spec = workload["spec"]
    yield from check_metadata(workload["metadata"], names.subdomain)
    yield from check_fields("spec", "ReplicaSetSpec", spec)
    yield from _check_replica_template(spec, options=options)


def check_replication_controller(workload: Json, *, options: Options) -> Iterator[FieldError]:
    """Check a ReplicationController, whose selector is a map; by default the template's labels."""
    spec = workload["spec"]
    yield from check_metadata(workload["metadata"], _long_name, prefix_too=False)
    template: Json | None = spec.get("template")
    labels = (template or {}).get("metadata", {}).get("labels")
    selector = spec.get("selector") or labels or {}
    if not selector:
        yield required("spec.selector")
    yield from check_fields("spec", "ReplicationControllerSpec", spec)
    if template is None:
        yield required("spec.template")
        return
    if selector and not Selector.from_set(selector).matches(labels or {}):
        yield invalid("spec.template.metadata.labels", labels_as_printed(labels), _MATCH)
    yield from check_pod_template("spec.template", template, options=options)
    yield from _check_always_runs(template["spec"], "ReplicationController")


def check_daemon_set(workload: Json, *, options: Options) -> Iterator[FieldError]:
    """Check a DaemonSet."""
    spec = workload["spec"]
    template = spec["template"]
    yield from check_metadata(workload["metadata"], names.subdomain)
    selector = spec.get("selector")
    yield from check_label_selector("spec.selector", selector)
    compiled = compiled_selector(selector)
    labels = template["metadata"].get("labels")
    if compiled is not None and not compiled.matches(labels or {}):
        yield invalid("spec.template.metadata.labels", labels_as_printed(labels), _MATCH)
    if selector is not None and _is_empty(selector):
        yield invalid("spec.selector", selector_as_printed(selector), "empty selector is invalid for daemonset")
    yield from check_pod_template("spec.template", template, options=options)
    yield from _check_always_runs(template["spec"], "DaemonSet")
    yield from check_fields("spec", "DaemonSetSpec", spec)
    strategy = spec.get("updateStrategy", {})
    kind = strategy.get("type") or "RollingUpdate"
    if kind == "RollingUpdate":
        yield from _check_rolling_daemon_set("spec.updateStrategy.rollingUpdate", strategy.get("rollingUpdate", {}))
    elif kind != "OnDelete":
        shown = _strategy_as_printed(strategy, "maxUnavailable", "maxSurge")
        yield not_supported("spec.updateStrategy", shown, ("RollingUpdate", "OnDelete"))


def check_stateful_set(workload: Json, *, options: Options) -> Iterator[FieldError]:
    """Check a StatefulSet; its claims count as volumes of the template."""
    spec = workload["spec"]
    yield from check_metadata(workload["metadata"], names.dns_label)
    management = spec.get("podManagementPolicy") or "OrderedReady"
    if management not in ("OrderedReady", "Parallel"):
        yield invalid("spec.podManagementPolicy", Named(management), "must be 'OrderedReady' or 'Parallel'")
    yield from _check_stateful_strategy("spec.updateStrategy", spec.get("updateStrategy", {}))
    for field, struct in (
        ("persistentVolumeClaimRetentionPolicy", "StatefulSetPersistentVolumeClaimRetentionPolicy"),
        ("ordinals", "StatefulSetOrdinals"),
    ):
        yield from check_fields(f"spec.{field}", struct, spec.get(field, {}))
    for index, claim in enumerate(spec.get("volumeClaimTemplates", ())):
        yield from check_claim_spec(f"spec.volumeClaimTemplates[{index}].spec", claim.get("spec", {}))
    yield from check_fields("spec", "StatefulSetSpec", spec)
    yield from _check_selector(spec.get("selector"), "statefulset")
    compiled = compiled_selector(spec.get("selector"))
    if compiled is None:
        yield invalid("spec.selector", selector_as_printed(spec["selector"]), "")
    else:
        template = _with_claims(spec)
        yield from _check_match(compiled, template)
        yield from check_pod_template("spec.template", template, options=options)
    yield from _check_always_runs(spec["template"]["spec"], "StatefulSet")


def _with_claims(spec: Json) -> Json:
    """Return the template without hostname and subdomain, which the controller sets, and with claims as volumes."""
    template: Json = spec["template"]
    pod = {name: value for name, value in template["spec"].items() if name not in ("hostname", "subdomain")}
    claims = [claim.get("metadata", {}).get("name", "") for claim in spec.get("volumeClaimTemplates", ())]
    if claims:
        made = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in dict.fromkeys(claims)]
        pod["volumes"] = made + [each for each in pod.get("volumes", ()) if each.get("name", "") not in claims]
    return {**template, "spec": pod}


def _long_name(name: str) -> names.Reasons:
    return tuple(label_syntax.subdomain_problems(name))


def _check_replica_template(spec: Json, *, options: Options) -> Iterator[FieldError]:
    yield from _check_selector(spec.get("selector"), "deployment")
    compiled = compiled_selector(spec.get("selector"))
    if compiled is None:
        yield invalid("spec.selector", selector_as_printed(spec["selector"]), "invalid label selector")
        return
    yield from _check_match(compiled, spec["template"])
    yield from check_pod_template("spec.template", spec["template"], options=options)
    yield from _check_always_runs(spec["template"]["spec"], "ReplicaSet")


def _check_selector(selector: Json | None, kind: str) -> Iterator[FieldError]:
    if selector is None:
        yield required("spec.selector")
        return
    yield from check_label_selector("spec.selector", selector)
    if _is_empty(selector):
        yield invalid("spec.selector", selector_as_printed(selector), f"empty selector is invalid for {kind}")


def _is_empty(selector: Json) -> bool:
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def compiled_selector(selector: Json | None) -> Selector | None:
    """Return a decoded label selector in compiled form; None if it is invalid."""
    try:
        return Selector.from_label_selector(None if selector is None else msgspec.convert(selector, LabelSelector))
    except InvalidSelectorError:
        return None


def _check_match(selector: Selector, template: Json) -> Iterator[FieldError]:
    labels = template["metadata"].get("labels")
    if not selector.empty and not selector.matches(labels or {}):
        yield invalid("spec.template.metadata.labels", labels_as_printed(labels), _MATCH)


def _strategy_as_printed(strategy: Json, *fields: str) -> Json:
    rolling = strategy.get("rollingUpdate")
    shown = None if rolling is None else {name[:1].upper() + name[1:]: rolling.get(name, 0) for name in fields}
    return {"Type": strategy.get("type", ""), "RollingUpdate": shown}


def _check_always_runs(spec: Json, kind: str) -> Iterator[FieldError]:
    """Yield errors for a template whose pods must run forever: restartPolicy not Always, or activeDeadlineSeconds."""
    if spec["restartPolicy"] != "Always":
        yield not_supported("spec.template.spec.restartPolicy", Named(spec["restartPolicy"]), ("Always",))
    if "activeDeadlineSeconds" in spec:
        detail = f"activeDeadlineSeconds in {kind} is not Supported"
        yield forbidden("spec.template.spec.activeDeadlineSeconds", detail)


def _check_rolling_deployment(path: str, rolling: Json) -> Iterator[FieldError]:
    unavailable, surge = (rolling.get(field, "25%") for field in ("maxUnavailable", "maxSurge"))
    yield from check_share(f"{path}.maxUnavailable", unavailable)
    yield from check_share(f"{path}.maxSurge", surge)
    if _share(unavailable) == 0 and _share(surge) == 0:
        yield invalid(f"{path}.maxUnavailable", _shown(unavailable), "may not be 0 when `maxSurge` is 0")
    yield from check_at_most_all(f"{path}.maxUnavailable", unavailable)


def _check_rolling_daemon_set(path: str, rolling: Json) -> Iterator[FieldError]:
    unavailable, surge = rolling.get("maxUnavailable", 1), rolling.get("maxSurge", 0)
    for field, value in (("maxUnavailable", unavailable), ("maxSurge", surge)):
        yield from check_share(f"{path}.{field}", value)
        yield from check_at_most_all(f"{path}.{field}", value)
    if _share(unavailable) and _share(surge):
        yield invalid(f"{path}.maxSurge", _shown(surge), "may not be set when maxUnavailable is non-zero")
    elif not _share(unavailable) and not _share(surge):
        yield required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def _check_stateful_strategy(path: str, strategy: Json) -> Iterator[FieldError]:
    kind, rolling = strategy.get("type") or "RollingUpdate", strategy.get("rollingUpdate")
    if kind not in ("RollingUpdate", "OnDelete"):
        shown = {"Type": kind, "RollingUpdate": _stateful_as_printed(rolling)}
        yield invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")
    elif rolling is not None and kind == "OnDelete":
        shown_rolling = _stateful_as_printed(rolling)
        yield invalid(f"{path}.rollingUpdate", shown_rolling, "only allowed for updateStrategy 'RollingUpdate'")
    elif rolling is not None:
        inner = f"{path}.rollingUpdate"
        yield from check_fields(inner, "RollingUpdateStatefulSetStrategy", rolling)
        unavailable = rolling.get("maxUnavailable", 1)
        yield from check_share(f"{inner}.maxUnavailable", unavailable)
        if _share(unavailable) == 0:
            yield invalid(f"{inner}.maxUnavailable", _shown(unavailable), "cannot be 0")
        yield from check_at_most_all(f"{inner}.maxUnavailable", unavailable)


def _stateful_as_printed(rolling: Json | None) -> Json | None:
    if rolling is None:
        return None
    return {"Partition": rolling.get("partition", 0), "MaxUnavailable": rolling.get("maxUnavailable")}


def _shown(value: IntOrString) -> object:
    return Named(value) if isinstance(value, str) else value


def check_share(path: str, value: IntOrString) -> Iterator[FieldError]:
    """Check a number or a percentage of replicas (ValidatePositiveIntOrPercent)."""
    if isinstance(value, int):
        yield from not_negative(path, value)
    elif not _is_percent(value):
        yield invalid(path, Named(value), _PERCENT)


def _share(value: IntOrString) -> int:
    """Return the number or percentage; other text counts as the number that Go reads from it, or 0."""
    if isinstance(value, int):
        return value
    digits = value.removesuffix("%") if _is_percent(value) else value
    return int(digits) if re.fullmatch("[+-]?[0-9]{1,18}", digits) else 0


def check_at_most_all(path: str, value: IntOrString) -> Iterator[FieldError]:
    """Check that a percentage is at most 100 (IsNotMoreThan100Percent)."""
    if isinstance(value, str) and _is_percent(value) and _share(value) > 100:
        yield invalid(path, Named(value), "must not be greater than 100%")


WorkloadCheck = Callable[..., Iterator[FieldError]]

CHECKS: Final[dict[str, WorkloadCheck]] = {
    "Deployment": check_deployment,
    "ReplicaSet": check_replica_set,
    "StatefulSet": check_stateful_set,
    "DaemonSet": check_daemon_set,
    "ReplicationController": check_replication_controller,
}
"""Kind → its check."""


def default_workload(workload: Json) -> None:
    """Set the defaults of the template and metadata; the checks themselves set defaults of counts and strategies."""
    spec = workload.setdefault("spec", {})
    metadata = workload.setdefault("metadata", {})
    metadata["generation"] = 1
    is_controller = workload.get("kind") == "ReplicationController"
    if "template" in spec or not is_controller:
        default_template(spec.setdefault("template", {}))
        if is_controller:
            own_labels_from(spec["template"], metadata)


def own_labels_from(template: Json, metadata: Json) -> None:
    """Copy the template's labels to a ReplicationController or Job without labels."""
    labels = template["metadata"].get("labels")
    if labels is not None and not metadata.get("labels"):
        metadata["labels"] = dict(labels)
