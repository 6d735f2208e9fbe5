"""Prints the tables that come from Kubernetes' sources again, and says where a stored one differs; knows none of them.

    python -m conformance.tables            what the two newest versions say, as far as the stored ones tell it
    python -m conformance.tables --all      what all versions say, to the byte (downloads the sources of twenty)
    python -m conformance.tables --write    stores what all versions say, with digests

Ends with 1 where anything differs. Of the older versions the digests tell that no one has changed a table by hand.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.programs import ORACLE_SOURCE, ROOT
from topospread.config.api_versions import API_VERSIONS
from topospread.config.versions import NEWEST

PACKAGE = ROOT / "src" / "topospread"
DIGESTS = ORACLE_SOURCE / "printed.sha256"
_BEFORE = NEWEST.minor - 1


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """A table: its path in the package, and the program of ``conformance/oracle/cmd`` that prints it.

    ``of_all``: a row tells of all versions what it says, and not which; that newer ones say it has to be in it.
    """

    path: str
    command: str
    of_all: bool = False

    def printed(self, oldest: int | None = None) -> str:
        """What the program says now, of all versions or from a minor version on.

        Raises:
            CalledProcessError: it failed; it has said why.
        """
        environment = {**os.environ, "GOFLAGS": "-mod=mod", "GOSUMDB": "off", "OLDEST": str(oldest or "")}
        command = ["go", "run", *f"./cmd/{self.command}".split()]
        done = subprocess.run(
            command, cwd=ORACLE_SOURCE, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
        return done.stdout

    def stored(self) -> str:
        """What the package has."""
        return (PACKAGE / self.path).read_text(encoding="utf-8")


TABLES = (
    PrintedTable("config/api_versions.json", "fieldhistory versions"),
    PrintedTable("config/default_plugins.json", "plugins defaults"),
    PrintedTable("config/defaults.json", "configdefaults"),
    PrintedTable("config/extension_points.json", "plugins points"),
    PrintedTable("config/feature_gates.json", "gates"),
    PrintedTable("config/fields.json", "fieldhistory configuration"),
    PrintedTable("config/internal_args.json", "fieldhistory internal"),
    PrintedTable("config/plugin_checks.json", "plugins checks"),
    PrintedTable("api/kinds.json", "kinds"),
    PrintedTable("api/new_fields.json", "fieldhistory objects"),
    PrintedTable("api/validation/schema.json", "schema"),
    PrintedTable("admission/empty_fields.json", "emptyfields"),
    PrintedTable("admission/dropped_fields.json", "droppedfields", of_all=True),
)


def since(table: Any, oldest: int) -> Any:
    """What a table would say if there were no version before a minor version; ``None`` for what would not be there.

    A table says of a version: by keys that are minor versions, from which on; ``cluster 18-21`` or ``18-``; ``string
    since 26``; ``1.24 ALPHA off, 1.27 BETA on, last 1.31``; or by a number, that a field came with it.
    """
    if isinstance(table, dict):
        if table and all(key.isdigit() for key in table):
            return _steps(table, oldest)
        gone = {name for name, api in API_VERSIONS.items() if api.last.minor < oldest}
        if isinstance(table.get("history"), str):
            history = _history(table["history"], oldest)
            return history and {**table, "history": history}
        cut = {key: since(value, oldest) for key, value in table.items() if key not in gone}
        kept = {key: value for key, value in cut.items() if value is not None}
        return kept if kept or not table else None
    if isinstance(table, int):
        return table if table > oldest else None
    return _text(table, oldest) if isinstance(table, str) else table


def _steps(table: dict[str, Any], oldest: int) -> dict[str, Any] | None:
    before = [key for key in table if int(key) <= oldest]
    kept = {str(oldest): table[before[-1]]} if before else {}
    return kept | {key: value for key, value in table.items() if int(key) > oldest} or None


def _text(text: str, oldest: int) -> str | None:
    if span := re.search(r"\b(\d+)-(\d*)$", text):
        first, last = int(span[1]), span[2]
        return None if last and int(last) < oldest else f"{text[: span.start()]}{max(first, oldest)}-{last}"
    came = re.search(r" since (\d+)$", text)
    return text[: came.start()] if came and int(came[1]) <= oldest else text


def _history(text: str, oldest: int) -> str | None:
    parts = [part.split(maxsplit=1) for part in text.split(", ")]
    last = next((rest for word, rest in parts if word == "last"), "")
    if last and _minor(last) < oldest:
        return None
    spans = [(max(_minor(word), oldest), rest) for word, rest in parts if word != "last"]
    kept = [f"1.{first} {rest}" for first, rest in dict(spans).items()]
    return ", ".join([*kept, f"last {last}"] if last else kept)


def _minor(version: str) -> int:
    return int(version.partition(".")[2])


def differences(stored: Any, printed: Any, path: str = "") -> Iterator[str]:
    """Where two tables differ, with what each has."""
    if isinstance(stored, dict) and isinstance(printed, dict):
        for key in {**stored, **printed}:
            yield from differences(stored.get(key), printed.get(key), f"{path}/{key}")
    elif stored != printed:
        yield f"{path}: {json.dumps(stored)} stored, {json.dumps(printed)} printed"


def missing(stored: Any, printed: Any, path: str = "") -> Iterator[str]:
    """Words of a printed table that are not in the stored one."""
    for key, value in printed.items():
        if isinstance(value, dict):
            yield from missing(stored.get(key, {}), value, f"{path}/{key}")
        elif set(value.split()) - set(stored.get(key, "").split()):
            yield f"{path}/{key}: {stored.get(key)} stored, {value} printed"


def digests() -> str:
    """The digests of the stored tables, as ``sha256sum`` has them."""
    lines = ((hashlib.sha256(table.stored().encode()).hexdigest(), table.path) for table in TABLES)
    return "".join(f"{digest}  src/topospread/{path}\n" for digest, path in lines)


def changed(table: PrintedTable, oldest: int | None) -> list[str]:
    """Where a stored table differs from what is printed, of all versions or from a minor version on."""
    printed, stored = json.loads(table.printed(oldest)), json.loads(table.stored())
    if oldest is None:
        return list(differences(stored, printed))
    return list((missing if table.of_all else differences)(stored if table.of_all else since(stored, oldest), printed))


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m conformance.tables", description=__doc__.partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="all versions, not the two newest")
    parser.add_argument("--write", action="store_true", help="store what is printed")
    options = parser.parse_args()
    if options.write:
        for table in TABLES:
            (PACKAGE / table.path).write_text(table.printed(), encoding="utf-8")
        DIGESTS.write_text(digests(), encoding="ascii")
        return 0
    said = [f"{table.path}{each}" for table in TABLES for each in changed(table, None if options.all else _BEFORE)]
    if DIGESTS.read_text(encoding="ascii") != digests():
        said.append(
            f"{DIGESTS.relative_to(ROOT)}: a table was changed, and not by python -m conformance.tables --write"
        )
    print("\n".join(said) or f"{len(TABLES)} tables are what Kubernetes' sources say")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
