"""From plugin sets to plugins in force: order, weights, and what kube-scheduler refuses when it starts.

Order and weights of the cases with multiPoint were compared with kube-scheduler's own on 800 random sets.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.config.builders import configuration, off, on, with_plugins
from topospread.config.load import load_configuration
from topospread.config.profile import Profile
from topospread.errors import ConfigError


def profile_of(data: dict[str, Any], kube_version: str = "1.37") -> Profile:
    return load_configuration(data, kube_version=kube_version).profiles[0]


def test_reconfigured_plugin_comes_first_and_takes_its_weight() -> None:
    profile = profile_of(with_plugins(score=on("ImageLocality:9")))
    assert next(iter(profile.weights.items())) == ("ImageLocality", 9)
    assert profile.weights["TaintToleration"] == 3


def test_reconfigured_plugins_keep_the_order_of_the_file() -> None:
    profile = profile_of(with_plugins(filter=on("NodePorts", "NodeAffinity")))
    assert profile.enabled("filter")[:3] == ("NodePorts", "NodeAffinity", "NodeName")


def test_plugin_that_multi_point_does_not_have_comes_last() -> None:
    data = with_plugins(multiPoint=off("NodePorts"), filter=on("NodePorts"))
    assert profile_of(data).enabled("filter")[-1] == "NodePorts"


def test_disabled_at_one_point_only() -> None:
    profile = profile_of(with_plugins(score=off("NodeResourcesFit")))
    assert "NodeResourcesFit" not in profile.weights
    assert "NodeResourcesFit" in profile.enabled("filter")


def test_disabled_everywhere() -> None:
    profile = profile_of(with_plugins(multiPoint=off("InterPodAffinity")))
    assert all("InterPodAffinity" not in profile.enabled(point) for point in profile.plugins)


def test_star_leaves_what_the_point_enables() -> None:
    profile = profile_of(with_plugins(score=on("ImageLocality") | off("*")))
    assert profile.weights == {"ImageLocality": 1}


def test_multi_point_star_leaves_what_it_enables() -> None:
    data = with_plugins(multiPoint=on("PrioritySort", "DefaultBinder", "NodeName") | off("*"))
    profile = profile_of(data)
    assert profile.enabled("filter") == ("NodeName",)
    assert profile.weights == {}


def test_weight_of_the_point_wins_over_multi_point() -> None:
    data = with_plugins(multiPoint=on("NodeAffinity:7", "ImageLocality:8"), score=on("ImageLocality:2"))
    weights = profile_of(data).weights
    assert (weights["NodeAffinity"], weights["ImageLocality"]) == (7, 2)


def test_weight_of_multi_point_holds_where_the_point_says_none() -> None:
    weights = profile_of(with_plugins(score=on("ImageLocality"), multiPoint=on("ImageLocality:6"))).weights
    assert weights["ImageLocality"] == 1


def test_weight_zero_is_one() -> None:
    assert profile_of(with_plugins(score=on("ImageLocality:0"))).weights["ImageLocality"] == 1


def test_origins_say_where_a_plugin_and_its_weight_come_from() -> None:
    data = with_plugins(score=on("ImageLocality:9", "NodeAffinity"))
    plugins = {plugin.name: plugin for plugin in profile_of(data).plugins["score"]}
    path = "profiles[0].plugins.score.enabled"
    assert (plugins["ImageLocality"].origin, plugins["ImageLocality"].weight_origin) == (f"{path}[0]", f"{path}[0]")
    assert (plugins["NodeAffinity"].origin, plugins["NodeAffinity"].weight_origin) == (f"{path}[1]", "")
    assert (plugins["TaintToleration"].origin, plugins["TaintToleration"].weight_origin) == ("", "")


def test_until_1_21_the_weight_of_the_last_extension_point_counts() -> None:
    data = with_plugins("v1beta1", score=on("VolumeBinding:5"))
    assert profile_of(data, "1.22").weights["VolumeBinding"] == 5
    assert profile_of(data, "1.21").weights["VolumeBinding"] == 1


@pytest.mark.parametrize(
    ("data", "refused"),
    [
        (with_plugins(filter=on("Foo")), '.plugins.filter.enabled[0]: FilterPlugin "Foo" does not exist'),
        (with_plugins(multiPoint=on("Foo")), '.plugins.multiPoint.enabled[0]: PreFilterPlugin "Foo" does not exist'),
        (
            with_plugins(score=on("SelectorSpread")),
            '.plugins.score.enabled[0]: ScorePlugin "SelectorSpread" does not exist (Kubernetes 1.28 was the '
            "last version that had it)",
        ),
        (
            with_plugins(score=on("NodeName")),
            '.plugins.score.enabled[0]: plugin "NodeName" does not extend ScorePlugin plugin',
        ),
        (
            with_plugins(filter=on("NodeName", "NodePorts", "NodeName")),
            '.plugins.filter.enabled[2]: plugin "NodeName" already registered as "FilterPlugin"',
        ),
        (
            with_plugins(multiPoint=on("NodeName", "NodeName")),
            '.plugins.multiPoint.enabled[0]: plugin "NodeName" already registered as "PreFilterPlugin"',
        ),
        (
            with_plugins(bind=off("*")),
            ': at least one bind plugin is needed for profile with scheduler name "default-scheduler"',
        ),
        (
            with_plugins(queueSort=off("*")),
            ': only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 0',
        ),
        (with_plugins(filter=on("")), '.plugins.filter.enabled[0]: FilterPlugin "" does not exist'),
        (with_plugins(multiPoint=on("")), '.plugins.multiPoint.enabled[0]: PreFilterPlugin "" does not exist'),
        (
            with_plugins(multiPoint=on(""), preFilter=off("*")),
            '.plugins.multiPoint.enabled[0]: FilterPlugin "" does not exist',
        ),
        (
            with_plugins(score={"enabled": [{"name": "ImageLocality", "weight": -1}]}),
            ".plugins.score.enabled[0]: score plugins: total score of Score plugins could overflow",
        ),
        (
            with_plugins(filter=on("Foo"), score=on("NodeName")),
            '.plugins.filter.enabled[0]: FilterPlugin "Foo" does not exist; .plugins.score.enabled[0]: plugin '
            '"NodeName" does not extend ScorePlugin plugin',
        ),
        (
            with_plugins("v1beta1", score=on("ImageLocality:3")),
            '.plugins.score.enabled[0]: plugin "ImageLocality" already registered as "ScorePlugin"',
        ),
    ],
)
def test_refused(data: dict[str, Any], refused: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_configuration(data)
    assert f"{caught.value.place.field}: {caught.value.message}".replace("profiles[0]", "") == refused


def test_twice_in_multi_point_is_good_where_every_point_overrides_it() -> None:
    data = with_plugins(multiPoint=on("ImageLocality", "ImageLocality"), score=on("ImageLocality:4"))
    assert profile_of(data).weights["ImageLocality"] == 4


def test_disabling_an_unknown_plugin_is_no_error() -> None:
    assert profile_of(with_plugins(filter=off("Foo"))).weights == profile_of(configuration()).weights


def test_a_negative_weight_after_greater_ones_is_taken() -> None:
    weighed = {"enabled": [{"name": "ImageLocality", "weight": -1}]}
    assert profile_of(with_plugins(multiPoint=weighed)).weights["ImageLocality"] == -1
