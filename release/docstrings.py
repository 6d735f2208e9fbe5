"""The check that docstrings begin with a noun or a verb: ``python -m release.docstrings``.

A docstring such as "Whether …" or "What …" is a clause without a main verb, and readers read it twice.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REFUSED = frozenset(
    ("How", "Of", "That", "These", "Those", "What", "When", "Where", "Whether", "Which", "Who", "Whose", "Why")
)


def main() -> int:
    """Print each docstring that begins with a refused word; return 1 if there is any."""
    faults = [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}: a docstring begins with {text.split()[0]!r}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if (text := ast.get_docstring(node)) and text.split()[0].strip(",.:;") in REFUSED
    ]
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
