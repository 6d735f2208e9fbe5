"""Metrics as a scrape shows them."""

from __future__ import annotations

import time

from prometheus_client.parser import text_string_to_metric_families

from topospread.config.gates import gates_for
from topospread.live.metric_table import exponential, metrics
from topospread.live.metrics import Metrics
from topospread.live.observer import PendingPods


def scraped(counted: Metrics) -> dict[str, float]:
    families = text_string_to_metric_families(counted.exposition("")[0].decode())
    return {
        f"{sample.name}{dict(sorted(sample.labels.items())) or ''}": sample.value
        for family in families
        for sample in family.samples
    }


def fresh() -> Metrics:
    return Metrics("10.0.0.1:6443", gates_for())


def test_an_attempt_counts_by_result_and_profile() -> None:
    counted = fresh()
    counted.attempted("default-scheduler", "scheduled", 0.003)
    counted.attempted("default-scheduler", "scheduled", 0.003)
    counted.attempted("default-scheduler", "unschedulable", 5)
    found = scraped(counted)
    labels = {"profile": "default-scheduler", "result": "scheduled"}
    assert found[f"scheduler_schedule_attempts_total{labels}"] == 2
    assert (
        found[f"scheduler_scheduling_attempt_duration_seconds_bucket{dict(sorted({**labels, 'le': '0.002'}.items()))}"]
        == 0
    )
    assert (
        found[f"scheduler_scheduling_attempt_duration_seconds_bucket{dict(sorted({**labels, 'le': '0.004'}.items()))}"]
        == 2
    )


def test_many_attempts_share_a_label() -> None:
    counted = fresh()
    counted.bound("a/b", "n", "p", 14, 1)
    counted.bound("a/b", "n", "p", 15, 1)
    counted.bound("a/b", "n", "p", 16, 1)
    found = scraped(counted)
    assert found["scheduler_pod_scheduling_sli_duration_seconds_count{'attempts': '14'}"] == 1
    assert found["scheduler_pod_scheduling_sli_duration_seconds_count{'attempts': '15+'}"] == 2
    assert found["scheduler_pod_scheduling_attempts_count"] == 3


def test_pods_that_wait_are_shown_by_queue_from_the_start() -> None:
    counted = fresh()
    assert scraped(counted)["scheduler_pending_pods{'queue': 'gated'}"] == 0
    counted.pending(PendingPods(active=1, backoff=2, unschedulable=3, gated=4))
    found = scraped(counted)
    assert [found[f"scheduler_pending_pods{{'queue': '{queue}'}}"] for queue in ("active", "backoff")] == [1, 2]
    assert found["scheduler_queued_entities{'queue': 'unschedulable', 'type': 'pod'}"] == 3


def test_what_else_is_told_is_counted() -> None:
    counted = fresh()
    counted.requested("POST", "201", 0.01)
    counted.incoming("active", "PodAdd", 3)
    counted.preemption_attempted("p")
    counted.preempted("a/b", "n", 3)
    counted.preemption_ended("success", 0.1)
    counted.watching("Node", "relisting")
    counted.watching("Node", "failed", "403")
    counted.watching("Node", "listed")
    counted.cached(5, 6, 1)
    counted.dropped(2, "too many wait")
    counted.failed("x", "y")
    counted.binding_failed("a/b", "n", "409")
    counted.decided("p", 0.1)
    counted.leads("topospread", True)
    counted.slow_path("topospread")
    found = scraped(counted)
    assert found["rest_client_requests_total{'code': '201', 'host': '10.0.0.1:6443', 'method': 'POST'}"] == 1
    assert found["scheduler_queue_incoming_pods_total{'event': 'PodAdd', 'queue': 'active'}"] == 3
    assert found["scheduler_preemption_victims_sum"] == 3
    assert found["scheduler_preemption_attempts_total"] == 1
    assert found["topospread_relists_total{'kind': 'Node'}"] == 1
    assert found["topospread_watch_failures_total{'kind': 'Node'}"] == 1
    assert found["scheduler_cache_size{'type': 'assumed_pods'}"] == 1
    assert found["topospread_dropped_events_total"] == 2
    assert found["topospread_binding_failures_total"] == 1
    assert found["leader_election_master_status{'name': 'topospread'}"] == 1
    assert found["leader_election_slowpath_total{'name': 'topospread'}"] == 1
    assert found["kubernetes_feature_enabled{'name': 'NodeInclusionPolicyInPodTopologySpread', 'stage': ''}"] == 1


def test_the_share_of_mirrored_bindings_is_of_all_of_them() -> None:
    counted = fresh()
    for result in ("best", "best", "other", "nowhere"):
        counted.mirrored(result, "a/b", "n", "")  # type: ignore[arg-type]
    found = scraped(counted)
    assert found["topospread_mirrored_share"] == 0.5
    assert found["topospread_mirrored_bindings_total{'result': 'best'}"] == 2


def test_pods_are_counted_by_the_plugin_that_rejects_them_as_long_as_it_does() -> None:
    counted = fresh()
    counted.rejected({("NodeResourcesFit", "p"): 2, ("PodTopologySpread", "p"): 1})
    counted.rejected({("NodeResourcesFit", "p"): 1})
    found = {name: value for name, value in scraped(counted).items() if name.startswith("scheduler_unschedulable")}
    assert found == {"scheduler_unschedulable_pods{'plugin': 'NodeResourcesFit', 'profile': 'p'}": 1}


def test_no_series_is_there_of_when_a_counter_was_made() -> None:
    counted = fresh()
    counted.failed("x", "y")
    assert b"_created" not in counted.exposition("")[0]


def test_every_family_has_a_name_of_its_own() -> None:
    names = [metric.name for metric in metrics()]
    assert len(names) == len(set(names))
    assert exponential(0.001, 2, 3) == (0.001, 0.002, 0.004)


def test_a_bound_pod_costs_little() -> None:
    counted = fresh()
    started = time.process_time()
    for _ in range(2000):
        counted.attempted("p", "scheduled", 0.003)
        counted.decided("p", 0.003)
        counted.bound("a/b", "n", "p", 1, 0.1)
        counted.incoming("active", "PodAdd", 1)
        counted.requested("POST", "201", 0.003)
    assert (time.process_time() - started) / 2000 < 0.0005


def test_what_is_tallied_is_a_histogram_as_any_other() -> None:
    counted = fresh()
    for seconds in (0.0001, 0.00011, 5):
        counted.event_handled("NodeAdd", seconds)
    counted.hinted("NodeResourcesFit", "NodeAdd", "Queue", 0.00002)
    found = scraped(counted)
    name = "scheduler_event_handling_duration_seconds"
    counts = {le: found[f"{name}_bucket{{'event': 'NodeAdd', 'le': '{le}'}}"] for le in ("0.0001", "0.0002", "+Inf")}
    assert counts == {"0.0001": 1, "0.0002": 2, "+Inf": 3}
    assert found[f"{name}_count{{'event': 'NodeAdd'}}"] == 3
    assert found[f"{name}_sum{{'event': 'NodeAdd'}}"] == 5.00021
    labels = {"event": "NodeAdd", "hint": "Queue", "plugin": "NodeResourcesFit"}
    assert found[f"scheduler_queueing_hint_execution_duration_seconds_count{labels}"] == 1


def test_events_that_are_remembered_no_longer_are_shown_as_none() -> None:
    counted = fresh()
    counted.in_flight({"PodPopped": 2, "NodeAdd": 1})
    counted.in_flight({"PodPopped": 1})
    found = scraped(counted)
    events = {event: found[f"scheduler_inflight_events{{'event': '{event}'}}"] for event in ("PodPopped", "NodeAdd")}
    assert events == {"PodPopped": 1, "NodeAdd": 0}


def test_what_runs_is_shown() -> None:
    counted = fresh()
    counted.running(bindings=3, tasks=40)
    counted.bound_after_flush()
    found = scraped(counted)
    assert found["scheduler_goroutines{'operation': 'binding'}"] == 3
    assert found["topospread_tasks"] == 40
    assert found["scheduler_pod_scheduled_after_flush_total"] == 1


def test_a_histogram_without_labels_is_there_before_anything_is_counted() -> None:
    found = scraped(fresh())
    assert found["scheduler_preemption_victims_count"] == 0
    assert found["scheduler_preemption_victims_bucket{'le': '+Inf'}"] == 0
    assert not [each for each in found if each.startswith("scheduler_scheduling_attempt_duration_seconds")]
