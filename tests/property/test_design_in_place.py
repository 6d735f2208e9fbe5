"""`promise check` of what `promise design --in-place` wrote says yes, for any cluster, wants and two workloads."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.property.test_design import clusters
from tests.unit.drill.builders import spread, workload
from topospread.cli.main import topospread as command

Json = dict[str, Any]


def run(*words: str) -> Json:
    done = CliRunner().invoke(command, ["promise", *words, "-o", "json"], standalone_mode=False)
    assert done.exception is None, (words, done.exception)
    return dict(json.loads(done.stdout))


@drawn(2, suppress_health_check=list(HealthCheck))
@given(clusters(), st.data())
def test_what_is_written_keeps_what_is_wanted(cluster: tuple[list[Json], list[str]], data: st.DataObject) -> None:
    objects, _ = cluster
    want = data.draw(st.sampled_from(["zone-loss>=1", "zone-loss>=50%", "node-loss>=1 zone-loss>=1", "quorum"]))
    made = []
    for name in ("web", "api")[: data.draw(st.integers(1, 2))]:
        own = spread(data.draw(st.integers(1, 3)), labelSelector={"matchLabels": {"app": name}})
        spec = {"topologySpreadConstraints": [own]} if data.draw(st.booleans()) else {}
        kind = data.draw(st.sampled_from(["Deployment", "StatefulSet"]))
        made.append(workload(kind, name, data.draw(st.integers(2, 4)), spec))
    with tempfile.TemporaryDirectory() as folder:
        there, path = Path(folder, "cluster.json"), Path(folder, "app.yaml")
        there.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        path.write_text("---\n".join("# kept\n" + yaml.safe_dump(each) for each in made))
        given = ("-f", str(path), "--on", str(there))
        found = run("design", *given, "--want", want, "--in-place", "--tries", "8", "--states", "300")
        own_names = {each["metadata"]["name"] for each in made}  # the cluster's own workloads stand in no file
        good = [each for each in found["workloads"] if each["verdict"] == "yes" and each["name"] in own_names]
        assert path.read_text().count("# kept") == len(made)
        for each in good:
            assert found["edited"] == [str(path)] or not any(one["manifest"] for one in found["workloads"])
            target = f"{each['namespace']}/{each['kind']}/{each['name']}"
            checked = run("check", target, *given, "--want", want, "--states", "300", "--seconds", "10")
            assert checked["verdict"] == "yes", (target, want, checked, path.read_text())
