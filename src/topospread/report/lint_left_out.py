"""Notes on files that were not linted."""

from __future__ import annotations

from typing import Final

from topospread.answers.words import listed
from topospread.linting.reading import Read, WhyNotRead
from topospread.sources.deliveries import note_of_deliveries

_FILES_NAMED: Final = 3

LEFT_OUT: Final[dict[WhyNotRead, str]] = {
    "other": "no object of Kubernetes, left out",
    "template": "a chart's template, left out: lint the chart's folder",
    "patch": "a kustomization's patch, left out: lint the kustomization's folder",
    "base": "not validated, a kustomization changes it: lint the kustomization's folder",
}
"""What is said of files that were left out, by why they were."""


def left_out(read: Read) -> list[str]:
    """What to say of files that were left out, a line for each reason."""
    lines = []
    for why, words in LEFT_OUT.items():
        names = sorted(name for name, reason in read.left_out.items() if reason == why)
        if names:
            lines.append(f"{listed(names, _FILES_NAMED)}: {words}")
    return [*read.notes, *lines, *note_of_deliveries(read.deliveries)]
