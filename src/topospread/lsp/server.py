"""The language server on standard input and output, which lints open files as they are typed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from lsprotocol import types
from lsprotocol.types import Diagnostic
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from topospread.errors import InputError, TopospreadError
from topospread.lint.reading import Question
from topospread.lint.run import LintReport
from topospread.sources.files import STANDARD_INPUT
from topospread.sources.text import shown_path
from topospread.text import one_line
from topospread.version import __version__

from .completing import completions
from .diagnostics import carried, diagnostics, of_error
from .fixes import fixes
from .hovering import explained
from .judging import TextJudge, is_meant_as_manifest
from .lines import Lines

Found = TypeVar("Found")


@dataclass(eq=False)
class OpenFile:
    """An open file of the editor.

    Attributes:
        path: its path for lint; ``-`` for a text without a file.
        judging: task that lints it until there are no more changes.
        report: its lint report; None if lint failed.
        whole: the last completely parsed text, with its diagnostics.
    """

    path: str
    changed: bool = True
    judging: asyncio.Task[None] | None = None
    lines: Lines | None = None
    report: LintReport | None = None
    whole: tuple[Sequence[str], Sequence[Diagnostic]] | None = None


class Server(LanguageServer):
    """The language server. One thread lints one text at a time, so the server keeps reading messages."""

    def __init__(self, ask: Callable[[], Question]) -> None:
        super().__init__("topospread", __version__, types.TextDocumentSyncKind.Full)
        self._judge = TextJudge(ask)
        self._files: dict[str, OpenFile] = {}
        self._thread = ThreadPoolExecutor(1)
        self._told: set[str] = set()
        handlers: dict[str, Callable[[Any], object]] = {
            types.INITIALIZE: self._begin,
            types.TEXT_DOCUMENT_DID_OPEN: self._opened,
            types.TEXT_DOCUMENT_DID_CHANGE: self._typed,
            types.TEXT_DOCUMENT_DID_CLOSE: self._closed,
            types.TEXT_DOCUMENT_DID_SAVE: self._saved,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._saved,
            types.WORKSPACE_DID_CHANGE_CONFIGURATION: self._saved,
            types.TEXT_DOCUMENT_CODE_ACTION: self._fixes,
            types.TEXT_DOCUMENT_COMPLETION: self._completions,
            types.TEXT_DOCUMENT_HOVER: self._explained,
        }
        options = {
            types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(trigger_characters=[" ", '"', "'", "/", "."])
        }
        for name, handler in handlers.items():
            self.feature(name, options.get(name))(
                partial(handler)
            )  # pygls sets attributes on handlers, which methods do not allow

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log the error. By default pygls would open a window."""
        words = one_line(f"{type(error).__name__}: {error}")
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, words))

    def _begin(self, params: types.InitializeParams) -> None:
        """Use the editor's folder as working directory, like `topospread lint` there."""
        folders = params.workspace_folders
        root = to_fs_path((folders[0].uri if folders else params.root_uri) or "")
        if root and os.path.isdir(root):
            os.chdir(root)
        self._thread.submit(self._judge.report, STANDARD_INPUT, "")  # import the rules before the first file

    def _opened(self, params: types.DidOpenTextDocumentParams) -> None:
        uri = params.text_document.uri
        path = to_fs_path(uri)
        if path:
            relative = os.path.relpath(path)
            path = path if relative.startswith(os.pardir) else relative
        self._files[uri] = OpenFile(path or STANDARD_INPUT)
        self._judge_soon(uri)

    def _typed(self, params: types.DidChangeTextDocumentParams) -> None:
        self._judge_soon(params.text_document.uri)

    def _saved(self, params: object) -> None:
        """Read the project again, because a saved file may be its settings or cluster."""
        self._judge.forget()
        self._told.clear()
        for uri in self._files:
            self._judge_soon(uri)

    def _closed(self, params: types.DidCloseTextDocumentParams) -> None:
        self._files.pop(params.text_document.uri, None)
        self._show(params.text_document.uri, [], None)

    def _judge_soon(self, uri: str) -> None:
        file = self._files.get(uri)
        if file is None:
            return
        file.changed = True
        if file.judging is None:
            file.judging = asyncio.get_running_loop().create_task(self._judge_until_unchanged(uri, file))

    async def _judge_until_unchanged(self, uri: str, file: OpenFile) -> None:
        while file.changed and self._files.get(uri) is file:
            file.changed = False
            document = self.workspace.get_text_document(uri)
            version = document.version
            try:
                found = await self._in_thread(partial(self._judged, file, document.source, self._units(uri)))
            except TopospreadError as error:
                self._tell(str(error))
            except Exception as error:
                self.report_server_error(error, type(error))
            else:
                if self._files.get(uri) is file:
                    self._show(uri, found, version)
        file.judging = None

    def _units(self, uri: str) -> Callable[[str], int]:
        return self.workspace.get_text_document(uri).position_codec.client_num_units

    def _judged(self, file: OpenFile, text: str, units: Callable[[str], int]) -> list[Diagnostic]:
        """Lint a text and return its diagnostics. If it is unparsable, return the error and earlier diagnostics."""
        self._judge.project()
        file.lines = lines = Lines(text, units)
        file.report = None
        try:
            file.report = report = self._judge.report(file.path, lines.text)
            found, broken = diagnostics(report.findings, shown_path(file.path), lines), report.read.broken
        except InputError as error:
            found, broken = [], [error]
        if broken and file.whole is not None:
            found = carried(file.whole[1], file.whole[0], lines.lines)
        else:
            file.whole = lines.lines, found
        if is_meant_as_manifest(lines.text):
            found = [*found, *(of_error(error, lines) for error in broken)]
        return found

    async def _fixes(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Return the quick fixes in a range, as edits of the current text."""
        uri = params.text_document.uri
        return await self._of_current(uri, lambda report, lines: list(fixes(report, lines, params.range, uri))) or []

    async def _completions(self, params: types.CompletionParams) -> list[types.CompletionItem]:
        def found(report: LintReport, lines: Lines) -> list[types.CompletionItem]:
            return list(completions(lines, params.position, report.given.nodes))

        return await self._of_current(params.text_document.uri, found) or []

    async def _explained(self, params: types.HoverParams) -> types.Hover | None:
        def found(report: LintReport, lines: Lines) -> types.Hover | None:
            texts = list(explained(report, lines.offset(params.position)))
            return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n".join(texts))) if texts else None

        return await self._of_current(params.text_document.uri, found)

    async def _of_current(self, uri: str, find: Callable[[LintReport, Lines], Found]) -> Found | None:
        """Return the result for the current text; None if the file is not a manifest."""
        file = self._files.get(uri)
        if file is None:
            return None
        text, units = self.workspace.get_text_document(uri).source, self._units(uri)

        def found() -> Found | None:
            if file.lines is None or file.lines.text != text:
                self._judged(file, text, units)
            report, lines = file.report, file.lines
            if lines is None or report is None:
                return None
            if not report.read.subjects and not (report.read.broken and is_meant_as_manifest(text)):
                return None
            return find(report, lines)

        try:
            return await self._in_thread(found)
        except TopospreadError as error:
            self._tell(str(error))
            return None

    async def _in_thread(self, work: Callable[[], Found]) -> Found:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _show(self, uri: str, found: Sequence[Diagnostic], version: int | None) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, list(found), version))

    def _tell(self, words: str) -> None:
        """Show a message about the project once, not after every keystroke."""
        if words not in self._told:
            self._told.add(words)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, one_line(words)))
