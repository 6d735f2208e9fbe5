"""Log lines of a daemon on stderr: klog's text or JSON, by verbosity, with secrets hidden.

Source: klog/v2 (header, ``key="value"`` pairs), component-base/logs/json (``ts``, ``caller``, ``msg``, ``v``).
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import time
from collections.abc import Mapping
from textwrap import indent
from typing import Any, TextIO

from topospread.text import one_line

from .log_queue import QueuedLines

_LOGGERS = ("topospread.live", "topospread.webhook", "aiohttp.server", "asyncio")
FORMATS = ("text", "json")
MAX_VERBOSITY = 10
_HIDDEN = "<hidden>"
_VALUE = r"(?:\\.|[^\s\"',}\\])+"
"""A backslash goes with the sign behind it: alone it would leave a quotation mark that ends its text."""
_SECRETS = (
    (re.compile(rf"(?i)\b(authorization[\"']?\s*[:=]\s*[\"']?(?:\w+\s+)?){_VALUE}"), rf"\1{_HIDDEN}"),
    (re.compile(r"(?i)\b(bearer)\s+[\w\-.~+/]{4,}=*"), rf"\1 {_HIDDEN}"),
    (re.compile(r"\beyJ[\w-]+\.[\w-]+\.[\w-]*"), _HIDDEN),
    (re.compile(rf"(?i)\b((?:token|password|secret|key-data)[\"']?\s*[:=]\s*[\"']?){_VALUE}"), rf"\1{_HIDDEN}"),
    (re.compile(r"(//[^/\s:@]+:)[^/\s@]+@"), rf"\1{_HIDDEN}@"),
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)", re.DOTALL), _HIDDEN),
)  # fmt: skip
"""What looks like a token, a password in a URL or a key, and what stands for it."""


def level(verbosity: int) -> int:
    """The logging level of klog's ``V(n)``: what is logged at it shows from ``-v n`` on."""
    return logging.INFO - verbosity


def set_up(verbosity: int, form: str, stream: TextIO | None = None) -> QueuedLines:
    """Log a daemon's lines without ever blocking it; ``V(n)`` lines up to the verbosity.

    Returns:
        the handler, which counts dropped lines.
    """
    handler = QueuedLines(stream or sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else KlogLines())
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(level(min(verbosity, MAX_VERBOSITY)))
    return handler


def facts(**pairs: object) -> dict[str, Mapping[str, object]]:
    """Return the fields of a log line besides its message: ``log.info("bound", extra=facts(pod=…, node=…))``."""
    return {"facts": pairs}


def without_secrets(text: str) -> str:
    """The text with what looks like a secret hidden."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


class KlogLines(logging.Formatter):
    """``I1122 08:45:25.123456    1234 lease.py:120] "message" pod="default/a"``."""

    def format(self, record: logging.LogRecord) -> str:
        """See class."""
        letter = "E" if record.levelno >= logging.ERROR else "W" if record.levelno >= logging.WARNING else "I"
        at = time.localtime(record.created)
        micros = int(record.created % 1 * 1_000_000)
        when = f"{at.tm_mon:02}{at.tm_mday:02} {at.tm_hour:02}:{at.tm_min:02}:{at.tm_sec:02}.{micros:06}"
        pairs = _facts(record)
        message = without_secrets(record.getMessage())
        if pairs:
            message = " ".join([json.dumps(message, ensure_ascii=False), *(_pair(*each) for each in pairs.items())])
        else:
            message = one_line(message)
        line = f"{letter}{when} {os.getpid():7} {record.filename}:{record.lineno}] {message}"
        if record.exc_info:
            # Indented: a line end in the message of an exception must not begin a line of the log.
            line += "\n" + indent(self.formatException(record.exc_info), "  ")
        return without_secrets(line)


class JsonLines(logging.Formatter):
    """One JSON object a line, with the keys of Kubernetes' JSON format."""

    def format(self, record: logging.LogRecord) -> str:
        """See class."""
        shown: dict[str, Any] = {
            "ts": round(record.created * 1000, 3),
            "caller": f"{record.filename}:{record.lineno}",
            "msg": without_secrets(record.getMessage()),
        }
        if record.levelno < logging.ERROR:
            shown["v"] = max(0, logging.INFO - record.levelno)
        shown |= {key: _hidden(value) for key, value in _facts(record).items()}
        if record.exc_info:
            shown["stacktrace"] = without_secrets(self.formatException(record.exc_info))
        return json.dumps(shown, ensure_ascii=False, default=str)


def _facts(record: logging.LogRecord) -> Mapping[str, object]:
    found: Mapping[str, object] = getattr(record, "facts", {})
    return found


def _hidden(value: object) -> object:
    return without_secrets(value) if isinstance(value, str) else value


def _pair(key: str, value: object) -> str:
    return f"{key}={json.dumps(_hidden(value), ensure_ascii=False, default=str)}"
