"""The comment of the Action on a pull request, beside a server that answers as GitHub's does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

PROGRAM = Path(__file__).parents[3] / "action/comment.py"
COMMENTS = "/repos/shop/app/issues/7/comments"
MARK = "<!-- topospread plan -->\n"
Json = dict[str, Any]


class GitHub:
    """The comments of one pull request."""

    def __init__(self, comments: list[Json], status: int = 200) -> None:
        self.comments, self.status = comments, status
        self.calls: list[tuple[str, str]] = []

    @contextmanager
    def served(self) -> Iterator[str]:
        """Serve them; give the address."""
        github = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                path, _, query = self.path.partition("?")
                github.calls.append((self.command, path))
                assert self.headers["Authorization"] == "Bearer secret"
                given: Any = {}
                if self.command == "GET":
                    page = int(query.rpartition("=")[2])
                    given = github.comments[100 * (page - 1) : 100 * page]
                else:
                    body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
                    at = [n for n, each in enumerate(github.comments) if path.endswith(f"/comments/{each['id']}")]
                    if github.status == 200 and at:
                        github.comments[at[0]]["body"] = body
                    elif github.status == 200:
                        github.comments.append(comment(len(github.comments), body))
                text = json.dumps(given).encode()
                self.send_response(github.status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PATCH = answer  # noqa: N815 - http.server names them so

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        with HTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = Thread(target=server.serve_forever)
            thread.start()
            yield f"http://127.0.0.1:{server.server_port}"
            server.shutdown()
            thread.join()


def comment(number: int, body: str, login: str = "github-actions[bot]") -> Json:
    kind = "Bot" if login.endswith("[bot]") else "User"
    return {"id": number, "user": {"type": kind, "login": login}, "body": body}


def post(tmp_path: Path, github: GitHub, text: str = "### ✅ nothing gets worse\n") -> str:
    """Run the program; return what it says on stderr."""
    (tmp_path / "plan.md").write_text(text)
    with github.served() as url:
        env = {"GITHUB_API_URL": url, "GITHUB_REPOSITORY": "shop/app", "NUMBER": "7", "GITHUB_TOKEN": "secret"}
        words = [sys.executable, "-I", str(PROGRAM), str(tmp_path / "plan.md")]
        done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=60, check=True)
    return done.stderr


def test_a_second_run_replaces_the_comment_of_the_first(tmp_path: Path) -> None:
    github = GitHub([comment(number, "lgtm", "ada") for number in range(120)])
    assert post(tmp_path, github, "first\n") == ""
    assert post(tmp_path, github, "second\n") == ""
    assert [each["body"] for each in github.comments[120:]] == [f"{MARK}second\n"]
    assert [call for call in github.calls if call[0] != "GET"] == [
        ("POST", COMMENTS),
        ("PATCH", "/repos/shop/app/issues/comments/120"),
    ]


def test_a_comment_of_a_user_is_never_replaced(tmp_path: Path) -> None:
    github = GitHub([comment(0, f"{MARK}mine", "ada"), comment(1, "another program's")])
    post(tmp_path, github, "ours\n")
    assert [each["body"] for each in github.comments] == [f"{MARK}mine", "another program's", f"{MARK}ours\n"]


def test_a_comment_of_another_bot_is_never_replaced(tmp_path: Path) -> None:
    """It may repeat what a person wrote, mark included."""
    github = GitHub([comment(0, f"{MARK}mine", "echo[bot]")])
    post(tmp_path, github, "ours\n")
    assert [each["body"] for each in github.comments] == [f"{MARK}mine", f"{MARK}ours\n"]


def test_comments_of_deleted_users_and_without_text_are_passed_over(tmp_path: Path) -> None:
    github = GitHub([comment(0, MARK) | {"user": None}, comment(1, "") | {"body": None}, comment(2, MARK)])
    assert post(tmp_path, github) == ""
    assert [each["body"] for each in github.comments[:2]] == [MARK, None]
    assert github.comments[2]["body"] == MARK + "### ✅ nothing gets worse\n"


def test_a_long_text_is_cut_at_a_line(tmp_path: Path) -> None:
    github = GitHub([])
    post(tmp_path, github, "x" * 99 + "\n" + ("y" * 99 + "\n") * 1000)
    (found,) = github.comments
    assert len(found["body"]) <= 65_536
    assert found["body"].endswith("y" * 99 + "\n\nThe rest is in the summary of the job.")


def test_a_token_that_may_only_read_does_not_fail_the_run(tmp_path: Path) -> None:
    said = post(tmp_path, GitHub([], status=403))
    assert said == (
        "the comment was not posted: GitHub answered 403 (the token of a pull request from a fork may only read)\n"
    )
