"""An API server for as long as something runs, and ports for it; what is created in it others decide."""

from __future__ import annotations

import os
import random
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CONTROL_PLANE = Path(__file__).parent / "controlplane.sh"
WITH_GROUPS = "--feature-gates=GenericWorkload=true --runtime-config=scheduling.k8s.io/v1beta1=true"
"""Flags of an API server that serves PodGroups and Workloads, which are off by default."""


@contextmanager
def api_server(programs: Path, folder: Path, flags: str = "") -> Iterator[Path]:
    """One with nothing in it, beside its etcd: its kubeconfig. ``folder`` is where it keeps what it needs.

    ``flags`` are more of kube-apiserver's, with spaces between them.
    """
    words = (str(CONTROL_PLANE), "up", str(programs), str(folder), str(three_free_ports()))
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"APISERVER_FLAGS": flags})
    try:
        yield folder / "kubeconfig"
    finally:
        subprocess.run([CONTROL_PLANE, "down", folder], check=True)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def three_free_ports() -> int:
    """The first of three free ports in a row."""
    for base in random.sample(range(20000, 30000, 3), 200):
        try:
            for port in range(base, base + 3):
                with socket.socket() as one:
                    one.bind(("127.0.0.1", port))
        except OSError:
            continue
        return base
    raise RuntimeError("no three free ports in a row")
