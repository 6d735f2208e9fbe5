"""Random KubeSchedulerConfigurations of v1, valid and broken ones, a JSON object a line; it judges nothing.

usage: generate_config.py --seed 7 --count 1000 > configurations.jsonl

Most values are good and some are just beyond a limit, so that a configuration usually has a few things wrong at
once, and about half are clean. A few do not decode at all.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable
from typing import Any

Object = dict[str, Any]

PLUGINS = [
    "SchedulingGates",
    "PrioritySort",
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
    "DefaultPreemption",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
    "DefaultBinder",
]
ODD_PLUGINS = ["EBSLimits", "CinderLimits", "SelectorSpread", "Coscheduling", "NodeResourcesFitArgs", ""]
POINTS = [
    "preEnqueue",
    "queueSort",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
    "multiPoint",
    "placementGenerate",
    "placementScore",
    "podGroupPostFilter",
]
KEYS = ["topology.kubernetes.io/zone", "kubernetes.io/hostname", "rack", "a.b/c"]
BAD_KEYS = ["", "a b", "-x", "x/y/z", "UPPER.com/x", "k" * 64, "a/", "/a", "é"]
DURATIONS = ["15s", "10s", "2s", "1m30s", "1h", "1500ms", "0.5s", "100us", "2h3m4.005s"]
BAD_DURATIONS = ["0s", "-1s", "-1h2m3.5s", "0"]


class Generator:
    """Draws configurations; ``faults`` is the chance of a bad value wherever there can be one."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.faults = 0.0

    def configuration(self) -> Object:
        """One configuration."""
        self.faults = self.random.choice([0.0, 0.0, 0.02, 0.05, 0.15, 0.4])
        made: Object = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
        fields: dict[str, Callable[[], Any]] = {
            "parallelism": lambda: self.good_or(self.between(1, 64), [0, -3]),
            "percentageOfNodesToScore": self.percentage,
            "podInitialBackoffSeconds": lambda: self.good_or(self.between(1, 5), [0, -1, 11, 400]),
            "podMaxBackoffSeconds": lambda: self.good_or(self.between(10, 60), [0, -7]),
            "leaderElection": self.leader_election,
            "clientConnection": lambda: self.some(
                {"qps": lambda: self.random.choice([0, 5, 50.5]), "burst": lambda: self.good_or(100, [-1, -100])}
            ),
            "enableProfiling": self.boolean,
            "delayCacheUntilActive": self.boolean,
            "extenders": lambda: self.several(self.extender, 3),
        }
        made |= self.some(fields, 0.25)
        if self.random.random() < 0.9:
            made["profiles"] = self.profiles()
        if self.random.random() < 0.05:
            self.break_decoding(made)
        return made

    def profiles(self) -> list[Object]:
        """Mostly one profile, sometimes several, most of the time with names of their own."""
        count = self.random.choice([1, 1, 1, 2, 2, 3])
        names: list[str | None] = ["default-scheduler", "packing", "spreading"]
        made: list[Object] = []
        for name in names[:count]:
            profile = self.some(
                {
                    "percentageOfNodesToScore": self.percentage,
                    "plugins": self.plugins,
                    "pluginConfig": self.plugin_config,
                },
                0.6,
            )
            shown = self.good_or(name, ["default-scheduler", "", None])
            if shown is not None and (count > 1 or self.random.random() < 0.5):
                profile["schedulerName"] = shown
            made.append(profile)
        return made

    def plugins(self) -> Object:
        """Plugin sets for a few extension points."""
        made: Object = {}
        for point in self.random.sample(POINTS, self.between(0, 4)):
            if point == "queueSort" and self.random.random() > max(self.faults, 0.1):
                continue
            made[point] = self.some({"enabled": self.enabled, "disabled": self.disabled}, 0.7)
        return made

    def enabled(self) -> list[Object]:
        """Plugins, some with a weight."""
        return [
            {"name": self.good_or(name, ODD_PLUGINS), **({"weight": self.between(0, 20)} if self.boolean() else {})}
            for name in self.random.sample(PLUGINS, self.between(0, 3))
        ]

    def disabled(self) -> list[Object]:
        """Plugins to be disabled, or all of them."""
        if self.random.random() < 0.3:
            return [{"name": "*"}]
        return [{"name": name} for name in self.random.sample(PLUGINS + ODD_PLUGINS, self.between(0, 3))]

    def plugin_config(self) -> list[Object]:
        """Arguments for some plugins."""
        makers: dict[str, Callable[[], Object]] = {
            "DefaultPreemption": self.default_preemption,
            "InterPodAffinity": self.inter_pod_affinity,
            "NodeAffinity": self.node_affinity,
            "NodeResourcesBalancedAllocation": lambda: self.some({"resources": self.resources}),
            "NodeResourcesFit": self.fit,
            "PodTopologySpread": self.spread,
            "VolumeBinding": self.volume_binding,
            "DynamicResources": self.dynamic_resources,
        }
        made: list[Object] = []
        for name in self.random.choices(sorted(makers), k=self.between(0, 4)):
            if any(one["name"] == name for one in made) and self.random.random() > self.faults:
                continue
            args: Any = makers[name]()
            if self.random.random() < 0.2:
                args |= {"kind": f"{name}Args", "apiVersion": "kubescheduler.config.k8s.io/v1"}
            made.append({"name": name, "args": args} if args or self.boolean() else {"name": name})
        if self.chance():
            odd = self.random.choice(ODD_PLUGINS)
            made.append({"name": odd, "args": self.random.choice([{"a": 1, "b": ["<", "é"]}, {}, None])})
        return made

    def default_preemption(self) -> Object:
        return self.some(
            {
                "minCandidateNodesPercentage": lambda: self.good_or(self.between(0, 100), [-1, 101, 0]),
                "minCandidateNodesAbsolute": lambda: self.good_or(self.between(1, 500), [-1, 0]),
            }
        )

    def inter_pod_affinity(self) -> Object:
        return self.some(
            {
                "hardPodAffinityWeight": lambda: self.good_or(self.between(0, 100), [-1, 101, 2**31 - 1]),
                "ignorePreferredTermsOfExistingPods": self.boolean,
            }
        )

    def volume_binding(self) -> Object:
        return self.some(
            {"bindTimeoutSeconds": lambda: self.good_or(self.between(0, 900), [-1, -600]), "shape": self.shape}
        )

    def dynamic_resources(self) -> Object:
        return self.some(
            {
                "filterTimeout": lambda: self.good_or(self.random.choice(DURATIONS), BAD_DURATIONS),
                "bindingTimeout": lambda: self.good_or("600s", [*BAD_DURATIONS, "999ms", "0.000001ms", "1s"]),
            }
        )

    def fit(self) -> Object:
        return self.some(
            {
                "ignoredResources": lambda: self.several(lambda: self.good_or("example.com/gpu", BAD_KEYS), 2),
                "ignoredResourceGroups": lambda: self.several(lambda: self.good_or("example.com", BAD_KEYS), 2),
                "scoringStrategy": self.scoring_strategy,
            }
        )

    def scoring_strategy(self) -> Object:
        kind = self.good_or(self.random.choice(["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]), ["X"])
        strategy: Object = {"type": kind, **self.some({"resources": self.resources})}
        if (kind == "RequestedToCapacityRatio") != self.chance():
            strategy["requestedToCapacityRatio"] = {"shape": self.shape()}
        return strategy

    def resources(self) -> list[Object]:
        names = self.random.sample(["cpu", "memory", "example.com/gpu", "ephemeral-storage"], self.between(0, 3))
        if names and self.chance():
            names.append(names[0])
        return [
            {"name": name, **self.some({"weight": lambda: self.good_or(1, [0, 2, 100, 101, -1])})} for name in names
        ]

    def shape(self) -> list[Object]:
        utilizations = sorted(self.random.sample(range(101), self.between(1, 4)))
        if self.chance():
            utilizations = self.random.choice([[], [50, 50], [60, 40], [-1, 200], [0, 101]])
        return [
            {"utilization": utilization, "score": self.good_or(self.between(0, 10), [-1, 11])}
            for utilization in utilizations
        ]

    def spread(self) -> Object:
        made = self.some({"defaultConstraints": lambda: self.several(self.constraint, 3)}, 0.8)
        kind = self.good_or("List" if made.get("defaultConstraints") else "System", ["System", "List", "Other", ""])
        if kind == "List" or self.boolean():
            made["defaultingType"] = kind
        return made

    def constraint(self) -> Object:
        made: Object = {
            "maxSkew": self.good_or(self.between(1, 5), [0, -1]),
            "topologyKey": self.good_or(self.random.choice(KEYS), BAD_KEYS),
            "whenUnsatisfiable": self.good_or(
                self.random.choice(["DoNotSchedule", "ScheduleAnyway"]), ["", "doNotSchedule", "Never"]
            ),
        }
        if self.chance():
            made["labelSelector"] = self.random.choice([{}, {"matchLabels": {"app": "web"}}])
        if self.chance():
            made.pop(self.random.choice(sorted(made)))
        return made | self.some(
            {
                "minDomains": lambda: self.good_or(2, [0, -1]),
                "nodeAffinityPolicy": lambda: self.good_or("Ignore", ["Maybe"]),
                "matchLabelKeys": lambda: self.several(lambda: self.good_or("pod-template-hash", BAD_KEYS), 2),
            },
            0.2,
        )

    def node_affinity(self) -> Object:
        required = {"nodeSelectorTerms": self.several(self.term, 3)}
        return self.some(
            {
                "addedAffinity": lambda: self.some(
                    {
                        "requiredDuringSchedulingIgnoredDuringExecution": lambda: required,
                        "preferredDuringSchedulingIgnoredDuringExecution": lambda: self.several(self.preferred, 3),
                    }
                )
            },
            0.9,
        )

    def preferred(self) -> Object:
        return {"weight": self.good_or(self.between(1, 100), [0, -1, 101]), "preference": self.term()}

    def term(self) -> Object:
        return self.some(
            {
                "matchExpressions": lambda: self.several(self.requirement, 3),
                "matchFields": lambda: self.several(self.field_requirement, 2),
            }
        )

    def requirement(self) -> Object:
        operator = self.good_or(
            self.random.choice(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]), ["Equals", "", "exists"]
        )
        values: list[str] = {"In": ["a", "b"], "NotIn": ["a"], "Gt": ["3"], "Lt": ["-7"]}.get(operator, [])
        if self.chance():
            values = self.random.choice([[], ["a b"], ["x", "-"], ["12", "13"], ["1.5"], ["+5"], ["v" * 64], [""]])
        made: Object = {"key": self.good_or(self.random.choice(KEYS), BAD_KEYS), "operator": operator}
        return made | ({"values": values} if values or self.boolean() else {})

    def field_requirement(self) -> Object:
        values = self.good_or(["node-1"], [[], ["node-1", "node-2"]])
        return {
            "key": self.good_or("metadata.name", ["metadata.namespace", ""]),
            "operator": self.good_or(self.random.choice(["In", "NotIn"]), ["Exists", "Gt"]),
            "values": values,
        }

    def extender(self) -> Object:
        made: Object = {"urlPrefix": "http://127.0.0.1/extend"}
        return made | self.some(
            {
                "filterVerb": lambda: "filter",
                "prioritizeVerb": lambda: "prioritize",
                "weight": lambda: self.good_or(self.between(1, 9), [0, -1]),
                "bindVerb": lambda: "bind",
                "httpTimeout": lambda: self.random.choice(DURATIONS),
                "managedResources": lambda: self.several(self.managed_resource, 3),
                "tlsConfig": lambda: {"insecure": True, "caData": "aGVsbG8="},
            },
            0.4,
        )

    def managed_resource(self) -> Object:
        name = f"example.com/r{self.between(1, 9)}"
        bad = [*BAD_KEYS, "cpu", "kubernetes.io/x", "requests.example.com/x", "example.com/r1"]
        return {"name": self.good_or(name, bad), **self.some({"ignoredByScheduler": self.boolean})}

    def leader_election(self) -> Object:
        return self.some(
            {
                "leaderElect": self.boolean,
                "leaseDuration": lambda: self.good_or("20s", [*BAD_DURATIONS, *DURATIONS]),
                "renewDeadline": lambda: self.good_or("10s", [*BAD_DURATIONS, *DURATIONS]),
                "retryPeriod": lambda: self.good_or("2s", [*BAD_DURATIONS, *DURATIONS]),
                "resourceLock": lambda: self.good_or("leases", ["endpoints", ""]),
                "resourceName": lambda: "scheduler",
            }
        )

    def break_decoding(self, made: Object) -> None:
        """One value of another type, or one field that is not there."""
        wrong: list[Object] = [
            {"parallelism": "16"},
            {"parallelism": 2**31},
            {"parallelism": 1.5},
            {"percentageOfNodesToScore": True},
            {"profile": []},
            {"profiles": {}},
            {"profiles": [{"name": "x"}]},
            {"profiles": [{"pluginConfig": [{"name": "NodeAffinity", "args": {"kind": "Other"}}]}]},
            {"profiles": [{"pluginConfig": [{"name": "NodeAffinity", "args": {"affinity": {}}}]}]},
            {"profiles": [{"pluginConfig": [{"name": "NodeAffinity", "args": []}]}]},
            {"leaderElection": {"leaseDuration": "15"}},
            {"leaderElection": {"leaseDuration": 15}},
            {"extenders": [{"tlsConfig": {"caData": "?"}}]},
            {"enableProfiling": "yes"},
            {"apiVersion": "kubescheduler.config.k8s.io/v2"},
        ]
        made |= self.random.choice(wrong)

    def percentage(self) -> int:
        value: int = self.good_or(self.between(0, 100), [-1, 101])
        return value

    def between(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def boolean(self) -> bool:
        return self.random.random() < 0.5

    def chance(self) -> bool:
        return self.random.random() < self.faults

    def good_or(self, good: Any, bad: list[Any]) -> Any:
        return self.random.choice(bad) if self.chance() else good

    def several(self, make: Callable[[], Any], most: int) -> list[Any]:
        return [make() for _ in range(self.between(0, most))]

    def some(self, fields: dict[str, Callable[[], Any]], share: float = 0.6) -> Object:
        return {name: make() for name, make in fields.items() if self.random.random() < share}


def main() -> None:
    """Prints ``--count`` configurations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=1000)
    options = parser.parse_args()
    generator = Generator(options.seed)
    for _ in range(options.count):
        sys.stdout.write(json.dumps(generator.configuration(), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
