"""Apply the fixes of findings to their texts. Files are written only on request.

A fix is dropped if the edited text differs from the original in anything else. Fixes may uncover other findings, so the
rules run again until nothing changes.
"""

from __future__ import annotations

import copy
import difflib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Any, BinaryIO, Final

import msgspec

from topospread.api.inventory import Inventory
from topospread.api.yaml_text import yaml_text
from topospread.errors import DecodeError, DuplicateError, InputError, Place
from topospread.sources.atomic_file import write_file
from topospread.sources.files import STANDARD_INPUT, Source
from topospread.sources.json_text import looks_like_json
from topospread.sources.roots import is_within, leaves, real_path, root_of
from topospread.sources.text import Text

from .edits import Splice, changed, splice_of
from .layout import Layouts
from .lint_input import LintSubject, SchedulerConfiguration
from .problem import FieldEdit
from .reading import Question, Read
from .rule import Severity
from .run import ClusterReading, LintReport, run

# Unified diff of two versions of a text.

_CONTEXT: Final = 3
_MOST_CHANGED: Final = 60
"""Lines to search for equal ones after a change. A fix changes fewer."""
_HUNK: Final = re.compile(r"@@ -(\d+)((?:,\d+)?) \+(\d+)((?:,\d+)?) @@")
_NO_END: Final = "\\ No newline at end of file\n"


def unified_diff(before: str, after: str, name: str) -> str:
    """Return the unified diff of two versions of a file with three lines of context; "" if equal.

    Args:
        before: the old text.
        after: the new text.
        name: its path.
    """
    hunks = "".join(_hunks(list(StringIO(before)), list(StringIO(after))))
    return f"--- {name}\n+++ {name}\n{hunks}" if hunks else ""


def _hunks(before: list[str], after: list[str]) -> Iterator[str]:
    above = (0, 0)
    for left, right in _parts(before, after):
        if left != right:
            for line in list(difflib.unified_diff(left, right))[2:]:
                yield _complete(_moved(line, *above))
        above = (above[0] + len(left), above[1] + len(right))


def _parts(before: list[str], after: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Divide two texts into corresponding parts, because difflib compares large texts slowly.

    They are divided where equal lines follow each other that are enough to end a hunk: more than twice the context. If
    no equal lines are found within `_MOST_CHANGED` lines, the rest is one part.
    """
    begin, one, other, equal = (0, 0), 0, 0, 0
    while one < len(before) and other < len(after):
        if before[one] == after[other]:
            one, other, equal = one + 1, other + 1, equal + 1
            if equal > 2 * _CONTEXT:
                end = one - _CONTEXT - 1, other - _CONTEXT - 1
                yield before[begin[0] : end[0]], after[begin[1] : end[1]]
                begin, equal = end, _CONTEXT + 1
            continue
        ahead = ((left, total - left) for total in range(1, _MOST_CHANGED) for left in range(total + 1))
        same = (
            (left, right)
            for left, right in ahead
            if before[one + left : one + left + _CONTEXT] == after[other + right : other + right + _CONTEXT]
        )
        left, right = next(same, (len(before), len(after)))
        one, other, equal = one + left, other + right, 0
    yield before[begin[0] :], after[begin[1] :]


def _moved(line: str, old: int, new: int) -> str:
    """Return a diff line. In a hunk header, add the lines of preceding documents (`old`, `new`) to the line numbers."""
    found = _HUNK.match(line)
    if found is None:
        return line
    return f"@@ -{int(found[1]) + old}{found[2]} +{int(found[3]) + new}{found[4]} @@\n"


def _complete(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n{_NO_END}"


_ROUNDS: Final = 5
_MOST_READ: Final = 2 << 20
"""Maximum characters to parse while fixes are tested one by one; each test parses the whole text."""
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class FixedText(msgspec.Struct, frozen=True):
    """A text before and after its fixes.

    Attributes:
        source: file it was read from.
        before: the old text.
        after: the text with the fixes.
        rules: the fixed findings, each as rule and message.
    """

    source: Source
    before: str
    after: str
    rules: tuple[tuple[str, str], ...] = ()

    def diff(self) -> str:
        """Return a unified diff in the format of ``patch -p0``."""
        return unified_diff(self.before, self.after, self.source.name)

    def write(self) -> None:
        """Replace the file's content atomically.

        Raises:
            InputError: if the file is compressed, has changed since it was read, cannot be written, or is a link that
                leaves its root.
        """
        path = real_path(self.source.path)
        root = root_of(os.path.dirname(self.source.path) or os.curdir)
        if not is_within(path, root):
            raise leaves(self.source.path, root)
        try:
            with open(path, "rb") as file:
                raw = file.read()
            mark = _BYTE_ORDER_MARK if raw.startswith(_BYTE_ORDER_MARK) else b""
            if raw.removeprefix(mark) != self.before.encode():
                words = "not fixed: the file is compressed, or has changed since it was read"
                raise InputError(words, Place(self.source.name))
            write_file(path, mark + self.after.encode())
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror or error}", Place(self.source.name)) from error


def mend(
    question: Question,
    stdin: BinaryIO | None = None,
    level: Severity = "hint",
    cluster: Inventory | ClusterReading | None = None,
    *,
    unsafe: bool = False,
) -> tuple[LintReport, list[FixedText]]:
    """Run the rules, apply their fixes in memory, and repeat until nothing changes.

    Args:
        question: the lint options.
        stdin: input for the path ``-``.
        level: minimum severity of findings that are fixed and reported.
        cluster: the cluster to compare with, or a function that reads it.
        unsafe: also make the suggested edits.

    Returns:
        The remaining findings, and the changed texts.

    Raises:
        InputError: as `run`.
    """
    outcome = run(question, stdin, cluster=cluster).at_least(level)
    before = {source.path: (source, text) for source, text in outcome.read.texts}
    texts = {path: text for path, (_, text) in before.items()}
    found: dict[tuple[str, str, str], None] = {}
    for _ in range(_ROUNDS):
        mended = dict(_mended_texts(outcome, unsafe=unsafe))
        if not mended:
            break
        texts |= mended
        found |= {(each.finding.place.source, each.finding.rule, each.finding.message): None for each in outcome.judged}
        outcome = run(question, instead=texts, cluster=outcome.given.cluster).at_least(level)
    left = {(each.finding.place.source, each.finding.rule, each.finding.message) for each in outcome.judged}
    fixed = [each for each in found if each not in left]
    return outcome, [
        FixedText(
            source,
            text.data.decode(),
            texts[path].data.decode(),
            tuple((rule, says) for file, rule, says in fixed if file == source.name),
        )
        for path, (source, text) in before.items()
        if texts[path].data != text.data
    ]


def _mended_texts(outcome: LintReport, *, unsafe: bool) -> Iterator[tuple[str, Text]]:
    """Yield the texts that fixes changed, with their paths."""
    by_text: dict[str, list[tuple[LintSubject, Sequence[FieldEdit]]]] = {}
    for each in outcome.judged:
        edits = each.problem.fix or (each.problem.suggestion if unsafe else ())
        # Rendered output is not a file that can be written.
        if edits and each.subject is not None and each.subject.location.text.origins is None:
            by_text.setdefault(each.subject.location.text.name, []).append((each.subject, edits))
    for source, text in outcome.read.texts:
        wanted = by_text.get(text.name)
        if not wanted:
            continue
        editor = TextEditor(text, outcome.read)
        after = editor.made(wanted)
        if after is None and len(wanted) > 1:
            singles = (editor.made([each]) for each in wanted[: editor.most_tries])
            after = next(filter(None, singles), None)
        if after is not None:
            yield source.path, after


class TextEditor:
    """Edits the objects of one text.

    Attributes:
        left: objects whose edits failed in `made`.
    """

    def __init__(self, text: Text, read: Read) -> None:
        self.text = text
        self.whole = text.data.decode()
        self.read = read
        self.left: list[LintSubject] = []

    @property
    def most_tries(self) -> int:
        """Maximum number of fixes to test one by one. It is lower for a longer text."""
        return max(_MOST_READ // max(len(self.whole), 1), 1)

    def made(
        self, wanted: Sequence[tuple[LintSubject, Sequence[FieldEdit]]], added: Sequence[Mapping[str, Any]] = ()
    ) -> Text | None:
        """Return the text with these edits and with the `added` objects at its end.

        All edits of an object are made, or none of them. Return None if nothing changes or another part would change.
        """
        splices: list[Splice] = []
        edits: dict[LintSubject, list[FieldEdit]] = {}
        self.left = []
        for subject, wanted_edits in wanted:
            own = [self._splice(edit, subject) for edit in wanted_edits]
            found = [splice for splice in own if splice is not None]
            if len(found) == len(own) and not any(a.start < b.end and b.start < a.end for a in found for b in splices):
                splices += found
                edits.setdefault(subject, []).extend(wanted_edits)
            else:
                self.left.append(subject)
        if not splices and not added:
            return None
        after = Text(self.text.name, (_spliced(self.whole, splices) + self._behind(added)).encode())
        return after if self._is_as_meant(after, edits, added) else None

    def _behind(self, added: Sequence[Mapping[str, Any]]) -> str:
        """Return objects as text to append: YAML documents, or JSON documents if the text is JSON."""
        if not added:
            return ""
        if looks_like_json(self.text):
            texts = [json.dumps(each, indent=2, ensure_ascii=False) + "\n" for each in added]
        else:
            texts = [f"---\n{yaml_text(each)}" for each in added]
        newline = "\r\n" if self.whole.find("\r\n") + 1 == self.whole.find("\n") > 0 else "\n"
        end = "" if self.whole.endswith("\n") else "\n"
        return (end + "".join(texts)).replace("\n", newline)

    def _splice(self, edit: FieldEdit, subject: LintSubject) -> Splice | None:
        location = subject.location
        root = self.read.layouts.root(location)
        if root is None:
            return None
        as_json = location.document is None
        if not as_json:
            return splice_of(edit, root, self.whole, as_json=False)
        base = len(location.text.data[: location.start].decode())
        within = location.text.data[location.start : location.end].decode()
        splice = splice_of(edit, root, within, as_json=True)
        return splice and Splice(splice.start + base, splice.end + base, splice.text)

    def _is_as_meant(
        self, after: Text, edits: Mapping[LintSubject, list[FieldEdit]], added: Sequence[Mapping[str, Any]]
    ) -> bool:
        """Return whether the new text contains the expected objects and nothing else."""
        old = [each for each in self.read.subjects if each.location.text.name == self.text.name]
        read = Read(self.read.gates, self.read.namespace, layouts=Layouts())
        try:
            read.take_text(Source(STANDARD_INPUT, None), after)
        except (DecodeError, DuplicateError):
            return False
        new = [each.value for each in read.subjects[len(old) :]]
        if read.broken or new != list(added):
            return False
        embedded = any(isinstance(each, SchedulerConfiguration) for each in edits)
        return all(
            each.value == _expected(before.value, edits.get(before, ()))
            for before, each in zip(old, read.subjects, strict=False)
            if not (embedded and before.value.get("kind") == "ConfigMap")
        )


def _expected(value: Mapping[str, Any], edits: Sequence[FieldEdit]) -> Any:
    expected: Any = copy.deepcopy(value) if edits else value
    for edit in edits:
        expected = changed(expected, edit)
    return expected


def _spliced(text: str, splices: Sequence[Splice]) -> str:
    """Return the text with the replacements made. Replacements at the same offset keep their order."""
    parts: list[str] = []
    done = 0
    for splice in sorted(splices, key=lambda each: each.start):
        parts += [text[done : splice.start], splice.text]
        done = max(done, splice.end)
    return "".join([*parts, text[done:]])
