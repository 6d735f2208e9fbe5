"""A page and its answers become one file; that it works in a browser is tested there."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re

import pytest

from topospread.web.one_file import RecordedAnswer, asked_for, joined, one_file

PAGE = """<!doctype html>
<html lang="en"><head>
<meta charset="utf-8">
<link rel="stylesheet" href="/static/page.css">
<script type="module" src="/static/page.js"></script>
</head><body>x</body></html>
"""
FILES = {
    "page.css": "body { color: black }",
    "page.js": 'import { ask as get } from "./ask.js";\nimport { own, round } from "./shapes.js";\nget(own, round);\n',
    "shapes.js": "export const round = 1;\nexport function own() {}\n",
    "ask.js": "export async function ask(what) {}\nexport class Asked {}\n",
}


def read(name: str) -> str:
    return FILES[name]


def test_modules_come_after_what_they_import() -> None:
    text = joined("page.js", read)

    assert text.index("const module_ask ") < text.index("const module_page ")
    assert text.index("const module_shapes ") < text.index("const module_page ")
    assert "const { ask: get } = module_ask;" in text
    assert "return { round, own };" in text
    assert not re.search(r"^(import|export)", text, re.M)


def test_a_module_that_two_import_is_there_once() -> None:
    files = {
        "a.js": 'import { y } from "./b.js";\nimport { x } from "./c.js";',
        "b.js": 'import { x } from "./c.js";\nexport const y = x;',
        "c.js": "export const x = 1;",
    }

    assert joined("a.js", files.__getitem__).count("const x = 1;") == 1


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (
            {
                "a.js": 'import { y } from "./b.js";\nexport const x = 1;',
                "b.js": 'import { x } from "./a.js";\nexport const y = 1;',
            },
            "import one another: a.js → b.js → a.js",
        ),
        ({"a.js": "export default 1;"}, "a.js:1"),
        ({"a.js": "const x = 1;\nconst y = import('./b.js');"}, "a.js:2"),
        ({"a.js": "export let x = 1;"}, "a.js:1"),
        ({"a.js": 'import { y } from "./b.js";', "b.js": "export const x = 1, y = 2;"}, "a.js imports y from ./b.js"),
        ({"a.js": 'import { x } from "https://elsewhere.example/x.js";'}, "a.js:1"),
        ({"a.js": 'import "./b.js";'}, "a.js:1"),
        ({"a.js": "const x = 1;\nexport { x };"}, "a.js:2"),
    ],
)
def test_what_cannot_be_joined_is_said(files: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        joined("a.js", files.__getitem__)


def made(answers: dict[str, RecordedAnswer] | None = None) -> str:
    return one_file(PAGE, "?at=1", answers or {}, read)


def test_only_what_stands_in_the_file_may_run() -> None:
    text = made()
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    policy = policy.replace("&#x27;", "'")

    for element, directive in (("script", "script-src"), ("style", "style-src")):
        (found,) = re.findall(rf"<{element}(?: type=\"module\")?>(.*?)</{element}>", text, re.S)
        digest = base64.b64encode(hashlib.sha256(found.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "connect-src" not in policy
    assert text.index("Content-Security-Policy") < text.index("<style>")


def test_nothing_else_is_asked_for() -> None:
    text = made()

    assert "src=" not in text.replace("script-src", "").replace("style-src", "")
    assert "href=" not in text


def test_the_answers_are_in_it_and_can_end_nothing() -> None:
    told = RecordedAnswer(200, '{"name": "</script><script>alert(1)</script>"}')
    text = made({"/api/why?target=b&at=1": told})
    (query, packed), *_ = re.findall(r'id="recorded" data-query="([^"]*)">([A-Za-z0-9+/=]*)</script>', text)

    assert "alert" not in text
    assert query == "?at=1"
    assert json.loads(gzip.decompress(base64.b64decode(packed))) == {
        '["/api/why",["at","1"],["target","b"]]': [200, told.text],
    }


def test_the_same_answers_make_the_same_file() -> None:
    assert made() == made()


@pytest.mark.parametrize("text", ["x = '</script>'", "x = '<!-- '"])
def test_a_script_cannot_end_its_element(text: str) -> None:
    with pytest.raises(ValueError, match="stands in a text"):
        one_file(PAGE, "", {}, lambda name: text if name.endswith(".js") else "")


def test_a_picture_of_its_own_would_be_missed() -> None:
    with pytest.raises(ValueError, match="neither a style sheet nor a script"):
        one_file(PAGE.replace("x</body>", '<img src="/static/a.png"></body>'), "", {}, read)


def test_an_address_is_the_same_in_whatever_order_its_words_stand() -> None:
    assert asked_for("/api/x?b=2&a=1&b=1") == '["/api/x",["a","1"],["b","2"],["b","1"]]'
    assert asked_for("/api/x") == asked_for("/api/x?") == '["/api/x"]'
    assert asked_for("/api/x?a=ä+b~*") == asked_for("/api/x?a=%C3%A4%20b%7E%2A")
