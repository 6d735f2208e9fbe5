"""`topospread lsp` while a file of 500 lines is typed character by character: milliseconds until its diagnostics.

    python -m benchmarks.editor [--lines N] [--characters N] [--on CLUSTER] [EXAMPLE …]

The text is examples repeated under other names. A constraint is typed into its middle, each character sent once the
diagnostics of the one before are there.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from tests.editor import editor

ROOT = Path(__file__).parents[1]
TYPED = """\
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: "web"}}
        matchLabelKeys: [pod-template-hash]
"""


def text_of(examples: list[Path], lines: int) -> str:
    """Return documents of the examples under names of their own, at least so many lines."""
    parts: list[str] = []
    while sum(each.count("\n") for each in parts) < lines:
        for each in examples:
            parts.append(each.read_text().replace("name: ", f"name: x{len(parts)}-").rstrip("\n") + "\n")
    return "---\n".join(parts)


async def waits(folder: Path, text: str, characters: int) -> list[float]:
    """Return the milliseconds until the diagnostics of each character are there."""
    middle = text.index("\n    spec:\n", len(text) // 3) + len("\n    spec:\n")
    found = []
    async with editor(folder) as it:
        await it.open("typed.yaml", text)
        for end in range(1, min(characters, len(TYPED)) + 1):
            begun = time.perf_counter()
            await it.typed("typed.yaml", text[:middle] + TYPED[:end] + text[middle:])
            found.append((time.perf_counter() - begun) * 1000)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--characters", type=int, default=len(TYPED))
    parser.add_argument("--on", default="", help="the project's cluster")
    parser.add_argument("examples", nargs="*", type=Path, default=[ROOT / "examples/demo/shop.yaml"])
    given = parser.parse_args()
    text = text_of(given.examples, given.lines)
    with tempfile.TemporaryDirectory() as folder:
        if given.on:
            (Path(folder) / "topospread.toml").write_text(f'on = "{given.on}"\n')
        found = sorted(asyncio.run(waits(Path(folder), text, given.characters)))
    p95 = found[int(len(found) * 0.95)]
    lines = text.count("\n")
    print(f"{lines} lines, {len(found)} characters: median {statistics.median(found):.0f} ms, p95 {p95:.0f} ms")


if __name__ == "__main__":
    main()
