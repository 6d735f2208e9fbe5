"""Lint one text of an editor with the project's settings. Charts are not rendered, and no program is run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace as with_fields

from topospread.api.inventory import Inventory
from topospread.errors import InputError
from topospread.lint.reading import Question
from topospread.lint.run import LintReport, run
from topospread.sources.files import Source, checked_utf8, find_sources
from topospread.sources.load import load
from topospread.sources.rendering import RAW

_MOST_CHARACTERS: Final = 4 << 20
"""Maximum characters of a text. Larger texts are snapshots, not hand-written manifests."""
_VERSION: Final = re.compile(r"""^[ \t{-]*["']?apiVersion["']?[ \t]*:""", re.MULTILINE)
_ACTION: Final = re.compile(r"\{\{|\{%")


class TextJudge:
    """Lints texts. The project's settings and cluster are cached until `forget`.

    Args:
        ask: returns the options of `topospread lint` without arguments in the working directory.
    """

    def __init__(self, ask: Callable[[], Question]) -> None:
        self._ask = ask
        self._project: tuple[Question, Inventory | None] | None = None
        self._cluster: tuple[Any, Inventory | None] = None, None

    def forget(self) -> None:
        """Read the settings again before the next text, and the cluster if one of its files has changed."""
        self._project = None

    def project(self) -> tuple[Question, Inventory | None]:
        """Return the lint options, and the cluster to compare with. Raise TopospreadError if they are unusable."""
        if self._project is None:
            question = with_fields(self._ask(), rendering=RAW)
            files = find_sources(question.cluster) if question.cluster and os.path.exists(question.cluster) else []
            stamps = [(each.path, os.stat(each.path).st_mtime_ns, each.size) for each in files]
            version = question.cluster, question.namespace, stamps
            if self._cluster[0] != version:
                where = question.cluster
                read = load((), cluster=where, namespace=question.namespace, rendering=RAW) if where else None
                self._cluster = version, read
            self._project = question, self._cluster[1]
        return self._project

    def report(self, path: str, text: str) -> LintReport:
        """Return the lint report for a file with this text.

        Raises:
            InputError: if the text is too large or not UTF-8, or the file is outside its repository.
            TopospreadError: if the settings or the cluster cannot be used.
        """
        if len(text) > _MOST_CHARACTERS:
            raise InputError("the text is too large for the editor: use topospread lint")
        question, cluster = self.project()
        content = checked_utf8(text.encode("utf-8", "replace"), Source(path, None))
        return run(with_fields(question, paths=[path]), None, {path: content}, cluster).limited()


def is_meant_as_manifest(text: str) -> bool:
    """Return whether an unparsable text is a manifest rather than a template or another tool's file."""
    return bool(_VERSION.search(text)) and not _ACTION.search(text)
