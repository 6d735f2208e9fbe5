"""The objects that the parts of a live scheduler share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from topospread.cluster import Cluster
from topospread.scheduling.queue import Clock, SchedulingQueue
from topospread.scheduling.queued_pod_info import SECOND

from .client import ApiClient
from .events import Events
from .explanations import Explanations
from .failures import Failures
from .fallback import Fallbacks
from .observer import Observer
from .plugin_times import PluginTimes
from .pods import Pods
from .statuses import Statuses
from .volumes import Volumes
from .write_order import WriteOrder

Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]
"""Starts a background task. Its failure ends the whole scheduler."""


@dataclass(frozen=True, slots=True)
class SchedulerContext:
    """The shared objects."""

    client: ApiClient
    order: WriteOrder
    cluster: Cluster
    queue: SchedulingQueue
    pods: Pods
    volumes: Volumes
    failures: Failures
    statuses: Statuses
    events: Events
    observer: Observer
    clock: Clock
    explanations: Explanations | None
    times: PluginTimes
    fallbacks: Fallbacks

    def now(self) -> float:
        """Unix time in seconds."""
        return self.clock() / SECOND
