"""Options for a server's address, certificate and metrics, shared by all servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from topospread.errors import UsageError
from topospread.whole_number import whole_number

if TYPE_CHECKING:
    from topospread.live.serving import Address

Command = TypeVar("Command", bound=Callable[..., Any])

_PATH = click.Path()


class AddressAndPort(click.ParamType[tuple[str, int]]):
    """An address and a port, as in ``127.0.0.1:9402`` or ``[::1]:9402``."""

    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """Return the address without brackets, and the port; invalid input is a usage error."""
        host, _, port = str(value).rpartition(":")
        number = whole_number(port)
        if not host or number is None or not 0 < number < 1 << 16:
            self.fail(f'"{value}" is not an address and a port; write it as 127.0.0.1:9402', param, ctx)
        return host.strip("[]"), number


METRICS_OPTION = click.option(
    "--metrics-bind-address",
    "metrics",
    type=AddressAndPort(),
    metavar="IP:PORT",
    help="Serve metrics at this address and port.",
)

CLIENT_CA_OPTION = click.option(
    "--client-ca-file", type=_PATH, metavar="FILE", help="Require client certificates of this certificate authority."
)


def tls_options(command: Command) -> Command:
    """Add the options ``--tls-cert-file`` and ``--tls-private-key-file``."""
    key = click.option(
        "--tls-private-key-file", type=_PATH, metavar="FILE", help="Serve HTTPS with this certificate and its key."
    )
    certificate = click.option(
        "--tls-cert-file", type=_PATH, metavar="FILE", help="Serve HTTPS with this certificate and its key."
    )
    return certificate(key(command))


def served_at(given: Mapping[str, Any], port: int, option: str) -> Address:
    """Return the address to serve at.

    Args:
        option: name of the port option, for errors.

    Raises:
        UsageError: if an option requires another that is missing.
    """
    from topospread.live.serving import Address

    certificate, key = given["tls_cert_file"] or "", given["tls_private_key_file"] or ""
    if bool(certificate) != bool(key):
        raise UsageError("--tls-cert-file and --tls-private-key-file must be used together")
    client_ca = given.get("client_ca_file") or ""
    if client_ca and not certificate:
        raise UsageError("--client-ca-file requires --tls-cert-file and --tls-private-key-file")
    return Address(given["bind_address"], port, certificate, key, option, client_ca, given.get("metrics"))
