"""The journal: readers get what changed since they read, by class or by node, and changes that are taken back go."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from topospread.cluster import journal as module
from topospread.cluster.journal import ELSEWHERE, VOLUMES, Journal


class Reader:
    """A reader that keeps its position and counts."""

    def __init__(self, journal: Journal, able: bool = True) -> None:
        self.journal, self.able, self.reads, self.rewound = journal, able, 0, None
        self.position = journal.join(self)

    def catch_up(self) -> bool:
        self.reads += 1
        self.position = self.journal.position
        return self.able

    def rewind(self, position: int) -> None:
        self.rewound: int | None = position


def pod_class() -> Any:
    return SimpleNamespace(last_change=-1)


def test_changes_since_a_position_and_each_has_a_new_stamp() -> None:
    journal, web = Journal(), pod_class()
    reader = Reader(journal)
    changes = [(0, web, 1), (1, None, 0), ELSEWHERE]
    for number, each in enumerate(changes, 1):
        journal.append(each)
        assert (journal.position, journal.stamp) == (number, number)
    assert journal.since(0, reader) == changes
    assert journal.since(2, reader) == [ELSEWHERE]
    assert journal.since(3, reader) == []


def test_changes_of_some_classes_and_of_nodes_come_in_order() -> None:
    journal, web, api = Journal(), pod_class(), pod_class()
    reader = Reader(journal)
    for each in ((0, web, 1), (0, None, 0), (1, api, 1), (2, web, -1), (1, None, VOLUMES), ELSEWHERE, (3, None, 0)):
        journal.append(each)
    assert journal.about([web], 0, reader) == [(0, web, 1), (2, web, -1)]
    assert journal.about([web], 1, reader) == [(2, web, -1)]
    assert journal.about([web], 4, reader) == ()
    assert journal.about([api, web], 0, reader) == [(0, web, 1), (1, api, 1), (2, web, -1)]
    assert journal.about([api], -1, reader) is None
    assert list(journal.nodes_since(0, reader) or ()) == [0, 3]
    assert list(journal.nodes_since(2, reader) or ()) == [3]
    assert journal.nodes_since(7, reader) == {}
    assert journal.nodes_since(-1, reader) is None


def test_who_reads_too_late_is_told_to_begin_anew(monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "_KEPT", 4)
    monkeypatch.setattr(module, "_DROPPED", 2)
    journal, web, api = Journal(), pod_class(), pod_class()
    reader = Reader(journal)
    journal.append((0, api, 1))
    for row in range(4):
        journal.append((row, web, 1))
    assert journal.since(1, reader) is None
    assert journal.since(2, reader) == [(row, web, 1) for row in (1, 2, 3)]
    assert journal.about([web], 2, reader) == [(row, web, 1) for row in (1, 2, 3)]
    assert journal.about([web], 1, reader) is None
    assert journal.about([api], 0, reader) is None
    assert journal.about([api], 1, reader) == ()


def test_who_reads_of_nodes_too_late_is_told_to_begin_anew(monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "_KEPT", 4)
    monkeypatch.setattr(module, "_DROPPED", 2)
    journal, web = Journal(), pod_class()
    reader = Reader(journal)
    for change in ((7, None, 0), (0, web, 1), (8, None, 0), (8, None, 0), (0, web, -1)):
        journal.append(change)
    assert journal.nodes_since(0, reader) is None
    assert journal.nodes_since(1, reader) == {8: None}
    assert journal.nodes_since(4, reader) == {}


def test_a_shared_reader_is_made_once_and_anew_when_it_cannot_catch_up() -> None:
    journal = Journal()
    first = journal.shared("a", lambda: Reader(journal))
    assert journal.shared("a", lambda: Reader(journal)) is first
    assert first.reads == 1
    assert journal.shared("b", lambda: Reader(journal)) is not first
    first.able = False
    second = journal.shared("a", lambda: Reader(journal))
    assert second is not first
    assert journal.shared("a", lambda: Reader(journal)) is second


def test_the_newest_shared_readers_are_kept_alive() -> None:
    journal, made = Journal(), []

    def make() -> Reader:
        made.append(1)
        return Reader(journal)

    for key in range(9):
        journal.shared(key, make)
    for key in range(8, -1, -1):
        journal.shared(key, make)
    assert len(made) == 10


def test_what_is_taken_back_is_read_first_and_then_gone() -> None:
    journal, web = Journal(), pod_class()
    idle, reads, fails = Reader(journal), Reader(journal), Reader(journal, able=False)
    journal.append((0, web, 1))
    journal.append((0, None, 0))
    assert not journal.is_marked
    journal.mark()
    assert journal.is_marked
    stamp = journal.stamp
    joins = Reader(journal)
    for each in ((0, web, -1), (1, None, 0), (0, web, 1)):
        journal.append(each)
    journal.since(1, reads)
    journal.about([web], 0, fails)
    journal.about([web], 5, idle)
    journal.since(5, idle)
    journal.take_back()
    assert [each.rewound for each in (idle, reads, fails, joins)] == [None, 2, -1, 2]
    assert (journal.position, journal.stamp, web.last_change) == (2, stamp, 0)
    assert journal.about([web], 0, idle) == [(0, web, 1)]
    assert journal.nodes_since(0, idle) == {0: None}
    journal.append(ELSEWHERE)
    assert journal.stamp > stamp + 3, "no stamp is used twice"
    journal.drop_mark()
    assert not journal.is_marked


def test_a_mark_inside_another_passes_its_readers_on() -> None:
    for inner in (Journal.take_back, Journal.drop_mark):
        journal, web = Journal(), pod_class()
        journal.mark()
        journal.append((0, web, 1))
        journal.mark()
        reader = Reader(journal)
        journal.append((0, web, -1))
        journal.since(0, reader)
        inner(journal)
        if inner is Journal.take_back:
            journal.drop_mark()
        reader.rewound = None
        journal.take_back()
        assert reader.rewound == 0
        assert (journal.position, web.last_change) == (0, -1)


def test_changes_at_a_mark_that_were_dropped_cannot_be_taken_back(monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "_KEPT", 4)
    monkeypatch.setattr(module, "_DROPPED", 2)
    journal, web = Journal(), pod_class()
    journal.mark()
    reader = Reader(journal)
    for row in range(5):
        journal.append((row, web, 1))
    journal.since(2, reader)
    journal.take_back()
    assert (journal.position, reader.rewound) == (5, None)
    journal.append((9, web, 1))
    journal.take_back()
    assert journal.position == 5
    assert journal.about([web], 2, reader) == [(row, web, 1) for row in (2, 3, 4)]
