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

Answers go to stdout, errors to stderr, and so do warnings unless the output is text. A progress bar shows on stderr
after a second on a terminal. Colour is used on a terminal only, without `NO_COLOR` and `TERM=dumb`; `--color` overrides
that. Without a terminal lines have 80 columns.

The command line wins over the environment, and the environment over the project file:

| option | environment | key of the project file |
|---|---|---|
| `--on` | `TOPOSPREAD_ON` | `on` |
| `-n` | `TOPOSPREAD_NAMESPACE` | `namespace` |
| `-o` | `TOPOSPREAD_OUTPUT` | `output` |
| `--kube-version` | `TOPOSPREAD_KUBE_VERSION` | `kube-version` |
| `--config`, `--pools` | | `config`, `pools` |
| `--allow-unknown` | | `unknown = "allow"` |

The project file is `topospread.toml`, or `[tool.topospread]` of `pyproject.toml`, the nearest upwards in the
repository. Because a stranger may have written it, its paths stay in the repository, and it can name no live cluster
and no file to write. `plan` reads the file of the old state. `lint` reads its own settings first, and no project file
with `--settings`. `topospread config show --project` shows it.

As a kubectl plugin (`kubectl-topospread` on the `PATH`) the command is `kubectl topospread`.

`--help` of each command also has examples. These options are not repeated below:

- `-o, --output FORMAT[=FILE]`: commands with an answer, in the formats `text`, `wide`, `json`, `yaml`, `md`, `html` and
  `svg`. A command with more formats lists them. `=FILE` writes into a file; repeatable.
- `--tls-cert-file FILE`, `--tls-private-key-file FILE`: every `run` command serves HTTPS with them.
- `--metrics-bind-address IP:PORT`: `run scheduler`, `webhook` and `scale-in-keeper` serve metrics there instead.
- `--v N`, `--logging-format text|json`: log level and format of every `run` command.
"""


SAID_ONCE = re.compile(
    r"\n(Exit codes|Everywhere)  .*"
    r"|\n+Options:\n  -h, --help  .*"
    r"|\n  Examples:\n(?:    .*\n)+"
    r"|\n+Commands:\n(?:  .*\n?)+"
    r"|\n  --tls-cert-file, --tls-private-key-file FILE\n .*"
    r"|\n  --(metrics-bind-address|v, --logging-format) .*"
)
"""Lines of several help texts, which the beginning of the page replaces."""


FORMATS = re.compile(
    r"\n  -o, --output FORMAT\[=FILE\]\s+text, wide, json, yaml, md, html, svg((?:,\s+\w+)*)"
    r";\s+with\s+=FILE\s+into\s+a\s+file,\s+repeatable\."
)
"""The option -o of a help text, with the formats that not all commands have."""


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
