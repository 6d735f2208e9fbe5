"""Claims that a placed pod reserves, and claims that are deallocated."""

from __future__ import annotations

from tests.forks import fork
from tests.unit.plugins.device_builders import allocated, claim, devices_in_use, named, request, template, with_devices
from topospread.scheduling.cycle import Scheduler

FULL = "0/1 nodes are available: 1 cannot allocate all claims."


def test_a_device_that_one_pod_has_is_not_free_for_the_next() -> None:
    scheduler = with_devices(claim("a", request()), claim("b", request()))
    assert scheduler.schedule(named("p", resourceClaimName="a")).node == "n0"
    assert scheduler.schedule(named("q", resourceClaimName="b")).message == FULL
    held = scheduler.cluster.objects.resource_claims["default", "a"]
    assert [each.name for each in held.status.reserved_for or ()] == ["p"]
    assert devices_in_use(scheduler) == ["n0/d0"]


def test_a_savepoint_gives_devices_back_and_a_fork_keeps_its_own() -> None:
    scheduler = with_devices(template("t", request()), devices=2)
    pods = [named(name, resourceClaimTemplateName="t") for name in "pqr"]
    assert scheduler.schedule(pods[0], "p").node == "n0"
    with scheduler.cluster.savepoint() as savepoint:
        assert scheduler.schedule(pods[1], "q").node == "n0"
        assert scheduler.schedule(pods[2], "r").message == FULL
        savepoint.rollback()
        assert devices_in_use(scheduler) == ["n0/d0"]
        assert scheduler.schedule(pods[2], "r").node == "n0"
    assert devices_in_use(scheduler) == ["n0/d0"]
    forked = Scheduler(fork(scheduler.cluster), scheduler.frameworks)
    assert forked.schedule(pods[1], "q").node == "n0"
    assert (devices_in_use(forked), devices_in_use(scheduler)) == (["n0/d0", "n0/d1"], ["n0/d0"])


def test_a_pod_that_is_gone_gives_back_what_nobody_else_uses() -> None:
    scheduler = with_devices(claim("shared", request()), template("t", request()), devices=2)
    for name in "pq":
        assert scheduler.schedule(named(name, resourceClaimName="shared")).node == "n0"
    assert scheduler.schedule(named("r", resourceClaimTemplateName="t")).node == "n0"
    claims = scheduler.cluster.objects.resource_claims
    assert set(claims) == {("default", "shared"), ("default", "r-g")}
    for name, left in (("p", ["n0/d0", "n0/d1"]), ("r", ["n0/d0"]), ("q", [])):
        scheduler.cluster.delete_pod(f"default/{name}")
        assert devices_in_use(scheduler) == left
    assert set(claims) == {("default", "shared")}, "a claim of a template goes with its pod"


def test_a_claim_that_nobody_uses_is_released_where_its_node_is_full() -> None:
    held = allocated(claim("a", request()), ("gone", "d0"))
    held.status.allocation.node_selector.node_selector_terms[0].match_fields[0].values = ["gone"]
    scheduler = with_devices(held)
    waiting = named("p", resourceClaimName="a")
    verdict = scheduler.verdict(waiting)
    assert scheduler.release_claim(waiting, "p", verdict) == "deallocation of ResourceClaim completed"
    assert scheduler.schedule(waiting).node == "n0"


def test_a_pod_that_is_bound_takes_its_devices() -> None:
    scheduler = with_devices(template("t", request()))
    made = scheduler.cluster.shared_class(named("p", resourceClaimTemplateName="t"))
    with scheduler.cluster.savepoint():
        scheduler.bind("default/p", made, 0)
        assert devices_in_use(scheduler) == ["n0/d0"]
        scheduler.bind("default/q", made, 0)
        assert devices_in_use(scheduler) == ["n0/d0"], "there is none for it, whoever bound it there"
    assert devices_in_use(scheduler) == []
