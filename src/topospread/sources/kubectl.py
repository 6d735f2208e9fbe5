"""kubectl as a way to read an API server: one request a call, its errors in words. What is asked for others decide."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from topospread.errors import InputError, Place

PROGRAM = "kubectl"
_FROM_SERVER = re.compile(r"Error from server(?: \((\w+)\))?: (.*)", re.DOTALL)
_MISSING = (
    "kubectl is not on the PATH, and a snapshot is taken through it: install it, or take one elsewhere "
    "(docs/how-to/snapshot.md shows how to without topospread)"
)


class RefusedError(InputError):
    """The API server answered, and refused.

    Attributes:
        reason: the status's: ``Forbidden``, ``NotFound``, ``Expired``, …; "" when it gave none.
    """

    def __init__(self, reason: str, message: str, place: Place) -> None:
        self.reason = reason
        super().__init__(message, place)


@dataclass(frozen=True, slots=True)
class Kubectl:
    """kubectl with the options that say which cluster is meant.

    Attributes:
        program: path of kubectl.
        options: ``--context``, ``--kubeconfig``, as kubectl takes them.
    """

    program: str
    options: tuple[str, ...] = ()

    @classmethod
    def found(cls, context: str | None = None, kubeconfig: str | None = None) -> Kubectl:
        """The kubectl of the ``PATH``.

        Raises:
            InputError: there is none.
        """
        program = shutil.which(PROGRAM)
        if program is None:
            raise InputError(_MISSING)
        options = (("--context", context), ("--kubeconfig", kubeconfig))
        return cls(program, tuple(f"{name}={value}" for name, value in options if value))

    def get_raw(self, path: str) -> bytes:
        """What the API server answers at a path of its API.

        Raises:
            RefusedError: it refuses.
            InputError: it cannot be reached, or kubectl itself fails.
        """
        place = Place(f"kubectl get --raw {path.partition('&continue=')[0]}")
        done = self._run(["get", "--raw", path], place)
        if done.returncode:
            raise _failed(done.stderr.decode("utf-8", "replace").strip(), place)
        return done.stdout

    def _run(self, words: Sequence[str], place: Place) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                [self.program, *self.options, *words], stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
        except OSError as error:
            raise InputError(f"{self.program} cannot be run: {error.strerror or error}", place) from error


def _failed(words: str, place: Place) -> InputError:
    """What kubectl wrote when it failed, on one line."""
    found = _FROM_SERVER.search(words)
    text = " ".join((found[2] if found else words).split()) or "kubectl failed and did not say why"
    if found:
        return RefusedError(found[1] or "", text, place)
    return InputError(text.removeprefix("error: "), place)
