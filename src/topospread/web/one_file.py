"""A page and its answers as one HTML file, which needs no server.

The file contains the page's HTML, its style sheets, its modules as one script, and the packed answers, which
`static/recorded.js` returns in place of a server. The file's security policy allows only these scripts and styles, by
their hashes, and no connection, form or frame.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

STATIC: Final = "/static/"

StaticText = Callable[[str], str]
"""Gives the text of a static file by its name."""

_STYLE: Final = re.compile(r"<link rel=\"stylesheet\" href=\"([^\"]+)\">")
_SCRIPT: Final = re.compile(r"<script\b[^>]*\bsrc=\"([^\"]+)\"[^>]*>\s*</script>")
_ICON: Final = re.compile(r"(<link\b[^>]*\brel=\"icon\"[^>]*\bhref=\")([^\"]+\.svg)(\"[^>]*>)")
_IMPORT: Final = re.compile(r"^import \{([^}]*)\} from \"\./([\w-]+\.js)\";$", re.M)
_EXPORT: Final = re.compile(r"^export\s+((?:async\s+)?function\*?|class|const)\s+(\w+)", re.M)
_UNKNOWN: Final = re.compile(r"^(?:import|export)\b|\bimport\s*\(", re.M)


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """An answer of the server, recorded.

    Attributes:
        status: HTTP status; 200 by default.
        text: the body, UTF-8.
    """

    status: int
    text: str


def asked_for(address: str) -> str:
    """Return the key of an answer as JSON: the path and the query's parameters sorted by name."""
    read = urlsplit(address)
    words = sorted(parse_qsl(read.query, keep_blank_values=True), key=lambda each: each[0])
    return json.dumps([read.path, *words], separators=(",", ":"), ensure_ascii=False)


def one_file(page: str, query: str, answers: Mapping[str, RecordedAnswer], read: StaticText) -> str:
    """Return the page as one file.

    Args:
        query: query of its address, which selects the first view.
        answers: answers by address.

    Raises:
        ValueError: if the page or a module has a form that cannot be joined.
    """
    sources: dict[str, list[str]] = {"script-src": [], "style-src": []}

    def style(found: re.Match[str]) -> str:
        return f"<style>{_allowed(read(_static(found[1])), sources['style-src'], '</style')}</style>"

    def script(found: re.Match[str]) -> str:
        text = joined(_static(found[1]), read)
        return f'<script type="module">{_allowed(text, sources["script-src"], "</script", "<!--")}</script>'

    def icon(found: re.Match[str]) -> str:
        text = base64.b64encode(read(_static(found[2])).encode()).decode()
        return f"{found[1]}data:image/svg+xml;base64,{text}{found[3]}"

    made = _ICON.sub(icon, _SCRIPT.sub(script, _STYLE.sub(style, page)))
    if STATIC in re.sub(r"<(script|style)\b.*?</\1>", "", made, flags=re.S):
        raise ValueError("the page refers to a file that is neither a style sheet nor a script")
    own = (f"{name} {' '.join(hashes) or chr(39) + 'none' + chr(39)}" for name, hashes in sources.items())
    policy = "; ".join(["default-src 'none'", *own, "img-src data:", "base-uri 'none'", "form-action 'none'"])
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">'
        '<meta name="referrer" content="no-referrer">'
    )
    packed = _packed({asked_for(at): [it.status, it.text] for at, it in answers.items()})
    opening = f'<script type="application/octet-stream" id="recorded" data-query="{html.escape(query)}">'
    data = f"{opening}{packed}</script>"
    made = re.sub(r"(<head[^>]*>\s*<meta charset=[^>]*>)", lambda found: found[0] + head, made, count=1)
    if head not in made:
        raise ValueError("the page's head does not begin with its charset")
    return made.replace("</body>", f"{data}</body>", 1)


def joined(entry: str, read: StaticText) -> str:
    """Return a module and its imports as one script, each in a function, imports first.

    Raises:
        ValueError: if modules import one another in a circle, or in an unknown form.
    """
    order: list[str] = []
    made: dict[str, str] = {}
    open_: list[str] = []

    def visit(name: str) -> None:
        if name in made:
            return
        if name in open_:
            raise ValueError(f"modules import one another: {' → '.join([*open_, name])}")
        open_.append(name)
        text = read(name)
        for found in _IMPORT.finditer(text):
            visit(found[2])
            _refuse_missing(name, found, read(found[2]))
        made[name] = _as_function(name, text)
        order.append(name)
        open_.pop()

    visit(entry)
    return "\n".join(made[name] for name in order) + "\n"


def _as_function(name: str, text: str) -> str:
    body = _IMPORT.sub(lambda found: f"const {{{found[1].replace(' as ', ': ')}}} = {_variable(found[2])};", text)
    body = _EXPORT.sub(r"\1 \2", body)
    unknown = _UNKNOWN.search(body)
    if unknown is not None:
        line = body[: unknown.start()].count("\n") + 1
        raise ValueError(f"{name}:{line}: this form of import or export is not joined")
    given = ", ".join(found[2] for found in _EXPORT.finditer(text))
    return f"const {_variable(name)} = (() => {{\n{body.strip()}\nreturn {{ {given} }};\n}})();"


def _refuse_missing(name: str, found: re.Match[str], text: str) -> None:
    """Raise ValueError for an imported name that is not exported; browsers would define it as undefined."""
    exports = {each[2] for each in _EXPORT.finditer(text)}
    for each in filter(None, map(str.strip, found[1].split(","))):
        if each.partition(" as ")[0] not in exports:
            raise ValueError(f"{name} imports {each} from ./{found[2]}, which exports no such function, class or const")


def _variable(name: str) -> str:
    return "module_" + re.sub(r"\W", "_", name.removesuffix(".js"))


def _static(address: str) -> str:
    if not address.startswith(STATIC):
        raise ValueError(f"the page asks for {address}, which is not one of its own files")
    return address.removeprefix(STATIC).partition("?")[0]


def _allowed(text: str, hashes: list[str], *ends: str) -> str:
    """Return the text and record its hash. Raise ValueError if it would end its element."""
    for end in ends:
        if end in text.lower():
            raise ValueError(f"{end} stands in a text that is put into a page")
    digest = hashlib.sha256(text.encode()).digest()
    hashes.append(f"'sha256-{base64.b64encode(digest).decode()}'")
    return text


def _packed(value: Any) -> str:
    """Return JSON compressed to text that cannot end its HTML element. Equal values give equal bytes."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    return base64.b64encode(gzip.compress(text, 9, mtime=0)).decode()
