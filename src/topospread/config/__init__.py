"""Scheduling profiles: what a KubeSchedulerConfiguration of any version says, and what a version does without one."""

from topospread.config.load import default_configuration, default_profile, load_configuration
from topospread.config.profile import EXTENSION_POINTS, Configuration, EnabledPlugin, Profile
from topospread.config.versions import NEWEST, OLDEST, KubeVersion

__all__ = [
    "EXTENSION_POINTS",
    "NEWEST",
    "OLDEST",
    "Configuration",
    "EnabledPlugin",
    "KubeVersion",
    "Profile",
    "default_configuration",
    "default_profile",
    "load_configuration",
]
