"""What a configuration says about the running process."""

from __future__ import annotations

from typing import Any

import pytest

from topospread.config.gates import gates_for
from topospread.config.operation import operation
from topospread.errors import DecodeError


def given(api: str = "v1", **fields: Any) -> dict[str, Any]:
    return {"apiVersion": f"kubescheduler.config.k8s.io/{api}", "kind": "KubeSchedulerConfiguration", **fields}


def test_without_a_file_all_is_as_kube_scheduler_has_it() -> None:
    found = operation(None, gates_for())
    election = found.leader_election
    assert (election.elect, election.resource_namespace, election.resource_name) == (
        True,
        "kube-system",
        "kube-scheduler",
    )
    assert (election.lease_duration, election.renew_deadline, election.retry_period) == (15, 10, 2)
    assert (found.qps, found.burst, found.initial_backoff, found.max_backoff) == (50, 100, 1, 10)
    assert found.given == frozenset()


@pytest.mark.parametrize("api", ["v1", "v1beta3", "v1beta2"])
def test_a_files_fields_are_read_in_every_version(api: str) -> None:
    version = "1.24" if api != "v1" else "1.37"
    data = given(
        api,
        leaderElection={"leaderElect": False, "leaseDuration": "1m", "resourceName": "mine"},
        clientConnection={"kubeconfig": "/k", "qps": 5000, "burst": 6000},
        podInitialBackoffSeconds=2,
        podMaxBackoffSeconds=20,
        extenders=[{"urlPrefix": "http://e", "filterVerb": "filter"}],
    )
    found = operation(data, gates_for(version))
    assert found.leader_election.lease_duration == 60
    assert found.leader_election.resource_name == "mine"
    assert not found.leader_election.elect
    assert (found.kubeconfig, found.qps, found.burst) == ("/k", 5000, 6000)
    assert (found.initial_backoff, found.max_backoff) == (2, 20)
    assert found.extenders == ("http://e",)
    assert {"leaderElection", "clientConnection"} <= found.given


def test_what_is_shown_has_every_extension_point_and_default() -> None:
    shown = operation(given(profiles=[{"schedulerName": "mine"}]), gates_for()).shown
    profile = shown["profiles"][0]
    assert profile["schedulerName"] == "mine"
    assert {"multiPoint", "score", "placementScore"} <= set(profile["plugins"])
    args = {one["name"]: one["args"] for one in profile["pluginConfig"]}
    assert args["PodTopologySpread"]["kind"] == "PodTopologySpreadArgs"
    assert args["PodTopologySpread"]["defaultingType"] == "System"
    assert shown["leaderElection"]["leaseDuration"] == "15s"


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(DecodeError, match=r"leaderElection\.leaderElct"):
        operation(given(leaderElection={"leaderElct": True}), gates_for())


@pytest.mark.parametrize(("api", "version"), [("v1", "1.37"), ("v1beta2", "1.22"), ("v1alpha2", "1.18")])
@pytest.mark.parametrize("profiling", [True, False])
def test_contention_is_profiled_by_default_where_profiling_is_on(api: str, version: str, profiling: bool) -> None:
    shown = operation(given(api, enableProfiling=profiling), gates_for(version)).shown
    assert shown["enableContentionProfiling"] is profiling
    assert operation(given(api, enableContentionProfiling=False), gates_for(version)).shown["enableProfiling"]


def test_what_an_old_version_does_not_have_is_shown_with_todays_default() -> None:
    assert operation(given("v1beta1"), gates_for("1.19")).shown["parallelism"] == 16
