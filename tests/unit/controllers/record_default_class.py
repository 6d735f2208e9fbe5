"""Random claims and StorageClasses for `conformance/oracle/cmd/controllers`; with its answers default_class.jsonl.gz.

python tests/unit/controllers/record_default_class.py SEED COUNT > cases; controllers < cases > answers;
paste -d '\\n' cases answers | gzip -9 > tests/unit/controllers/default_class.jsonl.gz
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any

Json = dict[str, Any]

_DEFAULT = "storageclass.kubernetes.io/is-default-class"
_BETA_DEFAULT = "storageclass.beta.kubernetes.io/is-default-class"
_CLASS = "volume.beta.kubernetes.io/storage-class"
_TIMES = [None, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-03-01T12:00:00Z", "1999-01-01T00:00:00Z"]


def storage_class(draw: random.Random, name: str) -> Json:
    annotations = {
        key: draw.choice(["true", "false", "True", ""]) if draw.random() < 0.4 else "true"
        for key in (_DEFAULT, _BETA_DEFAULT)
        if draw.random() < 0.4
    }
    metadata: Json = {"name": name, "annotations": annotations}
    created = draw.choice(_TIMES)
    if created:
        metadata["creationTimestamp"] = created
    return {"metadata": metadata, "provisioner": "disk.example.com"}


def claim(draw: random.Random) -> Json:
    metadata: Json = {"name": "data", "namespace": "ns"}
    if draw.random() < 0.2:
        metadata["annotations"] = {_CLASS: draw.choice(["", "b", "other"])}
    spec = {"storageClassName": draw.choice(["", "a", "other"])} if draw.random() < 0.3 else {}
    return {"metadata": metadata, "spec": spec}


def main(seed: int, count: int) -> None:
    draw = random.Random(seed)
    for _ in range(count):
        names = draw.sample("abcde", draw.randint(0, 5))
        classes = [storage_class(draw, name) for name in names]
        print(json.dumps({"claim": {"claim": claim(draw), "storageClasses": classes}}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
