"""Run the command with ``python -m topospread``, for callers that choose the Python interpreter."""

from __future__ import annotations

from topospread.cli.main import main

if __name__ == "__main__":
    main()
