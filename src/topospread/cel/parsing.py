"""Parse CEL expressions to nested tuples. Macros stay calls. Source: the grammar of cel-go (parser/gen/CEL.g4)."""

from __future__ import annotations

import re
from typing import Any, Final

from .values import CannotEvaluateError, Uint

Node = tuple[Any, ...]
"""A kind and its parts: ``("literal", value)``, ``("name", text)``, ``("select", node, field, is_optional)``,
``("index", node, node, is_optional)``, ``("call", name, target or None, arguments)``, ``("list", items)``,
``("map", entries)``, ``("message", type, fields)`` or ``("if", condition, node, node)``. A chain of ``&&`` or ``||`` is
one call. Each item, entry and field also says whether it is optional."""

_TOKEN: Final = re.compile(
    r"""(?P<space>(?:\s|//[^\n]*)+)
    |(?P<text>[rR]?[bB]?[rR]?(?:'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\"|'(?:\\.|[^\\'\n])*'|"(?:\\.|[^\\"\n])*"))
    |(?P<number>(?:0x[0-9a-fA-F]+|[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+)[uU]?)
    |(?P<name>[_a-zA-Z][_a-zA-Z0-9]*)
    |(?P<quoted>`[^`\n]+`)
    |(?P<sign>&&|\|\||==|!=|<=|>=|\[\?|\.\?|[-+*/%!<>?:.,()\[\]{}])""",
    re.VERBOSE | re.DOTALL,
)
_RAW: Final = re.compile(r"([rRbB]*)('''|\"\"\"|'|\")(.*)\2", re.DOTALL)
_ESCAPE: Final = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|X([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))", re.DOTALL
)
_PLAIN_ESCAPES: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_BINDING: Final = {
    sign: strength
    for strength, signs in enumerate(("||", "&&", "== != < <= > >= in", "+ -", "* / %"), 1)
    for sign in signs.split()
}
"""Operator → its precedence; higher binds stronger."""
_LITERALS: Final = {"true": True, "false": False, "null": None}
_LONGEST: Final = 20_000
_DEEPEST: Final = 100


def parse(expression: str) -> Node:
    """Return the expression's tree.

    Raises:
        CannotEvaluateError: if it cannot be parsed, is too long or is nested too deeply.
    """
    if len(expression) > _LONGEST:
        raise CannotEvaluateError("the expression is too long")
    parser = _Parser(expression)
    node = parser.expression()
    if parser.kind != "end":
        raise parser.unexpected()
    return node


class _Parser:
    """Parses token by token. `kind` and `text` describe the next token."""

    def __init__(self, expression: str) -> None:
        self._all = expression
        self._position = 0
        self._depth = 0
        self.kind = self.text = ""
        self._advance()

    def unexpected(self) -> CannotEvaluateError:
        """Return the error for the next token."""
        what = repr(self.text) if self.text else "the end"
        return CannotEvaluateError(f"the expression cannot be parsed at {what}")

    def _advance(self) -> None:
        while self._position < len(self._all):
            found = _TOKEN.match(self._all, self._position)
            if found is None:
                self.text = self._all[self._position]
                raise self.unexpected()
            self._position = found.end()
            if found.lastgroup != "space":
                self.kind, self.text = found.lastgroup or "", found[0]
                return
        self.kind, self.text = "end", ""

    def _takes(self, *signs: str) -> str:
        """Consume and return the next token if it is one of the signs; else return ""."""
        if self.kind == "sign" and self.text in signs:
            taken = self.text
            self._advance()
            return taken
        return ""

    def _expect(self, sign: str) -> None:
        if not self._takes(sign):
            raise self.unexpected()

    def expression(self) -> Node:
        """Parse an expression with ``?:``."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise CannotEvaluateError("the expression is nested too deeply")
        node = self._operation(1)
        if self._takes("?"):
            then = self._operation(1)
            self._expect(":")
            node = ("if", node, then, self.expression())
        self._depth -= 1
        return node

    def _operation(self, least: int) -> Node:
        left = self._unary()
        while (binding := _BINDING.get(self.text, 0) if self.kind in ("sign", "name") else 0) >= least:
            sign = self.text
            self._advance()
            right = self._operation(binding + 1)
            if sign in ("&&", "||") and left[:2] == ("call", f"_{sign}_"):
                left[3].append(right)
            else:
                left = ("call", f"_{sign}_", None, [left, right])
        return left

    def _unary(self) -> Node:
        sign = self.text if self.kind == "sign" and self.text in ("!", "-") else ""
        count = 0
        while sign and self._takes(sign):
            count += 1
        if count == 1 and sign == "-" and self.kind == "number":
            return self._member(("literal", _number(f"-{self._taken()}")))
        node = self._member(self._primary())
        # Like cel-go, drop pairs of signs for an operand of any type.
        return ("call", f"{sign}_", None, [node]) if count % 2 else node

    def _taken(self) -> str:
        text = self.text
        self._advance()
        return text

    def _field(self) -> str:
        if self.kind not in ("name", "quoted"):
            raise self.unexpected()
        return self._taken().strip("`")

    def _member(self, node: Node) -> Node:
        while sign := self._takes(".", ".?", "[", "[?", *(("{",) if self.text == "{" and _dotted(node) else ())):
            if sign == "{":
                node = ("message", _dotted(node), self._fields())
                continue
            if sign.startswith("["):
                index = self.expression()
                self._expect("]")
                node = ("index", node, index, sign == "[?")
                continue
            field = self._field()
            if sign == "." and self._takes("("):
                node = ("call", field, node, self._list(")"))
            else:
                node = ("select", node, field, sign == ".?")
        return node

    def _primary(self) -> Node:  # noqa: PLR0911 - the kinds of expressions
        kind, text = self.kind, self.text
        if kind == "end":
            raise self.unexpected()
        self._advance()
        if kind == "number":
            return ("literal", _number(text))
        if kind == "text":
            return ("literal", _string(text))
        if text == "." and self.kind == "name":
            return ("name", self._taken())
        if kind == "name" and text in _LITERALS:
            return ("literal", _LITERALS[text])
        if kind == "name" and text != "in":
            return ("call", text, None, self._list(")")) if self._takes("(") else ("name", text)
        if text == "(":
            node = self.expression()
            self._expect(")")
            return node
        if text in ("[", "[?"):
            return ("list", self._items(first=text == "[?"))
        if text == "{":
            return ("map", self._entries())
        self.kind, self.text = kind, text
        raise self.unexpected()

    def _list(self, end: str) -> list[Node]:
        found: list[Node] = []
        while not self._takes(end):
            found.append(self.expression())
            if not self._takes(","):
                self._expect(end)
                break
        return found

    def _items(self, *, first: bool) -> list[tuple[Node, bool]]:
        found: list[tuple[Node, bool]] = []
        while first or not self._takes("]"):
            optional = first or bool(self._takes("?"))
            first = False
            found.append((self.expression(), optional))
            if not self._takes(","):
                self._expect("]")
                break
        return found

    def _fields(self) -> list[tuple[str, Node, bool]]:
        found: list[tuple[str, Node, bool]] = []
        while not self._takes("}"):
            optional = bool(self._takes("?"))
            field = self._field()
            self._expect(":")
            found.append((field, self.expression(), optional))
            if not self._takes(","):
                self._expect("}")
                break
        return found

    def _entries(self) -> list[tuple[Node, Node, bool]]:
        found: list[tuple[Node, Node, bool]] = []
        while not self._takes("}"):
            optional = bool(self._takes("?"))
            key = self.expression()
            self._expect(":")
            found.append((key, self.expression(), optional))
            if not self._takes(","):
                self._expect("}")
                break
        return found


def _dotted(node: Node) -> str:
    """Return the dotted name of a node, such as ``Object.spec``; "" if the node is not a name."""
    fields: list[str] = []
    while node[0] == "select" and not node[3]:
        fields.insert(0, node[2])
        node = node[1]
    return ".".join((node[1], *fields)) if node[0] == "name" else ""


def _number(text: str) -> Any:
    if text[-1] in "uU":
        return Uint(int(text[:-1], 0 if "x" in text else 10))
    if "x" in text:
        return int(text, 16)
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _string(text: str) -> Any:
    found = _RAW.fullmatch(text)
    assert found is not None
    prefix, _, body = found.groups()
    if "b" in prefix.lower():
        raise CannotEvaluateError("bytes cannot be evaluated")
    return body if "r" in prefix.lower() else _ESCAPE.sub(_unescaped, body)


def _unescaped(found: re.Match[str]) -> str:
    *codes, octal, plain = found.groups()
    if plain is not None:
        return _PLAIN_ESCAPES.get(plain, plain)
    code = int(octal, 8) if octal else int(next(filter(None, codes)), 16)
    if 0xD800 <= code < 0xE000:
        raise CannotEvaluateError("half of a character cannot be evaluated")
    return chr(code)
