"""An editor that has `topospread lsp` on its standard input and output, with the client of pygls."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

SECONDS = 60.0
"""That an answer may take on a busy machine."""


class Editor:
    """Files that are open, and what the server shows of them.

    Attributes:
        shown: uri and version → diagnostics.
        told: messages in windows, and lines of the log.
    """

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self.shown: dict[tuple[str, int | None], list[types.Diagnostic]] = {}
        self.told: list[str] = []
        self.texts: dict[str, tuple[int, str]] = {}
        self._news = asyncio.Event()

    def uri(self, name: str) -> str:
        return (self.folder / name).absolute().as_uri()

    async def open(self, name: str, text: str | None = None, language: str = "yaml") -> list[types.Diagnostic]:
        """Open a file and return its diagnostics."""
        text = (self.folder / name).read_text() if text is None else text
        self.texts[name] = (1, text)
        item = types.TextDocumentItem(self.uri(name), language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.diagnostics(name)

    def change(self, name: str, text: str) -> None:
        version = self.texts[name][0] + 1
        self.texts[name] = (version, text)
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, self.uri(name)),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    async def typed(self, name: str, text: str) -> list[types.Diagnostic]:
        """Change a file's text and return its diagnostics."""
        self.change(name, text)
        return await self.diagnostics(name)

    async def diagnostics(self, name: str) -> list[types.Diagnostic]:
        """Return the diagnostics of the text as it is, once they are there."""
        key = (self.uri(name), self.texts[name][0])
        await self.until(lambda: key in self.shown)
        return self.shown[key]

    async def until(self, there: Any) -> None:
        """Wait for what the server sends."""
        async with asyncio.timeout(SECONDS):
            while not there():
                self._news.clear()
                await self._news.wait()

    def close(self, name: str) -> None:
        document = types.TextDocumentIdentifier(self.uri(name))
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(document))

    def save(self, name: str) -> None:
        document = types.TextDocumentIdentifier(self.uri(name))
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(document))

    def at(self, name: str, text: str, offset: int = 0) -> tuple[types.TextDocumentIdentifier, types.Position]:
        """Return the position of a text in a file, and so many characters behind it."""
        before = self.texts[name][1][: self.texts[name][1].index(text) + offset]
        line = before.count("\n")
        column = len(before) - before.rfind("\n") - 1
        return types.TextDocumentIdentifier(self.uri(name)), types.Position(line, column)

    async def _begin(self) -> None:
        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def shown(params: types.PublishDiagnosticsParams) -> None:
            self.shown[params.uri, params.version] = list(params.diagnostics)
            self._news.set()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        @self.client.feature(types.WINDOW_LOG_MESSAGE)
        def told(params: types.ShowMessageParams) -> None:
            self.told.append(params.message)
            self._news.set()

        root = types.WorkspaceFolder(self.folder.absolute().as_uri(), "here")
        asked = types.InitializeParams(types.ClientCapabilities(), workspace_folders=[root], root_uri=root.uri)
        await self.client.initialize_async(asked)
        self.client.initialized(types.InitializedParams())


@asynccontextmanager
async def editor(folder: Path) -> AsyncIterator[Editor]:
    """An editor that has a folder open; at its end the server has to have ended well, with nothing to say."""
    client = LanguageClient("tests", "1")
    await client.start_io(sys.executable, "-m", "topospread", "lsp", "--stdio")
    assert client._server is not None
    process = client._server
    found = Editor(client, folder)
    await found._begin()
    yield found
    async with asyncio.timeout(SECONDS):
        await client.shutdown_async(None)
        client.exit(None)
        assert process.stderr is not None
        said = (await process.stderr.read()).decode()
        assert await process.wait() == 0, said
    await client.stop()
    assert said == ""
