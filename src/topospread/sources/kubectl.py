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


_PROMPT = "Please enter "
"""How kubectl asks for a user name where the kubeconfig holds no credentials (client-go's PromptingAuthLoader)."""
_NO_CREDENTIALS = (
    "kubectl has no credentials for this cluster: the kubeconfig's context names no user, or one without a token, a "
    "certificate or an exec plugin. `kubectl config view --minify` shows what it uses; log in, or choose another with "
    "--context or --kubeconfig"
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
        options: ``--context``, ``--kubeconfig``, ``--as``, …, as kubectl takes them.
    """

    program: str
    options: tuple[str, ...] = ()

    @classmethod
    def found(
        cls,
        context: str | None = None,
        kubeconfig: str | None = None,
        *,
        user: str | None = None,
        groups: Sequence[str] = (),
        uid: str | None = None,
    ) -> Kubectl:
        """The kubectl of the ``PATH``, which asks as ``user``, of ``groups`` and with ``uid``, where they are given.

        Raises:
            InputError: there is none.
        """
        program = shutil.which(PROGRAM)
        if program is None:
            raise InputError(_MISSING)
        options = [("--context", context), ("--kubeconfig", kubeconfig), ("--as", user), ("--as-uid", uid)]
        options += [("--as-group", group) for group in groups]
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
            words = done.stderr.decode("utf-8", "replace").strip()
            if _PROMPT in words or _PROMPT.encode() in done.stdout or words == "error: EOF":
                raise InputError(_NO_CREDENTIALS, place)
            raise _failed(words, place)
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
