"""Whatever happens to a cluster, in whatever order, it answers as one built from what is there in the end."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.drawn import drawn
from tests.forks import fork
from tests.property.events import EVENTS, Event, Objects, answers, built, keep, scheduler_of, templates
from topospread.api.pod import Pod


class Events(RuleBasedStateMachine):
    """Events of every kind, told once or twice; a scheduler that keeps what it derived is asked all the while."""

    def __init__(self) -> None:
        super().__init__()
        self.objects: Objects = {}
        self.cluster = built({})
        self.scheduler = scheduler_of(self.cluster)
        self.pending: list[Pod] = []

    @initialize(pending=templates(), events=st.lists(EVENTS, min_size=5, max_size=30))
    def begin(self, pending: list[Pod], events: list[Event]) -> None:
        self.pending = pending
        self.happen(events)

    @rule(events=st.lists(EVENTS, min_size=1, max_size=4))
    def happen(self, events: list[Event]) -> None:
        for event in events:
            keep(self.objects, event)
            self.cluster.apply(*event)

    @rule(event=EVENTS)
    def be_told_twice(self, event: Event) -> None:
        self.happen([event])
        stamp = self.cluster.journal.stamp
        assert not self.cluster.apply(*event)
        assert self.cluster.journal.stamp == stamp

    @rule(events=st.lists(EVENTS, min_size=1, max_size=6), inner=st.lists(EVENTS, max_size=4))
    def go_back(self, events: list[Event], inner: list[Event]) -> None:
        """What is done and asked between a savepoint and its end leaves no trace."""
        before = answers(self.scheduler, self.pending)
        stamp = self.cluster.journal.stamp
        tried = dict(self.objects)
        with self.cluster.savepoint() as outer:
            for event in events:
                keep(tried, event)
                self.cluster.apply(*event)
            then = answers(self.scheduler, self.pending)
            with self.cluster.savepoint():
                for event in inner:
                    self.cluster.apply(*event)
                answers(self.scheduler, self.pending)
            assert answers(self.scheduler, self.pending) == then == answers(scheduler_of(built(tried)), self.pending)
            outer.rollback()
            assert answers(self.scheduler, self.pending) == before
        assert (answers(self.scheduler, self.pending), self.cluster.journal.stamp) == (before, stamp)

    @rule(events=st.lists(EVENTS, min_size=1, max_size=6))
    def fork(self, events: list[Event]) -> None:
        """A fork goes its own way."""
        before = answers(self.scheduler, self.pending)
        apart, forked = dict(self.objects), fork(self.cluster)
        scheduler = scheduler_of(forked)
        assert answers(scheduler, self.pending) == before
        for event in events:
            keep(apart, event)
            forked.apply(*event)
        assert answers(scheduler, self.pending) == answers(scheduler_of(built(apart)), self.pending)
        assert answers(self.scheduler, self.pending) == before

    @invariant()
    def answers_are_as_if_built_from_nothing(self) -> None:
        if self.pending:
            fresh = scheduler_of(built(self.objects))
            assert answers(self.scheduler, self.pending) == answers(fresh, self.pending)


TestEvents = Events.TestCase
TestEvents.settings = drawn(10, stateful_step_count=12)
