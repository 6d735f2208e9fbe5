"""Run kustomize and Helm without a shell, with a clean environment and limits.

The rendered manifests may come from strangers. `rendering` chooses the folders.
"""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Final

import msgspec

from topospread.errors import InputError, Place

from .helm_gate import HELM_HOMES, NO_PLUGINS
from .roots import real_path

TIMEOUT: Final = 120.0
"""Seconds until a program is stopped. A remote base can take kustomize up to half a minute."""
MAX_OUTPUT: Final = 64 << 20
"""Maximum bytes of a program's output."""
MAX_MEMORY: Final = 4 << 30
"""Maximum bytes of address space for a program, and for the Helm that kustomize runs, if the system can limit it."""

_CHUNK: Final = 1 << 16
_MOST_WORDS: Final = 2000
_MISSES_VALUES: Final = re.compile(r"^execution error|\bexecuting \"|values don't meet|values\.schema")
"""Helm errors for a chart that needs more values."""
_VALUES: Final = "; values are given with --helm-values FILE and --helm-set NAME=VALUE"
_FEWER: Final = "render fewer objects at a time"
_NO_HELM: Final = "must specify --enable-helm"
RENDER_HELM: Final = (
    "this kustomization has Helm charts, and kustomize runs Helm only on request; add --render-helm (all "
    "other parts must be local files, because topospread cannot check files that kustomize fetches)"
)
_RAW: Final = "or add --render never to read the files without rendering"
KUSTOMIZE: Final = (("kustomize", "build"), ("kubectl", "kustomize"))
"""Programs and commands that build kustomizations. The first program on the PATH is used."""
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
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
_NOWHERE: Final = "http://127.0.0.1:1"
"""An unreachable proxy. Go sends all requests to it, except requests to localhost."""


class Renderer(msgspec.Struct, frozen=True):
    """A program that renders manifests.

    Attributes:
        command: the word after it.
        name: program and command as typed.
    """

    program: str
    command: str
    name: str

    def run(
        self, words: Sequence[str], place: Place, environment: Mapping[str, str], seconds: float | None = None
    ) -> bytes:
        """Run the program and return its output.

        Args:
            seconds: time limit; `TIMEOUT` by default.

        Raises:
            InputError: if the program fails, cannot be started, takes too long, or prints too much.
        """
        limited = f'ulimit -v {MAX_MEMORY >> 10} 2> /dev/null; exec "$@"'
        command = ["/bin/sh", "-c", limited, "sh", self.program, self.command, *words]
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        try:
            # A new session, so that the Helm that kustomize runs is stopped, too.
            process = subprocess.Popen(
                command, stdin=null, stdout=pipe, stderr=pipe, env=dict(environment), start_new_session=True
            )
        except OSError as error:
            raise InputError(f"{self.program} cannot be run: {error.strerror or error}", place) from error
        with process:
            try:
                printed, errors = self._output(process, place, seconds or TIMEOUT)
            finally:
                if process.poll() is None:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
        if process.returncode:
            if b"out of memory" in errors:
                raise InputError(f"`{self.name}` needs more than {MAX_MEMORY >> 30} GiB of memory; {_FEWER}", place)
            said = _said(errors)
            hint = _VALUES if self.command == "template" and _MISSES_VALUES.search(said) else ""
            raise InputError(RENDER_HELM if _NO_HELM in said else f"`{self.name}` failed: {said}{hint}", place)
        return printed

    def _output(self, process: subprocess.Popen[bytes], place: Place, seconds: float) -> tuple[bytes, bytes]:
        """Return stdout and stderr of a process after its end."""
        assert process.stdout is not None
        assert process.stderr is not None
        parts: dict[IO[bytes], list[bytes]] = {process.stdout: [], process.stderr: []}
        room, deadline = MAX_OUTPUT, time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            for each in parts:
                selector.register(each, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(max(deadline - time.monotonic(), 0))
                if not ready:
                    raise self._too_slow(place, seconds)
                for key, _ in ready:
                    file = next(each for each in parts if each is key.fileobj)
                    data = os.read(key.fd, _CHUNK)
                    room -= len(data)
                    if room < 0:
                        raise InputError(f"`{self.name}` printed more than {MAX_OUTPUT >> 20} MiB; {_FEWER}", place)
                    if data:
                        parts[file].append(data)
                    else:
                        selector.unregister(file)
        try:
            process.wait(max(deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            raise self._too_slow(place, seconds) from None
        return b"".join(parts[process.stdout]), b"".join(parts[process.stderr])

    def _too_slow(self, place: Place, seconds: float) -> InputError:
        return InputError(f"`{self.name}` took longer than {seconds:.0f} seconds; run it by hand to see why", place)


@contextlib.contextmanager
def scrubbed_environment(*, network: bool) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield a temporary folder, and an environment in which it is the home folder.

    The caller's variables may contain secrets, which kustomize would write into manifests that name them.

    Args:
        network: whether the programs may fetch bases and charts.
    """
    with tempfile.TemporaryDirectory(prefix="topospread-") as given:
        folder = real_path(given)
        environment = {
            "PATH": search_path(),
            "HOME": folder,
            "TMPDIR": folder,
            **{name: os.path.join(folder, name.lower()) for name in HELM_HOMES},
            **NO_PLUGINS,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            # No ssh: it uses the keys in the home folder from the system's user database.
            "GIT_ALLOW_PROTOCOL": "https:http" if network else "none",
        }
        for name in _PROXIES:
            if network and name in os.environ:
                environment[name] = _without_password(os.environ[name])
            elif not network and name.lower() != "no_proxy":
                environment[name] = _NOWHERE
        yield folder, environment


def _without_password(proxy: str) -> str:
    """Return the address of a proxy without its user and password."""
    user, at, address = proxy.rpartition("@")
    return "".join(user.partition("://")[:2]) + address if at and "://" in user else address


def search_path(environment: Mapping[str, str] = os.environ) -> str:
    """Return the PATH without relative folders, so that programs in the working directory are not run."""
    return absolute_entries(environment.get("PATH", os.defpath))


def absolute_entries(paths: str) -> str:
    """Return a list of paths without the relative ones. An empty one is the working directory."""
    return os.pathsep.join(filter(os.path.isabs, paths.split(os.pathsep)))


def find_renderer(known: tuple[tuple[str, str], ...], place: Place) -> Renderer:
    """Return the first program on the PATH, of `KUSTOMIZE` or `HELM`.

    Raises:
        InputError: if no program is found; the message names the program to install.
    """
    for name, command in known:
        program = shutil.which(name, path=search_path())
        if program is not None:
            return Renderer(program, command, f"{name} {command}")
    raise InputError(_MISSING[known], place)


def _said(stderr: bytes) -> str:
    """Return the error message of a failed program on one line, without preceding warnings."""
    text = stderr.decode("utf-8", "replace")
    words = " ".join(text[max(f"\n{text}".rfind("\nError: "), 0) :].split())
    words = words.removeprefix("Error: ").removesuffix(" Use --debug flag to render out invalid YAML")
    return (words if len(words) <= _MOST_WORDS else f"{words[:_MOST_WORDS]}…") or "it did not say why"
