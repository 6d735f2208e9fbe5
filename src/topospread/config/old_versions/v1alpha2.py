"""Settings that v1alpha2 (1.18) has once for all profiles, and later versions as arguments of plugins."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace as with_fields

from topospread.config.args import PluginArgs
from topospread.config.document import Document
from topospread.config.profile import EnabledPlugin


def preemption_of_1_18(document: Document) -> Mapping[str, tuple[EnabledPlugin, ...]]:
    """Return 1.18's preemption as a plugin; no plugin if ``disablePreemption`` is set."""
    if document.fields.get("disablePreemption", False):
        return {}
    return {"post_filter": (EnabledPlugin("DefaultPreemption"),)}


def args_of_1_18(args: PluginArgs, document: Document) -> PluginArgs:
    """Return the arguments with the configuration's ``bindTimeoutSeconds``."""
    timeout = document.fields.get("bindTimeoutSeconds", args.volume_binding.bind_timeout_seconds)
    return with_fields(args, volume_binding=with_fields(args.volume_binding, bind_timeout_seconds=timeout))
