"""The fields of KubeSchedulerConfiguration and of the plugins' arguments, for every version that had them.

Source: k8s.io/kube-scheduler/config/VERSION/types.go and types_pluginargs.go (0.18 to 0.37), component-base's
config/v1alpha1/types.go, core/v1 for spread constraints and node affinity; 1.18's plugins for v1alpha2's arguments.
"""

from __future__ import annotations

from topospread.config.api_versions import API_VERSIONS, ApiVersion
from topospread.config.schema import (
    ANYTHING,
    BASE64,
    BOOLEAN,
    DURATION,
    FLOAT,
    INT32,
    INT64,
    STRING,
    ListOf,
    MapOf,
    Object,
    Type,
)
from topospread.config.versions import KubeVersion

Fields = dict[str, Type]

TYPE_META: Fields = {"apiVersion": STRING, "kind": STRING}

_PLUGIN_SET = Object(
    {
        "enabled": ListOf(Object({"name": STRING, "weight": INT32})),
        "disabled": ListOf(Object({"name": STRING, "weight": INT32})),
    }
)

_POINTS_OF_ALL = (
    "queueSort",
    "preFilter",
    "filter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
)


def plugin_points(api: ApiVersion, version: KubeVersion) -> tuple[str, ...]:
    """The fields of ``plugins``."""
    points = list(_POINTS_OF_ALL)
    minor = version.minor
    if api.name == "v1alpha2":
        return (*points, "unreserve")
    points.append("postFilter")
    if api.rank >= API_VERSIONS["v1beta2"].rank:
        entered = (("multiPoint", 23), ("preEnqueue", 26))
        points += [point for point, since in entered if minor >= since]
    if api.name == "v1":
        entered_v1 = (("placementGenerate", 36), ("placementScore", 36), ("podGroupPostFilter", 37))
        points += [point for point, since in entered_v1 if minor >= since]
    return tuple(points)


def configuration(api: ApiVersion, version: KubeVersion) -> Object:
    """The fields of a KubeSchedulerConfiguration; arguments of plugins are left as they are."""
    fields: Fields = {
        **TYPE_META,
        "leaderElection": _LEADER_ELECTION,
        "clientConnection": _CLIENT_CONNECTION,
        "enableProfiling": BOOLEAN,
        "enableContentionProfiling": BOOLEAN,
        "percentageOfNodesToScore": INT32,
        "podInitialBackoffSeconds": INT64,
        "podMaxBackoffSeconds": INT64,
        "profiles": ListOf(_profile(api, version)),
        "extenders": ListOf(_extender(api)),
    }
    if version.minor >= 20:
        fields["parallelism"] = INT32
    if api.rank <= API_VERSIONS["v1beta2"].rank:
        fields |= {"healthzBindAddress": STRING, "metricsBindAddress": STRING}
    if api.name == "v1alpha2":
        fields |= {"disablePreemption": BOOLEAN, "bindTimeoutSeconds": INT64}
    if api.name == "v1" and version.minor >= 28:
        fields["delayCacheUntilActive"] = BOOLEAN
    return Object(fields)


def _profile(api: ApiVersion, version: KubeVersion) -> Object:
    fields: Fields = {
        "schedulerName": STRING,
        "plugins": Object(dict.fromkeys(plugin_points(api, version), _PLUGIN_SET)),
        "pluginConfig": ListOf(Object({"name": STRING, "args": ANYTHING})),
    }
    if api.name == "v1" and version.minor >= 26:
        fields["percentageOfNodesToScore"] = INT32
    return Object(fields)


_LEADER_ELECTION = Object(
    {
        "leaderElect": BOOLEAN,
        "leaseDuration": DURATION,
        "renewDeadline": DURATION,
        "retryPeriod": DURATION,
        "resourceLock": STRING,
        "resourceName": STRING,
        "resourceNamespace": STRING,
    }
)

_CLIENT_CONNECTION = Object(
    {"kubeconfig": STRING, "acceptContentTypes": STRING, "contentType": STRING, "qps": FLOAT, "burst": INT32}
)


def _extender(api: ApiVersion) -> Object:
    fields: Fields = {
        "urlPrefix": STRING,
        "filterVerb": STRING,
        "preemptVerb": STRING,
        "prioritizeVerb": STRING,
        "weight": INT64,
        "bindVerb": STRING,
        "enableHTTPS": BOOLEAN,
        "tlsConfig": Object(
            {
                "insecure": BOOLEAN,
                "serverName": STRING,
                "certFile": STRING,
                "keyFile": STRING,
                "caFile": STRING,
                "certData": BASE64,
                "keyData": BASE64,
                "caData": BASE64,
            }
        ),
        "httpTimeout": DURATION,
        "nodeCacheCapable": BOOLEAN,
        "managedResources": ListOf(Object({"name": STRING, "ignoredByScheduler": BOOLEAN})),
        "ignorable": BOOLEAN,
    }
    if api.name == "v1alpha2":
        # The extenders of the scheduler policy, before the configuration had its own: a timeout in nanoseconds.
        fields |= {"enableHttps": BOOLEAN, "httpTimeout": INT64}
    return Object(fields)


_LABEL_SELECTOR = Object(
    {
        "matchLabels": MapOf(STRING),
        "matchExpressions": ListOf(Object({"key": STRING, "operator": STRING, "values": ListOf(STRING)})),
    }
)


def _spread_constraint(version: KubeVersion) -> Object:
    fields: Fields = {
        "maxSkew": INT32,
        "topologyKey": STRING,
        "whenUnsatisfiable": STRING,
        "labelSelector": _LABEL_SELECTOR,
    }
    if version.minor >= 24:
        fields["minDomains"] = INT32
    if version.minor >= 25:
        fields |= {"nodeAffinityPolicy": STRING, "nodeTaintsPolicy": STRING, "matchLabelKeys": ListOf(STRING)}
    return Object(fields)


_NODE_REQUIREMENTS = ListOf(Object({"key": STRING, "operator": STRING, "values": ListOf(STRING)}))
_NODE_SELECTOR_TERM = Object({"matchExpressions": _NODE_REQUIREMENTS, "matchFields": _NODE_REQUIREMENTS})
_NODE_AFFINITY = Object(
    {
        "requiredDuringSchedulingIgnoredDuringExecution": Object({"nodeSelectorTerms": ListOf(_NODE_SELECTOR_TERM)}),
        "preferredDuringSchedulingIgnoredDuringExecution": ListOf(
            Object({"weight": INT32, "preference": _NODE_SELECTOR_TERM})
        ),
    }
)

_RESOURCES = ListOf(Object({"name": STRING, "weight": INT64}))
_SHAPE = ListOf(Object({"utilization": INT32, "score": INT32}))
_STRINGS = ListOf(STRING)
_SCORING_STRATEGY = Object(
    {"type": STRING, "resources": _RESOURCES, "requestedToCapacityRatio": Object({"shape": _SHAPE})}
)


def plugin_args(api: ApiVersion, version: KubeVersion) -> dict[str, Object]:
    """Plugins with arguments of their own kind → its fields."""
    minor = version.minor
    spread: Fields = {"defaultConstraints": ListOf(_spread_constraint(version))}
    fit: Fields = {"ignoredResources": _STRINGS}
    affinity: Fields = {"hardPodAffinityWeight": INT32}
    kinds: dict[str, Fields] = {"PodTopologySpread": spread, "NodeResourcesFit": fit, "InterPodAffinity": affinity}
    if minor >= 19:
        fit["ignoredResourceGroups"] = _STRINGS
        kinds["VolumeBinding"] = {"bindTimeoutSeconds": INT64}
    if minor >= 20:
        spread["defaultingType"] = STRING
        kinds["NodeAffinity"] = {"addedAffinity": _NODE_AFFINITY}
        kinds["DefaultPreemption"] = {"minCandidateNodesPercentage": INT32, "minCandidateNodesAbsolute": INT32}
    if minor >= 22:
        kinds["VolumeBinding"]["shape"] = _SHAPE
        fit["scoringStrategy"] = _SCORING_STRATEGY
        kinds["NodeResourcesBalancedAllocation"] = {"resources": _RESOURCES}
    if minor >= 27:
        affinity["ignorePreferredTermsOfExistingPods"] = BOOLEAN
    if minor >= 34:
        kinds["DynamicResources"] = {"filterTimeout": DURATION}
    if minor >= 35:
        kinds["DynamicResources"]["bindingTimeout"] = DURATION
    if api.rank <= API_VERSIONS["v1beta1"].rank:
        kinds |= _kinds_until_v1beta1(minor)
    return {name: Object({**TYPE_META, **fields}) for name, fields in kinds.items()}


def _kinds_until_v1beta1(minor: int) -> dict[str, Fields]:
    kinds: dict[str, Fields] = {
        "NodeLabel": {
            "presentLabels": _STRINGS,
            "absentLabels": _STRINGS,
            "presentLabelsPreference": _STRINGS,
            "absentLabelsPreference": _STRINGS,
        },
        "ServiceAffinity": {"affinityLabels": _STRINGS, "antiAffinityLabelsPreference": _STRINGS},
        "RequestedToCapacityRatio": {"shape": _SHAPE, "resources": _RESOURCES},
    }
    if minor >= 19:
        kinds["NodeResourcesLeastAllocated"] = {"resources": _RESOURCES}
        kinds["NodeResourcesMostAllocated"] = {"resources": _RESOURCES}
    return kinds
