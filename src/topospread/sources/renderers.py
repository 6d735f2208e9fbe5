"""kustomize and Helm as programs: found on the PATH, run without a shell, their errors in words; not what they make."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from typing import Final

import msgspec

from topospread.errors import InputError, Place

TIMEOUT: Final = 120.0
"""Seconds after which a program has hung: bases of other repositories take kustomize up to half a minute each."""

_MOST_WORDS: Final = 2000
_MISSES_VALUES: Final = re.compile(r"^execution error|\bexecuting \"|values don't meet|values\.schema")
"""What Helm says where a chart cannot do with its own values alone, as often it cannot."""
_VALUES: Final = "; values are given with --helm-values FILE and --helm-set NAME=VALUE"
_RAW: Final = "--raw reads the files as they are"
KUSTOMIZE: Final = (("kustomize", "build"), ("kubectl", "kustomize"))
"""Programs that build kustomizations, each with its command, the first that is there is taken."""
HELM: Final = (("helm", "template"),)
_MISSING: Final = {
    KUSTOMIZE: (
        "this is built with kustomize, and neither kustomize nor kubectl is on the PATH: install one "
        f"(https://kubectl.docs.kubernetes.io/installation/kustomize/); {_RAW}"
    ),
    HELM: (
        "this chart is rendered with `helm template`, and helm is not on the PATH: install it "
        f"(https://helm.sh/docs/intro/install/); {_RAW}"
    ),
}


class Renderer(msgspec.Struct, frozen=True):
    """A program that makes manifests.

    Attributes:
        program: its path.
        command: the word after it.
        name: the two as a person types them.
    """

    program: str
    command: str
    name: str

    def run(self, words: Sequence[str], place: Place) -> bytes:
        """What it prints.

        Raises:
            InputError: it fails, cannot be run, or does not come to an end.
        """
        try:
            done = subprocess.run(
                [self.program, self.command, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=TIMEOUT,
            )
        except subprocess.TimeoutExpired:
            raise InputError(f"`{self.name}` did not end within {TIMEOUT:.0f} seconds", place) from None
        except OSError as error:
            raise InputError(f"{self.program} cannot be run: {error.strerror or error}", place) from error
        if done.returncode:
            said = _said(done.stderr)
            hint = _VALUES if self.command == "template" and _MISSES_VALUES.search(said) else ""
            raise InputError(f"`{self.name}` failed: {said}{hint}", place)
        return done.stdout


def find_renderer(known: tuple[tuple[str, str], ...], place: Place) -> Renderer:
    """The first of some programs that is on the PATH: `KUSTOMIZE` or `HELM`.

    Raises:
        InputError: none of them is there; says what to install.
    """
    for name, command in known:
        program = shutil.which(name)
        if program is not None:
            return Renderer(program, command, f"{name} {command}")
    raise InputError(_MISSING[known], place)


def _said(stderr: bytes) -> str:
    """What a program wrote when it failed, on one line; without the warnings before it."""
    text = stderr.decode("utf-8", "replace")
    words = " ".join(text[max(f"\n{text}".rfind("\nError: "), 0) :].split())
    words = words.removeprefix("Error: ").removesuffix(" Use --debug flag to render out invalid YAML")
    return (words if len(words) <= _MOST_WORDS else f"{words[:_MOST_WORDS]}…") or "it did not say why"
