"""How long an admission request takes: a process of `topospread run webhook` asked over HTTPS, one request at a time.

    python -m benchmarks.admission [--count N]

Deployments that are right, wrong and without constraints by turns, created and updated. Exit code 1 where the 99th
percentile is over the target.
"""

from __future__ import annotations

import argparse
import http.client
import json
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.unit.webhook.admission_requests import constraint, deployment, request

TARGET = 0.020
"""Seconds for a Deployment, at the 99th percentile."""
WARM = 50
POLICY = Path(__file__).resolve().parent.parent / "docs" / "how-to" / "admission" / "policy.yaml"
TOPOSPREAD = Path(sys.executable).parent / "topospread"


def reviews() -> list[bytes]:
    """What is asked, by turns."""
    made = [deployment(constraint()), deployment(constraint("other")), deployment()]
    asked = [request(each) for each in made] + [request(made[1], made[0])]
    head = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
    return [json.dumps(head | {"request": each}).encode() for each in asked]


def started(folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    """The process, and where it listens."""
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=webhook", "-days", "2"]
    files = [folder / "tls.crt", folder / "tls.key"]
    subprocess.run([*words, "-out", files[0], "-keyout", files[1]], check=True, capture_output=True)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    flags = ["--policy", POLICY, "--tls-cert-file", files[0], "--tls-private-key-file", files[1]]
    process = subprocess.Popen([TOPOSPREAD, "run", "webhook", *flags, "--host", "127.0.0.1", "--port", str(port)])
    return process, port


def ask(connection: http.client.HTTPSConnection, path: str, body: bytes) -> float:
    """Seconds until the whole answer is there."""
    begun = time.perf_counter()
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    answered: dict[str, Any] = json.loads(answer.read())
    took = time.perf_counter() - begun
    assert answered["response"]["uid"] == "1"
    return took


def connected(port: int) -> http.client.HTTPSConnection:
    """A connection, once somebody listens."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    until = time.monotonic() + 60
    while True:
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=trusting)
        try:
            connection.connect()
            return connection
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def main() -> int:
    """Ask, and print percentiles in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="requests of each kind")
    count = parser.parse_args().count
    within = True
    with tempfile.TemporaryDirectory() as folder:
        process, port = started(Path(folder))
        try:
            connection, bodies = connected(port), reviews()
            for path in ("/validate", "/mutate"):
                took = [ask(connection, path, bodies[i % len(bodies)]) for i in range(count + WARM)][WARM:]
                took.sort()
                shown = [f"p{part} {took[int(len(took) * part / 100)] * 1000:.1f} ms" for part in (50, 95, 99)]
                print(f"{path:<10} {count} requests  {'  '.join(shown)}  longest {took[-1] * 1000:.1f} ms")
                within = within and took[int(len(took) * 0.99)] < TARGET
        finally:
            process.terminate()
            process.wait()
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
