"""Find and read the files of paths, folders and standard input.

A named file is read regardless of its ending. In a folder, files with one of the `ENDINGS` are read at any depth,
sorted by name. Folders whose names start with a dot and linked folders are skipped (a mounted ConfigMap would show each
file twice), and so are links that leave the root (`roots`). gzip is decompressed. `folders` recognises charts and
kustomizations.
"""

from __future__ import annotations

import codecs
import io
import math
import os
import stat
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO, ClassVar, Final, NamedTuple, Protocol

import msgspec

from topospread.errors import DecodeError, InputError, Place, UsageError
from topospread.text import listed

from .roots import GIT, check_inside_repository, is_of_git, is_within, root_of
from .text import Text, place_of_byte, shown_path
from .yaml import MAX_SIZE, MAX_VALUES
from .yaml_list import begins_as_list

STANDARD_INPUT: Final = "-"
KUBECTL_ENDINGS: Final = (".yaml", ".yml", ".json")
"""Endings of the files that ``kubectl apply -f FOLDER`` reads."""
ENDINGS: Final = (*KUBECTL_ENDINGS, *(f"{each}.gz" for each in KUBECTL_ENDINGS))
MAX_JSON: Final = 1 << 30
"""Maximum bytes of decompressed JSON from one source, such as a snapshot."""
MAX_LIST: Final = 256 << 20
"""Maximum bytes of a decompressed YAML List from one source, which is read item by item."""
MAX_OTHER: Final = MAX_SIZE
"""Maximum bytes of any other decompressed text from one source."""
MAX_RATIO: Final = 250
"""Maximum gzip ratio of texts of more than a few megabytes. A zip bomb reaches 1000."""

BYTES_PER_VALUE: Final = 8
"""Minimum bytes per value, on average, of texts with more than `MAX_VALUES` values. Objects have about 15."""

_MAX_LINKED_FILES: Final = 10_000
"""Links to files in one folder and below. Resolving a link takes much longer than reading a small file."""
MAX_RENDERING: Final = 600.0
"""Seconds after the first chart or kustomization of a path, until which another one may be rendered."""

MAX_DEPTH: Final = 200
"""Maximum depth of folders: each step through a path costs time in proportion to its length."""

_CHUNK: Final = 4 << 20
_PATHS_SHOWN: Final = 3
GZIP: Final = b"\x1f\x8b"
_FOREIGN_ENCODINGS: Final = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


ReadingProgress = Callable[[int, int | None], None]
"""Receives the processed bytes at least every few megabytes, and their total; None if it is unknown."""


class Unit(Protocol):
    """A folder that a program renders to manifests; ``noun`` is the common name for such a folder."""

    noun: ClassVar[str]

    def check(self) -> None:
        """Raise InputError if the program is missing."""

    def render(self) -> Text:
        """Return the rendered manifests."""


class Source(msgspec.Struct, frozen=True):
    """A source to read: a file, standard input, or a folder to render.

    Attributes:
        path: the path as given or found; ``-`` for standard input.
        size: bytes on disk; None if unknown before reading.
        unit: the renderer, for a chart or kustomization.
    """

    path: str
    size: int | None
    unit: Unit | None = None

    @property
    def name(self) -> str:
        """The path for messages: on one line and printable."""
        return shown_path(self.path)


class SkippedFiles(msgspec.Struct):
    """Files below a folder that are not read.

    Attributes:
        hidden: folders whose names begin with a dot, except ``.git``.
        otherwise: files that kubectl does not read: with capitals in their endings, or .gz files in a repository.
        outside: links whose targets are outside the folder's root.
        links: number of links to files to read.
    """

    links: int = 0
    outside: list[str] = msgspec.field(default_factory=list)
    dangling: list[str] = msgspec.field(default_factory=list)
    hidden: list[str] = msgspec.field(default_factory=list)
    otherwise: list[str] = msgspec.field(default_factory=list)

    def warnings(self) -> list[str]:
        """Return a warning for each kind of skipped link."""
        found = []
        if self.outside:
            found.append(
                f"{listed_paths(self.outside)}: not read, the symbolic link leaves the root; name its target to read it"
            )
        if self.dangling:
            found.append(f"{listed_paths(self.dangling)}: link to nowhere, skipped")
        if self.otherwise:
            why = "because kubectl reads .yaml, .yml and .json there"
            found.append(f"{listed_paths(self.otherwise)}: not read in a folder, {why}")
        return found


def find_sources(path: str, skipped: SkippedFiles | None = None, *, allow_empty: bool = False) -> list[Source]:
    """Return the files of a path from the user.

    Args:
        path: a file, a folder, or ``-``.
        skipped: receives the links below the folder that are not read.
        allow_empty: accept a folder without files to read.

    Raises:
        InputError: if the path does not exist, cannot be read, or is a folder without files and `allow_empty` is False.
    """
    if path == STANDARD_INPUT:
        return [Source(path, None)]
    if "\0" in path or not path:
        raise InputError("the path is empty; name a file or folder", Place(shown_path(path) or '""'))
    check_inside_repository(path)
    skipped = SkippedFiles() if skipped is None else skipped
    try:
        status = os.stat(path)
        if not stat.S_ISDIR(status.st_mode):
            return [Source(path, status.st_size if stat.S_ISREG(status.st_mode) else None)]
        found = [Source(file, os.stat(file).st_size) for file in _files_below(path, skipped)]
    except OSError as error:
        raise unreadable(error, path) from error
    if not found and not allow_empty:
        raise nothing_to_read(path, skipped)
    return found


def _files_below(folder: str, skipped: SkippedFiles) -> Iterator[str]:
    root, waiting = root_of(folder), [PathEntry(folder, True)]
    while waiting:
        entry = waiting.pop()
        if entry.is_folder:
            waiting += reversed(entries(entry.path, root, skipped))
        else:
            yield entry.path


class PathEntry(NamedTuple):
    """A file to read, or a folder to search."""

    path: str
    is_folder: bool


def entries(folder: str, root: str, skipped: SkippedFiles) -> list[PathEntry]:
    """Return the files to read and folders to search in a folder, sorted by name.

    Args:
        root: real path that links must not leave.

    Raises:
        OSError: if the folder cannot be read.
        InputError: if its path has more than `MAX_DEPTH` parts, or there are too many links.
    """
    check_depth(folder)
    inside = []
    endings = KUBECTL_ENDINGS if os.path.lexists(os.path.join(root, GIT)) else ENDINGS
    with os.scandir(folder) as found:
        for each in sorted(found, key=lambda each: each.name):
            if each.is_dir(follow_symlinks=False):
                if not is_hidden(each.path):
                    inside.append(PathEntry(each.path, True))
                elif not is_of_git(each.name):
                    skipped.hidden.append(each.path)
            elif each.name.lower().endswith(ENDINGS):
                if is_link := each.is_symlink():
                    skipped.links += 1
                    if skipped.links > _MAX_LINKED_FILES:
                        words = f"more than {_MAX_LINKED_FILES:,} links to files to read; name fewer folders"
                        raise InputError(words, _at(folder))
                if is_link and not is_within(each.path, root):
                    skipped.outside.append(each.path)
                elif is_link and not os.path.exists(each.path):
                    skipped.dangling.append(each.path)
                elif stat.S_ISREG(os.stat(each.path).st_mode):
                    if each.name.endswith(endings):
                        inside.append(PathEntry(each.path, False))
                    else:
                        skipped.otherwise.append(each.path)
    return inside


def check_depth(folder: str) -> None:
    """Raise InputError if the path of a folder has more than `MAX_DEPTH` parts."""
    if folder.count(os.sep) > MAX_DEPTH:
        raise InputError(f"the path of this folder has more than {MAX_DEPTH} parts; move it higher up", _at(folder))


def is_hidden(path: str) -> bool:
    """Return whether the path's last part starts with a dot."""
    return os.path.basename(path).startswith(".")


def in_time(sources: Iterable[Source]) -> Iterator[Source]:
    """Yield the sources.

    Raises:
        InputError: if the next source is a chart or kustomization, `MAX_RENDERING` seconds or more after the first one.
    """
    begun = math.inf
    for source in sources:
        if source.unit is not None:
            now = time.monotonic()
            begun = min(begun, now)
            if now - begun > MAX_RENDERING:
                words = f"charts and kustomizations before this one took {MAX_RENDERING:.0f} seconds; name fewer"
                raise InputError(words, _at(source.path))
        yield source


def read_text(source: Source, stdin: BinaryIO | None = None) -> Text:
    """Return a source's text: decompressed, without a byte order mark, valid UTF-8; rendered for a unit.

    Raises:
        InputError: if it cannot be read, is endless or damaged gzip, or cannot be rendered.
        DecodeError: if it is not UTF-8 text.
        UsageError: if it is standard input, which is closed.
    """
    if source.unit is not None:
        return source.unit.render()
    try:
        if source.path == STANDARD_INPUT:
            if stdin is None:
                raise UsageError("- is standard input, which is not available here")
            data = _read_all(stdin, source)
        else:
            check_inside_repository(source.path)
            with open(source.path, "rb") as file:
                data = _read_all(file, source)
    except OSError as error:
        raise unreadable(error, source.path) from error
    return checked_utf8(data, source)


def _read_all(file: BinaryIO, source: Source) -> bytes:
    """Return the decompressed bytes of a file or stream; for binary data, only the first bytes."""
    begin = file.read(_CHUNK)
    packed = _Chunks(begin, file)
    is_gzip = begin.startswith(GZIP)
    whole = io.BytesIO()  # getvalue() does not copy
    limit = 0
    for chunk in _inflated(packed, source) if is_gzip else packed:
        limit = limit or _limit(chunk)
        whole.write(chunk)
        if b"\0" in chunk:
            break  # `checked_utf8` reports binary data
        size = whole.tell()
        if size > limit:
            raise _too_large(source, limit)
        if is_gzip and size > max(_CHUNK, MAX_RATIO * packed.size):
            words = f"unpacked, this is more than {MAX_RATIO} times as large; unpack it yourself"
            raise InputError(words, _at(source.path))
    return whole.getvalue()


def _limit(begin: bytes) -> int:
    if begin.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"{", b"["):
        return MAX_JSON
    return MAX_LIST if begins_as_list(begin) else MAX_OTHER


class _Chunks:
    """The chunks of a file, and the number of bytes read so far."""

    def __init__(self, begin: bytes, file: BinaryIO) -> None:
        self._next = begin
        self._file = file
        self.size = 0

    def __iter__(self) -> Iterator[bytes]:
        while self._next:
            self.size += len(self._next)
            yield self._next
            self._next = self._file.read(_CHUNK)


def _inflated(chunks: Iterable[bytes], source: Source) -> Iterator[bytes]:
    """Yield decompressed pieces of a gzip file, of at most a chunk each, for all its members."""
    inflater = None
    try:
        for chunk in chunks:
            left = chunk
            while left or inflater is not None:
                if inflater is None:
                    left = left.lstrip(b"\0")  # padding between members
                    if not left:
                        break
                    inflater = zlib.decompressobj(wbits=31)
                piece = inflater.decompress(left, _CHUNK)
                if piece:
                    yield piece
                left = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
                if inflater.eof:
                    inflater = None
                elif not left and len(piece) < _CHUNK:
                    break  # continue with the next chunk
    except zlib.error as error:
        raise InputError(f"this gzip file is damaged: {error}; create it again", _at(source.path)) from error
    if inflater is not None:
        raise InputError("this gzip file ends too early; copy it again", _at(source.path))


def checked_utf8(data: bytes, source: Source) -> Text:
    """Return the text without a byte order mark. Raise DecodeError if it is not UTF-8."""
    for mark, encoding in _FOREIGN_ENCODINGS.items():
        if data.startswith(mark):
            raise DecodeError(f"this is {encoding}; save it as UTF-8", _at(source.path))
    text = Text(source.name, data.removeprefix(codecs.BOM_UTF8))
    if len(text.data) < len(data) and text.data.lstrip()[:1] == b"{":
        try:
            msgspec.json.decode(text.data, type=msgspec.Raw)
        except msgspec.DecodeError as error:
            if "trailing" in str(error):
                words = "after a byte order mark, kubectl reads only the first of several JSON objects; remove the mark"
                raise DecodeError(words, _at(source.path)) from None
    if sum(map(text.data.count, (b",", b"[", b"{"))) > max(MAX_VALUES, len(text.data) // BYTES_PER_VALUE):
        words = f"more than {MAX_VALUES:,} values of under {BYTES_PER_VALUE} bytes on average; split this file"
        raise DecodeError(words, _at(source.path))
    nul = text.data.find(b"\0")
    if nul >= 0:
        raise DecodeError("this is binary (it has NUL bytes); name a YAML or JSON file", place_of_byte(text, nul))
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(text.data)
    for start in range(0, len(view), _CHUNK):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(view[start : start + _CHUNK], final=start + _CHUNK >= len(view))
        except UnicodeDecodeError as error:
            at = start - pending + error.start
            problem = f"byte 0x{text.data[at]:02x} is not UTF-8: save the file as UTF-8"
            raise DecodeError(problem, place_of_byte(text, at)) from None
    return text


def total_size(sources: Sequence[Source]) -> int | None:
    """Return the total bytes of all sources; None if any size is unknown."""
    sizes = [source.size for source in sources]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def listed_paths(paths: Sequence[str]) -> str:
    """Return the first paths, and the number of other paths."""
    return listed([shown_path(each) for each in paths], _PATHS_SHOWN)


def no_object(paths: Sequence[str], which: str = "", notes: Sequence[str] = ()) -> InputError:
    """Return the error for paths without an object.

    Args:
        which: words that restrict the objects, such as " that topospread reads"; "" for none.
        notes: sentences about objects that are not read.
    """
    names = "standard input" if list(paths) == [STANDARD_INPUT] else listed_paths(paths)
    verb = "holds" if len(paths) == 1 else "hold"
    return InputError("; ".join([f"{names} {verb} no object{which} (--allow-empty accepts that)", *notes]))


NO_FILE: Final = "no file in this folder"


def nothing_to_read(path: str, skipped: SkippedFiles) -> InputError:
    """Return the error for a folder without files to read."""
    warnings = skipped.warnings()
    if warnings:
        return InputError(f"{NO_FILE} can be read. {'. '.join(warnings)}", _at(path))
    return InputError(f"{NO_FILE} ends in {', '.join(KUBECTL_ENDINGS)} (or one of these and .gz)", _at(path))


def _at(path: str) -> Place:
    return Place(shown_path(path))


def _too_large(source: Source, limit: int) -> InputError:
    size = f"{limit >> 30} GiB" if limit >> 30 else f"{limit >> 20} MiB"
    hint = "split it into several files" if limit == MAX_JSON else "split it into several files, or write it as JSON"
    return InputError(f"the text is larger than {size}; {hint}", _at(source.path))


def unreadable(error: OSError, path: str) -> InputError:
    """Return the error for the path that an OSError names, or else for `path`."""
    culprit = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else path
    return InputError(f"cannot be read: {error.strerror or error}", _at(culprit))
