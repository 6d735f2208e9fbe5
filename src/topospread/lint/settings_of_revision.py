"""Read settings from the old revision of a change, so that a pull request cannot weaken its own checks."""

from __future__ import annotations

import os
from dataclasses import replace

from topospread.sources.revisions import REVISION, State, state_of
from topospread.sources.roots import is_within, real_path
from topospread.sources.synthetic_cluster import is_synthetic

from .settings import SETTINGS_NAMES, Settings, find_settings


def settings_of(old: State, folder: str) -> Settings:
    """Return the settings of an old state, with globs and paths moved to another folder.

    Args:
        old: the old state.
        folder: folder that corresponds to the old state's folder.

    Raises:
        InputError: if the settings cannot be read, or are invalid.
    """
    begin = old.folder if os.path.isdir(old.folder) else os.path.dirname(old.folder) or os.curdir
    found = find_settings(begin)
    if not found.source or not is_within(found.source, real_path(old.root or begin)):
        return found

    def moved(path: str) -> str:
        return os.path.normpath(os.path.join(folder, os.path.relpath(path, begin)))

    def moved_file(given: str | None) -> str | None:
        return given if given is None or is_synthetic(given) else moved(given)

    return replace(
        found,
        folder=moved(found.folder or os.curdir),
        cluster=moved_file(found.cluster),
        config=moved_file(found.config),
    )


def settings_at(revision: str) -> Settings:
    """Return the working directory's settings in a git revision.

    Raises:
        InputError: if the revision does not exist, or its settings are invalid.
    """
    with state_of(f"{REVISION}{revision}", only=SETTINGS_NAMES) as old:
        return settings_of(old, os.curdir)
