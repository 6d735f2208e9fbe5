"""Options that say which live cluster is read, and the line that counts what has been read of it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from topospread.live.access import Access

Command = TypeVar("Command", bound=Callable[..., Any])

PATH = click.Path()
_REDRAW = 0.1

ACCESS_OPTIONS = (
    click.option("--context", metavar="NAME", help="The kubeconfig's context, as for kubectl."),
    click.option("--kubeconfig", type=PATH, metavar="FILE", help="The kubeconfig, as for kubectl."),
    click.option("--as", "user", metavar="USER", help="Ask as this user or service account, as kubectl does."),
    click.option("--as-group", multiple=True, metavar="GROUP", help="With --as: of this group; may be given again."),
    click.option("--as-uid", metavar="UID", help="With --as: with this UID."),
)


def access_options(command: Command) -> Command:
    """``--context --kubeconfig --as --as-group --as-uid``."""
    for decorator in reversed(ACCESS_OPTIONS):
        command = decorator(command)
    return command


def read_access(given: Mapping[str, Any]) -> Access:
    """What the options of `ACCESS_OPTIONS` say.

    Raises:
        UsageError: the extra ``live`` is not installed, or a group is named without a user.
    """
    from topospread.live.extra import require_extra

    require_extra()
    from topospread.live.access import Access

    return Access(given["kubeconfig"], given["context"], given["user"], tuple(given["as_group"]), given["as_uid"])


class ReadingLine:
    """On a terminal, a line on stderr that counts what has been read of a cluster."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._drawn = 0.0
        self._read: dict[str, tuple[int, int]] = {}

    def __call__(self, resource: str, done: int, left: int | None) -> None:
        """See ListsProgress."""
        self._read[resource] = (done, left or 0)
        now = time.monotonic()
        if not self._shown or now - self._drawn < _REDRAW:
            return
        self._drawn = now
        read = sum(done for done, _ in self._read.values())
        left = sum(left for _, left in self._read.values())
        under_way = max(self._read, key=lambda each: self._read[each][1])
        of = f" of {read + left:,}" if left else ""
        sys.stderr.write(f"\r\x1b[2Kreading the cluster  {read:,}{of} objects ({under_way})")
        sys.stderr.flush()

    def clear(self) -> None:
        """Leave the line empty."""
        if self._drawn:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
