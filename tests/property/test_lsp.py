"""Whatever is typed, the server shows what lint says of the text as it is; what cannot be read shows nothing new."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from tests.drawn import drawn
from tests.editor import Editor, editor
from topospread.lint.reading import Question
from topospread.lint.rules import RULES
from topospread.lint.run import LintReport, run
from topospread.sources.text import Text

PIECES = [
    *" \n:-{}[]\"'#&*|>\t,a0",
    "\n  - ",
    "\r\n",
    "💥",
    "spec:\n",
    "kind: Pod\n",
    "---\n",
    "{{ ",
    "maxSkew: 0",
    "\u2028",
]


def edited(text: str, draw: random.Random) -> str:
    """Return a text after one edit: something typed, deleted, or copied elsewhere."""
    start, other = sorted(draw.randrange(len(text) + 1) for _ in range(2))
    end = min(other, start + draw.choice([1, 2, 20, 200]))
    piece = draw.choice(["", draw.choice(PIECES), draw.choice(PIECES), text[start:end] * 2])
    return text[:start] + piece + text[end if draw.random() < 0.6 else start :]


def linted(text: str) -> LintReport:
    return run(Question(paths=["web.yaml"]), instead={"web.yaml": Text("web.yaml", text.encode())}).limited()


async def judged_alike(it: Editor, text: str, draw: random.Random, edits: int) -> None:
    known = {each.message for each in await it.open("web.yaml", text)}
    for _ in range(edits):
        # Sooner or later what was broken is undone.
        text = edited(text, draw) if draw.random() < 0.8 else TEXTS[0]
        shown = await it.typed("web.yaml", text)
        report = linted(text)
        if report.read.broken:
            assert {each.message for each in shown if each.code} <= known
            assert sum(each.code is None for each in shown) <= 1
        else:
            assert [(each.code, each.message, each.range.start.line) for each in shown] == [
                (each.rule, each.message, line_of(text, each.place.line or 1)) for each in report.findings
            ]
            known = {each.message for each in shown}
        at = types.Position(draw.randrange(60), draw.randrange(60))
        document = types.TextDocumentIdentifier(it.uri("web.yaml"))
        await it.client.text_document_hover_async(types.HoverParams(document, at))
        await it.client.text_document_completion_async(types.CompletionParams(document, at))
        if draw.random() < 0.2:
            whole = types.Range(types.Position(0, 0), types.Position(999, 0))
            asked = types.CodeActionParams(document, whole, types.CodeActionContext([]))
            await it.client.text_document_code_action_async(asked)
    assert it.told == []


def line_of(text: str, line: int) -> int:
    """Return a line from 0, or the last one of the text where an editor counts fewer than YAML does."""
    return min(line, len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))) - 1


TEXTS = [rule.wrong.manifests for rule in RULES if not rule.wrong.cluster]


@drawn(3)
@given(st.integers(0, 2**32), st.lists(st.sampled_from(TEXTS), min_size=1, max_size=2))
def test_what_is_typed_is_judged_as_lint_judges_it(seed: int, texts: list[str]) -> None:
    async def played() -> None:
        async with editor(Path(folder)) as it:
            await judged_alike(it, "---\n".join(texts), random.Random(seed), 60)

    with TemporaryDirectory() as folder:
        asyncio.run(played())
