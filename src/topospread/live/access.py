"""The cluster to read and the identity to use: kubectl's options as data, and their connection."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from topospread.errors import UsageError

from .connection import Connection, connect


@dataclass(frozen=True, slots=True)
class Access:
    """kubectl's options for the cluster and the user.

    Attributes:
        kubeconfig, context: like kubectl's; by default ``KUBECONFIG``, ``~/.kube/config``, and its current context.
        user, groups, uid: the user to impersonate (``--as``, ``--as-group``, ``--as-uid``).
    """

    kubeconfig: str | None = None
    context: str | None = None
    user: str | None = None
    groups: tuple[str, ...] = ()
    uid: str | None = None

    def __post_init__(self) -> None:
        if not self.user and (self.groups or self.uid):
            raise UsageError("--as-group and --as-uid require --as")

    def finds_something(self) -> bool:
        """Return whether there is a default kubeconfig or a pod's service account."""
        named = os.environ.get("KUBECONFIG")
        files = named.split(os.pathsep) if named else [str(Path.home() / ".kube" / "config")]
        return any(map(os.path.exists, files)) or bool(os.environ.get("KUBERNETES_SERVICE_HOST"))

    async def connect(self) -> Connection:
        """Return the connection. Like in kubectl, ``~/.kube/config`` is preferred to a service account.

        Raises:
            InputError: if no API server is configured, or a part of the kubeconfig is unusable.
        """
        return await connect(
            self.kubeconfig or self._home(), self.context, as_user=self.user, as_groups=self.groups, as_uid=self.uid
        )

    def namespace(self) -> str:
        """Return the default namespace like kubectl: the context's, or ``default``. Raise InputError if unreadable."""
        from .credentials import namespace_of

        files = self.files()
        return (namespace_of(files, self.context) if files else "") or "default"

    def files(self) -> str:
        """Return the kubeconfig files in the form of ``KUBECONFIG``; "" without any."""
        return self.kubeconfig or os.environ.get("KUBECONFIG") or self._home() or ""

    def _home(self) -> str | None:
        home = Path.home() / ".kube" / "config"
        return str(home) if not os.environ.get("KUBECONFIG") and home.exists() else None
