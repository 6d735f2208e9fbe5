"""Which controllers `--scale` means."""

from __future__ import annotations

import pytest

from topospread.controllers.scale import scaled
from topospread.errors import UsageError

THERE = [
    ("Deployment", "shop", "web"),
    ("Deployment", "shop", "checkout"),
    ("Deployment", "blog", "web"),
    ("StatefulSet", "shop", "db"),
    ("ReplicaSet", "shop", "rs"),
    ("ReplicationController", "shop", "rc"),
    ("Job", "shop", "sum"),
    ("DaemonSet", "shop", "agent"),
]


@pytest.mark.parametrize(
    ("target", "key"),
    [
        ("shop/deploy/web", ("Deployment", "shop", "web")),
        ("blog/deployment/web", ("Deployment", "blog", "web")),
        ("deployments/checkout", ("Deployment", "shop", "checkout")),
        ("deployment.apps/checkout", ("Deployment", "shop", "checkout")),
        ("Deployment/checkout", ("Deployment", "shop", "checkout")),
        ("sts/db", ("StatefulSet", "shop", "db")),
        ("statefulset.apps/db", ("StatefulSet", "shop", "db")),
        ("rs/rs", ("ReplicaSet", "shop", "rs")),
        ("rc/rc", ("ReplicationController", "shop", "rc")),
        ("job.batch/sum", ("Job", "shop", "sum")),
    ],
)
def test_targets(target, key):
    assert scaled({target: 3}, THERE) == {key: 3}


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ({"deploy/web": 3}, "several workloads match; use one of shop/deployment/web, blog/deployment/web"),
        ({"deploy/chekout": 3}, "Deployment chekout not found; did you mean shop/deployment/checkout?"),
        (
            {"blog/deploy/checkout": 3},
            "Deployment checkout not found in namespace blog; did you mean shop/deployment/checkout?",
        ),
        ({"sts/zzz": 3}, "StatefulSet zzz not found; the input has shop/statefulset/db"),
        ({"web": 3}, "web is shop/deployment/web and blog/deployment/web: say which"),
        ({"nope": 3}, "workload nope not found; the input has shop/deployment/"),
        ({"blog/zzz": 3}, "workload zzz not found in namespace blog; the input has blog/deployment/web$"),
        ({"pod/web": 3}, "workload web not found in namespace pod; did you mean shop/deployment/web?"),
        ({"a/b/deploy/web": 3}, "write"),
        ({"deploy/": 3}, "write"),
        ({"ds/agent": 3}, "a DaemonSet has a pod on each node it selects and cannot be scaled"),
        ({"cronjob/x": 3}, "a CronJob has no replicas"),
        ({"sts/db": -1}, "replicas cannot be negative"),
        ({"sts/db": 1, "shop/sts/db": 2}, "shop/statefulset/db is scaled twice"),
    ],
)
def test_refused(scale, words):
    with pytest.raises(UsageError, match=words):
        scaled(scale, THERE)


def test_none_of_the_kind():
    with pytest.raises(UsageError, match="Job sum not found; the input has no Job"):
        scaled({"job/sum": 3}, THERE[:2])
