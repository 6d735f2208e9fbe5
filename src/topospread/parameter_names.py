"""Replace option names by parameter names in the errors of the Python API."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace

from topospread.errors import InputError, UsageError

_OPTION = re.compile(r"(?<![\w-])-(?:-([a-z]+(?:-[a-z]+)*)|(l))(?![\w-])")
_OTHER_NAMES = {
    "each": ("each_zone",),
    "feature-gates": ("gates",),
    "l": ("selector",),
    "left": ("left", "want"),
    "lose-node-unnoticed": ("unnoticed",),
    "node-shape": ("shapes",),
    "of": ("replicas", "targets"),
    "orders": ("number",),
    "shape": ("shapes",),
}
"""Option → possible names of its parameter; the first name that the function has is used."""


@contextmanager
def naming(parameters: Collection[str]) -> Iterator[None]:
    """Name parameters instead of options in the errors of a block. Options without a parameter stay."""

    def named(option: re.Match[str]) -> str:
        name = option[1] or option[2]
        names = (*_OTHER_NAMES.get(name, ()), name.replace("-", "_"))
        return next((each for each in names if each in parameters), option[0])

    try:
        yield
    except InputError as error:
        error.message = _OPTION.sub(named, error.message)
        error.place = replace(error.place, source=_OPTION.sub(named, error.place.source))
        raise
    except UsageError as error:
        error.args = (_OPTION.sub(named, str(error)),)
        raise
