"""Exec credential plugins that are killed on cancellation; kubernetes_asyncio leaves a hanging plugin running."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from topospread.live.kubeconfig_library import ConfigException, ExecProvider
from topospread.sources.renderers import search_path

if TYPE_CHECKING:
    from kubernetes_asyncio.config.kube_config import ConfigNode


class EndingExecProvider(ExecProvider):
    """An `ExecProvider` that kills the plugin on cancellation, and reads stdout and stderr concurrently."""

    def __init__(self, exec_config: ConfigNode) -> None:
        super().__init__(exec_config)
        # Like in kubectl, programs in the working directory are not run.
        if os.sep in self.args[0]:
            self.args[0] = os.path.join(os.path.dirname(os.path.abspath(exec_config.path or "config")), self.args[0])
        self.env["PATH"] = search_path(self.env)

    async def run(self, previous_response: str | None = None) -> Any:
        """Return the plugin's ``status``. Raise ConfigException if the plugin fails, or its answer is malformed."""
        spec = {"interactive": sys.stdout.isatty()} | ({"response": previous_response} if previous_response else {})
        info = {"apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec}
        environment, pipe = self.env | {"KUBERNETES_EXEC_INFO": json.dumps(info)}, asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*self.args, env=environment, stdout=pipe, stderr=pipe)
        try:
            output, errors = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            words = errors.decode(errors="replace").strip()
            raise ConfigException(f"exec: process returned {process.returncode}" + (f". {words}" if words else ""))
        try:
            data = json.loads(output)
        except ValueError as error:
            raise ConfigException(f"exec: failed to decode process output: {error}") from error
        for key in ("apiVersion", "kind", "status"):
            if key not in data:
                raise ConfigException(f"exec: malformed response. missing key '{key}'")
        if data["apiVersion"] != self.api_version:
            raise ConfigException(f"exec: plugin api version {data['apiVersion']} does not match {self.api_version}")
        return data["status"]
