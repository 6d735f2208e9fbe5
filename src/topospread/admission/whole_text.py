"""Full texts of objects, stored in an annotation: CEL policies read fields that topospread does not decode."""

from __future__ import annotations

from typing import Any, Final

import msgspec

WHOLE: Final = "topospread.dev/whole"
ENCODER: Final = msgspec.json.Encoder(enc_hook=str)


def note_whole(checked: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Store the full texts of an object and of its pod template, each in its own annotation `WHOLE`.

    Returns:
        The changed ``annotations`` mappings.
    """
    known = {name: value for name, value in checked.items() if name != "status"}
    holders = [(checked, ENCODER.encode({"spec": {}, **known}).decode())]
    template = pod_template(checked, kind) if kind not in ("Pod", "Namespace") else {}
    if template:
        holders.append((template, ENCODER.encode(template).decode()))
    noted = []
    for holder, text in holders:
        annotations: dict[str, Any] = holder.setdefault("metadata", {}).setdefault("annotations", {})
        annotations[WHOLE] = text
        noted.append(annotations)
    return noted


def pod_template(checked: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return a workload's pod template; for a Pod, the pod itself."""
    holder = checked if kind == "Pod" else checked.get("spec", {})
    for name in {"Pod": (), "CronJob": ("jobTemplate", "spec", "template")}.get(kind, ("template",)):
        holder = holder.get(name, {})
    return holder
