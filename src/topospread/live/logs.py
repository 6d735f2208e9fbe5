"""Log lines of a daemon on stderr, in klog's text format or JSON, with secrets hidden."""

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
"""Pattern of a secret value. An escaped quote does not end the value."""
_SECRETS = (
    (re.compile(rf"(?i)\b(authorization[\"']?\s*[:=]\s*[\"']?(?:\w+\s+)?){_VALUE}"), rf"\1{_HIDDEN}"),
    (re.compile(r"(?i)\b(bearer)\s+[\w\-.~+/]{4,}=*"), rf"\1 {_HIDDEN}"),
    (re.compile(r"\beyJ[\w-]+\.[\w-]+\.[\w-]*"), _HIDDEN),
    (re.compile(rf"(?i)\b((?:token|password|secret|key-data)[\"']?\s*[:=]\s*[\"']?){_VALUE}"), rf"\1{_HIDDEN}"),
    (re.compile(r"(//[^/\s:@]+:)[^/\s@]+@"), rf"\1{_HIDDEN}@"),
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)", re.DOTALL), _HIDDEN),
)  # fmt: skip
"""Patterns of tokens, passwords in URLs and keys, and their replacements."""


def level(verbosity: int) -> int:
    """Return the logging level of klog's ``V(n)``, which is visible from ``-v n``."""
    return logging.INFO - verbosity


def set_up(verbosity: int, form: str, stream: TextIO | None = None) -> QueuedLines:
    """Set up logging without blocking, for ``V(n)`` lines up to the verbosity.

    Returns:
        The handler, which counts dropped lines.
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
    """Return the additional fields of a log line: ``log.info("bound", extra=facts(pod=…, node=…))``."""
    return {"facts": pairs}


def without_secrets(text: str) -> str:
    """Return the text with likely secrets hidden."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


class KlogLines(logging.Formatter):
    """Formats lines like klog: ``I1122 08:45:25.123456    1234 lease.py:120] "message" pod="default/a"``."""

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
            # Indent, so that a line break in an exception's message cannot start a log line.
            line += "\n" + indent(self.formatException(record.exc_info), "  ")
        return without_secrets(line)


class JsonLines(logging.Formatter):
    """Formats lines as JSON objects, with the keys of Kubernetes' JSON format."""

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
