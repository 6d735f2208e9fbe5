"""client-go's rules of a leader election, with a clock that the test turns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from topospread.errors import ConfigError
from topospread.live.election import Election, Record, Timing

START = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """Seconds that pass when the test says so; dates may jump beside them."""

    def __init__(self) -> None:
        self.seconds = 100.0
        self.jump = 0.0

    def now(self) -> float:
        return self.seconds

    def date(self) -> datetime:
        return START + timedelta(seconds=self.seconds + self.jump)


def candidate(clock: Clock, identity: str = "me") -> Election:
    return Election(identity, Timing(), clock.now, clock.date)


def leading(clock: Clock) -> tuple[Election, Record]:
    election = candidate(clock)
    record = election.answer(None)
    assert record is not None
    election.wrote(record, clock.now())
    return election, record


def test_a_lease_that_is_not_there_is_created_without_a_transition() -> None:
    clock = Clock()
    election, record = leading(clock)
    assert record == Record("me", 15, clock.date(), clock.date(), 0)
    assert election.leads
    assert election.may_bind


def test_another_ones_lease_is_waited_for_from_when_it_was_seen() -> None:
    clock = Clock()
    election = candidate(clock)
    # Renewed long ago by the other's clock, which says nothing.
    other = Record("other", 15, START - timedelta(days=1), START - timedelta(days=1), 3)
    assert election.answer(other) is None
    clock.seconds += 14.9
    assert election.answer(other) is None
    clock.seconds += 0.2
    taken = election.answer(other)
    assert taken == Record("me", 15, clock.date(), clock.date(), 4)
    assert not election.leads


def test_every_renewal_that_is_seen_starts_the_wait_anew() -> None:
    clock = Clock()
    election = candidate(clock)
    for renewal in range(4):
        other = Record("other", 15, START, START + timedelta(seconds=renewal), 0)
        assert election.answer(other) is None
        clock.seconds += 14
    assert election.leader == "other"


def test_the_duration_of_the_holder_counts_not_the_own() -> None:
    clock = Clock()
    election = candidate(clock)
    assert election.answer(Record("other", 60, START, START, 0)) is None
    clock.seconds += 59
    assert election.answer(Record("other", 60, START, START, 0)) is None


def test_a_released_lease_is_taken_at_once() -> None:
    clock = Clock()
    taken = candidate(clock).answer(Record("", 1, START, START, 7))
    assert taken is not None
    assert (taken.holder, taken.transitions) == ("me", 8)


def test_a_leader_renews_without_reading_and_keeps_when_it_began() -> None:
    clock = Clock()
    election, record = leading(clock)
    clock.seconds += 2
    renewal = election.renewal()
    assert renewal == Record("me", 15, record.acquired, clock.date(), 0)


def test_a_leader_whose_lease_ran_out_reads_before_it_writes() -> None:
    clock = Clock()
    election, _ = leading(clock)
    clock.seconds += 15.1
    assert election.renewal() is None
    other = Record("other", 15, clock.date(), clock.date(), 1)
    assert election.answer(other) is None
    assert not election.leads
    assert not election.may_bind


def test_a_leader_that_was_frozen_may_not_bind_before_it_renewed() -> None:
    clock = Clock()
    election, record = leading(clock)
    clock.seconds += 9.9
    assert election.may_bind
    clock.seconds += 0.2
    assert election.leads
    assert not election.may_bind
    again = election.answer(record)
    assert again is not None
    election.wrote(again, clock.now())
    assert election.may_bind


def test_the_right_to_bind_counts_from_when_the_renewal_was_sent() -> None:
    clock = Clock()
    election, record = leading(clock)
    sent = clock.now()
    clock.seconds += 4
    election.wrote(record, sent)
    clock.seconds += 6.1
    assert not election.may_bind


def test_a_jump_of_the_date_changes_nothing() -> None:
    clock = Clock()
    election, _ = leading(clock)
    waiting = candidate(clock, "other")
    clock.jump = -86400
    clock.seconds += 2
    renewal = election.renewal()
    assert renewal is not None
    election.wrote(renewal, clock.now())
    assert election.may_bind
    clock.jump = 86400
    assert waiting.answer(renewal) is None


def test_a_release_leaves_a_lease_of_a_second_without_a_holder() -> None:
    clock = Clock()
    election, record = leading(clock)
    released = election.released(record)
    assert released == Record("", 1, clock.date(), clock.date(), 0)
    election.wrote(released, clock.now())
    assert not election.leads
    assert not election.may_bind
    assert election.released(released) is None


def test_a_leader_that_neither_renews_nor_dies_is_reported() -> None:
    clock = Clock()
    election, _ = leading(clock)
    clock.seconds += 35
    assert election.alive()
    clock.seconds += 0.1
    assert not election.alive()
    assert candidate(clock).alive()


def test_an_end_of_term_mark_is_no_other_holder() -> None:
    clock = Clock()
    election, record = leading(clock)
    marked = Record("me", 15, record.acquired, record.renewed, 0, "OldestEmulationVersion", "other")
    clock.seconds += 20
    again = election.answer(marked)
    assert again is not None
    assert again.preferred_holder == ""


@pytest.mark.parametrize("timing", [Timing(10, 10, 2), Timing(15, 2.4, 2), Timing(15, 10, 0), Timing(0.9, 0.5, 0.1)])
def test_durations_that_client_go_refuses_are_refused(timing: Timing) -> None:
    with pytest.raises(ConfigError):
        timing.check()
