"""Reads ``defaults.json``, what fields of a configuration have that are left empty; it fills none in.

`conformance/oracle/cmd/configdefaults` prints it from pkg/scheduler/apis/config/VERSION/defaults.go of every minor
version, and ``systemDefaultConstraints`` of pkg/scheduler/framework/plugins/podtopologyspread/plugin.go.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from topospread.api.shipped_table import shipped_table

IF = " if "
"""What follows in the name of a field: gates that have to be on, and fields that have to be given; with "!" not."""


@cache
def printed_defaults() -> dict[str, dict[str, dict[int, dict[str, Any]]]]:
    """Version of the configuration → struct → minor version of Kubernetes from which on → field → its default.

    ``shape if SomeGate !field``: where the gate is on and the field empty; ``resources[].weight``: of every item.
    """
    return shipped_table(__package__, "defaults.json", dict[str, dict[str, dict[int, dict[str, Any]]]])
