"""Configurations as tests write them."""

from __future__ import annotations

from typing import Any

Data = dict[str, Any]


def configuration(version: str = "v1", **fields: Any) -> Data:
    """A KubeSchedulerConfiguration of a version with these fields."""
    return {"apiVersion": f"kubescheduler.config.k8s.io/{version}", "kind": "KubeSchedulerConfiguration", **fields}


def with_plugins(version: str = "v1", **points: Any) -> Data:
    """One profile with these plugin sets: ``score=on("A:5") | off("B")``."""
    return configuration(version, profiles=[{"plugins": points}])


def with_args(plugin: str, args: Any, version: str = "v1") -> Data:
    """One profile with arguments for one plugin."""
    return configuration(version, profiles=[{"pluginConfig": [{"name": plugin, "args": args}]}])


def on(*texts: str) -> Data:
    """Enabled plugins, a weight after a colon."""
    parts = [text.partition(":") for text in texts]
    return {"enabled": [{"name": name, **({"weight": int(weight)} if weight else {})} for name, _, weight in parts]}


def off(*names: str) -> Data:
    """Disabled plugins."""
    return {"disabled": [{"name": name} for name in names]}
