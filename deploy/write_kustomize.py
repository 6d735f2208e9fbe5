"""Writes deploy/kustomize from the chart, for those who use no Helm: python deploy/write_kustomize.py HELM.

A file for each kind of matter, as the chart has them; what is off by default is a component each, with certificates of
cert-manager's. A test holds `kustomize build` to `helm template`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
KUSTOMIZE = HERE / "kustomize"
NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata:
  name: topospread
  labels:
    pod-security.kubernetes.io/enforce: restricted
"""


PARTS = {
    "page": ("page.enabled=true",),
    "scale-in-keeper": ("scaleInKeeper.enabled=true",),
    "webhook": ("webhook.enabled=true", "webhook.certManager=true"),
    "extender": ("extender.enabled=true", "extender.certManager=true"),
}
"""Parts that are off by default → the chart's values for them."""


def main(helm: str) -> None:
    """Render, and write what came of each template to a file of its name; of the other parts what they add."""
    base = rendered(helm)
    write(KUSTOMIZE / "base", {"namespace.yaml": [NAMESPACE], **base}, "v1beta1", "Kustomization")
    for part, values in PARTS.items():
        words = [word for value in values for word in ("--set", value)]
        more = {
            name: [each for each in documents if each not in base.get(name, ())]
            for name, documents in rendered(helm, *words).items()
        }
        write(
            KUSTOMIZE / "components" / part,
            {name: each for name, each in more.items() if each},
            "v1alpha1",
            "Component",
        )


def rendered(helm: str, *words: str) -> dict[str, list[str]]:
    """Name of a template → the documents that came of it."""
    command = [helm, "template", "topospread", HERE / "chart", "--namespace", "topospread", *words]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    files: dict[str, list[str]] = {}
    for document in re.split(r"^---\n", text, flags=re.MULTILINE):
        source = re.match(r"# Source: topospread/templates/(\S+)\n", document)
        if source:
            files.setdefault(source[1], []).append(document[source.end() :].strip() + "\n")
    return files


def write(folder: Path, files: dict[str, list[str]], version: str, kind: str) -> None:
    """The files and the kustomization that names them, in place of what is there."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.yaml"):
        old.unlink()
    for name, documents in files.items():
        (folder / name).write_text("---\n".join(documents), encoding="utf-8")
    listed = "".join(f"  - {name}\n" for name in files)
    head = f"apiVersion: kustomize.config.k8s.io/{version}\nkind: {kind}\nresources:\n"
    (folder / "kustomization.yaml").write_text(head + listed, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
