"""Scheduler profiles without scores: all feasible nodes are equally good."""

from __future__ import annotations

from dataclasses import replace

from msgspec.structs import replace as with_fields

from topospread.config.load import default_configuration
from topospread.config.profile import Configuration, Profile

from .options import SimulationOptions


def unscored(options: SimulationOptions) -> SimulationOptions:
    """Return the options with profiles that filter but do not score."""
    configuration = options.config or default_configuration(gates=options.in_force[0])
    return replace(options, config=_without_scores(configuration))


def _without_scores(configuration: Configuration) -> Configuration:
    def filtering(profile: Profile) -> Profile:
        kept = {point: each for point, each in profile.plugins.items() if point not in ("pre_score", "score")}
        return with_fields(profile, plugins=kept | {"pre_score": (), "score": ()})

    return replace(configuration, profiles=tuple(map(filtering, configuration.profiles)))
