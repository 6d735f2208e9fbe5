"""The registry makes every plugin, for every version."""

from __future__ import annotations

import pytest

from topospread.config.args import PluginArgs
from topospread.config.gates import gates_for
from topospread.config.registry import extension_points
from topospread.plugins.old_versions.balance_of_two import BalanceOfTwo
from topospread.plugins.registry import ASKED_ABOUT_CLAIMS, ASKED_OF_EACH_CLASS, PLUGINS, PluginSettings


@pytest.mark.parametrize("version", ["1.18", "1.21", "1.22", "1.31", "1.37"])
def test_a_plugin_has_the_name_under_which_it_is_registered(version: str) -> None:
    settings = PluginSettings(PluginArgs(), gates_for(version))
    assert {name: make(settings).name for name, make in PLUGINS.items()} == {name: name for name in PLUGINS}
    assert (type(PLUGINS["NodeResourcesBalancedAllocation"](settings)) is BalanceOfTwo) == (version < "1.22")


NOT_MODELLED = {"DeferredPodScheduling", "NodeLabel", "NodePreferAvoidPods", "NodeResourceLimits", "ServiceAffinity"}


def test_every_modelled_plugin_that_filters_or_scores_in_a_version_is_registered() -> None:
    every = [extension_points(gates_for(f"1.{minor}").kube_version) for minor in range(18, 38)]
    named = {name for each in every for name, points in each.items() if points & {"filter", "score"}}
    assert set(PLUGINS) == named - NOT_MODELLED
    assert named > ASKED_ABOUT_CLAIMS | ASKED_OF_EACH_CLASS
