"""HTML from templates. Every value is escaped: signs of HTML by Jinja2, invisible characters by `finalize`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from topospread.text import escape_control_characters, shell_line
from topospread.version import __version__

from .served import ServedCluster

Json = dict[str, Any]

_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BEHIND_SIGNS = re.compile(r"(?<=[/.=:])")
_FIRST_LETTER = re.compile(r"^(?!cpu )[a-z](?=[a-z]*(?:[ ,:]|$))")
_COMMAND = re.compile(r"(\w+)(?: -n \S+)? (\w+)")
MOST_ROWS = 100
"""Maximum rows of a table. Further rows are only counted."""

STATIC = Path(__file__).parent / "static"
MAP_SCRIPT = "/static/map-page.js"
"""Address of the map's script."""

PAGES = (("/", "Map"), ("/editor", "Write"))
"""Address → name, in the order of the navigation."""


def static_text(name: str) -> str:
    """Return the text of a static file."""
    return (STATIC / name).read_text()


def command_name(command: str) -> str:
    """Return program and verb: ``kubectl patch``."""
    found = _COMMAND.match(command)
    return " ".join(found.groups()) if found else command


class Pages:
    """Renders the templates of the package."""

    def __init__(self, served: ServedCluster) -> None:
        self._served = served
        self._templates = Environment(
            loader=PackageLoader("topospread.web"),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=lambda value: escape_control_characters(value) if type(value) is str else value,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters["camel_words"] = _BETWEEN_WORDS.split
        self._templates.filters["sentence"] = lambda text: _FIRST_LETTER.sub(lambda it: it[0].upper(), text)
        self._templates.filters["command_name"] = command_name
        self._templates.filters["label_parts"] = _BEHIND_SIGNS.split

    def page(self, template: str, **values: object) -> str:
        """Return a page or a part of one.

        All templates receive ``state``, ``version``, ``pages``, ``most`` and the map's ``script``. A page of the
        navigation also receives its address as ``here``.
        """
        always = {"state": self.state(), "version": __version__, "pages": PAGES, "here": "", "most": MOST_ROWS}
        return self._templates.get_template(template).render(always | {"script": MAP_SCRIPT} | values)

    def state(self) -> Json:
        """Return the served state, its age, and why no newer state is available."""
        served = self._served
        return {
            "server": served.server,
            "cluster": served.cluster,
            "revision": served.reading.revision,
            "name": served.input.name,
            "baseline": served.earlier.label if served.earlier is not None else "",
            "live": served.input.live,
            "age": round(served.age, 1),
            "trouble": served.trouble,
            "nodes": len(served.reading.inventory.nodes),
            "kubeVersion": served.options.kube_version,
            "words": shell_line(served.input.words),
        }
