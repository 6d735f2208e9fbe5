"""Changes of our plugin's manifest, and whether krew's own program takes what they make of it.

The answers are those of ``validate-krew-manifest -skip-install`` of krew v0.5.0 and later (commit db921d5), asked on
2026-11-22. `KREW_VALIDATION=PROGRAM make release-check` asks such a program again.
"""

from __future__ import annotations

import copy
from typing import Any, Final

Json = dict[str, Any]
REMOVED: Final = object()
_SELECTOR = ("spec", "platforms", 0, "selector")
_EXPRESSIONS = (*_SELECTOR, "matchExpressions")
_PLATFORM = ("spec", "platforms", 0)
_SECOND = {"uri": "https://example.com/a", "sha256": "0" * 64, "bin": "a"}


def changed(manifest: Json, change: tuple[tuple[Any, ...], Any]) -> Json:
    """A copy with a value put in a place of it, added to a list, or taken out."""
    (*path, last), value = change
    made = copy.deepcopy(manifest)
    at: Any = made
    for each in path:
        at = at[each]
    if value is REMOVED:
        del at[last]
    elif last == "more":
        at.append(value)
    else:
        at[last] = value
    return made


def _expression(key: str, operator: str, *values: str) -> Json:
    return {"key": key, "operator": operator} | ({"values": list(values)} if values else {})


CASES: Final[dict[str, tuple[tuple[tuple[Any, ...], Any], bool]]] = {
    "another API version": ((("apiVersion",), "krew.googlecontainertools.github.com/v1alpha3"), False),
    "no API version": ((("apiVersion",), REMOVED), False),
    "another kind": ((("kind",), "Plugins"), False),
    "another name than the file": ((("metadata", "name"), "other"), False),
    "no name": ((("metadata", "name"), REMOVED), False),
    "no short description": ((("spec", "shortDescription"), REMOVED), False),
    "an empty short description": ((("spec", "shortDescription"), ""), False),
    "a short description of two lines": ((("spec", "shortDescription"), "a\nb"), False),
    "no long description": ((("spec", "description"), REMOVED), True),
    "no homepage": ((("spec", "homepage"), REMOVED), True),
    "a field that krew has not": ((("spec", "licence"), "Apache-2.0"), True),
    "no version": ((("spec", "version"), REMOVED), False),
    "a version without v": ((("spec", "version"), "1.2.3"), False),
    "a version of two numbers": ((("spec", "version"), "v1.2"), False),
    "a version of four numbers": ((("spec", "version"), "v1.2.3.4"), False),
    "a version with a zero before": ((("spec", "version"), "v1.02.3"), False),
    "a version before a release": ((("spec", "version"), "v1.2.3-rc.1"), True),
    "a version before a release, with a zero before": ((("spec", "version"), "v1.2.3-rc.01"), False),
    "a version before a release, in words": ((("spec", "version"), "v1.2.3-0a.b-c"), True),
    "a version with a part that is empty": ((("spec", "version"), "v1.2.3-rc..1"), False),
    "a version of a build": ((("spec", "version"), "v1.2.3+build.01"), True),
    "a version of an empty build": ((("spec", "version"), "v1.2.3+"), False),
    "a version and a blank": ((("spec", "version"), "v1.2.3 "), True),
    "a version after a blank": ((("spec", "version"), " v1.2.3"), False),
    "a version in words": ((("spec", "version"), "vnext"), False),
    "no platforms": ((("spec", "platforms"), REMOVED), False),
    "platforms that are none": ((("spec", "platforms"), []), False),
    "no address": (((*_PLATFORM, "uri"), REMOVED), False),
    "no sum": (((*_PLATFORM, "sha256"), REMOVED), False),
    "a sum in capitals": (((*_PLATFORM, "sha256"), "A" * 64), False),
    "a sum that is short": (((*_PLATFORM, "sha256"), "a" * 63), False),
    "no program": (((*_PLATFORM, "bin"), REMOVED), False),
    "files that are none": (((*_PLATFORM, "files"), []), False),
    "files that are null": (((*_PLATFORM, "files"), None), True),
    "a file from nowhere": (((*_PLATFORM, "files"), [{"to": "."}]), False),
    "a file to nowhere": (((*_PLATFORM, "files"), [{"from": "*"}]), False),
    "all files": (((*_PLATFORM, "files"), [{"from": "*", "to": "."}]), True),
    "no selector": ((_SELECTOR, REMOVED), False),
    "an empty selector": ((_SELECTOR, {}), False),
    "a selector without labels": ((_SELECTOR, {"matchLabels": {}}), False),
    "a selector without expressions": ((_SELECTOR, {"matchExpressions": []}), False),
    "a selector by another label": ((_SELECTOR, {"matchLabels": {"libc": "musl"}}), False),
    "a selector by another key": ((_EXPRESSIONS, [_expression("libc", "In", "musl")]), False),
    "a selector of one system": ((_SELECTOR, {"matchLabels": {"os": "linux"}}), True),
    "a selector of one platform": ((_SELECTOR, {"matchLabels": {"os": "darwin", "arch": "arm64"}}), True),
    "a selector of a system that is none": ((_SELECTOR, {"matchLabels": {"os": "macos"}}), False),
    "a selector of a platform that is none": ((_SELECTOR, {"matchLabels": {"os": "darwin", "arch": "ppc64le"}}), False),
    "a selector of all but one system": ((_EXPRESSIONS, [_expression("os", "NotIn", "windows")]), True),
    "a selector of every system": ((_EXPRESSIONS, [_expression("os", "Exists")]), True),
    "a selector of no system": ((_EXPRESSIONS, [_expression("os", "DoesNotExist")]), False),
    "a second one for one platform": (
        (("spec", "platforms", "more"), {**_SECOND, "selector": {"matchLabels": {"arch": "arm64"}}}),
        False,
    ),
    "a second one for another system": (
        (("spec", "platforms", "more"), {**_SECOND, "selector": {"matchLabels": {"os": "windows"}}}),
        True,
    ),
    "a second one without a program": (
        (("spec", "platforms", "more"), {**_SECOND, "bin": "", "selector": {"matchLabels": {"os": "windows"}}}),
        False,
    ),
}

NAMES: Final = {
    "topospread": True,
    "Topo_spread-2": True,
    "-a": True,
    "LPT10": True,
    "topo spread": False,
    "topo.spread": False,
    "töpo": False,
    "CON": False,
    "con": False,
    "lpt9": False,
}
"""Names of plugins, and whether it takes them."""
