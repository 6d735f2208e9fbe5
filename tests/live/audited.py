"""An API server that writes down who asked what, and rights held against that; it judges nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tests.live.api_server import WITH_GROUPS, api_server
from tests.live.conftest import ControlPlane

POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    userGroups: ["system:serviceaccounts"]
  - level: None
"""
EVERYBODY = {("create", "authorization.k8s.io", "selfsubjectaccessreviews")}
"""What the API server's own roles let everybody do."""


class Use(NamedTuple):
    """A verb on a resource of a group; ``pods/binding`` for what is below one."""

    verb: str
    group: str
    resource: str


@dataclass(frozen=True)
class Audit:
    """What a service account asked, ``namespace:name``, as the API server's audit log has it."""

    log: Path

    def events(self) -> Iterator[dict[str, Any]]:
        """All that is written by now; what follows the last end of a line is an event half written."""
        written, _, _ = self.log.read_bytes().rpartition(b"\n")
        return map(json.loads, written.splitlines())

    def _asked(self, account: str) -> Iterator[tuple[Use, int]]:
        for event in self.events():
            what = event.get("objectRef")
            if event["user"]["username"] == f"system:serviceaccount:{account}" and what:
                parts = [what["resource"], *([what["subresource"]] if "subresource" in what else [])]
                use = Use(event["verb"], what.get("apiGroup", ""), "/".join(parts))
                yield use, event.get("responseStatus", {}).get("code", 0)

    def used(self, account: str) -> set[Use]:
        """All that was asked, and not refused."""
        return {use for use, code in self._asked(account) if code not in (401, 403)} - EVERYBODY

    def refused(self, account: str) -> set[Use]:
        """What was refused for want of a right."""
        return {use for use, code in self._asked(account) if code == 403}


@contextmanager
def audited_plane(programs: Path, folder: Path) -> Iterator[tuple[ControlPlane, Audit]]:
    """One with nothing in it, and its log."""
    folder.mkdir()
    (folder / "policy.yaml").write_text(POLICY)
    log = folder / "audit.jsonl"
    # Without it kinds are listed before they are watched, as older API servers ask for.
    flags = f"{WITH_GROUPS} --feature-gates=WatchList=false "
    flags += f"--audit-policy-file={folder / 'policy.yaml'} --audit-log-path={log} --audit-log-mode=blocking"
    with api_server(programs, folder, flags) as kubeconfig:
        yield ControlPlane(kubeconfig, programs), Audit(log)


def granted(objects: list[dict[str, Any]]) -> set[Use]:
    """What the roles among some objects grant."""
    rules = [rule for each in objects if each["kind"] in ("Role", "ClusterRole") for rule in each["rules"]]
    return {
        Use(verb, group, resource)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
