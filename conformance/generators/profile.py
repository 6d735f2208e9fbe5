"""Random whole profiles, one or several: plugins on, off and reordered at every point, all their arguments."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.generators.configuration import API_VERSION, args_of
from conformance.generators.draw import HOST, RACK, REGION, ZONE, Draw, Json

PLUGINS = [
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
]
NOT_FILTERING = ("NodeResourcesBalancedAllocation", "ImageLocality", "SelectorSpread")
# Not of every version: from the first to the last that has it.
OF_SOME = {
    "NodeDeclaredFeatures": (35, 37),
    "SelectorSpread": (19, 28),
    "EBSLimits": (18, 30),
    "GCEPDLimits": (18, 30),
    "AzureDiskLimits": (18, 30),
}
SCORING = [
    "TaintToleration",
    "NodeAffinity",
    "NodeResourcesFit",
    "VolumeBinding",
    "PodTopologySpread",
    "InterPodAffinity",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
]
QUEUE_AND_BIND = [{"name": "PrioritySort"}, {"name": "DefaultBinder"}, {"name": "DefaultPreemption"}]
EXTENDED = ["example.com/gpu", "example.com/fpga", "vendor.org/nic"]
RESOURCES = ["cpu", "memory", "ephemeral-storage", *EXTENDED]
OTHERS = ["second-scheduler", "third-scheduler"]
_GROUP = API_VERSION.rpartition("/")[0]
API_VERSIONS = {f"1.{minor}": [API_VERSION] for minor in range(29, 38)} | {
    "1.28": [API_VERSION, f"{_GROUP}/v1beta3"],
    "1.27": [API_VERSION, f"{_GROUP}/v1beta3", f"{_GROUP}/v1beta2"],
    "1.26": [API_VERSION, f"{_GROUP}/v1beta3", f"{_GROUP}/v1beta2"],
}
GATE = "TaintTolerationComparisonOperators"


@dataclass(frozen=True, slots=True)
class _Known:
    """The in-tree plugins of a version: those that filter and those that score among them."""

    minor: int

    @property
    def plugins(self) -> list[str]:
        return PLUGINS + [name for name, (first, last) in OF_SOME.items() if first <= self.minor <= last]

    @property
    def filtering(self) -> list[str]:
        return [name for name in self.plugins if name not in NOT_FILTERING]

    @property
    def scoring(self) -> list[str]:
        return [*SCORING, *(["SelectorSpread"] * 3 if "SelectorSpread" in self.plugins else [])]


def profile(draw: Draw, case: Json, version: str) -> None:
    """Give the case a configuration, and nodes and pods what its arguments are about."""
    known = _Known(int(version.partition(".")[2]))
    api_version = draw.choice(API_VERSIONS[version])
    profiles = [_profile(draw, "default-scheduler", known, api_version)]
    if draw.chance(0.4):
        profiles += [_profile(draw, name, known, api_version) for name in OTHERS[: draw.randint(1, 2)]]
        case["bySchedulerName"] = True
        for pod in case["incoming"]:
            pod["spec"]["schedulerName"] = draw.choice(profiles)["schedulerName"]
    case["config"] = {"apiVersion": api_version, "kind": "KubeSchedulerConfiguration", "profiles": profiles}
    for node in case["nodes"]:
        for status in ("allocatable", "capacity"):
            node["status"][status] = node["status"][status] | {name: str(draw.randint(0, 4)) for name in _some(draw)}
    for pod in (*case["pods"], *case["incoming"]):
        _request(draw, pod)
    if known.minor >= 35 and draw.chance(0.5):
        case["featureGates"] = {GATE: draw.chance(0.85)}
        _compare(draw, case)


def _profile(draw: Draw, name: str, known: _Known, api_version: str) -> Json:
    made: Json = {"schedulerName": name}
    if draw.chance(0.6):
        made["plugins"] = _plugins(draw, known, whole=not api_version.endswith("v1beta2"))
    made["pluginConfig"] = _arguments(draw, known, api_version)
    return made


def _plugins(draw: Draw, known: _Known, *, whole: bool) -> Json:
    """Plugin sets that kube-scheduler accepts; ``whole``: the configuration has multiPoint."""
    made = _multi_point(draw, known.plugins) if whole else {}
    if draw.chance(0.4):
        made["score"] = _at_point(draw, known.scoring)
        if any(each["name"] == "SelectorSpread" for each in made["score"]["enabled"]) and draw.chance(0.9):
            made["preScore"] = {"enabled": [{"name": "SelectorSpread"}]}
    if draw.chance(0.3):
        made["filter"] = _at_point(draw, known.filtering)
    if draw.chance(0.15):
        made[draw.choice(["preFilter", "preScore"])] = {"disabled": [{"name": draw.choice(known.plugins)}]}
    return made


def _multi_point(draw: Draw, plugins: list[str]) -> Json:
    x = draw.random()
    if x < 0.25:
        kept = [_weighted(draw, name) for name in draw.sample(plugins, draw.randint(3, len(plugins)))]
        return {"multiPoint": {"disabled": [{"name": "*"}], "enabled": [*QUEUE_AND_BIND, *kept]}}
    if x < 0.6:
        off = draw.sample(plugins, draw.randint(1, 4))
        again = [_weighted(draw, name) for name in off if draw.chance(0.4)]
        return {"multiPoint": {"disabled": [{"name": name} for name in off], "enabled": again}}
    if x < 0.75:
        return {"multiPoint": {"enabled": [_weighted(draw, name) for name in draw.sample(plugins, draw.randint(1, 3))]}}
    return {}


def _at_point(draw: Draw, names: list[str]) -> Json:
    """Plugins off and on at one point; those that are on come first, in their order."""
    everything = draw.chance(0.25)
    off = [{"name": "*"}] if everything else [{"name": name} for name in draw.sample(names, draw.randint(0, 3))]
    on = dict.fromkeys(draw.sample(names, draw.randint(1 if everything else 0, 4)))
    return {"disabled": off, "enabled": [_weighted(draw, name) for name in on]}


def _weighted(draw: Draw, name: str) -> Json:
    return {"name": name, "weight": draw.choice([1, 2, 3, 10, 100])} if draw.chance(0.6) else {"name": name}


def _arguments(draw: Draw, known: _Known, api_version: str) -> list[Json]:
    made = []
    if draw.chance(0.75):
        made.append(args_of("NodeResourcesFit", **_fit(draw)))
    if draw.chance(0.4):
        resources = [{"name": name, "weight": 1} for name in draw.sample(RESOURCES, draw.randint(1, 4))]
        made.append(args_of("NodeResourcesBalancedAllocation", resources=resources))
    if draw.chance(0.5):
        ignored = draw.choice([True, True, False])
        weight = draw.choice([0, 1, 7, 50, 100])
        fields: Json = {"hardPodAffinityWeight": weight}
        if known.minor >= 27:
            fields["ignorePreferredTermsOfExistingPods"] = ignored
        made.append(args_of("InterPodAffinity", **fields))
    if draw.chance(0.4):
        made.append(args_of("NodeAffinity", addedAffinity=_added(draw)))
    if draw.chance(0.4):
        constraints = [_constraint(draw, key) for key in draw.sample([ZONE, HOST, RACK, REGION], draw.randint(0, 3))]
        made.append(args_of("PodTopologySpread", defaultConstraints=constraints, defaultingType="List"))
    draw.shuffle(made)
    return [_of_version(each, api_version) for each in made]


def _of_version(entry: Json, api_version: str) -> Json:
    return entry | {"args": entry["args"] | {"apiVersion": api_version}}


def _fit(draw: Draw) -> Json:
    made: Json = {}
    if draw.chance(0.3):
        made["ignoredResources"] = draw.sample(EXTENDED, draw.randint(1, 2))
    if draw.chance(0.3):
        made["ignoredResourceGroups"] = draw.sample(["example.com", "vendor.org"], 1)
    if draw.chance(0.8):
        names = draw.sample(RESOURCES, draw.randint(1, 4))
        resources = [{"name": name, "weight": draw.choice([1, 1, 2, 5, 100])} for name in names]
        kind = draw.choice(["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio", "RequestedToCapacityRatio"])
        strategy: Json = {"type": kind, "resources": resources}
        if kind == "RequestedToCapacityRatio":
            strategy["requestedToCapacityRatio"] = {"shape": _shape(draw)}
        made["scoringStrategy"] = strategy
    return made


def _shape(draw: Draw) -> list[Json]:
    """Points by rising utilization; the ends need not be 0 and 100."""
    at = sorted(draw.sample(range(101), draw.randint(1, 5)))
    if draw.chance(0.5):
        at = sorted({0, *at, 100})
    return [{"utilization": each, "score": draw.randint(0, 10)} for each in at]


def _added(draw: Draw) -> Json:
    made: Json = {}
    if draw.chance(0.6):
        terms = [_term(draw) for _ in range(draw.randint(1, 2))]
        made["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if draw.chance(0.7):
        made["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": draw.randint(1, 100), "preference": _term(draw)} for _ in range(draw.randint(1, 2))
        ]
    return made


def _term(draw: Draw) -> Json:
    expressions = [
        {"key": "disk", "operator": "In", "values": [draw.choice(["ssd", "hdd"])]},
        {"key": "gen", "operator": draw.choice(["Gt", "Lt"]), "values": [str(draw.randint(2, 7))]},
        {"key": RACK, "operator": draw.choice(["Exists", "DoesNotExist"])},
        {"key": ZONE, "operator": "NotIn", "values": ["z0"]},
    ]
    term: Json = {"matchExpressions": draw.sample(expressions, draw.randint(1, 2))}
    if draw.chance(0.1):
        field = {"key": "metadata.name", "operator": draw.choice(["In", "NotIn"]), "values": ["n001"]}
        term["matchFields"] = [field]
    return term


def _constraint(draw: Draw, key: str) -> Json:
    when = draw.choice(["DoNotSchedule", "ScheduleAnyway", "ScheduleAnyway"])
    made: Json = {"maxSkew": draw.randint(1, 4), "topologyKey": key, "whenUnsatisfiable": when}
    return made


def _some(draw: Draw) -> list[str]:
    return [name for name in EXTENDED if draw.chance(0.6)]


def _request(draw: Draw, pod: Json) -> None:
    for name in EXTENDED:
        if draw.chance(0.2):
            resources = draw.choice(pod["spec"]["containers"]).setdefault("resources", {})
            for kind in ("requests", "limits"):
                resources.setdefault(kind, {})[name] = draw.choice(["0", "1", "2"])
    if draw.chance(0.25):
        amounts = draw.choice(pod["spec"]["containers"]).setdefault("resources", {}).setdefault("requests", {})
        amounts["ephemeral-storage"] = draw.choice(["1Gi", "30Gi", "500M"])


def _compare(draw: Draw, case: Json) -> None:
    """Taints with numbers, and tolerations that compare them; some numbers are none."""
    effects = ["NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"]
    for node in case["nodes"]:
        if draw.chance(0.5):
            value = draw.choice(["950", "99", "-3", "0", "+5", "007", "1.5", "", "high", "9223372036854775808"])
            taint = {"key": "sla", "value": value, "effect": draw.choice(effects)}
            node["spec"].setdefault("taints", []).append(taint)
    for pod in case["incoming"]:
        for _ in range(draw.choice([0, 1, 1, 2])):
            value = draw.choice(["949", "99", "100", "-5", "0", "1", "5", "abc", "9223372036854775807"])
            toleration = {"key": "sla", "operator": draw.choice(["Gt", "Lt"]), "value": value}
            if draw.chance(0.6):
                toleration["effect"] = draw.choice(effects)
            pod["spec"].setdefault("tolerations", []).append(toleration)
