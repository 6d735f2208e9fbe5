"""Prints the page `cli.md` from the command itself; a test holds the page to it.

python docs/reference/write_cli.py > docs/reference/cli.md
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
from click.testing import CliRunner

from topospread.cli.main import topospread

HEAD = """\
# The command

Printed from the command's own help by `python docs/reference/write_cli.py`.

| exit code | meaning |
|---|---|
| 0 | the answer is yes; a command without a verdict worked |
| 1 | the answer is no |
| 2 | bad input or usage: one message on stderr that names the place, nothing on stdout |
| 3 | an error in topospread (`TOPOSPREAD_DEBUG=1` shows where), or output that cannot be written |
| 4 | the answer is unknown: topospread does not model a part of a pod that decides |
| 130 | interrupted |
| 141 | the reader of the output stopped |

Answers go to stdout and errors to stderr. Text includes warnings; with other formats they go to stderr. Colour is used
on a terminal only, without `NO_COLOR` and `TERM=dumb`. `--color` overrides that. Without a terminal, `COLUMNS`
sets the width of lines (80).

The command line overrides the environment, and the environment the project file:

| option | environment | key of the project file |
|---|---|---|
| `--on` | `TOPOSPREAD_ON` | `on` |
| `-n` | `TOPOSPREAD_NAMESPACE` | `namespace` |
| `-o` | `TOPOSPREAD_OUTPUT` | `output` |
| `--kube-version` | `TOPOSPREAD_KUBE_VERSION` | `kube-version` |
| `--config`, `--pools` | | `config`, `pools` |
| `--allow-unknown` | | `unknown = "allow"` |

The project file is the nearest `topospread.toml`, or `pyproject.toml` with `[tool.topospread]`, from the working
directory up to the top of its repository. It cannot name files outside the repository, a live cluster, or a file to
write, because a stranger may have written it. `plan` reads the file of the old state. `lint` reads its own settings
first.

`--help` of each command also has examples. These options are not repeated below:

- `-o, --output FORMAT[=FILE]`: format of an answer: `text`, `wide`, `json`, `yaml`, `md`, `html` or `svg`. A command
  with more formats lists them. `=FILE` writes into a file. The option is repeatable.
- `--tls-cert-file FILE`, `--tls-private-key-file FILE`: certificate and key with which a `run` command serves HTTPS.
- `--metrics-bind-address IP:PORT`: address at which `run scheduler`, `webhook` and `scale-in-keeper` serve metrics.
- `--v N`, `--logging-format text|json`: log level and format of every `run` command.
"""


SAID_ONCE = re.compile(
    r"\n(Exit codes|Shared options)  .*"
    r"|\n+Options:\n  -h, --help  .*"
    r"|\n  Examples:\n(?:    .*\n)+"
    r"|\n+Commands:\n(?:  .*\n?)+"
    r"|\n  --tls-cert-file, --tls-private-key-file FILE\n .*"
    r"|\n  --(metrics-bind-address|v, --logging-format) .*"
)
"""Lines of several help texts, which the beginning of the page replaces."""


FORMATS = re.compile(
    r"\n  -o, --output FORMAT\[=FILE\]\s+text, wide, json, yaml, md, html, svg((?:,\s+\w+)*)"
    r";\s+=FILE\s+writes\s+to\s+a\s+file;\s+repeatable\."
)
"""Pattern of the option -o in a help text; group 1 has the formats that only some commands have."""


def shortened(text: str) -> str:
    """Return a help text without the lines that the page has once."""
    more = FORMATS.sub(lambda found: found[1] and f"\n  -o{' ' * 24}also {' '.join(found[1][2:].split())}", text)
    return SAID_ONCE.sub("", more)


def pages(command: click.Command, context: click.Context) -> Iterator[str]:
    """A command's help and those of the commands below it, as sections."""
    yield f"## {context.command_path}\n\n```text\n{shortened(command.get_help(context)).rstrip()}\n```"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if name in ("help", "version"):
                continue
            below = command.get_command(context, name)
            assert below is not None
            with click.Context(below, info_name=name, parent=context, **below.context_settings) as inner:
                yield from pages(below, inner)


if __name__ == "__main__":
    with click.Context(topospread, info_name="topospread", terminal_width=78, **topospread.context_settings) as root:
        options = CliRunner().invoke(topospread, ["explain", "options"]).output
        shared = f"## Options of several commands\n\n```text\n{options}```"
        print("\n\n".join([HEAD.rstrip(), shared, *pages(topospread, root)]))
