"""What is told of how long plugins take."""

from __future__ import annotations

from itertools import count

import pytest

from tests.unit.live.test_spread_figures import hard, pod, scheduler, soft
from topospread.config.gates import gates_for
from topospread.config.load import default_configuration
from topospread.live.observer import Code, Observer
from topospread.live.plugin_times import PluginTimes, TimedFramework
from topospread.scheduling.cycle import Scheduler

PROFILE = "default-scheduler"


class Told(Observer):
    """Remembers what it was told, without the times."""

    def __init__(self) -> None:
        self.points: set[tuple[str, Code, str]] = set()
        self.plugins: set[tuple[str, str, Code]] = set()

    def extension_point(self, point: str, status: Code, profile: str, seconds: float) -> None:
        assert 0 <= seconds < 10
        self.points.add((point, status, profile))

    def plugin(self, plugin: str, point: str, status: Code, seconds: float) -> None:
        assert 0 <= seconds < 10
        self.plugins.add((plugin, point, status))


def timed(told: Told) -> Scheduler:
    (profile,) = default_configuration().profiles
    cluster = scheduler().cluster
    return Scheduler(cluster, {PROFILE: TimedFramework(profile, gates_for("1.37"), told)})


def test_a_pod_that_is_placed_is_told_by_extension_point_and_plugin() -> None:
    told = Told()
    ours, wanted = timed(told), pod("x", hard(), soft("kubernetes.io/hostname"))
    with PluginTimes(told).cycle(ours, wanted):
        assert ours.schedule(wanted).node
    assert told.points == {(each, "Success", PROFILE) for each in ("PreFilter", "Filter", "Score")}
    assert ("NodeResourcesFit", "Filter", "Success") in told.plugins
    assert ("PodTopologySpread", "Filter", "Success") in told.plugins
    assert ("PodTopologySpread", "Score", "Success") in told.plugins
    assert ("PodTopologySpread", "ScoreExtensionNormalize", "Success") in told.plugins
    assert ("PodTopologySpread", "PreFilter", "Success") in told.plugins
    assert ("DynamicResources", "PreFilter", "Skip") in told.plugins
    assert not {each for each in told.plugins if each[0] == "ImageLocality" and each[1] == "PreFilter"}, "it has none"


def test_a_pod_that_fits_nowhere_is_told_as_unschedulable_and_is_not_scored() -> None:
    told = Told()
    ours, wanted = timed(told), pod("x", nodeSelector={"none": "such"})
    with PluginTimes(told).cycle(ours, wanted):
        assert ours.schedule(wanted).node is None
    PluginTimes(told).post_filter(PROFILE, False, 0.001)
    assert ("Filter", "Unschedulable", PROFILE) in told.points
    assert ("PostFilter", "Unschedulable", PROFILE) in told.points
    assert ("DefaultPreemption", "PostFilter", "Unschedulable") in told.plugins
    assert not {each for each in told.points if each[0] == "Score"}


def test_what_fails_in_between_is_told_as_an_error() -> None:
    told = Told()
    times = PluginTimes(told)
    with pytest.raises(ValueError, match="refused"), times.point("Bind", "DefaultBinder", PROFILE):
        raise ValueError("refused")
    assert told.points == {("Bind", "Error", PROFILE)}
    assert told.plugins == {("DefaultBinder", "Bind", "Error")}


def test_one_attempt_in_ten_is_measured() -> None:
    seconds = count()
    times = PluginTimes(Observer(), now=lambda: float(next(seconds)))
    assert 700 < sum(times.drawn() for _ in range(10_000)) < 1300


def test_of_many_attempts_two_a_second_are_measured() -> None:
    milliseconds = count()
    times = PluginTimes(Observer(), now=lambda: next(milliseconds) / 1000)
    measured = sum(times.drawn() for _ in range(100_000))  # one in ten of them asks what time it is
    assert 17 <= measured <= 22
