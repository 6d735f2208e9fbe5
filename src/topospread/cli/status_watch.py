"""``topospread status --watch``: redraw the status whenever the live cluster changes."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import click

from topospread.errors import InputError, TopospreadError, UsageError
from topospread.text import for_terminal, message_lines, one_line

from .live_options import LIVE, read_access
from .output import wants
from .terminal import draw, width

if TYPE_CHECKING:
    from topospread.api.inventory import Inventory
    from topospread.live.follow_state import FollowState
    from topospread.live.followed_cluster import FollowedCluster
    from topospread.sources.needed_kinds import NeededKinds

_LOOK = 0.2
"""Seconds between two checks for changes."""
_AT_MOST_EVERY = 1.0
_RESTS = 2.0
"""Minimum pause between two texts, as a multiple of the time that the last text took."""
_PATIENCE = 120.0
"""Seconds within which all lists must arrive."""
_PROMPT = 1.5
"""Seconds after which a message explains the missing output."""
_READING = "the cluster is being read"


def check_watch(given: Mapping[str, Any]) -> None:
    """Raise UsageError if ``--watch`` has no live cluster, or the output format of a file."""
    if given["paths"] or given["cluster"] not in (None, LIVE):
        raise UsageError("--watch requires a live cluster: leave out PATH, and --on unless it is live")
    written = next((f"-o {name}={path}" for name, path in given["outputs"] if path), "")
    if written or wants(given, "html", "svg"):
        raise UsageError(f"{written or '-o html and -o svg'} cannot be combined with --watch, which never ends")


def watch(given: Mapping[str, Any], needed: NeededKinds, text_of: Callable[[Inventory], str]) -> None:
    """Show the text of the current cluster after each change, until Ctrl-C. Raise InputError if it is unreachable."""
    access = read_access(given)
    from topospread.live.followed_cluster import following

    shown: WatchView = Screen() if sys.stdout.isatty() else Printed(plain=wants(given, "json", "yaml"))
    with ExitStack() as stack:
        with Waiting(shown) as waiting:
            followed = stack.enter_context(following(access, kinds=needed.kinds))
            _until_ready(followed, waiting)
            waiting.why = "the status is computed"
            made = _made(text_of, followed)
        while True:
            shown.draw(made.text, made.state)
            until = time.monotonic() + max(_AT_MOST_EVERY, _RESTS * made.took)
            while followed.state.version == made.state.version or time.monotonic() < until:
                time.sleep(_LOOK)
                shown.mark(followed.state)
            made = _made(text_of, followed)


@dataclass(frozen=True)
class _Made:
    """A text, the cluster state it shows, and the seconds it took."""

    text: str
    state: FollowState
    took: float


def _made(text_of: Callable[[Inventory], str], followed: FollowedCluster) -> _Made:
    """Return the text, or an error message instead, such as for a missing namespace."""
    state, begun = followed.state, time.monotonic()
    try:
        text = text_of(followed.inventory())
    except TopospreadError as error:
        text = f"{message_lines(str(error))}\n"
    return _Made(text, state, time.monotonic() - begun)


def _until_ready(followed: FollowedCluster, waiting: Waiting) -> None:
    until = time.monotonic() + _PATIENCE
    while not (state := followed.state).ready:
        if time.monotonic() > until:
            raise InputError(f"the cluster could not be read in {_PATIENCE:.0f} s: {state.last_error}")
        waiting.why = f"{_READING}; {state.last_error}" if state.last_error else _READING
        time.sleep(_LOOK)


def head_line(state: FollowState, now: float) -> str:
    """Return the current time, and for an outdated state its time and the reason."""
    from topospread.api.timestamps import timestamp

    if state.behind_since is None:
        return f"{timestamp(now)}  up to date"
    last = f"the last state is of {timestamp(state.behind_since)}; {one_line(state.last_error)}"
    return f"{timestamp(now)}  not up to date: {last}"


class Waiting:
    """A context manager that shows why its block takes long, and for how long; ``why`` may change meanwhile."""

    def __init__(self, shown: WatchView, prompt: float = _PROMPT) -> None:
        self._shown = shown
        self._prompt = prompt
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="waiting", daemon=True)
        self.why = "no answer from the API server yet"

    def __enter__(self) -> Waiting:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        begun, rest = time.monotonic(), self._prompt
        while not self._end.wait(rest):
            self._shown.wait(self.why, time.monotonic() - begun)
            rest = _LOOK


class WatchView(Protocol):
    """An output for the repeated text."""

    def wait(self, why: str, seconds: float) -> None:
        """Show that there is no text yet, and why. Called often."""

    def draw(self, text: str, state: FollowState) -> None:
        """Show the text."""

    def mark(self, state: FollowState) -> None:
        """Show whether the text is up to date. Called often."""


class Screen:
    """A terminal. The text is redrawn in place and cut to the screen."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._head = ""
        draw(sys.stdout, "\x1b[2J")

    def wait(self, why: str, seconds: float) -> None:
        """Show the reason for waiting; see WatchView."""
        draw(sys.stdout, f"\x1b[H{one_line(f'{why}, for {seconds:.0f} s')[: width()]}\x1b[K\n\x1b[J")
        sys.stdout.flush()

    def draw(self, text: str, state: FollowState) -> None:
        """Draw the text; see WatchView."""
        self._lines = text.rstrip("\n").split("\n")
        self._paint(state)

    def mark(self, state: FollowState) -> None:
        """Redraw the head line; see WatchView. The shown time stays while nothing changes."""
        if state.behind_since is not None or "not up to date" in self._head:
            self._paint(state)

    def _paint(self, state: FollowState) -> None:
        import shutil

        self._head = head_line(state, time.time())
        rows = max(3, shutil.get_terminal_size().lines) - 1
        shown = [self._head[: width()], "", *self._lines]
        if len(shown) > rows:
            left = len(shown) - rows + 1
            shown = [*shown[: rows - 1], f"… {left} lines more: -n and -l show less"]
        draw(sys.stdout, "\x1b[H" + "".join(f"{for_terminal(line)}\x1b[K\n" for line in shown) + "\x1b[J")
        sys.stdout.flush()


class Printed:
    """An output that is not a terminal. The text is printed again when it changes.

    Args:
        plain: whether to print nothing between texts, because they are documents.
    """

    def __init__(self, *, plain: bool) -> None:
        self._plain = plain
        self._text: str | None = None
        self._behind = False
        self._waits = ""

    def wait(self, why: str, seconds: float) -> None:
        """Print each reason once on stderr; see WatchView."""
        if why != self._waits:
            self._waits = why
            click.echo(f"{one_line(why)}, for {seconds:.0f} s", err=True)

    def draw(self, text: str, state: FollowState) -> None:
        """Print the text if it changed; see WatchView."""
        if text == self._text:
            return
        if not self._plain:
            sys.stdout.write(f"{'' if self._text is None else chr(10)}{head_line(state, time.time())}\n\n")
        self._text = text
        sys.stdout.write(text)
        sys.stdout.flush()

    def mark(self, state: FollowState) -> None:
        """Print on stderr when the text becomes outdated or up to date; see WatchView."""
        behind = state.behind_since is not None
        if behind != self._behind:
            self._behind = behind
            click.echo(f"{'warning: ' if behind else ''}{head_line(state, time.time())}", err=True)
