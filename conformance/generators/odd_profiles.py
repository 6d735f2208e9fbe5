"""Profiles as hardly anybody writes them: points without plugins, plugins at points that they do not have, or twice."""

from __future__ import annotations

from conformance.generators.configuration import API_VERSION
from conformance.generators.draw import Draw, Json
from conformance.generators.profile import PLUGINS

_POINTS = ["preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preBind", "bind", "postBind"]
_NAMES = [*PLUGINS, "DefaultPreemption", "DefaultBinder", "PrioritySort"]
_ODD = ["", "Coscheduling", "NodeResourcesFitArgs"]


def odd_profile(draw: Draw) -> Json:
    """A configuration that kube-scheduler may not start with, or that binds nothing."""
    plugins: Json = {}
    names = _NAMES + _ODD * draw.choice([0, 0, 1])
    for point in draw.sample([*_POINTS, "multiPoint"], draw.randint(0, 3)):
        if draw.chance(0.4):
            plugins[point] = {"enabled": [{"name": name} for name in draw.sample(names, draw.randint(1, 3))]}
        else:
            plugins[point] = {"disabled": [{"name": name} for name in draw.sample(names, draw.randint(0, 3))]}
    if draw.chance(0.6):
        point = draw.choice([*_POINTS, "filter", "queueSort", "multiPoint"])
        plugins.setdefault(point, {})["disabled"] = [{"name": "*"}]
    profile = {"schedulerName": draw.choice(["default-scheduler", "odd"]), "plugins": plugins}
    return {"apiVersion": API_VERSION, "kind": "KubeSchedulerConfiguration", "profiles": [profile]}
