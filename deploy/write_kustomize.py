"""Writes deploy/kustomize/base from the chart, for those who use no Helm: python deploy/write_kustomize.py HELM.

A file for each kind of matter, as the chart has them; a test holds `kustomize build` to `helm template`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BASE = HERE / "kustomize" / "base"
NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata:
  name: topospread
  labels:
    pod-security.kubernetes.io/enforce: restricted
"""


def main(helm: str) -> None:
    """Render, and write what came of each template to a file of its name."""
    words = [helm, "template", "topospread", HERE / "chart", "--namespace", "topospread"]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    files: dict[str, list[str]] = {"namespace.yaml": [NAMESPACE]}
    for document in re.split(r"^---\n", text, flags=re.MULTILINE):
        source = re.match(r"# Source: topospread/templates/(\S+)\n", document)
        if source:
            files.setdefault(source[1], []).append(document[source.end() :].strip() + "\n")
    for old in BASE.glob("*.yaml"):
        old.unlink()
    for name, documents in files.items():
        (BASE / name).write_text("---\n".join(documents), encoding="utf-8")
    listed = "".join(f"  - {name}\n" for name in files)
    kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n"
    (BASE / "kustomization.yaml").write_text(kustomization + listed, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
