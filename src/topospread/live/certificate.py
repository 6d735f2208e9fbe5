"""A server certificate and client CA, reloaded when their files change."""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
from typing import Final

from topospread.errors import InputError, Place

log = logging.getLogger(__name__)

BETWEEN_LOOKS: Final = 1.0
"""Seconds between two checks of the files. A changed Secret reaches a pod's volume within about a minute."""


class Certificate:
    """A certificate and its key in two files.

    Args:
        certificate, key: PEM files, like in a Secret of type kubernetes.io/tls; ``key`` is "" if the first file
            contains both.
        client_ca: PEM file with the CAs of client certificates; "" to request none.

    Attributes:
        context: TLS context for a server. New connections use the current files.

    Raises:
        InputError: if the files are unusable.
    """

    def __init__(self, certificate: str, key: str, client_ca: str = "") -> None:
        self._files = (certificate, key) if key else (certificate,)
        self._client_ca = client_ca
        self._seen = self._stamps()
        try:
            self.context = self._empty()
        except (OSError, ssl.SSLError) as error:
            raise InputError(
                f"the authority cannot be used ({_why(error)})", Place("--client-ca-file", object=client_ca)
            ) from None
        try:
            self._newest = self._load()
        except (OSError, ssl.SSLError) as error:
            raise InputError(
                f"certificate and key cannot be used ({_why(error)})", Place("--tls-cert-file", object=certificate)
            ) from None
        self.context.sni_callback = self._choose

    async def follow(self) -> None:
        """Check the files until cancelled."""
        while True:
            await asyncio.sleep(BETWEEN_LOOKS)
            self.refresh()

    def refresh(self) -> None:
        """Reload changed files. Log an error and keep the old certificate if they are unusable."""
        stamps = self._stamps()
        if stamps == self._seen or None in stamps:
            return
        self._seen = stamps
        try:
            self._newest = self._load()
        except (OSError, ssl.SSLError) as error:
            log.warning("the new certificate cannot be used, the old one is kept: %s", _why(error))
            return
        log.info("the certificate was reloaded")

    def _choose(self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        connection.context = self._newest

    def _load(self) -> ssl.SSLContext:
        context = self._empty()
        context.load_cert_chain(*self._files)
        return context

    def _empty(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        if self._client_ca:
            # Client certificates are optional, because kubelet's probes have none. Each path that needs a client
            # certificate checks it.
            context.verify_mode = ssl.CERT_OPTIONAL
            context.load_verify_locations(self._client_ca)
        return context

    def _stamps(self) -> tuple[tuple[int, int, int] | None, ...]:
        return tuple(_stamp(path) for path in (*self._files, *filter(None, [self._client_ca])))


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _why(error: OSError) -> str:
    return str(getattr(error, "reason", None) or error.strerror or error)
