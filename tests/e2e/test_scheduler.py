"""``topospread run scheduler`` where it never gets as far as a cluster: help, refusals, and what is missing."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

TOPOSPREAD = Path(sys.executable).parent / "topospread"
SECOND = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: second}]
"""


def run(*words: str, stdin: str = "", **environment: str) -> tuple[int, str]:
    kept = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    done = subprocess.run(
        [TOPOSPREAD, "run", "scheduler", *words],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        env={**kept, "PATH": "", "HOME": "/nonexistent", **environment},
        timeout=60,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def refused(*words: str, stdin: str = "", **environment: str) -> str:
    code, said = run(*words, stdin=stdin, **environment)
    assert code == 2, said
    return said


@pytest.fixture
def second(tmp_path: Path) -> str:
    path = tmp_path / "second.yaml"
    path.write_text(SECOND)
    return str(path)


def test_without_an_api_server_it_says_what_to_give() -> None:
    assert "add --kubeconfig FILE or set KUBECONFIG" in refused()


def test_a_server_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        server = f"http://127.0.0.1:{nobody.getsockname()[1]}"
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(
        f"kind: Config\nclusters: [{{name: c, cluster: {{server: '{server}'}}}}]\n"
        "contexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n"
    )
    said = refused("--kubeconfig", str(kubeconfig), "--secure-port", "0", TOPOSPREAD_PATIENCE="1")
    assert f"{server} cannot be reached" in said


def test_it_can_be_stopped_while_it_waits_for_the_api_server(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(
            f"kind: Config\nclusters: [{{name: c, cluster: {{server: 'http://127.0.0.1:{silent.getsockname()[1]}'}}}}]\n"
            "contexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n"
        )
        command = [TOPOSPREAD, "run", "scheduler", "--kubeconfig", kubeconfig, "--secure-port", "0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            silent.accept()[0].close()
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0


def test_a_second_scheduler_may_not_take_kube_schedulers_lease(second: str) -> None:
    said = refused("--config", second)
    assert "the scheduler for second would share kube-scheduler's lease" in said
    assert "--leader-elect-resource-name topospread" in said


@pytest.mark.parametrize(
    "flag", ["--leader-elect=false", "--leader-elect-resource-name=own", "--leader-elect-resource-namespace=own"]
)
def test_with_another_lease_or_none_it_goes_on(second: str, flag: str) -> None:
    assert "add --kubeconfig FILE" in refused("--config", second, flag)


def test_the_configuration_may_come_from_standard_input() -> None:
    assert "the scheduler for second" in refused("--config", "-", stdin=SECOND)


def test_extenders_are_refused_by_name() -> None:
    given = SECOND + "extenders: [{urlPrefix: 'http://there', filterVerb: filter, weight: 1}]\n"
    said = refused("--config", "-", "--leader-elect=false", stdin=given)
    assert "-: extenders: this scheduler does not call extenders" in said
    assert "http://there" in said


def test_plugins_out_of_tree_are_refused_by_name() -> None:
    given = SECOND.replace("second}", "second, plugins: {filter: {enabled: [{name: NodeResourceTopologyMatch}]}}}")
    said = refused("--config", "-", "--leader-elect=false", stdin=given)
    assert "NodeResourceTopologyMatch" in said


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--leader-elect-lease-duration", "5s"), "leaseDuration must be greater than renewDeadline"),
        (("--leader-elect-retry-period", "fast"), '"fast" is not a duration'),
        (("--leader-elect-resource-lock", "configmaps"), "'configmaps' is not 'leases'"),
        (("--feature-gates", "Nonsense=true"), "unrecognized feature gate: Nonsense"),
        (("--tls-cert-file", "x"), "--tls-cert-file and --tls-private-key-file must be used together"),
        (("--secure-port", "99999"), "--secure-port"),
        (("--config", "/nonexistent.yaml"), "/nonexistent.yaml"),
        (("-v", "11"), "-v"),
        (("--logging-format", "xml"), "xml"),
        (("--kubeconfig", "/nonexistent"), "/nonexistent: this kubeconfig does not exist"),
    ],
)
def test_what_is_wrong_is_named(words: tuple[str, ...], expected: str) -> None:
    assert expected in refused(*words)


def test_a_plain_install_says_which_extra_is_missing() -> None:
    program = (
        "import sys\n"
        "from importlib.machinery import PathFinder\n"
        "find, gone = PathFinder.find_spec, 'prometheus_client'\n"
        "PathFinder.find_spec = classmethod(lambda c, name, *a: None if name == gone else find(name, *a))\n"
        "from topospread.cli.main import main\n"
        "sys.argv = ['topospread', 'run', 'scheduler']\nmain()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert (
        "needs the extra 'live', and prometheus-client is not installed: pip install 'topospread[live]'" in done.stderr
    )
