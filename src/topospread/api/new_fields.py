"""The minor versions of Kubernetes that introduced fields. `config.gate_table` has the history of feature gates.

``new_fields.json`` lists the fields added since 1.18, by struct; `conformance/oracle/cmd/fieldhistory` prints it from
k8s.io/api (core/v1, apps/v1 and batch/v1) of every minor version.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from .shipped_table import shipped_table
from .validation.schema import field_struct

_OLDEST: Final = 18


@cache
def _printed() -> dict[str, dict[str, int]]:
    return shipped_table(__package__, "new_fields.json", dict[str, dict[str, int]])


@cache
def first_minor(struct: str, path: str) -> int:
    """Return the first minor version with a field, such as 31 for (``PodSpec``, ``volumes[].image``).

    For fields of 1.18 and older, return 18.
    """
    first = _OLDEST
    for step in path.split("."):
        name = step.removesuffix("[]")
        first = max(first, _printed().get(struct, {}).get(name, _OLDEST))
        struct = field_struct(struct, name).removeprefix("[]")
    return first
