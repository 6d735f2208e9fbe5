"""Workload controllers, right and wrong, around the pods of this package."""

from __future__ import annotations

from typing import Any

from conformance.generators.draw import Json
from conformance.generators.refused.pods import pod
from conformance.generators.refused.scheduling import selector
from conformance.generators.refused.words import Words

API_VERSIONS = {
    "Deployment": "apps/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "ReplicationController": "v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
}
SCHEDULES = ["* * * * *", "*/5 0 1 jan mon", "@daily", "0-10/2,30 * ? * 1-5"]
ODD_SCHEDULES = ["", "* * * *", "60 * * * *", "x * * * *", "5-1 * * * *", "*/0 * * * *", "1-2-3 * * * *", "@never"]


def workload(words: Words, number: int) -> Json:
    """One workload."""
    kind = words.choice(list(API_VERSIONS))
    template = pod(words, number)
    made: Json = {
        "apiVersion": API_VERSIONS[kind],
        "kind": kind,
        "metadata": {
            "name": words.mostly([f"w-{number}"], ["A", "a.b", "n" * 64, "n" * 53, "n" * 254], 0.05),
            "namespace": "default",
        },
        "spec": {},
    }
    spec = made["spec"]
    inner = {"metadata": template["metadata"], "spec": template["spec"]}
    if kind == "CronJob":
        spec |= _cron_job(words)
        spec["jobTemplate"] = {"spec": _job(words) | {"template": inner}}
    else:
        spec |= _counts(words) | {"template": inner}
        spec |= _job(words) if kind == "Job" else _selector(words, kind, template)
        spec |= _strategy(words, kind)
    if kind in ("Job", "CronJob"):
        _restart(words, inner)
    return made


def _restart(words: Words, template: Json) -> None:
    if isinstance(template["spec"], dict) and words.chance(0.9):
        template["spec"]["restartPolicy"] = words.choice(["Never", "OnFailure"])


def _counts(words: Words) -> Json:
    return words.some(
        {
            "replicas": lambda: words.number([0, 1, 3]),
            "minReadySeconds": lambda: words.number([0, 5], [-1]),
            "revisionHistoryLimit": lambda: words.number([0, 5], [-1]),
            "progressDeadlineSeconds": lambda: words.number([600], [-1, 0, 5]),
            "podManagementPolicy": lambda: words.mostly(["OrderedReady", "Parallel"], ["", "x"]),
            "serviceName": lambda: words.mostly(["svc"], ["A", "a.b", ""]),
            "ordinals": lambda: {"start": words.number([0, 2], [-1])},
            "persistentVolumeClaimRetentionPolicy": lambda: {
                "whenDeleted": words.choice(["Retain", "Delete", "x", ""])
            },
            "volumeClaimTemplates": lambda: [
                {"metadata": {"name": words.choice(["data", "new"])}, "spec": _claim(words)} for _ in range(1)
            ],
        },
        0.25,
    )


def _claim(words: Words) -> Json:
    good: Json = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return good if words.chance(0.8) else words.some(good, 0.5)


def _selector(words: Words, kind: str, template: Json) -> Json:
    metadata: Any = template["metadata"]
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    if kind == "ReplicationController":
        return words.some({"selector": lambda: labels if words.chance(0.7) else words.labels(1)}, 0.8)
    if words.chance(0.05):
        return {}
    if isinstance(labels, dict) and words.chance(0.7):
        return {"selector": {"matchLabels": labels}}
    return {"selector": selector(words)}


def _share(words: Words) -> Any:
    return words.mostly([1, "25%", 0, "0%"], [-1, "x", "101%", "", "5", "%"], 0.3)


def _strategy(words: Words, kind: str) -> Json:
    field = "strategy" if kind == "Deployment" else "updateStrategy"
    made: Json = words.some(
        {
            "type": lambda: words.mostly(["RollingUpdate", "OnDelete", "Recreate"], ["", "x"]),
            "rollingUpdate": lambda: words.some(
                {
                    "maxUnavailable": lambda: _share(words),
                    "maxSurge": lambda: _share(words),
                    "partition": lambda: words.number([0, 1], [-1]),
                },
                0.6,
            ),
        },
        0.6,
    )
    return {field: made} if words.chance(0.4) else {}


def _job(words: Words) -> Json:
    made = words.some(
        {
            "parallelism": lambda: words.number([0, 1, 2], [-1, 100001, 20000]),
            "completions": lambda: words.number([1, 5], [-1, 0, 100001]),
            "completionMode": lambda: words.mostly(["Indexed", "NonIndexed"], ["", "x"]),
        },
        0.5,
    )
    return made | words.some(
        {
            "backoffLimit": lambda: words.number([6], [-1]),
            "activeDeadlineSeconds": lambda: words.number([60], [-1, 0]),
            "ttlSecondsAfterFinished": lambda: words.number([60], [-1]),
            "backoffLimitPerIndex": lambda: words.number([1], [-1]),
            "maxFailedIndexes": lambda: words.number([1], [-1, 20000, 100001]),
            "podReplacementPolicy": lambda: words.mostly(["Failed", "TerminatingOrFailed"], ["", "x"]),
            "manualSelector": lambda: words.choice([True, False]),
            "selector": lambda: selector(words),
        },
        0.12,
    )


def _cron_job(words: Words) -> Json:
    return words.some({"schedule": lambda: words.mostly(SCHEDULES, ODD_SCHEDULES, 0.3)}, 0.97) | words.some(
        {
            "timeZone": lambda: words.mostly(["Europe/Berlin", "UTC"], ["", "Local", "a//b", "..", "-x/y", "é"], 0.4),
            "concurrencyPolicy": lambda: words.mostly(["Allow", "Forbid", "Replace"], ["", "x"]),
            "startingDeadlineSeconds": lambda: words.number([0, 10], [-1]),
            "successfulJobsHistoryLimit": lambda: words.number([0, 10], [-1]),
            "failedJobsHistoryLimit": lambda: words.number([0, 10], [-1]),
        },
        0.3,
    )
