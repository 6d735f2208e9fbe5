"""kubernetes_asyncio's readers of kubeconfigs and service accounts, imported without its client.

The client has 850 modules, a third of the CPU time at start. The readers write their results to any object with the
same attributes, here `Found`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

_NAME: Final = "kubernetes_asyncio"


class Found:
    """The attributes of ``kubernetes_asyncio.client.Configuration`` that the readers set."""

    def __init__(self) -> None:
        self.host = ""
        self.api_key: dict[str, Any] = {}
        self.ssl_ca_cert: str | None = None
        self.cert_file: str | None = None
        self.key_file: str | None = None
        self.verify_ssl = True
        self.tls_server_name: str | None = None
        self.proxy: str | None = None


@contextmanager
def _without_client() -> Iterator[None]:
    """Import parts of the package as separate copies, so that later imports of the package still get all of it."""
    known = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == _NAME}
    for name in known:
        del sys.modules[name]
    spec = find_spec(_NAME)
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    package, client = ModuleType(_NAME), ModuleType(f"{_NAME}.client")
    package.__path__ = folders
    client.__dict__.update(Configuration=Found, ApiClient=Found)
    sys.modules |= {_NAME: package, client.__name__: client}
    try:
        yield
    finally:
        for name in [each for each in sys.modules if each.partition(".")[0] == _NAME]:
            del sys.modules[name]
        sys.modules |= known


if TYPE_CHECKING:
    from kubernetes_asyncio.config import kube_config
    from kubernetes_asyncio.config.config_exception import ConfigException
    from kubernetes_asyncio.config.exec_provider import ExecProvider
    from kubernetes_asyncio.config.incluster_config import InClusterConfigLoader
else:
    with _without_client():
        from kubernetes_asyncio.config import kube_config
        from kubernetes_asyncio.config.config_exception import ConfigException
        from kubernetes_asyncio.config.exec_provider import ExecProvider
        from kubernetes_asyncio.config.incluster_config import InClusterConfigLoader

__all__ = ["ConfigException", "ExecProvider", "Found", "InClusterConfigLoader", "kube_config"]
