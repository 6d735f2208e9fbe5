"""``topospread run extender`` where it never gets as far as a cluster: what is refused, and how it is said."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOPOSPREAD = Path(sys.executable).parent / "topospread"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "add --kubeconfig FILE or set KUBECONFIG"),
        (["--kubeconfig", "/nonexistent/config"], "/nonexistent/config"),
        (["--port", "0"], "--port"),
        (["--patience", "soon"], "is not a duration"),
        (["--tls-cert-file", "a.crt"], "must be used together"),
        (["--bind-address", "0.0.0.0"], "requires --client-ca-file"),
        (["--client-ca-file", "ca.crt"], "--client-ca-file requires --tls-cert-file"),
    ],
)
def test_what_cannot_run_is_one_message_and_exit_code_2(words: list[str], said: str) -> None:
    kept = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    done = subprocess.run(
        [TOPOSPREAD, "run", "extender", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**kept, "PATH": "", "HOME": "/nonexistent"},
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
