"""``python -m topospread``: the command, for callers that choose the Python, such as ``python -I -m topospread``."""

from __future__ import annotations

from topospread.cli.main import main

if __name__ == "__main__":
    main()
