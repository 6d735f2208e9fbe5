"""DynamicResources: pods that claim devices are not judged."""

from __future__ import annotations

import pytest

from tests.unit.plugins.storage_builders import cluster, pod, prepare, zonal
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.plugins.dynamic_resources import NOT_JUDGED, DynamicResources
from topospread.plugins.interface import PluginError
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework

CLAIMS = [{"name": "gpu", "resourceClaimName": "gpu"}]


def test_a_pod_with_resource_claims_is_not_judged() -> None:
    with pytest.raises(PluginError, match=NOT_JUDGED):
        prepare(DynamicResources(), pod(resourceClaims=CLAIMS), cluster(zonal(n0="a")))


def test_other_pods_are() -> None:
    assert prepare(DynamicResources(), pod(), cluster(zonal(n0="a"))).filter is None


def test_it_stays_pending_and_says_why() -> None:
    scheduler = Scheduler(cluster(zonal(n0="a")), {"default-scheduler": Framework(default_profile(), gates_for())})
    assert scheduler.schedule(pod(resourceClaims=CLAIMS)).message == NOT_JUDGED
    assert scheduler.verdict(pod(resourceClaims=CLAIMS)).error == NOT_JUDGED
