"""Detect line breaks in names, labels and keys. API servers reject them, and they could forge lines in a report."""

from __future__ import annotations

import re
from typing import Any, Final

MAY_HAVE_ONE: Final = re.compile(rb"\\n|\\u000[aA]").search
"""Matches the JSON escape of a line break."""
_ONE_LINE: Final = frozenset(
    {
        *("name", "namespace", "generateName", "nodeName", "schedulerName", "priorityClassName", "storageClassName"),
        *("labels", "matchLabels", "matchLabelKeys", "nodeSelector", "selector", "topologyKey", "whenUnsatisfiable"),
        *("taints", "tolerations", "matchExpressions", "matchFields", "matchLabelExpressions", "topologyKeys"),
        *("requests", "limits", "capacity", "allocatable", "overhead", "volumeName", "claimName", "nodeID", "driver"),
        *("provisioner", "kind", "uid", "resourceVersion", "creationTimestamp", "preemptionPolicy", "reason", "type"),
    }
)
"""Fields whose texts and keys must be on one line."""


def line_break_in(value: Any, path: str = "", *, matters: bool = False) -> str:
    """Return the path of the first line break in a name, a label, a selector or a key; "" without a line break.

    Args:
        value: an object, or a part of it, as plain data.
        path: the part's path in the object.
        matters: whether every text in the value must be on one line.
    """
    if isinstance(value, str):
        return path if matters and "\n" in value else ""
    if isinstance(value, dict):
        for key, each in value.items():
            if matters and "\n" in key:
                return path
            below = f"{path}.{key}" if path else key
            if found := line_break_in(each, below, matters=matters or key in _ONE_LINE):
                return found
    elif isinstance(value, list):
        for index, each in enumerate(value):
            if found := line_break_in(each, f"{path}[{index}]", matters=matters):
                return found
    return ""
