"""Rules about scheduler configurations: default constraints without effect, and plugins with the same job."""

from __future__ import annotations

from collections.abc import Iterator

from topospread.api.spread import DO_NOT_SCHEDULE
from topospread.config.args import SYSTEM_CONSTRAINTS, DefaultConstraint
from topospread.config.profile import Profile
from topospread.lint.lint_input import LintInput, LintSubject, SchedulerConfiguration
from topospread.lint.problem import Problem
from topospread.lint.rule import Example, Rule

from .selectors import SPREAD

SPREADING = "PodTopologySpread"
_OLD_SPREADING = ("SelectorSpread", "DefaultPodTopologySpread")
_PROFILES = "https://kubernetes.io/docs/reference/scheduling/config/"
_DEFAULTS = f"{SPREAD}#cluster-level-default-constraints"


def _profiles(given: LintInput) -> Iterator[tuple[SchedulerConfiguration, int, Profile]]:
    """Yield each profile of each valid configuration, with its index."""
    for each in given.configurations:
        for index, profile in enumerate(each.loaded.profiles if each.loaded is not None else ()):
            yield each, index, profile


def _defaults(profile: Profile) -> tuple[DefaultConstraint, ...]:
    """Return the default constraints that a profile lists itself."""
    args = profile.args.pod_topology_spread
    return args.default_constraints if args.defaulting_type == "List" else ()


def _path_of_defaults(profile: Profile, index: int) -> str:
    return profile.origins.get(f"{SPREADING}.defaultConstraints", f"profiles[{index}]")


def _both_spread(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for subject, index, profile in _profiles(given):
        scoring = profile.enabled("score")
        old = next((name for name in _OLD_SPREADING if name in scoring), "")
        if old and SPREADING in scoring and profile.args.pod_topology_spread.constraints_in_force:
            weights = f"{old} (weight {profile.weights[old]}) and {SPREADING} (weight {profile.weights[SPREADING]})"
            yield subject, Problem(_origin(profile, old, index), f"{weights} both score the spread of the same pods")


def _origin(profile: Profile, plugin: str, index: int) -> str:
    """Return where a plugin is enabled: in the profile or by default."""
    enabled = next((each for each in profile.plugins.get("score", ()) if each.name == plugin), None)
    return enabled.origin if enabled is not None and enabled.origin else f"profiles[{index}]"


def _repeats_built_in(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for subject, index, profile in _profiles(given):
        own = _defaults(profile)
        if own and {_as_listed(each) for each in own} == {_as_listed(each) for each in SYSTEM_CONSTRAINTS}:
            message = "these are the built-in default constraints: leave them out, with defaultingType: System"
            yield subject, Problem(_path_of_defaults(profile, index), message)


def _as_listed(each: DefaultConstraint) -> tuple[object, ...]:
    return each.topology_key, each.max_skew, each.when_unsatisfiable


def _plugin_off(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for subject, index, profile in _profiles(given):
        for position, each in enumerate(_defaults(profile)):
            hard = each.when_unsatisfiable == DO_NOT_SCHEDULE
            points = ("pre_filter", "filter") if hard else ("pre_score", "score")
            off = [point for point in points if SPREADING not in profile.enabled(point)]
            if off:
                where = off[0].replace("_f", "F").replace("_s", "S")
                message = f"{SPREADING} is not enabled at {where}: no {each.when_unsatisfiable} constraint applies"
                yield subject, Problem(f"{_path_of_defaults(profile, index)}[{position}]", message)


def _key_on_no_node(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    keys = {key for node in given.nodes for key in node.labels}
    for subject, index, profile in _profiles(given):
        for position, each in enumerate(_defaults(profile)):
            if each.topology_key not in keys:
                field = f"{_path_of_defaults(profile, index)}[{position}].topologyKey"
                hard = each.when_unsatisfiable == DO_NOT_SCHEDULE
                what = "every pod that it applies to stays pending" if hard else "it prefers no node"
                yield subject, Problem(field, f"none of {len(given.nodes)} nodes has {each.topology_key}: {what}")


_HEAD = """\
apiVersion: kubescheduler.config.k8s.io/{version}
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
"""
_LISTED = """\
  pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
"""
_ZONES = "{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}"
_BUILT_IN = "".join(
    f"      - {{maxSkew: {each.max_skew}, topologyKey: {each.topology_key}, "
    f"whenUnsatisfiable: {each.when_unsatisfiable}}}\n"
    for each in SYSTEM_CONSTRAINTS
)


def _configuration(rest: str, version: str = "v1") -> str:
    return _HEAD.format(version=version) + rest


_GOOD = Example(_configuration(f"{_LISTED}      - {_ZONES}\n"))
_SCORE = "  plugins:\n    score:\n      enabled:\n      - {name: SelectorSpread, weight: 1}\n"
_OFF = "  plugins:\n    multiPoint:\n      disabled:\n      - name: PodTopologySpread\n"

RULES = (
    Rule(
        id="two-plugins-spread",
        sentence="SelectorSpread is on although PodTopologySpread has default constraints.",
        why="Both plugins score the spread of these pods, by different domains and formulas, so neither result holds.",
        link=f"{SPREAD}#internal-default-constraints",
        severity="warning",
        check=_both_spread,
        wrong=Example(_configuration(_SCORE, "v1beta2"), kube_version="1.23"),
        right=Example(_configuration("", "v1beta2"), kube_version="1.23"),
    ),
    Rule(
        id="defaults-repeat-built-in",
        sentence="Default constraints repeat the built-in ones.",
        why="With defaultingType: List, nodes that lack a key get no score. Later changes of defaults do not apply.",
        link=f"{SPREAD}#internal-default-constraints",
        severity="hint",
        check=_repeats_built_in,
        wrong=Example(_configuration(_LISTED + _BUILT_IN)),
        right=_GOOD,
    ),
    Rule(
        id="defaults-without-plugin",
        sentence="Default constraints are in a profile whose PodTopologySpread plugin is off.",
        why="Hard constraints need the plugin's filter and soft ones its score, so they never apply.",
        link=f"{_PROFILES}#scheduling-plugins",
        severity="warning",
        check=_plugin_off,
        wrong=Example(_configuration(f"{_OFF}{_LISTED}      - {_ZONES}\n")),
        right=_GOOD,
    ),
    Rule(
        id="default-key-on-no-node",
        sentence="No node has the topologyKey of a default constraint.",
        why="A hard default constraint keeps every pod pending that has no constraints of its own.",
        link=_DEFAULTS,
        severity="warning",
        check=_key_on_no_node,
        wrong=Example(_GOOD.manifests.replace("topology.kubernetes.io/zone", "zone"), cluster="zones=3,nodes=6"),
        right=Example(_GOOD.manifests, cluster="zones=3,nodes=6"),
        needs="nodes",
    ),
)
