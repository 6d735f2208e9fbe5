"""Escape control characters, invisible characters and pipeline commands in text before it is shown.

The escapes ``\\uXXXX`` keep the meaning of a JSON string and of a YAML string in double quotes. (The emitter of YAML
escapes the characters beyond ``\\uffff`` itself.)
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Iterable, Mapping
from typing import Final

_CONTROL: Final = re.compile(
    "\r(?!\n)|[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # C0 except tab and newline, DEL, C1
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # invisible (Default_Ignorable_Code_Point)
    "\u061c\u202a-\u202e"  # marks that change the text direction, with some of the invisible ones
    "\u2028\u2029\ufff0-\ufffb\ufffe\uffff"  # line separators, and characters that XML or editors reject
    "\ud800-\udfff]"  # surrogates
)
_MAY_BE_CONTROL: Final = re.compile(rb"##(?:\[|vso\[|teamcity\[)|[\x7f\xc2\xcd\xd8\xe1-\xe3\xef\xf0\xf3]")
"""First bytes of control characters and pipeline commands in JSON, which has C0 and surrogates only as escapes."""
_COMMAND: Final = re.compile(r"^([^\S\n]*):(?=:)|##(?=\[|vso\[|teamcity\[)", re.MULTILINE)
"""Line starts that GitHub, Azure Pipelines or TeamCity read as a command."""
_KEY: Final = int.from_bytes(os.urandom(7), "big")
_COLOUR: Final = re.compile(rf"\x1b\[([0-9;]*);{_KEY}m")


def escape_control_characters(text: str) -> str:
    r"""Return the text with ``\uXXXX`` for each character that is invisible, or that a terminal or parser would act on.

    Tabs and line ends (``\n`` and ``\r\n``) stay.

    >>> escape_control_characters("a\x1b[31mb")
    'a\\u001b[31mb'
    """
    return _CONTROL.sub(_escaped, text)


def escape_control_bytes(data: bytes) -> bytes:
    """Escape control characters and pipeline commands in JSON (UTF-8). Text without such characters is returned
    quickly."""
    if not _MAY_BE_CONTROL.search(data):
        return data
    return escape_all(data.decode()).encode()


def one_line(text: str) -> str:
    r"""Return the text on one line: control characters, tabs and line ends are escaped."""
    return escape_control_characters(text).replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t")


def shell_line(words: Iterable[str]) -> str:
    r"""Return words as one shell command line. Control characters and line ends are written like ``$'a\
b'``."""
    return " ".join(map(_shell_word, words))


def _shell_word(word: str) -> str:
    if one_line(word) == word and "\\" not in word:
        return shlex.quote(word)
    # Close the quotes around \': inside quotes fish reads it as a quote, but sh does not in $'…'.
    return "$'" + one_line(word.replace("\\", "\\\\")).replace("'", "\\047") + "'"


def message_lines(text: str, notes: Iterable[str] = ()) -> str:
    r"""Return a message on one line, and its notes indented below it. Input text never starts a line.

    Args:
        text: the message. It may contain text of the input, whose line ends are escaped.
        notes: further lines, which must not contain input text.

    >>> message_lines("rights are missing\nyes: all is well", ["list nodes"])
    'rights are missing\\nyes: all is well\n  list nodes'
    """
    return "\n  ".join([one_line(text), *(line for note in notes for line in map(one_line, note.splitlines()))])


def escape_commands(text: str) -> str:
    r"""Escape commands to CI pipelines, such as a line that starts with ``::``."""
    return _COMMAND.sub(lambda found: f"{found[1]}\\u003a" if found[1] is not None else "#\\u0023", text)


def escape_all(text: str) -> str:
    """Escape control characters and pipeline commands, for answers and files."""
    return escape_commands(escape_control_characters(text))


def colour_mark(codes: str) -> str:
    """Return a mark that `for_terminal` replaces with an ANSI colour code. Escaped text cannot contain it.

    Args:
        codes: parameters of the code, ``1;31``; ``0`` ends a colour.
    """
    return f"\x1b[{codes};{_KEY}m"


def for_terminal(text: str) -> str:
    """Replace colour marks with ANSI codes and escape every other control character."""
    if "\x1b" not in text:
        return escape_control_characters(text)
    parts = _COLOUR.split(text)  # text, codes, text, codes, …
    parts[::2] = map(escape_control_characters, parts[::2])
    parts[1::2] = [f"\x1b[{codes}m" for codes in parts[1::2]]
    return "".join(parts)


def _escaped(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[each : each + 4]}" for each in range(0, len(units), 4))


def listed(names: Collection[str], most: int) -> str:
    """Return ``a, b, c``, or ``a, b and 7 more`` if there are more than `most` + 1 names."""
    shown = list(names)
    if len(shown) <= most + 1:
        return ", ".join(shown)
    return f"{', '.join(shown[:most])} and {len(shown) - most} more"


def did_you_mean(
    word: str, known: Iterable[str] | Mapping[str, str], others: str = "", *, most: int = 1, cutoff: float = 0.6
) -> str:
    """Return ``; did you mean a?``. If no name is similar, return ``; `` and `others`, or "" without `others`.

    Args:
        known: the names; of a mapping, the keys are compared and the values shown.
    """
    from difflib import get_close_matches  # slow to import

    near = get_close_matches(word, list(known), most, cutoff)
    shown = [known[each] for each in near] if isinstance(known, Mapping) else near
    hint = f"did you mean {' or '.join(shown)}?" if shown else others
    return f"; {hint}" if hint else ""


def there_are(names: Collection[str]) -> str:
    """Return the names that exist as a clause: ``there is only a``, ``there are a, b and 2 more``."""
    return f"there {'is only' if len(names) == 1 else 'are'} {listed(sorted(names), 4)}"


_SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does", "lack": "lacks", "stay": "stays", "find": "finds",
             "fit": "fits", "exist": "exists", "end": "ends", "depend": "depends"}  # fmt: skip


def counted(number: int, noun: str) -> str:
    """Return a number and its noun: ``1 pod``, ``2 pods``."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def not_in_namespace(namespace: str, known: Iterable[str]) -> str:
    """Return the error message for a namespace without workloads; `known`: the namespaces that have some."""
    there = ", ".join(sorted(known))
    rest = f"namespaces with workloads: {there}" if there else "the input has no workload"
    return f'no workload found in namespace "{namespace}"; {rest}'


def agreeing(words: str, number: int) -> str:
    """Return the verb form for a number: ``lack cpu`` becomes ``lacks cpu`` for 1."""
    if number != 1:
        return words
    verb, space, rest = words.partition(" ")
    return _SINGULAR.get(verb, verb) + space + rest


def noun_of(topology_key: str) -> str:
    """Return the noun for a domain of a topology key: ``zone``, ``rack``; ``node`` for the hostname."""
    noun = topology_key.rpartition("/")[2]
    return "node" if noun == "hostname" else noun
