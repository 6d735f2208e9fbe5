"""Post a file as a comment on a pull request; a comment that an earlier run posted is replaced.

    python -I comment.py FILE

The environment says where: GITHUB_API_URL and GITHUB_REPOSITORY as GitHub sets them, NUMBER of the pull request and
GITHUB_TOKEN, which needs the permission ``pull-requests: write``.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import count
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

MARK = "<!-- topospread plan -->\n"
"""The first line of our comments, which GitHub does not show."""
_LOGIN = "github-actions[bot]"
"""Whose comments GITHUB_TOKEN posts. No person may have this name; another bot may repeat what a person wrote."""
_LONGEST = 65_536
"""Characters that GitHub takes in a comment."""
_CUT = "\n\nThe rest is in the summary of the job."
_PAGE = 100


def main() -> None:
    """Post the comment; say what GitHub answered where it refuses."""
    text = MARK + Path(sys.argv[1]).read_text(encoding="utf-8")
    if len(text) > _LONGEST:
        text = text[: _LONGEST - len(_CUT)].rpartition("\n")[0] + _CUT
    repository = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    comments = f"{repository}/{int(os.environ['NUMBER'])}/comments"
    try:
        own = _earlier(comments)
        if own is None:
            _call("POST", comments, text)
        else:
            _call("PATCH", f"{repository}/comments/{own}", text)
    except HTTPError as error:
        hint = " (the token of a pull request from a fork may only read)" if error.code in (403, 404) else ""
        print(f"the comment was not posted: GitHub answered {error.code}{hint}", file=sys.stderr)


def _earlier(comments: str) -> int | None:
    """Return the number of our comment; only one of this token's user counts, as anybody can write the mark."""
    for page in count(1):
        found = _call("GET", f"{comments}?per_page={_PAGE}&page={page}")
        for each in found:
            # Without a user: the account was deleted.
            if (each["user"] or {}).get("login") == _LOGIN and (each["body"] or "").startswith(MARK):
                return int(each["id"])
        if len(found) < _PAGE:
            break
    return None


def _call(method: str, url: str, body: str | None = None) -> Any:
    headers = {
        "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
        "Accept": "application/vnd.github+json",
        "Content-Type": "application/json",
    }
    data = None if body is None else json.dumps({"body": body}).encode()
    with urlopen(Request(url, data, headers, method=method), timeout=30) as answer:
        return json.load(answer)


if __name__ == "__main__":
    main()
