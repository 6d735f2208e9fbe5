"""The process of ``topospread run extender``: watches nodes and pods and serves until a stop is requested."""

from __future__ import annotations

import asyncio
import logging
import signal
from contextlib import AsyncExitStack

from .access import Access
from .extender_service import ExtenderService, WatchedDomains, extender_application
from .followed_cluster import follow
from .serving import Address, listen

log = logging.getLogger(__name__)


async def run_extender(access: Access, address: Address, patience: float) -> int:
    """Serve until SIGTERM or SIGINT.

    Raises:
        InputError: if no cluster is configured, it denies access to nodes or pods, or the address is unusable.
    """
    stop = asyncio.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(each, stop.set)
    watched = WatchedDomains()
    async with AsyncExitStack() as stack:
        followed = await stack.enter_async_context(follow(access, kinds=("Node", "Pod"), listener=watched))
        service = ExtenderService(watched, lambda: followed.state.ready, patience)
        application = extender_application(service, needs_certificate=bool(address.client_ca))
        runner = await listen(application, address)
        stack.push_async_callback(runner.cleanup)
        await stop.wait()
        log.info("asked to stop")
    return 0
