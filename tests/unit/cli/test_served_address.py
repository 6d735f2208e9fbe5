"""Where servers listen unless an option says otherwise."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from topospread.cli.exporter import exporter as export
from topospread.cli.extender import extender
from topospread.cli.scheduler import scheduler
from topospread.cli.webhook import webhook
from topospread.live.serving import Address


@pytest.mark.parametrize("command", [scheduler, export, extender], ids=lambda command: command.name)
def test_servers_without_authentication_listen_on_loopback_by_default(command: click.Command) -> None:
    (host,) = (option.default for option in command.params if option.name == "bind_address")
    assert Address(str(host)).shows_metrics


@pytest.mark.parametrize("command", [scheduler, webhook], ids=lambda command: command.name)
def test_metrics_have_no_address_that_others_reach_by_default(command: click.Command) -> None:
    (metrics,) = (option.default for option in command.params if option.name == "metrics")
    assert metrics is None or not isinstance(metrics, tuple)
    assert not Address("0.0.0.0").shows_metrics


def test_the_webhook_serves_without_tls_only_if_asked_to_and_on_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Address] = []

    async def serve(policy: object, address: Address) -> None:
        served.append(address)

    monkeypatch.setattr("topospread.webhook.serving.serve_until_asked", serve)
    monkeypatch.setattr("topospread.live.logs.set_up", lambda *_: None)
    refused = CliRunner().invoke(webhook, [])
    assert "--tls-cert-file and --tls-private-key-file are required" in str(refused.exception)
    assert CliRunner().invoke(webhook, ["--insecure-http"], catch_exceptions=False).exit_code == 0
    assert [each.host for each in served] == ["127.0.0.1"]
