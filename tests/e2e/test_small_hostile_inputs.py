"""Small inputs whose work would multiply end within seconds, with little memory."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.command import forked

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: c, image: i}]}
"""
BOMB = "".join(
    f"a{level}: &a{level} {{<<: [{', '.join([f'*a{level - 1}'] * 10)}]}}\n" if level else "a0: &a0 {k: v}\n"
    for level in range(9)
)
BRACKETS = {"name": "c", "image": "i", "[" * 100_000: 1}
IGNORED = ";".join(f"selector-not-own{number}" for number in range(10_000))
FILES = {
    "unknown rules": {
        "a.yaml": POD.replace("name: a", f'name: a, annotations: {{topospread.dev/ignore: "{IGNORED}"}}')
    },
    "a configuration in a ConfigMap": {
        "a.yaml": POD,
        "topospread.toml": 'config = "map.yaml"\n',
        "map.yaml": json.dumps(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "c"},
                "data": {"c.yaml": BOMB + "kind: KubeSchedulerConfiguration\n"},
            }
        ),
    },
    "a key of many parts": {"a.yaml": POD, "topospread.toml": ".".join("a" * 40_000) + " = 1\n"},
    "a key of many quoted parts": {"a.yaml": POD, "topospread.toml": ".".join(['"!"'] * 20_000) + " = 1\n"},
    "a key behind a text of lines": {
        "a.yaml": POD,
        "topospread.toml": 'x = {a = """\n""", ' + ".".join(['"!"'] * 20_000) + " = 1}\n",
    },
    "zeros in a quantity": {
        "a.yaml": POD.replace("image: i", "image: i, resources: {requests: {cpu: '%sx'}}" % ("0" * 20_000)),
    },
    "empty lines": {"a.yaml": POD, "topospread.toml": '"on" = "zones=3,nodes=3"\n' + "\n" * 300_000},
    "brackets in a key": {
        "a.json": json.dumps(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [BRACKETS]}}
        )
    },
    "brackets in a glob": {"a.yaml": POD, ".topospread.yaml": f'lint: {{exclude: ["{"[" * 100_000}"]}}\n'},
}


@pytest.mark.parametrize("command", ["lint", "simulate"])
@pytest.mark.parametrize("name", FILES)
def test_it_ends(tmp_path: Path, name: str, command: str) -> None:
    for file, text in FILES[name].items():
        (tmp_path / file).write_text(text)
    manifest = next(file for file in FILES[name] if file.startswith("a."))
    words = ["lint", manifest] if command == "lint" else ["simulate", "-f", manifest, "--on", "zones=3,nodes=3"]
    begun = time.monotonic()
    done = forked(*words, cwd=tmp_path)
    assert done.returncode in (0, 1, 2, 4), done.stderr
    assert time.monotonic() - begun < 60
