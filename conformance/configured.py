"""What kube-scheduler makes of a configuration, in its own and older versions: defaults and problems, theirs and ours.

    python -m conformance.configured --bin DIR [--seed N] [--count N]   fresh random ones; ends with 1 where we differ
    python -m conformance.configured --bin DIR --write                  keep configurations and answers for the tests

``DIR`` holds ``configured-V``, built by conformance/oracle/build-versions.sh with the modules of version V.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.generate_config import Generator
from conformance.stored import FOLDER
from topospread.config.defaulting import set_defaults
from topospread.config.document import Document, decode
from topospread.config.durations import parse_duration
from topospread.config.gates import gates_for
from topospread.config.validation import configuration_errors
from topospread.config.versions import KubeVersion
from topospread.errors import ConfigError, DecodeError

Json = dict[str, Any]
STORED = FOLDER / "configured.jsonl.gz"
GROUP = "kubescheduler.config.k8s.io"
SERVED = {
    "1.37": ("v1",),
    "1.27": ("v1", "v1beta3", "v1beta2"),
    "1.25": ("v1", "v1beta3", "v1beta2"),
    "1.23": ("v1beta3", "v1beta2"),
    "1.22": ("v1beta2", "v1beta1"),
}
"""Kubernetes version that judges → the versions of the configuration that it is asked about."""

_WITHOUT_MULTI_POINT = ("v1beta2", "v1beta1")
_NEWEST = "1.37"
_NEW_POINTS = ("placementGenerate", "placementScore", "podGroupPostFilter")


def configurations(seed: int, count: int, kube_version: str, api_version: str) -> Iterator[Json]:
    """Random ones; what the version does not know is left in now and then, so that some do not decode."""
    generator, draw = Generator(seed), random.Random(seed)
    for _ in range(count):
        text = json.dumps(generator.configuration()).replace(f'"{GROUP}/v1"', f'"{GROUP}/{api_version}"')
        made: Json = json.loads(text)
        if draw.random() < 0.95:
            _adapt(made, kube_version, api_version)
        yield made


def _adapt(made: Json, kube_version: str, api_version: str) -> None:
    profiles = made.get("profiles")
    unknown = set(_NEW_POINTS) if kube_version != _NEWEST else set()
    if KubeVersion.parse(kube_version).minor < 26:
        unknown.add("preEnqueue")
    if api_version in _WITHOUT_MULTI_POINT:
        unknown.add("multiPoint")
        if isinstance(profiles, list):
            for profile in profiles:
                profile.pop("percentageOfNodesToScore", None)
    for profile in profiles if isinstance(profiles, list) else ():
        plugins = profile.get("plugins")
        if isinstance(plugins, dict):
            for point in unknown:
                plugins.pop(point, None)
        config = profile.get("pluginConfig")
        if kube_version != _NEWEST and isinstance(config, list):
            config[:] = [each for each in config if each.get("name") != "DynamicResources"]


def ours(data: Json, kube_version: str) -> Json:
    """Problems and defaults as topospread has them; ``{"decode": True}`` for what does not decode."""
    version = KubeVersion.parse(kube_version)
    try:
        document = set_defaults(decode(data, version), gates_for(version))
    except (ConfigError, DecodeError):
        return {"decode": True}
    found = configuration_errors(document, gates_for(version), document.api.group_version)
    errors = sorted({(each.type, each.field, _words(each.message, kube_version)) for each in found})
    return {"errors": [list(each) for each in errors], "defaulted": comparable(_plain(document))}


def _words(message: str, kube_version: str) -> str:
    """A message; "" for old versions, where the libraries' words are others than today's, which are ours."""
    return message if kube_version == _NEWEST else ""


def theirs(answer: Json, kube_version: str) -> Json:
    """The same of a program's answer."""
    if "decode" in answer:
        return {"decode": True}
    found = {(each["type"], each["field"], _words(each["message"], kube_version)) for each in answer["errors"]}
    errors = sorted(found)
    return {"errors": [list(each) for each in errors], "defaulted": comparable(answer["defaulted"])}


def _plain(document: Document) -> Json:
    profiles = []
    for profile in document.profiles:
        plugins = {
            point: {
                "enabled": [{"name": each.name, "weight": each.weight} for each in found.enabled],
                "disabled": [{"name": name} for name in found.disabled],
            }
            for point, found in (profile.plugins or {}).items()
        }
        config = [{"name": each.name, "args": each.args} for each in profile.plugin_config]
        made: Json = {"schedulerName": profile.scheduler_name, "plugins": plugins, "pluginConfig": config}
        if profile.percentage_of_nodes_to_score is not None:
            made["percentageOfNodesToScore"] = profile.percentage_of_nodes_to_score
        profiles.append(made)
    return dict(document.fields) | {"profiles": profiles}


_OF_THE_PROCESS = frozenset(
    {"apiVersion", "kind", "healthzBindAddress", "metricsBindAddress", "enableProfiling", "enableContentionProfiling"}
)
"""What says nothing of scheduling, or stands for what is compared anyway."""


_DURATIONS = frozenset(
    {"leaseDuration", "renewDeadline", "retryPeriod", "httpTimeout", "filterTimeout", "bindingTimeout"}
)


def comparable(value: Any) -> Any:
    """Without what is missing in one way or another: null, empty, 0, false."""
    if isinstance(value, dict):
        made = {key: _in_one_form(key, each) for key, each in value.items() if key not in _OF_THE_PROCESS}
        return {key: each for key, each in made.items() if each not in (None, {}, [], "", 0, False)}
    if isinstance(value, list):
        return [comparable(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _in_one_form(key: str, value: Any) -> Any:
    """A field's value; durations as what they last."""
    if key in _DURATIONS and isinstance(value, str):
        return parse_duration(value)
    return comparable(value)


def asked(folder: Path, kube_version: str, given: list[Json]) -> list[Json]:
    """What kube-scheduler of a version says of configurations."""
    text = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in given)
    program = str(folder / f"configured-{kube_version}")
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    return [theirs(json.loads(line), kube_version) for line in done.stdout.splitlines()]


def kept() -> list[Json]:
    """The stored configurations, with the version that was asked and its answer."""
    with gzip.open(STORED, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main() -> int:
    """Compares fresh configurations or writes the stored ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, metavar="DIR")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000_000))
    parser.add_argument("--count", type=int, default=500, help="configurations of each version")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    rows, different = [], 0
    for kube_version, api_versions in SERVED.items():
        for api_version in api_versions:
            given = list(configurations(options.seed, options.count, kube_version, api_version))
            for data, answer in zip(given, asked(options.bin, kube_version, given), strict=True):
                rows.append({"version": kube_version, "configuration": data, "answer": answer})
                mine = ours(data, kube_version)
                if mine != answer:
                    different += 1
                    if different <= 3:
                        print(json.dumps({"version": kube_version, "given": data, "us": mine, "them": answer}))
    print(f"{len(rows) - different} of {len(rows)} configurations are answered alike")
    if options.write:
        with gzip.GzipFile(STORED, "w", mtime=0) as out:
            out.write("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows).encode())
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
