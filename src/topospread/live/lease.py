"""Leader election through a Lease: sends the requests that `election.Election` decides on.

Source: client-go/tools/leaderelection (``acquire``, ``renew``, ``tryRelease``) and resourcelock/leaselock.go; used like
in cmd/kube-scheduler: the lease is released on stop, and the identity is ``host_uid``.
"""

from __future__ import annotations

import asyncio
import logging
import random
import socket
import time
from datetime import UTC, datetime
from typing import Any, Protocol
from uuid import uuid4

import msgspec

from topospread.live.api_error import ApiError, RequestError
from topospread.live.client import ApiClient
from topospread.live.election import JITTER, Election, Record, Timing

log = logging.getLogger(__name__)


class LeaseObserver(Protocol):
    """Receives the progress of an election."""

    def leads(self, name: str, leads: bool) -> None:
        """Report whether this candidate leads (``leader_election_master_status``)."""

    def slow_path(self, name: str) -> None:
        """Report that a renewal had to read the lease first (``leader_election_slowpath_total``)."""


def own_identity() -> str:
    """Return an identity like kube-scheduler's: host name and a UUID, which distinguishes processes on a host."""
    return f"{socket.gethostname()}_{uuid4()}"


class LeaseLock:
    """Reads, creates and updates the Lease object. Updates keep its other fields."""

    def __init__(self, client: ApiClient, namespace: str, name: str, timeout: float) -> None:
        self._client = client
        self.namespace, self.name = namespace, name
        self._timeout = timeout
        self._lease: dict[str, Any] | None = None

    async def get(self) -> Record | None:
        """Read the lease; ``None`` if it does not exist. Raise RequestError if it cannot be read."""
        try:
            self._lease = await self._send("GET", f"/{self.name}")
        except ApiError as error:
            if error.status != 404:
                raise
            return None
        return record_of(self._lease.get("spec") or {})

    async def write(self, record: Record) -> None:
        """Create or update the lease. Raise RequestError if another candidate was faster, or it cannot be written."""
        if self._lease is None:
            fresh = {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {"name": self.name, "namespace": self.namespace},
                "spec": spec_of(record),
            }
            self._lease = await self._send("POST", "", fresh)
        else:
            self._lease = await self._send("PUT", f"/{self.name}", self._lease | {"spec": spec_of(record)})

    @property
    def known(self) -> bool:
        """True if the lease was read or written, so that it can be updated."""
        return self._lease is not None

    def forget(self) -> None:
        """Forget the lease, because it was deleted."""
        self._lease = None

    async def _send(self, method: str, name: str, body: object = None) -> dict[str, Any]:
        path = f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases{name}"
        answer = await self._client.request(method, path, body=body, timeout=self._timeout)
        return msgspec.json.decode(answer, type=dict[str, Any])


class LeaderElection:
    """A candidate. Call ``acquire``, then ``hold`` while leading, then ``release``; ``now`` returns seconds."""

    def __init__(self, lock: LeaseLock, identity: str, timing: Timing, observer: LeaseObserver) -> None:
        timing.check()
        self._lock = lock
        self._timing = timing
        self._observer = observer
        self._reported = ""
        self.election = Election(identity, timing, time.monotonic)
        observer.leads(lock.name, False)

    async def acquire(self, stop: asyncio.Event) -> bool:
        """Attempt to lead until it succeeds. Return False if a stop is requested first."""
        log.info('Attempting to acquire leader lease... lock="%s/%s"', self._lock.namespace, self._lock.name)
        while not stop.is_set():
            if await self._try():
                log.info('Successfully acquired lease lock="%s/%s"', self._lock.namespace, self._lock.name)
                self._observer.leads(self._lock.name, True)
                return True
            await pause(stop, self._timing.retry * (1 + JITTER * random.random()))
        return False

    async def hold(self, stop: asyncio.Event) -> bool:
        """Renew until a stop is requested (True) or the lease is lost (False)."""
        while not stop.is_set():
            await pause(stop, self._timing.retry)
            if stop.is_set():
                break
            if not await self._renewed(stop):
                self._observer.leads(self._lock.name, False)
                log.error('Failed to renew lease lock="%s/%s"', self._lock.namespace, self._lock.name)
                return False
        return True

    async def release(self) -> None:
        """Release the lease if it is ours. Errors are logged; the lease then expires by itself."""
        self._observer.leads(self._lock.name, False)
        try:
            async with asyncio.timeout(self._timing.renew):
                while not await self._released():
                    log.debug("conflict when releasing the lease, once more")
        except (RequestError, TimeoutError) as error:
            log.warning("Failed to release lease: %s", error)

    async def _released(self) -> bool:
        """Release once. Return False on a conflict with our own renewal, which needs another attempt."""
        found = await self._lock.get()
        record = None if found is None else self.election.released(found)
        if record is None:
            return True
        try:
            await self._lock.write(record)
        except ApiError as error:
            if error.status != 409:
                raise
            return False
        self.election.wrote(record, time.monotonic())
        log.info('released lease lock="%s/%s"', self._lock.namespace, self._lock.name)
        return True

    async def _renewed(self, stop: asyncio.Event) -> bool:
        try:
            async with asyncio.timeout(self._timing.renew):
                while not await self._try():
                    await pause(stop, self._timing.retry)
                    if stop.is_set():
                        return True
        except TimeoutError:
            return False
        return True

    async def _try(self) -> bool:
        """Attempt once (``tryAcquireOrRenew``). Return whether this candidate leads."""
        try:
            return await self._try_fast() or await self._try_slow()
        except (RequestError, msgspec.DecodeError) as error:
            log.warning('lease lock="%s/%s": %s', self._lock.namespace, self._lock.name, error)
            return False
        finally:
            if self.election.leader != self._reported:
                self._reported = self.election.leader
                log.info('new leader elected identity="%s"', self._reported)

    async def _try_fast(self) -> bool:
        record = self.election.renewal()
        if record is None or not self._lock.known:
            return False
        sent = time.monotonic()
        try:
            await self._lock.write(record)
        except RequestError as error:
            log.info("failed to update lease optimistically, falling back to slow path: %s", error)
            return False
        self.election.wrote(record, sent)
        return True

    async def _try_slow(self) -> bool:
        found = await self._lock.get()
        if found is None:
            self._lock.forget()
        record = self.election.answer(found)
        if record is None:
            return False
        if self.election.leads:
            self._observer.slow_path(self._lock.name)
        sent = time.monotonic()
        await self._lock.write(record)
        self.election.wrote(record, sent)
        return True


def record_of(spec: dict[str, Any]) -> Record:
    """Convert a LeaseSpec."""
    return Record(
        spec.get("holderIdentity") or "",
        spec.get("leaseDurationSeconds") or 0,
        _date(spec.get("acquireTime")),
        _date(spec.get("renewTime")),
        spec.get("leaseTransitions") or 0,
        spec.get("strategy") or "",
        spec.get("preferredHolder") or "",
    )


def spec_of(record: Record) -> dict[str, Any]:
    """Return a record as a LeaseSpec, with microseconds like ``metav1.MicroTime``."""
    spec: dict[str, Any] = {
        "holderIdentity": record.holder,
        "leaseDurationSeconds": record.seconds,
        "leaseTransitions": record.transitions,
    }
    for field, date in (("acquireTime", record.acquired), ("renewTime", record.renewed)):
        if date is not None:
            spec[field] = date.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if record.preferred_holder:
        spec["preferredHolder"] = record.preferred_holder
    if record.strategy:
        spec["strategy"] = record.strategy
    return spec


def _date(text: str | None) -> datetime | None:
    return None if text is None else msgspec.convert(text, datetime)


async def pause(stop: asyncio.Event, seconds: float) -> None:
    """Wait for some seconds, or until a stop is requested."""
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        pass
