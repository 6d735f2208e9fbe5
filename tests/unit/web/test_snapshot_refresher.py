"""What is served follows a cluster: newer states come, the last one stays while there is none, and says so."""

from __future__ import annotations

from typing import Any

import pytest

import topospread
from topospread.api.inventory import Inventory
from topospread.errors import InputError
from topospread.live.follow_state import FollowState
from topospread.simulation.options import SimulationOptions
from topospread.web import snapshot_refresher
from topospread.web.served import InputWords, ServedCluster


class _Followed:
    def __init__(self, inventory: Inventory) -> None:
        self.state = FollowState(ready=True, version=1)
        self._inventory = inventory
        self.wrong: InputError | None = None

    def inventory(self) -> Inventory:
        if self.wrong is not None:
            raise self.wrong
        return self._inventory


@pytest.fixture
def followed(tmp_path: Any) -> Any:
    file = tmp_path / "none.yaml"
    file.write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
    return _Followed(topospread.load(file, cluster="nodes=3"))


@pytest.fixture
def served(followed: Any) -> ServedCluster:
    return ServedCluster.begin(followed.inventory(), SimulationOptions(), InputWords("x", live=True))


@pytest.fixture
def keeper(
    served: ServedCluster, followed: Any, monkeypatch: pytest.MonkeyPatch
) -> snapshot_refresher.SnapshotRefresher:
    monkeypatch.setattr(snapshot_refresher, "_AT_LEAST", 0.0)
    monkeypatch.setattr(snapshot_refresher, "_SHARE", 0.0)
    return snapshot_refresher.SnapshotRefresher(served, followed, lambda: None)


def test_a_newer_state_is_served_once(
    served: ServedCluster, followed: Any, keeper: snapshot_refresher.SnapshotRefresher
) -> None:
    followed.state = FollowState(ready=True, version=2)
    keeper.look()
    keeper.look()

    assert served.reading.revision == 2


def test_the_last_state_stays_while_nothing_newer_can_be_had(
    served: ServedCluster, followed: Any, keeper: snapshot_refresher.SnapshotRefresher
) -> None:
    read = served.reading
    followed.state = FollowState(ready=True, version=1, behind_since=1.0, problems={"pods": "nobody answers"})
    keeper.look()

    assert served.reading is read
    assert "pods: nobody answers" in served.trouble

    followed.state = FollowState(ready=True, version=1)
    keeper.look()
    assert served.trouble == ""
    assert served.reading.revision == read.revision


def test_a_state_that_cannot_be_shown_leaves_the_last_one(
    served: ServedCluster, followed: Any, keeper: snapshot_refresher.SnapshotRefresher
) -> None:
    followed.state = FollowState(ready=True, version=2)
    followed.wrong = InputError("there is no node")
    keeper.look()

    assert served.reading.revision == 1
    assert served.trouble == "there is no node"


def test_what_cannot_be_shown_is_said_until_something_can(
    served: ServedCluster, followed: Any, keeper: snapshot_refresher.SnapshotRefresher
) -> None:
    followed.state = FollowState(ready=True, version=2)
    followed.wrong = InputError("there is no node")
    keeper.look()
    keeper.look()
    assert served.trouble == "there is no node"

    followed.state, followed.wrong = FollowState(ready=True, version=3), None
    keeper.look()
    assert served.trouble == ""


def test_a_newer_state_is_as_old_as_the_kind_that_is_behind_and_the_trouble_is_logged_once(
    served: ServedCluster, followed: Any, keeper: snapshot_refresher.SnapshotRefresher, caplog: pytest.LogCaptureFixture
) -> None:
    for version in (2, 3, 4):
        followed.state = FollowState(ready=True, version=version, behind_since=1.0, problems={"nodes": "403"})
        keeper.look()
        assert served.reading.revision == version
        assert served.trouble == "nodes: 403"
        assert served.reading.at == 1.0
    assert [each.message for each in caplog.records] == ["the cluster cannot be followed: nodes: 403"]

    followed.state = FollowState(ready=True, version=5)
    keeper.look()
    assert served.trouble == ""
    assert caplog.records[-1].message == "the cluster is followed again"


def test_who_listens_is_told_only_of_what_changed(
    served: ServedCluster, followed: Any, keeper: snapshot_refresher.SnapshotRefresher
) -> None:
    keeper.look()
    keeper.look()
    assert served.events == 0

    followed.state = FollowState(ready=True, version=1, problems={"pods": "gone"})
    keeper.look()
    keeper.look()
    assert served.events == 1


def test_one_reason_for_many_kinds_is_said_once() -> None:
    many = {f"kind{number}": "Server disconnected" for number in range(24)}

    assert snapshot_refresher.in_short(many | {"pods": "403"}) == "24 kinds: Server disconnected; pods: 403"


def test_trouble_that_comes_and_goes_is_told_twice_and_is_over_once_it_stays_away(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log, half = snapshot_refresher.TroubleLog(), "pods: half an object"
    for second in range(100):
        log.tell(half if second % 2 else "", calm=True, now=float(second))
    assert [each.message for each in caplog.records] == [
        f"the cluster cannot be followed: {half}",
        "the cluster is followed again",
        f"the cluster cannot be followed: {half}",
    ]
    for second in range(100, 140):
        log.tell("", calm=True, now=float(second))
    assert [each.message for each in caplog.records[3:]] == ["the cluster is followed again"]
    log.tell("nodes: 403 Forbidden", calm=False, now=141.0)
    log.tell("", calm=True, now=142.0)
    assert [each.message for each in caplog.records[5:]] == ["the cluster is followed again"]
