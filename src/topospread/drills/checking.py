"""Drills of files played, and held to what they expect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from topospread.errors import InputError, Place, UsageError
from topospread.plain_data import PlainData

from .drill import drill
from .drill_file import DrillFile
from .expectations import Shortfall, shortfalls
from .interruption import Interrupted
from .result import Drill

Progress = Callable[[int, int], None]
"""Told how many drills of how many are over."""


@dataclass(frozen=True, slots=True)
class CheckedDrill:
    """A drill of a file, what came of it, and where that is not as expected."""

    file: DrillFile
    drill: Drill
    shortfalls: tuple[Shortfall, ...]

    def place(self, shortfall: Shortfall) -> Place:
        """Where the expectation stands."""
        return self.file.place(shortfall.path)


@dataclass(frozen=True)
class DrillCheck(PlainData):
    """All drills that were played; ``partial``: where that was ended before its end, in words."""

    drills: tuple[CheckedDrill, ...]
    partial: str = ""

    @property
    def passed(self) -> bool:
        """Whether all came to what was expected."""
        return not any(each.shortfalls for each in self.drills)


def check_drills(
    files: Sequence[DrillFile], cluster: str | None = None, progress: Progress | None = None
) -> DrillCheck:
    """Play drills one after the other; ``cluster``: in place of their own.

    Raises:
        InputError: what a drill names cannot be used; its place says which drill.
        Interrupted: Ctrl-C; with the drills that were over.
    """
    checked = []
    for number, file in enumerate(files):
        if progress is not None:
            progress(number, len(files))
        try:
            checked.append(_checked(file, cluster))
        except KeyboardInterrupt:
            partial = f"ended in drill {number + 1} of {len(files)}"
            raise Interrupted(DrillCheck(tuple(checked), partial)) from None
    return DrillCheck(tuple(checked))


def _checked(file: DrillFile, cluster: str | None) -> CheckedDrill:
    try:
        found = drill(
            file.manifests,
            file.steps,
            cluster=cluster or file.cluster or None,
            namespace=file.namespace,
            config=file.config,
            kube_version=file.kube_version,
        )
        return CheckedDrill(file, found, tuple(shortfalls(found, file.expect)))
    except UsageError as error:
        raise InputError(str(error), file.place("spec.steps")) from None
