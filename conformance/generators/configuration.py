"""Random KubeSchedulerConfiguration: default constraints, plugin arguments, weights."""

from __future__ import annotations

from conformance.generators.draw import HOST, RACK, ZONE, Draw, Json

API_VERSION = "kubescheduler.config.k8s.io/v1"


def configuration(draw: Draw, all_plugins: bool) -> Json | None:
    """A configuration for two cases in five, else None.

    ``all_plugins``: arguments of plugins other than PodTopologySpread too.
    """
    x = draw.random()
    if x < 0.6:
        return None
    args = []
    if x < 0.85:
        args.append(_default_constraints(draw))
    if all_plugins:
        args += _other_plugins(draw)
    profile: Json = {"schedulerName": "default-scheduler", "pluginConfig": args}
    if draw.chance(0.15):
        weighed = {"name": "PodTopologySpread", "weight": draw.choice([1, 5, 10])}
        profile["plugins"] = {"score": {"disabled": [{"name": "PodTopologySpread"}], "enabled": [weighed]}}
    return {"apiVersion": API_VERSION, "kind": "KubeSchedulerConfiguration", "profiles": [profile]}


def _default_constraints(draw: Draw) -> Json:
    constraints = [
        {
            "maxSkew": draw.choice([1, 2, 3]),
            "topologyKey": key,
            "whenUnsatisfiable": draw.choice(["DoNotSchedule", "ScheduleAnyway"]),
        }
        for key in draw.sample([ZONE, HOST, RACK], draw.randint(0, 2))
    ]
    return args_of("PodTopologySpread", defaultConstraints=constraints, defaultingType="List")


def _other_plugins(draw: Draw) -> list[Json]:
    args = []
    if draw.chance(0.3):
        resources = [{"name": "cpu", "weight": draw.randint(1, 3)}, {"name": "memory", "weight": 1}]
        strategy = {"type": "MostAllocated", "resources": resources}
        args.append(args_of("NodeResourcesFit", scoringStrategy=strategy))
    if draw.chance(0.2):
        term = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        args.append(args_of("NodeAffinity", addedAffinity=required))
    if draw.chance(0.2):
        args.append(args_of("InterPodAffinity", hardPodAffinityWeight=draw.choice([0, 1, 50])))
    return args


def args_of(plugin: str, **fields: object) -> Json:
    """Arguments of a plugin as an entry of pluginConfig."""
    return {"name": plugin, "args": {"apiVersion": API_VERSION, "kind": f"{plugin}Args", **fields}}
